// The whole run at the foot of the mesh: how busy its cores are over time, and the window, to be dragged and pulled at its sides.
import type { Painter } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import type { Run } from "../../run/run";
import { STALLS } from "../../run/stalls";
import type { App } from "../../ui/app";
import type { Box } from "./geometry";
import type { Load } from "./load";

const GRIP = 5;

interface Profile {
  busy: Float64Array; // share, by bin
  stalled: Float64Array;
}

const profiles = new WeakMap<Run, Profile>();

/** Mean over the cores; only for a load that is done. */
export function profileOf(load: Load): Profile {
  let profile = profiles.get(load.run);
  if (profile) return profile;
  profile = { busy: new Float64Array(load.bins), stalled: new Float64Array(load.bins) };
  const cores = load.run.tracks.filter((t) => t.engine === "core");
  for (const { index } of cores) {
    for (let r = 0; r < load.columns.resources; r++) load.addBins(index, r, profile.busy);
    for (let s = 0; s < STALLS.length; s++) load.addBins(index, load.columns.stall + s, profile.stalled);
  }
  const time = load.width * Math.max(1, cores.length);
  for (const values of [profile.busy, profile.stalled]) values.forEach((v, b) => (values[b] = v / time));
  profiles.set(load.run, profile);
  return profile;
}

export function paintScrubber(p: Painter, app: App, load: Load, box: Box): void {
  const { theme } = p;
  p.rect(box.x, box.y, box.width, box.height, css(theme.laneRgb));
  if (load.done >= 1) paintProfile(p, load, box);
  const [from, to] = windowEdges(app, box);
  const veil = theme.dark ? "rgba(21,23,26,0.62)" : "rgba(251,251,250,0.68)";
  p.rect(box.x, box.y, from - box.x, box.height, veil);
  p.rect(to, box.y, box.x + box.width - to, box.height, veil);
  p.frame(from + 0.5, box.y + 0.5, Math.max(2, to - from - 1), box.height - 1, theme.accent, 1.5);
  for (const x of [from, to - 3]) p.rect(x, box.y + box.height / 2 - 7, 3, 14, theme.accent);
}

function paintProfile(p: Painter, load: Load, box: Box): void {
  const { busy, stalled } = profileOf(load);
  const width = (load.width / Math.max(1, load.run.makespan)) * box.width;
  const grey = css(p.theme.dark ? [96, 101, 107] : [176, 180, 184]);
  p.clip(box.x, box.y, box.width, box.height, () => {
    for (let b = 0; b < load.bins; b++) {
      const [high, higher] = [(busy[b] as number) * box.height, (stalled[b] as number) * box.height];
      p.rect(box.x + b * width, box.y + box.height - high, width + 0.4, high, css(resourceColour(0)));
      p.rect(box.x + b * width, box.y + box.height - high - higher, width + 0.4, higher, grey);
    }
  });
}

function windowEdges(app: App, box: Box): [number, number] {
  const { window } = app.store.state;
  const x = (cycle: number) => box.x + (Math.max(0, Math.min(app.run.makespan, cycle)) / Math.max(1, app.run.makespan)) * box.width;
  const from = x(window.from);
  return [Math.min(from, box.x + box.width - 3), Math.max(from + 3, x(window.to))];
}

type Part = "from" | "to" | "body" | "outside";

function partAt(app: App, box: Box, x: number): Part {
  const [from, to] = windowEdges(app, box);
  if (Math.abs(x - from) <= GRIP && x - from < (to - from) / 2) return "from";
  if (Math.abs(x - to) <= GRIP) return "to";
  return x > from && x < to ? "body" : "outside";
}

export const cursorAt = (app: App, box: Box, x: number): string => ({ from: "ew-resize", to: "ew-resize", body: "grab", outside: "pointer" })[partAt(app, box, x)];

export function listenToScrubber(app: App, canvas: HTMLCanvasElement, boxOf: () => Box): void {
  let drag: { part: Part; x: number; from: number; to: number } | null = null;
  const cycleAt = (x: number) => ((x - boxOf().x) / Math.max(1, boxOf().width)) * app.run.makespan;
  canvas.addEventListener("pointerdown", (e) => {
    const box = boxOf();
    if (e.button !== 0 || e.offsetY < box.y) return;
    canvas.setPointerCapture(e.pointerId);
    const part = partAt(app, box, e.offsetX);
    const { window } = app.store.state;
    if (part === "outside") {
      const half = (window.to - window.from) / 2;
      app.show(cycleAt(e.offsetX) - half, cycleAt(e.offsetX) + half);
    }
    drag = { part: part === "outside" ? "body" : part, x: e.offsetX, ...app.store.state.window };
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    app.tip.hide();
    const moved = cycleAt(e.offsetX) - cycleAt(drag.x);
    if (drag.part === "from") app.show(Math.max(0, Math.min(drag.from + moved, drag.to - 10)), drag.to);
    else if (drag.part === "to") app.show(drag.from, Math.min(app.run.makespan, drag.to + moved));
    else app.show(drag.from + moved, drag.to + moved);
  });
  const release = () => {
    drag = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const unit = e.deltaMode === 1 ? 16 : 1;
    const about = e.offsetY >= boxOf().y ? cycleAt(e.offsetX) : undefined;
    app.zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY * unit)) * 0.002), about);
  }, { passive: false });
}
