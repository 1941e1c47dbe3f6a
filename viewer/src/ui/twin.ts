// A view's table in the page: a click on a heading sorts, one on a row selects what it stands for.
import { element } from "./dom";
import { rowsInPage, type TableOf } from "./base_view";

export interface Sort {
  column: number;
  descends: boolean;
}

type Cell = string | number;

/** After a click on a column's heading: largest first, then smallest, then as the view has it. */
export function nextSort(sort: Sort | null, column: number): Sort | null {
  if (sort?.column !== column) return { column, descends: true };
  return sort.descends ? { column, descends: false } : null;
}

/** Numbers before words, and nothing last, whichever way the others go. */
function compare(a: Cell, b: Cell, descends: boolean): number {
  const rank = (cell: Cell) => (typeof cell === "number" ? 0 : cell === "" ? 2 : 1);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  // Words are wanted from A at first, figures from the largest.
  return (typeof a === "number") === descends ? -order : order;
}

/** The table with its rows in order of a column; sums of other rows stay behind them. */
export function sorted<Chosen>(table: TableOf<Chosen>, { column, descends }: Sort): TableOf<Chosen> {
  const { rows, selections, sums } = table;
  const places = rows.map((_, n) => n);
  const isSum = (n: number) => Number(sums?.has(n) ?? false);
  places.sort((a, b) => isSum(a) - isSum(b) || compare(rows[a]?.[column] ?? "", rows[b]?.[column] ?? "", descends) || a - b);
  const ordered: TableOf<Chosen> = { caption: table.caption, columns: table.columns, rows: places.map((n) => rows[n] as Cell[]) };
  return selections ? { ...ordered, selections: places.map((n) => selections[n] ?? null) } : ordered;
}

export function twinOf<Chosen>(given: TableOf<Chosen>, sort: Sort | null, select: (selection: Chosen) => void, sortBy: (column: number) => void): HTMLElement {
  const content = sort ? sorted(given, sort) : given;
  const { caption, columns, rows, selections } = content;
  const { shown, note } = rowsInPage(content);
  const held = nameColumn(content.rows);
  const headings = columns.map((name, k) => {
    const order = sort?.column !== k ? "none" : (typeof rows[0]?.[k] === "number") === sort.descends ? "descending" : "ascending";
    return element("th", { scope: "col", className: k === held ? "held" : "", aria: { sort: order } }, element("button", { type: "button", textContent: name, title: `Sort by ${name}`, onclick: () => sortBy(k) }));
  });
  const body = shown.map((n) => {
    const cells = (rows[n] ?? []).map((cell, k) => element("td", { className: `${typeof cell === "number" ? "number" : "text"}${k === held ? " held" : ""}`, textContent: textOf(cell) }));
    const row = element("tr", {}, ...cells);
    const selection = selections?.[n];
    if (selection != null) makeClickable(row, () => select(selection));
    return row;
  });
  const table = element("table", { className: "twin" }, element("caption", { textContent: caption + note }), element("thead", {}, element("tr", {}, ...headings)), element("tbody", {}, ...body));
  return element("div", { className: "view scrolls", tabIndex: 0, aria: { role: "region", label: caption } }, table);
}

const FIRST_COLUMNS = 3; // further ones hold long texts
const JUDGED = 20; // rows

/** The column of names, which stays in sight when one scrolls to the side; -1 where there is none. */
const nameColumn = (rows: readonly (readonly Cell[])[]): number =>
  Array.from({ length: FIRST_COLUMNS }, (_, k) => k).findIndex((k) => rows.length > 0 && rows.slice(0, JUDGED).every((row) => typeof row[k] === "string" && row[k] !== ""));

const textOf = (cell: Cell): string => (typeof cell === "number" ? cell.toLocaleString("en", { maximumFractionDigits: 6, maximumSignificantDigits: Number.isInteger(cell) ? 15 : 6 }) : cell);

function makeClickable(row: HTMLTableRowElement, click: () => void): void {
  row.className = "row";
  row.addEventListener("click", () => {
    row.parentElement?.querySelector('[aria-selected="true"]')?.removeAttribute("aria-selected");
    row.setAttribute("aria-selected", "true");
    click();
  });
}
