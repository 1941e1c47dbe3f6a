// The x axis that the views share: the same stretch of time stands under the same pixel wherever it is shown.
import { type Painter, textWidth } from "../paint/painter";
import { ticks } from "../paint/ticks";
import type { Stretch } from "../run/run";
import type { App } from "./app";
import { count, seconds } from "./numbers";

/** Width of the names at the left of every view with a time axis. */
export const GUTTER = 176;
export const AXIS_HEIGHT = 22;

export class TimeScale {
  constructor(
    readonly window: Stretch,
    readonly left: number,
    readonly right: number,
  ) {}

  x(cycle: number): number {
    return this.left + ((cycle - this.window.from) / (this.window.to - this.window.from)) * (this.right - this.left);
  }
  cycle(x: number): number {
    return this.window.from + ((x - this.left) / (this.right - this.left)) * (this.window.to - this.window.from);
  }
  /** Cycles that one pixel stands for. */
  get perPixel(): number {
    return (this.window.to - this.window.from) / Math.max(1, this.right - this.left);
  }
}

/** The axis between y and y + AXIS_HEIGHT, in cycles or seconds as the state says; lines down to `bottom`. */
export function paintAxis(p: Painter, app: App, scale: TimeScale, y: number, bottom: number): void {
  const { theme } = p;
  const inTime = app.store.state.unit === "time";
  const clock = app.run.device.clockHz;
  p.text(8, y + AXIS_HEIGHT / 2, inTime ? "time" : "cycles", { colour: theme.faint });
  const width = scale.right - scale.left;
  // In time, ticks are round in seconds, not in cycles.
  const unit = inTime ? clock / 10 ** Math.ceil(Math.log10(clock) + 3) : 1;
  for (const tick of ticks(scale.window, width, 110, unit)) {
    if (tick < 0 || tick > app.run.makespan) continue;
    const x = scale.x(tick);
    p.rect(x, y + 4, 1, AXIS_HEIGHT - 4, theme.line);
    if (bottom > y + AXIS_HEIGHT) p.rect(x, y + AXIS_HEIGHT, 1, bottom - y - AXIS_HEIGHT, theme.line);
    const label = inTime ? seconds(tick / clock) : count(tick);
    if (x + 4 + textWidth(label) < scale.right) p.text(x + 4, y + AXIS_HEIGHT / 2 + 1, label, { colour: theme.faint });
  }
}

/** How much a turn of the wheel zooms: above 1 is out. */
export const wheelFactor = ({ deltaY, deltaMode }: WheelEvent): number => Math.exp(Math.max(-200, Math.min(200, deltaY * (deltaMode === 1 ? 16 : 1))) * 0.002);

/** Zoom by wheel, move by drag, measure by drag with Shift or on the axis. `isAxis(y)` tells where the axis is. */
export function listenToTime(app: App, canvas: HTMLCanvasElement, view: { scale(): TimeScale; isAxis(y: number): boolean; scrollBy?(pixels: number): void; click(x: number, y: number, event: PointerEvent): void }): void {
  let drag: { x: number; y: number; window: Stretch; moved: boolean; measures: boolean } | null = null;
  canvas.addEventListener(
    "wheel",
    (e) => {
      e.preventDefault();
      const unit = e.deltaMode === 1 ? 16 : 1;
      const scale = view.scale();
      if (view.scrollBy && (e.offsetX < GUTTER || e.shiftKey)) view.scrollBy((e.deltaY || e.deltaX) * unit);
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) app.pan(e.deltaX * unit * scale.perPixel);
      else app.zoom(wheelFactor(e), scale.cycle(e.offsetX));
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    drag = { x: e.offsetX, y: e.offsetY, window: app.store.state.window, moved: false, measures: e.offsetX > GUTTER && (e.shiftKey || view.isAxis(e.offsetY)) };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    if (Math.hypot(e.offsetX - drag.x, e.offsetY - drag.y) > 3) drag.moved = true;
    if (!drag.moved) return;
    app.tip.hide();
    const scale = view.scale();
    if (drag.measures) {
      const [a, b] = [scale.cycle(drag.x), scale.cycle(Math.max(GUTTER, e.offsetX))].map(Math.round) as [number, number];
      app.store.set({ measure: a === b ? null : { from: Math.min(a, b), to: Math.max(a, b) } });
      return;
    }
    app.show(drag.window.from + (drag.x - e.offsetX) * scale.perPixel, drag.window.to + (drag.x - e.offsetX) * scale.perPixel);
    view.scrollBy?.(drag.y - e.offsetY);
    drag = { ...drag, x: e.offsetX, y: e.offsetY, window: app.store.state.window };
  });
  canvas.addEventListener("pointerup", (e) => {
    if (drag && !drag.moved) {
      if (drag.measures && !e.shiftKey) app.store.set({ measure: null });
      view.click(e.offsetX, e.offsetY, e);
    }
    drag = null;
  });
  canvas.addEventListener("pointercancel", () => {
    drag = null;
  });
}

/** The measured stretch over a view's picture, with its length. */
export function paintMeasure(p: Painter, app: App, scale: TimeScale, top: number, bottom: number): void {
  const { measure } = app.store.state;
  if (!measure) return;
  const from = Math.max(scale.left, scale.x(measure.from));
  const to = Math.min(scale.right, scale.x(measure.to));
  if (to < scale.left || from > scale.right) return;
  p.rect(from, top, Math.max(1, to - from), bottom - top, p.theme.dark ? "rgba(109,182,242,0.16)" : "rgba(11,97,164,0.12)");
  for (const x of [from, to]) p.rect(x, top, 1, bottom - top, p.theme.accent);
  const text = app.duration(measure.to - measure.from);
  const width = textWidth(text, { bold: true }) + 12;
  const left = Math.max(scale.left, Math.min(scale.right - width, (from + to - width) / 2));
  p.rect(left, top + 2, width, AXIS_HEIGHT - 4, p.theme.accent);
  p.text(left + 6, top + AXIS_HEIGHT / 2, text, { bold: true, colour: p.theme.ground });
}
