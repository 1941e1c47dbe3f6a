// What the pointer is told of a line, and of the names in it.
import { layerName, lockName, lockText } from "../../run/names";
import type { App } from "../../ui/app";
import { placeText } from "../../ui/details";
import { count, kibibytes, percent } from "../../ui/numbers";
import type { Selection } from "../../ui/state";
import type { TipLine } from "../../ui/tip";
import { lineCostsOf, shareOf } from "./line_costs";
import type { Link } from "./links";
import { listingOf } from "./listing";
import { structureOf } from "./structure";
import { locksAt } from "./targets";

const MOST_NAMED = 4;

export const WHAT_IT_SHOWS: TipLine[] = [
  ["program.asm and what it cost", "head"],
  "slices: how often a line was executed, on all its engines together.",
  "busy, wait: cycles that its engines worked and waited for it, summed over all of them; neither the sequencer nor what has nothing to send yet counts as waiting. A head of a layer, section or loop has the sum of its lines, in bold.",
  "critical path: cycles in which the end of the run waited for the line. Work and waits beside the path make nothing longer.",
  "Bars: of busy and critical path in the colour of the line's resource, of wait hatched. The heaviest line fills its column; a hundredth of it is a tenth of the bar.",
  "At the right edge the whole program: the stronger its colour, the more cycles; marks for what is selected or found.",
  ["Click a line for its instruction, a head for its layer, a lock, tensor or address for itself. Shift and click: several lines, to copy (Y).", "faint"],
];

export const shareTip = (ofRun: boolean): TipLine[] => [
  ["Share of the busy and wait cycles", "head"],
  ofRun ? "of all lines of the run." : "of all lines of the same layer.",
  [`Click (or V): of the ${ofRun ? "layer" : "run"}.`, "faint"],
];

export function lineTip(app: App, line: number): TipLine[] {
  const { run } = app;
  const costs = lineCostsOf(run);
  const listing = listingOf(run);
  const tip: TipLine[] = [[(run.asm[line] as string).trim(), "code"]];
  const layer = layerName(run, listing.layer[line] as number);
  if (layer) tip.push(`layer ${layer}`);
  const leaf = listing.leaf[line] as number;
  if (leaf < 0 && !structureOf(run).endOf[line]) return tip;
  const times = costs.slices[line] as number;
  const busy = costs.busy[line] as number;
  const wait = costs.wait[line] as number;
  const path = costs.path[line] as number;
  const resource = leaf < 0 ? "" : run.instructions.resources[run.instructions.resource[leaf] as number];
  if (resource) tip.push(`resource ${resource}`);
  const engines = costs.tracks.get(line)?.length ?? 0;
  tip.push(`${leaf < 0 ? "all its lines: " : ""}${count(times)} ${times === 1 ? "slice" : "slices"}${engines > 1 ? ` on ${engines} engines` : ""}, busy ${app.duration(busy)}, waited ${app.duration(wait)}`);
  if (times > 1 && leaf >= 0) tip.push([`on average busy ${app.duration(busy / times)}, waited ${app.duration(wait / times)}`, "faint"]);
  if (busy + wait > 0) tip.push(`on the critical path ${app.duration(path)}, ${percent(path / run.makespan)} of the run`);
  if (busy + wait > 0) tip.push([`${percent(shareOf(costs, line, listing.layer[line] as number))} of the layer's busy and wait cycles, ${percent(shareOf(costs, line, -1))} of the run's`, "faint"]);
  return tip;
}

export function linkTip(app: App, line: number, link: Link, target: Selection): TipLine[] {
  const { run } = app;
  if (target.kind === "tensor") {
    const tensor = run.graph.tensors[target.tensor];
    return [[`tensor ${tensor?.name ?? ""}`, "head"], `${tensor?.height} x ${tensor?.width} x ${tensor?.channels} (height, width, channels)`, ["Click: select the tensor", "faint"]];
  }
  if (target.kind === "block") {
    const block = run.memory[target.block];
    return [[block?.name ?? "", "head"], `${placeText(app, target.block)}, ${kibibytes(block?.size ?? 0)}`, ["Click: select this block of memory", "faint"]];
  }
  if (target.kind !== "lock") return [];
  const all = locksAt(run, line, link);
  const tip: TipLine[] = [[lockText(run, target.lock), "head"]];
  if (all.length < 2) return [...tip, ["Click: select the lock", "faint"]];
  const names = all.slice(0, MOST_NAMED).map((lock) => lockName(run, lock)).join(", ");
  return [...tip, `One of ${count(all.length)} that this line speaks of: ${names}${all.length > MOST_NAMED ? ", …" : ""}`, ["Click: select it; again: the next one", "faint"]];
}
