// The table itself. Rows are made when they come into sight first; sorting and filtering only move them.
import { css, resourceColour, stallColour } from "../../paint/theme";
import type { Layer, Run } from "../../run/run";
import { waitsOf } from "../../run/layer_waits";
import { STALLS } from "../../run/stalls";
import { element } from "../../ui/dom";
import { markEdges } from "../../ui/edges";
import { count, percent } from "../../ui/numbers";
import { RowWindow } from "../../ui/row_window";
import { type Column, textOf } from "./columns";
import { boundOf } from "./pick";

export interface TableActions {
  select(layer: Layer): void;
  zoomTo(layer: Layer): void;
  sort(column: Column): void;
  hover(layer: number): void;
}

export const boundColour = (run: Run, layer: Layer, alpha = 1): string => css(resourceColour(run.instructions.resources.indexOf(boundOf(layer))), alpha);

export class LayerTable {
  readonly root: HTMLElement;
  /** What scrolls. */
  readonly scroller = element("div", { className: "layers-scroll" });
  private readonly table = element("table", { aria: { role: "grid", label: "Layers" } });
  private readonly widths = element("colgroup");
  private readonly head = element("tr");
  private readonly foot = element("tr");
  private readonly window = new RowWindow(this.scroller, this.table, this.head, this.foot, (place) => this.rowOf(this.shown[place] as Layer));
  private readonly body = this.window.body;
  private readonly rows = new Map<Layer, HTMLTableRowElement>(); // that were in sight so far
  private run: Run | null = null;
  private columns: readonly Column[] = [];
  private shown: readonly Layer[] = [];
  private longest = 1;
  private longestWait = 1;
  private chosen = -1;

  constructor(private readonly actions: TableActions) {
    this.table.append(this.widths, element("thead", {}, this.head), ...this.window.parts, element("tfoot", {}, this.foot));
    this.scroller.append(this.table);
    this.root = element("div", { className: "grid layers-table" }, this.scroller);
    markEdges(this.root, this.scroller);
    this.listen();
  }

  /** `widths` in pixels, by key. */
  build(run: Run, columns: readonly Column[], widths: ReadonlyMap<string, number>): void {
    this.run = run;
    this.columns = columns;
    this.longest = largest(run.layers.map((layer) => layer.cycles));
    this.longestWait = largest(run.layers.map((layer) => sumOf(waitsOf(run, layer))));
    this.rows.clear();
    this.head.replaceChildren(...columns.map((column) => this.headOf(column)));
    // The names get what the others leave.
    this.widths.replaceChildren(...columns.map(({ key }) => element("col", { style: key === "layer" ? {} : { width: `${widths.get(key)}px` } })));
    this.table.style.minWidth = `${columns.reduce((sum, { key }) => sum + (widths.get(key) ?? 0), 0)}px`;
  }

  show(run: Run, layers: readonly Layer[], sort: string): void {
    this.shown = layers;
    this.columns.forEach((column, k) => {
      const order = sort === column.key ? "ascending" : sort === `-${column.key}` ? "descending" : "none";
      this.head.children[k]?.setAttribute("aria-sort", order);
    });
    this.foot.replaceChildren(...this.columns.map((column) => totalOf(run, column, layers)));
    this.window.show(layers.length);
    this.holdTabStop();
  }

  /** Lights up a row, and scrolls it into sight. */
  mark(layer: number): void {
    if (layer !== this.chosen) {
      this.known(this.chosen)?.setAttribute("aria-selected", "false");
      this.known(layer)?.setAttribute("aria-selected", "true");
      this.chosen = layer;
      this.holdTabStop();
    }
    this.window.reveal(this.placeOf(layer));
  }

  hover(layer: number): void {
    this.body.querySelector(".hovered")?.classList.remove("hovered");
    this.known(layer)?.classList.add("hovered");
  }

  /** Selects the row `by` below the selected one. */
  step(by: number): void {
    if (!this.shown.length) return;
    const at = this.placeOf(this.chosen);
    const next = at < 0 ? (by > 0 ? 0 : this.shown.length - 1) : Math.max(0, Math.min(this.shown.length - 1, at + by));
    this.take(this.shown[next] as Layer);
  }

  private take(layer: Layer): void {
    const hadFocus = this.body.contains(document.activeElement);
    this.window.reveal(this.shown.indexOf(layer));
    if (hadFocus) this.known(layer.index)?.focus({ preventScroll: true });
    this.actions.select(layer);
  }

  private placeOf(layer: number): number {
    return this.shown.findIndex(({ index }) => index === layer);
  }

  private known(layer: number): HTMLTableRowElement | undefined {
    const of = this.run?.layers[layer];
    return of && this.rows.get(of);
  }

  private rowOf(layer: Layer): HTMLTableRowElement {
    let row = this.rows.get(layer);
    if (!row) this.rows.set(layer, (row = this.makeRow(this.run as Run, layer)));
    return row;
  }

  private makeRow(run: Run, layer: Layer): HTMLTableRowElement {
    const row = element("tr", { className: "row", tabIndex: -1, data: { layer: String(layer.index) }, aria: { selected: String(layer.index === this.chosen) } });
    for (const column of this.columns) {
      const cell = cellOf(run, column, layer);
      if (column.key === "share") {
        cell.style.setProperty("--share", percentOf(layer.cycles / this.longest));
        cell.style.setProperty("--bar", boundColour(run, layer, 0.8));
      }
      if (column.key === "waits") paintWaits(cell, waitsOf(run, layer), this.longestWait);
      row.append(cell);
    }
    return row;
  }

  // One row takes part in the order of Tab; the arrows move among the others.
  private holdTabStop(): void {
    const stop = this.known(this.chosen) ?? this.body.firstElementChild;
    for (const row of this.rows.values()) row.tabIndex = row === stop ? 0 : -1;
  }

  private headOf(column: Column): HTMLElement {
    const name = element("button", { type: "button", textContent: column.title, title: `${column.help} Click to sort.`, onclick: () => this.actions.sort(column) });
    return element("th", { scope: "col", className: column.numeric ? "" : "text", data: { key: column.key }, aria: { sort: "none" } }, name);
  }

  private layerAt(target: EventTarget | null): Layer | undefined {
    const row = (target as HTMLElement | null)?.closest<HTMLElement>("tr.row");
    return row ? this.run?.layers[Number(row.dataset["layer"])] : undefined;
  }

  private listen(): void {
    const { body, actions } = this;
    body.addEventListener("click", (e) => {
      const layer = this.layerAt(e.target);
      if (layer) actions.select(layer);
    });
    body.addEventListener("dblclick", (e) => {
      const layer = this.layerAt(e.target);
      if (layer) actions.zoomTo(layer);
    });
    body.addEventListener("pointerover", (e) => actions.hover(this.layerAt(e.target)?.index ?? -1));
    body.addEventListener("pointerleave", () => actions.hover(-1));
    body.addEventListener("keydown", (e) => this.key(e));
  }

  private key(e: KeyboardEvent): void {
    const layer = this.layerAt(e.target);
    if (!layer || e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, this.window.page - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.shown.length, End: this.shown.length }[e.key];
    if (by) {
      if (layer.index !== this.chosen) this.take(layer);
      this.step(by);
    } else if (e.key === "Enter") {
      if (layer.index === this.chosen) this.actions.zoomTo(layer);
      else this.take(layer);
    } else if (e.key === " ") this.take(layer);
    else return;
    e.preventDefault();
  }
}

export const layersText = (layers: number): string => `${count(layers)} layer${layers === 1 ? "" : "s"}`;
const sumOf = (figures: readonly number[]) => figures.reduce((a, b) => a + b, 0);
const largest = (figures: readonly number[]) => figures.reduce((a, b) => Math.max(a, b), 1);
const percentOf = (share: number) => `${(100 * share).toFixed(2)}%`;

function cellOf(run: Run, column: Column, layer: Layer): HTMLTableCellElement {
  const text = textOf(column, layer);
  const cell = element("td", { className: column.numeric ? "" : "text", textContent: text, data: { key: column.key } });
  if (column.key === "bound") {
    cell.prepend(element("i", { className: "swatch", style: { background: boundColour(run, layer) } }));
    cell.title = busyText(layer);
  } else if (!column.numeric) cell.title = text;
  return cell;
}

/** How long the busiest engine of each resource worked for the layer. */
function busyText(layer: Layer): string {
  const busy = Object.entries((layer["busyCycles"] ?? {}) as Record<string, unknown>).filter(([, cycles]) => typeof cycles === "number" && cycles > 0);
  if (!busy.length) return "";
  return `Cycles that the busiest engine worked:\n${busy.map(([name, cycles]) => `${name}: ${count(Number(cycles))}`).join("\n")}`;
}

// A strip under the number, in the colours of what was waited for.
function paintWaits(cell: HTMLElement, kinds: readonly number[], longest: number): void {
  const total = kinds.reduce((a, b) => a + b, 0);
  if (!total) return;
  let done = 0;
  const stops = kinds.flatMap((cycles, stall) => {
    const from = done;
    done += cycles;
    return cycles > 0 ? [`${css(stallColour(stall))} ${percentOf(from / longest)} ${percentOf(done / longest)}`] : [];
  });
  cell.style.setProperty("--waits", `linear-gradient(90deg, ${stops.join(", ")}, transparent ${percentOf(total / longest)})`);
  cell.title = kinds.flatMap((cycles, stall) => (cycles > 0 ? [`for ${STALLS[stall]}: ${count(cycles)} core cycles, ${percent(cycles / total)}`] : [])).join("\n");
}

function totalOf(run: Run, column: Column, layers: readonly Layer[]): HTMLElement {
  const all = layers.length === run.layers.length;
  const total = column.total?.(layers) ?? null;
  const text = column.key === "layer" ? (all ? `all ${layersText(layers.length)}` : `${count(layers.length)} of ${layersText(run.layers.length)}`) : total === null ? "" : column.format(total);
  return element("td", { className: column.numeric ? "" : "text", textContent: text, data: { key: column.key, ...(total === null ? {} : { total: String(total) }) } });
}
