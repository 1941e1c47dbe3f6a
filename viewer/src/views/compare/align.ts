// Which layer of one run is which of the other: by name, and between namesakes by order, operator, name and work.
//
//   A  stem  conv_a  conv_b  pool  fc        stem and fc are namesakes; between them the pairs that are most alike in sum
//   B  stem  c1      pool    fc              and keep the order: conv_a - c1, pool - pool; conv_b has none
import { batchOf, inferencesOf } from "../../run/frames";
import type { Layer, Run } from "../../run/run";

/** A layer of A and the layer of B that does its work; null where a run has none. */
export interface Pair {
  row: number;
  a: Layer | null;
  b: Layer | null;
}

export interface Alignment {
  /** In the order of the network. */
  pairs: Pair[];
  /** Row of a layer, by its index in A and in B. */
  rowOf: [Int32Array, Int32Array];
}

export function align(a: Run, b: Run): Alignment {
  const partner = byName(a.layers, b.layers);
  const [ofA, ofB] = [a.layers.map((layer) => sightOf(a, layer)), b.layers.map((layer) => sightOf(b, layer))];
  const taken = new Set(partner);
  for (const gap of gapsOf(partner, b.layers.length)) {
    const leftA = ofA.slice(gap.a, gap.aEnd).filter(({ layer }) => (partner[layer.index] as number) < 0);
    const leftB = ofB.slice(gap.b, gap.bEnd).filter(({ layer }) => !taken.has(layer.index));
    for (const [x, y] of mostAlike(leftA, leftB)) partner[x.layer.index] = y.layer.index;
  }
  return inOrder(a.layers, b.layers, partner);
}

/** For each layer of A the index of its namesake in B, or -1. A name that occurs twice is paired first with first. */
function byName(a: readonly Layer[], b: readonly Layer[]): Int32Array {
  const places = new Map<string, number[]>();
  for (const { name, index } of b) {
    const same = places.get(name);
    if (same) same.push(index);
    else places.set(name, [index]);
  }
  return Int32Array.from(a, ({ name }) => places.get(name)?.shift() ?? -1);
}

interface Gap {
  a: number;
  aEnd: number;
  b: number;
  bEnd: number;
}

/** Stretches between neighbours in the longest chain of pairs that keeps the order in both runs. */
function gapsOf(partner: Int32Array, size: number): Gap[] {
  const gaps: Gap[] = [];
  let last = { a: -1, b: -1 };
  for (const a of [...longestRising(partner), partner.length]) {
    const b = a < partner.length ? (partner[a] as number) : size;
    if (a > last.a + 1 && b > last.b + 1) gaps.push({ a: last.a + 1, aEnd: a, b: last.b + 1, bEnd: b });
    last = { a, b };
  }
  return gaps;
}

/** Places of a longest strictly rising subsequence of what is not -1. */
export function longestRising(values: ArrayLike<number>): number[] {
  const ends: number[] = []; // place of the smallest last value of each length
  const before = new Int32Array(values.length).fill(-1);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value < 0) continue;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((values[ends[middle] as number] as number) < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[i] = ends[low - 1] as number;
    ends[low] = i;
  }
  const chain: number[] = [];
  for (let i = ends[ends.length - 1] ?? -1; i >= 0; i = before[i] as number) chain.push(i);
  return chain.reverse();
}

/** What of a layer counts when nobody has its name. */
export interface Sight {
  layer: Layer;
  op: string;
  name: string;
  macs: number;
  /** Elements of its output. */
  size: number;
}

function sightOf(run: Run, layer: Layer): Sight {
  const tensor = run.graph.tensors[run.graph.operators[layer.index]?.output ?? -1];
  return { layer, op: layer.op, name: layer.name, macs: layer.macs / inferencesOf(run), size: tensor ? (tensor.height * tensor.width * tensor.channels) / batchOf(run) : 0 };
}

const EVIDENCE = 0.6; // of name and work together; with less, two layers share no more than their operator
const PAIR = 0.1; // of pairings that are as alike, the one with more pairs

/** 0 for layers that are not each other's. */
export function likeness(x: Sight, y: Sight): number {
  if (x.op !== y.op) return 0;
  const work = (ratio(x.macs, y.macs) + ratio(x.size, y.size)) / 2;
  const alike = work + nameLikeness(x.name, y.name);
  return alike >= EVIDENCE ? PAIR + alike : 0;
}

const ratio = (x: number, y: number) => (x === y ? 1 : Math.min(x, y) / Math.max(x, y));

/** Share of the longer name that both begin or end with. */
function nameLikeness(x: string, y: string): number {
  const [short, long] = [Math.min(x.length, y.length), Math.max(x.length, y.length)];
  let same = 0;
  while (same < short && x[same] === y[same]) same++;
  let tail = 0;
  while (tail < short - same && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
  return long > 0 ? (same + tail) / long : 0;
}

const MOST_CELLS = 6_000_000; // of the table; beyond, only names count

/** Pairs in the order of both lists whose likeness is the most in sum. */
export function mostAlike(a: readonly Sight[], b: readonly Sight[]): [Sight, Sight][] {
  const width = b.length + 1;
  if ((a.length + 1) * width > MOST_CELLS) return [];
  const best = new Float64Array((a.length + 1) * width); // of a[i..] and b[j..]
  const withPair = (i: number, j: number) => {
    const score = likeness(a[i] as Sight, b[j] as Sight);
    return score > 0 ? score + (best[(i + 1) * width + j + 1] as number) : 0;
  };
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) best[i * width + j] = Math.max(withPair(i, j), best[(i + 1) * width + j] as number, best[i * width + j + 1] as number);
  const pairs: [Sight, Sight][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const here = best[i * width + j] as number;
    if (here === 0) break;
    if (here === withPair(i, j)) pairs.push([a[i++] as Sight, b[j++] as Sight]);
    else if (here === best[(i + 1) * width + j]) i++;
    else j++;
  }
  return pairs;
}

/** A's layers in their order; what only B has stands behind the layer that is before it in B. */
function inOrder(a: readonly Layer[], b: readonly Layer[], partner: Int32Array): Alignment {
  const paired = new Set(partner);
  const behind = new Map<number, Layer[]>(); // by the layer of B that has a partner; -1 for what comes first
  let last = -1;
  for (const layer of b) {
    if (paired.has(layer.index)) last = layer.index;
    else behind.set(last, [...(behind.get(last) ?? []), layer]);
  }
  const alignment: Alignment = { pairs: [], rowOf: [new Int32Array(a.length).fill(-1), new Int32Array(b.length).fill(-1)] };
  const put = (x: Layer | null, y: Layer | null) => {
    const row = alignment.pairs.length;
    if (x) alignment.rowOf[0][x.index] = row;
    if (y) alignment.rowOf[1][y.index] = row;
    alignment.pairs.push({ row, a: x, b: y });
  };
  for (const layer of behind.get(-1) ?? []) put(null, layer);
  for (const layer of a) {
    const other = partner[layer.index] as number;
    put(layer, b[other] ?? null);
    if (other >= 0) for (const alone of behind.get(other) ?? []) put(null, alone);
  }
  return alignment;
}
