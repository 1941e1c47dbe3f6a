// The shares as bars, each with what the run would gain if that part of it took no time.
import { type Painter, textWidth } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import type { Run } from "../../run/run";
import { count, percent, seconds } from "../../ui/numbers";
import type { Gain } from "../../run/gains";
import type { ScrollArea } from "../../ui/scroll";
import { type Grouping, type Share } from "./shares";

export const ROW = 20;
export const HEAD = 22;
const GAP = 10;

export interface ShareRow extends Share {
  name: string;
  /** null: not known yet; undefined: not asked. */
  gain: Gain | null | undefined;
}

export interface TableLook {
  run: Run;
  by: Grouping;
  rows: readonly ShareRow[];
  area: ScrollArea;
  inTime: boolean;
  sort: string;
  isChosen(row: ShareRow): boolean;
}

interface Columns {
  name: number;
  nameWidth: number;
  bar: number;
  barWidth: number;
  share: number; // right edge
  cycles: number; // right edge, 0: not shown
  gain: number;
  gainWidth: number; // 0: not shown
}

export const amount = (run: Run, cycles: number, inTime: boolean): string => (inTime ? seconds(cycles / run.device.clockHz) : count(cycles));

export function columnsOf({ area, by, run, inTime }: TableLook): Columns {
  const right = area.x + area.inner - 6;
  const gainWidth = by === "lock" ? 0 : area.width > 460 ? 132 : 84;
  const gain = right - gainWidth;
  const cyclesWidth = area.width > 400 ? Math.max(60, textWidth(amount(run, run.makespan, inTime)) + 4) : 0;
  const cycles = cyclesWidth ? gain - GAP : 0;
  const share = (cyclesWidth ? cycles - cyclesWidth : gain) - GAP;
  const left = area.x + 10;
  const room = share - 44 - GAP - left;
  const nameWidth = Math.max(78, room * (by === "lock" ? 0.72 : 0.56));
  return { name: left, nameWidth, bar: left + nameWidth + GAP, barWidth: Math.max(0, room - nameWidth - GAP), share, cycles, gain, gainWidth };
}

const HEADS: Record<Grouping, string> = { resource: "resource", layer: "layer", place: "tile", lock: "then waited through" };

/** Which column's head is at x: what to sort by. */
export function sortAt(look: TableLook, x: number): "name" | "share" | "gain" {
  const at = columnsOf(look);
  if (x < at.bar) return "name";
  return at.gainWidth && x >= at.gain - GAP / 2 ? "gain" : "share";
}

export function paintShareTable(p: Painter, look: TableLook): void {
  const { area, rows, run, by, inTime, sort } = look;
  const at = columnsOf(look);
  const { theme } = p;
  const headY = area.y - HEAD / 2;
  const head = (x: number, text: string, key: string, align: "left" | "right", width: number) =>
    p.text(x, headY, sort === key ? `${text} ▾` : text, { colour: sort === key ? theme.text : theme.faint, bold: sort === key, align, width });
  head(at.name, HEADS[by], "name", "left", at.nameWidth);
  head(at.share, "of the run", "share", "right", at.barWidth + 44);
  if (at.cycles) p.text(at.cycles, headY, inTime ? "time" : "cycles", { colour: theme.faint, align: "right" });
  if (at.gainWidth) head(at.gain, at.gainWidth > 100 ? "if free, shorter by" : "if free", "gain", "left", at.gainWidth);
  p.rect(area.x, area.y - 1, area.width, 1, theme.line);
  const most = Math.max(1, ...rows.slice(0, 500).map((row) => row.cycles));
  p.clip(area.x, area.y, area.width, area.height, () => {
    const first = Math.max(0, Math.floor(area.offset / ROW));
    for (let n = first; n < rows.length && n * ROW < area.offset + area.height; n++) paintRow(p, look, at, n, most);
    area.paintBar(p);
  });
  if (!rows.length) p.text(area.x + 10, area.y + ROW / 2, `Nothing ran in ${run.model}.`, { colour: theme.faint });
}

function paintRow(p: Painter, look: TableLook, at: Columns, n: number, most: number): void {
  const { area, run, by, inTime } = look;
  const { theme } = p;
  const row = look.rows[n] as ShareRow;
  const y = area.y + n * ROW - area.offset;
  const middle = y + ROW / 2;
  const chosen = look.isChosen(row);
  if (chosen) p.rect(area.x, y, area.inner, ROW, theme.dark ? "rgba(109,182,242,0.18)" : "rgba(11,97,164,0.12)");
  const colour = by === "resource" && row.group >= 0 ? css(resourceColour(row.group)) : theme.accent;
  p.text(at.name, middle, row.name, { width: at.nameWidth, bold: chosen });
  p.rect(at.bar, y + 4, at.barWidth, ROW - 8, theme.sunken);
  p.rect(at.bar, y + 4, (at.barWidth * row.cycles) / most, ROW - 8, colour);
  p.text(at.share, middle, percent(row.cycles / Math.max(1, run.makespan)), { align: "right" });
  if (at.cycles) p.text(at.cycles, middle, amount(run, row.cycles, inTime), { align: "right", colour: theme.faint });
  if (at.gainWidth) paintGain(p, run, row.gain, at, y, most, colour);
}

// Exact gains are solid; upper bounds are hatched, and say "at most".
function paintGain(p: Painter, run: Run, gain: Gain | null | undefined, { gain: x, gainWidth: width }: Columns, y: number, most: number, colour: string): void {
  const { theme } = p;
  if (!gain) {
    p.text(x, y + ROW / 2, gain === null ? "…" : "–", { colour: theme.faint });
    return;
  }
  const text = gainText(run, gain);
  const textRoom = 62;
  const bar = width - textRoom - 6;
  if (bar > 20) {
    p.rect(x, y + 4, bar, ROW - 8, theme.sunken);
    const filled = (bar * Math.max(0, gain.cycles)) / most; // the scale of the bars of the shares
    p.rect(x, y + 4, filled, ROW - 8, colour);
    if (gain.how === "at most" && filled > 1) p.hatch(x, y + 4, filled, ROW - 8, theme.ground);
  }
  p.text(x + (bar > 20 ? bar + 6 : 0), y + ROW / 2, text, { width: textRoom });
}

export const gainText = (run: Run, gain: Gain): string => `${gain.how === "at most" ? "≤ " : ""}${percent(gain.cycles / Math.max(1, run.makespan))}`;

/** What such a figure means, for a tip. */
export function gainNote(how: Gain["how"]): string {
  return how === "executed"
    ? "exact, from the program run again by the compiler with each of these instructions done in one cycle."
    : "at most, from the recorded waits replayed here with these instructions taking no time and all others as long as they did. A wait that another one hid is not recorded, so the true gain may be smaller.";
}
