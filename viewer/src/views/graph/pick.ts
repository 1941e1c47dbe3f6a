// What lies under a point of the laid out graph.
import type { Layout } from "./fold";

/** Node whose box, or whose copy's box, holds the point; -1 for none. */
export function hitNode({ nodes, copies, nodeWidth, nodeHeight }: Layout, x: number, y: number): number {
  const inside = (at: { x: number; y: number }) => Math.abs(x - at.x) <= nodeWidth / 2 && Math.abs(y - at.y) <= nodeHeight / 2;
  const node = nodes.findIndex(inside);
  return node >= 0 ? node : (copies.find(inside)?.node ?? -1);
}

/** The nearest edge within `reach`; -1 for none. */
export function hitEdge({ routes }: Layout, x: number, y: number, reach: number): number {
  let best = -1;
  let nearest = reach;
  routes.forEach((route, edge) => {
    for (let k = 0; k + 3 < route.length; k += 2) {
      const distance = toSegment(x, y, route[k] as number, route[k + 1] as number, route[k + 2] as number, route[k + 3] as number);
      if (distance < nearest) [best, nearest] = [edge, distance];
    }
  });
  return best;
}

function toSegment(x: number, y: number, x0: number, y0: number, x1: number, y1: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const square = dx * dx + dy * dy;
  const share = square > 0 ? Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / square)) : 0;
  return Math.hypot(x - x0 - dx * share, y - y0 - dy * share);
}
