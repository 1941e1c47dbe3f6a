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

  constructor(
    readonly index: number,
    private readonly json: TrackJson,
    private readonly columnAt: (place: number) => Rolled,
    private readonly layerOfLeaf: Int32Array,
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
    this.causeBefore.fill(-1, 0, 1); // place 0 stands for no cause and stays at -1
    this.walk();
  }

  /** When its last slice ends; 0 where it has none. */
  get finish(): number {
    return this.endBefore[this.blocks.length] as number;
  }

  start(i: number): number {
    return this.block(i).start[i & MASK] as number;
  }
  end(i: number): number {
    return this.block(i).end[i & MASK] as number;
  }
  /** When the engine reached the instruction; it waited from then to the start. */
  ready(i: number): number {
    return this.block(i).ready[i & MASK] as number;
  }
  leaf(i: number): number {
    return this.block(i).leaf[i & MASK] as number;
  }
  layer(i: number): number {
    return this.block(i).layer[i & MASK] as number;
  }
  /** Index in Run.waitKinds. */
  wait(i: number): number {
    return this.block(i).wait[i & MASK] as number;
  }
  lock(i: number): number {
    return this.block(i).lock[i & MASK] as number;
  }
  /** Track of the slice that ended the wait, or -1. */
  causeTrack(i: number): number {
    return this.block(i).causeTrack[i & MASK] as number;
  }
  causeIndex(i: number): number {
    return this.block(i).causeIndex[i & MASK] as number;
  }

  /** MACs that only fill up a block of channels; null where the file does not tell. */
  padded(i: number): number | null {
    return this.block(i).padded?.[i & MASK] ?? null;
  }

  /** Bytes and MACs of the slice itself; null where they are its instruction's. */
  bytes(i: number): number | null {
    return this.block(i).bytes?.[i & MASK] ?? null;
  }
  macs(i: number): number | null {
    return this.block(i).macs?.[i & MASK] ?? null;
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

  // Once through the track, keeping only what each block needs of those before it.
  private walk() {
    const causes = this.causeBefore.slice(0, this.causes);
    let end = 0;
    let leaf = 0;
    for (let number = 0; number < this.blocks.length; number++) {
      const { first, count } = this.extent(number);
      this.columnAt(this.json.gap).read(first, count, gaps);
      this.columnAt(this.json.duration).read(first, count, durations);
      this.columnAt(this.json.leaf).read(first, count, leafSteps);
      this.columnAt(this.json.causeTrack).read(first, count, places);
      this.columnAt(this.json.causeStep).read(first, count, steps);
      for (let i = 0; i < count; i++) {
        end += (gaps[i] as number) + (durations[i] as number);
        leaf += leafSteps[i] as number;
        const place = places[i] as number;
        causes[place] = (causes[place] as number) + (steps[i] as number);
      }
      this.endBefore[number + 1] = end;
      this.leafBefore[number + 1] = leaf;
      this.causeBefore.set(causes, (number + 1) * this.causes);
    }
  }
}
