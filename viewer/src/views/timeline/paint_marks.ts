// Words on slices and waits that are wide enough, and what the selection lights up: the slice, the chain of those it waited for, whom
// it let go, all slices of an instruction or a lock.
import { firstThatFits } from "../../paint/labels";
import type { Painter } from "../../paint/painter";
import { bandOfSlices } from "../../run/frames";
import type { Run, SliceRef } from "../../run/run";
import { idleText, NO_WORK, STALLS, stallOf, type Waits } from "../../run/stalls";
import type { Track } from "../../run/track";
import { leadsTo } from "../../run/transfers";
import { waitersOf } from "../../run/waiters";
import { count } from "../../ui/numbers";
import type { Focus } from "../../ui/state";
import { GUTTER, type TimeScale } from "../../ui/time_axis";
import { linesOf } from "./group_raster";
import type { Lanes, Part } from "./lanes";
import { levelsOf } from "./levels";
import type { Bright } from "./raster";
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

/** Slices that are not of a `bright` band are dimmed, and their words stand on a ground that is nearly the page's. */
export function paintWords(p: Painter, { run, lanes, scale, waits }: Marked, part: Part, bright: Bright): void {
  for (const row of part.rows) {
    if (row.kind !== "lane") continue;
    const track = run.tracks[row.track] as Track;
    const middle = middleOf(row, lanes.y(row));
    if (!track.size) p.text(GUTTER + 8, middle, "has nothing to do in this run", { ...SMALL, colour: p.theme.faint });
    if ((levelsOf(run, track, waits)[0]?.width ?? 0) < scale.perPixel) continue; // too many in a pixel to name any
    const bandOf = bandOfSlices(run, track);
    for (let i = track.firstAfter(scale.window.from); i < track.size && track.ready(i) < scale.window.to; i++) {
      const [ready, start] = [track.ready(i), track.start(i)];
      if ((start - ready) / scale.perPixel > LEAST_WAIT) paintWait(p, run, track, i, scale, middle, waits);
      const from = Math.max(GUTTER, scale.x(start));
      const room = Math.min(scale.right, scale.x(track.end(i))) - from - 8;
      if (room < LEAST_WORDS) continue;
      p.text(from + 4, middle, firstThatFits(wordingsOf(run, track, i), room, SMALL), { ...SMALL, colour: !bright || bright[bandOf(i)] ? p.theme.onColour : p.theme.text });
    }
  }
}

function paintWait(p: Painter, run: Run, track: Track, i: number, scale: TimeScale, middle: number, waits: Waits): void {
  const from = Math.max(GUTTER, scale.x(track.ready(i)));
  const room = Math.min(scale.right, scale.x(track.start(i))) - from - 8;
  const stall = stallOf(run, track, i, waits);
  const cycles = count(track.start(i) - track.ready(i));
  const words = stall === NO_WORK ? [idleText(track, `${cycles} cycles`), idleText(track)] : [`waits ${cycles} cycles for ${STALLS[stall]}`, `waits for ${STALLS[stall]}`];
  p.text(from + 4, middle - 2, firstThatFits(words, room, SMALL), { ...SMALL, colour: stall === NO_WORK ? p.theme.faint : p.theme.text });
}

export function paintSelection(p: Painter, marked: Marked, focus: Focus, top: number, bottom: number): void {
  p.clip(GUTTER, top, marked.scale.right - GUTTER, bottom - top, () => {
    if (focus.leaf >= 0 && !focus.slice) markEach(p, marked, `leaf ${focus.leaf}`, (track, i) => track.leaf(i) === focus.leaf);
    if (focus.lock >= 0) markEach(p, marked, `lock ${focus.lock}`, (track, i) => track.lock(i) === focus.lock);
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

/** Where the slice is drawn: in its lane, or in its resource's line of the group that it is folded away in. */
function spotOf({ run, lanes, scale }: Marked, at: SliceRef): Spot | null {
  const track = trackOf(run, at);
  const from = scale.x(track.start(at.index));
  const across = { from, to: Math.max(from + 3, scale.x(track.end(at.index))) };
  const row = lanes.of(track);
  if (row) return { ...across, y: lanes.y(row), height: row.height };
  const group = lanes.groupOf(track);
  const lines = group ? linesOf(run, group.tracks) : [];
  const line = lines.findIndex(({ members }) => members.includes(track));
  if (!group || line < 0) return null;
  const each = (group.height - 6) / lines.length;
  return { ...across, y: lanes.y(group) + 2 + line * each, height: each };
}

const frameSpot = (p: Painter, { from, to, y, height }: Spot, colour: string, thickness: number) => p.frame(from - 1, y - 1, to - from + 2, height, colour, thickness);

function paintArrow(p: Painter, from: Spot, to: Spot, colour: string): void {
  if (to.from < from.to && from.y !== to.y) {
    paintTransfer(p, from, to, colour);
    return;
  }
  const [y0, y1] = [from.y + from.height / 2, to.y + to.height / 2];
  p.arc(from.to, y0, to.from - 1, y1, colour, 1.3);
  p.polygon([to.from, y1, to.from - ARROW - 1, y1 - ARROW * 0.7, to.from - ARROW - 1, y1 + ARROW * 0.7], colour);
}

// Both ends of a transfer run at the same time: straight down, or up, where it begins.
function paintTransfer(p: Painter, from: Spot, to: Spot, colour: string): void {
  const down = to.y > from.y;
  const [y0, y1] = down ? [from.y + from.height - 1, to.y - 1] : [from.y, to.y + to.height - 1];
  const x = Math.max(from.from, to.from) + ARROW;
  const back = down ? -ARROW - 1 : ARROW + 1;
  p.line([x, y0, x, y1], colour, 1.3);
  p.polygon([x, y1, x - ARROW * 0.7, y1 + back, x + ARROW * 0.7, y1 + back], colour);
}

// From each slice to the one that waited for its end, and from what a wire sends to who receives it.
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
    at = leadsTo(run, at);
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

/** Slices that were looked for, found once: a mark is drawn each frame. */
interface Found {
  run: Run;
  what: string;
  byTrack: Map<Track, readonly number[]>;
}
let found: Found | null = null;

function slicesOf(run: Run, what: string, track: Track, matches: (track: Track, i: number) => boolean): readonly number[] {
  if (found?.run !== run || found.what !== what) found = { run, what, byTrack: new Map() };
  let slices = found.byTrack.get(track);
  if (!slices) {
    const own: number[] = [];
    for (let i = 0; i < track.size; i++) if (matches(track, i)) own.push(i);
    found.byTrack.set(track, (slices = own));
  }
  return slices;
}

// Those that lie within a pixel of each other share a frame, so that the whole run shows them, too.
function markEach(p: Painter, { run, lanes, scale }: Marked, what: string, matches: (track: Track, i: number) => boolean): void {
  for (const part of lanes.parts)
    for (const row of part.rows) {
      if (row.kind !== "lane") continue;
      const track = run.tracks[row.track] as Track;
      let [from, to] = [-Infinity, -Infinity];
      const flush = () => {
        if (to >= scale.left && from <= scale.right) p.frame(from, lanes.y(row) - 0.5, Math.max(2, to - from), row.height - 1, p.theme.accent, 1.5);
      };
      for (const i of slicesOf(run, what, track, matches)) {
        const [left, right] = [scale.x(track.start(i)), scale.x(track.end(i))];
        if (left > scale.right) break;
        if (left - to > 1) {
          flush();
          from = left;
        }
        to = right;
      }
      flush();
    }
}
