// The lines by what they cost, the costliest first.
import type { Run } from "../../run/run";
import type { LineCosts } from "./line_costs";
import { listingOf } from "./listing";

/** What lines are ranked by: cycles of the critical path, which the run's end waits for, those of all engines together, or how often they ran. */
export const RANKS = ["path", "busy", "wait", "slices"] as const;
export type Rank = (typeof RANKS)[number];

const known = new WeakMap<LineCosts, Map<Rank, number[]>>();

/** In words, behind "by". */
export const RANK_WORDS: Readonly<Record<Rank, string>> = { path: "cycles on the critical path", busy: "busy cycles", wait: "wait cycles", slices: "slices" };

/** Lines that are instructions and cost something. */
export function costliest(run: Run, costs: LineCosts, rank: Rank): readonly number[] {
  let ranks = known.get(costs);
  if (!ranks) known.set(costs, (ranks = new Map()));
  let lines = ranks.get(rank);
  if (!lines) {
    const { leaf } = listingOf(run);
    const cost = costs[rank];
    const own = Array.from(leaf.keys()).filter((line) => (leaf[line] as number) >= 0 && (cost[line] as number) > 0);
    ranks.set(rank, (lines = own.sort((a, b) => (cost[b] as number) - (cost[a] as number) || a - b)));
  }
  return lines;
}

/** The next costliest after `line`, and its place among all, from 0; the costliest of all after a line that is none of them, or the last. */
export function nextCostliest(run: Run, costs: LineCosts, rank: Rank, line: number): { line: number; place: number; of: number } | null {
  const lines = costliest(run, costs, rank);
  const place = (lines.indexOf(line) + 1) % Math.max(1, lines.length);
  const next = lines[place];
  return next === undefined ? null : { line: next, place, of: lines.length };
}
