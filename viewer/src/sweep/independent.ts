// Which columns say what was varied, and which only follow: the cores of a mesh follow from its rows and columns.
import { type Column, isConstant, keyColumns, ranksOf, same, type Sweep } from "./sweep";

/** Columns that a sweep sets one by one, wherever they take more than one value. */
const SET = ["model", "device", "rows", "cols"];

export interface Independent {
  column: Column;
  /** Columns with other names that always have this one's value: keys that vary together. */
  twins: Column[];
}

/** Independent key columns, in the order: network, device, mesh, what was varied, and what no other column tells. */
export function independents(sweep: Sweep): Independent[] {
  const all = keyColumns(sweep).filter((column) => !isConstant(column));
  const rank = ({ name, role }: Column) => (SET.includes(name) ? SET.indexOf(name) : role === "vary" ? SET.length : SET.length + 1);
  const ordered = all.map((column, k) => ({ column, k })).sort((a, b) => rank(a.column) - rank(b.column) || a.k - b.k);
  const out: Independent[] = [];
  const groups = new Groups(sweep.points);
  for (const { column } of ordered) {
    const twin = out.find((other) => isTwin(other.column, column, sweep.points));
    const isSet = rank(column) <= SET.length;
    // A column that is not set by itself counts where points that are alike in all others differ in it.
    const splits = groups.split(column);
    if (twin) twin.twins.push(column);
    else if (isSet || splits) out.push({ column, twins: [] });
  }
  return out;
}

function isTwin(a: Column, b: Column, points: number): boolean {
  if (a.kind !== b.kind || a.unit !== b.unit) return false;
  const [x, y] = [ranksOf(a), ranksOf(b)];
  for (let point = 0; point < points; point++) if (!Object.is(x[point], y[point])) return false;
  return a.kind === "number" || a.words.join("\n") === (b as typeof a).words.join("\n");
}

/** Points that are alike in every column so far. */
class Groups {
  private readonly of: Int32Array;
  private count = 1;

  constructor(points: number) {
    this.of = new Int32Array(points);
  }

  /** Whether the column tells points apart that were alike. */
  split(column: Column): boolean {
    const ranks = ranksOf(column);
    const known = new Map<number, Map<number, number>>();
    let next = 0;
    for (let point = 0; point < this.of.length; point++) {
      const group = this.of[point] as number;
      let members = known.get(group);
      if (!members) known.set(group, (members = new Map()));
      const rank = ranks[point] as number;
      let id = members.get(rank);
      if (id === undefined) members.set(rank, (id = next++));
      this.of[point] = id;
    }
    const splits = next > this.count;
    this.count = next;
    return splits;
  }
}

/** The independent columns in which two points differ. */
export const differing = (keys: readonly Independent[], a: number, b: number): Independent[] => keys.filter(({ column }) => !same(column, a, b));
