// How much each engine did in any stretch of the run. Each track has its sums up to every edge of a grid of bins, so that a
// stretch is two look-ups and the few slices between its ends and the edges before them; the answer is exact. Where frames repeat,
// the grid is of the run without the repetitions, which are multiples of the first time.
//
//   edges    |---------|---------|---------|       sum(from, to) = upTo(to) - upTo(from)
//   stretch       from .............. to           upTo(cycle)   = sums at the edge before + the slices from there to cycle
import { eachSlice, firstTime, type Repeat } from "./repeat";
import type { Run, Stretch } from "./run";
import { piecesOf, STALLS, type Waits } from "./stalls";
import type { Track } from "./track";

const MOST_BINS = 512;

/** What is summed, one column each: cycles busy by resource, cycles waited by stall, then these. */
export interface Columns {
  resources: number;
  stall: number; // first of STALLS
  macs: number;
  needed: number;
  bytes: number;
  count: number;
}

export function columnsOf(run: Run): Columns {
  const resources = run.instructions.resources.length;
  const macs = resources + STALLS.length;
  return { resources, stall: resources, macs, needed: macs + 1, bytes: macs + 2, count: macs + 3 };
}

/** Slices of one layer in a row. */
interface LayerStretch extends Stretch {
  layer: number;
}

interface TrackLoad {
  /** Row b: all columns, summed over the cycles before b * width, without repetitions. */
  sums: Float64Array;
  width: number;
  bins: number;
  layers: LayerStretch[];
  repeat: Repeat | null;
  /** What each repetition adds. */
  again: Float64Array;
}

type Add = (column: number, from: number, to: number, amount: number) => void;

export class Load {
  readonly columns: Columns;
  readonly bins: number;
  /** Cycles of a bin: whole, so that slices without length lie clearly on one side of an edge. */
  readonly width: number;
  private readonly tracks: (TrackLoad | undefined)[] = [];

  constructor(
    readonly run: Run,
    readonly waits: Waits,
  ) {
    this.columns = columnsOf(run);
    this.width = Math.max(1, Math.ceil(run.makespan / MOST_BINS));
    this.bins = Math.max(1, Math.ceil(run.makespan / this.width));
  }

  /** Share of the tracks that are summed up. */
  get done(): number {
    return this.run.tracks.length ? this.tracks.length / this.run.tracks.length : 1;
  }

  /** Sums up further tracks for about so many milliseconds. */
  grow(milliseconds: number): void {
    const until = performance.now() + milliseconds;
    while (this.done < 1 && performance.now() < until) this.trackLoad(this.tracks.length);
  }

  /** Adds what the track did in from .. to onto `into`, a value for each column. */
  add(track: number, from: number, to: number, into: Float64Array): void {
    if (!(to > from) || !this.run.tracks[track]) return;
    this.addUpTo(track, to, 1, into);
    this.addUpTo(track, from, -1, into);
  }

  /** The column's sum in each bin. */
  addBins(track: number, column: number, into: Float64Array): void {
    const { sums, repeat } = this.trackLoad(track);
    const { count } = this.columns;
    if (!repeat) {
      for (let b = 0; b < this.bins; b++) into[b] = (into[b] as number) + (sums[(b + 1) * count + column] as number) - (sums[b * count + column] as number);
      return;
    }
    const passed = new Float64Array(count);
    let before = 0;
    for (let b = 0; b < this.bins; b++) {
      passed.fill(0);
      this.addUpTo(track, Math.min(this.run.makespan, (b + 1) * this.width), 1, passed);
      into[b] = (into[b] as number) + (passed[column] as number) - before;
      before = passed[column] as number;
    }
  }

  ranLayer(track: number, layer: number, { from, to }: Stretch): boolean {
    const { layers, repeat } = this.trackLoad(track);
    const ran = (from: number, to: number) => layers.some((at) => at.layer === layer && at.from < to && at.to > from);
    if (!repeat || to <= from) return ran(from, to);
    const [first, last] = [firstTime(repeat, from), firstTime(repeat, to)];
    if (first.before === last.before) return ran(first.cycle, last.cycle);
    const { from: begin, cycles } = repeat;
    const isWhole = last.before - first.before > 1;
    return ran(isWhole ? Math.min(from, begin) : first.cycle, begin + cycles) || ran(begin, last.cycle);
  }

  private addUpTo(index: number, cycle: number, sign: number, into: Float64Array): void {
    const load = this.trackLoad(index);
    const { repeat } = load;
    const at = repeat ? firstTime(repeat, cycle) : { cycle, before: 0 };
    // What repeats is looked at in its first time; what follows has its own place.
    this.addKept(this.run.tracks[index] as Track, load, at, repeat && at.cycle >= repeat.from + repeat.cycles ? cycle : at.cycle, sign, into);
  }

  /** `cycle`: where the slices between the edge and the moment lie in the run. */
  private addKept(track: Track, { sums, bins, width, again }: TrackLoad, at: { cycle: number; before: number }, cycle: number, sign: number, into: Float64Array): void {
    const { count } = this.columns;
    const bin = Math.max(0, Math.min(bins, Math.floor(at.cycle / width)));
    for (let c = 0; c < count; c++) into[c] = (into[c] as number) + sign * ((sums[bin * count + c] as number) + (at.before ? at.before * (again[c] as number) : 0));
    const edge = bin * width + (cycle - at.cycle);
    const add: Add = (column, from, to, amount) => {
      const part = to > from ? Math.max(0, Math.min(to, cycle) - Math.max(from, edge)) / (to - from) : from >= edge && from < cycle ? 1 : 0;
      into[column] = (into[column] as number) + sign * part * amount;
    };
    for (let i = track.firstAfter(edge - 1); i < track.size && track.ready(i) < cycle; i++) this.eachAmount(track, i, add);
  }

  private trackLoad(index: number): TrackLoad {
    for (let k = this.tracks.length; k <= index; k++) this.tracks.push(this.build(this.run.tracks[k] as Track));
    return this.tracks[index] as TrackLoad;
  }

  private eachAmount(track: Track, i: number, add: Add): void {
    const { run, columns } = this;
    const { instructions } = run;
    const [ready, start, end, leaf] = [track.ready(i), track.start(i), track.end(i), track.leaf(i)];
    if (start > ready) {
      const { count, stall, from, to } = piecesOf(run, track, i, this.waits);
      for (let k = 0; k < count; k++) add(columns.stall + (stall[k] as number), from[k] as number, to[k] as number, (to[k] as number) - (from[k] as number));
    }
    add(instructions.resource[leaf] ?? 0, start, end, end - start);
    const macs = run.macsOf(track, i);
    if (macs > 0) {
      add(columns.macs, start, end, macs);
      add(columns.needed, start, end, run.macsNeededBy(track, i));
    }
    const bytes = run.bytesOf(track, i);
    if (bytes > 0) add(columns.bytes, start, end, bytes);
  }

  private build(track: Track): TrackLoad {
    const { repeat } = this.run;
    if (!repeat?.slices[track.index]) return this.summed(track, this.width, this.bins, null);
    const { from, cycles, times } = repeat;
    const makespan = this.run.makespan - (times - 1) * cycles;
    const width = Math.max(1, Math.ceil(makespan / MOST_BINS));
    const load = this.summed(track, width, Math.ceil(makespan / width), repeat);
    const again = new Float64Array(this.columns.count);
    for (const [cycle, sign] of [[from + cycles, 1], [from, -1]] as const) this.addKept(track, load, { cycle, before: 0 }, cycle, sign, again);
    return { ...load, again };
  }

  private summed(track: Track, width: number, bins: number, repeat: Repeat | null): TrackLoad {
    const { count } = this.columns;
    const sums = new Float64Array((bins + 1) * count);
    const layers: LayerStretch[] = [];
    // What happens in bin b counts from edge b + 1 on.
    const put = (bin: number, column: number, amount: number) => {
      if (bin < bins) sums[(bin + 1) * count + column] = (sums[(bin + 1) * count + column] as number) + amount;
    };
    let skipped = 0;
    const add: Add = (column, begin, end, amount) => {
      const [from, to] = [begin - skipped, end - skipped];
      const first = Math.floor(from / width);
      if (to <= (first + 1) * width) put(first, column, amount);
      else
        for (let b = first; b < bins && b * width < to; b++) put(b, column, (amount * (Math.min(to, (b + 1) * width) - Math.max(from, b * width))) / (to - from));
    };
    eachSlice(this.run, track, (i, _, before) => {
      skipped = before;
      this.eachAmount(track, i, add);
      const last = layers[layers.length - 1];
      const layer = track.layer(i);
      if (last?.layer === layer) last.to = track.end(i) - skipped;
      else layers.push({ layer, from: track.start(i) - skipped, to: track.end(i) - skipped });
    });
    for (let k = count; k < sums.length; k++) sums[k] = (sums[k] as number) + (sums[k - count] as number);
    return { sums, width, bins, layers, repeat, again: new Float64Array(count) };
  }
}

const loads: Record<Waits, WeakMap<Run, Load>> = { root: new WeakMap(), direct: new WeakMap() };

export function loadOf(run: Run, waits: Waits): Load {
  let load = loads[waits].get(run);
  if (!load) loads[waits].set(run, (load = new Load(run, waits)));
  return load;
}
