// Over how much room a graph spreads: the pane, or several of its heights where the names could not be read otherwise.
import { folded, type Layout, scaleOf } from "./fold";
import type { Ribbon } from "./ribbon";
import { isLegible } from "./words";

const HEIGHTS = [1, 1.5, 2, 3, 4, 6]; // of the pane

export interface Spread {
  layout: Layout;
  /** It is in sight whole; else one scrolls over it. */
  isWhole: boolean;
}

/** The largest folding of the ribbons, each with whether it leads downwards. */
export function spread(ribbons: readonly [Ribbon, boolean][], width: number, height: number, wantsWhole: boolean): Spread {
  const best = (high: number): { layout: Layout; scale: number } =>
    ribbons
      .map(([ribbon, downwards]) => folded(ribbon, downwards, width, high))
      .map((layout) => ({ layout, scale: scaleOf(layout, width, high) }))
      .reduce((a, b) => (b.scale > a.scale ? b : a));
  const whole = best(height).layout;
  for (const times of wantsWhole ? [] : HEIGHTS) {
    const { layout, scale } = best(height * times);
    const network = ribbons[0]?.[0].network;
    if (network && isLegible(network, layout.nodeWidth, layout.nodeHeight, scale)) return { layout, isWhole: times === 1 };
  }
  return { layout: whole, isWhole: true };
}
