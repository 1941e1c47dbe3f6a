// What each layer contributes to the difference of two runs: the contributions add up to it exactly.
import { namesBeside } from "../../run/format";
import { batchOf, framesIn, inferencesOf } from "../../run/frames";
import type { Layer, Run } from "../../run/run";
import { count, seconds } from "../../ui/numbers";
import { align, type Alignment, type Pair } from "./align";

export interface LayerChange extends Pair {
  /** Amounts of time in Difference.unit; 0 where the run has no such layer. */
  before: number;
  after: number;
  delta: number;
  name: string;
}

export interface Difference {
  a: Run;
  b: Run;
  /** Amounts are cycles where both clocks are the same, else seconds. */
  unit: "cycles" | "seconds";
  alignment: Alignment;
  changes: LayerChange[]; // by row
  /** By how many inferences the figures of A and of B are divided: 1 where both run as many frames of as many, else all that the run has. */
  shares: readonly [number, number];
  /** Of what is compared: the whole runs, or one inference of each, on average. */
  before: number;
  after: number;
  /** Of the whole runs. */
  whole: { before: number; after: number };
  /** Part of after - before that belongs to no layer: 0 where the layers fill both runs. */
  rest: number;
  /** Whether a layer of both runs leaves out other blocks of weights in B than in A. */
  isThinned: boolean;
}

export function differ(a: Run, b: Run): Difference {
  const unit = a.device.clockHz === b.device.clockHz ? "cycles" : "seconds";
  const amount = (run: Run, cycles: number) => (unit === "cycles" ? cycles : cycles / run.device.clockHz);
  const alignment = align(a, b);
  const isAlike = framesIn(a) === framesIn(b) && batchOf(a) === batchOf(b);
  const shares = isAlike ? ([1, 1] as const) : ([inferencesOf(a), inferencesOf(b)] as const);
  const frames = isAlike ? shares : ([framesIn(a), framesIn(b)] as const);
  const changes = alignment.pairs.map((pair): LayerChange => {
    const [inA, inB] = [pair.a && ofOne(pair.a, shares[0], frames[0]), pair.b && ofOne(pair.b, shares[1], frames[1])];
    const before = inA ? amount(a, inA.cycles) : 0;
    const after = inB ? amount(b, inB.cycles) : 0;
    return { ...pair, a: inA, b: inB, before, after, delta: after - before, name: inA?.name ?? inB?.name ?? "" };
  });
  const layerCycles = (run: Run) => run.layers.reduce((sum, layer) => sum + layer.cycles, 0);
  const rest = amount(b, b.makespan - layerCycles(b)) / shares[1] - amount(a, a.makespan - layerCycles(a)) / shares[0];
  const whole = { before: amount(a, a.makespan), after: amount(b, b.makespan) };
  return { a, b, unit, alignment, changes, shares, before: whole.before / shares[0], after: whole.after / shares[1], whole, rest, isThinned: changes.some(isThinned) };
}

/** The layer with its amounts divided by `shares`, the weights that it needs by the frames that need them; when it ran stays as it was. */
function ofOne(layer: Layer, shares: number, frames: number): Layer {
  if (shares === 1) return layer;
  const one: Layer = { ...layer, busyCycles: Object.fromEntries(Object.entries(layer.busyCycles ?? {}).map(([name, cycles]) => [name, cycles / shares])) };
  for (const key of AMOUNTS) {
    const amount = layer[key];
    if (typeof amount === "number") Object.assign(one, { [key]: amount / shares });
  }
  for (const key of ["weightBytes", "denseWeightBytes"] as const) {
    const needed = layer[key];
    if (typeof needed === "number") Object.assign(one, { [key]: needed / frames });
  }
  return one;
}

const AMOUNTS = [
  "cycles", "macs", "macsExecuted", "denseMacs", "ddrReadBytes", "ddrWriteBytes", "memtileToCoreBytes", "coreToMemtileBytes", "weightsToCoresBytes", "inputsToCoresBytes",
] as const;

const known = new WeakMap<Run, WeakMap<Run, Difference>>();

export function differenceOf(a: Run, b: Run): Difference {
  let ofA = known.get(a);
  if (!ofA) known.set(a, (ofA = new WeakMap()));
  let difference = ofA.get(b);
  if (!difference) ofA.set(b, (difference = differ(a, b)));
  return difference;
}

const KEYS = ["network", "size", "before", "after", "delta", "ratio", "bound", "split"] as const;
export type OrderKey = (typeof KEYS)[number];

/** What layers are ordered by: figures from the largest on, words by the alphabet, and the other way round with a "-" before it. */
export type Order = OrderKey | `-${OrderKey}`;

export const keyOf = (order: Order): OrderKey => order.replace("-", "") as OrderKey;
export const isTurned = (order: Order): boolean => order.startsWith("-");

export function parseOrder(text: string): Order {
  return KEYS.some((key) => text === key || text === `-${key}`) ? (text as Order) : "network";
}

const ratioOf = ({ before, after }: LayerChange): number => (before > 0 && after > 0 ? before / after : -1);
const words = ({ a, b }: LayerChange, of: (layer: Layer | null) => string): string => `${of(a)} ${of(b)}`;

/** Rising, as they stand; those that are equal stay in the order of the network. */
const COMPARED: Readonly<Record<OrderKey, (x: LayerChange, y: LayerChange) => number>> = {
  network: (x, y) => x.row - y.row,
  size: (x, y) => Math.abs(y.delta) - Math.abs(x.delta),
  before: (x, y) => y.before - x.before,
  after: (x, y) => y.after - x.after,
  delta: (x, y) => y.delta - x.delta,
  ratio: (x, y) => ratioOf(y) - ratioOf(x),
  bound: (x, y) => words(x, boundText).localeCompare(words(y, boundText)),
  split: (x, y) => words(x, (layer) => layer?.split ?? "").localeCompare(words(y, (layer) => layer?.split ?? "")),
};

/** One bar: it leads from the amount so far to the amount with this change. */
export interface Step {
  change: LayerChange | null; // null for what belongs to no layer
  from: number;
  to: number;
}

export function stepsOf(difference: Difference, order: Order): Step[] {
  const [compare, sign] = [COMPARED[keyOf(order)], isTurned(order) ? -1 : 1];
  const changes = order === "network" ? difference.changes : [...difference.changes].sort((x, y) => sign * compare(x, y) || x.row - y.row);
  let at = difference.before;
  const step = (change: LayerChange | null, delta: number): Step => ({ change, from: at, to: (at += delta) });
  const steps = changes.map((change) => step(change, change.delta));
  if (difference.rest !== 0) steps.push(step(null, difference.rest));
  return steps;
}

/** Of a layer that only one of the runs has. */
export const isAlone = ({ change }: Step): boolean => change !== null && !(change.a && change.b);

/** An amount in words: seconds where the clocks differ, whatever the page's unit. */
export function amountText(difference: Difference, amount: number, unit: "cycles" | "time"): string {
  if (difference.unit === "seconds") return seconds(amount);
  return unit === "time" ? seconds(amount / difference.a.device.clockHz) : count(amount);
}

export function deltaText(difference: Difference, delta: number, unit: "cycles" | "time"): string {
  const text = amountText(difference, Math.abs(delta), unit);
  return delta > 0 ? `+${text}` : delta < 0 ? `−${text}` : text;
}

/** "2.09 x": how many times the amount of B goes into that of A; above 1 B is faster. */
export const ratioText = (before: number, after: number): string => {
  const ratio = before > 0 && after > 0 ? before / after : 0;
  return ratio > 0 ? `${ratio >= 100 ? count(ratio) : ratio.toFixed(2)}×` : "–";
};

/** Nothing that the page shows of a layer, and nothing that the reports count, differs. */
export function isSame({ a, b, changes, rest }: Difference): boolean {
  const layers = changes.every(({ a: x, b: y, delta }) => x && y && delta === 0 && x.boundBy === y.boundBy && x.split === y.split);
  return layers && rest === 0 && a.makespan === b.makespan && JSON.stringify(a.report.traffic) === JSON.stringify(b.report.traffic);
}

/** Both names where they differ. */
/** Of a layer that one run alone has: which, and where the other does its work, where that says so. */
export function onlyText({ a, b }: Pick<Difference, "a" | "b">, change: LayerChange): string {
  const [own, other, run] = change.a ? ["A", "B", b] : ["B", "A", a];
  const index = run.graph.operators.findIndex((operator) => namesBeside(operator).includes(change.name));
  const [at, does] = [run.layers[index], run.graph.operators[index]];
  return `only in ${own}${at ? `, in ${other} at the ${does?.atStart === change.name ? "start" : "end"} of ${at.name}` : ""}`;
}

export const titleOf = ({ a, b, name }: LayerChange): string => (a && b && a.name !== b.name ? `${a.name} | ${b.name}` : name);

/** The layer leaves out other blocks of weights in B than in A. */
export const isThinned = ({ a, b }: Pair): boolean => a !== null && b !== null && a.macs !== b.macs;

export const boundText = (layer: { boundBy: string | null } | null): string => (layer ? (layer.boundBy ?? "nothing") : "–");

export const boundChanged = ({ a, b }: Pair): boolean => a !== null && b !== null && a.boundBy !== b.boundBy;
