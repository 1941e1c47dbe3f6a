// Points that are slower than one with less hardware: no key of theirs is smaller, one is larger, and they take longer.
import { independents } from "./independent";
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

/** Keys of how a point was compiled and not of the array: points are compared where these are equal. */
const SETTINGS = ["propagate", "reorder", "proved", "seed", "frames", "batch", "effort", "maxCycles"];
const isHardware = ({ kind, name }: Column) => kind === "number" && !SETTINGS.includes(name);

const hardwareBySweep = new WeakMap<Sweep, NumberColumn[]>();

export function hardwareOf(sweep: Sweep): NumberColumn[] {
  const known = hardwareBySweep.get(sweep) ?? keyColumns(sweep).filter((column): column is NumberColumn => isHardware(column) && !isConstant(column));
  hardwareBySweep.set(sweep, known);
  return known;
}

/** One for each point that is slower, the worst first. Points are compared where their texts, the network's among them, and settings are equal. */
export function slowerWithMore(sweep: Sweep, points: readonly number[], time: NumberColumn): Slower[] {
  const { order, group: groupOf, groups } = rankingOf(sweep, time);
  const shown = new Uint8Array(sweep.points);
  for (const point of points) shown[point] = 1;
  const ordered = Array.from({ length: groups }, (): number[] => []);
  for (const point of order) if (shown[point]) ordered[groupOf[point] as number]?.push(point);
  const steps = stepsOf(sweep);
  const out: Slower[] = [];
  for (const group of ordered) {
    const thans = steps.cells <= MOST_CELLS ? fastestOnGrid(steps, group) : fastestOfPairs(steps, group);
    group.forEach((point, k) => {
      const than = thans[k] as number;
      if (than < 0) return;
      const share = (time.values[point] as number) / (time.values[than] as number) - 1;
      if (share > LEAST) out.push({ point, than, share });
    });
  }
  return out.sort((a, b) => b.share - a.share || a.point - b.point);
}

/** What stays the same whatever is shown: the points that have a time, by it, and the group in which each is compared. */
interface Ranking {
  order: Int32Array;
  group: Int32Array;
  groups: number;
}

const rankings = new WeakMap<NumberColumn, Ranking>();

function rankingOf(sweep: Sweep, time: NumberColumn): Ranking {
  const before = rankings.get(time);
  if (before) return before;
  const ranks = keyColumns(sweep).filter((column) => !isHardware(column) && !isConstant(column)).map(ranksOf);
  const codes = new Map<string, number>();
  const group = new Int32Array(sweep.points);
  const timed: number[] = [];
  for (let point = 0; point < sweep.points; point++) {
    const name = ranks.map((rank) => rank[point]).join(" ");
    const code = codes.get(name) ?? codes.size;
    codes.set(name, code);
    group[point] = code;
    if (!Number.isNaN(time.values[point])) timed.push(point);
  }
  const order = Int32Array.from(timed.sort((a, b) => (time.values[a] as number) - (time.values[b] as number) || a - b));
  const ranking = { order, group, groups: codes.size };
  rankings.set(time, ranking);
  return ranking;
}

const MOST_CELLS = 1 << 18;

/** The place of each point along each kind of hardware: 1 for the least, 0 for none. */
interface Steps {
  axes: Uint32Array[];
  sizes: number[];
  /** Of the grid of all places. */
  cells: number;
}

const stepsBySweep = new WeakMap<Sweep, Steps>();

function stepsOf(sweep: Sweep): Steps {
  const before = stepsBySweep.get(sweep);
  if (before) return before;
  const columns = hardwareOf(sweep);
  // What was set first: that the others follow from it is told on its grid.
  const own = independents(sweep).map(({ column }) => column);
  const steps: Steps = { axes: [], sizes: [], cells: 1 };
  for (const column of [...columns.filter((one) => own.includes(one)), ...columns.filter((one) => !own.includes(one))]) {
    const axis = placesOf(column);
    if (steps.axes.some((other) => other.every((place, point) => place === axis[point]))) continue;
    if (steps.cells <= MOST_CELLS && follows(steps, axis)) continue;
    steps.axes.push(axis);
    const size = axis.reduce((most, place) => Math.max(most, place), 0) + 1;
    steps.sizes.push(size);
    steps.cells *= size;
  }
  stepsBySweep.set(sweep, steps);
  return steps;
}

function placesOf(column: NumberColumn): Uint32Array {
  const order = lessIsMore(column) ? [...column.steps].reverse() : column.steps;
  const places = new Map(order.map((value, place) => [value, place + 1]));
  return Uint32Array.from(column.values, (value) => places.get(value) ?? 0);
}

/** The cell of each point. */
function cellsOf({ axes, sizes }: Steps, points: number): Int32Array {
  const out = new Int32Array(points);
  axes.forEach((axis, k) => { for (let point = 0; point < points; point++) out[point] = (out[point] as number) * (sizes[k] as number) + (axis[point] as number); });
  return out;
}

/** Calls `take(cell, before)` so that, taken in order, each cell has heard of all cells with no larger place on any axis. */
function sweepGrid({ sizes, cells }: Steps, take: (cell: number, before: number) => void): void {
  let stride = cells;
  for (const size of sizes) {
    stride /= size;
    for (let first = 0; first < cells; first += stride * size)
      for (let cell = first + stride; cell < first + stride * size; cell++) take(cell, cell - stride);
  }
}

/** Whether no point has more along `axis` than another that has as much of all the others. */
function follows(steps: Steps, axis: Uint32Array): boolean {
  if (!steps.axes.length) return false;
  const own = cellsOf(steps, axis.length);
  const most = new Uint32Array(steps.cells);
  own.forEach((cell, point) => { most[cell] = Math.max(most[cell] as number, axis[point] as number); });
  sweepGrid(steps, (cell, before) => { most[cell] = Math.max(most[cell] as number, most[before] as number); });
  return own.every((cell, point) => (most[cell] as number) <= (axis[point] as number));
}

/** For each point of a group, in order of time, the fastest other that has no more of anything and less of something, or -1. */
function fastestOnGrid(steps: Steps, group: readonly number[]): Int32Array {
  const own = cellsOf(steps, steps.axes[0]?.length ?? 0);
  const none = group.length;
  // Places in the group: the least is the fastest.
  const best = new Int32Array(steps.cells).fill(none);
  group.forEach((point, k) => { best[own[point] as number] = Math.min(best[own[point] as number] as number, k); });
  sweepGrid(steps, (cell, before) => { best[cell] = Math.min(best[cell] as number, best[before] as number); });
  return Int32Array.from(group, (point) => {
    let place = none;
    let stride = steps.cells;
    steps.sizes.forEach((size, k) => {
      stride /= size;
      if ((steps.axes[k] as Uint32Array)[point]) place = Math.min(place, best[(own[point] as number) - stride] as number);
    });
    return place < none ? (group[place] as number) : -1;
  });
}

/** The same by pairs, for keys that take too many values for a grid. */
function fastestOfPairs({ axes }: Steps, group: readonly number[]): Int32Array {
  const rows = group.map((point) => Uint32Array.from(axes, (axis) => axis[point] as number));
  // Of the faster ones, those that none of them beats: whoever is beaten at all is beaten by one of these, and by the fastest first.
  const least: number[] = [];
  return Int32Array.from(group, (_, k) => {
    const row = rows[k] as Uint32Array;
    let found = -1;
    let isNew = true;
    for (const place of least) {
      const other = rows[place] as Uint32Array;
      let axis = 0;
      let isLess = false;
      for (; axis < row.length && (other[axis] as number) <= (row[axis] as number); axis++) isLess ||= (other[axis] as number) < (row[axis] as number);
      if (axis < row.length) continue;
      isNew = false;
      if (!isLess) continue;
      found = group[place] as number;
      break;
    }
    if (isNew) least.push(k);
    return found;
  });
}

/** The keys of which one point has more. */
export const moreOf = (sweep: Sweep, { point, than }: Slower): NumberColumn[] => hardwareOf(sweep).filter((column) => !same(column, point, than));
