// Rolled sequences stay rolled: any stretch of one can be read without unrolling what lies before it.
//
//   new Rolled([3, [3, 1, 2], 9])        3 1 2 1 2 1 2 9
import type { RolledItem, RolledJson } from "./format";

export type Numbers = Float64Array | Int32Array;

/** All literals of a sequence and of the loops in it, one behind the other: most are a few numbers. */
interface Pool {
  values: Numbers;
  /** Whether 32 bits hold each of them. */
  isSmall: boolean;
}

const NONE = new Int32Array(0);

interface Loop {
  times: number;
  body: Sequence;
}

const SHORT = 32; // numbers that are copied sooner one by one than by a call

class Sequence {
  // Of each node, in order:
  private readonly starts: number[] = []; // in elements
  private readonly places: number[] = []; // of a literal, in the pool; -1 for a loop
  private readonly loops: (Loop | null)[] = [];
  length = 0;

  constructor(items: RolledJson, first: number, private readonly pool: Pool, literals: number[]) {
    let inLiteral = false;
    for (let i = first; i < items.length; i++) {
      const item = items[i] as RolledItem;
      if (typeof item === "number") {
        if (!inLiteral) this.push(literals.length, null);
        inLiteral = true;
        literals.push(item);
        if (item !== (item | 0)) pool.isSmall = false;
        this.length++;
        continue;
      }
      const times = item[0];
      if (typeof times !== "number" || times < 1) throw new Error("a loop of a rolled sequence lacks its count");
      inLiteral = false;
      const loop = { times, body: new Sequence(item, 1, pool, literals) };
      this.push(-1, loop);
      this.length += times * loop.body.length;
    }
  }

  private push(place: number, loop: Loop | null) {
    this.starts.push(this.length);
    this.places.push(place);
    this.loops.push(loop);
  }

  /** The longest stretch, begin to end, in which each element equals the one `period` further on, as far as the outermost loops tell. */
  repeats(period: number): [number, number] {
    let longest: [number, number] = [0, 0];
    this.loops.forEach((loop, k) => {
      if (!loop || period % loop.body.length) return;
      const from = this.starts[k] as number;
      const to = from + loop.times * loop.body.length;
      if (to - from > longest[1] - longest[0]) longest = [from, to];
    });
    return longest;
  }

  /** Copies elements from .. from+count to out[at...]. */
  read(from: number, count: number, out: Numbers, at: number): void {
    const { starts, places, loops } = this;
    const { values } = this.pool;
    let k = lastAtMost(starts, from);
    for (const end = from + count; from < end; k++) {
      const inside = from - (starts[k] as number);
      const take = Math.min(k + 1 < starts.length ? (starts[k + 1] as number) : this.length, end) - from;
      const loop = loops[k];
      if (loop) readLoop(loop, inside, take, out, at);
      else copy(values, (places[k] as number) + inside, take, out, at);
      from += take;
      at += take;
    }
  }
}

function copy(values: Numbers, from: number, count: number, out: Numbers, at: number) {
  if (count > SHORT) out.set(values.subarray(from, from + count), at);
  else for (let k = 0; k < count; k++) out[at + k] = values[from + k] as number;
}

function readLoop(loop: Loop, from: number, count: number, out: Numbers, at: number) {
  const period = loop.body.length;
  const phase = from % period;
  const first = Math.min(count, period);
  const head = Math.min(first, period - phase);
  loop.body.read(phase, head, out, at);
  if (head < first) loop.body.read(0, first - head, out, at + head);
  // One period is there; what follows repeats it, in steps that double.
  for (let done = first; done < count; ) {
    const more = Math.min(done - (done % period), count - done);
    if (more > SHORT) out.copyWithin(at + done, at, at + more);
    else for (let k = 0; k < more; k++) out[at + done + k] = out[at + k] as number;
    done += more;
  }
}

function lastAtMost(sorted: number[], value: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] as number) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

export class Rolled {
  private readonly sequence: Sequence;

  constructor(json: RolledJson) {
    const pool: Pool = { values: NONE, isSmall: true };
    const literals: number[] = [];
    this.sequence = new Sequence(json, 0, pool, literals);
    pool.values = pool.isSmall ? new Int32Array(literals) : new Float64Array(literals);
  }

  get length(): number {
    return this.sequence.length;
  }

  /** The longest stretch, begin to end, in which each element equals the one `period` further on, as far as the outermost loops tell. */
  repeats(period: number): [number, number] {
    return this.sequence.repeats(period);
  }

  read<T extends Numbers>(from: number, count: number, out: T, at = 0): T {
    if (from < 0 || from + count > this.length) throw new Error("a column of the timeline is shorter than its track");
    if (count > 0) this.sequence.read(from, count, out, at);
    return out;
  }
}

/** The whole sequence; for the short ones that are needed at random. */
export function unrolled(json: RolledJson): Int32Array {
  const rolled = new Rolled(json);
  return rolled.read(0, rolled.length, new Int32Array(rolled.length));
}

export function unrolledWide(json: RolledJson): Float64Array {
  const rolled = new Rolled(json);
  return rolled.read(0, rolled.length, new Float64Array(rolled.length));
}
