// One at a time: what each key does to a figure, all others held as they are in one point.
import type { Independent } from "./independent";
import { type NumberColumn, ranksOf } from "./sweep";

export interface Sensitivity {
  key: Independent;
  /** The points that differ from the chosen one in this key alone, in order of the key's value. */
  others: number[];
  /** Least and most of the figure among them and the chosen point. */
  least: number;
  most: number;
}

/** Keys with such points, the one with the widest span first. The network is never varied. */
export function sensitivities(keys: readonly Independent[], points: readonly number[], chosen: number, figure: NumberColumn): Sensitivity[] {
  const base = figure.values[chosen] as number;
  if (Number.isNaN(base)) return [];
  const ranks = keys.map(({ column }) => ranksOf(column));
  const found = keys.map((): number[] => []);
  for (const point of points) {
    if (Number.isNaN(figure.values[point])) continue;
    let only = -1;
    for (let k = 0; k < ranks.length; k++) {
      const of = ranks[k] as ArrayLike<number>;
      if (Object.is(of[point], of[chosen])) continue;
      if (only >= 0) {
        only = -2;
        break;
      }
      only = k;
    }
    if (only >= 0) found[only]?.push(point);
  }
  return keys
    .map((key, k): Sensitivity => {
      const others = (found[k] as number[]).sort((a, b) => ((ranks[k] as ArrayLike<number>)[a] as number) - ((ranks[k] as ArrayLike<number>)[b] as number) || a - b);
      const figures = [base, ...others.map((point) => figure.values[point] as number)];
      return { key, others, least: Math.min(...figures), most: Math.max(...figures) };
    })
    .filter(({ key, others }) => others.length && key.column.name !== "model")
    .sort((a, b) => b.most - b.least - (a.most - a.least));
}
