// Steps of a loop as one line: "14 × (LOADFM, CONV)". What repeats is found in what is there, loops within loops too.
import { type CriticalPath } from "../../run/critical_path";
import type { Run } from "../../run/run";

const LONGEST_PERIOD = 12;
const MOST_DEPTH = 4;

/** Steps first .. end-1: one step, or `times` times a body. */
export interface Item {
  first: number;
  end: number;
  times: number;
  /** Of all iterations, one after another; null where they are single steps. */
  parts: Item[] | null;
}

/** Number of what a step does and where: equal for steps that a reader would call the same. */
function kindsOf(run: Run, path: CriticalPath): Int32Array {
  const kinds = new Map<string, number>();
  const out = new Int32Array(path.steps);
  for (let k = 0; k < path.steps; k++) {
    const kind = `${run.instructions.mnemonic[path.leaf[k] as number] ?? -1} ${path.track[k]} ${path.layer[k]}`;
    const known = kinds.get(kind) ?? kinds.size;
    kinds.set(kind, known);
    out[k] = known;
  }
  return out;
}

interface Repeat {
  period: number;
  times: number;
}

/** The repetition that starts at i and covers most; the shortest period of those. */
function repeatAt(kinds: ArrayLike<number>, i: number, longest: number): Repeat {
  let best: Repeat = { period: 1, times: 1 };
  for (let period = 1; period <= longest && i + 2 * period <= kinds.length; period++) {
    let end = i + period;
    while (end < kinds.length && kinds[end] === kinds[end - period]) end++;
    const times = Math.floor((end - i) / period);
    if (times > 1 && times * period > best.times * best.period) best = { period, times };
  }
  return best;
}

/** One round: items in, items with their repetitions folded out, with the kind of each. */
function foldOnce(kinds: ArrayLike<number>, longest: number, part: (i: number) => Item, partsOf: (from: number, to: number) => Item[] | null, names: Map<string, number>) {
  const items: Item[] = [];
  const out: number[] = [];
  for (let i = 0; i < kinds.length; ) {
    const { period, times } = repeatAt(kinds, i, longest);
    const to = i + period * times;
    if (times > 1) {
      items.push({ first: part(i).first, end: part(to - 1).end, times, parts: partsOf(i, to) });
      const name = `${times}x${Array.from({ length: period }, (_, p) => kinds[i + p]).join(" ")}`;
      const known = names.get(name) ?? -1 - names.size;
      names.set(name, known);
      out.push(known);
    } else {
      items.push(part(i));
      out.push(kinds[i] as number);
    }
    i = to;
  }
  return { items, kinds: out };
}

const step = (k: number): Item => ({ first: k, end: k + 1, times: 1, parts: null });

/** All steps of the path in order, loops folded. */
export function folded(run: Run, path: CriticalPath): Item[] {
  const names = new Map<string, number>(); // of folded items; their kinds are negative
  let { items, kinds } = foldOnce(kindsOf(run, path), 1, step, () => null, names);
  // What stands in a row is folded first, so that a loop around it repeats the fold and not its steps.
  for (let depth = 1; depth < MOST_DEPTH; depth++) {
    const before = items;
    const again = foldOnce(kinds, LONGEST_PERIOD, (i) => before[i] as Item, (from, to) => before.slice(from, to), names);
    if (again.items.length === before.length) break;
    ({ items, kinds } = again);
  }
  return items;
}

export const isFold = (item: Item): boolean => item.end - item.first > 1;

/** What a folded item shows when it is opened. */
export function partsOf(item: Item): Item[] {
  return item.parts ?? Array.from({ length: item.end - item.first }, (_, k) => step(item.first + k));
}

export interface Line {
  item: Item;
  depth: number;
}

/** The list as it stands: items that `keep` lets through, and the parts of those that are open. */
export function linesOf(items: readonly Item[], open: ReadonlySet<string>, keep: (item: Item) => boolean = () => true, depth = 0, out: Line[] = []): Line[] {
  for (const item of items) {
    if (!keep(item)) continue;
    out.push({ item, depth });
    if (isFold(item) && open.has(keyOf(item))) linesOf(partsOf(item), open, keep, depth + 1, out);
  }
  return out;
}

export const keyOf = ({ first, end }: Item): string => `${first}-${end}`;

/** Folds to open so that step k has a line of its own. */
export function foldsAround(items: readonly Item[], k: number): string[] {
  const keys: string[] = [];
  let inside: readonly Item[] = items;
  for (;;) {
    const item = inside.find((candidate) => k >= candidate.first && k < candidate.end);
    if (!item || !isFold(item)) return keys;
    keys.push(keyOf(item));
    if (!item.parts) return keys;
    inside = item.parts;
  }
}
