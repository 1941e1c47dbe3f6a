// The table itself. Its rows are made once for a run and a choice of columns; sorting and filtering only move them.
import { css, resourceColour, stallColour } from "../../paint/theme";
import type { Layer, Run } from "../../run/run";
import { STALLS } from "../../run/stalls";
import { element } from "../../ui/dom";
import { count, percent } from "../../ui/numbers";
import { type Column, textOf, waitsOf } from "./columns";
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
  private readonly table = element("table", { aria: { role: "grid", label: "Layers" } });
  private readonly head = element("tr");
  private readonly body = element("tbody");
  private readonly foot = element("tr");
  private rows: HTMLTableRowElement[] = []; // by layer
  private columns: readonly Column[] = [];
  private shown: readonly Layer[] = [];
  private chosen = -1;

  constructor(private readonly actions: TableActions) {
    this.table.append(element("thead", {}, this.head), this.body, element("tfoot", {}, this.foot));
    this.root = element("div", { className: "layers-table" }, this.table);
    this.listen();
  }

  /** Makes all rows. */
  build(run: Run, columns: readonly Column[]): void {
    this.columns = columns;
    this.chosen = -1;
    const longest = Math.max(1, ...run.layers.map((layer) => layer.cycles));
    const waits = run.layers.map((layer) => waitsOf(run, layer));
    const longestWait = Math.max(1, ...waits.map((kinds) => kinds.reduce((a, b) => a + b, 0)));
    this.head.replaceChildren(...columns.map((column) => this.headOf(column)));
    this.rows = run.layers.map((layer) => {
      const row = element("tr", { className: "row", tabIndex: -1, data: { layer: String(layer.index) }, aria: { selected: "false" } });
      for (const column of columns) {
        const cell = cellOf(run, column, layer);
        if (column.key === "share") {
          cell.style.setProperty("--share", percentOf(layer.cycles / longest));
          cell.style.setProperty("--bar", boundColour(run, layer, 0.5));
        }
        if (column.key === "waits") paintWaits(cell, waits[layer.index] as number[], longestWait);
        row.append(cell);
      }
      return row;
    });
  }

  show(run: Run, layers: readonly Layer[], sort: string): void {
    this.shown = layers;
    this.body.replaceChildren(...layers.map((layer) => this.rows[layer.index] as HTMLTableRowElement));
    this.columns.forEach((column, k) => {
      const order = sort === column.key ? "ascending" : sort === `-${column.key}` ? "descending" : "none";
      this.head.children[k]?.setAttribute("aria-sort", order);
    });
    this.foot.replaceChildren(...this.columns.map((column) => totalOf(run, column, layers)));
    this.holdTabStop();
  }

  /** Lights up a row, and scrolls it into sight. */
  mark(layer: number): void {
    if (layer !== this.chosen) {
      this.rows[this.chosen]?.setAttribute("aria-selected", "false");
      this.rows[layer]?.setAttribute("aria-selected", "true");
      this.chosen = layer;
      this.holdTabStop();
    }
    this.reveal(this.rows[layer]);
  }

  hover(layer: number): void {
    this.body.querySelector(".hovered")?.classList.remove("hovered");
    this.rows[layer]?.classList.add("hovered");
  }

  /** Selects the row `by` below the selected one. */
  step(by: number): void {
    if (!this.shown.length) return;
    const at = this.shown.findIndex((layer) => layer.index === this.chosen);
    const next = at < 0 ? (by > 0 ? 0 : this.shown.length - 1) : Math.max(0, Math.min(this.shown.length - 1, at + by));
    this.take(this.shown[next] as Layer);
  }

  private take(layer: Layer): void {
    const row = this.rows[layer.index];
    if (this.body.contains(document.activeElement)) row?.focus({ preventScroll: true });
    this.reveal(row);
    this.actions.select(layer);
  }

  private reveal(row: HTMLTableRowElement | undefined): void {
    if (!row?.isConnected) return;
    const { root } = this;
    const top = row.offsetTop - this.head.offsetHeight;
    const bottom = row.offsetTop + row.offsetHeight + this.foot.offsetHeight;
    if (top < root.scrollTop) root.scrollTop = top;
    else if (bottom > root.scrollTop + root.clientHeight) root.scrollTop = bottom - root.clientHeight;
  }

  // One row takes part in the order of Tab; the arrows move among the others.
  private holdTabStop(): void {
    const stop = this.shown.find((layer) => layer.index === this.chosen) ?? this.shown[0];
    for (const layer of this.shown) (this.rows[layer.index] as HTMLTableRowElement).tabIndex = layer === stop ? 0 : -1;
  }

  private headOf(column: Column): HTMLElement {
    const name = element("button", { type: "button", textContent: column.title, title: `${column.help} Click to sort.`, onclick: () => this.actions.sort(column) });
    return element("th", { scope: "col", className: column.numeric ? "" : "text", data: { key: column.key }, aria: { sort: "none" } }, name);
  }

  private layerAt(target: EventTarget | null): Layer | undefined {
    const row = (target as HTMLElement | null)?.closest<HTMLElement>("tr.row");
    return row ? this.shown.find((layer) => String(layer.index) === row.dataset["layer"]) : undefined;
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
    const page = Math.max(1, Math.floor(this.root.clientHeight / ((e.target as HTMLElement).offsetHeight || 22)) - 3);
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
