// Two figures against each other, and the points that none beats in both.
import type { Painter } from "../paint/painter";
import { paintMark } from "../paint/marks";
import { css, mix, seriesColour } from "../paint/theme";
import { cellText, cellValue, cellWithUnit, placeName, pointName, titleOf, wantsMore } from "../sweep/figures";
import { front } from "../sweep/pareto";
import type { NumberColumn } from "../sweep/sweep";
import { element } from "../ui/dom";
import { count } from "../ui/numbers";
import type { App } from "../sweep_page/app";
import { type Axis, type Box, numberAxis, paintAcross, paintUp } from "../sweep_page/axes";
import { ListTable } from "../sweep_page/list_table";
import { axisOptions, ChoiceView, choiceOf, switchOf, type Table } from "../sweep_page/parts";
import type { Change } from "../sweep_page/state";
import { nearest, paintSquares, type Spot } from "../sweep_page/spots";

const LEFT = 62;
const RIGHT = 18;
const TOP = 26;
const BOTTOM = 42;

interface Front {
  name: string;
  /** All its points with both figures. */
  points: number[];
  front: number[];
}

interface Layout {
  x: NumberColumn;
  y: NumberColumn;
  fronts: Front[];
  box: Box;
  across: Axis;
  up: Axis;
}

export class ParetoView extends ChoiceView {
  private readonly list = new ListTable("The points of the front", ["#", "#", "network", "where"]);
  private readonly side = element("div", { className: "side" });
  private placed: Spot[] | null = null; // made when somebody points at the picture
  private known: { layout: Layout; of: unknown; key: string } | null = null;
  private listed = "";

  constructor(app: App) {
    super(app, "pareto", "Two figures against each other, with the points that none beats in both");
    const wishes = [["", "as is usual"], ["less", "less"], ["more", "more"]] as const;
    this.choices = [
      choiceOf(app, "across", axisOptions(app), "pareto.x", () => this.x?.name ?? ""),
      choiceOf(app, "wanted", wishes, "pareto.wantx", () => app.store.option("pareto.wantx", "")),
      choiceOf(app, "up", axisOptions(app), "pareto.y", () => this.y?.name ?? ""),
      choiceOf(app, "wanted", wishes, "pareto.wanty", () => app.store.option("pareto.wanty", "")),
      switchOf(app, "log", "Logarithmic axes", "pareto.log"),
    ];
    // The picture keeps the left, the list the right.
    this.side.append(this.list.root);
    this.root.classList.add("with-side");
    const frame = element("div", { className: "canvas-frame" });
    this.root.append(frame, this.side);
    this.fill(frame);
    this.canvas.addEventListener("click", (e) => app.pick(nearest(this.spots, e.offsetX, e.offsetY, app.selection)?.point ?? -1, e.shiftKey));
    const step = (by: number) => () => this.step(by);
    this.keys.push({ key: "arrowright", shown: "→", does: "the next point of the front", run: step(1) }, { key: "arrowleft", shown: "←", does: "the point of the front before", run: step(-1) });
  }

  override changed(change: Change): void {
    super.changed(change);
    this.fillList();
  }

  private get x(): NumberColumn | null {
    return this.app.axis("pareto.x", "cores", "rows", "ddrTotalGBps");
  }

  private get y(): NumberColumn | null {
    return this.app.axis("pareto.y", "ms", "cycles", "estimateMs");
  }

  private wants(option: "pareto.wantx" | "pareto.wanty", column: NumberColumn): boolean {
    const wanted = this.app.store.option(option, "");
    return wanted ? wanted === "more" : wantsMore(column);
  }

  private layOut(): Layout | null {
    const { app, x, y, width, height } = this;
    if (!x || !y) return null;
    const [moreX, moreY] = [this.wants("pareto.wantx", x), this.wants("pareto.wanty", y)];
    const log = app.store.option("pareto.log", "") === "on";
    const key = [width, height, x.name, y.name, moreX, moreY, log].join("\n");
    if (this.known?.of === app.visible && this.known.key === key) return this.known.layout;
    const { models } = app;
    const groups: number[][] = models ? models.words.map(() => []) : [[]];
    for (const point of app.visible.points) {
      if (Number.isNaN(x.values[point]) || Number.isNaN(y.values[point])) continue;
      groups[models ? (models.codes[point] as number) : 0]?.push(point);
    }
    const fronts = groups.map((points, k): Front => ({ name: models?.words[k] ?? "", points, front: front(points, { values: x.values, more: moreX }, { values: y.values, more: moreY }) }));
    const box = { x: LEFT, y: TOP, width: width - LEFT - RIGHT, height: height - TOP - BOTTOM };
    const of = (column: NumberColumn) => fronts.flatMap(({ points }) => points.map((point) => column.values[point] as number));
    const layout = { x, y, fronts, box, across: numberAxis(of(x), log, box.x, box.x + box.width), up: numberAxis(of(y), log, box.y + box.height, box.y) };
    this.known = { layout, of: app.visible, key };
    return layout;
  }

  paint(p: Painter): void {
    const layout = this.layOut();
    this.placed = null;
    if (!layout || layout.box.width < 80 || layout.box.height < 40) return;
    const { x, y, box, across, up, fronts } = layout;
    const { theme } = p;
    p.rect(box.x, box.y, box.width, box.height, theme.sunken);
    paintUp(p, up, box, titleOf(y));
    paintAcross(p, across, box, titleOf(x));
    p.clip(box.x, box.y, box.width, box.height, () => {
      fronts.forEach(({ points }, k) => paintSquares(p, this.width, points, (point) => placeOf(layout, point), points.length > 1000 ? 2 : 4, css(mix(seriesColour(k), theme.groundRgb, 0.5))));
      fronts.forEach((one, k) => this.paintFront(p, layout, one, k));
      for (const [point, colour] of [[this.app.held, theme.faint], [this.app.selection, theme.text]] as const) {
        if (!fronts.some(({ points }) => points.includes(point))) continue;
        const [left, top] = placeOf(layout, point);
        p.circle(left, top, 9, "transparent", colour);
      }
    });
    let left = LEFT;
    fronts.forEach(({ name }, k) => {
      if (!name) return;
      paintMark(p, k, left + 6, 13, 4.5, css(seriesColour(k)), theme.ground);
      p.text(left + 15, 13, name, { width: 140 });
      left += Math.min(140, name.length * 7 + 10) + 24;
    });
  }

  // In steps: between two points of the front, the worse of both figures is what one gets.
  private paintFront(p: Painter, layout: Layout, one: Front, k: number): void {
    const line: number[] = [];
    for (const point of one.front) {
      const [left, top] = placeOf(layout, point);
      if (line.length) line.push(left, line[line.length - 1] as number);
      line.push(left, top);
    }
    const colour = css(seriesColour(k));
    if (line.length > 2) p.line(line, colour, 1.6);
    for (const point of one.front) paintMark(p, k, ...placeOf(layout, point), 5, colour, p.theme.text);
  }

  /** The spots of all points; those of the fronts last, upon the others. */
  private get spots(): Spot[] {
    const layout = this.layOut();
    if (!layout || this.placed) return this.placed ?? [];
    const spots = (points: readonly number[], radius: number) => points.map((point): Spot => { const [x, y] = placeOf(layout, point); return { point, x, y, radius }; });
    this.placed = [...layout.fronts.flatMap(({ points }) => spots(points, 3)), ...layout.fronts.flatMap((one) => spots(one.front, 6))];
    return this.placed;
  }

  private fillList(): void {
    const layout = this.layOut();
    if (!layout) return;
    const { x, y, fronts } = layout;
    const points = fronts.flatMap((one) => one.front);
    const listed = [x.name, y.name, this.app.selection, ...points].join(" ");
    if (listed === this.listed) return;
    this.listed = listed;
    this.list.rename(0, titleOf(x));
    this.list.rename(1, titleOf(y));
    this.list.show(points.map((point) => ({ cells: [cellText(x, point), cellText(y, point), this.app.sweep.text("model", point), placeName(this.app.sweep, point)], chosen: point === this.app.selection, act: () => this.app.select(point) })), points.length, "No point that is shown has both figures.");
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    const spot = nearest(this.spots, x, y);
    this.canvas.style.cursor = spot ? "pointer" : "default";
    const layout = this.layOut();
    if (!spot || !layout) {
      this.app.tip.hide();
      return;
    }
    const isFront = layout.fronts.some((one) => one.front.includes(spot.point));
    this.app.tip.show(event, [[pointName(this.app.sweep, spot.point), "head"], ...[layout.x, layout.y].map((column) => `${column.name}: ${cellWithUnit(column, spot.point)}`), [isFront ? "on the front: no point is better in both" : "another point is better in both, or in one and equal in the other", "faint"]]);
  }

  private step(by: number): void {
    const fronts = this.layOut()?.fronts ?? [];
    const points = fronts.flatMap((one) => one.front);
    const at = points.indexOf(this.app.selection);
    const next = points[at < 0 ? 0 : (at + by + points.length) % points.length];
    if (next !== undefined) this.app.select(next);
  }

  table(): Table {
    const layout = this.layOut();
    if (!layout) return { caption: "There is nothing to draw.", columns: ["point"], rows: [] };
    const { x, y, fronts } = layout;
    const points = fronts.flatMap((one) => one.front);
    const others = this.app.sweep.columns.filter((column) => column.role === "vary" || (column.role === "key" && !["point", x.name, y.name].includes(column.name) && column.distinct > 1));
    const columns = [x, y, ...others.filter((column) => column !== x && column !== y)];
    return {
      caption: `${count(points.length)} points that none beats in both ${titleOf(x)} and ${titleOf(y)}${fronts.length > 1 ? ", for each network" : ""}.`,
      columns: [...columns.map(({ name }) => name), "point"],
      rows: points.map((point) => [...columns.map((column) => cellValue(column, point)), this.app.sweep.nameOf(point)]),
      selections: points,
    };
  }
}

const placeOf = ({ x, y, across, up }: Layout, point: number): [number, number] => [across.at(x.values[point] as number), up.at(y.values[point] as number)];
