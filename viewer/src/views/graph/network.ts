// The network as nodes and edges, cut where a single tensor passes: each part can then be laid out by itself.
//
//   input - conv1 - conv2 - add -            conv1 goes to conv2 and to add: no cut between them
//                \_________/                 parts: [input] [conv1] [conv2 add]
import type { Run } from "../../run/run";

export interface GraphNode {
  kind: "operator" | "input" | "output";
  /** Of the operator, or in the graph's inputs or outputs. */
  index: number;
  name: string;
  tensor: number; // that it makes, or takes for an output
}

export interface GraphEdge {
  from: number; // nodes
  to: number;
  tensor: number;
}

export interface Network {
  /** In the order in which they run. */
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export function networkOf(run: Run): Network {
  const { graph } = run;
  const nodes: GraphNode[] = [];
  const maker = new Map<number, number>(); // node of a tensor
  const put = (node: GraphNode) => nodes.push(node) - 1;
  const edges: GraphEdge[] = [];
  const inputOf = new Map(graph.inputs.map(({ tensor }, index) => [tensor, index]));
  const producers = new Set(graph.operators.map(({ output }) => output));
  const takers = graph.operators.map((operator, index) => {
    for (const tensor of operator.inputs) {
      const input = inputOf.get(tensor);
      if (input !== undefined && !maker.has(tensor) && !producers.has(tensor)) maker.set(tensor, put({ kind: "input", index: input, name: graph.inputs[input]?.name ?? "", tensor }));
    }
    const node = put({ kind: "operator", index, name: operator.name, tensor: operator.output });
    maker.set(operator.output, node);
    graph.outputs.forEach(({ name, tensor }, output) => {
      if (tensor === operator.output) edges.push({ from: node, to: put({ kind: "output", index: output, name, tensor }), tensor });
    });
    return node;
  });
  graph.operators.forEach((operator, index) => {
    for (const tensor of new Set(operator.inputs)) {
      const from = maker.get(tensor);
      if (from !== undefined) edges.push({ from, to: takers[index] as number, tensor });
    }
  });
  return { nodes, edges };
}

/** Nodes from .. to (inclusive) that are laid out together. */
export interface Part {
  from: number;
  to: number;
  edges: number[];
  /** The last node of the part before, where edges come from it; -1 where none do. */
  port: number;
}

export function partsOf({ nodes, edges }: Network): Part[] {
  const lastUse = nodes.map((_, node) => node);
  const blocked = new Uint8Array(nodes.length); // by an edge against the order
  for (const { from, to } of edges) {
    lastUse[from] = Math.max(lastUse[from] as number, to);
    for (let q = to; q < from; q++) blocked[q] = 1;
  }
  const parts: Part[] = [];
  const partAt = new Int32Array(nodes.length);
  let from = 0;
  let reach = -1; // of the nodes before q
  for (let q = 0; q < nodes.length; q++) {
    partAt[q] = parts.length;
    if (reach <= q && !blocked[q]) {
      parts.push({ from, to: q, edges: [], port: -1 });
      from = q + 1;
    }
    reach = Math.max(reach, lastUse[q] as number);
  }
  if (from < nodes.length) parts.push({ from, to: nodes.length - 1, edges: [], port: -1 });
  edges.forEach((edge, index) => {
    const part = parts[partAt[Math.max(edge.from, edge.to)] as number] as Part;
    part.edges.push(index);
    if (edge.from < part.from) part.port = edge.from;
  });
  return parts;
}
