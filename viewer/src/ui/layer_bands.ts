// The layers over the views with a time axis. A layer's band is the stretch of the run that completes it; its colour says what bounds it.
import { firstThatFits, fitName } from "../paint/labels";
import { type Painter, textWidth } from "../paint/painter";
import { css, resourceColour } from "../paint/theme";
import { type Band, groupName, rowsText, stepsOf } from "../run/groups";
import type { Layer, Run, Stretch } from "../run/run";
import type { App } from "./app";
import { percent } from "./numbers";
import type { Focus, Selection } from "./state";
import { GUTTER, type TimeScale } from "./time_axis";
import type { TipLine } from "./tip";

export const BAND_HEIGHT = 19;
const LEAST_TILE = 4; // pixels: narrower ones run into each other
const LEAST_NAMED = 60; // of a group
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
  for (const band of run.bands) {
    const layer = run.layers[band.layer] as Layer;
    if (band.to === band.from || band.to < scale.window.from || band.from > scale.window.to) continue;
    const from = Math.max(GUTTER, scale.x(band.from));
    const width = Math.min(scale.right, scale.x(band.to)) - from;
    const mark = `${users?.writers.includes(layer.index) ? "▾ " : ""}${users?.readers.includes(layer.index) ? "▴ " : ""}`;
    const chosen = isChosen(focus, band) || mark !== "";
    p.rect(from, y + 1, Math.max(0.5, width - 1), BAND_HEIGHT - 3, css(resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? "")), chosen ? 1 : 0.42));
    if (mark && width < LEAST_MARKED) p.text(from + width / 2, middle, mark.trim(), { align: "center", bold: true });
    else if (width >= 20) p.text(from + 4, middle, fitName(mark + layer.name, width - 8), { colour: chosen ? p.theme.onColour : p.theme.text });
  }
  for (const group of run.groups) paintTiles(p, app, scale, y, group.index);
  p.rect(0, y + BAND_HEIGHT - 1, scale.right, 1, p.theme.line);
}

const isChosen = (focus: Focus, band: Band): boolean =>
  focus.frame >= 0 ? band.frame === focus.frame : focus.group >= 0 ? band.group === focus.group && (focus.groupTile < 0 || band.tile === focus.groupTile) && (focus.layer < 0 || band.layer === focus.layer) : band.layer === focus.layer;

const brightOf = new WeakMap<Focus, Uint8Array>();

/** By place in Run.bands, 1 for what is selected. */
export function brightBands({ run, focus }: App): Uint8Array {
  let bright = brightOf.get(focus);
  if (!bright) brightOf.set(focus, (bright = Uint8Array.from(run.bands, (band) => Number(isChosen(focus, band)))));
  return bright;
}

/** From the first to the last band of what is selected; null where it has none. */
export function bandsInFocus({ run, focus }: App): Stretch | null {
  const chosen = run.bands.filter((band) => isChosen(focus, band));
  const [first, last] = [chosen[0], chosen[chosen.length - 1]];
  return first && last ? { from: first.from, to: last.to } : null;
}

/** A line over the bands of a group, broken where a tile ends; the name of the group where its bands are too narrow for theirs. */
function paintTiles(p: Painter, { run, focus }: App, scale: TimeScale, y: number, group: number): void {
  const bands = run.bands.filter((band) => band.group === group);
  const [first, last] = [bands[0], bands[bands.length - 1]];
  if (!first || !last || last.to < scale.window.from || first.from > scale.window.to) return;
  const clamp = (cycle: number) => Math.max(GUTTER, Math.min(scale.right, scale.x(cycle)));
  for (let k = 0, begun = 0; k < bands.length; k++) {
    const band = bands[k] as Band;
    if (bands[k + 1]?.tile === band.tile) continue;
    const from = clamp((bands[begun] as Band).from);
    const chosen = focus.group === group && (focus.groupTile < 0 || focus.groupTile === band.tile);
    const gap = clamp(band.to) - from > LEAST_TILE ? 1 : 0;
    p.rect(from, y, Math.max(0.5, clamp(band.to) - from - gap), chosen ? 3 : 2, chosen ? p.theme.accent : p.theme.faint);
    begun = k + 1;
  }
  const [left, right] = [clamp(first.from), clamp(last.to)];
  const inSight = bands.filter(({ from, to }) => to > scale.window.from && from < scale.window.to).length;
  if ((right - left) / Math.max(1, inSight) >= LEAST_MARKED || right - left < LEAST_NAMED) return;
  const size = { size: 11, bold: true };
  const tiles = `${run.groups[group]?.tiles ?? 0} tiles`;
  const text = firstThatFits([`${groupName(run, group)}: ${tiles}`, tiles], right - left - 10, size);
  if (!text) return;
  p.rect(left + 2, y + 4, textWidth(text, size) + 6, BAND_HEIGHT - 7, p.theme.raised);
  p.text(left + 5, y + BAND_HEIGHT / 2 + 1, text, size);
}

/** The band of a cycle. */
export const bandAtCycle = (run: Run, cycle: number): Band | null => run.bands.find((band) => cycle >= band.from && cycle < band.to) ?? null;

export const layerAtCycle = (run: Run, cycle: number): Layer | null => run.layers[bandAtCycle(run, cycle)?.layer ?? -1] ?? null;

/** What a click on a band selects. */
export const selectionOfBand = ({ layer, group, tile }: Band): Selection => (group >= 0 ? { kind: "group", group, tile, layer } : { kind: "layer", layer });

export function bandTip(app: App, band: Band): TipLine[] {
  const { run } = app;
  const layer = run.layers[band.layer] as Layer;
  if (band.group < 0) return layerTip(app, layer);
  const [step] = stepsOf(run, band.group, band.tile, band.layer);
  return [
    [`${layer.name}, tile ${band.tile + 1} of ${run.groups[band.group]?.tiles ?? 0}`, "head"],
    `${step && rowsText(step) ? `${rowsText(step)}; ` : ""}${app.duration(band.to - band.from)} of the layer's ${app.duration(layer.cycles)}`,
    `by turns: ${groupName(run, band.group)}`,
    [layer.split, "faint"],
  ];
}

const layerTip = (app: App, layer: Layer): TipLine[] => [
  [layer.name, "head"],
  `${layer.op}, ${app.duration(layer.cycles)}, ${percent(layer.cycles / app.run.makespan)} of the run`,
  `bound by ${layer.boundBy ?? "nothing"}${layer.efficiency === null ? "" : `, ${percent(layer.efficiency)} of its bound`}`,
  [layer.split, "faint"],
];
