// Inferences in a row settle: from some cycle on each does what the one before it did, a fixed number of cycles later. What is counted
// once need not be counted again for each of them.
//
//   cycle    0 .... from ....... from + cycles ....... + cycles ....... + cycles .... makespan
//            once | counted once,  times = 3                                   | once
import type { Run } from "./run";
import type { Track } from "./track";

export interface Repeat {
  from: number; // cycle
  cycles: number;
  /** How often that stretch is there, one behind the other; at least twice. */
  times: number;
  /** By track: slices of the first time, those that get ready in it; none of a track that does not repeat. */
  first: Int32Array;
  slices: Int32Array;
}

/** All slices, or of those that repeat only the first, with the times that it is there; `skipped`: cycles before it that nobody was shown. */
export function eachSlice(run: Run, track: Track, visit: (i: number, times: number, skipped: number) => void): void {
  const { repeat } = run;
  const period = repeat?.slices[track.index] ?? 0;
  if (!repeat || !period) {
    for (let i = 0; i < track.size; i++) visit(i, 1, 0);
    return;
  }
  const { times, cycles } = repeat;
  const first = repeat.first[track.index] as number;
  for (let i = 0; i < first; i++) visit(i, 1, 0);
  for (let i = first; i < first + period; i++) visit(i, times, 0);
  for (let i = first + period * times; i < track.size; i++) visit(i, 1, (times - 1) * cycles);
}

/** The same moment in the first of the times, and how many of them lie between the two; cycles after the last time move by all but one. */
export function firstTime({ from, cycles, times }: Repeat, cycle: number): { cycle: number; before: number } {
  const before = Math.min(times - 1, Math.max(0, Math.floor((cycle - from) / cycles)));
  return { cycle: cycle - before * cycles, before };
}

const readyAfter = (track: Track, cycle: number): number => {
  const i = track.firstAfter(cycle);
  return i < track.size && track.ready(i) < cycle ? i + 1 : i;
};

/** Finds it, and tells the tracks; null where the run has one frame, or where nothing says that its frames are alike. */
export function findRepeat(run: Pick<Run, "frames" | "tracks">): Repeat | null {
  const frames = run.frames.length;
  if (frames < 2) return null;
  // The sequencer starts all frames one after another, and then waits for the last.
  const repeating = run.tracks.filter(({ engine, size }) => engine !== "sequencer" && size >= frames);
  if (!repeating.length || run.tracks.some((track) => track.size && track.engine !== "sequencer" && !repeating.includes(track))) return null;
  const [first, slices] = [new Int32Array(run.tracks.length), new Int32Array(run.tracks.length)];
  const ends = new Map<Track, number>();
  let [from, cycles] = [0, 0];
  for (const track of repeating) {
    const period = Math.floor(track.size / frames);
    const [begin, end] = track.repeats(period);
    if (end - begin < 2 * period) return null;
    const length = track.end(begin + period) - track.end(begin);
    if (cycles && length !== cycles) return null;
    cycles = length;
    slices[track.index] = period;
    ends.set(track, end);
    from = Math.max(from, track.end(begin));
  }
  let times = Infinity;
  for (const track of repeating) {
    const [period, end] = [slices[track.index] as number, ends.get(track) as number];
    const begin = (first[track.index] = readyAfter(track, from));
    times = Math.min(times, Math.floor((end - begin) / period));
    if (times < 2 || readyAfter(track, from + cycles) !== begin + period || !waitsForItsLike(track, begin, period, slices)) return null;
  }
  for (const track of repeating) track.repeat(first[track.index] as number, times, cycles, slices);
  return { from, cycles, times, first, slices };
}

/** Whether causes move on with what they are the cause of: all that stand in one track move alike. */
function waitsForItsLike(track: Track, begin: number, period: number, slices: Int32Array): boolean {
  const seen = new Set<number>();
  for (let i = begin; i < begin + period; i++) {
    const cause = track.causeTrack(i);
    if (cause < 0 || seen.has(cause)) continue;
    seen.add(cause);
    if (!slices[cause] || track.causeIndex(i + period) - track.causeIndex(i) !== slices[cause]) return false;
  }
  return true;
}
