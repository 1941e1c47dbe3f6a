// Points that are slower than one with less hardware: no key of theirs is smaller, one is larger, and they take longer.
import { type Column, keyColumns, isConstant, type NumberColumn, ranksOf, same, type Sweep } from "./sweep";

/** By how much longer, at least: below it two programs may differ by chance of the search. */
export const LEAST = 0.01;

export interface Slower {
  /** The one with more hardware. */
  point: number;
  /** The fastest of those with less. */
  than: number;
  /** Of `than`'s time that it takes longer. */
  share: number;
}

const TIMES = /^(cycles?|ns|us|µs|ms|s)$/;

/** Whether less of it is more hardware: latencies. */
const lessIsMore = ({ unit }: Column) => TIMES.test(unit);

export const hardwareOf = (sweep: Sweep): NumberColumn[] => keyColumns(sweep).filter((column): column is NumberColumn => column.kind === "number" && !isConstant(column));

/** One for each point that is slower, the worst first. Points are compared where their texts, the network's among them, are equal. */
export function slowerWithMore(sweep: Sweep, points: readonly number[], time: NumberColumn): Slower[] {
  const keys = hardwareOf(sweep).map((column) => ({ values: column.values, sign: lessIsMore(column) ? -1 : 1 }));
  const texts = keyColumns(sweep).filter((column) => column.kind === "text" && !isConstant(column));
  const out: Slower[] = [];
  for (const group of groupsOf(texts, points.filter((point) => !Number.isNaN(time.values[point]))).values()) {
    group.sort((a, b) => (time.values[a] as number) - (time.values[b] as number) || a - b);
    // Faster points of which none has less than another: whoever is beaten at all is beaten by one of these, and by the fastest first.
    const least: number[] = [];
    for (const point of group) {
      const own = time.values[point] as number;
      const beats = (other: number) => keys.every(({ values, sign }) => sign * (values[other] as number) <= sign * (values[point] as number));
      const than = least.find((other) => own > (1 + LEAST) * (time.values[other] as number) && beats(other) && keys.some(({ values }) => values[other] !== values[point]));
      if (than !== undefined) out.push({ point, than, share: own / (time.values[than] as number) - 1 });
      if (!least.some(beats)) least.push(point);
    }
  }
  return out.sort((a, b) => b.share - a.share || a.point - b.point);
}

function groupsOf(columns: readonly Column[], points: readonly number[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const point of points) {
    const name = columns.map((column) => ranksOf(column)[point]).join(" ");
    const group = groups.get(name);
    if (group) group.push(point);
    else groups.set(name, [point]);
  }
  return groups;
}

/** The keys of which one point has more. */
export const moreOf = (sweep: Sweep, { point, than }: Slower): NumberColumn[] => hardwareOf(sweep).filter((column) => !same(column, point, than));
