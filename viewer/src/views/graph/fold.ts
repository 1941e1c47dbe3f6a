// A network is long and thin, a pane is not: the ribbon is cut between parts and its pieces stand side by side, like columns of text.
// Where a piece begins anew, its first node is a copy of the one that ended the piece before.
import { RANK_GAP, type Ribbon, type Spot } from "./ribbon";

export interface Place {
  x: number; // centre
  y: number;
}

export interface Copy extends Place {
  node: number;
  /** From the node to its copy. */
  link: number[];
}

export interface Layout {
  downwards: boolean;
  width: number;
  height: number;
  nodeWidth: number;
  nodeHeight: number;
  nodes: Place[];
  copies: Copy[];
  /** Of edges: x0 y0 x1 y1 ... */
  routes: number[][];
}

interface Piece {
  from: number; // parts
  to: number;
  top: number; // along main
  bottom: number;
  least: number; // across
  most: number;
}

const PIECE_GAP = 46;
const MARGIN = 20;
const MOST_PIECES = 40;
/** Larger than life helps nobody. */
const LARGEST = 1.15;

/** The folding that fills width x height best. */
export function folded(ribbon: Ribbon, downwards: boolean, width: number, height: number): Layout {
  const [main, cross] = downwards ? [height, width] : [width, height];
  let best: Piece[] = [];
  let largest = 0;
  for (let count = 1; count <= Math.min(MOST_PIECES, Math.max(1, ribbon.parts.length)); count++) {
    const pieces = cut(ribbon, count);
    const { along, across } = extentOf(pieces);
    const scale = Math.min(LARGEST, main / along, cross / across);
    if (scale > largest * 1.001) [best, largest] = [pieces, scale];
    if (scale >= LARGEST) break;
  }
  return unrolled(ribbon, best, downwards);
}

export const scaleOf = (layout: Layout, width: number, height: number): number => Math.min(LARGEST, width / layout.width, height / layout.height);

function extentOf(pieces: readonly Piece[]): { along: number; across: number } {
  return {
    along: Math.max(0, ...pieces.map(({ top, bottom }) => bottom - top)) + 2 * MARGIN,
    across: pieces.reduce((sum, { least, most }) => sum + most - least, 0) + (pieces.length - 1) * PIECE_GAP + 2 * MARGIN,
  };
}

/** At most `count` pieces, the longest of them as short as can be. */
function cut(ribbon: Ribbon, count: number): Piece[] {
  const last = ribbon.parts.length - 1;
  const whole = pieceOf(ribbon, 0, last);
  if (count === 1) return [whole];
  let [least, most] = [(whole.bottom - whole.top) / count, whole.bottom - whole.top];
  while (most - least > 4) {
    const middle = (least + most) / 2;
    if (startsOf(ribbon, middle).length <= count) most = middle;
    else least = middle;
  }
  const starts = startsOf(ribbon, most);
  return starts.map((from, k) => pieceOf(ribbon, from, (starts[k + 1] ?? last + 1) - 1));
}

/** First parts of pieces that are no longer than `limit`, where their parts allow it. */
function startsOf(ribbon: Ribbon, limit: number): number[] {
  const single = partExtents(ribbon);
  const starts = [0];
  let top = topOf(ribbon, 0);
  for (let k = 1; k < ribbon.parts.length; k++) {
    if ((single[k] as Piece).bottom - top <= limit) continue;
    starts.push(k);
    top = topOf(ribbon, k);
  }
  return starts;
}

const extents = new WeakMap<Ribbon, Piece[]>(); // of single parts

function partExtents(ribbon: Ribbon): Piece[] {
  let known = extents.get(ribbon);
  if (!known) extents.set(ribbon, (known = ribbon.parts.map((_, k) => partExtent(ribbon, k))));
  return known;
}

/** Where a piece begins that begins with this part: above it stands the copy of its port. */
function topOf(ribbon: Ribbon, part: number): number {
  const { top } = partExtents(ribbon)[part] as Piece;
  return part > 0 && (ribbon.parts[part]?.port ?? -1) >= 0 ? top - RANK_GAP - ribbon.size.main : top;
}

function pieceOf(ribbon: Ribbon, from: number, to: number): Piece {
  if (from > to) return { from, to, top: 0, bottom: 0, least: 0, most: 0 };
  const single = partExtents(ribbon);
  const piece: Piece = { from, to, top: topOf(ribbon, from), bottom: -Infinity, least: Infinity, most: -Infinity };
  for (let k = from; k <= to; k++) {
    const part = single[k] as Piece;
    piece.bottom = Math.max(piece.bottom, part.bottom);
    piece.least = Math.min(piece.least, part.least);
    piece.most = Math.max(piece.most, part.most);
  }
  return piece;
}

function partExtent(ribbon: Ribbon, k: number): Piece {
  const { size, spots, routes, parts } = ribbon;
  const part = parts[k] as Ribbon["parts"][number];
  const piece: Piece = { from: k, to: k, top: Infinity, bottom: -Infinity, least: Infinity, most: -Infinity };
  const add = ({ main, cross }: Spot, half: { main: number; cross: number }) => {
    piece.top = Math.min(piece.top, main - half.main);
    piece.bottom = Math.max(piece.bottom, main + half.main);
    piece.least = Math.min(piece.least, cross - half.cross);
    piece.most = Math.max(piece.most, cross + half.cross);
  };
  for (let node = part.from; node <= part.to; node++) add(spots[node] as Spot, { main: size.main / 2, cross: size.cross / 2 });
  const { top } = piece;
  for (const edge of part.edges) for (const spot of routes[edge] as Spot[]) add(spot, { main: 0, cross: 0 });
  if (part.port >= 0) add({ main: top, cross: (spots[part.port] as Spot).cross }, { main: 0, cross: size.cross / 2 });
  return { ...piece, top };
}

function unrolled(ribbon: Ribbon, pieces: readonly Piece[], downwards: boolean): Layout {
  const { size, spots, routes, parts, network } = ribbon;
  const { along, across } = extentOf(pieces);
  const turned = (main: number, cross: number): [number, number] => (downwards ? [cross, main] : [main, cross]);
  const [width, height] = turned(along, across);
  const [nodeWidth, nodeHeight] = turned(size.main, size.cross);
  const out: Layout = { downwards, width, height, nodeWidth, nodeHeight, nodes: new Array<Place>(spots.length), copies: [], routes: new Array<number[]>(routes.length) };
  let edge = MARGIN;
  for (const piece of pieces) {
    const moved = ({ main, cross }: Spot): [number, number] => turned(main - piece.top + MARGIN, cross - piece.least + edge);
    for (let k = piece.from; k <= piece.to; k++) {
      const part = parts[k];
      if (!part) continue;
      const begins = k === piece.from && k > 0 && part.port >= 0;
      for (let node = part.from; node <= part.to; node++) {
        const [x, y] = moved(spots[node] as Spot);
        out.nodes[node] = { x, y };
      }
      const start = piece.top + size.main;
      for (const e of part.edges) {
        const route = (routes[e] as Spot[]).map((spot, n) => (begins && n === 0 && network.edges[e]?.from === part.port ? { main: start, cross: spot.cross } : spot));
        out.routes[e] = route.flatMap(moved);
      }
      if (begins) out.copies.push(copyOf(out, part.port, moved({ main: piece.top + size.main / 2, cross: (spots[part.port] as Spot).cross }), edge - PIECE_GAP / 2));
    }
    edge += piece.most - piece.least + PIECE_GAP;
  }
  return out;
}

// From the end of the node, through the gap between the pieces, to the beginning of the copy.
function copyOf(out: Layout, node: number, [x, y]: [number, number], gap: number): Copy {
  const from = out.nodes[node] as Place;
  const turned = (main: number, cross: number): number[] => (out.downwards ? [cross, main] : [main, cross]);
  const half = (out.downwards ? out.nodeHeight : out.nodeWidth) / 2;
  const [a, b] = out.downwards ? [from, { x, y }] : [{ x: from.y, y: from.x }, { x: y, y: x }]; // x across, y along
  const below = a.y + half + 9;
  const above = b.y - half - 9;
  return { node, x, y, link: [turned(a.y + half, a.x), turned(below, a.x), turned(below, gap), turned(above, gap), turned(above, b.x), turned(b.y - half, b.x)].flat() };
}
