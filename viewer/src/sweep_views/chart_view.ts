// A figure over the mesh, or over any key, a line for each network; times beside what no plan could pass.
import { type Painter, textWidth } from "../paint/painter";
import { paintMark } from "../paint/marks";
import { css, mix, seriesColour } from "../paint/theme";
import { cellText, cellValue, cellWithUnit, pointName, titleOf, wantsMore } from "../sweep/figures";
import { type Across, acrossOf, MESH, type Series, seriesOf } from "../sweep/series";
import { type Column, isConstant, type NumberColumn, varyingKeys } from "../sweep/sweep";
import type { TipLine } from "../ui/tip";
import type { App } from "../sweep_page/app";
import { acrossHeight, type Axis, type Box, numberAxis, paintAcross, paintUp, placeAxis } from "../sweep_page/axes";
import { axisOptions, ChoiceView, choiceOf, columnOptions, switchOf, type Table } from "../sweep_page/parts";
import { nearest, paintSquares, type Spot } from "../sweep_page/spots";

const LEFT = 62;
const RIGHT = 18;
const LEGEND = 22;
const FINE = 3000; // beyond so many points they are drawn smaller
const RADIUS = 4; // of a mark on a line

/** Lines beside a time: column and dash. */
const BOUNDS = [["layerBoundMs", [6, 4], "layer bound"], ["floorMs", [1.5, 3], "floor"]] as const;

interface Layout {
  box: Box;
  across: Across;
  x: Axis;
  y: Axis;
  figure: NumberColumn;
  series: Series[];
  by: Column | null;
}

export class ChartView extends ChoiceView {
  private placed: Spot[] | null = null; // made when somebody points at the picture
  private known: { layout: Layout; of: unknown; key: string } | null = null;

  constructor(app: App) {
    super(app, "chart", "A figure over the mesh");
    const keys = varyingKeys(app.sweep);
    const across: (readonly [string, string])[] = acrossOf(app.sweep, MESH) ? [[MESH, "mesh"]] : [];
    this.choices = [
      choiceOf(app, "figure", axisOptions(app), "chart.y", () => this.figure?.name ?? ""),
      choiceOf(app, "over", [...across, ...columnOptions(keys.filter(({ name }) => name !== "model"))], "chart.x", () => this.overName),
      choiceOf(app, "a line for each", [["", "–"], ...columnOptions(keys)], "chart.by", () => this.byName),
      choiceOf(app, "line through", [["best", "the best"], ["worst", "the worst"]], "chart.through", () => app.store.option("chart.through", "best")),
      switchOf(app, "log", "Logarithmic axis for the figure", "chart.log"),
      switchOf(app, "log x", "Logarithmic axis below, where it has numbers", "chart.logx"),
    ];
    this.canvas.addEventListener("click", (e) => app.pick(nearest(this.spots, e.offsetX, e.offsetY, app.selection)?.point ?? -1, e.shiftKey));
    const step = (by: number, bySeries: number) => () => this.step(by, bySeries);
    this.keys.push(
      { key: "arrowright", shown: "→", does: "the next point of the line", run: step(1, 0) },
      { key: "arrowleft", shown: "←", does: "the point of the line before", run: step(-1, 0) },
      { key: "arrowdown", shown: "↓", does: "the next line", run: step(0, 1) },
      { key: "arrowup", shown: "↑", does: "the line before", run: step(0, -1) },
    );
  }

  private get figure(): NumberColumn | null {
    return this.app.axis("chart.y", "ms", "cycles", "estimateMs");
  }

  private get overName(): string {
    const byDefault = acrossOf(this.app.sweep, MESH) && !["rows", "cols"].every((name) => isConstant(this.app.sweep.column(name) as Column)) ? MESH : (varyingKeys(this.app.sweep).find(({ name }) => name !== "model")?.name ?? MESH);
    return this.app.store.option("chart.x", byDefault);
  }

  private get byName(): string {
    return this.app.store.option("chart.by", this.app.models ? "model" : "");
  }

  private get more(): boolean {
    const figure = this.figure;
    return figure !== null && wantsMore(figure) === (this.app.store.option("chart.through", "best") === "best");
  }

  private layOut(): Layout | null {
    const { app, figure, width, height } = this;
    const across = acrossOf(app.sweep, this.overName);
    if (!figure || !across) return null;
    const { options } = app.store.state;
    const key = JSON.stringify([width, height, this.overName, this.byName, Object.entries(options).filter(([name]) => name.startsWith("chart."))]);
    if (this.known?.of === app.visible && this.known.key === key) return this.known.layout;
    const by = app.sweep.column(this.byName) ?? null;
    const series = seriesOf(app.visible.points, across, figure, this.more, by);
    const places = across.places && usedPlaces(across.places, series);
    const box = { x: LEFT, y: LEGEND + 8, width: width - LEFT - RIGHT, height: height - LEGEND - 8 - acrossHeight(places?.names ?? null, width - LEFT - RIGHT) };
    const values = series.flatMap(({ points }) => points.map((point) => figure.values[point] as number));
    for (const bound of boundsOf(app, figure)) for (const { best } of series) values.push(...best.map((point) => bound.column.values[point] as number));
    const at = places ? { ...across, places: places.names, at: (point: number) => places.place.get(across.at(point)) ?? NaN } : across;
    const xs = places ? [] : series.flatMap((one) => one.at);
    const layout: Layout = {
      box, across: at, figure, series, by,
      x: places ? placeAxis(places.names, box.x, box.x + box.width) : numberAxis(xs, options["chart.logx"] === "on", box.x, box.x + box.width, false),
      y: numberAxis(values, options["chart.log"] === "on", box.y + box.height, box.y),
    };
    this.known = { layout, of: app.visible, key };
    return layout;
  }

  paint(p: Painter): void {
    const layout = this.layOut();
    this.placed = null;
    if (!layout || layout.box.width < 80 || layout.box.height < 40) return;
    const { box, x, y, figure, across, series } = layout;
    const { theme } = p;
    p.rect(box.x, box.y, box.width, box.height, theme.sunken);
    paintUp(p, y, box, titleOf(figure));
    paintAcross(p, x, box, across.title);
    this.paintLegend(p, layout);
    if (!series.length) p.text(box.x + box.width / 2, box.y + box.height / 2, "No point that is shown has this figure.", { align: "center", colour: theme.faint });
    p.clip(box.x, box.y, box.width, box.height, () => {
      series.forEach((one, k) => this.paintOthers(p, layout, one, k));
      series.forEach((one, k) => this.paintLine(p, layout, one, k));
      this.paintChosen(p, layout);
    });
  }

  // All points, small, where there are more than the line goes through.
  private paintOthers(p: Painter, { across, x, y, figure, series }: Layout, one: Series, k: number): void {
    if (one.points.length === one.best.length) return;
    const at = (point: number) => [x.at(across.at(point)), y.at(figure.values[point] as number)] as const;
    paintSquares(p, this.width, one.points, at, sizeOf(series), css(mix(seriesColour(k), p.theme.groundRgb, 0.45)));
  }

  /** The spots of all points; those of the lines last, upon the others. */
  private get spots(): Spot[] {
    const layout = this.layOut();
    if (!layout || this.placed) return this.placed ?? [];
    const { across, x, y, figure, series } = layout;
    const spots = (points: readonly number[], radius: number) => points.map((point): Spot => ({ point, x: x.at(across.at(point)), y: y.at(figure.values[point] as number), radius }));
    this.placed = series.flatMap(({ points, best }) => [...(points.length > best.length ? spots(points, sizeOf(series)) : []), ...spots(best, RADIUS + 1)]);
    return this.placed;
  }

  private paintLine(p: Painter, { across, x, y, figure }: Layout, one: Series, k: number): void {
    const colour = css(seriesColour(k));
    for (const { column, dash } of boundsOf(this.app, figure)) {
      const line = one.best.filter((point) => !Number.isNaN(column.values[point])).flatMap((point) => [x.at(across.at(point)), y.at(column.values[point] as number)]);
      if (line.length > 2) p.line(line, colour, 1.3, dash);
    }
    const at = one.best.map((point) => [x.at(across.at(point)), y.at(figure.values[point] as number)] as const);
    if (at.length > 1) p.line(at.flat(), colour, 2);
    const radius = one.best.length > 200 ? 2.5 : RADIUS;
    for (const [left, top] of at) paintMark(p, k, left, top, radius, colour, p.theme.ground);
  }

  private paintChosen(p: Painter, { across, x, y, figure, series }: Layout): void {
    for (const [point, colour, radius] of [[this.app.held, p.theme.faint, RADIUS + 4], [this.app.selection, p.theme.text, RADIUS + 5]] as const)
      if (series.some(({ points }) => points.includes(point))) p.circle(x.at(across.at(point)), y.at(figure.values[point] as number), radius, "transparent", colour);
  }

  private paintLegend(p: Painter, { series, by, figure }: Layout): void {
    const { theme } = p;
    let x = LEFT;
    const y = 15;
    for (const { dash, title } of [{ dash: [], title: titleOf(figure) }, ...boundsOf(this.app, figure)]) {
      if (!boundsOf(this.app, figure).length) break;
      p.line([x, y, x + 24, y], theme.text, dash.length ? 1.3 : 2, dash);
      p.text(x + 29, y, title, { colour: theme.faint });
      x += 29 + textWidth(title) + 14;
    }
    if (!by) return;
    series.forEach(({ first }, k) => {
      const name = cellText(by, first);
      const width = textWidth(name) + 26;
      if (x + width > this.width - RIGHT) return;
      paintMark(p, k, x + 6, y, 4.5, css(seriesColour(k)), theme.ground);
      p.text(x + 15, y, name);
      x += width;
    });
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    const spot = nearest(this.spots, x, y);
    this.canvas.style.cursor = spot ? "pointer" : "default";
    if (spot) this.app.tip.show(event, this.tip(spot.point));
    else this.app.tip.hide();
  }

  private tip(point: number): TipLine[] {
    const { app, figure } = this;
    const lines: TipLine[] = [[pointName(app.sweep, point), "head"]];
    if (figure) lines.push(`${figure.name}: ${cellWithUnit(figure, point)}`, ...boundsOf(app, figure).map(({ column, title }) => `${title}: ${cellWithUnit(column, point)}`));
    const by = app.sweep.text("boundBy", point);
    if (by) lines.push([`bound by ${by}`, "faint"]);
    return lines;
  }

  private step(by: number, bySeries: number): void {
    const series = this.layOut()?.series ?? [];
    const { selection } = this.app;
    let line = series.findIndex(({ best }) => best.includes(selection));
    if (line < 0) line = series.findIndex(({ points }) => points.includes(selection));
    if (line < 0) {
      const first = series[0]?.best[0];
      if (first !== undefined) this.app.select(first);
      return;
    }
    const { across } = this.layOut() as Layout;
    const next = series[(line + bySeries + series.length) % series.length] as Series;
    const from = next.best.findIndex((point) => across.at(point) >= across.at(selection));
    const at = Math.max(0, Math.min(next.best.length - 1, (from < 0 ? next.best.length - 1 : from) + by));
    this.app.select(next.best[at] as number);
  }

  table(): Table {
    const { app } = this;
    const layout = this.layOut();
    if (!layout) return { caption: "There is nothing to draw.", columns: ["figure"], rows: [] };
    const { figure, series, across, by } = layout;
    const bounds = boundsOf(app, figure);
    const points = series.flatMap(({ best }) => best);
    return {
      caption: `${titleOf(figure)} over ${across.title}: the points that the lines go through.`,
      columns: [...(by ? [by.name] : []), across.title, figure.name, ...bounds.map(({ column }) => column.name), "point"],
      rows: points.map((point) => [...(by ? [cellValue(by, point)] : []), across.places ? (across.places[across.at(point)] ?? "") : across.at(point), ...[figure, ...bounds.map(({ column }) => column)].map((column) => cellValue(column, point)), app.sweep.nameOf(point)]),
      selections: points,
    };
  }
}

const sizeOf = (series: readonly Series[]) => (series.reduce((sum, { points }) => sum + points.length, 0) > FINE ? 2 : 3);

/** What bounds the figure from below, where it is a time. */
function boundsOf(app: App, figure: NumberColumn): { column: NumberColumn; dash: readonly number[]; title: string }[] {
  if (figure.unit !== "ms" || BOUNDS.some(([name]) => name === figure.name)) return [];
  return BOUNDS.flatMap(([name, dash, title]) => {
    const column = app.sweep.numbers(name);
    return column && column.distinct ? [{ column, dash, title }] : [];
  });
}

/** Of the named places, those that any series has. */
function usedPlaces(all: readonly string[], series: readonly Series[]): { names: string[]; place: Map<number, number> } {
  const used = [...new Set(series.flatMap(({ at }) => at))].sort((a, b) => a - b);
  return { names: used.map((at) => all[at] ?? ""), place: new Map(used.map((at, k) => [at, k])) };
}
