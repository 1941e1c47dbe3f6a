// Rolled sequences stay rolled: any stretch of one can be read without unrolling what lies before it.
//
//   new Rolled([3, [3, 1, 2], 9])        3 1 2 1 2 1 2 9
import type { RolledItem, RolledJson } from "./format";

export type Numbers = Float64Array | Int32Array;

interface Literal {
  values: Numbers;
}
interface Loop {
  times: number;
  body: Sequence;
}
type Node = Literal | Loop;

class Sequence {
  readonly nodes: Node[] = [];
  readonly starts: number[] = []; // of each node, in elements
  length = 0;

  constructor(items: RolledJson, first: number) {
    let literal: number[] = [];
    const flush = () => {
      if (!literal.length) return;
      const small = literal.every((value) => value === (value | 0));
      this.push({ values: small ? Int32Array.from(literal) : Float64Array.from(literal) }, literal.length);
      literal = [];
    };
    for (let i = first; i < items.length; i++) {
      const item = items[i] as RolledItem;
      if (typeof item === "number") {
        literal.push(item);
        continue;
      }
      const times = item[0];
      if (typeof times !== "number" || times < 1) throw new Error("a loop of a rolled sequence lacks its count");
      flush();
      const body = new Sequence(item, 1);
      this.push({ times, body }, times * body.length);
    }
    flush();
  }

  private push(node: Node, length: number) {
    this.nodes.push(node);
    this.starts.push(this.length);
    this.length += length;
  }

  /** Copies elements from .. from+count to out[at...]. */
  read(from: number, count: number, out: Numbers, at: number): void {
    let k = lastAtMost(this.starts, from);
    for (const end = from + count; from < end; k++) {
      const node = this.nodes[k] as Node;
      const inside = from - (this.starts[k] as number);
      const size = "values" in node ? node.values.length : node.times * node.body.length;
      const take = Math.min(size - inside, end - from);
      if ("values" in node) out.set(node.values.subarray(inside, inside + take), at);
      else readLoop(node, inside, take, out, at);
      from += take;
      at += take;
    }
  }
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
    out.copyWithin(at + done, at, at + more);
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
    this.sequence = new Sequence(json, 0);
  }

  get length(): number {
    return this.sequence.length;
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
