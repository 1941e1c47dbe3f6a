// The points that none beats in both of two figures.
export interface Wish {
  values: ArrayLike<number>;
  /** Whether larger is better. */
  more: boolean;
}

/** In order of `x`, the best first; points that are alike in both are all there. Points without a figure are left out. */
export function front(points: readonly number[], x: Wish, y: Wish): number[] {
  const cost = ({ values, more }: Wish, point: number) => (more ? -(values[point] as number) : (values[point] as number));
  const known = points.filter((point) => !Number.isNaN(cost(x, point)) && !Number.isNaN(cost(y, point)));
  known.sort((a, b) => cost(x, a) - cost(x, b) || cost(y, a) - cost(y, b) || a - b);
  const out: number[] = [];
  let best = Infinity;
  let at = NaN;
  for (const point of known) {
    const isTwin = cost(y, point) === best && cost(x, point) === at;
    if (cost(y, point) >= best && !isTwin) continue;
    out.push(point);
    best = cost(y, point);
    at = cost(x, point);
  }
  return out;
}
