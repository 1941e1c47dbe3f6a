// All points as a table to sort and filter; its CSV has every column of the rows that the filters let through.
import { layOutTable, type PaintedTable, paintTable } from "../paint/table";
import { cellText, cellValue, titleOf, wantsMore } from "../sweep/figures";
import { type Column, isConstant } from "../sweep/sweep";
import { button, element } from "../ui/dom";
import { count } from "../ui/numbers";
import type { Picture } from "../ui/base_view";
import type { App } from "../sweep_page/app";
import { type Table, View } from "../sweep_page/parts";
import { PointTable } from "../sweep_page/point_table";
import type { Change } from "../sweep_page/state";

const COLUMNS = "points.columns";
const ALL = "all";
const FIRST = ["model", "device", "rows", "cols", "cores"];

/** What tells points apart, and what came of them: not what is the same in all. */
function usual(columns: readonly Column[]): Column[] {
  const shown = columns.filter((column) => column.name !== "point" && !isConstant(column));
  const rank = (column: Column) => (FIRST.includes(column.name) ? FIRST.indexOf(column.name) : column.role === "vary" ? 10 : column.role === "key" ? 30 : column.name === "reason" ? 25 : column.role === "result" ? 20 : 40);
  return shown.map((column, k) => ({ column, k })).sort((a, b) => rank(a.column) - rank(b.column) || a.k - b.k).map(({ column }) => column);
}

export class PointsView extends View {
  private readonly list: PointTable;
  private readonly chooser = element("div", { className: "menu-items" });
  private readonly chooserTitle = element("summary", { textContent: "Columns", title: "Choose columns" });
  private readonly menu: HTMLElement;
  private built = "";
  private shown = "";
  private of: unknown = null; // the points that the table shows
  private dark: boolean | null = null;

  constructor(app: App) {
    super(app, "points");
    this.list = new PointTable(app, (column) => this.sortBy(column));
    this.root.append(this.list.root);
    const menu = element("details", { className: "menu columns-menu" }, this.chooserTitle, this.chooser);
    menu.addEventListener("focusout", (e) => { if (!menu.contains(e.relatedTarget as Node | null)) menu.open = false; });
    this.menu = menu;
    this.fillChooser();
    this.keys.push(
      { key: "arrowdown", shown: "↓", does: "the point below", run: () => this.list.step(1) },
      { key: "arrowup", shown: "↑", does: "the point above", run: () => this.list.step(-1) },
    );
  }

  changed(change: Change): void {
    const { app } = this;
    const columns = this.columns;
    const built = columns.map(({ name }) => name).join("\n");
    if (built !== this.built) {
      this.list.build(columns);
      this.built = built;
      this.of = null;
      this.markChoices(columns);
    }
    const { sort } = app.store.state;
    const points = app.ordered;
    if (points !== this.of || sort !== this.shown) {
      this.of = points;
      this.shown = sort;
      this.list.show(points, sort);
    }
    if (change.has("held") || this.dark !== app.theme.dark) this.list.refill();
    this.dark = app.theme.dark;
    if (change.has("filters") || change.has("view") || change.has("lower")) this.list.followFilters();
    if (change.has("selection") || change.has("view") || change.has("lower") || change.has("sort")) this.list.mark(app.selection);
  }

  override tools(): HTMLElement[] {
    return [this.menu];
  }

  table(): Table {
    const { sweep } = this.app;
    const points = this.app.ordered;
    return {
      caption: `${count(points.length)} of ${count(sweep.points)} points, all columns.`,
      columns: sweep.columns.map(({ name }) => name),
      rows: points.map((point) => sweep.columns.map((column) => cellValue(column, point))),
      selections: [...points],
    };
  }

  picture(): Picture {
    const points = this.app.ordered;
    const columns = this.columns;
    const table: PaintedTable = {
      columns: columns.map((column) => ({ title: titleOf(column), align: column.kind === "number" ? "right" : "left" })),
      rows: points.slice(0, 2000).map((point) => columns.map((column) => ({ text: cellText(column, point) }))),
      chosen: points.indexOf(this.app.selection),
    };
    const layout = layOutTable(table);
    return { width: layout.width, height: layout.height + 8, paint: (p) => paintTable(p, 0, 0, table, layout) };
  }

  private get columns(): Column[] {
    const { columns } = this.app.sweep;
    const chosen = this.app.store.option(COLUMNS, "");
    if (!chosen) return usual(columns);
    if (chosen === ALL) return [...columns];
    const names = chosen.split(" ");
    return columns.filter(({ name }) => names.includes(name));
  }

  /** The best first: times from the least, inferences a second from the most; then the other way, then as in the file. */
  private sortBy(column: Column): void {
    const { sort } = this.app.store.state;
    const [first, second] = wantsMore(column) ? [`-${column.name}`, column.name] : [column.name, `-${column.name}`];
    this.app.store.set({ sort: sort === first ? second : sort === second ? "" : first });
  }

  private fillChooser(): void {
    const { store, sweep } = this.app;
    const whole = element("div", { className: "choice" },
      button("Those that differ", "Columns that are not the same in all points", () => store.setOption(COLUMNS, "")),
      button("All", "All columns; the table scrolls sideways", () => store.setOption(COLUMNS, ALL)));
    const boxes = sweep.columns.map((column) => {
      const box = element("input", { type: "checkbox", value: column.name });
      box.addEventListener("change", () => {
        const names = new Set(this.columns.map(({ name }) => name));
        if (box.checked) names.add(column.name);
        else names.delete(column.name);
        store.setOption(COLUMNS, [...names].join(" "));
      });
      return element("label", { title: column.help }, box, ` ${column.name}`);
    });
    this.chooser.replaceChildren(whole, ...boxes, element("p", { className: "faint", textContent: "Files have all columns." }));
  }

  private markChoices(columns: readonly Column[]): void {
    const names = new Set(columns.map(({ name }) => name));
    for (const box of this.chooser.querySelectorAll("input")) box.checked = names.has(box.value);
    this.chooserTitle.textContent = `Columns: ${names.size} of ${this.app.sweep.columns.length}`;
    const chosen = this.app.store.option(COLUMNS, "");
    this.chooser.querySelectorAll("button").forEach((node, k) => node.setAttribute("aria-pressed", String(chosen === (k === 0 ? "" : ALL))));
  }
}
