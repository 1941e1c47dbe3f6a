// Two points: first the keys in which they differ, then what came of them, side by side.
import { type PaintedTable, paintTable, layOutTable } from "../paint/table";
import { css, resourceColour } from "../paint/theme";
import { boundsOf } from "../sweep/bounds";
import { cellText, cellValue, cellWithUnit, pointName, titleOf, wantsMore } from "../sweep/figures";
import { type Column, has, same } from "../sweep/sweep";
import type { Picture } from "../ui/base_view";
import { button, element } from "../ui/dom";
import { percent, signed } from "../ui/numbers";
import type { App } from "../sweep_page/app";
import { type Table, View } from "../sweep_page/parts";

interface Pair {
  a: number;
  b: number;
}

export class CompareView extends View {
  private readonly body = element("div", { className: "compare-points", tabIndex: 0, aria: { role: "region", label: "Two points side by side" } });

  constructor(app: App) {
    super(app, "compare");
    this.root.classList.add("scrolls");
    this.root.append(this.body);
    this.keys.push({ key: "s", shown: "S", does: "swap the two points", run: () => this.swap() });
  }

  override tools(): HTMLElement[] {
    return [button("Swap", "Swap the two points (S)", () => this.swap())];
  }

  changed(): void {
    const pair = this.pair;
    const { app } = this;
    if (!pair) {
      const words = app.held >= 0 ? "One point is held. Select another, in any view." : app.selection >= 0 ? "Hold the selected point (H, or Hold at the side), then select another." : "Select a point in any view, hold it (H), then select another.";
      this.body.replaceChildren(element("p", { className: "view-words", textContent: words }));
      return;
    }
    const { a, b } = pair;
    const { sweep } = app;
    const head = element("div", { className: "compare-names" }, ...([["A, held", a], ["B, selected", b]] as const).map(([title, point]) => element("p", {}, element("b", { textContent: `${title}: ` }), pointName(sweep, point), ...reasonOf(app, point))));
    const parts: Node[] = [head];
    const keys = this.keysOf(pair);
    parts.push(keys.length ? tableOf("What differs", keys.map((column) => this.row(column, pair))) : element("p", { className: "view-words", textContent: "No key differs." }));
    const bounds = boundsOf(sweep).filter(({ column }) => has(column, a) || has(column, b));
    if (bounds.length) parts.push(element("div", { className: "compare-bars", aria: { role: "img", label: "Shares of the time of A and B; the table below has them" } }, ...[a, b].map((point, k) => element("div", { className: "compare-bar-row" }, element("b", { textContent: "AB"[k] as string }), element("div", { className: "compare-bar" }, ...bounds.map(({ column, name, resource }) => element("span", { title: `${name}: ${percent(column.values[point])}`, style: { width: `${100 * Math.max(0, column.values[point] || 0)}%`, background: css(resourceColour(resource)) } })))))));
    parts.push(tableOf("What came of it", this.resultsOf(pair).map((column) => this.row(column, pair))));
    this.body.replaceChildren(...parts);
  }

  private get pair(): Pair | null {
    const { held, selection } = this.app;
    return held >= 0 && selection >= 0 && held !== selection ? { a: held, b: selection } : null;
  }

  private keysOf({ a, b }: Pair): Column[] {
    const differs = this.app.sweep.columns.filter((column) => (column.role === "vary" || (column.role === "key" && column.name !== "point")) && !same(column, a, b));
    const own = new Set(this.app.keys.flatMap(({ column, twins }) => [column, ...twins]));
    // Those that were set first; then what follows from them.
    return [...differs.filter((column) => own.has(column)), ...differs.filter((column) => !own.has(column))];
  }

  private resultsOf({ a, b }: Pair): Column[] {
    return this.app.sweep.columns.filter((column) => (column.role === "result" || column.role === "effort") && (has(column, a) || has(column, b)));
  }

  private row(column: Column, { a, b }: Pair): HTMLElement {
    const { times, change } = ratio(column, a, b);
    const better = column.role === "result" && column.kind === "number" && Math.abs(change) > 0.0005 && isJudged(column) ? (wantsMore(column) === change > 0 ? "better" : "worse") : "";
    return element("tr", { title: column.help },
      element("th", { scope: "row", className: "text", textContent: titleOf(column) }),
      ...[a, b].map((point) => element("td", { className: column.kind === "number" ? "" : "text", textContent: column.kind === "number" ? cellText(column, point) : cellWithUnit(column, point) })),
      element("td", { textContent: times }),
      element("td", { textContent: Number.isFinite(change) ? `${signed(percent(change), change)}${better ? `, ${better}` : ""}` : "" }));
  }

  private swap(): void {
    const { held, selection } = this.app;
    this.app.store.set({ held: selection, selection: held });
  }

  private get columns(): Column[] {
    const pair = this.pair;
    return pair ? [...this.keysOf(pair), ...this.resultsOf(pair)] : [];
  }

  table(): Table {
    const pair = this.pair;
    return {
      caption: pair ? `${pointName(this.app.sweep, pair.a)} (A) against ${pointName(this.app.sweep, pair.b)} (B).` : "Hold a point and select another.",
      columns: ["column", "A", "B", "B / A"],
      rows: pair ? this.columns.map((column) => [column.name, cellValue(column, pair.a), cellValue(column, pair.b), quotient(column, pair)]) : [],
    };
  }

  picture(): Picture {
    const { columns, rows } = this.table();
    const table: PaintedTable = { columns: columns.map((title, k) => ({ title, align: k ? "right" : "left" })), rows: rows.map((row) => row.map((cell) => ({ text: String(cell) }))) };
    const layout = layOutTable(table);
    return { width: layout.width, height: layout.height + 8, paint: (p) => paintTable(p, 0, 0, table, layout) };
  }
}

const JUDGED = /ms$|ips$|cycles$|efficiency$|spill/i;

/** Whether less or more of it is better, and not only other. */
const isJudged = ({ name }: Column) => JUDGED.test(name);

function reasonOf(app: App, point: number): Node[] {
  const status = app.sweep.text("status", point);
  return status && status !== "ok" ? [element("span", { className: "faint", textContent: ` (${[status, app.sweep.text("reason", point)].filter(Boolean).join(": ")})` })] : [];
}

function ratio(column: Column, a: number, b: number): { times: string; change: number } {
  if (column.kind !== "number") return { times: "", change: NaN };
  const [x, y] = [column.values[a] as number, column.values[b] as number];
  const times = y / x;
  return Number.isFinite(times) && x !== 0 ? { times: `${times.toPrecision(4)} ×`, change: times - 1 } : { times: "", change: NaN };
}

function quotient(column: Column, { a, b }: Pair): number | "" {
  if (column.kind !== "number") return "";
  const times = (column.values[b] as number) / (column.values[a] as number);
  return Number.isFinite(times) ? Number(times.toPrecision(6)) : "";
}

function tableOf(title: string, rows: HTMLElement[]): HTMLElement {
  const head = element("tr", {}, ...[title, "A", "B", "B / A", "change"].map((text, k) => element("th", { scope: "col", className: k ? "" : "text", textContent: text })));
  return element("table", { className: "compare-table" }, element("thead", {}, head), element("tbody", {}, ...rows));
}
