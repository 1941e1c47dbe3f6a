// What limits a point: shares of its time, each a column of the document.
import type { NumberColumn, Sweep } from "./sweep";

/** Column, name and resource: the index in instructions.resources of a timeline, which has the colours. */
const BOUNDS = [
  ["boundCompute", "compute", 0],
  ["boundWeightsWire", "weights wire", 1],
  ["boundInputWire", "input wire", 2],
  ["boundOutput", "output", 3],
  ["boundDdrRead", "DDR read", 4],
  ["boundDdrWrite", "DDR write", 5],
] as const;

export interface Bound {
  column: NumberColumn;
  name: string;
  resource: number;
}

/** Those that the sweep has. */
export const boundsOf = (sweep: Sweep): Bound[] =>
  BOUNDS.flatMap(([name, title, resource]) => {
    const column = sweep.numbers(name);
    return column ? [{ column, name: title, resource }] : [];
  });

/** The resource with the largest share, or null where the point has none. */
export function largest(bounds: readonly Bound[], point: number): Bound | null {
  let best: Bound | null = null;
  for (const bound of bounds) {
    const share = bound.column.values[point] as number;
    if (share > 0 && (!best || share > (best.column.values[point] as number))) best = bound;
  }
  return best;
}
