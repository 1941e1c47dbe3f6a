// Which points are looked at: for each column a text that anybody can type, and that the address and the brushes write as well.
//
//   numbers   2..8   4..   ..3.5   8   1, 4, 16..
//   texts     words between commas: one that is a value of the column means that value, others mean values that contain it;
//             "a, b" in quotes for a value with a comma, "" for none
import { type Column, ranksOf, type Sweep } from "./sweep";

export type Filters = Readonly<Record<string, string>>;

interface Range {
  from: number;
  to: number;
}

const NUMBER = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?`;
const RANGE = new RegExp(`^(?:(${NUMBER})|(${NUMBER})?\\s*\\.\\.\\s*(${NUMBER})?)$`, "i");
const CLOSE = 1e-9; // numbers that differ by less than this share are one

/** Null for what is no list of ranges. */
export function rangesOf(text: string): Range[] | null {
  const out: Range[] = [];
  for (const part of text.split(",")) {
    const found = RANGE.exec(part.trim());
    if (!found) return null;
    const [, alone, from, to] = found;
    if (alone !== undefined) out.push({ from: Number(alone) - CLOSE * Math.abs(Number(alone)), to: Number(alone) + CLOSE * Math.abs(Number(alone)) });
    else out.push({ from: from === undefined ? -Infinity : Number(from), to: to === undefined ? Infinity : Number(to) });
  }
  return out;
}

/** The words of a text filter, without their quotes. */
export function wordsOf(text: string): { word: string; quoted: boolean }[] {
  const out: { word: string; quoted: boolean }[] = [];
  for (const found of text.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*?))\s*(?:,|$)/g)) {
    if (found[1] !== undefined) out.push({ word: found[1].replaceAll('""', '"'), quoted: true });
    else if (found[2]) out.push({ word: found[2], quoted: false });
  }
  return out;
}

/** The filter that lets exactly these values through. */
export const filterOfWords = (words: readonly string[]): string =>
  words.map((word) => (/[",]|^\s|\s$|^$/.test(word) ? `"${word.replaceAll('"', '""')}"` : word)).join(", ");

export const filterOfRange = (from: number, to: number): string => `${Number.isFinite(from) ? from : ""}..${Number.isFinite(to) ? to : ""}`;

type Test = (rank: number) => boolean;

/** Null where the text says nothing that can be understood: nothing is left out then. */
export function testOf(column: Column, text: string): Test | null {
  if (!text.trim()) return null;
  if (column.kind === "number") {
    const ranges = rangesOf(text);
    return ranges && ((value) => ranges.some(({ from, to }) => value >= from && value <= to));
  }
  const words = wordsOf(text);
  if (!words.length) return null;
  const takes = new Uint8Array(column.words.length);
  for (const { word, quoted } of words) {
    const exact = column.words.indexOf(word);
    const part = word.toLowerCase();
    if (exact >= 0) takes[exact] = 1;
    else if (!quoted) column.words.forEach((value, code) => { if (value.toLowerCase().includes(part)) takes[code] = 1; });
  }
  const takesNone = words.some(({ word, quoted }) => quoted && word === "");
  return (code) => (code < 0 ? takesNone : takes[code] === 1);
}

export const isUnderstood = (column: Column, text: string): boolean => !text.trim() || testOf(column, text) !== null;

export interface Visible {
  /** Ascending. */
  points: readonly number[];
  /** 1 for each point that is looked at. */
  mask: Uint8Array;
}

export function visible(sweep: Sweep, filters: Filters): Visible {
  const mask = new Uint8Array(sweep.points).fill(1);
  for (const [name, text] of Object.entries(filters)) {
    const column = sweep.column(name);
    const test = column && testOf(column, text);
    if (!column || !test) continue;
    const ranks = ranksOf(column);
    for (let point = 0; point < mask.length; point++) if (mask[point] && !test(ranks[point] as number)) mask[point] = 0;
  }
  const points: number[] = [];
  for (let point = 0; point < mask.length; point++) if (mask[point]) points.push(point);
  return { points, mask };
}

/** `sort`: a column's name, "-" before it for the largest first; "" as in the file. What is missing comes last. */
export function inOrder(sweep: Sweep, points: readonly number[], sort: string): number[] {
  const descends = sort.startsWith("-");
  const column = sweep.column(descends ? sort.slice(1) : sort);
  const out = [...points];
  if (!column) return out;
  const ranks = ranksOf(column);
  const lacks = (rank: number) => Number.isNaN(rank) || (column.kind === "text" && rank < 0);
  const sign = descends ? -1 : 1;
  return out.sort((a, b) => {
    const [x, y] = [ranks[a] as number, ranks[b] as number];
    return Number(lacks(x)) - Number(lacks(y)) || (lacks(x) ? 0 : sign * (x - y)) || a - b;
  });
}
