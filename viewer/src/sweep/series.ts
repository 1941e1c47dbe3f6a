// A figure over a key: for each network, at each value of the key the best of the points there.
import { isBetter } from "./grid";
import { meshOf } from "./figures";
import { type Column, has, type NumberColumn, ranksOf, type Sweep } from "./sweep";

/** Where a point stands on the axis below: by a number, or by the place of its text. */
export interface Across {
  title: string;
  /** NaN where the point has none. */
  at(point: number): number;
  /** Texts of the places 0, 1, ...; null for numbers, which may stand on a logarithmic axis. */
  places: readonly string[] | null;
}

export const MESH = "mesh";

/** By rows x columns, the fewest cores first. */
function acrossMesh(sweep: Sweep): Across {
  const meshes = new Map<string, { cores: number; rows: number }>();
  const names = Array.from({ length: sweep.points }, (_, point) => {
    const name = meshOf(sweep, point);
    if (name && !meshes.has(name)) meshes.set(name, { cores: sweep.number("rows", point) * sweep.number("cols", point), rows: sweep.number("rows", point) });
    return name;
  });
  const places = [...meshes].sort(([, a], [, b]) => a.cores - b.cores || a.rows - b.rows).map(([name]) => name);
  const order = new Map(places.map((name, k) => [name, k]));
  return { title: "mesh (rows x columns)", at: (point) => order.get(names[point] as string) ?? NaN, places };
}

export function acrossOf(sweep: Sweep, name: string): Across | null {
  if (name === MESH) return sweep.numbers("rows") && sweep.numbers("cols") ? acrossMesh(sweep) : null;
  const column = sweep.column(name);
  if (!column) return null;
  const ranks = ranksOf(column);
  return { title: name, at: (point) => (has(column, point) ? (ranks[point] as number) : NaN), places: column.kind === "text" ? column.words : null };
}

export interface Series {
  /** A point whose value names the series. */
  first: number;
  /** Where points stand, ascending, and the best one of each place. */
  at: number[];
  best: number[];
  /** All its points that have a figure. */
  points: number[];
}

/** One for each value of `by`; a single one where `by` is null. */
export function seriesOf(points: readonly number[], across: Across, figure: NumberColumn, more: boolean, by: Column | null): Series[] {
  const groups = new Map<number, Map<number, number>>();
  const members = new Map<number, number[]>();
  const ranks = by && ranksOf(by);
  for (const point of points) {
    const at = across.at(point);
    if (Number.isNaN(at) || Number.isNaN(figure.values[point])) continue;
    const group = ranks ? (ranks[point] as number) : 0;
    let places = groups.get(group);
    if (!places) {
      groups.set(group, (places = new Map()));
      members.set(group, []);
    }
    members.get(group)?.push(point);
    const best = places.get(at);
    if (best === undefined || isBetter(figure, more, point, best)) places.set(at, point);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([group, places]) => {
    const ordered = [...places].sort(([a], [b]) => a - b);
    const all = members.get(group) as number[];
    return { first: all[0] as number, at: ordered.map(([at]) => at), best: ordered.map(([, point]) => point), points: all };
  });
}
