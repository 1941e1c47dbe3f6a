// The view's twin: every line with its figures.
import { layerName } from "../../run/names";
import type { Run } from "../../run/run";
import { percentNumber } from "../../ui/numbers";
import type { Table } from "../../ui/view";
import { type LineCosts, shareOf } from "./line_costs";
import type { Listing } from "./listing";
import { structureOf } from "./structure";

export function asmTable(run: Run, costs: LineCosts, { layer, leaf }: Listing, firstInSight: number): Table {
  const { endOf } = structureOf(run);
  const sums = new Set<number>();
  const rows = run.asm.map((text, line): (string | number)[] => {
    const isSum = (endOf[line] as number) > 0;
    const tail = [layerName(run, layer[line] as number), text];
    if (isSum || (leaf[line] as number) < 0) sums.add(line);
    if (!isSum && (leaf[line] as number) < 0) return [line + 1, "", "", "", "", "", "", "", "", ...tail];
    const [busy, wait] = [costs.busy[line] as number, costs.wait[line] as number];
    const shares = [shareOf(costs, line, layer[line] as number), shareOf(costs, line, -1)].map(percentNumber);
    return [line + 1, isSum ? "sum" : "line", costs.slices[line] as number, busy, wait, busy + wait, costs.path[line] as number, ...shares, ...tail];
  });
  return {
    caption: "Every line of program.asm with how often it was executed and the cycles that its engines, all together, worked and waited; neither the sequencer nor what has nothing to send yet counts as waiting. Heads of layers, sections and loops have the sum of their lines. Only cycles of the critical path make the run longer. A click on a heading sorts: lines first, sums behind them.",
    columns: ["line", "figures of", "slices", "busy cycles", "wait cycles", "busy and wait", "on the critical path", "of the layer %", "of the run %", "layer", "text"],
    rows,
    sums,
    before: { from: 0, to: firstInSight },
    selections: Array.from(leaf, (at) => (at < 0 ? null : { kind: "instruction", leaf: at })),
  };
}
