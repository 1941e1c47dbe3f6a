// The critical path over the lanes: its slices bright and framed, lines from each to the next, all else dimmed.
import type { Painter } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import { type CriticalPath, criticalPath, stepAt } from "../../run/critical_path";
import { layerName } from "../../run/names";
import type { Run } from "../../run/run";
import { GUTTER, type TimeScale } from "../../ui/time_axis";

export interface Lane {
  /** On screen. */
  top: number;
  height: number;
}

/** `laneOf` tells where a track is drawn, or null where it is folded away. At most one step is drawn for each pixel of time. */
export function paintPath(p: Painter, run: Run, scale: TimeScale, top: number, bottom: number, laneOf: (track: number) => Lane | null): void {
  const { theme } = p;
  p.rect(GUTTER, top, scale.right - GUTTER, bottom - top, css(theme.groundRgb, 0.72));
  const path = criticalPath(run);
  if (!path.steps) return;
  const lanes = run.tracks.map((track) => laneOf(track.index));
  const end = stepAt(path, scale.window.to) + 1;
  let before: { lane: Lane; step: number } | null = null;
  for (let k = stepAt(path, scale.window.from); k < end; k = nextOfPixel(path, scale, k)) {
    const lane = lanes[path.track[k] as number] ?? null;
    if (!lane) continue;
    const x = scale.x(path.time[k] as number);
    // Where steps are too dense to be drawn one by one, so would their links be.
    if (before && before.lane !== lane && k === before.step + 1) paintLink(p, x, before.lane, lane);
    if (lane.top + lane.height > top && lane.top < bottom) paintStep(p, run, path, scale, k, lane);
    before = { lane, step: k };
  }
}

function nextOfPixel(path: CriticalPath, scale: TimeScale, k: number): number {
  const ends = path.time[k + 1] as number;
  const pixelEnds = (path.time[k] as number) + scale.perPixel;
  return ends >= pixelEnds ? k + 1 : Math.max(k + 1, stepAt(path, pixelEnds));
}

function paintStep(p: Painter, run: Run, path: CriticalPath, scale: TimeScale, k: number, { top, height }: Lane): void {
  const from = Math.max(GUTTER - 4, scale.x(path.time[k] as number));
  const to = Math.min(scale.right + 4, scale.x(path.time[k + 1] as number));
  const width = Math.max(1, to - from);
  p.rect(from, top, width, height, css(resourceColour(path.resource[k] as number)));
  if (width > 4) p.frame(from + 0.5, top + 0.5, width - 1, height - 1, p.theme.text, 1);
  const left = Math.max(GUTTER, from) + 5;
  if (to - left > 44) p.text(left, top + height / 2, `${run.mnemonicOf(path.leaf[k] as number)} ${layerName(run, path.layer[k] as number)}`, { size: 10, colour: p.theme.onColour, width: to - left - 6 });
}

function paintLink(p: Painter, x: number, from: Lane, to: Lane): void {
  const down = to.top > from.top;
  p.line([x, down ? from.top + from.height : from.top, x, down ? to.top : to.top + to.height], p.theme.text, 1);
}
