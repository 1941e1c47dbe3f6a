// All layers: a table to sort and filter, and the roofline beside it.
import "./layers.css";
import { layOutTable, type PaintedTable, paintTable } from "../../paint/table";
import { runName } from "../../run/names";
import type { Layer, Run } from "../../run/run";
import type { App } from "../../ui/app";
import { button, element } from "../../ui/dom";
import { count } from "../../ui/numbers";
import type { Change } from "../../ui/state";
import { type Picture, type Table, View } from "../../ui/view";
import { type Column, columnsOf, textOf } from "./columns";
import { ALL_COLUMNS, columnsToShow, widthsOf } from "./fit";
import { boundOf, pick } from "./pick";
import { pointsOf } from "./roofline";
import { RooflineView } from "./roofline_view";
import { boundColour, layersText, LayerTable } from "./table";

const SHOWS = ["table", "both", "roofline"] as const;
type Shows = (typeof SHOWS)[number];
const ROOM_FOR_BOTH = 900;
const TITLE = 28; // of a picture

export class LayersView extends View {
  private readonly list: LayerTable;
  private readonly roofline: RooflineView;
  private readonly roof = element("div", { className: "layers-roof" });
  private readonly words = element("input", { type: "search", placeholder: "Filter", autocomplete: "off", spellcheck: false, aria: { label: "Filter layers by words" } });
  private readonly bound = element("select", { aria: { label: "Filter by what bounds the layer" } });
  private readonly operator = element("select", { aria: { label: "Filter by operator" } });
  private readonly bytes = element("select", { aria: { label: "Bytes of the roofline" } });
  private readonly tally = element("span", { className: "faint tally", aria: { role: "status" } });
  private readonly chooser = element("div", { className: "menu-items" });
  private readonly columnsTitle = element("summary", { textContent: "Columns", title: "Choose columns" });
  private readonly showButtons = new Map<Shows, HTMLButtonElement>();
  private columns: Column[] = [];
  private widths = new Map<string, number>();
  private measured = "";
  private layers: Layer[] = [];
  private built = "";
  private builtRun: Run | null = null;
  private picked = "";

  constructor(app: App) {
    super(app, "layers");
    this.list = new LayerTable({
      select: (layer) => app.select({ kind: "layer", layer: layer.index }),
      zoomTo: (layer) => app.showStretch({ from: layer.start, to: layer.end }),
      sort: (column) => this.sortBy(column),
      hover: (layer) => this.hover(layer),
    });
    this.roofline = new RooflineView(app);
    this.roofline.onHover = (layer) => this.hover(layer);
    this.roof.append(this.roofline.root);
    this.root.append(this.bar(), element("div", { className: "layers-body" }, this.list.root, this.roof));
    new ResizeObserver(() => this.fit()).observe(this.root);
    this.keys.push(
      { key: "arrowdown", shown: "↓", does: "the layer below", run: () => this.list.step(1) },
      { key: "arrowup", shown: "↑", does: "the layer above", run: () => this.list.step(-1) },
      { key: "enter", shown: "Enter", does: "zoom to the selected layer", run: () => this.zoomToSelected() },
    );
  }

  changed(change: Change): void {
    this.arrange();
    this.build();
    this.filter();
    if (change.has("selection") || change.has("view") || change.has("lower") || change.has("run")) this.list.mark(this.app.focus.layer);
    if (change.has("selection") || change.has("options") || change.has("unit") || change.has("run") || change.has("view")) this.roofline.redraw();
  }

  /** Makes the table anew where the run, the unit or what columns show has changed. */
  private build(): void {
    const { run } = this.app;
    const { unit } = this.app.store.state;
    const isNew = this.builtRun !== run;
    if (isNew || this.measured !== unit) {
      this.columns = columnsOf(run, unit);
      this.widths = widthsOf(this.columns, run.layers);
      this.measured = unit;
    }
    if (isNew) this.fillChoices();
    const shown = this.shownColumns();
    const built = `${unit} ${shown.map(({ key }) => key).join(" ")}`;
    if (!isNew && this.built === built) return;
    this.list.build(run, shown, this.widths);
    this.built = built;
    this.builtRun = run;
    this.picked = "";
    this.markChoices(shown);
  }

  table(): Table {
    const { run } = this.app;
    const points = new Map(pointsOf(run).points.map((point) => [point.layer, point]));
    const figure = (value: number | null | undefined) => (value == null ? "" : Number(value.toPrecision(5)));
    const rows = this.layers.map((layer) => {
      const point = points.get(layer);
      return [...this.columns.map((column) => cellValue(column.value(layer))), figure(point?.y), figure(point?.x.cores), figure(point?.x.ddr)];
    });
    const totals = this.columns.map((column) => (column.key === "layer" ? "total" : cellValue(column.total?.(this.layers) ?? null)));
    return {
      caption: `${this.tallyText()} of ${runName(run)}; the last row is their total.`,
      columns: [...this.columns.map(({ title, unit, key }) => (key === "cycles" ? "cycles" : key === "macs" ? "MAC" : unit ? `${title} (${unit})` : title)), "MAC/cycle", "MAC/B to cores", "MAC/B read from DDR"],
      rows: [...rows, [...totals, "", "", ""]],
      sums: new Set([rows.length]),
      selections: [...this.layers.map(({ index }) => ({ kind: "layer", layer: index }) as const), null],
    };
  }

  picture(): Picture {
    const shows = this.shows;
    const table = this.painted();
    const layout = layOutTable(table);
    const { roofline } = this;
    const beside = shows === "both" ? layout.width + 16 : 0;
    const width = (shows === "roofline" ? 0 : layout.width) + (shows === "table" ? 0 : (shows === "both" ? 16 : 0) + roofline.width);
    const height = TITLE + Math.max(shows === "roofline" ? 0 : layout.height, shows === "table" ? 0 : roofline.height) + 8;
    return {
      width,
      height,
      paint: (p) => {
        p.text(8, TITLE / 2, this.tallyText(), { bold: true, size: 12, width: width - 16 });
        if (shows !== "roofline") paintTable(p, 0, TITLE, table, layout);
        if (shows !== "table") p.shift(beside, TITLE, () => roofline.paint(p));
      },
    };
  }

  // ---- what is shown ----

  private get shows(): Shows {
    const chosen = this.app.store.option("layers.show", "");
    return SHOWS.find((shows) => shows === chosen) ?? (this.root.clientWidth >= ROOM_FOR_BOTH ? "both" : "table");
  }

  private get sort(): string {
    return this.app.store.option("layers.sort", "number");
  }

  private shownColumns(): Column[] {
    return columnsToShow(this.columns, this.app.store.option("layers.columns", ""), this.widths, this.list.scroller.clientWidth);
  }

  private filter(): void {
    const { app } = this;
    const { store, run } = app;
    const how = { words: store.option("layers.words", ""), bound: store.option("layers.bound", ""), operator: store.option("layers.operator", ""), sort: this.sort };
    const picked = JSON.stringify(how);
    if (picked === this.picked) return;
    this.picked = picked;
    this.layers = pick(run.layers, this.columns, how);
    this.list.show(run, this.layers, how.sort);
    this.list.mark(app.focus.layer);
    const shown = new Set(this.layers);
    this.roofline.shows = (layer) => shown.has(layer);
    this.roofline.redraw();
    this.tally.textContent = this.tallyText();
    if (document.activeElement !== this.words) this.words.value = how.words;
    this.bound.value = how.bound;
    this.operator.value = how.operator;
  }

  private tallyText(): string {
    const { run } = this.app;
    const frames = run.frames.length ? `, ${run.frames.length} frames together` : "";
    return `${this.layers.length === run.layers.length ? "" : `${count(this.layers.length)} of `}${layersText(run.layers.length)}${frames}`;
  }

  private fit(): void {
    this.arrange();
    if (!this.builtRun) return;
    this.build();
    this.filter();
  }

  private arrange(): void {
    const shows = this.shows;
    const { bytes } = this;
    this.root.dataset["shows"] = shows;
    for (const [name, node] of this.showButtons) node.setAttribute("aria-pressed", String(name === shows));
    bytes.hidden = shows === "table";
    bytes.value = this.app.store.option("layers.bytes", "cores");
  }

  private painted(): PaintedTable {
    const { run, focus } = this.app;
    // A picture is as wide as it needs to be: all columns, unless somebody chose some.
    const columns = columnsToShow(this.columns, this.app.store.option("layers.columns", "") || ALL_COLUMNS, this.widths, Infinity);
    const longest = Math.max(1, ...run.layers.map((layer) => layer.cycles));
    return {
      columns: columns.map(({ title, numeric }) => ({ title, align: numeric ? "right" : "left" })),
      rows: this.layers.map((layer) =>
        columns.map((column) => ({
          text: textOf(column, layer),
          ...(column.key === "bound" ? { swatch: boundColour(run, layer) } : {}),
          ...(column.key === "share" ? { bar: { share: layer.cycles / longest, colour: boundColour(run, layer, 0.8) } } : {}),
        })),
      ),
      totals: columns.map((column) => {
        const total = column.total?.(this.layers) ?? null;
        return { text: column.key === "layer" ? this.tallyText() : total === null ? "" : column.format(total) };
      }),
      chosen: this.layers.findIndex((layer) => layer.index === focus.layer),
    };
  }

  // ---- what a user does ----

  private sortBy(column: Column): void {
    const { sort } = this;
    // Figures are wanted largest first, names from A.
    const first = column.numeric && column.key !== "number" ? `-${column.key}` : column.key;
    const second = first.startsWith("-") ? column.key : `-${column.key}`;
    this.app.store.setOption("layers.sort", sort === first ? second : sort === second ? "number" : first);
  }

  private hover(layer: number): void {
    if (this.roofline.hovered === layer) return;
    this.roofline.hovered = layer;
    this.roofline.redraw();
    this.list.hover(layer);
  }

  private zoomToSelected(): void {
    const layer = this.app.run.layers[this.app.focus.layer];
    if (layer) this.app.showStretch({ from: layer.start, to: layer.end });
  }

  // ---- the bar ----

  private bar(): HTMLElement {
    const { store } = this.app;
    this.words.addEventListener("input", () => store.setOption("layers.words", this.words.value));
    this.words.addEventListener("keydown", (e) => this.keyInWords(e));
    this.bound.addEventListener("change", () => store.setOption("layers.bound", this.bound.value));
    this.operator.addEventListener("change", () => store.setOption("layers.operator", this.operator.value));
    this.bytes.append(element("option", { value: "cores", textContent: "bytes to cores" }), element("option", { value: "ddr", textContent: "bytes from DDR" }));
    this.bytes.addEventListener("change", () => store.setOption("layers.bytes", this.bytes.value));
    const titles: Record<Shows, string> = { table: "Table only", both: "Both", roofline: "Roofline" };
    const choice = element("div", { className: "choice", aria: { role: "group", label: "Table or roofline" } });
    for (const shows of SHOWS) {
      const node = button(titles[shows], `Show ${titles[shows].toLowerCase()}`, () => store.setOption("layers.show", shows));
      this.showButtons.set(shows, node);
      choice.append(node);
    }
    const menu = element("details", { className: "menu columns-menu" }, this.columnsTitle, this.chooser);
    menu.addEventListener("focusout", (e) => { if (!menu.contains(e.relatedTarget as Node | null)) menu.open = false; });
    return element("div", { className: "layers-bar" }, this.words, this.bound, this.operator, this.tally, element("span", { className: "spacer" }), this.bytes, choice, menu);
  }

  private keyInWords(e: KeyboardEvent): void {
    if (e.key === "ArrowDown") this.list.step(1);
    else if (e.key === "ArrowUp") this.list.step(-1);
    else if (e.key === "Escape") {
      this.words.value = "";
      this.app.store.setOption("layers.words", "");
      this.words.blur();
    } else return;
    e.preventDefault();
  }

  private fillChoices(): void {
    const { run } = this.app;
    const options = (all: string, values: string[]) => [element("option", { value: "", textContent: all }), ...[...new Set(values)].sort().map((value) => element("option", { value, textContent: value }))];
    this.bound.replaceChildren(...options("any bound", run.layers.map(boundOf)));
    this.operator.replaceChildren(...options("any operator", run.layers.map((layer) => layer.op)));
    const { store } = this.app;
    const whole = element("div", { className: "choice" },
      button("As many as fit", "The columns that there is room for", () => store.setOption("layers.columns", "")),
      button("All", "All columns; the table scrolls sideways", () => store.setOption("layers.columns", ALL_COLUMNS)));
    this.chooser.replaceChildren(whole, ...this.columns.slice(2).map((column) => this.columnChoice(column)), element("p", { className: "faint", textContent: "Files have all columns." }));
  }

  private columnChoice({ key, title, help }: Column): HTMLElement {
    const box = element("input", { type: "checkbox", value: key });
    box.addEventListener("change", () => {
      const keys = new Set(this.shownColumns().map((column) => column.key));
      if (box.checked) keys.add(key);
      else keys.delete(key);
      this.app.store.setOption("layers.columns", [...keys].join(" "));
    });
    return element("label", { title: help }, box, ` ${title}`);
  }

  private markChoices(shown: readonly Column[]): void {
    const keys = new Set(shown.map(({ key }) => key));
    for (const box of this.chooser.querySelectorAll("input")) box.checked = keys.has(box.value);
    const all = keys.size === this.columns.length;
    this.columnsTitle.textContent = all ? "Columns" : `Columns: ${keys.size} of ${this.columns.length}`;
    const chosen = this.app.store.option("layers.columns", "");
    this.chooser.querySelectorAll("button").forEach((node, k) => node.setAttribute("aria-pressed", String(k === 0 ? chosen === "" : all)));
  }
}

const cellValue = (value: number | string | null): number | string => (value === null ? "" : typeof value === "number" ? Number(value.toPrecision(12)) : value);
