// Where the columns of the listing stand, left to right: mark, line number, costs, share, resource, code.
import { textWidth } from "../../paint/painter";
import type { Run } from "../../run/run";
import { count } from "../../ui/numbers";
import type { Rank } from "./costliest";
import type { LineCosts } from "./line_costs";
import { CODE } from "./paint_code";

export const HEAD_STYLE = { size: 11, bold: true } as const;
const GAP = 12;
const MARGIN = 10; // holds the marks of what is selected
const MARK = 18; // of the resource
const HEAT = 7; // beside the share
const SHARE = "<0.001 %";
/** Widths of the view below which columns give way to the code. */
const ROOM_FOR_SLICES = 850;
const ROOM_FOR_CYCLES = 650;
const ROOM_FOR_PATH = 450;

export interface CostColumn {
  title: string;
  /** Right edge. */
  right: number;
  width: number;
  costs: ArrayLike<number>;
  rank: Rank;
  most: number;
  bar: "none" | "busy" | "wait";
}

export interface Columns {
  /** Right edge of the line numbers. */
  number: number;
  costs: CostColumn[];
  share: { title: string; left: number; right: number };
  /** Middle of the resource's mark. */
  mark: number;
  code: number;
}

export function columnsOf(run: Run, costs: LineCosts, ofRun: boolean, width: number): Columns {
  const number = MARGIN + Math.max(textWidth("line", HEAD_STYLE), textWidth(count(run.asm.length), CODE));
  let right = number;
  const column = (title: string, values: ArrayLike<number>, widest: number, most: number, bar: CostColumn["bar"], rank: Rank): CostColumn => {
    const wide = Math.ceil(Math.max(textWidth(title, HEAD_STYLE), textWidth(count(widest), CODE))) + 6;
    right += GAP + wide;
    return { title, right, width: wide, costs: values, most, bar, rank };
  };
  const { widest } = costs;
  const columns: CostColumn[] = [];
  if (width >= ROOM_FOR_SLICES) columns.push(column("slices", costs.slices, widest.slices, 0, "none", "slices"));
  if (width >= ROOM_FOR_CYCLES) {
    columns.push(column("busy cycles", costs.busy, widest.busy, costs.mostBusy, "busy", "busy"));
    columns.push(column("wait cycles", costs.wait, widest.wait, costs.mostWait, "wait", "wait"));
  }
  if (width >= ROOM_FOR_PATH) columns.push(column("critical path", costs.path, widest.path, costs.mostPath, "busy", "path"));
  const title = ofRun ? "of run" : "of layer";
  const left = right + GAP;
  right = left + HEAT + Math.ceil(Math.max(textWidth(title, HEAD_STYLE), textWidth(SHARE, CODE))) + 3;
  return { number, costs: columns, share: { title, left, right }, mark: right + GAP + 4, code: right + GAP + MARK };
}
