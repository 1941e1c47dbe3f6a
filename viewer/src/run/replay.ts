// "What if this were free": the run again with some durations at 0, along the edges that the file records.
//
// Every slice starts when the one before it on its engine has ended and, where it waited, when its cause has ended. With nothing
// freed that gives each start exactly. The file names only the cause that came last: a dependency that was met earlier is not in
// it and may hold things up once the last one is gone. So the new makespan is a lower bound, and the gain an upper bound.
import { placeOf } from "./places";
import type { Run } from "./run";
import type { Track } from "./track";

/** What can be freed together: all slices of a layer, of a resource, of an instruction, or at a place (placeOf). */
export type FreeBy = "layer" | "resource" | "instruction" | "place";

const STRIDE = 1 << 13; // slices between two breaths of a task

/** Work that lets go of the page now and then: each `yield` is a place to stop. */
export type Task<T> = Generator<void, T, void>;

export class Replay {
  // Node = slice, track after track, with one node before each track that ends at 0.
  private readonly first: Int32Array; // node of slice 0 of each track
  private readonly nodes: number;
  private readonly order: Int32Array; // nodes, each after those that it needs
  private readonly duration: Int32Array;
  private readonly cause: Int32Array; // node, or -1
  private readonly lag: Int32Array; // start - end of the slice before, where that is what holds it
  private readonly causeLag: Int32Array; // start - end of the cause: 0, but for odd files
  private readonly end: Float64Array;
  private readonly groups = new Map<FreeBy, Int32Array>();

  private constructor(private readonly run: Run) {
    this.first = new Int32Array(run.tracks.length);
    let nodes = 0;
    for (const track of run.tracks) {
      this.first[track.index] = nodes + 1;
      nodes += track.size + 1;
    }
    this.nodes = nodes;
    this.order = new Int32Array(run.slices);
    this.duration = new Int32Array(this.nodes);
    this.cause = new Int32Array(this.nodes).fill(-1);
    this.lag = new Int32Array(this.nodes);
    this.causeLag = new Int32Array(this.nodes);
    this.end = new Float64Array(this.nodes);
  }

  static *of(run: Run): Task<Replay> {
    const replay = new Replay(run);
    yield* replay.read();
    yield* replay.sort();
    return replay;
  }

  /** The makespan with all slices of `group` taking no time; with group -1, of no slice. */
  *makespanWithout(by: FreeBy, group: number): Task<number> {
    const { order, duration, cause, lag, causeLag, end } = this;
    const groups = yield* this.groupsOf(by);
    let makespan = 0;
    for (let k = 0; k < order.length; ) {
      for (const stop = Math.min(order.length, k + STRIDE); k < stop; k++) {
        const node = order[k] as number;
        let start = (end[node - 1] as number) + (lag[node] as number);
        const by = cause[node] as number;
        if (by >= 0) start = Math.max(start, (end[by] as number) + (causeLag[node] as number));
        const ends = groups[node] === group ? start : start + (duration[node] as number);
        end[node] = ends;
        if (ends > makespan) makespan = ends;
      }
      yield;
    }
    return makespan;
  }

  private *read(): Task<void> {
    const { run, first } = this;
    for (const track of run.tracks) {
      let before = 0;
      for (let i = 0; i < track.size; i++) {
        const node = (first[track.index] as number) + i;
        const [start, ready] = [track.start(i), track.ready(i)];
        const cause = start > ready ? run.causeOf({ track: track.index, index: i }) : null;
        this.duration[node] = track.end(i) - start;
        this.end[node] = track.end(i);
        if (cause) this.cause[node] = (first[cause.track] as number) + cause.index;
        this.lag[node] = (cause ? ready : start) - before;
        before = track.end(i);
        if (node % STRIDE === 0) yield;
      }
      yield;
    }
    for (let node = 0; node < this.nodes; node++) {
      const cause = this.cause[node] as number;
      if (cause >= 0) this.causeLag[node] = (this.end[node] as number) - (this.duration[node] as number) - (this.end[cause] as number);
      if (node % STRIDE === 0) yield;
    }
  }

  // Along each track until a slice needs one of another track that is not there yet; then along that one first.
  private *sort(): Task<void> {
    const { run, first, cause, order } = this;
    const trackOf = this.trackOfNode();
    const next = first.slice(0, run.tracks.length); // node to come, by track
    const isOpen = new Uint8Array(run.tracks.length);
    let done = 0;
    for (let t = 0; t < run.tracks.length; t++) {
      const open = [t];
      isOpen[t] = 1;
      while (open.length) {
        const at = open[open.length - 1] as number;
        const until = open.length > 1 ? this.needed(open, next) : Infinity;
        const last = (first[at] as number) + (run.tracks[at] as Track).size;
        let blocked = -1;
        while ((next[at] as number) < last && (next[at] as number) <= until) {
          const node = next[at] as number;
          const by = cause[node] as number;
          const other = by >= 0 ? (trackOf[by] as number) : -1;
          if (other >= 0 && other !== at && by >= (next[other] as number)) {
            if (!isOpen[other]) {
              blocked = other;
              break;
            }
            this.forgetCause(node); // causes in a circle: only in a file that is wrong
          } else if (other === at && by >= node) this.forgetCause(node);
          order[done++] = node;
          next[at] = node + 1;
          if (done % STRIDE === 0) yield;
        }
        if (blocked >= 0) {
          open.push(blocked);
          isOpen[blocked] = 1;
        } else {
          open.pop();
          isOpen[at] = 0;
        }
      }
    }
  }

  /** The node that the track below the top of the stack waits for. */
  private needed(open: number[], next: Int32Array): number {
    return this.cause[next[open[open.length - 2] as number] as number] as number;
  }

  /** The start stays what it was, whatever is freed elsewhere. */
  private forgetCause(node: number): void {
    const start = (this.end[node] as number) - (this.duration[node] as number);
    this.lag[node] = start - (this.end[node - 1] as number);
    this.cause[node] = -1;
    this.causeLag[node] = 0;
  }

  private trackOfNode(): Int32Array {
    const out = new Int32Array(this.nodes);
    for (const track of this.run.tracks) out.fill(track.index, this.first[track.index], (this.first[track.index] as number) + track.size);
    return out;
  }

  private *groupsOf(by: FreeBy): Task<Int32Array> {
    const known = this.groups.get(by);
    if (known) return known;
    const out = new Int32Array(this.nodes).fill(-2);
    const { resource } = this.run.instructions;
    for (const track of this.run.tracks) {
      const at = this.first[track.index] as number;
      if (by === "place") out.fill(placeOf(this.run, track), at, at + track.size);
      else if (by === "layer") for (let i = 0; i < track.size; i++) out[at + i] = track.layer(i);
      else for (let i = 0; i < track.size; i++) out[at + i] = by === "instruction" ? track.leaf(i) : (resource[track.leaf(i)] ?? -2);
      yield;
    }
    this.groups.set(by, out);
    return out;
  }
}
