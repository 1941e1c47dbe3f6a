// What each layer contributes to the difference of two runs: the contributions add up to it exactly.
import type { Run } from "../../run/run";
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
  /** Of the whole runs. */
  before: number;
  after: number;
  /** Part of after - before that belongs to no layer: 0 where the layers fill both runs. */
  rest: number;
  /** Whether a layer of both runs leaves out other blocks of weights in B than in A. */
  isThinned: boolean;
}

export function differ(a: Run, b: Run): Difference {
  const unit = a.device.clockHz === b.device.clockHz ? "cycles" : "seconds";
  const amount = (run: Run, cycles: number) => (unit === "cycles" ? cycles : cycles / run.device.clockHz);
  const alignment = align(a, b);
  const changes = alignment.pairs.map((pair): LayerChange => {
    const before = pair.a ? amount(a, pair.a.cycles) : 0;
    const after = pair.b ? amount(b, pair.b.cycles) : 0;
    return { ...pair, before, after, delta: after - before, name: pair.a?.name ?? pair.b?.name ?? "" };
  });
  const layerCycles = (run: Run) => run.layers.reduce((sum, layer) => sum + layer.cycles, 0);
  const rest = amount(b, b.makespan - layerCycles(b)) - amount(a, a.makespan - layerCycles(a));
  return { a, b, unit, alignment, changes, before: amount(a, a.makespan), after: amount(b, b.makespan), rest, isThinned: changes.some(isThinned) };
}

const known = new WeakMap<Run, WeakMap<Run, Difference>>();

export function differenceOf(a: Run, b: Run): Difference {
  let ofA = known.get(a);
  if (!ofA) known.set(a, (ofA = new WeakMap()));
  let difference = ofA.get(b);
  if (!difference) ofA.set(b, (difference = differ(a, b)));
  return difference;
}

export type Order = "network" | "size";

/** One bar: it leads from the amount so far to the amount with this change. */
export interface Step {
  change: LayerChange | null; // null for what belongs to no layer
  from: number;
  to: number;
}

export function stepsOf(difference: Difference, order: Order): Step[] {
  const changes = order === "size" ? [...difference.changes].sort((x, y) => Math.abs(y.delta) - Math.abs(x.delta) || x.row - y.row) : difference.changes;
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
export const titleOf = ({ a, b, name }: LayerChange): string => (a && b && a.name !== b.name ? `${a.name} | ${b.name}` : name);

/** The layer leaves out other blocks of weights in B than in A. */
export const isThinned = ({ a, b }: Pair): boolean => a !== null && b !== null && a.macs !== b.macs;

export const boundText = (layer: { boundBy: string | null } | null): string => (layer ? (layer.boundBy ?? "nothing") : "–");

export const boundChanged = ({ a, b }: Pair): boolean => a !== null && b !== null && a.boundBy !== b.boundBy;
