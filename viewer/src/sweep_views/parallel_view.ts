// A line for each point through an axis for each key that varies and for some results. A stretch drawn along an axis is a filter.
import { type Painter, textWidth } from "../paint/painter";
import { css, mix, type Rgb } from "../paint/theme";
import { cellText, cellValue, figure as figureText, pointName, titleOf, wantsMore } from "../sweep/figures";
import { filterOfRange, filterOfWords, rangesOf, testOf } from "../sweep/filter";
import { type Column, has, isConstant, ranksOf } from "../sweep/sweep";
import { element } from "../ui/dom";
import type { App } from "../sweep_page/app";
import { Axis } from "../sweep_page/axes";
import { CanvasView, type Table } from "../sweep_page/parts";
import { densityOf } from "./density";

const TOP = 44;
const BOTTOM = 30;
const SIDE = 60;
const OPTION = "parallel.axes";
const RESULTS = ["ms", "efficiency", "boundBy", "peakMemtileKiB"];
const FEW = 12; // values of a key that stand at its axis, instead of round ones
const MOST_AXES = 14;
const MOST_WORDS = 40;
const LEAST_DRAG = 4; // pixels
const SHADES = 512;
const FINE = 4000; // points; the lines of more are drawn on a grid of two or three pixels, for speed

interface Line {
  column: Column;
  x: number;
  axis: Axis;
}

interface Layout {
  axes: Line[];
  /** Pixel below TOP for each axis and point, NaN for none. */
  heights: Float32Array[];
  all: Density[];
}

/** Lines between two axes, on a grid of `step` pixels. */
interface Density {
  step: number;
  width: number;
  values: Float32Array;
}

export class ParallelView extends CanvasView {
  private readonly chooser = element("div", { className: "menu-items" });
  private readonly menu: HTMLElement;
  private drag: { axis: number; from: number; to: number } | null = null;
  private known: { layout: Layout; key: string } | null = null;
  private shown: { of: unknown; key: string; images: ImageData[] } | null = null;

  constructor(app: App) {
    super(app, "parallel", "A line for each point through an axis for each key and result");
    const title = element("summary", { textContent: "Axes", title: "Choose axes" });
    const menu = element("details", { className: "menu columns-menu" }, title, this.chooser);
    menu.addEventListener("focusout", (e) => { if (!menu.contains(e.relatedTarget as Node | null)) menu.open = false; });
    this.menu = menu;
    this.fillChooser();
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (e) => this.press(e));
    canvas.addEventListener("pointermove", (e) => { if (this.drag) this.move(e); });
    canvas.addEventListener("pointerup", (e) => this.release(e));
    canvas.addEventListener("pointercancel", () => { this.drag = null; this.redraw(); });
  }

  override tools(): HTMLElement[] {
    return [this.menu];
  }

  override changed(): void {
    const names = new Set(this.columns.map(({ name }) => name));
    for (const box of this.chooser.querySelectorAll("input")) box.checked = names.has(box.value);
    this.redraw();
  }

  private get candidates(): Column[] {
    return this.app.sweep.columns.filter((column) => column.name !== "point" && !isConstant(column) && (column.kind === "number" || column.words.length <= MOST_WORDS));
  }

  private get columns(): Column[] {
    const chosen = this.app.store.option(OPTION, "");
    const { candidates } = this;
    if (chosen) return chosen.split(" ").flatMap((name) => candidates.filter((column) => column.name === name));
    const own = this.app.keys.map(({ column }) => column).filter((column) => candidates.includes(column));
    return [...own.slice(0, MOST_AXES - 4), ...candidates.filter(({ name }) => RESULTS.includes(name))];
  }

  private layOut(): Layout {
    const { columns, width, height } = this;
    const key = [width, height, ...columns.map(({ name }) => name)].join("\n");
    if (this.known?.key === key) return this.known.layout;
    const room = Math.max(20, height - TOP - BOTTOM);
    const gap = (width - 2 * SIDE) / Math.max(1, columns.length - 1);
    const axes = columns.map((column, k): Line => ({ column, x: Math.round(SIDE + k * gap), axis: axisOf(column, room) }));
    const points = Array.from({ length: this.app.sweep.points }, (_, point) => point);
    const heights = axes.map(({ column, axis }) => {
      const ranks = ranksOf(column);
      return Float32Array.from(points, (point) => (has(column, point) ? axis.at(ranks[point] as number) : NaN));
    });
    const layout: Layout = { axes, heights, all: [] };
    layout.all = this.densities(layout, points);
    this.known = { layout, key };
    return layout;
  }

  private densities({ axes, heights }: Pick<Layout, "axes" | "heights">, points: readonly number[]): Density[] {
    const step = Math.min(3, 1 + Math.floor(points.length / FINE));
    const height = Math.ceil(this.rows / step);
    const scaled = step === 1 ? heights : heights.map((values) => values.map((y) => y / step));
    return axes.slice(1).map((next, k) => {
      const width = Math.max(2, Math.ceil((next.x - (axes[k] as Line).x) / step));
      return { step, width, values: densityOf(scaled[k] as Float32Array, scaled[k + 1] as Float32Array, points, width, height) };
    });
  }

  paint(p: Painter): void {
    const { app } = this;
    const { theme } = p;
    if (this.height < 120 || this.width < 200) return;
    const layout = this.layOut();
    const { axes, heights } = layout;
    if (axes.length < 2) {
      p.text(this.width / 2, this.height / 2, "Choose two axes at least.", { align: "center", colour: theme.faint });
      return;
    }
    const key = `${this.known?.key} ${theme.dark} ${this.density}`;
    if (this.shown?.of !== app.visible || this.shown.key !== key) {
      const isAll = app.visible.points.length === app.sweep.points;
      const shown = isAll ? layout.all : this.densities(layout, app.visible.points);
      this.shown = { of: app.visible, key, images: shown.map((density, k) => this.imageOf((axes[k + 1] as Line).x - (axes[k] as Line).x, layout.all[k] as Density, density)) };
    }
    this.shown.images.forEach((image, k) => p.image((axes[k] as Line).x, TOP, image.width / this.density, this.rows, image));
    for (const [point, colour] of [[app.held, css(theme.dark ? [163, 169, 175] : [90, 95, 99])], [app.selection, theme.text]] as const) if (point >= 0) this.paintPoint(p, axes, heights, point, colour);
    axes.forEach((line, k) => this.paintAxis(p, line, k));
  }

  /** The lines between two axes as pixels. Points that are left out stay as a pale ground. */
  private imageOf(width: number, all: Density, shown: Density): ImageData {
    const { theme } = this.app;
    const height = this.rows;
    const ratio = this.density;
    const image = new ImageData(Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio)));
    const pixels = new Uint32Array(image.data.buffer);
    let most = 1;
    for (const value of shown.values) if (value > most) most = value;
    const accent: Rgb = theme.dark ? [109, 182, 242] : [11, 97, 164];
    const packed = ([r, g, b]: Rgb) => (255 << 24) | (b << 16) | (g << 8) | r;
    const none = packed(theme.groundRgb);
    const left = packed(mix(theme.groundRgb, theme.dark ? [120, 126, 132] : [150, 154, 158], 0.28));
    // By the square root, so that few lines are told from none; the shade itself goes with the logarithm.
    const shades = Int32Array.from({ length: SHADES + 1 }, (_, k) => packed(mix(theme.groundRgb, accent, 0.28 + (0.72 * Math.log1p((k / SHADES) ** 2 * most)) / Math.log1p(most))));
    const scale = SHADES / Math.sqrt(most);
    const across = ({ step, width: columns }: Density) => Int32Array.from({ length: image.width }, (_, x) => Math.min(columns - 1, Math.floor(x / ratio / step)));
    const [shownAt, allAt] = [across(shown), across(all)];
    for (let y = 0, pixel = 0; y < image.height; y++) {
      const row = Math.min(height - 1, Math.floor(y / ratio));
      const shownRow = Math.floor(row / shown.step) * shown.width;
      const allRow = Math.floor(row / all.step) * all.width;
      for (let x = 0; x < image.width; x++, pixel++) {
        const value = shown.values[shownRow + (shownAt[x] as number)] as number;
        pixels[pixel] = value > 0 ? (shades[Math.round(Math.sqrt(value) * scale)] as number) : (all.values[allRow + (allAt[x] as number)] as number) > 0 ? left : none;
      }
    }
    return image;
  }

  /** Pixels from top to bottom of the lines. */
  private get rows(): number {
    return Math.max(20, Math.ceil(this.height - TOP - BOTTOM) + 1);
  }

  private paintPoint(p: Painter, axes: readonly Line[], heights: readonly Float32Array[], point: number, colour: string): void {
    let line: number[] = [];
    axes.forEach(({ x }, k) => {
      const y = heights[k]?.[point] ?? NaN;
      if (Number.isNaN(y)) {
        if (line.length > 2) p.line(line, colour, 2);
        line = [];
      } else {
        line.push(x, TOP + y);
        p.circle(x, TOP + y, 3.5, colour);
      }
    });
    if (line.length > 2) p.line(line, colour, 2);
  }

  private paintAxis(p: Painter, { column, x, axis }: Line, k: number): void {
    const { theme } = p;
    const bottom = this.height - BOTTOM;
    p.rect(x, TOP, 1, bottom - TOP, theme.faint);
    const gap = (this.width - 2 * SIDE) / Math.max(1, this.columns.length - 1);
    p.text(x, 12 + (k % 2 && gap < 110 ? 14 : 0), titleOf(column), { align: "center", bold: true, width: Math.max(60, gap < 110 ? 1.8 * gap : gap - 6) });
    const taken: number[] = [];
    for (const { value, text } of marksOf(column, axis)) {
      const y = TOP + axis.at(value);
      if (y < TOP - 1 || y > bottom + 1 || taken.some((other) => Math.abs(other - y) < 13)) continue;
      const wide = Math.min(textWidth(text, { size: 10 }), gap - 14);
      p.rect(x + 4, y - 6, wide + 4, 12, css(theme.groundRgb, 0.75));
      p.rect(x - 2, y, 5, 1, theme.faint);
      p.text(x + 6, y, text, { size: 10, width: gap - 12 });
      taken.push(y);
    }
    for (const { from, to } of this.bands(k)) {
      p.rect(x - 6, TOP + from, 13, to - from, css(theme.dark ? [109, 182, 242] : [11, 97, 164], 0.3));
      p.frame(x - 6, TOP + from, 13, to - from, theme.accent);
    }
    const filter = this.app.store.state.filters[column.name];
    if (filter) p.text(x, this.height - 10, filter, { align: "center", colour: theme.accent, width: Math.max(50, gap - 6), size: 10 });
  }

  /** What the filter of an axis lets through, and what is being drawn, as stretches of pixels. */
  private bands(k: number): { from: number; to: number }[] {
    const { column, axis } = this.layOut().axes[k] as Line;
    const room = this.height - TOP - BOTTOM;
    const cut = (y: number) => Math.max(0, Math.min(room, y));
    if (this.drag?.axis === k && Math.abs(this.drag.to - this.drag.from) >= LEAST_DRAG) return [{ from: Math.min(this.drag.from, this.drag.to), to: Math.max(this.drag.from, this.drag.to) }];
    const text = this.app.store.state.filters[column.name] ?? "";
    if (!text) return [];
    if (column.kind === "number") return (rangesOf(text) ?? []).map(({ from, to }) => {
      const ends = [cut(axis.at(Math.min(axis.to, to))), cut(axis.at(Math.max(axis.from, from)))];
      return { from: Math.min(...ends) - 3, to: Math.max(...ends) + 3 };
    });
    const test = testOf(column, text);
    return test ? column.words.flatMap((_, code) => (test(code) ? [{ from: cut(axis.at(code)) - 6, to: cut(axis.at(code)) + 6 }] : [])) : [];
  }

  private axisAt(x: number): number {
    const { axes } = this.layOut();
    const gap = axes.length > 1 ? (axes[1] as Line).x - (axes[0] as Line).x : SIDE;
    return axes.findIndex((line) => Math.abs(line.x - x) <= Math.min(22, gap / 2));
  }

  private press(e: PointerEvent): void {
    const axis = this.axisAt(e.offsetX);
    if (e.button !== 0 || axis < 0) return;
    this.canvas.setPointerCapture(e.pointerId);
    const y = Math.max(0, Math.min(this.height - TOP - BOTTOM, e.offsetY - TOP));
    this.drag = { axis, from: y, to: y };
  }

  private move(e: PointerEvent): void {
    if (!this.drag) return;
    this.drag.to = Math.max(0, Math.min(this.height - TOP - BOTTOM, e.offsetY - TOP));
    this.redraw();
  }

  private release(e: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    this.redraw();
    if (!drag) {
      this.app.pick(this.nearestPoint(e.offsetX, e.offsetY), e.shiftKey);
      return;
    }
    const { column, axis } = this.layOut().axes[drag.axis] as Line;
    // A click on an axis lets its filter go.
    if (Math.abs(drag.to - drag.from) < LEAST_DRAG) this.app.setFilter(column.name, "");
    else this.app.setFilter(column.name, brushed(column, axis, Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)));
  }

  /** The visible point whose line passes nearest. */
  private nearestPoint(x: number, y: number): number {
    const { axes, heights } = this.layOut();
    const k = axes.findIndex((line, n) => n + 1 < axes.length && x >= line.x && x <= (axes[n + 1] as Line).x);
    if (k < 0) return -1;
    const [from, to] = [axes[k] as Line, axes[k + 1] as Line];
    const share = (x - from.x) / Math.max(1, to.x - from.x);
    let best = -1;
    let least = 6;
    for (const point of this.app.visible.points) {
      const [a, b] = [heights[k]?.[point] ?? NaN, heights[k + 1]?.[point] ?? NaN];
      const off = Math.abs(TOP + a + share * (b - a) - y);
      if (off < least) [best, least] = [point, off];
    }
    return best;
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (this.drag) return;
    const axis = this.axisAt(x);
    this.canvas.style.cursor = axis >= 0 ? "ns-resize" : "default";
    if (axis >= 0) {
      const { column } = this.layOut().axes[axis] as Line;
      this.app.tip.show(event, [[titleOf(column), "head"], column.help, ["Drag along the axis to filter, click to let the filter go.", "faint"]]);
      return;
    }
    const point = this.nearestPoint(x, y);
    if (point >= 0) this.app.tip.show(event, [[pointName(this.app.sweep, point), "head"], ...this.columns.map((column) => `${column.name}: ${cellText(column, point)}`)]);
    else this.app.tip.hide();
  }

  private fillChooser(): void {
    const boxes = this.candidates.map((column) => {
      const box = element("input", { type: "checkbox", value: column.name });
      box.addEventListener("change", () => {
        const names = this.columns.map(({ name }) => name);
        this.app.store.setOption(OPTION, (box.checked ? [...names, column.name] : names.filter((name) => name !== column.name)).join(" "));
      });
      return element("label", { title: column.help }, box, ` ${column.name}`);
    });
    this.chooser.replaceChildren(...boxes);
  }

  table(): Table {
    const { columns, app } = this;
    const points = app.ordered;
    return {
      caption: "The points whose lines are drawn, by the axes that are shown.",
      columns: [...columns.map(({ name }) => name), "point"],
      rows: points.map((point) => [...columns.map((column) => cellValue(column, point)), app.sweep.nameOf(point)]),
      selections: [...points],
    };
  }
}

/** Up is better, or more; pixels from 0 at the top. Keys with few values stand evenly. */
function axisOf(column: Column, room: number): Axis {
  if (column.kind === "text") return new Axis(-0.5, column.words.length - 0.5, 0, room, false, column.words);
  const { steps } = column;
  const [least, most] = [steps[0] ?? 0, steps.at(-1) ?? 1];
  const log = least > 0 && most / least > 30;
  const span = log ? 0 : (most - least || 1) * 0.03;
  const [from, to] = log ? [least / 1.05, most * 1.05] : [least - span, most + span];
  return column.role === "result" && !wantsMore(column) ? new Axis(from, to, 0, room, log) : new Axis(from, to, room, 0, log);
}

const marksOf = (column: Column, axis: Axis): { value: number; text: string }[] =>
  column.kind === "number" && column.steps.length <= FEW ? column.steps.map((value) => ({ value, text: figureText(value) })) : axis.marks;

/** The filter that a stretch of an axis stands for. */
function brushed(column: Column, axis: Axis, top: number, bottom: number): string {
  if (column.kind === "text") return filterOfWords(column.words.filter((_, code) => axis.at(code) >= top && axis.at(code) <= bottom));
  const [a, b] = [axis.value(top), axis.value(bottom)];
  const held = column.steps.filter((value) => value >= Math.min(a, b) && value <= Math.max(a, b));
  // From value to value: what one reads is what the table has.
  return held.length ? filterOfRange(held[0] as number, held.at(-1) as number) : filterOfRange(rounded(Math.min(a, b)), rounded(Math.max(a, b)));
}

const rounded = (value: number) => Number(figureText(value).replaceAll(",", ""));
