// Figures and texts of a sweep as people read them; the file has them in full.
import type { Column, NumberColumn, Sweep } from "./sweep";

const DIGITS = 5;
const formats = new Map<number, Intl.NumberFormat>(); // making one takes longer than formatting a table

function formatOf(digits: number): Intl.NumberFormat {
  let format = formats.get(digits);
  if (!format) formats.set(digits, (format = new Intl.NumberFormat("en", { maximumSignificantDigits: digits })));
  return format;
}

/** 5 digits, whole numbers in full; "–" for none. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return Math.abs(value) < 1000 ? String(value + 0) : formatOf(21).format(value);
  return formatOf(Math.max(DIGITS, Math.ceil(Math.log10(Math.abs(value) + 1)))).format(value);
}

/** With its unit. */
export const withUnit = ({ unit }: Pick<Column, "unit">, value: number): string => (unit && Number.isFinite(value) ? `${figure(value)} ${unit}` : figure(value));

export const cellText = (column: Column, point: number): string =>
  column.kind === "number" ? figure(column.values[point] as number) : (column.words[column.codes[point] as number] ?? "–");

export const cellWithUnit = (column: Column, point: number): string => (column.kind === "number" ? withUnit(column, column.values[point] as number) : cellText(column, point));

/** As a table twin and CSV have it: plain, "" for none. */
export function cellValue(column: Column, point: number): number | string {
  if (column.kind === "text") return column.words[column.codes[point] as number] ?? "";
  const value = column.values[point] as number;
  return Number.isNaN(value) ? "" : value;
}

/** "floorMs (ms)" or, where the name says it, "floorMs". */
export const titleOf = ({ name, unit }: Pick<Column, "name" | "unit">): string =>
  unit && !name.toLowerCase().endsWith(unit.toLowerCase().replace("/", "p")) ? `${name} (${unit})` : name;

const MORE = /ips$|efficiency|persecond|throughput|speedup|^slack\(/i;

/** Whether a larger figure is wanted: inferences a second are, milliseconds and cores are not. */
export const wantsMore = ({ name, unit }: Pick<Column, "name" | "unit">): boolean => unit === "1/s" || MORE.test(name);

export const meshOf = (sweep: Sweep, point: number): string => {
  const [rows, cols] = [sweep.number("rows", point), sweep.number("cols", point)];
  return Number.isNaN(rows) || Number.isNaN(cols) ? "" : `${rows}x${cols}`;
};

/** "ddr.read" of links.ddr.read: what is left says enough beside its value. */
export const shortTitle = ({ name }: Pick<Column, "name">): string => name.slice(name.indexOf(".") + 1);

/** What beside the device tells two points of a network apart. */
const SETTINGS = ["masks", "effort", "fuse", "frames", "batch"];

/** Mesh, and what else tells a point from others of its network. */
export function placeName(sweep: Sweep, point: number): string {
  const parts = ({ name, role, distinct }: Column) => distinct > 1 && (role === "vary" || SETTINGS.includes(name));
  const varied = sweep.columns.filter(parts).map((column) => `${shortTitle(column)} ${cellWithUnit(column, point)}`);
  return [meshOf(sweep, point), ...varied].filter((part) => part).join(", ") || `point ${sweep.nameOf(point)}`;
}

export const pointName = (sweep: Sweep, point: number): string => [sweep.text("model", point), placeName(sweep, point)].filter((part) => part).join(", ");

/** Number columns that differ between points: what an axis can be. */
export const axesOf = (sweep: Sweep): NumberColumn[] => sweep.columns.filter((column): column is NumberColumn => column.kind === "number" && column.distinct > 0);
