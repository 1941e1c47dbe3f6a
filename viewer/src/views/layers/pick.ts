// Which layers the table shows, and in which order.
import type { Layer } from "../../run/run";
import type { Column } from "./columns";

export interface Pick {
  /** Words that must all occur in name, operator, split or bound. */
  words: string;
  /** Exactly this; "" for any. */
  bound: string;
  operator: string;
  /** Key of a column; the largest first where a "-" stands before it. */
  sort: string;
}

export const boundOf = (layer: Layer): string => layer.boundBy ?? "none";

export function pick(layers: readonly Layer[], columns: readonly Column[], how: Pick): Layer[] {
  const words = how.words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (layer: Layer) => {
    if ((how.bound && boundOf(layer) !== how.bound) || (how.operator && layer.op !== how.operator)) return false;
    const text = `${layer.name} ${layer.op} ${layer.split} ${boundOf(layer)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const descending = how.sort.startsWith("-");
  const column = columns.find(({ key }) => key === how.sort.replace(/^-/, ""));
  const found = layers.filter(fits);
  return column ? found.sort((a, b) => compare(column, a, b, descending) || a.index - b.index) : found;
}

const byName = new Intl.Collator("en", { numeric: true });

// What has no value comes last, whichever way.
function compare(column: Column, a: Layer, b: Layer, descending: boolean): number {
  const [x, y] = [column.value(a), column.value(b)];
  if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
  const order = typeof x === "string" || typeof y === "string" ? byName.compare(String(x), String(y)) : x - y;
  return descending ? -order : order;
}
