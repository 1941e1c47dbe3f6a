// The waterfall: from the time of A, layer by layer, to the time of B.
//
//   |A |__                      each bar hangs where the one before it ended;
//   |  |  |__      __|B |       down is time that B saves, up is time that it loses
//   |  |     |____|  |  |
import { type Painter, textWidth } from "../../paint/painter";
import { css, type Rgb } from "../../paint/theme";
import { amountText, deltaText, type Difference, type Order, type Step, stepsOf } from "./difference";
import type { Box } from "./layout";

const FASTER: Rgb = [74, 168, 224];
const SLOWER: Rgb = [213, 94, 0];
const TITLE = 20;
const NAMES = 66; // below the bars, for names that stand upright
const ENDS = 64; // width of the bars of A and B with their room
const NAME_PITCH = 11;
const LEFT = 8;

export interface Waterfall {
  box: Box;
  steps: Step[];
  left: number;
  pitch: number;
  /** Where the scale begins: not at 0 where the runs differ little. */
  base: number;
  y(amount: number): number;
}

export function waterfallOf(difference: Difference, order: Order, box: Box): Waterfall {
  const steps = stepsOf(difference, order);
  const amounts = [difference.before, difference.after, ...steps.map(({ to }) => to)];
  const most = Math.max(...amounts);
  const least = Math.min(...amounts);
  const base = most > least && least > 0.6 * most ? least - 0.3 * (most - least) : Math.min(0, least);
  const top = box.y + TITLE + 16;
  const bottom = box.y + box.height - NAMES;
  const y = (amount: number) => bottom - ((amount - base) / (most - base || 1)) * (bottom - top);
  return { box, steps, left: box.x + LEFT + ENDS, pitch: (box.width - 2 * (LEFT + ENDS)) / Math.max(1, steps.length), base, y };
}

/** Step under the pointer, or null. */
export function stepAt(fall: Waterfall, x: number, y: number): Step | null {
  const { box } = fall;
  if (y < box.y + TITLE || y > box.y + box.height || x < fall.left) return null;
  return fall.steps[Math.floor((x - fall.left) / fall.pitch)] ?? null;
}

export function paintWaterfall(p: Painter, fall: Waterfall, difference: Difference, how: { order: Order; unit: "cycles" | "time"; chosen: number }): void {
  const { theme } = p;
  const { box, pitch } = fall;
  paintTitle(p, fall, difference, how);
  const bottom = fall.y(fall.base);
  p.rect(box.x + LEFT, bottom, box.width - 2 * LEFT, 1, theme.line);
  const free = new Labels();
  paintEnd(p, fall, difference.before, "A", box.x + LEFT, amountText(difference, difference.before, how.unit), free);
  paintEnd(p, fall, difference.after, "B", box.x + box.width - LEFT - ENDS + 14, amountText(difference, difference.after, how.unit), free);
  fall.steps.forEach((step, k) => {
    const x = fall.left + k * pitch;
    if (step.change && step.change.row === how.chosen) p.rect(x, box.y + TITLE, pitch, box.height - TITLE, css([109, 182, 242], 0.25));
    paintStep(p, fall, step, x);
  });
  if (fall.steps.every((step) => sizeOf(step) === 0)) p.text(box.x + box.width / 2, (fall.y(difference.before) + bottom) / 2, "Every layer takes as long in B as in A.", { align: "center", colour: theme.faint });
  const bySize = fall.steps.map((_, k) => k).sort((j, k) => sizeOf(fall.steps[k]) - sizeOf(fall.steps[j]));
  paintNames(p, fall, bySize, how.chosen, bottom + 5);
  for (const k of bySize.slice(0, 24)) {
    const step = fall.steps[k] as Step;
    if (sizeOf(step) > 0) paintDelta(p, fall, step, fall.left + (k + 0.5) * pitch, deltaText(difference, step.to - step.from, how.unit), free);
  }
}

const sizeOf = (step: Step | undefined) => (step ? Math.abs(step.to - step.from) : 0);

function paintTitle(p: Painter, fall: Waterfall, difference: Difference, how: { order: Order; unit: "cycles" | "time" }): void {
  const { box } = fall;
  const unit = difference.unit === "seconds" || how.unit === "time" ? "time" : "cycles";
  const cut = fall.base > 0 ? `; the scale begins at ${amountText(difference, fall.base, how.unit)}` : "";
  const title = `Where the ${unit} of A ${unit === "time" ? "goes" : "go"} in B`;
  const y = box.y + TITLE / 2;
  p.text(box.x + LEFT, y, title, { bold: true });
  let x = box.x + LEFT + textWidth(title, { bold: true }) + 16;
  for (const [colour, text, slower] of [[FASTER, "▼ less in B", false], [SLOWER, "▲ more in B", true]] as const) {
    p.rect(x, y - 5, 10, 10, css(colour));
    if (slower) p.hatch(x, y - 5, 10, 10, p.theme.ground);
    p.text(x + 14, y, text, { colour: p.theme.faint });
    x += 28 + textWidth(text);
  }
  const order = `layers ${how.order === "size" ? "by size of the difference" : "in network order"}${cut}`;
  p.text(x, y, order, { colour: p.theme.faint, width: box.x + box.width - LEFT - x });
}

function paintEnd(p: Painter, fall: Waterfall, amount: number, name: string, x: number, text: string, free: Labels): void {
  const y = fall.y(amount);
  const width = ENDS - 14;
  const bottom = fall.y(fall.base);
  p.rect(x, y, width, Math.max(1, bottom - y), css([138, 143, 148], 0.55));
  if (fall.base > 0) p.line([x, bottom - 9, x + width / 3, bottom - 5, x + (2 * width) / 3, bottom - 11, x + width, bottom - 7], p.theme.ground, 2);
  p.text(x + width / 2, bottom + 10, name, { bold: true, align: "center" });
  const wide = textWidth(text, { bold: true });
  const middle = Math.max(fall.box.x + 4 + wide / 2, Math.min(fall.box.x + fall.box.width - 4 - wide / 2, x + width / 2));
  p.text(middle, y - 8, text, { bold: true, align: "center" });
  free.take(middle - wide / 2, y - 15, middle + wide / 2, y);
}

function paintStep(p: Painter, fall: Waterfall, step: Step, x: number): void {
  const [from, to] = [fall.y(step.from), fall.y(step.to)];
  const width = Math.max(1, fall.pitch - (fall.pitch > 5 ? 1.5 : 0));
  const top = Math.min(from, to);
  const height = Math.max(1, Math.abs(to - from));
  const more = step.to > step.from;
  const same = step.to === step.from;
  p.rect(x, top, width, height, same ? p.theme.faint : css(more ? SLOWER : FASTER));
  if (more && height > 2) p.hatch(x, top, width, height, p.theme.ground);
  const alone = step.change && (!step.change.a || !step.change.b);
  if (alone && height > 3) p.frame(x + 0.5, top + 0.5, width - 1, height - 1, p.theme.text);
  p.rect(x + width, to, Math.max(0, fall.pitch - width), 1, p.theme.faint);
}

// As many names as have room, those of the largest differences first.
function paintNames(p: Painter, fall: Waterfall, bySize: readonly number[], chosen: number, top: number): void {
  const taken: number[] = [];
  const put = (k: number, bold: boolean) => {
    const x = fall.left + (k + 0.5) * fall.pitch;
    if (taken.some((other) => Math.abs(other - x) < NAME_PITCH)) return;
    taken.push(x);
    const change = fall.steps[k]?.change ?? null;
    const name = change ? change.name : "no layer";
    p.text(x, top, name, { size: 10, bold, align: "right", turn: -Math.PI / 2, width: NAMES - 8, colour: bold ? p.theme.text : p.theme.faint });
  };
  fall.steps.forEach((step, k) => {
    if (step.change && step.change.row === chosen) put(k, true);
  });
  for (const k of bySize) put(k, false);
}

function paintDelta(p: Painter, fall: Waterfall, step: Step, middle: number, text: string, free: Labels): void {
  const width = textWidth(text, { size: 10 }) + 6;
  const { box, left, pitch, steps } = fall;
  const centre = Math.max(left - 10 + width / 2, Math.min(left + steps.length * pitch + 10 - width / 2, middle));
  // Above or below all bars that it would lie over.
  const over = steps.slice(Math.max(0, Math.floor((centre - width / 2 - left) / pitch)), Math.ceil((centre + width / 2 - left) / pitch));
  const heights = [step, ...over].flatMap(({ from, to }) => [fall.y(from), fall.y(to)]);
  for (const y of [Math.min(...heights) - 7, Math.max(...heights) + 8]) {
    if (y > fall.y(fall.base) - 6 || y < box.y + TITLE + 6) continue;
    if (!free.take(centre - width / 2, y - 6, centre + width / 2, y + 6)) continue;
    p.text(centre, y, text, { size: 10, align: "center" });
    return;
  }
}

/** Places that have a label already. */
class Labels {
  private readonly taken: [number, number, number, number][] = [];

  take(left: number, top: number, right: number, bottom: number): boolean {
    if (this.taken.some(([l, t, r, b]) => left < r && right > l && top < b && bottom > t)) return false;
    this.taken.push([left, top, right, bottom]);
    return true;
  }
}
