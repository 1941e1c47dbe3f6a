// Level of detail: for every track a pyramid of bins, each with the share of time that its engine was busy, what it was busy
// with for longest, and what it waited for longest. Drawing then costs as much as there are pixels, not slices.
import { bandOfSlices } from "../../run/frames";
import { eachSlice } from "../../run/repeat";
import type { Run } from "../../run/run";
import { piecesOf, STALLS, type Waits } from "../../run/stalls";
import type { Track } from "../../run/track";

export const NOTHING = 255;
const LEAST_BINS = 64;
const MOST_BINS = 65536;
const MOST_BINS_OF_REPEAT = 16384;

export interface Level {
  /** Cycles that a bin stands for, and when the first begins: at 0 or before. */
  width: number;
  from: number;
  /** Bins of the run; fewer are kept where frames repeat. */
  bins: number;
  repeats: RepeatedBins | null;
  /** Of the time, 0..255. */
  share: Uint8Array;
  /** Resource, or NOTHING. */
  busy: Uint8Array;
  /** Index in STALLS, or NOTHING. */
  stall: Uint8Array;
  /** Band (of Run.bands) of what it was busy with for longest, or -1; in bins that repeat, of the first time. */
  band: Int32Array;
}

/** Bins first .. first + each stand for those times * each that begin there. */
interface RepeatedBins {
  first: number;
  each: number;
  times: number;
  bands: number; // of Run.bands, from one time to the next
}

/** Where the values of a bin are kept. */
export function placeOf({ repeats }: Level, bin: number): number {
  if (!repeats || bin < repeats.first + repeats.each) return bin;
  return bin - repeats.each * timesBefore(repeats, bin);
}

const timesBefore = ({ first, each, times }: RepeatedBins, bin: number): number => (bin < first ? 0 : Math.min(times - 1, Math.floor((bin - first) / each)));

/** Band of what the engine was busy with for longest in a bin, or -1. */
export function bandOfBin(level: Level, bin: number): number {
  const band = level.band[placeOf(level, bin)] as number;
  return level.repeats && band >= 0 ? band + level.repeats.bands * timesBefore(level.repeats, bin) : band;
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
  const levels = [finest(run, track, waits)];
  for (let last = levels[0] as Level; last.bins > LEAST_BINS; levels.push(last)) last = halved(last.repeats?.each === 1 ? writtenOut(last) : last);
  return levels;
}

const binsFor = (slices: number, most: number): number => {
  let bins = LEAST_BINS;
  while (bins < slices && bins < most) bins *= 2;
  return bins;
};

function empty({ width, from, bins, repeats }: Pick<Level, "width" | "from" | "bins" | "repeats">): Level {
  const kept = repeats ? bins - repeats.each * (repeats.times - 1) : bins;
  return { width, from, bins, repeats, share: new Uint8Array(kept), busy: new Uint8Array(kept).fill(NOTHING), stall: new Uint8Array(kept).fill(NOTHING), band: new Int32Array(kept).fill(-1) };
}

// Frames that repeat have bins whose edges fall on the same moment of each.
function grid(run: Run, track: Track): Level {
  const { repeat } = run;
  const slices = repeat?.slices[track.index];
  if (!repeat || !slices) {
    const bins = binsFor(track.size, MOST_BINS);
    return empty({ width: Math.max(1, run.makespan / bins), from: 0, bins, repeats: null });
  }
  const each = binsFor(slices, MOST_BINS_OF_REPEAT);
  const before = Math.ceil(repeat.from / repeat.cycles); // whole stretches that long
  const from = repeat.from - before * repeat.cycles;
  const stretches = Math.ceil((run.makespan - from) / repeat.cycles);
  const bands = run.bands.length / run.frames.length;
  return empty({ width: repeat.cycles / each, from, bins: stretches * each, repeats: { first: before * each, each, times: repeat.times, bands } });
}

function finest(run: Run, track: Track, waits: WaitsOrNone): Level {
  const level = grid(run, track);
  const { width, from: origin } = level;
  const most = level.share.length - 1;
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
      const at = Math.min(most, Math.floor((from - origin) / width));
      if (at !== bin) {
        flush();
        bin = at;
      }
      const until = at === most ? to : Math.min(to, origin + (at + 1) * width);
      sums[kind] = (sums[kind] as number) + until - from;
      if (kind < resources && until - from > longest) {
        longest = until - from;
        level.band[at] = band;
      }
      if (until <= from) break;
      from = until;
    }
  };
  const { repeats } = level;
  eachSlice(run, track, (i, _, skipped) => {
    const start = track.start(i);
    const ready = track.ready(i);
    if (waits !== "none" && start > ready) {
      const { count, stall, from, to } = piecesOf(run, track, i, waits);
      for (let k = count - 1; k >= 0; k--) add(resources + (stall[k] as number), -1, (from[k] as number) - skipped, (to[k] as number) - skipped);
    }
    const band = bandOf(i);
    add(resourceOf[track.leaf(i)] ?? 0, repeats && skipped && band >= 0 ? band - repeats.bands * (repeats.times - 1) : band, start - skipped, track.end(i) - skipped);
  });
  flush();
  return level;
}

function halved({ repeats, ...level }: Level): Level {
  const bins = Math.ceil(level.bins / 2);
  const half = repeats && { ...repeats, first: repeats.first / 2, each: repeats.each / 2 };
  const out = empty({ width: level.width * 2, from: level.from, bins, repeats: half });
  for (let i = 0; i < out.share.length; i++) {
    const [a, b] = [2 * i, Math.min(2 * i + 1, level.share.length - 1)];
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

/** The same with all bins kept. */
function writtenOut(level: Level): Level {
  const out = empty({ ...level, repeats: null });
  for (let bin = 0; bin < level.bins; bin++) {
    const place = placeOf(level, bin);
    for (const name of ["share", "busy", "stall"] as const) out[name][bin] = level[name][place] as number;
    out.band[bin] = bandOfBin(level, bin);
  }
  return out;
}
