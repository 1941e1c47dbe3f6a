// The axes of the charts: numbers, linear or logarithmic, and places with names.
import { type Painter, textWidth } from "../paint/painter";
import { decadeTicks, ticks } from "../paint/ticks";
import { figure } from "../sweep/figures";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export class Axis {
  /** Values from .. to stand at the pixels start .. end, which may run upwards. */
  constructor(
    readonly from: number,
    readonly to: number,
    readonly start: number,
    readonly end: number,
    readonly log = false,
    /** Names of the places 0, 1, ... instead of numbers. */
    readonly places: readonly string[] | null = null,
  ) {}

  at(value: number): number {
    return this.start + this.share(value) * (this.end - this.start);
  }

  /** The value at a pixel. */
  value(pixel: number): number {
    const share = (pixel - this.start) / (this.end - this.start || 1);
    return this.log ? this.from * (this.to / this.from) ** share : this.from + share * (this.to - this.from);
  }

  private share(value: number): number {
    return this.log ? Math.log(value / this.from) / Math.log(this.to / this.from) : (value - this.from) / (this.to - this.from);
  }

  get marks(): { value: number; text: string }[] {
    const { from, to, places } = this;
    const length = Math.abs(this.end - this.start);
    if (places) return places.map((text, value) => ({ value, text }));
    const decades = this.log ? decadeTicks({ from, to }) : [];
    const values = decades.length >= 3 ? decades.map(({ value }) => value) : ticks({ from, to }, length, 60, tickStep(to - from));
    return values.map((value) => ({ value, text: figure(Number(value.toPrecision(10))) }));
  }
}

/** What `ticks` counts in: small enough for any range. */
const tickStep = (span: number) => 10 ** (Math.floor(Math.log10(span || 1)) - 6);

/** An axis for numbers; from 0 where it is linear and nothing is below. Logarithmic only where all are above 0. */
export function numberAxis(values: Iterable<number>, log: boolean, start: number, end: number, holdsZero = true): Axis {
  let [least, most] = [Infinity, -Infinity];
  let leastAbove = Infinity;
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
    if (value > 0) leastAbove = Math.min(leastAbove, value);
  }
  if (!(most >= least)) return new Axis(0, 1, start, end);
  if (log && leastAbove < Infinity) {
    const room = Math.max(1.12, (most / leastAbove) ** 0.04);
    return new Axis(leastAbove / room, Math.max(most, leastAbove) * room, start, end, true);
  }
  const bottom = holdsZero && least >= 0 ? 0 : least;
  const span = most - bottom || Math.abs(most) || 1;
  return new Axis(bottom === 0 ? 0 : bottom - span * 0.05, most + span * 0.05, start, end);
}

export const placeAxis = (places: readonly string[], start: number, end: number): Axis => new Axis(-0.5, places.length - 0.5, start, end, false, places);

/** The axis below a box, with lines through it. */
export function paintAcross(p: Painter, axis: Axis, box: Box, title: string): void {
  const { theme } = p;
  const bottom = box.y + box.height;
  let free = -Infinity;
  const marks = axis.marks;
  const turned = axis.places !== null && marks.length > 1 && Math.max(...marks.map(({ text }) => textWidth(text))) + 6 > box.width / marks.length;
  for (const { value, text } of marks) {
    const x = axis.at(value);
    if (!axis.places) p.rect(Math.round(x), box.y, 1, box.height, theme.line);
    if (turned) {
      if (x < free) continue;
      p.text(x, bottom + 5, text, { colour: theme.faint, align: "right", turn: -Math.PI / 2, width: 58, size: 10 });
      free = x + 12;
      continue;
    }
    const half = textWidth(text) / 2;
    if (x - half < free) continue;
    p.text(x, bottom + 10, text, { colour: theme.faint, align: "center" });
    free = x + half + 8;
  }
  p.text(box.x + box.width / 2, bottom + (turned ? 70 : 28), title, { align: "center", width: box.width });
}

/** Height that the axis below needs. */
export function acrossHeight(places: readonly string[] | null, width: number): number {
  const longest = Math.max(0, ...(places ?? []).map((text) => textWidth(text)));
  return places && places.length > 1 && longest + 6 > width / places.length ? 82 : 40;
}

/** The axis left of a box, with lines through it. */
export function paintUp(p: Painter, axis: Axis, box: Box, title: string): void {
  const { theme } = p;
  let free = Infinity;
  for (const { value, text } of axis.marks) {
    const y = axis.at(value);
    p.rect(box.x, Math.round(y), box.width, 1, theme.line);
    if (y + 8 > free) continue;
    p.text(box.x - 6, y, text, { colour: theme.faint, align: "right" });
    free = y - 8;
  }
  p.text(12, box.y + box.height / 2, title, { align: "center", turn: -Math.PI / 2 });
}
