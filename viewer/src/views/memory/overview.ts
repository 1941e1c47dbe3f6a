// The whole run above the strips: how full the fullest of the memories is, where that is most, and what is in sight below.
import { fitText, type Painter, textWidth } from "../../paint/painter";
import type { App } from "../../ui/app";
import { kibibytes } from "../../ui/numbers";
import { GUTTER } from "../../ui/time_axis";
import { paintWindow } from "../../ui/window_bar";
import { mostIn } from "../../run/occupancy";
import type { Strip } from "./strips";
import { peakText } from "./tips";

export const OVERVIEW = 46;
const [TOP, BOTTOM] = [16, OVERVIEW - 3];
const BAR = 2; // pixels

export function paintOverview(p: Painter, app: App, strips: readonly Strip[], fullest: Strip | null, width: number): void {
  const { makespan } = app.run;
  const { theme } = p;
  const place = (cycle: number) => Math.max(GUTTER, Math.min(width, GUTTER + (cycle / Math.max(1, makespan)) * (width - GUTTER)));
  const capacity = Math.max(1, ...strips.map((strip) => strip.memory.capacity));
  p.rect(0, 0, width, OVERVIEW, theme.raised);
  const words = [strips.length > 1 ? "fullest memtile," : "bytes taken,", "whole run", `of ${kibibytes(capacity)}`];
  words.forEach((text, k) => p.text(8, 10 + 13.5 * k, text, { size: 10, colour: theme.faint }));
  const step = makespan / Math.max(1, width - GUTTER);
  for (let x = 0; x < width - GUTTER && makespan > 0; x += BAR) {
    const bytes = Math.max(0, ...strips.map(({ memory }) => mostIn(memory.occupancy, x * step, (x + BAR) * step)));
    const height = (bytes / capacity) * (BOTTOM - TOP);
    if (height > 0) p.rect(GUTTER + x, BOTTOM - height, BAR, height, theme.dark ? "#47779b" : "#8fb6d4");
  }
  p.line([GUTTER, TOP, width, TOP], theme.faint, 1, [5, 3]);
  paintWindow(p, app, { x: GUTTER, y: 0, width: width - GUTTER, height: OVERVIEW });
  if (!fullest) return;
  const { peak } = fullest.memory.occupancy;
  const x = place((peak.from + peak.to) / 2);
  const y = BOTTOM - (peak.bytes / capacity) * (BOTTOM - TOP);
  p.polygon([x - 5, y - 8, x + 5, y - 8, x, y - 1], theme.text);
  const text = fitText(peakText(app.run, fullest), width - GUTTER - 24, { bold: true });
  const length = textWidth(text, { bold: true }) + 8;
  const left = Math.max(GUTTER + 2, Math.min(width - length - 2, x < (width + GUTTER) / 2 ? x + 7 : x - 7 - length));
  p.rect(left, 2, length, 13, theme.raised);
  p.text(left + 4, 9, text, { bold: true });
}
