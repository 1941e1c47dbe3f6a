// Two runs against each other: what B does faster or slower than A, and when.
import "./compare.css";
import { layOutTable, type PaintedTable, paintTable } from "../../paint/table";
import { runName } from "../../run/names";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { button, element } from "../../ui/dom";
import type { Change } from "../../ui/state";
import { type Picture, type Table, View } from "../../ui/view";
import { cellsOf, ChangeTable, COLUMNS } from "./change_table";
import { boundText, type Difference, differenceOf, type LayerChange, type Order, ratioText, stepsOf, titleOf } from "./difference";
import { LEAST_HEIGHT } from "./layout";
import { type Compared, PictureView } from "./picture_view";

const ROOM_FOR_TABLE = 1060;

export class CompareView extends View implements Compared {
  private readonly drawing: PictureView;
  private readonly list = new ChangeTable((row) => this.select(this.difference.changes[row] as LayerChange));
  private readonly bySize = button("By size", "Layers with the largest difference first, or in the order of the network (O)", () => this.turnOrder());
  private built = "";

  constructor(app: App) {
    super(app, "compare");
    this.drawing = new PictureView(app, this);
    const scroller = element("div", { className: "compare-picture", style: { "--least": `${LEAST_HEIGHT}px` } }, this.drawing.root);
    this.root.append(scroller, this.list.root);
    new ResizeObserver(() => this.root.classList.toggle("narrow", this.root.clientWidth < ROOM_FOR_TABLE)).observe(this.root);
    this.keys.push({ key: "o", shown: "O", does: "order by network or by size", run: () => this.turnOrder() });
    this.keys.push({ key: "arrowdown", shown: "↓", does: "the layer below", run: () => this.step(1) });
    this.keys.push({ key: "arrowup", shown: "↑", does: "the layer above", run: () => this.step(-1) });
  }

  get difference(): Difference {
    const [a, b] = this.app.runs as readonly [Run, Run];
    return differenceOf(a, b);
  }

  get order(): Order {
    return this.app.store.option("compare.order", "network") === "size" ? "size" : "network";
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
    const built = `${this.app.store.state.unit} ${this.order}`;
    if (built !== this.built) {
      this.built = built;
      this.list.build(this.difference, this.ordered(), this.app.store.state.unit);
    }
    this.markButton();
    this.list.mark(this.chosen);
    this.drawing.changed(change);
  }

  override tools(): HTMLElement[] {
    this.markButton();
    return [this.bySize];
  }

  picture(): Picture {
    const { drawing } = this;
    const { difference } = this;
    const { unit } = this.app.store.state;
    const cells = this.ordered().map((change) => cellsOf(difference, change, unit).map((text) => ({ text })));
    const columns = COLUMNS.map((title, k) => ({ title, align: k > 0 && k < 5 ? ("right" as const) : ("left" as const) }));
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
        titleOf(change), (a ?? b)?.op ?? "", a ? before : "", b ? after : "", delta, ratioText(before, after),
        boundText(a), boundText(b), a?.split ?? "–", b?.split ?? "–",
      ];
    });
    const total = ["whole run", "", difference.before, difference.after, difference.after - difference.before, "", "", "", "", ""];
    const rest = difference.rest === 0 ? [] : [["no layer", "", "", "", difference.rest, "", "", "", "", ""]];
    return {
      caption: `A is ${runName(difference.a)}, B is ${runName(difference.b)}; times in ${unit}. The differences add up to the last row's.`,
      columns: ["layer", "operator", `A (${unit})`, `B (${unit})`, `difference (${unit})`, "A / B", "bound in A", "bound in B", "split in A", "split in B"],
      rows: [...rows, ...rest, total],
    };
  }

  private ordered(): LayerChange[] {
    return stepsOf(this.difference, this.order).flatMap(({ change }) => (change ? [change] : []));
  }

  private turnOrder(): void {
    this.app.store.setOption("compare.order", this.order === "size" ? "network" : "size");
  }

  private markButton(): void {
    this.bySize.setAttribute("aria-pressed", String(this.order === "size"));
  }

  private step(by: number): void {
    const changes = this.ordered();
    const at = changes.findIndex(({ row }) => row === this.chosen);
    const next = changes[at < 0 ? 0 : Math.max(0, Math.min(changes.length - 1, at + by))];
    if (next) this.select(next);
  }
}
