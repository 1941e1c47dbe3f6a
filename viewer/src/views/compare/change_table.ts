// The layers of both runs beside each other, as a table whose rows select.
import { css, resourceColour } from "../../paint/theme";
import type { Layer, Run } from "../../run/run";
import { element } from "../../ui/dom";
import { amountText, boundText, deltaText, type Difference, type LayerChange, ratioText, titleOf } from "./difference";

export const COLUMNS = ["layer", "A", "B", "difference", "A / B", "bound", "split"] as const;
const TEXT_FROM = 5; // columns that hold words

export function cellsOf(difference: Difference, change: LayerChange, unit: "cycles" | "time"): string[] {
  const { a, b } = change;
  return [
    titleOf(change), a ? amountText(difference, change.before, unit) : "–", b ? amountText(difference, change.after, unit) : "–", deltaText(difference, change.delta, unit),
    ratioText(change.before, change.after), both(change, boundText), both(change, ({ split }) => split),
  ];
}

/** Once where both are the same or one run has no such layer. */
const both = ({ a, b }: LayerChange, of: (layer: Layer) => string) => {
  const [inA, inB] = [a && of(a), b && of(b)];
  return inA !== null && inB !== null && inA !== inB ? `${inA} → ${inB}` : (inA ?? inB ?? "");
};

export class ChangeTable {
  readonly root = element("div", { className: "compare-table" });
  private rows: HTMLTableRowElement[] = [];
  private chosen = -1;

  constructor(private readonly select: (row: number) => void) {}

  build(difference: Difference, changes: readonly LayerChange[], unit: "cycles" | "time"): void {
    this.chosen = -1;
    this.rows = [];
    const head = element("tr", {}, ...COLUMNS.map((title, k) => element("th", { scope: "col", textContent: title, className: isText(k) ? "text" : "" })));
    const body = element("tbody");
    for (const change of changes) {
      const row = this.rowOf(difference, change, unit);
      this.rows[change.row] = row;
      body.append(row);
    }
    this.root.replaceChildren(element("table", { aria: { label: "Layers of both runs" } }, element("thead", {}, head), body));
    const first = body.firstElementChild as HTMLTableRowElement | null;
    if (first) first.tabIndex = 0;
  }

  /** Lights up a row, and scrolls it into sight. */
  mark(row: number): void {
    if (row === this.chosen) return;
    this.rows[this.chosen]?.setAttribute("aria-selected", "false");
    this.rows[row]?.setAttribute("aria-selected", "true");
    this.chosen = row;
    this.rows[row]?.scrollIntoView({ block: "nearest" });
  }

  private rowOf(difference: Difference, change: LayerChange, unit: "cycles" | "time"): HTMLTableRowElement {
    const row = element("tr", { className: "row", tabIndex: -1, aria: { selected: "false" }, onclick: () => this.select(change.row) });
    row.addEventListener("keydown", (e) => this.key(e, row, change.row));
    cellsOf(difference, change, unit).forEach((text, k) => {
      const cell = element("td", { textContent: text, className: isText(k) ? "text" : "", title: isText(k) ? text : "" });
      if (k === 3 && change.delta) cell.className = change.delta > 0 ? "more" : "less";
      if (k === TEXT_FROM) cell.prepend(...swatches(difference, change));
      row.append(cell);
    });
    return row;
  }

  private key(e: KeyboardEvent, row: HTMLTableRowElement, index: number): void {
    const next = e.key === "ArrowDown" ? row.nextElementSibling : e.key === "ArrowUp" ? row.previousElementSibling : null;
    if (next instanceof HTMLTableRowElement) {
      next.focus();
      next.click();
    } else if (e.key === "Enter" || e.key === " ") this.select(index);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}

const isText = (column: number) => column === 0 || column >= TEXT_FROM;
const swatches = ({ a, b }: Difference, change: LayerChange) => {
  const colours = [change.a && colourOf(a, change.a), change.b && colourOf(b, change.b)].filter((colour) => colour !== null);
  return [...new Set(colours)].map((colour) => element("i", { className: "swatch", style: { background: colour } }));
};
const colourOf = (run: Run, layer: Layer) => css(resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? "")));
