// The layers of both runs beside each other, as a table whose rows select.
import { css, resourceColour } from "../../paint/theme";
import type { Layer, Run } from "../../run/run";
import { element } from "../../ui/dom";
import { amountText, boundText, deltaText, type Difference, type LayerChange, ratioText } from "./difference";

export const COLUMNS = ["layer", "A", "B", "difference", "A / B", "bound in A", "bound in B", "split in A", "split in B"] as const;
const TEXT_FROM = 5; // columns that hold words

export function cellsOf(difference: Difference, change: LayerChange, unit: "cycles" | "time"): string[] {
  const { a, b } = change;
  const name = a && b && a.name !== b.name ? `${a.name} | ${b.name}` : change.name;
  return [
    name, a ? amountText(difference, change.before, unit) : "–", b ? amountText(difference, change.after, unit) : "–", deltaText(difference, change.delta, unit),
    ratioText(change.before, change.after), boundText(a), boundText(b), a?.split ?? "–", b?.split ?? "–",
  ];
}

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
      const layer = k === TEXT_FROM ? change.a : k === TEXT_FROM + 1 ? change.b : null;
      if (layer) cell.prepend(element("i", { className: "swatch", style: { background: colourOf(k === TEXT_FROM ? difference.a : difference.b, layer) } }));
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
const colourOf = (run: Run, layer: Layer) => css(resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? "")));
