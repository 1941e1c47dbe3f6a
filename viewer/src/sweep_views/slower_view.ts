// Pairs where more hardware is slower: for each point that is, the fastest with less.
import { type PaintedTable, paintTable, layOutTable } from "../paint/table";
import { LEAST, moreOf, type Slower, slowerWithMore } from "../sweep/dominance";
import { cellText, placeName, pointName } from "../sweep/figures";
import type { NumberColumn } from "../sweep/sweep";
import type { Picture } from "../ui/base_view";
import { element } from "../ui/dom";
import { count, percent } from "../ui/numbers";
import type { App } from "../sweep_page/app";
import { ListTable, MOST_ROWS } from "../sweep_page/list_table";
import { type Table, View } from "../sweep_page/parts";

const COLUMNS = ["network", "more hardware", "#ms", "less hardware", "#ms", "#longer", "what is more"];

export class SlowerView extends View {
  private readonly said = element("p", { className: "view-words" });
  private readonly list = new ListTable("Points that are slower than one with less hardware", COLUMNS);
  private known: { found: Slower[]; of: unknown } | null = null;
  private listed = "";

  constructor(app: App) {
    super(app, "slower");
    this.root.classList.add("scrolls");
    this.root.append(this.said, this.list.root);
  }

  changed(): void {
    const { app } = this;
    const found = this.found;
    const listed = `${app.selection} ${app.held} ${found.length}`;
    if (this.known && listed === this.listed && this.shownOf === this.known.found) return;
    this.listed = listed;
    this.shownOf = found;
    this.said.textContent = this.words;
    const rows = found.slice(0, MOST_ROWS).map((pair) => ({
      cells: this.cells(pair),
      chosen: pair.point === app.selection && pair.than === app.held,
      title: `${pointName(app.sweep, pair.point)} against ${pointName(app.sweep, pair.than)}: both stand in Compare`,
      act: () => app.store.set({ selection: pair.point, held: pair.than }),
    }));
    this.list.show(rows, found.length, "None among the points that are shown.");
  }

  private shownOf: Slower[] | null = null;

  private get time(): NumberColumn | undefined {
    return this.app.sweep.numbers("ms") ?? this.app.sweep.numbers("cycles");
  }

  private get found(): Slower[] {
    const { visible, sweep } = this.app;
    if (this.known?.of !== visible) this.known = { found: this.time ? slowerWithMore(sweep, visible.points, this.time) : [], of: visible };
    return this.known.found;
  }

  private get words(): string {
    const n = this.found.length;
    return `${count(n)} of ${count(this.app.visible.points.length)} points take over ${percent(LEAST)} longer than one of which no key is larger. Beside each, the fastest of those; a click holds it and selects the slower one.`;
  }

  private cells({ point, than, share }: Slower): string[] {
    const { sweep } = this.app;
    const name = (at: number) => placeName(sweep, at);
    const more = moreOf(sweep, { point, than, share }).map((column) => `${column.name} ${cellText(column, than)} → ${cellText(column, point)}`);
    const ms = (at: number) => (this.time ? cellText(this.time, at) : "");
    return [sweep.text("model", point), name(point), ms(point), name(than), ms(than), percent(share), more.join(", ")];
  }

  table(): Table {
    const { sweep } = this.app;
    const time = this.time;
    return {
      caption: this.words,
      columns: ["network", "point", time?.name ?? "time", "than", `${time?.name ?? "time"} of that`, "longer by", "what is more"],
      rows: this.found.map((pair) => [sweep.text("model", pair.point), sweep.nameOf(pair.point), time?.values[pair.point] ?? "", sweep.nameOf(pair.than), time?.values[pair.than] ?? "", Number(pair.share.toPrecision(6)), this.cells(pair)[6] as string]),
      selections: this.found.map(({ point }) => point),
    };
  }

  picture(): Picture {
    const table: PaintedTable = {
      columns: COLUMNS.map((title) => ({ title: title.replace("#", ""), align: title.startsWith("#") ? "right" : "left" })),
      rows: this.found.slice(0, MOST_ROWS).map((pair) => this.cells(pair).map((text) => ({ text }))),
    };
    const layout = layOutTable(table);
    return { width: layout.width, height: layout.height + 8, paint: (p) => paintTable(p, 0, 0, table, layout) };
  }
}
