// The view's twin: every line with its figures.
import type { Run } from "../../run/run";
import { layerName } from "../../run/names";
import { percent } from "../../ui/numbers";
import type { Table } from "../../ui/view";
import { type LineCosts, shareOf } from "./line_costs";
import type { Listing } from "./listing";
import { structureOf } from "./structure";

export function asmTable(run: Run, costs: LineCosts, { layer, leaf }: Listing, firstInSight: number): Table {
  const { endOf } = structureOf(run);
  const rows = run.asm.map((text, line): (string | number)[] => {
    const isSum = (endOf[line] as number) > 0;
    const head = [line + 1, text, layerName(run, layer[line] as number)];
    if (!isSum && (leaf[line] as number) < 0) return [...head, "", "", "", "", "", ""];
    const shares = [shareOf(costs, line, layer[line] as number), shareOf(costs, line, -1)].map(percent);
    return [...head, isSum ? "sum" : "line", costs.slices[line] as number, costs.busy[line] as number, costs.wait[line] as number, ...shares];
  });
  return {
    caption: "Every line of program.asm with how often it was executed and the cycles that its engines, all together, worked and waited. Heads of layers, sections and loops have the sum of their lines.",
    columns: ["line", "text", "layer", "figures of", "slices", "busy cycles", "wait cycles", "of the layer", "of the run"],
    rows,
    before: { from: 0, to: firstInSight },
    selections: Array.from(leaf, (at) => (at < 0 ? null : { kind: "instruction", leaf: at })),
  };
}
