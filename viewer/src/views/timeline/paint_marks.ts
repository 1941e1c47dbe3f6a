// Words on slices and waits that are wide enough, and what the selection lights up: the slice, the chain of those it waited for, whom
// it let go, all slices of an instruction or a lock.
import { firstThatFits } from "../../paint/labels";
import type { Painter } from "../../paint/painter";
import type { Run, SliceRef } from "../../run/run";
import { STALLS, stallOf, type Waits } from "../../run/stalls";
import type { Track } from "../../run/track";
import { waitersOf } from "../../run/waiters";
import { count } from "../../ui/numbers";
import type { Focus } from "../../ui/state";
import { GUTTER, type TimeScale } from "../../ui/time_axis";
import type { Lanes, Part } from "./lanes";
import { levelsOf } from "./levels";
import type { Row } from "./rows";
import { wordingsOf } from "./wording";

const CHAIN = 12; // slices behind the selected one
const LEAST_WORDS = 26; // pixels
const LEAST_WAIT = 64;
const ARROW = 5;
const SMALL = { size: 10 };

export interface Marked {
  run: Run;
  lanes: Lanes;
  scale: TimeScale;
  waits: Waits;
}

const trackOf = (run: Run, at: SliceRef): Track => run.tracks[at.track] as Track;
const middleOf = (row: Row, y: number): number => y + (row.height - 2) / 2 + 0.5;

export function paintWords(p: Painter, { run, lanes, scale, waits }: Marked, part: Part): void {
  for (const row of part.rows) {
    if (row.kind !== "lane") continue;
    const track = run.tracks[row.track] as Track;
    const middle = middleOf(row, lanes.y(row));
    if (!track.size) p.text(GUTTER + 8, middle, "has nothing to do in this run", { ...SMALL, colour: p.theme.faint });
    if ((levelsOf(run, track, waits)[0]?.width ?? 0) < scale.perPixel) continue; // too many in a pixel to name any
    for (let i = track.firstAfter(scale.window.from); i < track.size && track.ready(i) < scale.window.to; i++) {
      const [ready, start] = [track.ready(i), track.start(i)];
      if ((start - ready) / scale.perPixel > LEAST_WAIT) paintWait(p, run, track, i, scale, middle, waits);
      const from = Math.max(GUTTER, scale.x(start));
      const room = Math.min(scale.right, scale.x(track.end(i))) - from - 8;
      if (room < LEAST_WORDS) continue;
      p.text(from + 4, middle, firstThatFits(wordingsOf(run, track.leaf(i)), room, SMALL), { ...SMALL, colour: p.theme.onColour });
    }
  }
}

function paintWait(p: Painter, run: Run, track: Track, i: number, scale: TimeScale, middle: number, waits: Waits): void {
  const from = Math.max(GUTTER, scale.x(track.ready(i)));
  const room = Math.min(scale.right, scale.x(track.start(i))) - from - 8;
  const what = STALLS[stallOf(run, track, i, waits)] ?? "";
  const text = firstThatFits([`waits ${count(track.start(i) - track.ready(i))} cycles for ${what}`, `waits for ${what}`], room, SMALL);
  p.text(from + 4, middle - 2, text, { ...SMALL, colour: p.theme.text });
}

export function paintSelection(p: Painter, marked: Marked, focus: Focus, top: number, bottom: number): void {
  p.clip(GUTTER, top, marked.scale.right - GUTTER, bottom - top, () => {
    if (focus.leaf >= 0 && !focus.slice) markEach(p, marked, (track, i) => track.leaf(i) === focus.leaf);
    if (focus.lock >= 0) markEach(p, marked, (track, i) => track.lock(i) === focus.lock);
    if (!focus.slice) return;
    paintWaitFrame(p, marked, focus.slice);
    paintLetGo(p, marked, focus.slice);
    paintChain(p, marked, focus.slice);
  });
}

/** The wait before the selected slice, dashed: it may be all of it that is in sight. */
function paintWaitFrame(p: Painter, marked: Marked, at: SliceRef): void {
  const spot = spotOf(marked, at);
  const left = marked.scale.x(trackOf(marked.run, at).ready(at.index));
  if (!spot || spot.from - left < 3) return;
  const [top, bottom] = [spot.y - 0.5, spot.y + spot.height - 1.5];
  p.line([spot.from, top, left, top, left, bottom, spot.from, bottom], p.theme.accent, 1.5, [5, 3]);
}

interface Spot {
  from: number;
  to: number;
  y: number;
  height: number;
}

/** Where the slice is drawn; null where its group is shut. */
function spotOf({ run, lanes, scale }: Marked, at: SliceRef): Spot | null {
  const track = trackOf(run, at);
  const row = lanes.of(track);
  if (!row) return null;
  const from = scale.x(track.start(at.index));
  return { from, to: Math.max(from + 3, scale.x(track.end(at.index))), y: lanes.y(row), height: row.height };
}

const frameSpot = (p: Painter, { from, to, y, height }: Spot, colour: string, thickness: number) => p.frame(from - 1, y - 1, to - from + 2, height, colour, thickness);

function paintArrow(p: Painter, from: Spot, to: Spot, colour: string): void {
  const [y0, y1] = [from.y + from.height / 2, to.y + to.height / 2];
  p.arc(from.to, y0, to.from - 1, y1, colour, 1.3);
  p.polygon([to.from, y1, to.from - ARROW - 1, y1 - ARROW * 0.7, to.from - ARROW - 1, y1 + ARROW * 0.7], colour);
}

// From each slice to the one that waited for its end.
function paintChain(p: Painter, marked: Marked, selected: SliceRef): void {
  const { run } = marked;
  let after: Spot | null = null;
  let at: SliceRef | null = selected;
  for (let k = 0; at && k <= CHAIN; k++) {
    const spot = spotOf(marked, at);
    if (spot) {
      frameSpot(p, spot, k ? p.theme.text : p.theme.accent, k ? 1 : 2.5);
      if (after) paintArrow(p, spot, after, p.theme.accent);
      after = spot;
    }
    at = run.causeOf(at);
  }
}

function paintLetGo(p: Painter, marked: Marked, selected: SliceRef): void {
  const from = spotOf(marked, selected);
  if (!from) return;
  for (const at of waitersOf(marked.run, selected)) {
    const to = spotOf(marked, at);
    if (!to) continue;
    frameSpot(p, to, p.theme.faint, 1);
    paintArrow(p, from, to, p.theme.faint);
  }
}

function markEach(p: Painter, { run, lanes, scale, waits }: Marked, matches: (track: Track, i: number) => boolean): void {
  for (const part of lanes.parts)
    for (const row of part.rows) {
      if (row.kind !== "lane") continue;
      const track = run.tracks[row.track] as Track;
      if ((levelsOf(run, track, waits)[0]?.width ?? 0) * 4 < scale.perPixel) continue;
      for (let i = track.firstAfter(scale.window.from); i < track.size && track.start(i) < scale.window.to; i++) {
        if (!matches(track, i)) continue;
        const from = scale.x(track.start(i));
        p.frame(from, lanes.y(row) - 0.5, Math.max(2, scale.x(track.end(i)) - from), row.height - 1, p.theme.accent, 1.5);
      }
    }
}
