// Rows x columns of one network: the best point of each cell, or why there is none. Arrows walk the cells, and the line below says what is there.
import { type Painter, textWidth } from "../paint/painter";
import { css, heat, inkOn, resourceColour } from "../paint/theme";
import { boundsOf, largest } from "../sweep/bounds";
import { cellText, cellWithUnit, figure as figureText, pointName, titleOf, wantsMore } from "../sweep/figures";
import { type Cell, type Grid, gridOf } from "../sweep/grid";
import { type Column, type NumberColumn, varyingKeys } from "../sweep/sweep";
import { element } from "../ui/dom";
import { count } from "../ui/numbers";
import type { TipLine } from "../ui/tip";
import type { App } from "../sweep_page/app";
import type { Box } from "../sweep_page/axes";
import { axisOptions, ChoiceView, choiceOf, columnOptions, switchOf, type Table } from "../sweep_page/parts";
import type { Change } from "../sweep_page/state";

const LEFT = 74;
const TOP = 34;
const SCALE = 92; // at the right
const WIDEST = 130; // of a cell
const HIGHEST = 64;

interface Layout {
  grid: Grid;
  figure: NumberColumn;
  down: Column;
  across: Column;
  box: Box;
  cell: { width: number; height: number };
}

export class HeatView extends ChoiceView {
  private readonly said = element("p", { className: "said", aria: { role: "status" } });
  private cursor: { row: number; column: number } | null = null;
  private known: { layout: Layout; of: unknown; key: string } | null = null;

  constructor(app: App) {
    super(app, "heat", "A heat map of rows and columns");
    const keys = columnOptions(varyingKeys(app.sweep));
    const models = app.models;
    this.choices = [
      ...(models ? [choiceOf(app, "network", models.words.map((word) => [word, word] as const), "heat.model", () => this.model)] : []),
      choiceOf(app, "figure", axisOptions(app), "heat.figure", () => this.figure?.name ?? ""),
      choiceOf(app, "down", keys, "heat.down", () => this.keyOf("heat.down", "rows")?.name ?? ""),
      choiceOf(app, "across", keys, "heat.across", () => this.keyOf("heat.across", "cols")?.name ?? ""),
      switchOf(app, "bound", "Colour by the resource with the largest share of the time", "heat.bound"),
    ];
    this.root.append(this.said);
    this.canvas.addEventListener("click", (e) => {
      const at = this.cellAt(e.offsetX, e.offsetY);
      if (at) this.go(at.row, at.column, e.shiftKey);
    });
    const move = (rows: number, columns: number) => () => this.move(rows, columns);
    this.keys.push(
      { key: "arrowright", shown: "→", does: "the next cell", run: move(0, 1) },
      { key: "arrowleft", shown: "←", does: "the cell before", run: move(0, -1) },
      { key: "arrowdown", shown: "↓", does: "the cell below", run: move(1, 0) },
      { key: "arrowup", shown: "↑", does: "the cell above", run: move(-1, 0) },
    );
  }

  override changed(change: Change): void {
    super.changed(change);
    this.follow();
  }

  private get model(): string {
    const models = this.app.models;
    return models ? this.app.store.option("heat.model", models.words[0] ?? "") : "";
  }

  private get figure(): NumberColumn | null {
    return this.app.axis("heat.figure", "ms", "cycles", "estimateMs");
  }

  private keyOf(option: string, wish: string): Column | undefined {
    const { sweep, store } = this.app;
    const keys = varyingKeys(sweep);
    const byDefault = sweep.column(wish)?.distinct ? wish : (keys[wish === "rows" ? 0 : 1]?.name ?? keys[0]?.name ?? "");
    return sweep.column(store.option(option, byDefault)) ?? sweep.column(byDefault);
  }

  private layOut(): Layout | null {
    const { app, figure } = this;
    const [down, across] = [this.keyOf("heat.down", "rows"), this.keyOf("heat.across", "cols")];
    if (!figure || !down || !across) return null;
    const key = [this.width, this.height, figure.name, down.name, across.name, this.model].join("\n");
    if (this.known?.of === app.visible && this.known.key === key) return this.known.layout;
    const code = app.models?.words.indexOf(this.model) ?? -1;
    const points = code < 0 ? app.visible.points : app.visible.points.filter((point) => app.models?.codes[point] === code);
    const grid = gridOf(points, down, across, figure, wantsMore(figure));
    const room = { width: this.width - LEFT - SCALE, height: this.height - TOP - 50 };
    const cell = { width: Math.min(WIDEST, room.width / Math.max(1, grid.columns.length)), height: Math.min(HIGHEST, room.height / Math.max(1, grid.rows.length)) };
    const layout = { grid, figure, down, across, cell, box: { x: LEFT, y: TOP, width: cell.width * grid.columns.length, height: cell.height * grid.rows.length } };
    this.known = { layout, of: app.visible, key };
    return layout;
  }

  paint(p: Painter): void {
    const layout = this.layOut();
    if (!layout || this.width < 200 || this.height < 100) return;
    const { grid, box, cell, down, across } = layout;
    const { theme } = p;
    if (!grid.rows.length) {
      p.text(this.width / 2, this.height / 2, "No point that is shown lies in this map.", { align: "center", colour: theme.faint });
      return;
    }
    grid.cells.forEach((one, k) => this.paintCell(p, layout, one, k));
    grid.rows.forEach((point, k) => { if (cell.height > 9 || k % Math.ceil(11 / cell.height) === 0) p.text(box.x - 8, box.y + (k + 0.5) * cell.height, cellText(down, point), { align: "right", colour: theme.faint }); });
    const widest = Math.max(...grid.columns.map((point) => textWidth(cellText(across, point)))) + 8;
    grid.columns.forEach((point, k) => { if (k % Math.ceil(widest / cell.width) === 0) p.text(box.x + (k + 0.5) * cell.width, box.y - 9, cellText(across, point), { align: "center", colour: theme.faint }); });
    p.text(box.x, 10, titleOf(across), { bold: true });
    p.text(14, box.y + box.height / 2, titleOf(down), { align: "center", turn: -Math.PI / 2, bold: true });
    this.paintMarks(p, layout);
    this.paintScale(p, layout);
  }

  private get byBound(): boolean {
    return this.app.store.option("heat.bound", "") === "on";
  }

  private paintCell(p: Painter, { grid, figure, box, cell }: Layout, { best }: Cell, k: number): void {
    if (best < 0) return;
    const { theme } = p;
    const x = box.x + (k % grid.columns.length) * cell.width;
    const y = box.y + Math.floor(k / grid.columns.length) * cell.height;
    const [width, height] = [Math.max(1, cell.width - 1), Math.max(1, cell.height - 1)];
    const value = figure.values[best] as number;
    if (Number.isNaN(value)) {
      p.rect(x, y, width, height, theme.sunken);
      p.hatch(x, y, width, height, theme.faint);
      const text = this.app.sweep.text("status", best) || "–";
      const wide = textWidth(text) + 8;
      if (wide < width && height > 15) {
        p.rect(x + (width - wide) / 2, y + height / 2 - 8, wide, 16, theme.sunken);
        p.text(x + width / 2, y + height / 2, text, { align: "center", colour: theme.faint });
      }
      return;
    }
    const share = shareOf(grid, value);
    const bound = this.byBound ? largest(boundsOf(this.app.sweep), best) : null;
    const colour = bound ? heat(theme, 0.75, resourceColour(bound.resource)) : heat(theme, share);
    p.rect(x, y, width, height, css(colour));
    const text = figureText(Number(value.toPrecision(4)));
    if (textWidth(text) + 4 < width && height > 12) p.text(x + width / 2, y + height / 2, text, { align: "center", colour: inkOn(colour) });
  }

  private paintMarks(p: Painter, { grid, box, cell }: Layout): void {
    const frame = (row: number, column: number, colour: string) => p.frame(box.x + column * cell.width, box.y + row * cell.height, cell.width - 1, cell.height - 1, colour, 2);
    grid.cells.forEach(({ points }, k) => {
      const [row, column] = [Math.floor(k / grid.columns.length), k % grid.columns.length];
      if (points.includes(this.app.held)) frame(row, column, p.theme.faint);
      if (points.includes(this.app.selection)) frame(row, column, p.theme.text);
    });
    if (this.cursor) frame(this.cursor.row, this.cursor.column, p.theme.accent);
  }

  private paintScale(p: Painter, { grid, box, figure }: Layout): void {
    const x = box.x + box.width + 22;
    const height = Math.min(220, this.height - TOP - 60);
    if (this.byBound) {
      boundsOf(this.app.sweep).forEach(({ name, resource }, k) => {
        p.rect(x - 8, TOP + k * 18, 10, 10, css(heat(p.theme, 0.75, resourceColour(resource))));
        p.text(x + 6, TOP + k * 18 + 5, name, { width: this.width - x - 8, colour: p.theme.faint });
      });
      return;
    }
    if (!(grid.most >= grid.least)) return;
    for (let k = 0; k < height; k++) p.rect(x, TOP + k, 14, 1, css(heat(p.theme, 1 - k / height)));
    p.text(x, TOP - 10, titleOf(figure), { colour: p.theme.faint, width: this.width - x - 4 });
    p.text(x + 20, TOP + 5, figureText(Number(grid.most.toPrecision(4))), { colour: p.theme.faint });
    p.text(x + 20, TOP + height - 5, figureText(Number(grid.least.toPrecision(4))), { colour: p.theme.faint });
  }

  private cellAt(x: number, y: number): { row: number; column: number } | null {
    const layout = this.layOut();
    if (!layout) return null;
    const { box, cell, grid } = layout;
    const [row, column] = [Math.floor((y - box.y) / cell.height), Math.floor((x - box.x) / cell.width)];
    return row >= 0 && column >= 0 && row < grid.rows.length && column < grid.columns.length ? { row, column } : null;
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    const at = this.cellAt(x, y);
    this.canvas.style.cursor = at ? "pointer" : "default";
    if (at) this.app.tip.show(event, this.words(at.row, at.column));
    else this.app.tip.hide();
  }

  /** What a cell holds: the figure, or the reason why it has none. */
  private words(row: number, column: number): TipLine[] {
    const layout = this.layOut() as Layout;
    const { grid, figure, down, across } = layout;
    const { sweep } = this.app;
    const place = `${down.name} ${cellText(down, grid.rows[row] as number)}, ${across.name} ${cellText(across, grid.columns[column] as number)}`;
    const { best, points } = grid.cells[row * grid.columns.length + column] as Cell;
    if (best < 0) return [[place, "head"], "no point that is shown"];
    const lines: TipLine[] = [[place, "head"]];
    if (Number.isNaN(figure.values[best])) lines.push([sweep.text("status", best), sweep.text("reason", best)].filter(Boolean).join(": ") || `no ${figure.name}`);
    else lines.push(`${figure.name}: ${cellWithUnit(figure, best)}`);
    const bound = largest(boundsOf(sweep), best);
    if (bound) lines.push([`limited most by ${bound.name}`, "faint"]);
    if (points.length > 1) lines.push([`the best of ${count(points.length)}: ${pointName(sweep, best)}`, "faint"]);
    return lines;
  }

  private move(rows: number, columns: number): void {
    const layout = this.layOut();
    if (!layout?.grid.rows.length) return;
    const { grid } = layout;
    const from = this.cursor ?? this.placeOf(this.app.selection) ?? { row: rows > 0 ? -1 : 0, column: columns > 0 ? -1 : 0 };
    this.go(Math.max(0, Math.min(grid.rows.length - 1, from.row + rows)), Math.max(0, Math.min(grid.columns.length - 1, from.column + columns)), false);
  }

  private go(row: number, column: number, holds: boolean): void {
    const { grid } = this.layOut() as Layout;
    this.cursor = { row, column };
    const { best } = grid.cells[row * grid.columns.length + column] as Cell;
    if (best >= 0 && holds) this.app.hold(best);
    else this.app.select(best);
    this.say();
    this.redraw();
  }

  private placeOf(point: number): { row: number; column: number } | null {
    const grid = this.layOut()?.grid;
    const at = grid?.cells.findIndex(({ points }) => points.includes(point)) ?? -1;
    return grid && at >= 0 ? { row: Math.floor(at / grid.columns.length), column: at % grid.columns.length } : null;
  }

  // The cursor is where the selection is, unless it stands on a cell without a point.
  private follow(): void {
    const { selection } = this.app;
    const place = selection >= 0 ? this.placeOf(selection) : null;
    const grid = this.layOut()?.grid;
    const isThere = this.cursor && grid && this.cursor.row < grid.rows.length && this.cursor.column < grid.columns.length;
    if (place || !isThere) this.cursor = place;
    this.say();
  }

  private say(): void {
    const words = this.cursor && this.layOut() ? this.words(this.cursor.row, this.cursor.column).map((line) => (typeof line === "string" ? line : line[0])).join("; ") : "";
    if (this.said.textContent !== words) this.said.textContent = words;
  }

  table(): Table {
    const layout = this.layOut();
    if (!layout) return { caption: "There is nothing to draw.", columns: ["figure"], rows: [] };
    const { grid, down, across, figure } = layout;
    const cellWords = (best: number) => (best < 0 ? "" : Number.isNaN(figure.values[best]) ? [this.app.sweep.text("status", best), this.app.sweep.text("reason", best)].filter(Boolean).join(": ") : (figure.values[best] as number));
    return {
      caption: `${titleOf(figure)}${this.model ? ` of ${this.model}` : ""}: ${down.name} down, ${across.name} across.`,
      columns: [`${down.name} \\ ${across.name}`, ...grid.columns.map((point) => cellText(across, point))],
      rows: grid.rows.map((point, row) => [cellText(down, point), ...grid.columns.map((_, column) => cellWords(grid.cells[row * grid.columns.length + column]?.best ?? -1))]),
    };
  }
}

/** Where a figure stands between the least and the most: by its logarithm where they lie far apart. */
function shareOf({ least, most }: Grid, value: number): number {
  if (!(most > least)) return 0.5;
  return least > 0 && most / least > 8 ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least);
}
