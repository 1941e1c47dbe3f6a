// Where in the text the cycles go: the whole program as a strip.
import type { Run } from "../../run/run";
import { barShare, type LineCosts } from "./line_costs";
import { listingOf } from "./listing";

const known = new WeakMap<LineCosts, { bins: number; heat: Float64Array }>();

/** 0..1 for each stretch of lines: its busy and wait cycles, beside those of the costliest stretch. */
export function heatOf(run: Run, costs: LineCosts, bins: number): Float64Array {
  const before = known.get(costs);
  if (before?.bins === bins) return before.heat;
  const { leaf } = listingOf(run);
  const lines = leaf.length;
  const heat = new Float64Array(bins);
  for (let line = 0; line < lines; line++) {
    if ((leaf[line] as number) < 0) continue; // a head's figures are the sum of others
    const bin = Math.floor((line / lines) * bins);
    heat[bin] = (heat[bin] as number) + (costs.busy[line] as number) + (costs.wait[line] as number);
  }
  const most = heat.reduce((a, b) => Math.max(a, b), 0);
  for (let bin = 0; bin < bins; bin++) heat[bin] = barShare(heat[bin] as number, most);
  known.set(costs, { bins, heat });
  return heat;
}
