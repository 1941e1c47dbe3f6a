// What the pointer is told of a line.
import { layerName } from "../../run/names";
import type { App } from "../../ui/app";
import { count } from "../../ui/numbers";
import type { TipLine } from "../../ui/tip";
import { lineCostsOf } from "./line_costs";
import { listingOf } from "./listing";

export const WHAT_IT_SHOWS: TipLine[] = [
  ["program.asm and what it cost", "head"],
  "slices: how often a line was executed, on all its engines together.",
  "busy, wait: cycles that its engines worked and waited for it, summed over all of them.",
  "Bars: of busy in the colour of the line's resource, of wait hatched. The heaviest line fills its column; a hundredth of it is a tenth of the bar.",
  ["Click a line for its instruction, a head for its layer. ← → or Shift and wheel: the rest of long lines.", "faint"],
];

export function lineTip(app: App, line: number): TipLine[] {
  const { run } = app;
  const costs = lineCostsOf(run);
  const listing = listingOf(run);
  const tip: TipLine[] = [[(run.asm[line] as string).trim(), "code"]];
  const layer = layerName(run, listing.layer[line] as number);
  if (layer) tip.push(`layer ${layer}`);
  const leaf = listing.leaf[line] as number;
  if (leaf < 0) return tip;
  const times = costs.slices[line] as number;
  const busy = costs.busy[line] as number;
  const wait = costs.wait[line] as number;
  const resource = run.instructions.resources[run.instructions.resource[leaf] as number];
  if (resource) tip.push(`resource ${resource}`);
  tip.push(`${count(times)} ${times === 1 ? "slice" : "slices"}, busy ${app.duration(busy)}, waited ${app.duration(wait)}`);
  if (times > 1) tip.push([`on average busy ${app.duration(busy / times)}, waited ${app.duration(wait / times)}`, "faint"]);
  return tip;
}
