// The table of points: only the rows in sight are in the page. A row with fields below the headings filters.
import { textWidth } from "../paint/painter";
import { css, resourceColour } from "../paint/theme";
import { boundsOf, largest } from "../sweep/bounds";
import { cellText, titleOf } from "../sweep/figures";
import type { Column } from "../sweep/sweep";
import { element } from "../ui/dom";
import { markEdges } from "../ui/edges";
import { RowWindow } from "../ui/row_window";
import type { App } from "./app";
import { filterField, followFilter } from "./filter_bar";

const KEPT_ROWS = 400; // beyond them rows are made anew
const MOST_WIDTH = 260;
const LEAST_WIDTH = 84;
const MEASURED = 120; // points whose texts are measured
const PADDING = 24;
const SORT_MARK = 13;

export class PointTable {
  readonly root: HTMLElement;
  readonly scroller = element("div", { className: "points-scroll" });
  private readonly table = element("table", { aria: { role: "grid", label: "Points" } });
  private readonly widths = element("colgroup");
  private readonly names = element("tr");
  private readonly fields = element("tr", { className: "filters" });
  private readonly head = element("thead", {}, this.names, this.fields);
  private readonly window = new RowWindow(this.scroller, this.table, this.head, null, (place) => this.rowAt(place));
  private readonly rows = new Map<number, HTMLTableRowElement>(); // by place: what they show is changed, which is faster than new ones
  private columns: readonly Column[] = [];
  private inputs: { column: Column; field: HTMLInputElement }[] = [];
  private shown: readonly number[] = [];
  private chosen = -1;

  constructor(
    private readonly app: App,
    private readonly sortBy: (column: Column) => void,
  ) {
    this.table.append(this.widths, this.head, ...this.window.parts);
    this.scroller.append(this.table);
    this.root = element("div", { className: "grid points-table" }, this.scroller);
    markEdges(this.root, this.scroller);
    const { body } = this.window;
    body.addEventListener("click", (e) => this.click(e));
    body.addEventListener("keydown", (e) => this.key(e));
  }

  build(columns: readonly Column[]): void {
    this.columns = columns;
    this.rows.clear();
    this.names.replaceChildren(...columns.map((column) => {
      const name = element("button", { type: "button", textContent: titleOf(column), title: `${column.help} Click to sort.`, onclick: () => this.sortBy(column) });
      return element("th", { scope: "col", className: column.kind === "number" ? "" : "text", data: { column: column.name }, aria: { sort: "none" } }, name);
    }));
    this.inputs = columns.map((column) => ({ column, field: filterField(this.app, column, `Filter rows by ${column.name}`) }));
    this.fields.replaceChildren(...this.inputs.map(({ field }) => element("td", {}, field)));
    const widths = columns.map(widthOf);
    this.widths.replaceChildren(...widths.map((width) => element("col", { style: { width: `${width}px` } })));
    const whole = `${widths.reduce((sum, width) => sum + width, 0)}px`;
    this.table.style.minWidth = whole;
    this.table.style.width = whole;
  }

  show(points: readonly number[], sort: string): void {
    this.shown = points;
    this.columns.forEach(({ name }, k) => this.names.children[k]?.setAttribute("aria-sort", sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none"));
    this.window.show(points.length);
    this.holdTabStop();
  }

  followFilters(): void {
    for (const { column, field } of this.inputs) followFilter(this.app, column, field);
  }

  /** Lights up a row, and scrolls it into sight. */
  mark(point: number): void {
    this.rowOf(this.chosen)?.setAttribute("aria-selected", "false");
    this.rowOf(point)?.setAttribute("aria-selected", "true");
    this.chosen = point;
    this.window.reveal(this.shown.indexOf(point));
    this.holdTabStop();
  }

  /** Fills the rows anew: what is held, or the theme, has changed. */
  refill(): void {
    for (const row of this.rows.values()) if (row.isConnected) this.fill(row, Number(row.dataset["point"]));
  }

  private rowOf(point: number): HTMLTableRowElement | undefined {
    const row = this.rows.get(this.shown.indexOf(point));
    return Number(row?.dataset["point"]) === point ? row : undefined;
  }

  /** Selects the row `by` below the selected one. */
  step(by: number): void {
    if (!this.shown.length) return;
    const at = this.shown.indexOf(this.chosen);
    const next = at < 0 ? (by > 0 ? 0 : this.shown.length - 1) : Math.max(0, Math.min(this.shown.length - 1, at + by));
    this.take(this.shown[next] as number);
  }

  private take(point: number): void {
    const hadFocus = this.window.body.contains(document.activeElement);
    this.window.reveal(this.shown.indexOf(point));
    if (hadFocus) this.rowOf(point)?.focus({ preventScroll: true });
    this.mark(point);
    this.app.select(point);
  }

  private rowAt(place: number): HTMLTableRowElement {
    let row = this.rows.get(place);
    if (!row) {
      if (this.rows.size > KEPT_ROWS) for (const [known, node] of this.rows) if (!node.isConnected) this.rows.delete(known);
      const cells = this.columns.map((column) => element("td", { className: column.kind === "number" ? "" : "text" }, ...(column.name === "boundBy" ? [element("i", { className: "swatch" })] : []), document.createTextNode("")));
      this.rows.set(place, (row = element("tr", { className: "row", tabIndex: -1 }, ...cells)));
    }
    this.fill(row, this.shown[place] as number);
    return row;
  }

  private fill(row: HTMLTableRowElement, point: number): void {
    row.dataset["point"] = String(point);
    row.className = point === this.app.held ? "row held" : "row";
    row.setAttribute("aria-selected", String(point === this.chosen));
    this.columns.forEach((column, k) => {
      const cell = row.children[k] as HTMLTableCellElement;
      const text = cell.lastChild as Text;
      const now = cellText(column, point);
      if (column.name === "boundBy") this.paintBound(cell.firstChild as HTMLElement, point);
      if (text.data === now) return;
      text.data = now;
      if (column.kind === "text") cell.title = now;
    });
  }

  private paintBound(swatch: HTMLElement, point: number): void {
    const bound = largest(boundsOf(this.app.sweep), point);
    swatch.hidden = !bound;
    if (bound) swatch.style.background = css(resourceColour(bound.resource));
  }

  // One row takes part in the order of Tab; the arrows move among the others.
  private holdTabStop(): void {
    const stop = this.rowOf(this.chosen);
    const first = stop?.isConnected ? stop : this.window.body.firstElementChild;
    for (const row of this.window.body.children) (row as HTMLElement).tabIndex = row === first ? 0 : -1;
  }

  private pointAt(target: EventTarget | null): number {
    const row = (target as HTMLElement | null)?.closest<HTMLElement>("tr.row");
    return row ? Number(row.dataset["point"]) : -1;
  }

  private click(e: MouseEvent): void {
    const point = this.pointAt(e.target);
    if (point < 0) return;
    if (e.shiftKey) this.app.hold(point);
    else this.app.select(point);
  }

  private key(e: KeyboardEvent): void {
    const point = this.pointAt(e.target);
    if (point < 0 || e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, this.window.page - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.shown.length, End: this.shown.length }[e.key];
    if (by) {
      if (point !== this.chosen) this.take(point);
      this.step(by);
    } else if (e.key === "Enter" || e.key === " ") this.take(point);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}

function widthOf(column: Column): number {
  const wide = (text: string, bold: boolean) => textWidth(text.replace(/\d/g, "0"), { size: 13, bold });
  let width = wide(titleOf(column), true) + SORT_MARK;
  const points = column.kind === "number" ? column.values.length : column.codes.length;
  const step = Math.max(1, Math.ceil(points / MEASURED));
  for (let point = 0; point < points; point += step) width = Math.max(width, wide(cellText(column, point), false) + (column.name === "boundBy" ? 16 : 0));
  return Math.ceil(Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, width + PADDING)));
}
