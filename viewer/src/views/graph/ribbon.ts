// One part after another, laid out along a line: `main` is the way the data goes, `cross` is across it.
//
// Parts are small in real networks, so the work is dagre's per part and linear in their number; and it can pause after each.
import { graphlib, layout } from "@dagrejs/dagre";
import { type Network, type Part, partsOf } from "./network";

export interface Size {
  main: number;
  cross: number;
}

/** The centre of a node. */
export interface Spot {
  main: number;
  cross: number;
}

export interface Ribbon {
  size: Size;
  network: Network;
  parts: Part[];
  partOf: Int32Array; // of a node
  spots: Spot[]; // of nodes
  routes: Spot[][]; // of edges
}

export const RANK_GAP = 24;
const NODE_GAP = 16;
const MOST_FOR_DAGRE = 160; // nodes; beyond, its crossings take seconds

interface Laid {
  port: Spot;
  nodes: Spot[];
  routes: Spot[][];
}

/** Yields the share that is done after each part. */
export function* layRibbon(network: Network, size: Size): Generator<number, Ribbon> {
  const parts = partsOf(network);
  const { nodes, edges } = network;
  const ribbon: Ribbon = { size, network, parts, partOf: new Int32Array(nodes.length), spots: new Array<Spot>(nodes.length), routes: new Array<Spot[]>(edges.length) };
  const known = new Map<string, Laid>(); // blocks of a network repeat
  let bottom = -size.main / 2 - RANK_GAP;
  for (let k = 0; k < parts.length; k++) {
    const part = parts[k] as Part;
    const shape = shapeOf(network, part);
    let laid = known.get(shape);
    if (!laid) known.set(shape, (laid = layPart(network, part, size)));
    bottom = place(ribbon, part, k, laid, bottom);
    yield (k + 1) / parts.length;
  }
  return ribbon;
}

export function finished<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

const shapeOf = ({ edges }: Network, part: Part) => `${part.to - part.from} ${part.port >= 0 ? 1 : 0} ${part.edges.map((e) => `${(edges[e]?.from ?? 0) - part.from}>${(edges[e]?.to ?? 0) - part.from}`).join(" ")}`;

// Sets the part below `bottom`, with its port upon the node that it stands for; returns its own bottom.
function place(ribbon: Ribbon, part: Part, number: number, laid: Laid, bottom: number): number {
  const { size, spots, routes } = ribbon;
  const top = Math.min(...laid.nodes.map(({ main }) => main)) - size.main / 2;
  const port = part.port >= 0 ? (spots[part.port] as Spot) : null;
  const along = bottom + RANK_GAP - top;
  const across = port ? port.cross - laid.port.cross : -(least(laid.nodes) + most(laid.nodes)) / 2;
  const moved = (spot: Spot): Spot => ({ main: spot.main + along, cross: spot.cross + across });
  laid.nodes.forEach((spot, k) => {
    spots[part.from + k] = moved(spot);
    ribbon.partOf[part.from + k] = number;
  });
  part.edges.forEach((edge, k) => {
    const route = (laid.routes[k] as Spot[]).map(moved);
    // What leaves the port leaves the node itself, even where others reach lower than it.
    if (port && ribbon.network.edges[edge]?.from === part.port && route[0]) route[0] = { main: port.main + size.main / 2, cross: route[0].cross };
    routes[edge] = route;
  });
  return Math.max(...laid.nodes.map(({ main }) => main)) + along + size.main / 2;
}

const least = (spots: readonly Spot[]) => spots.reduce((a, { cross }) => Math.min(a, cross), Infinity);
const most = (spots: readonly Spot[]) => spots.reduce((a, { cross }) => Math.max(a, cross), -Infinity);

/** With the port, if any, as node 0 of the drawing. */
function layPart(network: Network, part: Part, size: Size): Laid {
  const count = part.to - part.from + 1;
  const local = (node: number) => (node < part.from ? 0 : node - part.from + 1);
  const edges = part.edges.map((e) => network.edges[e]).filter((edge) => edge !== undefined).map(({ from, to }) => ({ from: local(from), to: local(to) }));
  if (count > MOST_FOR_DAGRE) return layInRanks(count, edges, size);
  if (count === 1 && edges.length < 2) return { port: { main: 0, cross: 0 }, nodes: [{ main: size.main + RANK_GAP, cross: 0 }], routes: edges.map(() => routed({ main: 0, cross: 0 }, { main: size.main + RANK_GAP, cross: 0 }, [], size)) };
  const graph = new graphlib.Graph({ multigraph: true }).setGraph({ rankdir: "TB", nodesep: NODE_GAP, edgesep: 10, ranksep: RANK_GAP }).setDefaultEdgeLabel(() => ({}));
  for (let node = part.port >= 0 ? 0 : 1; node <= count; node++) graph.setNode(String(node), { width: size.cross, height: size.main });
  edges.forEach(({ from, to }, k) => graph.setEdge(String(from), String(to), {}, String(k)));
  layout(graph);
  const spot = ({ x, y }: { x?: number; y?: number }): Spot => ({ main: y ?? 0, cross: x ?? 0 });
  const spots = Array.from({ length: count + 1 }, (_, node) => (node > 0 || part.port >= 0 ? spot(graph.node(String(node)) as object) : { main: 0, cross: 0 }));
  const ranks = new Set(spots.map(({ main }) => Math.round(main)));
  const routes = edges.map(({ from, to }, k) => {
    const bends = ((graph.edge(String(from), String(to), String(k)) as { points?: { x: number; y: number }[] }).points ?? []).map(spot);
    return routed(spots[from] as Spot, spots[to] as Spot, bends.filter(({ main }) => ranks.has(Math.round(main))), size);
  });
  return { port: spots[0] as Spot, nodes: spots.slice(1), routes };
}

// Leaves at the node's end and arrives at the other's beginning; past the nodes of the ranks between it goes straight.
function routed(from: Spot, to: Spot, bends: readonly Spot[], size: Size): Spot[] {
  const between = bends.filter(({ main }) => main > from.main + size.main / 2 && main < to.main - size.main / 2);
  const passed = between.flatMap(({ main, cross }) => [{ main: main - size.main / 2, cross }, { main: main + size.main / 2, cross }]);
  const beside = (node: Spot, next: Spot) => node.cross + Math.max(-0.32, Math.min(0.32, (next.cross - node.cross) / size.cross)) * size.cross;
  return [
    { main: from.main + size.main / 2, cross: beside(from, passed[0] ?? to) },
    ...passed,
    { main: to.main - size.main / 2, cross: beside(to, passed[passed.length - 1] ?? from) },
  ];
}

// Of a large part that nothing cuts: as deep as its longest chain, each rank in the order of what feeds it.
function layInRanks(count: number, edges: readonly { from: number; to: number }[], size: Size): Laid {
  const rank = new Int32Array(count + 1);
  const feeders = Array.from({ length: count + 1 }, () => [] as number[]);
  for (const { from, to } of edges) if (from < to) feeders[to]?.push(from);
  const ranks: number[][] = [];
  for (let node = 0; node <= count; node++) {
    for (const from of feeders[node] as number[]) rank[node] = Math.max(rank[node] as number, (rank[from] as number) + 1);
    if (node > 0) rank[node] = Math.max(1, rank[node] as number);
    (ranks[rank[node] as number] ??= []).push(node);
  }
  const spots = Array.from({ length: count + 1 }, (): Spot => ({ main: 0, cross: 0 }));
  const mean = (node: number) => {
    const from = feeders[node] as number[];
    return from.length ? from.reduce((sum, f) => sum + (spots[f] as Spot).cross, 0) / from.length : 0;
  };
  ranks.forEach((members, r) => {
    const wishes = new Map(members.map((node) => [node, mean(node)]));
    members.sort((a, b) => (wishes.get(a) as number) - (wishes.get(b) as number) || a - b);
    members.forEach((node, k) => (spots[node] = { main: r * (size.main + 2 * RANK_GAP), cross: (k - (members.length - 1) / 2) * (size.cross + NODE_GAP) }));
  });
  return { port: spots[0] as Spot, nodes: spots.slice(1), routes: edges.map(({ from, to }) => routed(spots[from] as Spot, spots[to] as Spot, [], size)) };
}
