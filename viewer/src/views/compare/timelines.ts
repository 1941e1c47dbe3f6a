// Both runs over one axis of time: how busy each resource is, and the layers of A above those of B, joined where they are the same.
import { firstThatFits } from "../../paint/labels";
import { type Painter, textWidth } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import type { Layer, Run, Stretch } from "../../run/run";
import { percent } from "../../ui/numbers";
import { ticks } from "../../paint/ticks";
import { GUTTER } from "./changes";
import { amountText, boundChanged, type Difference, type LayerChange } from "./difference";
import type { Box, Layout } from "./layout";
import { type Usage, usagesOf } from "./usage";

const RIGHT = 10;
const BAND = 16;
const BUCKET = 2; // pixels that share one value of a line

export interface TimeView {
  /** In the difference's unit. */
  window: Stretch;
  left: number;
  right: number;
  x(amount: number): number;
  amount(x: number): number;
}

/** The page's window, or both runs whole where it is the whole of one. */
export function timeViewOf(difference: Difference, run: Run, window: Stretch, width: number): TimeView {
  // A window that was the whole of the other run stays as it is when the run on show changes.
  const whole = window.from <= 0 && [run, difference.a, difference.b].some(({ makespan }, k) => (k ? window.to === makespan : window.to >= makespan));
  const each = amountPerCycle(difference, run);
  const shown = whole ? { from: 0, to: Math.max(difference.whole.before, difference.whole.after) || 1 } : { from: window.from * each, to: window.to * each };
  const span = shown.to - shown.from || 1;
  const [left, right] = [GUTTER, Math.max(GUTTER + 10, width - RIGHT)];
  return { window: shown, left, right, x: (amount) => left + ((amount - shown.from) / span) * (right - left), amount: (x) => shown.from + ((x - left) / (right - left)) * span };
}

export const amountPerCycle = ({ unit }: Difference, run: Run): number => (unit === "cycles" ? 1 : 1 / run.device.clockHz);

export interface Shown {
  layout: Layout & { time: Box };
  time: TimeView;
  unit: "cycles" | "time";
  chosen: number; // row
}

export function paintTimelines(p: Painter, difference: Difference, shown: Shown): void {
  const { layout, time } = shown;
  paintHead(p, layout.time);
  paintTicks(p, difference, shown);
  paintLanes(p, difference, layout.lanes, time);
  paintStretches(p, difference, shown);
  paintBands(p, difference, layout.bands, shown);
  paintEnds(p, difference, layout, time);
}

function paintHead(p: Painter, box: Box): void {
  const { theme } = p;
  const y = box.y + 10;
  const title = "Both runs over time";
  p.text(8, y, title, { bold: true });
  let x = 8 + textWidth(title, { bold: true }) + 16;
  p.rect(x, y - 5, 16, 10, css([138, 143, 148], 0.55));
  p.text(x + 21, y, "A, filled", { colour: theme.faint });
  x += 37 + textWidth("A, filled");
  p.line([x, y + 4, x + 6, y - 4, x + 16, y], theme.text, 1.5);
  p.text(x + 21, y, "B, line", { colour: theme.faint });
  x += 37 + textWidth("B, line");
  p.text(x, y, firstThatFits(["share of the resource's engines that are busy, 0 to 100 % in each lane", "share of its engines that are busy", "busy engines"], box.width - x - RIGHT), { colour: theme.faint });
}

function paintTicks(p: Painter, difference: Difference, { layout, time, unit }: Shown): void {
  const { theme } = p;
  const y = layout.time.y + 31;
  const inTime = difference.unit === "seconds" || unit === "time";
  const step = difference.unit === "seconds" ? 1e-9 : inTime ? difference.a.device.clockHz * 1e-9 : 1;
  p.text(8, y, inTime ? "time" : "cycles", { colour: theme.faint });
  const end = layout.bands.y + layout.bands.height - 6;
  const ends = endsOf(difference.whole, time);
  for (const tick of ticks(time.window, time.right - time.left, 110, step)) {
    if (tick < 0) continue;
    const x = time.x(tick);
    p.rect(x, y - 7, 1, end - y + 7, theme.line);
    const label = amountText(difference, tick, unit);
    const to = x + 4 + textWidth(label);
    if (to < time.right && !ends.some(([, from, end]) => x < end + 4 && to > from - 4)) p.text(x + 4, y, label, { colour: theme.faint });
  }
}

function paintLanes(p: Painter, difference: Difference, box: Box, time: TimeView): void {
  const [ofA, ofB] = [usagesOf(difference.a), usagesOf(difference.b)];
  const lane = box.height / Math.max(1, ofA.length);
  ofA.forEach((usage, k) => {
    const top = box.y + k * lane;
    const other = ofB.find(({ name }) => name === usage.name);
    paintLane(p, difference, { x: time.left, y: top + 2, width: time.right - time.left, height: lane - 4 }, time, usage, other);
  });
}

/** Through all lanes, when each run is at the selected layer: A filled, B between lines, as the lanes have it. */
function paintStretches(p: Painter, difference: Difference, { layout, time, chosen }: Shown): void {
  const change = difference.changes[chosen];
  if (!change) return;
  const { y, height } = layout.lanes;
  const within = (stretches: readonly Stretch[]): [number, number][] =>
    stretches.flatMap(({ from, to }) => {
      const [left, right] = [Math.max(time.left, time.x(from)), Math.min(time.right, time.x(to))];
      return right >= left ? [[left, Math.max(1, right - left)]] : [];
    });
  for (const [left, width] of within(stretchesOf(difference, difference.a, change.a))) p.rect(left, y, width, height, css([109, 182, 242], 0.35));
  for (const [left, width] of within(stretchesOf(difference, difference.b, change.b))) for (const x of [left, left + width]) p.line([x, y, x, y + height], p.theme.accent, 1.5, [5, 2]);
}

function paintLane(p: Painter, difference: Difference, box: Box, time: TimeView, usage: Usage, other: Usage | undefined): void {
  const { theme } = p;
  const resource = difference.a.instructions.resources.indexOf(usage.name);
  p.rect(box.x, box.y, box.width, box.height, css(theme.laneRgb, 0.6));
  const a = points(difference, difference.a, usage, time, box);
  if (a.length) p.polygon([a[0] as number, box.y + box.height, ...a, a[a.length - 2] as number, box.y + box.height], css(resourceColour(resource), 0.62));
  const b = other ? points(difference, difference.b, other, time, box) : [];
  if (b.length) p.line(b, theme.text, 1.25);
  const middle = box.y + box.height / 2;
  const two = box.height >= 26;
  p.rect(8, middle - (two ? 12 : 5), 9, 9, css(resourceColour(resource)));
  p.text(22, two ? middle - 7 : middle, usage.name, { width: GUTTER - 26 });
  const mean = (run: Run, of: Usage | undefined) => `${Math.round(100 * meanOf(difference, run, of, time))} %`;
  if (two) p.text(22, middle + 7, `A ${mean(difference.a, usage)}, B ${mean(difference.b, other)}`, { size: 10, colour: theme.faint, width: GUTTER - 26 });
}

function meanOf(difference: Difference, run: Run, usage: Usage | undefined, time: TimeView): number {
  const each = amountPerCycle(difference, run);
  return usage?.share(Math.max(0, time.window.from / each), Math.min(run.makespan, time.window.to / each)) ?? 0;
}

/** The line of a resource through the lane, as far as the run goes: x y x y ... */
function points(difference: Difference, run: Run, usage: Usage, time: TimeView, box: Box): number[] {
  const each = amountPerCycle(difference, run);
  const end = Math.min(time.right, time.x(run.makespan * each));
  const out: number[] = [];
  for (let x = Math.max(time.left, time.x(0)); x < end; x += BUCKET) {
    const share = usage.share(time.amount(x) / each, Math.min(run.makespan, time.amount(x + BUCKET) / each));
    const y = box.y + (1 - share) * box.height;
    out.push(x, y, Math.min(end, x + BUCKET), y);
  }
  return out;
}

const bandsOfLayers = new WeakMap<Run, Stretch[][]>();

/** What completes the layer: one stretch, or one for each step where it is computed tile by tile; none of no layer. */
function stretchesOf(difference: Difference, run: Run, layer: Layer | null): Stretch[] {
  let bands = bandsOfLayers.get(run);
  if (!bands) bandsOfLayers.set(run, (bands = run.layers.map(({ index }) => run.bands.filter((band) => band.layer === index))));
  const each = amountPerCycle(difference, run);
  return (bands[layer?.index ?? -1] ?? []).map(({ from, to }) => ({ from: from * each, to: to * each }));
}

/** The stretches of one layer in both runs that belong together: the steps one by one, and what is whole with each step of the other. */
function joinsOf(difference: Difference, { a, b }: LayerChange): [Stretch, Stretch][] {
  const [inA, inB] = [stretchesOf(difference, difference.a, a), stretchesOf(difference, difference.b, b)];
  if (!inA.length || !inB.length) return [];
  const one = (all: readonly Stretch[], k: number) => all[Math.min(k, all.length - 1)] as Stretch;
  return Array.from({ length: Math.max(inA.length, inB.length) }, (_, k) => [one(inA, k), one(inB, k)]);
}

function paintBands(p: Painter, difference: Difference, box: Box, { time, chosen }: Shown): void {
  const [topA, topB] = bandTops(box);
  p.text(8, topA + BAND / 2, "layers of A", { width: GUTTER - 12 });
  p.text(8, topB + BAND / 2, "layers of B", { width: GUTTER - 12 });
  p.text(8, (topA + topB + BAND) / 2, "dark: bound changed", { size: 10, colour: p.theme.faint, width: GUTTER - 12 });
  const joined: number[][] = []; // outlines of what leads from the selected layer of A to that of B
  p.clip(time.left, box.y, time.right - time.left, box.height, () => {
    for (const pair of difference.changes) {
      for (const [a, b] of joinsOf(difference, pair)) {
        const corners = [time.x(a.from), topA + BAND, time.x(a.to), topA + BAND, time.x(b.to), topB, time.x(b.from), topB];
        p.polygon(corners, css([138, 143, 148], boundChanged(pair) ? 0.5 : pair.row % 2 ? 0.12 : 0.2));
        p.line([time.x(a.from), topA + BAND, time.x(b.from), topB], p.theme.line);
        if (pair.row === chosen) joined.push([...corners, time.x(a.from), topA + BAND]);
      }
    }
    // Last, for a slanted strip between two short layers is thin.
    for (const outline of joined) {
      p.polygon(outline, p.theme.accent);
      p.line(outline, p.theme.accent, 2);
    }
    difference.a.layers.forEach((layer) => paintBand(p, difference, 0, layer, time, topA, chosen));
    difference.b.layers.forEach((layer) => paintBand(p, difference, 1, layer, time, topB, chosen));
  });
}

const bandTops = (box: Box): [number, number] => [box.y + 6, box.y + box.height - 8 - BAND];

function paintBand(p: Painter, difference: Difference, side: 0 | 1, layer: Layer, time: TimeView, top: number, chosen: number): void {
  const run = side ? difference.b : difference.a;
  for (const stretch of stretchesOf(difference, run, layer)) paintStretch(p, difference, side, layer, stretch, time, top, chosen);
}

function paintStretch(p: Painter, difference: Difference, side: 0 | 1, layer: Layer, { from, to }: Stretch, time: TimeView, top: number, chosen: number): void {
  const run = side ? difference.b : difference.a;
  const [left, right] = [Math.max(time.left, time.x(from)), Math.min(time.right, time.x(to))];
  if (right < left) return;
  const row = difference.alignment.rowOf[side][layer.index] as number;
  const change = difference.changes[row];
  const width = Math.max(0.5, right - left - (right - left > 3 ? 1 : 0));
  p.rect(left, top, width, BAND, css(resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? ""))));
  if (change && !(change.a && change.b)) p.hatch(left, top, width, BAND, p.theme.ground);
  if (row === chosen) p.frame(left + 1, top + 1, Math.max(1, width - 2), BAND - 2, p.theme.text, 2);
  if (width > Math.min(60, textWidth(layer.name, { size: 10 }) + 8)) p.text(left + 4, top + BAND / 2, layer.name, { size: 10, colour: p.theme.onColour, width: width - 6 });
}

/** Name of what ends in sight, where its label begins, and where it ends: two that have no room beside each other share the later one's. */
export function endsOf({ before, after }: Difference["whole"], time: Pick<TimeView, "left" | "right" | "x">, widthOf = (text: string) => textWidth(text, { bold: true })): [string, number, number][] {
  const names: [string, number][] = before === after ? [["A and B end", before]] : [["A ends", before], ["B ends", after]];
  const ends = names
    .map(([text, at]): [string, number, number] => [text, time.x(at) - 4 - widthOf(text), time.x(at)])
    .filter(([, , x]) => x > time.left && x <= time.right + 1)
    .sort((a, b) => a[2] - b[2]);
  const [first, last] = ends;
  if (!first || !last || last[1] > first[2] + 4) return ends;
  const both = `${first[0]}, then ${last[0].charAt(0)}`;
  return [["", first[2], first[2]], [both, last[2] - 4 - widthOf(both), last[2]]];
}

function paintEnds(p: Painter, difference: Difference, layout: Shown["layout"], time: TimeView): void {
  const y = layout.time.y + 31;
  const ends = endsOf(difference.whole, time);
  for (const [, , x] of ends) p.line([x, y - 7, x, layout.bands.y + layout.bands.height - 6], p.theme.text, 1, [4, 3]);
  for (const [text, from, x] of ends) {
    if (!text) continue;
    p.rect(from - 3, y - 8, x - from + 2, 16, p.theme.ground);
    p.text(x - 4, y, text, { bold: true, align: "right" });
  }
}

/** What lies under the pointer in the timelines. */
export function timeHit(difference: Difference, { layout, time }: Shown, x: number, y: number): { row: number; usage: string; amount: number } | null {
  if (y < layout.lanes.y || y > layout.time.y + layout.time.height || x < time.left || x > time.right) return null;
  const amount = time.amount(x);
  if (y < layout.bands.y) {
    const usages = usagesOf(difference.a);
    return { row: -1, usage: usages[Math.floor((y - layout.lanes.y) / (layout.lanes.height / Math.max(1, usages.length)))]?.name ?? "", amount };
  }
  const [topA, topB] = bandTops(layout.bands);
  const down = Math.max(0, Math.min(1, (y - topA - BAND) / (topB - topA - BAND)));
  const holds = ({ from, to }: Stretch) => amount >= from && amount < to;
  const row = difference.changes.find((change) => {
    if (down === 0) return stretchesOf(difference, difference.a, change.a).some(holds);
    if (down === 1) return stretchesOf(difference, difference.b, change.b).some(holds);
    return joinsOf(difference, change).some(([a, b]) => holds({ from: mixed(a.from, b.from, down), to: mixed(a.to, b.to, down) }));
  });
  return { row: row?.row ?? -1, usage: "", amount };
}

const mixed = (a: number, b: number, share: number) => a + (b - a) * share;

/** Busy shares of both runs around an instant, over as much time as a few pixels show. */
export function sharesAt(difference: Difference, name: string, time: TimeView, x: number): [string, string] {
  const of = (run: Run) => {
    const each = amountPerCycle(difference, run);
    const from = time.amount(x - 1) / each;
    const usage = usagesOf(run).find((u) => u.name === name);
    return !usage ? "not there" : from >= run.makespan ? "has ended" : percent(usage.share(Math.max(0, from), Math.min(run.makespan, time.amount(x + 1) / each)));
  };
  return [of(difference.a), of(difference.b)];
}
