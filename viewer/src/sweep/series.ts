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
  const [rows, cols] = [sweep.numbers("rows"), sweep.numbers("cols")] as [NumberColumn, NumberColumn];
  const firsts = new Map<number, number>(); // of each mesh
  const most = (cols.steps.at(-1) ?? 0) + 1;
  const meshAt = (point: number) => (rows.values[point] as number) * most + (cols.values[point] as number);
  for (let point = 0; point < sweep.points; point++) {
    const mesh = meshAt(point);
    if (!Number.isNaN(mesh) && !firsts.has(mesh)) firsts.set(mesh, point);
  }
  const cores = (point: number) => (rows.values[point] as number) * (cols.values[point] as number);
  const places = [...firsts].sort(([, a], [, b]) => cores(a) - cores(b) || (rows.values[a] as number) - (rows.values[b] as number));
  const order = new Map(places.map(([mesh], place) => [mesh, place]));
  const at = Float64Array.from(rows.values, (_, point) => order.get(meshAt(point)) ?? NaN);
  return { title: "mesh (rows x columns)", at: (point) => at[point] as number, places: places.map(([, point]) => meshOf(sweep, point)) };
}

const meshes = new WeakMap<Sweep, Across>();

export function acrossOf(sweep: Sweep, name: string): Across | null {
  if (name === MESH) {
    if (!sweep.numbers("rows") || !sweep.numbers("cols")) return null;
    const known = meshes.get(sweep) ?? acrossMesh(sweep);
    meshes.set(sweep, known);
    return known;
  }
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
