// The names at the left, each with how busy its engine is in the window.
import { fitName } from "../../paint/labels";
import { type Painter, textWidth } from "../../paint/painter";
import type { Load } from "../../run/load";
import type { Run } from "../../run/run";
import { GUTTER, type TimeScale } from "../../ui/time_axis";
import { busyShare, coresOf } from "./busy";
import type { Lanes, Part } from "./lanes";
import type { GroupRow, LaneRow } from "./rows";

const INDENT = 14;
const FIGURE = { size: 10, align: "right" } as const;

export interface Names {
  run: Run;
  lanes: Lanes;
  scale: TimeScale;
  /** Sums of the run, once they are there. */
  load: Load | null;
  chosenTrack: number;
}

export function paintNames(p: Painter, names: Names, part: Part): void {
  const { theme } = p;
  p.rect(0, part.top, GUTTER, part.height, theme.raised);
  for (const row of part.rows) {
    const y = names.lanes.y(row);
    const middle = y + (row.height - 2) / 2 + 0.5;
    if (row.kind === "group") paintGroup(p, names, row, y, middle);
    else paintLane(p, names, row, y, middle);
  }
  p.rect(GUTTER - 1, part.top, 1, part.height, theme.line);
}

function paintGroup(p: Painter, names: Names, row: GroupRow, y: number, middle: number): void {
  const { theme } = p;
  if (row.open) p.rect(GUTTER, y, names.scale.right, row.height - 1, theme.raised);
  p.text(8, middle, `${row.open ? "▾" : "▸"}  ${row.label}`, { size: 12, bold: true });
  const { tracks, what } = coresOf(names.run, row.tracks);
  const share = names.load && busyShare(names.load, tracks, names.scale.window);
  if (share !== null) p.text(GUTTER - 7, middle, `${what} ${share}`, { ...FIGURE, colour: theme.faint });
}

function paintLane(p: Painter, names: Names, row: LaneRow, y: number, middle: number): void {
  const { theme } = p;
  const chosen = names.chosenTrack === row.track;
  if (chosen) p.rect(0, y - 1, GUTTER, row.height, theme.dark ? "rgba(109,182,242,0.16)" : "rgba(11,97,164,0.10)");
  const mark = row.open === null ? "" : row.open ? "▾ " : "▸ ";
  const share = (names.load && busyShare(names.load, [row.track], names.scale.window)) ?? "";
  // Who has nothing to do steps back.
  const isIdle = share === "0 %" || !names.run.tracks[row.track]?.size;
  const style = { colour: chosen ? theme.accent : isIdle ? theme.fainter : theme.faint, bold: chosen };
  const left = 8 + INDENT * row.depth;
  p.text(left, middle, fitName(mark + row.label, GUTTER - 16 - left - textWidth(share, FIGURE), style), style);
  p.text(GUTTER - 7, middle, share, { ...FIGURE, colour: style.colour });
}
