// What each layer gains or loses, and how that adds up from the time of A to that of B; both over the same layers.
//
//        __    _        change of each layer: from 0, up is time that B loses, down is time that it saves
//   __ _|  |__|_|_ __
//     |_|         |_|
//   A ------.__         the run so far: a line that leads from the time of A to that of B
//              '----- B
import { firstThatFits } from "../../paint/labels";
import { type Painter, textWidth } from "../../paint/painter";
import { css, type Rgb } from "../../paint/theme";
import { ticks } from "../../paint/ticks";
import { amountText, deltaText, type Difference, isAlone, type Order, type Step, stepsOf } from "./difference";
import type { Box } from "./layout";

const FASTER: Rgb = [74, 168, 224];
const SLOWER: Rgb = [213, 94, 0];
const TITLE = 20;
export const GUTTER = 124; // for what the rows are called, as in the timelines below
const RIGHT = 10;
const LEFT = 8;
const NAME_PITCH = 11;
const MOST_NAME = 96; // pixels of a name that stands upright
const LEAST_NAME = 54;
const ROOM_FOR_SUM = 230; // height below which only the changes show
const LABEL = 13; // height of a figure at the end of a bar

/** A scale of amounts, upwards. */
interface Scale {
  least: number;
  most: number;
  top: number;
  bottom: number;
}

const yOf = ({ least, most, top, bottom }: Scale, amount: number) => bottom - ((amount - least) / (most - least || 1)) * (bottom - top);

export interface Changes {
  box: Box;
  steps: Step[];
  left: number;
  right: number;
  pitch: number;
  each: Scale;
  /** Of the times of the run as the changes add up; null where there is no room. */
  sum: Scale | null;
  names: number; // pixels below for names
}

const ORDER_WORDS: Partial<Record<Order, string>> = { network: "in network order", size: "largest change first" };

const deltaOf = ({ from, to }: Step) => to - from;

export function changesOf(difference: Difference, order: Order, box: Box): Changes {
  const steps = stepsOf(difference, order);
  const [left, right] = [box.x + GUTTER, box.x + Math.max(GUTTER + 20, box.width - RIGHT)];
  const longest = steps.reduce((most, step) => Math.max(most, textWidth(nameOf(step), { size: 10 })), 0);
  const names = Math.min(MOST_NAME, longest + 10, Math.max(LEAST_NAME, box.height * 0.3));
  const top = box.y + TITLE;
  const bottom = box.y + box.height - names;
  const hasSum = box.height >= ROOM_FOR_SUM;
  const middle = hasSum ? top + (bottom - top) * 0.58 : bottom;
  const deltas = steps.map(deltaOf);
  const [least, most] = [deltas.reduce((a, b) => Math.min(a, b), 0), deltas.reduce((a, b) => Math.max(a, b), 0)];
  const each = { least, most, top: top + (most > 0 ? LABEL + 2 : 4), bottom: middle - (least < 0 ? LABEL + 4 : 4) };
  const totals = [difference.before, difference.after, ...steps.map(({ to }) => to)];
  const sum = hasSum ? { least: totals.reduce((a, b) => Math.min(a, b), Infinity), most: totals.reduce((a, b) => Math.max(a, b), 0), top: middle + 14, bottom: bottom - 12 } : null;
  return { box, steps, left, right, pitch: (right - left) / Math.max(1, steps.length), each, sum, names };
}

/** Step under the pointer, or null. */
export function stepAt({ box, left, right, pitch, steps }: Changes, x: number, y: number): Step | null {
  if (y < box.y + TITLE || y > box.y + box.height || x < left || x >= right) return null;
  return steps[Math.floor((x - left) / pitch)] ?? null;
}

export interface Look {
  order: Order;
  unit: "cycles" | "time";
  chosen: number; // row
}

export function paintChanges(p: Painter, changes: Changes, difference: Difference, how: Look): void {
  const { theme } = p;
  const { box, steps, left, right, pitch, each, sum } = changes;
  paintTitle(p, changes, difference, how);
  if (steps.every((step) => deltaOf(step) === 0)) {
    p.text(box.x + box.width / 2, box.y + TITLE + (box.height - TITLE) / 2, "Every layer takes as long in B as in A: nothing to draw.", { align: "center", colour: theme.faint, width: box.width - 16 });
    return;
  }
  steps.forEach(({ change }, k) => {
    if (change && change.row === how.chosen) p.rect(left + k * pitch, box.y + TITLE, Math.max(2, pitch), box.height - TITLE, css([109, 182, 242], 0.28));
  });
  paintScale(p, changes, each, "each layer", (amount) => deltaText(difference, amount, how.unit), stepOfUnit(difference, how.unit));
  steps.forEach((step, k) => paintBar(p, changes, step, left + k * pitch));
  p.rect(left, yOf(each, 0), right - left, 1, theme.faint);
  paintFigures(p, changes, difference, how);
  if (sum) paintSum(p, changes, sum, difference, how);
  paintNames(p, changes, how.chosen);
}

const sizeOf = (step: Step | undefined) => (step ? Math.abs(deltaOf(step)) : 0);
const bySize = ({ steps }: Changes) => steps.map((_, k) => k).sort((j, k) => sizeOf(steps[k]) - sizeOf(steps[j]));
const nameOf = ({ change }: Step) => change?.name ?? "no layer";
/** Ticks are whole cycles, or whole nanoseconds. */
const stepOfUnit = (difference: Difference, unit: "cycles" | "time") => (difference.unit === "seconds" ? 1e-9 : unit === "time" ? difference.a.device.clockHz * 1e-9 : 1);

function paintTitle(p: Painter, { box, steps }: Changes, difference: Difference, how: Look): void {
  const unit = difference.unit === "seconds" || how.unit === "time" ? "time" : "cycles";
  const y = box.y + TITLE / 2;
  const kinds: [Rgb | null, string, boolean][] = [[FASTER, "▼ less in B", false], [SLOWER, "▲ more in B", true]];
  if (steps.some(isAlone)) kinds.push([null, "in one run only", false]);
  const room = box.width - 2 * LEFT - 16 - kinds.reduce((sum, [, text]) => sum + 28 + textWidth(text), -14);
  const title = firstThatFits([`What B changes, in ${unit}`, "What B changes"], room, { bold: true }) || "Changes";
  p.text(box.x + LEFT, y, title, { bold: true });
  let x = box.x + LEFT + textWidth(title, { bold: true }) + 16;
  for (const [colour, text, slower] of kinds) {
    if (colour) p.rect(x, y - 5, 10, 10, css(colour));
    else p.frame(x + 0.5, y - 4.5, 9, 9, p.theme.text);
    if (slower) p.hatch(x, y - 5, 10, 10, p.theme.ground);
    p.text(x + 14, y, text, { colour: p.theme.faint });
    x += 28 + textWidth(text);
  }
  const order = ORDER_WORDS[how.order] ?? "as the table";
  if (x + textWidth(order) <= box.x + box.width - LEFT) p.text(x, y, order, { colour: p.theme.faint });
}

function paintScale(p: Painter, { left, right, box }: Changes, scale: Scale, name: string, text: (amount: number) => string, unit: number): void {
  const { theme } = p;
  p.rect(left, scale.top - 2, right - left, scale.bottom - scale.top + 4, css(theme.laneRgb, 0.6));
  p.text(box.x + LEFT, scale.top + 3, name, { width: left - box.x - LEFT - 4 });
  for (const at of ticks({ from: scale.least, to: scale.most }, scale.bottom - scale.top, 30, unit)) {
    const y = yOf(scale, at);
    p.rect(left, y, right - left, 1, theme.line);
    if (y > scale.top + 12) p.text(left - 6, y, text(at), { align: "right", colour: theme.faint, size: 10 });
  }
}

function paintBar(p: Painter, { each, pitch }: Changes, step: Step, x: number): void {
  const delta = deltaOf(step);
  const [zero, end] = [yOf(each, 0), yOf(each, delta)];
  const width = Math.max(1, pitch - (pitch > 5 ? 1.5 : 0));
  const [top, height] = [Math.min(zero, end), Math.abs(end - zero)];
  if (delta === 0) return;
  p.rect(x, top, width, Math.max(1, height), css(delta > 0 ? SLOWER : FASTER));
  if (delta > 0 && height > 2) p.hatch(x, top, width, height, p.theme.ground);
  if (isAlone(step) && height > 3) p.frame(x + 0.5, top + 0.5, width - 1, height - 1, p.theme.text);
}

// As many figures as have room at the ends of their bars, those of the largest changes and of the selected layer first.
function paintFigures(p: Painter, changes: Changes, difference: Difference, how: Look): void {
  const { steps, left, right, pitch, each } = changes;
  const size = { size: 10 };
  const taken: Box[] = [];
  const chosen = steps.findIndex(({ change }) => change !== null && change.row === how.chosen);
  for (const k of [...(chosen >= 0 ? [chosen] : []), ...bySize(changes).slice(0, 40)]) {
    const step = steps[k] as Step;
    const delta = deltaOf(step);
    if (delta === 0) continue;
    const text = deltaText(difference, delta, how.unit);
    const width = textWidth(text, size) + 6;
    const x = Math.max(left, Math.min(right - width, left + (k + 0.5) * pitch - width / 2));
    const under = steps.slice(Math.max(0, Math.floor((x - left) / pitch)), Math.ceil((x + width - left) / pitch)).map(deltaOf);
    // Beyond every bar that it would lie over, but not so far from its own that it seems to be another's.
    const end = yOf(each, delta > 0 ? Math.max(0, ...under) : Math.min(0, ...under));
    if (Math.abs(end - yOf(each, delta)) > LABEL && k !== chosen) continue;
    const y = delta > 0 ? end - LABEL : end + 1;
    const place = { x, y, width, height: LABEL };
    if (taken.some((other) => x < other.x + other.width && other.x < x + width && y < other.y + LABEL && other.y < y + LABEL)) continue;
    taken.push(place);
    p.text(x + width / 2, y + LABEL / 2, text, { ...size, align: "center", bold: k === chosen });
  }
}

// No bars, so the scale need not begin at 0: it leads from the least to the most that the run takes on the way.
function paintSum(p: Painter, changes: Changes, sum: Scale, difference: Difference, how: Look): void {
  const { theme } = p;
  const { steps, left, right, pitch, box } = changes;
  p.rect(left, sum.top - 2, right - left, sum.bottom - sum.top + 4, css(theme.laneRgb, 0.6));
  const [start, end] = [yOf(sum, difference.before), yOf(sum, difference.after)];
  const line = steps.flatMap(({ to }, k) => [left + k * pitch, yOf(sum, to), left + (k + 1) * pitch, yOf(sum, to)]);
  p.polygon([left, start, ...line, right, start], css(difference.after > difference.before ? SLOWER : FASTER, 0.28));
  p.line([left, start, right, start], theme.faint, 1, [4, 3]);
  p.line([left, start, ...line], theme.text, 1.5);
  for (const [x, y] of [[left, start], [right, end]] as const) p.circle(x, y, 3, theme.text);
  const text = (amount: number) => amountText(difference, amount, how.unit);
  p.text(left - 6, start, `A ${text(difference.before)}`, { align: "right", bold: true, size: 10 });
  // Beside its end, but clear of A's figure.
  const apart = Math.sign(end - start || 1) * Math.max(LABEL, Math.abs(end - start));
  p.line([left, end, right, end], theme.faint, 1, [1, 3]);
  p.text(left - 6, start + apart, `B ${text(difference.after)}`, { align: "right", bold: true, size: 10 });
  if (Math.abs(apart) > 3 * LABEL) p.text(box.x + LEFT, start + apart / 2, "added up", { width: left - box.x - LEFT - 6 });
}

// As many names as have room, those of the largest differences first.
function paintNames(p: Painter, changes: Changes, chosen: number): void {
  const { steps, left, pitch, box, names } = changes;
  const top = box.y + box.height - names + 4;
  const taken: number[] = [];
  const put = (k: number, bold: boolean) => {
    const x = left + (k + 0.5) * pitch;
    if (taken.some((other) => Math.abs(other - x) < NAME_PITCH)) return;
    taken.push(x);
    p.text(x, top, nameOf(steps[k] as Step), { size: 10, bold, align: "right", turn: -Math.PI / 2, width: names - 8, colour: bold ? p.theme.text : p.theme.faint });
  };
  steps.forEach(({ change }, k) => {
    if (change && change.row === chosen) put(k, true);
  });
  for (const k of bySize(changes)) put(k, false);
}
