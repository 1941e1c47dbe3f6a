// Rows x columns of one network: in each cell the best point, or why there is none.
import { type Column, has, type NumberColumn, ranksOf } from "./sweep";

export interface Cell {
  /** Points of the cell, in the order given. */
  points: number[];
  /** The one with the best figure, or the first where none has one; -1 for an empty cell. */
  best: number;
}

export interface Grid {
  /** A point for each row, or column, whose value names it; ascending. */
  rows: number[];
  columns: number[];
  /** Row after row. */
  cells: Cell[];
  /** Of the best figures. */
  least: number;
  most: number;
}

export function gridOf(points: readonly number[], down: Column, across: Column, figure: NumberColumn, more: boolean): Grid {
  const rows = stepsOf(down, points);
  const columns = stepsOf(across, points);
  const cells = Array.from({ length: rows.size * columns.size }, (): Cell => ({ points: [], best: -1 }));
  for (const point of points) {
    const row = rows.get(ranksOf(down)[point] as number);
    const column = columns.get(ranksOf(across)[point] as number);
    if (!row || !column) continue;
    const cell = cells[row.place * columns.size + column.place] as Cell;
    cell.points.push(point);
    if (cell.best < 0 || isBetter(figure, more, point, cell.best)) cell.best = point;
  }
  const figures = cells.map(({ best }) => (best < 0 ? NaN : (figure.values[best] as number))).filter((value) => !Number.isNaN(value));
  const firsts = (steps: Map<number, Step>) => [...steps.values()].sort((a, b) => a.place - b.place).map(({ first }) => first);
  return { rows: firsts(rows), columns: firsts(columns), cells, least: figures.reduce((a, b) => Math.min(a, b), Infinity), most: figures.reduce((a, b) => Math.max(a, b), -Infinity) };
}

/** Whether a point's figure is better than another's; any is better than none. */
export function isBetter(figure: NumberColumn, more: boolean, point: number, than: number): boolean {
  const [own, other] = [figure.values[point] as number, figure.values[than] as number];
  if (Number.isNaN(own)) return false;
  return Number.isNaN(other) || (more ? own > other : own < other);
}

interface Step {
  place: number;
  first: number;
}

/** The values that a column takes, in order. */
function stepsOf(column: Column, points: readonly number[]): Map<number, Step> {
  const firsts = new Map<number, number>();
  const ranks = ranksOf(column);
  for (const point of points) if (has(column, point) && !firsts.has(ranks[point] as number)) firsts.set(ranks[point] as number, point);
  return new Map([...firsts].sort((a, b) => a[0] - b[0]).map(([rank, first], place) => [rank, { place, first }]));
}
