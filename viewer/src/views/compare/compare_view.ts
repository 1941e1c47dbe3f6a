// Two runs against each other: what B does faster or slower than A, and when.
import "./compare.css";
import { layOutTable, type PaintedTable, paintTable } from "../../paint/table";
import { runName } from "../../run/names";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { button, element } from "../../ui/dom";
import type { Change } from "../../ui/state";
import { type Picture, type Table, View } from "../../ui/view";
import { CompareBar } from "./bar";
import { cellsOf, ChangeTable, columnsOf } from "./change_table";
import { boundText, type Difference, differenceOf, type LayerChange, type Order, type OrderKey, parseOrder, stepsOf, titleOf } from "./difference";
import { type Part, PARTS, type Parts, parseParts, partsFor } from "./layout";
import { type Compared, PictureView } from "./picture_view";
import { THINNED, thinnedNumbers } from "./sparsity";
import { summaryOf } from "./summary";

const LEAST_TABLE = 380;
const MOST_TABLE = 0.62; // of the pane, that all columns may take
const MOST_FOLDED = 0.68; // likewise, with words in two lines

const PART_NAMES: Record<Part, [string, string]> = {
  changes: ["Changes", "What each layer gains or loses, and how it adds up"],
  time: ["Over time", "Both runs over one axis of time"],
  layers: ["Layers", "The layers of both runs beside each other"],
};

export class CompareView extends View implements Compared {
  private readonly drawing: PictureView;
  private readonly scroller = element("div", { className: "compare-picture" });
  private readonly list = new ChangeTable((row) => this.select(this.difference.changes[row] as LayerChange), (key) => this.sortBy(key));
  private readonly bar: CompareBar;
  private readonly bySize = button("By size", "Layers with the largest difference first, or in the order of the network (O)", () => this.turnOrder());
  private readonly partButtons: [Part, HTMLButtonElement][] = PARTS.map((part) => [part, button(PART_NAMES[part][0], PART_NAMES[part][1], () => this.turnPart(part))]);
  private built = "";

  constructor(app: App) {
    super(app, "compare");
    this.drawing = new PictureView(app, this);
    const parts = element("div", { className: "choice", aria: { role: "group", label: "Parts of the comparison" } }, ...this.partButtons.map(([, node]) => node));
    this.bar = new CompareBar((side) => this.showIn(side), [parts, this.bySize]);
    this.scroller.append(this.drawing.root);
    this.root.append(this.bar.root, element("div", { className: "compare-body" }, this.scroller, this.list.root));
    const observer = new ResizeObserver(() => this.fit());
    observer.observe(this.root);
    observer.observe(this.scroller);
    this.keys.push({ key: "o", shown: "O", does: "order by network or by size", run: () => this.turnOrder() });
    this.keys.push({ key: "arrowdown", shown: "↓", does: "the layer below", run: () => this.step(1) });
    this.keys.push({ key: "arrowup", shown: "↑", does: "the layer above", run: () => this.step(-1) });
    this.keys.push({ key: "[", shown: "[", does: "show the layer in the timeline of A", run: () => this.showIn(0) });
    this.keys.push({ key: "]", shown: "]", does: "show the layer in the timeline of B", run: () => this.showIn(1) });
  }

  get parts(): Parts {
    return parseParts(this.app.store.option("compare.show", "")) ?? partsFor(this.root.clientWidth, this.root.clientHeight);
  }

  get room(): number {
    return this.scroller.clientHeight;
  }

  get difference(): Difference {
    const [a, b] = this.app.runs as readonly [Run, Run];
    return differenceOf(a, b);
  }

  get order(): Order {
    return parseOrder(this.app.store.option("compare.order", "network"));
  }

  get chosen(): number {
    const { focus, store } = this.app;
    return this.difference.alignment.rowOf[store.state.run === 0 ? 0 : 1][focus.layer] ?? -1;
  }

  /** A layer that the run on show does not have brings the other run on show. */
  select(change: LayerChange): void {
    const { store } = this.app;
    const sides = [change.a, change.b];
    const run = sides[store.state.run] ? store.state.run : 1 - store.state.run;
    const layer = sides[run];
    if (layer) store.set({ run, selection: { kind: "layer", layer: layer.index } });
  }

  changed(change: Change): void {
    const { unit } = this.app.store.state;
    const built = `${unit} ${this.order}`;
    if (built !== this.built) {
      this.built = built;
      this.list.build(this.difference, this.ordered(), unit, this.order);
    }
    this.bar.show(this.difference, this.difference.changes[this.chosen] ?? null, unit);
    // Not while one pans: it reads the sizes of the page.
    if ([...change].some((key) => key !== "window")) this.fit();
    if (change.has("selection") || change.has("options") || change.has("run") || change.has("view") || change.has("lower")) this.list.mark(this.chosen);
    this.drawing.changed(change);
  }

  /** Gives each part its room. */
  private fit(): void {
    const { parts, drawing, scroller } = this;
    const hasPicture = parts.has("changes") || parts.has("time");
    scroller.hidden = !hasPicture;
    this.list.root.hidden = !parts.has("layers");
    const width = this.root.clientWidth;
    const [most, mostFolded] = hasPicture ? [width * MOST_TABLE, width * MOST_FOLDED] : [width, width];
    const wanted = Math.min(Math.max(LEAST_TABLE, mostFolded), this.list.fit(most, mostFolded));
    this.list.root.style.flexBasis = hasPicture ? `${Math.round(wanted)}px` : "100%";
    if (hasPicture) drawing.root.style.height = `${Math.max(scroller.clientHeight, drawing.wanted)}px`;
    this.markButtons();
    drawing.redraw();
  }

  picture(): Picture {
    const { drawing, difference } = this;
    const { unit } = this.app.store.state;
    const cells = this.ordered().map((change) => cellsOf(difference, change, unit).map((text) => ({ text })));
    const columns = columnsOf(this.difference).map((title, k) => ({ title, align: k > 0 && k < 5 ? ("right" as const) : ("left" as const) }));
    const table: PaintedTable = { columns, rows: cells, chosen: this.ordered().findIndex(({ row }) => row === this.chosen) };
    const layout = layOutTable(table);
    return {
      width: Math.max(drawing.width, layout.width),
      height: drawing.height + layout.height + 8,
      paint: (p) => {
        drawing.paint(p);
        paintTable(p, 0, drawing.height, table, layout);
      },
    };
  }

  table(): Table {
    const { difference } = this;
    const { unit } = difference;
    const rows = this.ordered().map((change) => {
      const { a, b, before, after, delta } = change;
      return [
        titleOf(change), (a ?? b)?.op ?? "", a ? before : "", b ? after : "", delta, before > 0 && after > 0 ? Number((before / after).toPrecision(6)) : "",
        boundText(a), boundText(b), a?.split ?? "–", b?.split ?? "–", ...(difference.isThinned ? thinnedNumbers(change) : []),
      ];
    });
    const more = difference.isThinned ? THINNED : [];
    const none = more.map(() => "");
    const total = ["whole run", "", difference.before, difference.after, difference.after - difference.before, "", "", "", "", "", ...none];
    const rest = difference.rest === 0 ? [] : [["no layer", "", "", "", difference.rest, "", "", "", "", "", ...none]];
    const sentences = summaryOf(difference, this.app.store.state.unit).map(({ head, text }) => `${head} ${text}`).join(" ");
    return {
      caption: `A is ${runName(difference.a)}, B is ${runName(difference.b)}; times in ${unit}. The differences add up to the last row's. ${sentences}`,
      columns: ["layer", "operator", `A (${unit})`, `B (${unit})`, `difference (${unit})`, "A / B", "bound in A", "bound in B", "split in A", "split in B", ...more],
      rows: [...rows, ...rest, total],
      sums: new Set([rows.length, rows.length + rest.length]),
    };
  }

  private ordered(): LayerChange[] {
    return stepsOf(this.difference, this.order).flatMap(({ change }) => (change ? [change] : []));
  }

  private turnOrder(): void {
    this.app.store.setOption("compare.order", this.order === "size" ? "network" : "size");
  }

  /** By another column; or, by the same, the other way round. */
  private sortBy(key: OrderKey): void {
    this.app.store.setOption("compare.order", this.order === key ? `-${key}` : key);
  }

  private turnPart(part: Part): void {
    const parts = new Set(this.parts);
    if (!parts.delete(part)) parts.add(part);
    // Something has to show: without the last part, the others do.
    const shown = PARTS.filter((p) => (parts.size ? parts.has(p) : p !== part));
    this.app.store.setOption("compare.show", shown.join(" "));
  }

  private markButtons(): void {
    const { parts } = this;
    this.bySize.setAttribute("aria-pressed", String(this.order === "size"));
    for (const [part, node] of this.partButtons) node.setAttribute("aria-pressed", String(parts.has(part)));
  }

  /** The comparison stays in sight: the timeline comes into the other pane. */
  private showIn(side: 0 | 1): void {
    const change = this.difference.changes[this.chosen];
    const layer = change && (side ? change.b : change.a);
    if (!layer) return;
    const { app } = this;
    const other = app.store.state.view === "compare" ? ({ lower: "timeline" } as const) : ({ view: "timeline" } as const);
    app.store.set({ ...other, run: side, selection: { kind: "layer", layer: layer.index } });
    app.showStretch({ from: layer.start, to: layer.end });
  }

  private step(by: number): void {
    const changes = this.ordered();
    const at = changes.findIndex(({ row }) => row === this.chosen);
    const next = changes[at < 0 ? 0 : Math.max(0, Math.min(changes.length - 1, at + by))];
    if (next) this.select(next);
  }
}
