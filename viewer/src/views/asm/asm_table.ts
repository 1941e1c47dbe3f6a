// The view's twin: every line with its figures.
import { criticalPath } from "../../run/critical_path";
import { layerName } from "../../run/names";
import type { Run } from "../../run/run";
import { percentNumber } from "../../ui/numbers";
import type { Table } from "../../ui/view";
import { type LineCosts, shareOf } from "./line_costs";
import type { Listing } from "./listing";
import { structureOf } from "./structure";

/** Cycles of the critical path that each line of asm has, heads the sum of theirs. */
function onPath(run: Run): Float64Array {
  const cycles = new Float64Array(run.asm.length);
  const path = criticalPath(run);
  for (let k = 0; k < path.steps; k++) {
    const line = run.instructions.line[path.leaf[k] as number] ?? -1;
    if (line >= 0) cycles[line] = (cycles[line] ?? 0) + (path.time[k + 1] as number) - (path.time[k] as number);
  }
  const { endOf } = structureOf(run);
  const upTo = new Float64Array(cycles.length + 1);
  cycles.forEach((own, line) => (upTo[line + 1] = (upTo[line] as number) + own));
  return cycles.map((own, line) => ((endOf[line] as number) > line ? (upTo[endOf[line] as number] as number) - (upTo[line] as number) : own));
}

export function asmTable(run: Run, costs: LineCosts, { layer, leaf }: Listing, firstInSight: number): Table {
  const { endOf } = structureOf(run);
  const path = onPath(run);
  const sums = new Set<number>();
  const rows = run.asm.map((text, line): (string | number)[] => {
    const isSum = (endOf[line] as number) > 0;
    const tail = [layerName(run, layer[line] as number), text];
    if (isSum || (leaf[line] as number) < 0) sums.add(line);
    if (!isSum && (leaf[line] as number) < 0) return [line + 1, "", "", "", "", "", "", "", "", ...tail];
    const [busy, wait] = [costs.busy[line] as number, costs.wait[line] as number];
    const shares = [shareOf(costs, line, layer[line] as number), shareOf(costs, line, -1)].map(percentNumber);
    return [line + 1, isSum ? "sum" : "line", costs.slices[line] as number, busy, wait, busy + wait, path[line] as number, ...shares, ...tail];
  });
  return {
    caption: "Every line of program.asm with how often it was executed and the cycles that its engines, all together, worked and waited; neither the sequencer nor what has nothing to send yet counts as waiting. Heads of layers, sections and loops have the sum of their lines. A click on a heading sorts: lines first, sums behind them.",
    columns: ["line", "figures of", "slices", "busy cycles", "wait cycles", "busy and wait", "on the critical path", "of the layer %", "of the run %", "layer", "text"],
    rows,
    sums,
    before: { from: 0, to: firstInSight },
    selections: Array.from(leaf, (at) => (at < 0 ? null : { kind: "instruction", leaf: at })),
  };
}
