// A table as a picture, for the views whose tables are part of the page: columns as wide as what they hold.
import { type Painter, textWidth } from "./painter";

export interface TableCell {
  text: string;
  /** A small square before the text. */
  swatch?: string;
  /** A bar before the text; share 0..1 of the longest. */
  bar?: { share: number; colour: string };
}

export interface TableColumn {
  title: string;
  align: "left" | "right";
}

export interface PaintedTable {
  columns: TableColumn[];
  rows: TableCell[][];
  /** A last row below a line. */
  totals?: TableCell[];
  /** Number of the row that is lit up, or -1. */
  chosen?: number;
}

export const ROW_HEIGHT = 19;
const HEAD_HEIGHT = 24;
const PADDING = 9;
const SWATCH = 14;
const BAR = 54;
const WIDEST = 260;
const MOST_ROWS = 2000; // a picture that is taller opens nowhere

const SIZE = { size: 11 };
const HEAD = { size: 11, bold: true };

/** Room before the text of a cell. */
const before = ({ swatch, bar }: TableCell): number => (swatch ? SWATCH : 0) + (bar ? BAR : 0);

export interface TableLayout {
  widths: number[];
  width: number;
  height: number;
}

export function layOutTable(table: PaintedTable): TableLayout {
  const cells = [...table.rows.slice(0, MOST_ROWS), ...(table.totals ? [table.totals] : [])];
  const widths = table.columns.map(({ title }, k) => {
    let width = textWidth(title, HEAD);
    for (const row of cells) {
      const cell = row[k];
      if (cell) width = Math.max(width, textWidth(cell.text, HEAD) + before(cell));
    }
    return Math.ceil(Math.min(WIDEST, width)) + 2 * PADDING;
  });
  return { widths, width: widths.reduce((sum, w) => sum + w, 0), height: HEAD_HEIGHT + cells.length * ROW_HEIGHT };
}

export function paintTable(p: Painter, x: number, y: number, table: PaintedTable, layout = layOutTable(table)): void {
  const { theme } = p;
  p.rect(x, y, layout.width, HEAD_HEIGHT, theme.raised);
  paintRow(p, x, y + HEAD_HEIGHT / 2, table.columns.map(({ title }) => ({ text: title })), table.columns, layout.widths, true);
  p.rect(x, y + HEAD_HEIGHT - 1, layout.width, 1, theme.line);
  let top = y + HEAD_HEIGHT;
  table.rows.slice(0, MOST_ROWS).forEach((row, k) => {
    if (k === table.chosen) p.rect(x, top, layout.width, ROW_HEIGHT, theme.dark ? "rgba(109,182,242,0.20)" : "rgba(11,97,164,0.14)");
    else if (k % 2) p.rect(x, top, layout.width, ROW_HEIGHT, theme.dark ? "rgba(255,255,255,0.025)" : "rgba(0,0,0,0.025)");
    paintRow(p, x, top + ROW_HEIGHT / 2, row, table.columns, layout.widths, false);
    top += ROW_HEIGHT;
  });
  if (!table.totals) return;
  p.rect(x, top, layout.width, 1, theme.line);
  paintRow(p, x, top + ROW_HEIGHT / 2, table.totals, table.columns, layout.widths, true);
}

function paintRow(p: Painter, x: number, middle: number, cells: TableCell[], columns: TableColumn[], widths: number[], bold: boolean): void {
  columns.forEach(({ align }, k) => {
    const cell = cells[k];
    const width = widths[k] as number;
    if (cell) {
      if (cell.bar) {
        const whole = width - 2 * PADDING - textWidth("100.0 %", HEAD) - 8;
        p.rect(x + PADDING, middle - 4, whole, 8, p.theme.line);
        p.rect(x + PADDING, middle - 4, Math.max(0, Math.min(1, cell.bar.share)) * whole, 8, cell.bar.colour);
      }
      if (cell.swatch) p.rect(x + PADDING, middle - 5, 10, 10, cell.swatch);
      const room = width - 2 * PADDING - before(cell);
      const at = align === "right" ? x + width - PADDING : x + PADDING + (cell.swatch ? SWATCH : 0);
      p.text(at, middle, cell.text, { ...(bold ? HEAD : SIZE), align, width: room + 1 });
    }
    x += width;
  });
}
