// The chain of slices that sets the makespan: walked back from the slice that ends last, each time to what let the slice start.
//
//   core   |  CONV  |......|  CONV  |        the second CONV waited for the wire, which had just ended:
//   wire   |     SEND      |                 path = SEND, second CONV; it fills the run without a gap.
//
// A slice that waited was let go by its recorded cause, one that did not by the slice before it on its engine.
import type { Run, SliceRef } from "./run";
import type { Track } from "./track";

/** How a step follows the one before it; with a wait, the kind is LINK_WAIT + its index in Run.waitKinds. */
export const LINK_FIRST = 0; // nothing is before it
export const LINK_ENGINE = 1; // the same engine's next instruction
export const LINK_WAIT = 2;

/** Step k is the stretch time[k] .. time[k + 1] of the run; the steps fill 0 .. makespan. */
export interface CriticalPath {
  steps: number;
  time: Float64Array;
  /** -1 where no slice ran: a latency between two, or the file does not say. */
  track: Int32Array;
  index: Int32Array;
  leaf: Int32Array;
  layer: Int32Array;
  resource: Int32Array;
  link: Uint8Array;
  /** Lock over which the step before let this one start, or -1. */
  lock: Int32Array;
}

const paths = new WeakMap<Run, CriticalPath>();

export function criticalPath(run: Run): CriticalPath {
  let path = paths.get(run);
  if (!path) paths.set(run, (path = walk(run)));
  return path;
}

/** Cycles of the path by the group of each step: `size` groups, negative ones are none. */
export function pathCyclesBy(path: CriticalPath, groups: ArrayLike<number>, size: number): Float64Array {
  const cycles = new Float64Array(size);
  for (let k = 0; k < path.steps; k++) {
    const group = groups[k] as number;
    if (group >= 0 && group < size) cycles[group] = (cycles[group] as number) + (path.time[k + 1] as number) - (path.time[k] as number);
  }
  return cycles;
}

const byLeaf = new WeakMap<Run, Float64Array>();

/** Cycles of the critical path, by instruction. */
export function leavesOnPath(run: Run): Float64Array {
  let cycles = byLeaf.get(run);
  if (!cycles) {
    const path = criticalPath(run);
    byLeaf.set(run, (cycles = pathCyclesBy(path, path.leaf, run.instructions.count)));
  }
  return cycles;
}

/** Step that runs at `cycle`; the last one at and after the end. */
export function stepAt(path: CriticalPath, cycle: number): number {
  let low = 0;
  let high = path.steps - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((path.time[middle + 1] as number) > cycle) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Step that is this slice, or -1 for a slice that is not on the path. */
export function stepOf(run: Run, path: CriticalPath, at: SliceRef): number {
  const track = run.tracks[at.track];
  if (!track || !(at.index >= 0 && at.index < track.size)) return -1;
  const isIt = (k: number) => path.track[k] === at.track && path.index[k] === at.index;
  const start = track.start(at.index);
  // Slices that take no time share their instant with others.
  let k = stepAt(path, start);
  if (isIt(k)) return k;
  for (; k > 0 && (path.time[k] as number) >= start; ) if (isIt(--k)) return k;
  return -1;
}

function lastSlice(run: Run): SliceRef | null {
  let last: Track | null = null;
  for (const track of run.tracks) if (track.size > 0 && (!last || track.finish > last.finish)) last = track;
  return last && { track: last.index, index: last.size - 1 };
}

interface Step {
  at: SliceRef;
  link: number;
  lock: number;
}

/** What let the slice start, if it is there and began before `start`. */
function stepBefore(run: Run, { track: t, index: i }: SliceRef): Step | null {
  const track = run.tracks[t] as Track;
  if (track.start(i) > track.ready(i)) {
    const at = run.causeOf({ track: t, index: i });
    if (at && (run.tracks[at.track] as Track).start(at.index) <= track.start(i)) return { at, link: LINK_WAIT + track.wait(i), lock: track.lock(i) };
  }
  return i > 0 ? { at: { track: t, index: i - 1 }, link: LINK_ENGINE, lock: -1 } : null;
}

// Backwards, then turned about. Each column grows as needed: nobody knows before how long the chain is.
function walk(run: Run): CriticalPath {
  const out = new Columns();
  let to = run.makespan;
  // A cycle of causes that take no time could only stand in a file that is wrong; the limit ends it.
  let left = run.slices;
  let before: Step | null = null;
  for (let at = lastSlice(run); at && left > 0; at = before?.at ?? null, left--) {
    const track = run.tracks[at.track] as Track;
    const end = track.end(at.index);
    if (end < to) out.add(end, null, before?.link ?? LINK_FIRST, -1);
    to = Math.min(to, end);
    before = stepBefore(run, at);
    out.add(Math.min(to, track.start(at.index)), at, before?.link ?? LINK_FIRST, before?.lock ?? -1);
    to = Math.min(to, track.start(at.index));
  }
  if (to > 0) out.add(0, null, LINK_FIRST, -1);
  return out.finish(run);
}

class Columns {
  private size = 0;
  private from = new Float64Array(1024);
  private track = new Int32Array(1024);
  private index = new Int32Array(1024);
  private link = new Uint8Array(1024);
  private lock = new Int32Array(1024);

  add(from: number, at: SliceRef | null, link: number, lock: number): void {
    if (this.size === this.from.length) this.grow();
    const k = this.size++;
    this.from[k] = from;
    this.track[k] = at ? at.track : -1;
    this.index[k] = at ? at.index : -1;
    this.link[k] = link;
    this.lock[k] = lock;
  }

  finish(run: Run): CriticalPath {
    const n = this.size;
    const path: CriticalPath = {
      steps: n, time: new Float64Array(n + 1), track: this.track.slice(0, n).reverse(), index: this.index.slice(0, n).reverse(), leaf: new Int32Array(n).fill(-1),
      layer: new Int32Array(n).fill(-1), resource: new Int32Array(n).fill(-1), link: this.link.slice(0, n).reverse(), lock: this.lock.slice(0, n).reverse(),
    };
    path.time.set(this.from.slice(0, n).reverse());
    path.time[n] = n > 0 ? run.makespan : 0;
    for (let k = 0; k < n; k++) {
      const track = run.tracks[path.track[k] as number];
      if (!track) continue;
      const i = path.index[k] as number;
      path.leaf[k] = track.leaf(i);
      path.layer[k] = track.layer(i);
      path.resource[k] = run.instructions.resource[track.leaf(i)] ?? -1;
    }
    return path;
  }

  private grow(): void {
    const grown = <T extends Float64Array | Int32Array | Uint8Array>(old: T, fresh: T): T => {
      fresh.set(old);
      return fresh;
    };
    const size = this.size * 2;
    this.from = grown(this.from, new Float64Array(size));
    this.track = grown(this.track, new Int32Array(size));
    this.index = grown(this.index, new Int32Array(size));
    this.link = grown(this.link, new Uint8Array(size));
    this.lock = grown(this.lock, new Int32Array(size));
  }
}
