// The layers over the views with a time axis. A layer's band is the stretch of the run that completes it; its colour says what bounds it.
import { fitName } from "../paint/labels";
import type { Painter } from "../paint/painter";
import { css, resourceColour } from "../paint/theme";
import type { Layer, Run } from "../run/run";
import type { App } from "./app";
import { percent } from "./numbers";
import { GUTTER, type TimeScale } from "./time_axis";
import type { TipLine } from "./tip";

export const BAND_HEIGHT = 19;
const LEAST_MARKED = 34; // pixels: what is narrower shows its mark alone

/** Layers that write and read something, to be marked. */
export interface Users {
  writers: readonly number[];
  readers: readonly number[];
}

export function paintBands(p: Painter, app: App, scale: TimeScale, y: number, users: Users | null = null): void {
  const { run, focus } = app;
  const middle = y + BAND_HEIGHT / 2;
  p.text(8, middle, users ? "layers: writes ▾, reads ▴" : "layers, by what bounds them", { colour: p.theme.faint, width: GUTTER - 12 });
  for (const layer of run.layers) {
    if (layer.cycles === 0 || layer.to < scale.window.from || layer.from > scale.window.to) continue;
    const from = Math.max(GUTTER, scale.x(layer.from));
    const width = Math.min(scale.right, scale.x(layer.to)) - from;
    const mark = `${users?.writers.includes(layer.index) ? "▾ " : ""}${users?.readers.includes(layer.index) ? "▴ " : ""}`;
    const chosen = layer.index === focus.layer || mark !== "";
    p.rect(from, y + 1, Math.max(0.5, width - 1), BAND_HEIGHT - 3, css(resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? "")), chosen ? 1 : 0.42));
    if (mark && width < LEAST_MARKED) p.text(from + width / 2, middle, mark.trim(), { align: "center", bold: true });
    else if (width >= 20) p.text(from + 4, middle, fitName(mark + layer.name, width - 8), { colour: chosen ? p.theme.onColour : p.theme.text });
  }
  p.rect(0, y + BAND_HEIGHT - 1, scale.right, 1, p.theme.line);
}

export const layerAtCycle = (run: Run, cycle: number): Layer | null => run.layers.find((layer) => cycle >= layer.from && cycle < layer.to) ?? null;

export const bandTip = (app: App, layer: Layer): TipLine[] => [
  [layer.name, "head"],
  `${layer.op}, ${app.duration(layer.cycles)}, ${percent(layer.cycles / app.run.makespan)} of the run`,
  `bound by ${layer.boundBy ?? "nothing"}${layer.efficiency === null ? "" : `, ${percent(layer.efficiency)} of its bound`}`,
  [layer.split, "faint"],
];
