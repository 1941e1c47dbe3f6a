// Level of detail: for every track a pyramid of bins, each with the share of time that its engine was busy, what it was busy
// with for longest, and what it waited for longest. Drawing then costs as much as there are pixels, not slices.
import { bandOfSlices } from "../../run/frames";
import type { Run } from "../../run/run";
import { piecesOf, STALLS, type Waits } from "../../run/stalls";
import type { Track } from "../../run/track";

export const NOTHING = 255;
const LEAST_BINS = 64;
const MOST_BINS = 65536;

export interface Level {
  /** Cycles that a bin stands for. */
  width: number;
  /** Of the time, 0..255. */
  share: Uint8Array;
  /** Resource, or NOTHING. */
  busy: Uint8Array;
  /** Index in STALLS, or NOTHING. */
  stall: Uint8Array;
  /** Band (of Run.bands) of what it was busy with for longest, or -1. */
  band: Int32Array;
}

/** "none": nothing of waits, which take most of the time to find. */
type WaitsOrNone = Waits | "none";

const made: Record<WaitsOrNone, WeakMap<Track, Level[]>> = { root: new WeakMap(), direct: new WeakMap(), none: new WeakMap() };

/** Finest first; made when a track is first seen. */
export function levelsOf(run: Run, track: Track, waits: WaitsOrNone): Level[] {
  let levels = made[waits].get(track) ?? (waits === "none" ? made.root.get(track) : undefined);
  if (!levels) made[waits].set(track, (levels = build(run, track, waits)));
  return levels;
}

/** The coarsest level whose bins are no wider than `cycles`; null where slices show better than bins. */
export function levelFor(run: Run, track: Track, cycles: number, waits: WaitsOrNone): Level | null {
  const levels = levelsOf(run, track, waits);
  let k = -1;
  while (k + 1 < levels.length && (levels[k + 1] as Level).width <= cycles) k++;
  return levels[k] ?? null;
}

// The finest level has about one bin a slice; each further one half as many.
function build(run: Run, track: Track, waits: WaitsOrNone): Level[] {
  let bins = LEAST_BINS;
  while (bins < track.size && bins < MOST_BINS) bins *= 2;
  const levels = [finest(run, track, bins, waits)];
  for (let last = levels[0] as Level; last.share.length > LEAST_BINS; levels.push(last)) last = halved(last);
  return levels;
}

function empty(bins: number, width: number): Level {
  return { width, share: new Uint8Array(bins), busy: new Uint8Array(bins).fill(NOTHING), stall: new Uint8Array(bins).fill(NOTHING), band: new Int32Array(bins).fill(-1) };
}

function finest(run: Run, track: Track, bins: number, waits: WaitsOrNone): Level {
  const width = Math.max(1, run.makespan / bins);
  const level = empty(bins, width);
  const resources = run.instructions.resources.length;
  const sums = new Float64Array(resources + STALLS.length);
  const resourceOf = run.instructions.resource;
  const bandOf = bandOfSlices(run, track);
  let bin = 0;
  let longest = 0;
  const largest = (from: number, to: number) => {
    let best = NOTHING;
    let cycles = 0;
    for (let k = from; k < to; k++)
      if ((sums[k] as number) > cycles) {
        cycles = sums[k] as number;
        best = k - from;
      }
    return best;
  };
  const flush = () => {
    let total = 0;
    for (let k = 0; k < resources; k++) total += sums[k] as number;
    level.share[bin] = total > 0 ? Math.max(1, Math.min(255, Math.round((255 * total) / width))) : 0;
    level.busy[bin] = largest(0, resources);
    level.stall[bin] = largest(resources, sums.length);
    sums.fill(0);
    longest = 0;
  };
  const add = (kind: number, band: number, from: number, to: number) => {
    while (from < to) {
      const at = Math.min(bins - 1, Math.floor(from / width));
      if (at !== bin) {
        flush();
        bin = at;
      }
      const until = at === bins - 1 ? to : Math.min(to, (at + 1) * width);
      sums[kind] = (sums[kind] as number) + until - from;
      if (kind < resources && until - from > longest) {
        longest = until - from;
        level.band[at] = band;
      }
      if (until <= from) break;
      from = until;
    }
  };
  for (let i = 0; i < track.size; i++) {
    const start = track.start(i);
    const ready = track.ready(i);
    if (waits !== "none" && start > ready) {
      const { count, stall, from, to } = piecesOf(run, track, i, waits);
      for (let k = count - 1; k >= 0; k--) add(resources + (stall[k] as number), -1, from[k] as number, to[k] as number);
    }
    add(resourceOf[track.leaf(i)] ?? 0, bandOf(i), start, track.end(i));
  }
  flush();
  return level;
}

function halved(level: Level): Level {
  const n = level.share.length / 2;
  const out = empty(n, level.width * 2);
  for (let i = 0; i < n; i++) {
    const [a, b] = [2 * i, 2 * i + 1];
    const [left, right] = [level.share[a] as number, level.share[b] as number];
    const fuller = left >= right ? a : b;
    out.share[i] = left + right > 0 ? Math.max(1, (left + right) >> 1) : 0;
    out.busy[i] = level.busy[fuller] as number;
    out.band[i] = level.band[fuller] as number;
    // The emptier half says more about waiting.
    const stall = level.stall[left <= right ? a : b] as number;
    out.stall[i] = stall === NOTHING ? Math.min(level.stall[a] as number, level.stall[b] as number) : stall;
  }
  return out;
}
