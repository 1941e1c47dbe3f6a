// Where the columns of the listing stand, left to right: mark, line number, three costs, resource, code.
import { textWidth } from "../../paint/painter";
import type { Run } from "../../run/run";
import { count } from "../../ui/numbers";
import type { LineCosts } from "./line_costs";
import { CODE } from "./paint_code";

export const HEAD_STYLE = { size: 11, bold: true } as const;
const GAP = 12;
const MARGIN = 8; // holds the mark of the selected layer
const MARK = 18; // of the resource

export interface CostColumn {
  title: string;
  /** Right edge. */
  right: number;
  width: number;
  costs: ArrayLike<number>;
  most: number;
  bar: "none" | "busy" | "wait";
}

export interface Columns {
  /** Right edge of the line numbers. */
  number: number;
  costs: CostColumn[];
  /** Middle of the resource's mark. */
  mark: number;
  code: number;
}

export function columnsOf(run: Run, costs: LineCosts): Columns {
  const number = MARGIN + Math.max(textWidth("line", HEAD_STYLE), textWidth(count(run.asm.length), CODE));
  let right = number;
  const column = (title: string, values: ArrayLike<number>, most: number, bar: CostColumn["bar"]): CostColumn => {
    const width = Math.ceil(Math.max(textWidth(title, HEAD_STYLE), textWidth(count(most), CODE))) + 6;
    right += GAP + width;
    return { title, right, width, costs: values, most, bar };
  };
  const columns = [column("slices", costs.slices, costs.mostSlices, "none"), column("busy cycles", costs.busy, costs.mostBusy, "busy"), column("wait cycles", costs.wait, costs.mostWait, "wait")];
  return { number, costs: columns, mark: right + GAP + 4, code: right + GAP + MARK };
}
