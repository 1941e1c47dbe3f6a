// Where points were painted, for whoever clicks or hovers there.
export interface Spot {
  point: number;
  x: number;
  y: number;
  radius: number;
}

export type Spots = Spot[];

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
