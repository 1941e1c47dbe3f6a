// Where points are painted, for whoever clicks or hovers there.
import type { Painter } from "../paint/painter";

export interface Spot {
  point: number;
  x: number;
  y: number;
  radius: number;
}

/** Small squares, those on the same pixel once: thousands of points lie on each other. */
export function paintSquares(p: Painter, width: number, points: readonly number[], at: (point: number) => readonly [number, number], size: number, colour: string): void {
  const taken = new Set<number>();
  for (const point of points) {
    const [x, y] = at(point);
    const pixel = Math.round(y) * Math.ceil(width) + Math.round(x);
    if (taken.has(pixel)) continue;
    taken.add(pixel);
    p.rect(x - size / 2, y - size / 2, size, size, colour);
  }
}

const REACH = 7; // pixels beyond a spot

/** The spot under a pixel that is nearest; with `after`, the next one there, so that each click takes another. */
export function nearest(spots: readonly Spot[], x: number, y: number, after = -1): Spot | null {
  const distance = (spot: Spot) => Math.hypot(spot.x - x, spot.y - y);
  const hits = spots.filter((spot) => Math.abs(spot.x - x) < spot.radius + REACH && distance(spot) < spot.radius + REACH).sort((a, b) => distance(a) - distance(b));
  const best = hits[0];
  if (!best || after < 0) return best ?? null;
  const same = hits.filter((spot) => distance(spot) < distance(best) + 2);
  const at = same.findIndex(({ point }) => point === after);
  return same[(at + 1) % same.length] ?? best;
}
