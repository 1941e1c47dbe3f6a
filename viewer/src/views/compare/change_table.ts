// The layers of both runs beside each other, as a table whose rows select.
import { textWidth } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import type { Layer, Run } from "../../run/run";
import { element } from "../../ui/dom";
import { markEdges } from "../../ui/edges";
import { ROW_HEIGHT, RowWindow } from "../../ui/row_window";
import { thinnedText } from "./sparsity";
import { splitChange } from "./split_change";
import { amountText, boundText, deltaText, type Difference, isTurned, keyOf, type LayerChange, type Order, type OrderKey, ratioText, titleOf } from "./difference";

const COLUMNS = ["layer", "A", "B", "difference", "A / B", "bound", "split"] as const;
const SPARSITY = "sparsity";
/** What a click on the heading orders by. */
const ORDERED: Readonly<Record<string, OrderKey>> = { layer: "network", A: "before", B: "after", difference: "delta", "A / B": "ratio", bound: "bound", split: "split" };
const HELP: Record<string, string> = {
  layer: "In the order of the network",
  A: "What the layer adds to run A",
  B: "What the layer adds to run B",
  difference: "B less A",
  "A / B": "How many times as fast the layer is in B",
  bound: "What bounds the layer, in A → in B",
  [SPARSITY]: "In B: blocks of weights that are kept, the heaviest core's work over the mean, and MACs executed, of those that all blocks need",
  split: "How the layer is split, in A → in B",
};
const DELTA = 3;
const TEXT_FROM = 5; // columns that hold words
const MOST = [170, Infinity, Infinity, Infinity, Infinity, 240, 680, 680]; // pixels
const PADDING = 14;
const BORDER = 1; // of the table, at its left
const MARKS = [0, 0, 0, 14, 0, 28, 0, 0]; // pixels before the text
const SIZE = 12;
const FOLDED_SIZE = 11; // as the style sheet has it
const FOLDED_ROW = 32;
const MEASURED = 200; // rows whose texts are measured
const SHADE = 14; // over the edge of what goes on

/** Titles; what sparsity changed has a column where it changed anything. */
export const columnsOf = ({ isThinned }: Difference): string[] => (isThinned ? [...COLUMNS.slice(0, -1), SPARSITY, ...COLUMNS.slice(-1)] : [...COLUMNS]);

export function cellsOf(difference: Difference, change: LayerChange, unit: "cycles" | "time"): string[] {
  const { a, b } = change;
  return [
    titleOf(change), a ? amountText(difference, change.before, unit) : "–", b ? amountText(difference, change.after, unit) : "–", deltaText(difference, change.delta, unit),
    ratioText(change.before, change.after), both(change, boundText), ...(difference.isThinned ? [thinnedText(change)] : []),
    short(a && b ? splitChange(a.split, b.split) : ((a ?? b)?.split ?? "")),
  ];
}

/** The panel and the cell's title have the whole words. */
const short = (split: string): string => split.replaceAll("reduction cut in ", "reduction/").replaceAll(" cut in ", "/").replaceAll("input resident", "resident");

/** Once where both are the same or one run has no such layer. */
const both = ({ a, b }: LayerChange, of: (layer: Layer) => string) => {
  const [inA, inB] = [a && of(a), b && of(b)];
  return inA !== null && inB !== null && inA !== inB ? `${inA} → ${inB}` : (inA ?? inB ?? "");
};

export class ChangeTable {
  readonly root = element("div", { className: "compare-table" });
  private readonly scroller = element("div", { className: "compare-scroll" });
  private readonly head = element("tr");
  private readonly columns = element("colgroup");
  private readonly table = element("table", { aria: { label: "Layers of both runs" } });
  private readonly window = new RowWindow(this.scroller, this.table, this.head, null, (place) => this.rowOf(this.changes[place] as LayerChange));
  private readonly rows = new Map<number, HTMLTableRowElement>(); // that were in sight so far, by row of the alignment
  private changes: readonly LayerChange[] = [];
  private difference: Difference | null = null;
  private unit: "cycles" | "time" = "cycles";
  private longest = 1;
  private chosen = -1;
  private widths: number[] = []; // of the columns, in pixels
  private foldedWidths: number[] = []; // with words in two lines
  private folded = false;

  constructor(
    private readonly select: (row: number) => void,
    private readonly sort: (key: OrderKey) => void,
  ) {
    this.table.append(this.columns, element("thead", {}, this.head), ...this.window.parts);
    this.scroller.append(this.table);
    this.root.append(this.scroller);
    markEdges(this.root, this.scroller);
  }

  /**
   * Makes the table fit: all columns side by side where that takes no more than `most` pixels, else words in two lines where that
   * takes no more than `mostFolded`. Gives the pixels that it wants; where neither fits, what leaves all but the last column in sight.
   */
  fit(most: number, mostFolded: number): number {
    const bar = this.scroller.offsetWidth - this.scroller.clientWidth + BORDER;
    const flat = sum(this.widths) + bar;
    this.fold(flat > most);
    if (!this.folded) return flat;
    const folded = sum(this.foldedWidths) + bar;
    return folded <= mostFolded ? folded : sum(this.foldedWidths.slice(0, -1)) + SHADE + bar;
  }

  build(difference: Difference, changes: readonly LayerChange[], unit: "cycles" | "time", order: Order): void {
    [this.difference, this.changes, this.unit] = [difference, changes, unit];
    const focused = [...this.head.cells].findIndex((cell) => cell.contains(document.activeElement));
    this.head.replaceChildren(...columnsOf(difference).map((title, k) => this.headOf(title, k, order)));
    this.head.cells[focused]?.querySelector("button")?.focus();
    this.longest = changes.reduce((most, { before, after }) => Math.max(most, before, after), 0) || 1;
    this.rows.clear();
    this.widths = widthsOf(difference, changes, unit, false);
    this.foldedWidths = widthsOf(difference, changes, unit, true);
    this.layOut();
    this.holdTabStop();
  }

  private headOf(title: string, k: number, order: Order): HTMLElement {
    const key = ORDERED[title];
    const className = isText(k) ? "text" : "";
    if (!key) return element("th", { scope: "col", textContent: title, title: HELP[title] ?? "", className });
    const rises = (key === "network" || isText(k)) !== isTurned(order);
    const sorted = key !== keyOf(order) ? "none" : rises ? "ascending" : "descending";
    return element("th", { scope: "col", className, aria: { sort: sorted } }, element("button", { type: "button", textContent: title, title: `${HELP[title] ?? ""}. Click to sort.`, onclick: () => this.sort(key) }));
  }

  private fold(folded: boolean): void {
    if (folded === this.folded) return;
    this.folded = folded;
    this.layOut();
    this.mark(this.chosen);
  }

  private layOut(): void {
    const widths = this.folded ? this.foldedWidths : this.widths;
    this.columns.replaceChildren(...widths.map((width, k) => element("col", { style: k === widths.length - 1 ? {} : { width: `${width}px` } })));
    this.table.style.minWidth = `${sum(widths)}px`;
    this.table.classList.toggle("folded", this.folded);
    this.window.show(this.changes.length, this.folded ? FOLDED_ROW : ROW_HEIGHT);
  }

  /** Lights up a row, and scrolls it into sight. */
  mark(row: number): void {
    if (row !== this.chosen) {
      this.rows.get(this.chosen)?.setAttribute("aria-selected", "false");
      this.rows.get(row)?.setAttribute("aria-selected", "true");
      this.chosen = row;
      this.holdTabStop();
    }
    this.window.reveal(this.changes.findIndex((change) => change.row === row));
  }

  // One row takes part in the order of Tab; the arrows move among the others.
  private holdTabStop(): void {
    const stop = this.rows.get(this.chosen) ?? this.window.body.firstElementChild;
    for (const row of this.rows.values()) row.tabIndex = row === stop ? 0 : -1;
  }

  private rowOf(change: LayerChange): HTMLTableRowElement {
    let row = this.rows.get(change.row);
    if (!row) this.rows.set(change.row, (row = this.makeRow(this.difference as Difference, change)));
    return row;
  }

  private makeRow(difference: Difference, change: LayerChange): HTMLTableRowElement {
    const row = element("tr", { className: "row", tabIndex: -1, aria: { selected: String(change.row === this.chosen) }, onclick: () => this.select(change.row) });
    row.addEventListener("keydown", (e) => this.key(e, change));
    cellsOf(difference, change, this.unit).forEach((text, k, all) => {
      const cell = element("td", { textContent: text, className: isText(k) ? "text" : "", title: k === all.length - 1 ? both(change, ({ split }) => split) : isText(k) ? text : "" });
      const amount = k === 1 ? change.before : k === 2 ? change.after : 0;
      if (amount > 0) cell.style.setProperty("--share", `${((100 * amount) / this.longest).toFixed(2)}%`);
      if (k === DELTA && change.delta) cell.className = change.delta > 0 ? "more" : "less";
      if (k === TEXT_FROM) cell.prepend(...swatches(difference, change));
      row.append(cell);
    });
    return row;
  }

  private key(e: KeyboardEvent, change: LayerChange): void {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: this.window.page, PageUp: -this.window.page }[e.key];
    if (by) {
      const at = this.changes.indexOf(change) + by;
      const next = this.changes[Math.max(0, Math.min(this.changes.length - 1, at))] as LayerChange;
      this.window.reveal(this.changes.indexOf(next));
      this.rows.get(next.row)?.focus({ preventScroll: true });
      this.select(next.row);
    } else if (e.key === "Enter" || e.key === " ") this.select(change.row);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}

/** In CSS pixels, by column; a digit counts as wide as a 0. `folded`: of words in two lines. */
function widthsOf(difference: Difference, changes: readonly LayerChange[], unit: "cycles" | "time", folded: boolean): number[] {
  const wide = (text: string, bold = false, size = SIZE) => textWidth(text.replace(/\d/g, "0"), { size: bold ? 13 : size, bold });
  const inTwo = (text: string, mark: number) => {
    const words = text.split(" ");
    const line = (from: number, to: number) => wide(words.slice(from, to).join(" "), false, FOLDED_SIZE);
    return Math.min(...words.map((_, k) => Math.max(mark + line(0, k + 1), line(k + 1, words.length))));
  };
  const pixels = (text: string, k: number) => (folded && k >= TEXT_FROM ? inTwo(text, MARKS[k] as number) : wide(text) + (MARKS[k] as number));
  const widths = columnsOf(difference).map((title) => wide(title, true));
  const step = Math.max(1, Math.ceil(changes.length / MEASURED));
  const longest = changes.reduce<LayerChange | undefined>((most, change) => (!most || Math.abs(change.delta) > Math.abs(most.delta) ? change : most), undefined);
  for (const change of [...changes.filter((_, k) => k % step === 0), ...(longest ? [longest] : [])])
    cellsOf(difference, change, unit).forEach((text, k) => (widths[k] = Math.max(widths[k] as number, pixels(text, k))));
  // The bars of A and B have one scale.
  widths[1] = widths[2] = Math.max(widths[1] as number, widths[2] as number);
  return widths.map((width, k) => Math.ceil(Math.min(MOST[k] as number, width + PADDING)));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const isText = (column: number) => column === 0 || column >= TEXT_FROM;
const swatches = ({ a, b }: Difference, change: LayerChange) => {
  const colours = [change.a && colourOf(a, change.a), change.b && colourOf(b, change.b)].filter((colour) => colour !== null);
  return [...new Set(colours)].map((colour) => element("i", { className: "swatch", style: { background: colour } }));
};
const colourOf = (run: Run, layer: Layer) => css(resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? "")));
