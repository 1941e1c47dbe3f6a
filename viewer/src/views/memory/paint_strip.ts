// One memory: its boxes over address and time, and under them how full it is.
import { firstThatFits, fitName } from "../../paint/labels";
import { type Painter, type TextStyle, textWidth } from "../../paint/painter";
import { css, mix, type Rgb, resourceColour, type Theme } from "../../paint/theme";
import { layerName } from "../../run/names";
import type { Run } from "../../run/run";
import { kibibytes, percent } from "../../ui/numbers";
import { GUTTER, type TimeScale } from "../../ui/time_axis";
import { type Box, boxName, placeName } from "../../run/memory_map";
import { stepAt } from "../../run/occupancy";
import { drawingOrder, type Rectangle, rectangleOf, type Strip } from "./strips";

/** Neighbours among the tensors differ in hue and in lightness. */
export const TENSOR_COLOURS: readonly Rgb[] = [[104, 184, 232], [70, 170, 130], [214, 140, 182], [160, 165, 225], [165, 205, 110], [222, 150, 110], [110, 205, 200], [190, 170, 120]];
const WEIGHTS = resourceColour(1);
const GREY: Rgb = [150, 155, 160];

export interface Lit {
  block: number;
  tensor: number;
  /** Layer that is selected itself, or -1. */
  layer: number;
  writes: ReadonlySet<number>; // blocks that this layer writes
  reads: ReadonlySet<number>;
}

const [DIMMED, DIMMED_IN_THE_DARK] = [0.22, 0.15]; // of a colour, so that faint words on it can be read
const BRIGHT = 0.82; // of a box's own colour; the rest is the ground's
const LEAST_LABEL = 20; // pixels
const LINE = 13; // pixels from one line of words to the next
const LEAST_DOES = 130; // pixels of width, for words beside a frame
const LEAST_ABOVE = 30; // pixels over the box that lies on another

/** The name bold, or small or `brief` where there is less room, or nothing where hardly any of it would be seen. */
function labelFor(name: string, brief: string, room: number): { text: string; style: TextStyle } {
  const bold: TextStyle = { bold: true };
  const small: TextStyle = { size: 9 };
  return textWidth(name, bold) <= room ? { text: name, style: bold } : { text: firstThatFits([name, brief], room, small) || fitName(name, room, small), style: small };
}

export const isLit = (lit: Lit, box: Box): boolean =>
  box.block === lit.block || (lit.tensor >= 0 && box.tensor === lit.tensor) || lit.writes.has(box.block) || lit.reads.has(box.block);

export const lightsAny = (lit: Lit): boolean => lit.block >= 0 || lit.tensor >= 0 || lit.layer >= 0;

export function colourOf(box: Box): Rgb {
  if (box.role === "weights") return WEIGHTS;
  return box.tensor >= 0 ? (TENSOR_COLOURS[box.tensor % TENSOR_COLOURS.length] as Rgb) : GREY;
}

interface Place {
  left: number;
  right: number;
  y: number;
}

export class StripPainter {
  private words: Place[] = []; // of the strip

  constructor(
    private readonly p: Painter,
    private readonly run: Run,
    private readonly time: TimeScale,
    private readonly offset: number,
    private readonly lit: Lit,
    private readonly bottom: number, // of the picture
  ) {}

  paint(strip: Strip): void {
    const { p, offset, time } = this;
    const top = strip.top + offset;
    if (top > this.bottom || top + strip.height < 0) return;
    this.paintGround(strip);
    p.clip(GUTTER, top, time.right - GUTTER, strip.height, () => {
      const boxes = drawingOrder(strip.memory.boxes).filter((box) => box.to >= time.window.from && box.from <= time.window.to);
      for (const box of boxes) this.paintBox(strip, box);
      this.paintOverlaps(strip);
      const covers = firstCovers(strip);
      this.words = [];
      // Where names would lie on each other, that of what is selected is read.
      for (const box of boxes) if (isLit(this.lit, box)) this.paintLabel(strip, box, covers.get(box));
      for (const box of boxes) if (!isLit(this.lit, box)) this.paintLabel(strip, box, covers.get(box));
      for (const box of boxes) if (isLit(this.lit, box)) this.paintFrame(strip, box);
    });
    this.paintGutter(strip);
    this.paintCurve(strip);
  }

  private paintGround(strip: Strip): void {
    const { p, offset, time } = this;
    const { theme } = p;
    for (const piece of strip.scale.pieces) {
      const [y, height] = [piece.top + offset, piece.bottom - piece.top];
      if (!piece.isGap) p.rect(GUTTER, y, time.right - GUTTER, height, theme.sunken);
      else p.hatch(GUTTER, y, time.right - GUTTER, height, theme.line);
    }
  }

  private paintBox(strip: Strip, box: Box): void {
    const { p } = this;
    const { theme } = p;
    const r = rectangleOf(box, strip, this.time, this.offset);
    const share = !lightsAny(this.lit) || isLit(this.lit, box) ? BRIGHT : theme.dark ? DIMMED_IN_THE_DARK : DIMMED;
    const fill = (s: number) => css(mix(theme.laneRgb, colourOf(box), s));
    p.rect(r.x, r.y, r.width, r.height, fill(share));
    // Ping and pong, or the rows of a ring: every second place is a shade paler.
    const part = r.height / box.parts;
    if (box.parts > 1 && part >= 2) for (let k = 1; k < box.parts; k += 2) p.rect(r.x, r.y + r.height - (k + 1) * part, r.width, part, fill(share * 0.62));
    const inSight = within(r, this.time);
    if (box.role === "weights" && inSight.width > 3 && r.height > 3) p.hatch(inSight.x, r.y, inSight.width, r.height, fill(share * 0.68));
    if (box.role === "stream" && inSight.width > 3) for (const y of [r.y, r.y + r.height]) p.line([inSight.x, y, inSight.x + inSight.width, y], theme.text, 1, [4, 3]);
    if (r.width > 3 && r.height > 3) p.frame(r.x + 0.5, r.y + 0.5, r.width - 1, r.height - 1, edgeOf(theme, colourOf(box), share), 1);
    if (box.depth > 0 && r.width > 6) p.rect(r.x, r.y, 2, r.height, theme.text);
  }

  // The same bytes for two blocks at once: crossed lines.
  private paintOverlaps(strip: Strip): void {
    const { p, time } = this;
    for (const overlap of strip.memory.overlaps) {
      if (overlap.to < time.window.from || overlap.from > time.window.to) continue;
      const x = Math.max(time.left, time.x(overlap.from));
      const width = Math.min(time.right, time.x(overlap.to)) - x;
      const [low, high] = [strip.scale.y(overlap.address) + this.offset, strip.scale.y(overlap.address + overlap.size) + this.offset];
      if (width < 3 || low - high < 3 || width * (low - high) > 4e5) continue;
      p.hatch(x, high, width, low - high, p.theme.dark ? "rgba(16,18,20,0.75)" : "rgba(29,31,33,0.55)");
      for (const edge of [x, x + width]) p.line([edge, high, edge, low], p.theme.text, 1, [2, 2]);
    }
  }

  // `cover` is the first box that lies on this one: the name stands before it, or above it, or not at all.
  private paintLabel(strip: Strip, box: Box, cover: Box | undefined): void {
    const { p, run } = this;
    const r = within(rectangleOf(box, strip, this.time, this.offset), this.time);
    const free = cover ? Math.min(r.width, this.time.x(cover.from) - r.x) : r.width;
    const isAbove = cover !== undefined && strip.scale.y(cover.address + cover.size) + this.offset - r.y >= LEAST_ABOVE;
    const room = (isAbove ? r.width : free) - 8 - (box.depth > 0 ? 2 : 0);
    if (r.height < 11 || room < LEAST_LABEL) return;
    const dimmed = lightsAny(this.lit) && !isLit(this.lit, box);
    const colour = dimmed ? p.theme.faint : p.theme.onColour;
    const name = labelFor(`${box.spilled ? "⇅ " : ""}${boxName(run, box)}`, box.role === "weights" ? layerName(run, box.layer) : "", room);
    const size = `${kibibytes(box.size)}${box.parts > 1 ? ` in ${box.parts}` : ""}`;
    const two = r.height >= 27 && textWidth(size, { size: 10 }) <= room;
    const middle = isAbove ? r.y + 9 : r.y + r.height / 2 - (two ? 6 : 0);
    const x = r.x + 4 + (box.depth > 0 ? 2 : 0);
    // Hatches and the paler places of a ring would run through the words.
    const isPlain = dimmed || (box.parts === 1 && box.role !== "weights" && !strip.memory.overlaps.some(({ boxes }) => boxes.includes(box)));
    const write = (y: number, text: string, style: TextStyle) => {
      if (!isPlain) p.rect(x - 2, y - 6.5, textWidth(text, style) + 4, 13, css(mix(p.theme.laneRgb, colourOf(box), BRIGHT)));
      p.text(x, y, text, { colour, ...style });
    };
    if (!name.text || !this.takes(x, middle, name.text, name.style)) return; // a size alone says nothing
    write(middle, name.text, name.style);
    if (two && this.takes(x, middle + 13, size, { size: 10 })) write(middle + 13, size, { size: 10 });
  }

  /** Whether no other words stand there; these then do. */
  private takes(left: number, y: number, text: string, style: TextStyle): boolean {
    const right = left + textWidth(text, style);
    const isFree = this.words.every((other) => right + 2 < other.left || left - 2 > other.right || Math.abs(y - other.y) >= LINE);
    if (isFree) this.words.push({ left, right, y });
    return isFree;
  }

  private paintFrame(strip: Strip, box: Box): void {
    const { p, lit } = this;
    const r = rectangleOf(box, strip, this.time, this.offset);
    const chosen = box.block === lit.block;
    const room = r.height < 6 ? 2 : 0; // a thin box keeps its colour within the frame
    p.frame(r.x, r.y - room, r.width, r.height + 2 * room, p.theme.text, chosen ? 3 : 1.5);
    if (chosen) p.frame(r.x - 2, r.y - room - 2, r.width + 4, r.height + 2 * room + 4, p.theme.accent, 2);
    if (lit.layer < 0 || r.height < 24 || r.width < 60) return;
    const does = lit.writes.has(box.block) ? (lit.reads.has(box.block) ? "written, read" : "written") : lit.reads.has(box.block) ? "read" : "";
    const inSight = within(r, this.time);
    const right = inSight.x + inSight.width - 5;
    const style: TextStyle = { size: 10 };
    if (does && inSight.width > LEAST_DOES && this.takes(right - textWidth(does, style), r.y + 9, does, style)) p.text(right, r.y + 9, does, { align: "right", ...style, colour: p.theme.onColour });
  }

  private paintGutter(strip: Strip): void {
    const { p, offset } = this;
    const { theme } = p;
    const { memory } = strip;
    const top = strip.top + offset;
    p.rect(0, top, GUTTER, strip.height, theme.ground);
    for (const tick of strip.scale.ticks(22)) {
      const y = strip.scale.y(tick) + offset;
      p.rect(GUTTER - 4, y, 4, 1, theme.faint);
      p.text(GUTTER - 7, Math.max(top + 6, Math.min(y, strip.curveTop + offset - 10)), `0x${tick.toString(16)}`, { align: "right", size: 10, mono: true, colour: theme.faint });
    }
    const { peak } = memory.occupancy;
    const lines = [`peak ${kibibytes(peak.bytes)}`, `of ${kibibytes(memory.capacity)}`, memory.place.kind === "ddr" ? "" : percent(peak.bytes / memory.capacity)];
    p.text(8, top + 12, placeName(memory.place), { bold: true, size: 12 });
    lines.forEach((line, k) => p.text(8, top + 28 + 14 * k, line, { colour: theme.faint }));
    p.text(GUTTER - 7, (strip.curveTop + strip.curveBottom) / 2 + offset, "bytes taken", { align: "right", size: 10, colour: theme.faint });
    p.rect(0, top + strip.height - 3, this.time.right, 1, theme.line);
  }

  private paintCurve(strip: Strip): void {
    const { p, time, offset } = this;
    const { theme } = p;
    const { occupancy, capacity } = strip.memory;
    const [top, bottom] = [strip.curveTop + offset, strip.curveBottom + offset];
    const y = (bytes: number) => bottom - (bytes / Math.max(1, capacity)) * (bottom - top);
    p.clip(GUTTER, top - 6, time.right - GUTTER, bottom - top + 8, () => {
      p.rect(GUTTER, top, time.right - GUTTER, bottom - top, theme.sunken);
      const points: number[] = [];
      for (let i = Math.max(0, stepAt(occupancy, time.window.from)); i < occupancy.at.length; i++) {
        const cycle = occupancy.at[i] as number;
        if (cycle > time.window.to) break;
        const from = time.x(Math.max(cycle, time.window.from));
        const to = time.x(Math.min(occupancy.at[i + 1] ?? cycle, time.window.to));
        points.push(from, y(occupancy.bytes[i] as number), to, y(occupancy.bytes[i] as number));
      }
      if (points.length) {
        p.polygon([points[0] as number, bottom, ...points, points.at(-2) as number, bottom], theme.dark ? "rgba(109,182,242,0.35)" : "rgba(11,97,164,0.25)");
        p.line(points, theme.accent, 1.3);
      }
      p.line([GUTTER, top, time.right, top], theme.text, 1, [5, 3]);
    });
    this.paintPeak(strip, y);
  }

  private paintPeak(strip: Strip, y: (bytes: number) => number): void {
    const { p, time } = this;
    const { peak } = strip.memory.occupancy;
    const x = time.x((peak.from + peak.to) / 2);
    if (peak.bytes === 0 || x < GUTTER || x > time.right) return;
    const at = y(peak.bytes);
    p.polygon([x - 5, at - 8, x + 5, at - 8, x, at - 1], p.theme.text);
    const text = `peak ${kibibytes(peak.bytes)}`;
    const style: TextStyle = { bold: true, size: 10 };
    const width = textWidth(text, style) + 6;
    const left = x + width + 8 < time.right ? x + 7 : x - width - 7;
    const middle = Math.max(at, strip.curveTop + this.offset + 9);
    p.rect(left, middle - 7, width, 14, p.theme.sunken);
    p.text(left + 3, middle, text, style);
  }
}

/** For each box that others share bytes with: the first of those. */
function firstCovers(strip: Strip): Map<Box, Box> {
  const covers = new Map<Box, Box>();
  for (const { boxes: [under, over] } of strip.memory.overlaps) if (over.from < (covers.get(under)?.from ?? Infinity)) covers.set(under, over);
  return covers;
}

const edgeOf = (theme: Theme, colour: Rgb, share: number): string => css(mix(mix(theme.laneRgb, colour, share), theme.dark ? [0, 0, 0] : [40, 40, 40], 0.45));

function within(r: Rectangle, time: TimeScale): Rectangle {
  const x = Math.max(time.left, r.x);
  return { ...r, x, width: Math.min(time.right, r.x + r.width) - x };
}
