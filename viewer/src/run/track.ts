// The slices of one engine. They stay rolled up; a block of them is unfolded when somebody looks at it.
import type { EngineKind, TrackJson } from "./format";
import type { Rolled } from "./rolled";

const SHIFT = 10;
const BLOCK = 1 << SHIFT;
const MASK = BLOCK - 1;
const MOST_BLOCKS = 4096; // unfolded at a time, over all tracks: 4 million slices, some 190 MB

interface Block {
  start: Float64Array;
  end: Float64Array;
  ready: Float64Array;
  leaf: Int32Array;
  layer: Int32Array;
  lock: Int32Array;
  causeTrack: Int32Array;
  causeIndex: Int32Array;
  wait: Uint8Array;
  padded: Int32Array | null;
  bytes: Float64Array | null;
  macs: Float64Array | null;
}

const unfoldedBlocks: { track: Track; block: number }[] = []; // oldest first

const scratch = () => new Int32Array(BLOCK);
const [gaps, durations, idles, leafSteps, layerSteps, waits, locks, places, steps] = Array.from({ length: 9 }, scratch) as [
  Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array,
];

/** Times are cycles. Indexes run from 0 to size - 1, in order of time. */
export class Track {
  readonly size: number;
  readonly engine: EngineKind;
  readonly row: number;
  readonly column: number;
  readonly channel: number;
  private readonly blocks: (Block | undefined)[];
  private last: Block | undefined;
  private lastNumber = -1;
  // What a block needs of those before it: end and leaf of the slice before, last cause in each track.
  private readonly endBefore: Float64Array;
  private readonly leafBefore: Int32Array;
  private readonly causeBefore: Int32Array;
  // Slices again .. once repeat those before them.
  private again = Infinity;
  private once = Infinity;
  private period = 0;
  private cycles = 0;
  private periods: Int32Array = new Int32Array(0);

  constructor(
    readonly index: number,
    private readonly json: TrackJson,
    private readonly columnAt: (place: number) => Rolled,
    private readonly layerOfLeaf: Int32Array,
    frames = 1,
  ) {
    this.size = json.slices;
    this.engine = json.engine;
    this.row = json.row;
    this.column = json.column;
    this.channel = json.channel;
    const blocks = Math.ceil(this.size / BLOCK);
    this.blocks = new Array<Block | undefined>(blocks);
    this.endBefore = new Float64Array(blocks + 1);
    this.leafBefore = new Int32Array(blocks + 1);
    this.causeBefore = new Int32Array((blocks + 1) * this.causes);
    this.causeBefore.fill(-1, 0, 1);
    this.walk(frames > 1 ? Math.floor(this.size / frames) : 0);
  }

  /** When its last slice ends; 0 where it has none. */
  get finish(): number {
    return this.endBefore[this.blocks.length] as number;
  }

  start(i: number): number {
    if (i >= this.again && i < this.once) return this.start(this.firstTime(i)) + this.moved(i);
    return this.block(i).start[i & MASK] as number;
  }
  end(i: number): number {
    if (i >= this.again && i < this.once) return this.end(this.firstTime(i)) + this.moved(i);
    return this.block(i).end[i & MASK] as number;
  }
  /** When the engine reached the instruction; it waited from then to the start. */
  ready(i: number): number {
    if (i >= this.again && i < this.once) return this.ready(this.firstTime(i)) + this.moved(i);
    return this.block(i).ready[i & MASK] as number;
  }
  leaf(i: number): number {
    const k = this.firstTime(i);
    return this.block(k).leaf[k & MASK] as number;
  }
  layer(i: number): number {
    const k = this.firstTime(i);
    return this.block(k).layer[k & MASK] as number;
  }
  /** Index in Run.waitKinds. */
  wait(i: number): number {
    const k = this.firstTime(i);
    return this.block(k).wait[k & MASK] as number;
  }
  lock(i: number): number {
    const k = this.firstTime(i);
    return this.block(k).lock[k & MASK] as number;
  }
  /** Track of the slice that ended the wait, or -1. */
  causeTrack(i: number): number {
    const k = this.firstTime(i);
    return this.block(k).causeTrack[k & MASK] as number;
  }
  causeIndex(i: number): number {
    const k = this.firstTime(i);
    const block = this.block(k);
    const index = block.causeIndex[k & MASK] as number;
    return k === i ? index : index + ((i - k) / this.period) * (this.periods[block.causeTrack[k & MASK] as number] ?? 0);
  }

  /** MACs that only fill up a block of channels; null where the file does not tell. */
  padded(i: number): number | null {
    const k = this.firstTime(i);
    return this.block(k).padded?.[k & MASK] ?? null;
  }

  /** Bytes and MACs of the slice itself; null where they are its instruction's. */
  bytes(i: number): number | null {
    const k = this.firstTime(i);
    return this.block(k).bytes?.[k & MASK] ?? null;
  }
  macs(i: number): number | null {
    const k = this.firstTime(i);
    return this.block(k).macs?.[k & MASK] ?? null;
  }

  /** From now on `times` stretches of `period` slices, from slice `first` on, are read as the first of them, each `cycles` after the one before; `periods` by track. */
  repeat(first: number, times: number, cycles: number, periods: Int32Array): void {
    this.period = periods[this.index] as number;
    [this.again, this.once, this.cycles, this.periods] = [first + this.period, first + this.period * times, cycles, periods];
  }

  /** The slice that it is like, in the first of the stretches that repeat. */
  firstTime(i: number): number {
    return i >= this.again && i < this.once ? this.again - this.period + ((i - this.again) % this.period) : i;
  }

  /** Cycles from that one to this. */
  moved(i: number): number {
    return i >= this.again && i < this.once ? (Math.floor((i - this.again) / this.period) + 1) * this.cycles : 0;
  }

  /** Index of the first slice that ends after `cycle`; size where there is none. */
  firstAfter(cycle: number): number {
    let low = 0;
    let high = this.blocks.length; // endBefore[b + 1] is where block b ends
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.endBefore[middle + 1] as number) > cycle) high = middle;
      else low = middle + 1;
    }
    let first = Math.min(this.size, low << SHIFT);
    let last = Math.min(this.size, first + BLOCK);
    while (first < last) {
      const middle = (first + last) >> 1;
      if (this.end(middle) > cycle) last = middle;
      else first = middle + 1;
    }
    return first;
  }

  /** The slice that runs, or waits, at `cycle`, or one no further than `slack` from it; -1 for none. */
  at(cycle: number, slack = 0): number {
    const i = this.firstAfter(cycle);
    if (i < this.size && (this.ready(i) <= cycle || this.start(i) - cycle <= slack)) return i;
    return i > 0 && cycle - this.end(i - 1) <= slack ? i - 1 : -1;
  }

  /** The longest stretch of slices, begin to end, in which all that the file says of one it says of the one `period` further on. */
  repeats(period: number): [number, number] {
    const { gap, duration, idle, leaf, layer, wait, lock, causeTrack, causeStep, padded, bytes, macs } = this.json;
    let [first, last] = [0, this.size];
    for (const place of [gap, duration, idle, leaf, layer, wait, lock, causeTrack, causeStep, padded, bytes, macs]) {
      if (place === undefined) continue;
      const [from, to] = this.columnAt(place).repeats(period);
      [first, last] = [Math.max(first, from), Math.min(last, to)];
    }
    return [first, Math.max(first, last)];
  }

  /** The slices that are unfolded together with slice i; as long as they are, `key` is the same object and stands for them. */
  blockOf(i: number): { key: object; first: number; count: number } {
    return { key: this.block(i), ...this.extent(i >> SHIFT) };
  }

  private get causes(): number {
    return this.json.causeTracks.length + 1;
  }

  private block(i: number): Block {
    const number = i >> SHIFT;
    if (number === this.lastNumber) return this.last as Block;
    if (!(i >= 0 && i < this.size)) throw new RangeError(`slice ${i} of a track with ${this.size}`);
    const block = this.blocks[number] ?? this.unfold(number);
    this.lastNumber = number;
    this.last = block;
    return block;
  }

  private forget(block: number) {
    this.blocks[block] = undefined;
    if (this.lastNumber === block) this.lastNumber = -1;
  }

  private unfold(number: number): Block {
    const { first, count } = this.extent(number);
    const column = (place: number, into: Int32Array) => this.columnAt(place).read(first, count, into);
    const wide = (place: number | undefined) => (place === undefined ? null : this.columnAt(place).read(first, count, new Float64Array(count)));
    column(this.json.gap, gaps);
    column(this.json.duration, durations);
    column(this.json.idle, idles);
    column(this.json.leaf, leafSteps);
    column(this.json.layer, layerSteps);
    column(this.json.wait, waits);
    column(this.json.lock, locks);
    column(this.json.causeTrack, places);
    column(this.json.causeStep, steps);
    const block: Block = {
      start: new Float64Array(count), end: new Float64Array(count), ready: new Float64Array(count),
      leaf: new Int32Array(count), layer: new Int32Array(count), lock: locks.slice(0, count),
      causeTrack: new Int32Array(count), causeIndex: new Int32Array(count), wait: Uint8Array.from(waits.subarray(0, count)),
      padded: this.json.padded === undefined ? null : this.columnAt(this.json.padded).read(first, count, new Int32Array(count)),
      bytes: wide(this.json.bytes), macs: wide(this.json.macs),
    };
    const causes = this.causeBefore.slice(number * this.causes, (number + 1) * this.causes);
    let end = this.endBefore[number] as number;
    let leaf = this.leafBefore[number] as number;
    for (let i = 0; i < count; i++) {
      block.start[i] = end + (gaps[i] as number);
      block.ready[i] = end + (idles[i] as number);
      end = block.end[i] = (block.start[i] as number) + (durations[i] as number);
      leaf = block.leaf[i] = leaf + (leafSteps[i] as number);
      block.layer[i] = (this.layerOfLeaf[leaf] ?? 0) + (layerSteps[i] as number);
      const place = places[i] as number;
      block.causeTrack[i] = place > 0 ? (this.json.causeTracks[place - 1] ?? -1) : -1;
      block.causeIndex[i] = causes[place] = (causes[place] ?? -1) + (steps[i] as number);
    }
    this.blocks[number] = block;
    unfoldedBlocks.push({ track: this, block: number });
    if (unfoldedBlocks.length > MOST_BLOCKS) {
      const oldest = unfoldedBlocks.shift() as { track: Track; block: number };
      oldest.track.forget(oldest.block);
    }
    return block;
  }

  private extent(number: number) {
    const first = number << SHIFT;
    return { first, count: Math.min(BLOCK, this.size - first) };
  }

  // Once through the track, keeping only what each block needs of those before it; of what repeats, once through the first time.
  private walk(period: number) {
    const walk = new Walk(this.json, this.columnAt, this.causes);
    const [begin, end] = period > 0 ? this.repeats(period) : [0, 0];
    const isOnce = (slice: number) => slice <= begin + period || slice > end || end - begin <= 2 * period;
    const stops = Array.from(this.blocks, (_, block) => {
      const slice = Math.min(this.size, (block + 1) << SHIFT);
      return { block, slice, at: isOnce(slice) ? slice : begin + ((slice - begin) % period) };
    });
    const keep = (from: Passed, times: number, step: Passed | null, block: number) => {
      this.endBefore[block + 1] = from.end + (step ? times * step.end : 0);
      this.leafBefore[block + 1] = from.leaf + (step ? times * step.leaf : 0);
      this.causeBefore.set(step ? from.causes.map((at, place) => at + times * (step.causes[place] as number)) : from.causes, (block + 1) * this.causes);
    };
    const repeated = stops.filter(({ slice, at }) => slice > at);
    for (const { block, slice } of stops) if (slice <= begin + period || !repeated.length) keep(walk.to(slice), 0, null, block);
    if (!repeated.length) return;
    const again = new Walk(this.json, this.columnAt, this.causes);
    const [before, after] = [again.to(begin).copy(), walk.to(begin + period).copy()];
    const step = after.since(before);
    for (const { block, slice, at } of repeated.sort((a, b) => a.at - b.at || a.slice - b.slice)) keep(again.to(at), (slice - at) / period, step, block);
    const last = Math.floor((end - begin) / period);
    walk.resume(begin + last * period, before.plus(step, last));
    for (const { block, slice } of stops) if (slice > end) keep(walk.to(slice), 0, null, block);
  }
}

/** What a slice needs of those before it. */
class Passed {
  constructor(
    public end: number,
    public leaf: number,
    readonly causes: Int32Array,
  ) {}

  copy(): Passed {
    return new Passed(this.end, this.leaf, this.causes.slice());
  }
  since(before: Passed): Passed {
    return new Passed(this.end - before.end, this.leaf - before.leaf, this.causes.map((at, place) => at - (before.causes[place] as number)));
  }
  plus(step: Passed, times: number): Passed {
    return new Passed(this.end + times * step.end, this.leaf + times * step.leaf, this.causes.map((at, place) => at + times * (step.causes[place] as number)));
  }
}

/** Goes along a track, from its first slice on. */
class Walk {
  private at = 0;
  private passed: Passed;

  constructor(
    private readonly json: TrackJson,
    private readonly columnAt: (place: number) => Rolled,
    causes: number,
  ) {
    this.passed = new Passed(0, 0, new Int32Array(causes).fill(-1, 0, 1)); // place 0 stands for no cause and stays at -1
  }

  resume(at: number, passed: Passed): void {
    [this.at, this.passed] = [at, passed];
  }

  /** Good until the next call. */
  to(slice: number): Passed {
    const { json, passed } = this;
    while (this.at < slice) {
      const count = Math.min(BLOCK, slice - this.at);
      this.columnAt(json.gap).read(this.at, count, gaps);
      this.columnAt(json.duration).read(this.at, count, durations);
      this.columnAt(json.leaf).read(this.at, count, leafSteps);
      this.columnAt(json.causeTrack).read(this.at, count, places);
      this.columnAt(json.causeStep).read(this.at, count, steps);
      for (let i = 0; i < count; i++) {
        passed.end += (gaps[i] as number) + (durations[i] as number);
        passed.leaf += leafSteps[i] as number;
        const place = places[i] as number;
        passed.causes[place] = (passed.causes[place] as number) + (steps[i] as number);
      }
      this.at += count;
    }
    return passed;
  }
}
