// What became of an instruction in the run: on which engines it ran, how often, for how long, and what it waited for.
import { eachSlice } from "./repeat";
import type { Run, SliceRef } from "./run";
import { piecesOf, STALLS } from "./stalls";

export interface Executions {
  tracks: number[];
  slices: number;
  busy: number; // cycles, all engines together
  bytes: number; // moved, all slices together
  macs: number;
  /** Followed back, in the order of STALLS. */
  waits: number[];
  first: SliceRef | null;
  from: number;
  to: number;
}

/** Slices that `matches` picks; `only` names the tracks that may have any. */
export function executionsOf(run: Run, matches: (track: Run["tracks"][number], i: number) => boolean, only?: readonly number[]): Executions {
  const found: Executions = { tracks: [], slices: 0, busy: 0, bytes: 0, macs: 0, waits: STALLS.map(() => 0), first: null, from: Infinity, to: -Infinity };
  const cycles = run.repeat?.cycles ?? 0;
  for (const track of only ? only.flatMap((t) => run.tracks[t] ?? []) : run.tracks) {
    const before = found.slices;
    eachSlice(run, track, (i, times) => {
      if (!matches(track, i)) return;
      if (!found.first || track.start(i) < found.from) found.first = { track: track.index, index: i };
      found.slices += times;
      found.busy += times * (track.end(i) - track.start(i));
      found.bytes += times * run.bytesOf(track, i);
      found.macs += times * run.macsOf(track, i);
      found.from = Math.min(found.from, track.start(i));
      found.to = Math.max(found.to, track.end(i) + (times - 1) * cycles);
      const { count, stall, from, to } = piecesOf(run, track, i, "root");
      for (let k = 0; k < count; k++) found.waits[stall[k] as number] = (found.waits[stall[k] as number] as number) + times * ((to[k] as number) - (from[k] as number));
    });
    if (found.slices > before) found.tracks.push(track.index);
  }
  return found;
}

const ofLeaves = new WeakMap<Run, Map<number, Executions>>();

export function executionsOfLeaf(run: Run, leaf: number): Executions {
  let known = ofLeaves.get(run);
  if (!known) ofLeaves.set(run, (known = new Map()));
  let found = known.get(leaf);
  if (!found) known.set(leaf, (found = executionsOf(run, (track, i) => track.leaf(i) === leaf)));
  return found;
}

/** Those that waited for the lock: of its consumer, and of who waited for that one's transfer. */
export const executionsOfLock = (run: Run, lock: number): Executions => executionsOf(run, (track, i) => track.lock(i) === lock);

/** The tensor that an instruction moves or makes, which stands first in its line of asm; -1 for weights and for what has none. */
export const tensorMovedBy = (run: Run, leaf: number): number => Number(/%(\d+)\[/.exec(run.textOf(leaf))?.[1] ?? -1);
