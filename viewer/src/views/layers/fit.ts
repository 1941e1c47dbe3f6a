// Which columns show, and how wide they are: as many of the most asked for as there is room for, unless somebody chose.
import { textWidth } from "../../paint/painter";
import type { Layer } from "../../run/run";
import { type Column, textOf } from "./columns";

export const ALL_COLUMNS = "all";
const ALWAYS = ["number", "layer"];
const FIRST = [...ALWAYS, "cycles", "share", "bound", "efficiency", "operator", "estimate", "split", "macs", "cores", "waits"];

/** `chosen` is "" for what fits, "all", or keys with blanks between them. */
export function columnsToShow(columns: readonly Column[], chosen: string, widths: ReadonlyMap<string, number>, room: number): Column[] {
  if (chosen === ALL_COLUMNS) return [...columns];
  const keys = new Set(chosen ? [...ALWAYS, ...chosen.split(" ")] : keysThatFit(columns, widths, room));
  return columns.filter(({ key }) => keys.has(key));
}

function keysThatFit(columns: readonly Column[], widths: ReadonlyMap<string, number>, room: number): string[] {
  const there = new Set(columns.map(({ key }) => key));
  const order = [...FIRST.filter((key) => there.has(key)), ...[...there].filter((key) => !FIRST.includes(key))];
  let used = 0;
  const beyond = order.findIndex((key) => (used += widths.get(key) ?? 0) > room && !ALWAYS.includes(key));
  return beyond < 0 ? order : order.slice(0, beyond);
}

const SIZE = 13; // of the page's text
const PADDING = 22;
const SORT_MARK = 13;
const MEASURED = 200; // layers whose texts are measured, besides the longest figures
const EXTRA: Record<string, number> = { bound: 16, share: 66, waits: 8 };
const MOST: Record<string, number> = { layer: 190, split: 320 };
const LEAST: Record<string, number> = { layer: 132 }; // "12 of 100 layers" stands below the names
const NUMBER_WIDTH = 46;

/** In CSS pixels, by key. */
export function widthsOf(columns: readonly Column[], layers: readonly Layer[]): Map<string, number> {
  const step = Math.max(1, Math.ceil(layers.length / MEASURED));
  const some = layers.filter((_, k) => k % step === 0);
  return new Map(columns.map((column) => [column.key, column.key === "number" ? NUMBER_WIDTH : widthOf(column, layers, some)]));
}

function widthOf(column: Column, layers: readonly Layer[], some: readonly Layer[]): number {
  // Digits are all as wide as a 0 here.
  const wide = (text: string, bold: boolean) => textWidth(text.replace(/\d/g, "0"), { size: SIZE, bold });
  const total = column.total?.(layers) ?? null;
  let width = Math.max(wide(column.title, true) + SORT_MARK, total === null ? 0 : wide(column.format(total), true) + (EXTRA[column.key] ?? 0));
  for (const layer of column.numeric ? [...some, ...extremes(column, layers)] : some) width = Math.max(width, wide(textOf(column, layer), false) + (EXTRA[column.key] ?? 0));
  return Math.ceil(Math.max(LEAST[column.key] ?? 0, Math.min(MOST[column.key] ?? Infinity, width + PADDING)));
}

function extremes(column: Column, layers: readonly Layer[]): Layer[] {
  const value = (layer: Layer) => Number(column.value(layer) ?? 0);
  let [least, most] = [layers[0], layers[0]];
  for (const layer of layers) {
    if (least && value(layer) < value(least)) least = layer;
    if (most && value(layer) > value(most)) most = layer;
  }
  return [least, most].filter((layer) => layer !== undefined);
}
