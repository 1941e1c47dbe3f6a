// The columns of a sweep as typed arrays. A point is a number from 0; a figure that a point does not have is NaN, a text -1.
import type { ColumnJson, Role, SweepJson } from "./document";

interface About {
  readonly name: string;
  readonly unit: string;
  readonly role: Role;
  readonly help: string;
  /** Different values, those that are missing not counted. */
  readonly distinct: number;
  /** Whether any point lacks it. */
  readonly hasGaps: boolean;
}

export interface NumberColumn extends About {
  readonly kind: "number";
  readonly values: Float64Array;
  /** The different values, ascending. */
  readonly steps: readonly number[];
}

export interface TextColumn extends About {
  readonly kind: "text";
  /** Index in `words` for each point, or -1. */
  readonly codes: Int32Array;
  /** The different texts, in order: numbers in them by size. */
  readonly words: readonly string[];
}

export type Column = NumberColumn | TextColumn;

export class Sweep {
  readonly title: string;
  readonly version: string;
  readonly points: number;
  readonly columns: readonly Column[];
  /** Pages of points that have one, by the points' names. */
  readonly timelines: ReadonlyMap<string, string>;
  private readonly named: ReadonlyMap<string, Column>;
  private places: Map<string, number> | null = null; // of the points' hashes

  constructor(json: SweepJson) {
    this.title = json.title;
    this.version = json.heddle;
    this.points = json.points;
    this.columns = json.columns.map((about) => columnOf(about, json.data[about.name] ?? []));
    this.timelines = new Map(Object.entries(json.timelines ?? {}));
    this.named = new Map(this.columns.map((column) => [column.name, column]));
  }

  column(name: string): Column | undefined {
    return this.named.get(name);
  }

  numbers(name: string): NumberColumn | undefined {
    const column = this.named.get(name);
    return column?.kind === "number" ? column : undefined;
  }

  texts(name: string): TextColumn | undefined {
    const column = this.named.get(name);
    return column?.kind === "text" ? column : undefined;
  }

  /** NaN where there is none. */
  number(name: string, point: number): number {
    return this.numbers(name)?.values[point] ?? NaN;
  }

  /** "" where there is none. */
  text(name: string, point: number): string {
    const column = this.texts(name);
    return column?.words[column.codes[point] as number] ?? "";
  }

  /** What an address calls a point: its hash, or its number where the sweep has none. */
  nameOf(point: number): string {
    return this.text("point", point) || String(point);
  }

  /** -1 for what the sweep lacks. */
  pointOf(name: string): number {
    if (!this.texts("point")) return /^\d{1,9}$/.test(name) && Number(name) < this.points ? Number(name) : -1;
    this.places ??= new Map(Array.from({ length: this.points }, (_, point) => [this.nameOf(point), point]));
    return this.places.get(name) ?? -1;
  }
}

const inOrder = new Intl.Collator("en", { numeric: true });

function columnOf(about: ColumnJson, data: readonly (number | string | null)[]): Column {
  const { name, unit, role, help } = about;
  if (about.kind === "number") {
    const values = Float64Array.from(data, (value) => (typeof value === "number" ? value : NaN));
    const steps = [...new Set(values)].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
    return { kind: "number", name, unit, role, help, values, steps, distinct: steps.length, hasGaps: values.some(Number.isNaN) };
  }
  const words = [...new Set(data)].filter((value) => value !== null).map(String).sort(inOrder.compare);
  const places = new Map(words.map((word, code) => [word, code]));
  const codes = Int32Array.from(data, (value) => (value === null ? -1 : (places.get(String(value)) as number)));
  return { kind: "text", name, unit, role, help, codes, words, distinct: words.length, hasGaps: codes.includes(-1) };
}

/** A number for each point such that equal numbers are equal values and their order is that of the values; NaN and -1 are none. */
export const ranksOf = (column: Column): ArrayLike<number> => (column.kind === "number" ? column.values : column.codes);

/** Whether a point has a value there. */
export const has = (column: Column, point: number): boolean => (ranksOf(column)[point] as number) >= 0 || (column.kind === "number" && !Number.isNaN(column.values[point]));

/** The same in both points; two that lack it are alike. */
export function same(column: Column, a: number, b: number): boolean {
  const ranks = ranksOf(column);
  return Object.is(ranks[a], ranks[b]) || ranks[a] === ranks[b];
}

/** One value, in all points. */
export const isConstant = (column: Column): boolean => column.distinct === 0 || (column.distinct === 1 && !column.hasGaps);

/** Columns that tell what a point is, without its name. */
export const keyColumns = (sweep: Sweep): Column[] => sweep.columns.filter(({ role, name }) => (role === "key" && name !== "point") || role === "vary");

/** Columns with more than one value that say what a point is: rows of a heat map, axes of a chart. */
export const varyingKeys = (sweep: Sweep): Column[] => keyColumns(sweep).filter((column) => !isConstant(column));
