// Whom a slice let go: those whose wait its end ended.
import type { Run, SliceRef } from "./run";

const LOOKED_AT = 6; // slices of each engine after the end: what it let go starts there or soon after
const MOST = 32;

/** In order of their start. */
export function waitersOf(run: Run, at: SliceRef): SliceRef[] {
  const ended = run.tracks[at.track]?.end(at.index);
  if (ended === undefined) return [];
  const found: (SliceRef & { start: number })[] = [];
  for (const track of run.tracks) {
    const first = track.firstAfter(ended - 1);
    for (let i = first; i < Math.min(track.size, first + LOOKED_AT); i++) {
      const cause = track.start(i) >= ended && track.start(i) > track.ready(i) ? run.causeOf({ track: track.index, index: i }) : null;
      if (cause?.track === at.track && cause.index === at.index) found.push({ track: track.index, index: i, start: track.start(i) });
    }
  }
  return found.sort((a, b) => a.start - b.start || a.track - b.track).slice(0, MOST).map(({ track, index }) => ({ track, index }));
}
