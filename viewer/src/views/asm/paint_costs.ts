// The figures of one line with their bars, its share of the whole, and the mark of the resource that it uses.
import { paintMark } from "../../paint/marks";
import type { Painter } from "../../paint/painter";
import { css, heat, resourceColour, type Rgb } from "../../paint/theme";
import type { Run } from "../../run/run";
import { count, percent } from "../../ui/numbers";
import type { Columns } from "./columns";
import { barShare } from "./line_costs";
import { CODE } from "./paint_code";

const WAITING: Rgb = [138, 143, 148];
const HEAT_WIDTH = 5;

/** `leaf` is -1 for a head, whose figures are sums: they have no bars. */
export function paintCosts(p: Painter, run: Run, columns: Columns, line: number, leaf: number, share: number, top: number, height: number): void {
  const resource = leaf >= 0 ? (run.instructions.resource[leaf] as number) : -1;
  const hue = resourceColour(resource);
  const middle = top + height / 2;
  const style = { ...CODE, align: "right", bold: leaf < 0 } as const;
  for (const { costs, most, right, width, bar } of columns.costs) {
    const cost = costs[line] as number;
    const long = leaf < 0 || bar === "none" ? 0 : width * barShare(cost, most);
    if (long > 0) paintBar(p, bar === "wait", hue, right - width, top + 2, long, height - 4);
    p.text(right - 3, middle, count(cost), { ...style, colour: cost ? p.theme.text : p.theme.faint });
  }
  const { left, right } = columns.share;
  p.rect(left, top + 1, HEAT_WIDTH, height - 2, css(heat(p.theme, barShare(share, 1))));
  p.text(right - 3, middle, percent(share), { ...style, colour: share >= 0.0005 ? p.theme.text : p.theme.faint });
  if (leaf >= 0) paintMark(p, resource, columns.mark, middle, 3.5, css(hue), css(hue));
}

function paintBar(p: Painter, waits: boolean, hue: Rgb, x: number, y: number, width: number, height: number): void {
  if (!waits) {
    p.rect(x, y, width, height, css(hue, p.theme.dark ? 0.5 : 0.42));
    return;
  }
  p.rect(x, y, width, height, css(WAITING, 0.18));
  p.hatch(x, y, width, height, css(WAITING, 0.7));
}
