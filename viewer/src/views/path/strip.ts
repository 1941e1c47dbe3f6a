// Where the path runs over time: a lane for each resource, so that place tells what colour tells too, and the path's layers above.
import { fitName } from "../../paint/labels";
import type { Painter } from "../../paint/painter";
import { css, mix, resourceColour } from "../../paint/theme";
import { type CriticalPath, stepAt } from "../../run/critical_path";
import { layerName } from "../../run/names";
import type { Run, Stretch } from "../../run/run";
import { AXIS_HEIGHT, GUTTER, type TimeScale } from "../../ui/time_axis";

export const BAND = 18;
export const LITTLE = 330; // height of a view in which only lanes that matter are shown
const COLUMN = 2; // pixels that are drawn as one where steps are too many to be told apart
const NAMED = 46; // pixels of a layer that gets its name written
const PALE = 0.3; // what is not meant
const FEWEST_PIXELS = 3; // of a step, on average, to be drawn by itself

/** Steps in a row that belong to one layer. */
interface LayerRun extends Stretch {
  layer: number;
}

/** What the strip needs of a path, made once. */
export interface StripData {
  lanes: number[]; // resources, in order
  /** Cycles of each lane's resource before step k. */
  before: Float64Array[];
  layers: LayerRun[];
}

/** `before` counts only what matches. */
export function stripData(run: Run, path: CriticalPath, matches: (step: number) => boolean = () => true): StripData {
  const all = run.instructions.resources.map((_, r) => r);
  const busy = new Set(path.resource);
  // A lane for whatever the run has engines for, even if the path never goes there.
  const lanes = all.filter((r) => busy.has(r) || run.counters.series.some((s) => s.name === run.instructions.resources[r]));
  const before = lanes.map((lane) => {
    const sums = new Float64Array(path.steps + 1);
    for (let k = 0; k < path.steps; k++) sums[k + 1] = (sums[k] as number) + (path.resource[k] === lane && matches(k) ? (path.time[k + 1] as number) - (path.time[k] as number) : 0);
    return sums;
  });
  const layers: LayerRun[] = [];
  for (let k = 0; k < path.steps; k++) {
    const layer = path.layer[k] as number;
    const last = layers[layers.length - 1];
    if (last && last.layer === layer) last.to = path.time[k + 1] as number;
    else layers.push({ layer, from: path.time[k] as number, to: path.time[k + 1] as number });
  }
  return { lanes, before, layers };
}

/** Without the lanes that have next to nothing of the path, for where there is little room. */
export function withoutIdle(data: StripData): StripData {
  const cycles = data.before.map((sums) => sums[sums.length - 1] as number);
  const least = 0.001 * cycles.reduce((sum, n) => sum + n, 0);
  const kept = data.lanes.map((_, n) => n).filter((n) => (cycles[n] as number) > least);
  return { ...data, lanes: kept.map((n) => data.lanes[n] as number), before: kept.map((n) => data.before[n] as Float64Array) };
}

export interface StripPlace {
  /** Of the strip, with its axis. */
  height: number;
  laneTop: number;
  laneHeight: number;
  lanes: readonly number[];
}

export function stripPlace(data: StripData, viewHeight: number): StripPlace {
  const lanes = Math.max(1, data.lanes.length);
  const laneHeight = viewHeight < LITTLE && lanes > 4 ? 11 : 13;
  const laneTop = AXIS_HEIGHT + BAND + 2;
  return { laneHeight, laneTop, lanes: data.lanes, height: laneTop + lanes * laneHeight + 4 };
}

export interface StripLook {
  run: Run;
  path: CriticalPath;
  data: StripData;
  scale: TimeScale;
  place: StripPlace;
  /** Layer that is lit up, or -1. */
  layer: number;
  /** Step that is selected, or -1. */
  step: number;
  /** Steps that are shown alone: the others are pale. */
  only: { matches(step: number): boolean } | null;
  /** Of those steps. */
  onlyData: StripData | null;
}

export function paintStrip(p: Painter, look: StripLook): void {
  const { data, place, run } = look;
  const { theme } = p;
  data.lanes.forEach((lane, n) => {
    const y = place.laneTop + n * place.laneHeight;
    p.rect(GUTTER, y, look.scale.right - GUTTER, place.laneHeight - 1, css(theme.laneRgb));
    p.text(GUTTER - 8, y + (place.laneHeight - 1) / 2 + 0.5, run.instructions.resources[lane] ?? "", { size: place.laneHeight < 11 ? 9 : 10, colour: theme.faint, align: "right", width: GUTTER - 14 });
  });
  p.text(8, AXIS_HEIGHT + BAND / 2, "layers on the path", { colour: theme.faint, width: GUTTER - 12 });
  p.clip(GUTTER, 0, look.scale.right - GUTTER, place.height, () => {
    paintLayers(p, look);
    const { first, end } = visibleSteps(look);
    if ((end - first) * FEWEST_PIXELS > look.scale.right - GUTTER) {
      paintShares(p, look, data, look.onlyData ? PALE : 1);
      if (look.onlyData) paintShares(p, look, look.onlyData, 1);
    }
    else paintSteps(p, look, first, end);
    paintSelected(p, look);
  });
  p.rect(0, place.height - 1, look.scale.right, 1, theme.line);
}

function visibleSteps({ path, scale }: StripLook): { first: number; end: number } {
  if (!path.steps) return { first: 0, end: 0 };
  return { first: stepAt(path, scale.window.from), end: stepAt(path, scale.window.to) + 1 };
}

// Two greys in turn part the layers; the selected one has the accent.
function paintLayers(p: Painter, { run, data, scale, layer }: StripLook): void {
  const { theme } = p;
  const grounds = [css(mix(theme.laneRgb, theme.dark ? [255, 255, 255] : [0, 0, 0], 0.05)), css(mix(theme.laneRgb, theme.dark ? [255, 255, 255] : [0, 0, 0], 0.13))];
  let k = firstRun(data.layers, scale.window.from);
  let painted = -1;
  for (; k < data.layers.length; k++) {
    const at = data.layers[k] as LayerRun;
    if (at.from >= scale.window.to) break;
    const [from, to] = [Math.max(GUTTER, scale.x(at.from)), Math.min(scale.right, scale.x(at.to))];
    if (to - painted < 0.5) continue;
    painted = to;
    const chosen = at.layer === layer && layer >= 0;
    p.rect(from, AXIS_HEIGHT + 1, Math.max(0.5, to - from - (to - from > 3 ? 1 : 0)), BAND - 2, chosen ? theme.accent : (grounds[k % 2] as string));
    if (to - from >= NAMED) p.text(from + 4, AXIS_HEIGHT + BAND / 2, fitName(layerName(run, at.layer), to - from - 8), { colour: chosen ? theme.ground : theme.text });
  }
}

function firstRun(runs: readonly LayerRun[], cycle: number): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle] as LayerRun).to > cycle) high = middle;
    else low = middle + 1;
  }
  return low;
}

// In each column of pixels, each lane is as strong as its part of the path there.
function paintShares(p: Painter, { path, scale, place, only }: StripLook, data: StripData, strength: number): void {
  const counts = (k: number) => strength < 1 || !only || only.matches(k);
  const columns = Math.ceil((scale.right - GUTTER) / COLUMN);
  const edge = (c: number) => Math.max(0, Math.min(path.time[path.steps] as number, scale.cycle(GUTTER + c * COLUMN)));
  let from = edge(0);
  let k = stepAt(path, from);
  for (let c = 0; c < columns; c++) {
    const to = edge(c + 1);
    const next = stepAt(path, to);
    if (to > from)
      place.lanes.forEach((lane, n) => {
        const sums = data.before[data.lanes.indexOf(lane)] as Float64Array;
        const upTo = (step: number, cycle: number) => (sums[step] as number) + (path.resource[step] === lane && counts(step) ? cycle - (path.time[step] as number) : 0);
        const share = (upTo(next, to) - upTo(k, from)) / (to - from);
        if (share > 0.004) p.rect(GUTTER + c * COLUMN, place.laneTop + n * place.laneHeight, COLUMN, place.laneHeight - 1, css(resourceColour(lane), Number((strength * (0.12 + 0.88 * Math.min(1, share))).toFixed(2))));
      });
    from = to;
    k = next;
  }
}

function laneOf({ data, path }: StripLook, k: number): number {
  return data.lanes.indexOf(path.resource[k] as number);
}

function paintSteps(p: Painter, look: StripLook, first: number, end: number): void {
  const { path, run, scale, place, layer, only } = look;
  let before = -1;
  for (let k = first; k < end; k++) {
    const lane = laneOf(look, k);
    const [from, to] = [scale.x(path.time[k] as number), scale.x(path.time[k + 1] as number)];
    const y = place.laneTop + lane * place.laneHeight;
    if (lane >= 0 && to > from) {
      const dim = only ? !only.matches(k) : layer >= 0 && path.layer[k] !== layer;
      p.rect(from, y, Math.max(1, to - from - (to - from > 4 ? 1 : 0)), place.laneHeight - 1, css(resourceColour(path.resource[k] as number), dim ? PALE : 1));
      const left = Math.max(GUTTER, from);
      const text = `${run.mnemonicOf(path.leaf[k] as number)} ${layerName(run, path.layer[k] as number)}`;
      if (Math.min(to, scale.right) - left > 48 && place.laneHeight > 11) p.text(left + 4, y + place.laneHeight / 2, text, { size: 10, colour: dim ? p.theme.text : p.theme.onColour, width: Math.min(to, scale.right) - left - 8 });
    }
    // Down or up to the lane of the next.
    if (before >= 0 && lane >= 0 && lane !== before) {
      const ys = [before, lane].map((n) => place.laneTop + n * place.laneHeight + place.laneHeight / 2) as [number, number];
      p.line([from, ys[0], from, ys[1]], p.theme.text, 1);
    }
    if (lane >= 0) before = lane;
  }
}

function paintSelected(p: Painter, look: StripLook): void {
  const { step, path, scale, place } = look;
  if (step < 0) return;
  const [from, to] = [scale.x(path.time[step] as number), scale.x(path.time[step + 1] as number)];
  const y = place.laneTop + Math.max(0, laneOf(look, step)) * place.laneHeight;
  p.frame(from - 1, y - 1, Math.max(4, to - from) + 1, place.laneHeight + 1, p.theme.accent, 2);
  p.rect((from + to) / 2, AXIS_HEIGHT + BAND, 1, place.height - AXIS_HEIGHT - BAND - 1, p.theme.accent);
}
