// A bar that stands for the whole run, with the window in it: drag the window, pull it at its sides, click beside it to bring it there.
import type { Painter } from "../paint/painter";
import type { App } from "./app";
import { wheelFactor } from "./time_axis";

export interface Bar {
  x: number;
  y: number;
  width: number;
  height: number;
}

const GRIP = 5;
const LEAST = 3; // pixels

export function windowEdges(app: App, bar: Bar): [number, number] {
  const { window } = app.store.state;
  const makespan = Math.max(1, app.run.makespan);
  const x = (cycle: number) => bar.x + (Math.max(0, Math.min(makespan, cycle)) / makespan) * bar.width;
  const from = Math.min(x(window.from), bar.x + bar.width - LEAST);
  return [from, Math.max(from + LEAST, x(window.to))];
}

/** Pale where the window is not, with its frame and what to pull it by. */
export function paintWindow(p: Painter, app: App, bar: Bar): void {
  const { theme } = p;
  const [from, to] = windowEdges(app, bar);
  const veil = theme.dark ? "rgba(21,23,26,0.55)" : "rgba(251,251,250,0.6)";
  p.rect(bar.x, bar.y, from - bar.x, bar.height, veil);
  p.rect(to, bar.y, bar.x + bar.width - to, bar.height, veil);
  p.frame(from + 0.5, bar.y + 1, Math.max(LEAST, to - from - 1), bar.height - 2, theme.accent, 1.5);
  for (const x of [from, to - 3]) p.rect(x, bar.y + bar.height / 2 - 7, 3, 14, theme.accent);
}

type Part = "from" | "to" | "body" | "outside";

function partAt(app: App, bar: Bar, x: number): Part {
  const [from, to] = windowEdges(app, bar);
  if (Math.abs(x - from) <= GRIP && x - from < (to - from) / 2) return "from";
  if (Math.abs(x - to) <= GRIP) return "to";
  return x > from && x < to ? "body" : "outside";
}

export const cursorAt = (app: App, bar: Bar, x: number): string => ({ from: "ew-resize", to: "ew-resize", body: "grab", outside: "pointer" })[partAt(app, bar, x)];

export const isOnBar = ({ x, y, width, height }: Bar, px: number, py: number): boolean => px >= x && px <= x + width && py >= y && py <= y + height;

/** What begins on the bar is kept from the canvas's other listeners. */
export function listenToBar(app: App, canvas: HTMLCanvasElement, barOf: () => Bar): void {
  let drag: { part: Part; x: number; from: number; to: number } | null = null;
  const cycles = (pixels: number) => (pixels / Math.max(1, barOf().width)) * app.run.makespan;
  canvas.addEventListener("pointerdown", (e) => {
    const bar = barOf();
    if (e.button !== 0 || !isOnBar(bar, e.offsetX, e.offsetY)) return;
    e.stopImmediatePropagation();
    canvas.setPointerCapture(e.pointerId);
    const part = partAt(app, bar, e.offsetX);
    if (part === "outside") {
      const { window } = app.store.state;
      const half = (window.to - window.from) / 2;
      const middle = cycles(e.offsetX - bar.x);
      app.show(middle - half, middle + half);
    }
    drag = { part: part === "outside" ? "body" : part, x: e.offsetX, ...app.store.state.window };
  }, true);
  canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    app.tip.hide();
    const moved = cycles(e.offsetX - drag.x);
    if (drag.part === "from") app.show(Math.max(0, Math.min(drag.from + moved, drag.to - 10)), drag.to);
    else if (drag.part === "to") app.show(drag.from, Math.max(drag.from + 10, Math.min(app.run.makespan, drag.to + moved)));
    else app.show(drag.from + moved, drag.to + moved);
  });
  for (const end of ["pointerup", "pointercancel"] as const) canvas.addEventListener(end, () => { drag = null; });
  canvas.addEventListener("wheel", (e) => {
    const bar = barOf();
    if (!isOnBar(bar, e.offsetX, e.offsetY)) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    app.zoom(wheelFactor(e), cycles(e.offsetX - bar.x));
  }, { passive: false, capture: true });
}
