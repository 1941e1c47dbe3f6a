// Which layer of one run is which of the other: by name, and what is left by the longest common sequence of operators.
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
  const taken = new Set(partner);
  const leftA = a.layers.filter(({ index }) => (partner[index] as number) < 0);
  const leftB = b.layers.filter(({ index }) => !taken.has(index));
  for (const [x, y] of commonSequence(leftA, leftB)) partner[x.index] = y.index;
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

// A pair of the same operator counts PAIR, and one more where the work is the same too: of the longest sequences the most alike.
const PAIR = 1 << 12;
const worth = (x: Layer, y: Layer) => (x.op !== y.op ? 0 : x.macs === y.macs ? PAIR + 1 : PAIR);

/** Pairs of the same operator, in the order of both lists, as many as can be. */
export function commonSequence(a: readonly Layer[], b: readonly Layer[]): [Layer, Layer][] {
  const width = b.length + 1;
  const best = new Float64Array((a.length + 1) * width); // of a[i..] and b[j..]
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const both = worth(a[i] as Layer, b[j] as Layer);
      const paired = both ? both + (best[(i + 1) * width + j + 1] as number) : 0;
      best[i * width + j] = Math.max(paired, best[(i + 1) * width + j] as number, best[i * width + j + 1] as number);
    }
  }
  const pairs: [Layer, Layer][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const here = best[i * width + j] as number;
    const both = worth(a[i] as Layer, b[j] as Layer);
    if (both && here === both + (best[(i + 1) * width + j + 1] as number)) pairs.push([a[i++] as Layer, b[j++] as Layer]);
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
