// What an engine waits for, in the words of whoever tunes the network.
//
// Told by the resource of a slice: of the one whose end ended the wait ("direct": the neighbour), or, followed back, of what ran
// at each moment of the wait at the end of the chain of causes ("root"): the report counts waits like this.
//
//   DDR in   |            LOAD             |                 core, root:    DDR . . . . . . . . . . input
//   wire     . . . . . . . . . . . . . . . .| SEND |          core, direct:  input . . . . . . . . . . . .
//   core     . . . . . . . . . . . . . . . . . . . .| CONV
import type { Run } from "./run";
import type { Track } from "./track";

export const STALLS = ["input", "weights", "output", "DDR", "compute", "order", "nothing to do"] as const;
export type Stall = (typeof STALLS)[number];

/** Of STALLS: an engine that holds up nobody. There is no output yet for it to take away, or the sequencer has started all that it starts. */
export const NO_WORK = STALLS.indexOf("nothing to do");

export const WAITS = ["root", "direct"] as const;
export type Waits = (typeof WAITS)[number];

const BY_RESOURCE: Record<string, Stall> = {
  "input wire": "input",
  "weights wire": "weights",
  output: "output",
  "DDR read": "DDR",
  "DDR write": "DDR",
  compute: "compute",
  sequencer: "order",
};

const stallsOf = new WeakMap<Run, number[]>();

/** Index in STALLS for a resource of Run.instructions.resources (-1: nobody in particular). */
export function stallOfResource(run: Run, resource: number): number {
  let table = stallsOf.get(run);
  if (!table) {
    table = run.instructions.resources.map((name) => STALLS.indexOf(BY_RESOURCE[name] ?? "order"));
    stallsOf.set(run, table);
  }
  return table[resource] ?? STALLS.indexOf("order");
}

/** Of a lock: its consumer waits for data that the producer brings, or for a place that the producer gives back. */
export type LockSense = "data" | "place";

export function senseOf(run: Run, lock: number): LockSense | null {
  const { locks, tracks } = run;
  const producer = tracks[locks.producer[lock] ?? -1]?.engine;
  const consumer = tracks[locks.consumer[lock] ?? -1]?.engine;
  if (!producer || !consumer) return null;
  const isCore = locks.tileKinds[locks.tileKind[lock] as number] === "core";
  const brings = isCore
    ? (producer === "coreIn" && consumer === "core") || (producer === "core" && consumer === "coreOut")
    : (producer === "ddrIn" || producer === "coreOut") && (consumer === "ddrOut" || consumer === "wire");
  return brings ? "data" : "place";
}

const takesOutputs = ({ engine }: Track): boolean => engine === "ddrOut" || engine === "coreOut";

/** Whether slice i could not start because there was nothing to do yet, no output to take away or the run not at its end: such a wait costs nobody anything. */
export const hadNothing = (run: Run, track: Track, i: number): boolean =>
  track.engine === "sequencer" || (takesOutputs(track) && track.lock(i) >= 0 && senseOf(run, track.lock(i)) === "data");

/** What such a wait is, and that it took so long: "nothing to send yet, for 120 cycles". */
export const idleText = ({ engine }: Track, long = ""): string => (engine === "sequencer" ? `waits ${long && `${long} `}for the run's end` : `nothing to send yet${long && `, for ${long}`}`);

const LONGEST_CHAIN = 64; // as the report follows waits

/** The stretches of one wait, the last first; good until the next wait is asked for. */
export interface Pieces {
  count: number;
  stall: Int8Array;
  from: Float64Array;
  to: Float64Array;
}

const ROOM = 2 * LONGEST_CHAIN + 2;
const pieces: Pieces = { count: 0, stall: new Int8Array(ROOM), from: new Float64Array(ROOM), to: new Float64Array(ROOM) };
const open = { from: new Float64Array(ROOM), to: new Float64Array(ROOM), track: new Int32Array(ROOM), index: new Int32Array(ROOM) };

/** What slice i waited for from its ready to its start; no pieces where it did not wait. */
export function piecesOf(run: Run, track: Track, i: number, waits: Waits): Pieces {
  pieces.count = 0;
  const start = track.start(i);
  if (start <= track.ready(i)) return pieces;
  if (waits === "direct") {
    find(run, track, i, waits);
    return pieces;
  }
  const [like, moved] = [track.firstTime(i), track.moved(i)];
  const { first, ends, stall, from } = rootWaitsOf(run, track, like);
  let to = start;
  for (let k = like === first ? 0 : (ends[like - first - 1] as number); k < (ends[like - first] as number); k++) {
    const n = pieces.count++;
    pieces.stall[n] = stall[k] as number;
    pieces.from[n] = (from[k] as number) + moved;
    pieces.to[n] = to;
    to = pieces.from[n] as number; // pieces fill the wait without a gap
  }
  return pieces;
}

/** The waits of slices that are unfolded together, followed back: pictures ask for the same ones at each frame. */
interface RootWaits {
  first: number; // slice
  ends: Int32Array; // of each slice's pieces in the lists
  stall: Int8Array;
  from: Float64Array;
}

const rootWaits = new WeakMap<object, RootWaits>(); // by Track.blockOf(i).key

let lately: { track: Track; end: number; waits: RootWaits } | null = null;

function rootWaitsOf(run: Run, track: Track, i: number): RootWaits {
  if (lately && lately.track === track && i >= lately.waits.first && i < lately.end) return lately.waits;
  const { key, first, count } = track.blockOf(i);
  let waits = rootWaits.get(key);
  if (!waits) rootWaits.set(key, (waits = findAll(run, track, first, count)));
  lately = { track, end: first + count, waits };
  return waits;
}

const found = { stall: new Int8Array(0), from: new Float64Array(0) };

function findAll(run: Run, track: Track, first: number, count: number): RootWaits {
  if (found.stall.length < count * ROOM) [found.stall, found.from] = [new Int8Array(count * ROOM), new Float64Array(count * ROOM)];
  const ends = new Int32Array(count);
  let size = 0;
  for (let k = 0; k < count; k++) {
    pieces.count = 0;
    find(run, track, first + k, "root");
    for (let n = 0; n < pieces.count; n++) {
      found.stall[size] = pieces.stall[n] as number;
      found.from[size++] = pieces.from[n] as number;
    }
    ends[k] = size;
  }
  pieces.count = 0;
  return { first, ends, stall: found.stall.slice(0, size), from: found.from.slice(0, size) };
}

/** Into `pieces`. */
function find(run: Run, track: Track, i: number, waits: Waits): void {
  const [ready, start] = [track.ready(i), track.start(i)];
  if (start <= ready) return;
  if (hadNothing(run, track, i)) put(NO_WORK, ready, start);
  else if (waits === "direct") put(stallOfResource(run, run.waitResource(track, i)), ready, start);
  else followBack(run, track, i, ready, start);
}

function put(stall: number, from: number, to: number): void {
  if (to <= from) return;
  const before = pieces.count - 1;
  if (before >= 0 && pieces.stall[before] === stall && pieces.from[before] === to) {
    pieces.from[before] = from;
    return;
  }
  const k = pieces.count++;
  pieces.stall[k] = stall;
  pieces.from[k] = from;
  pieces.to[k] = to;
}

function followBack(run: Run, track: Track, i: number, ready: number, start: number): void {
  let size = 0;
  const push = (from: number, to: number, cause: number, index: number) => {
    open.from[size] = from;
    open.to[size] = to;
    open.track[size] = cause;
    open.index[size++] = index;
  };
  push(ready, start, track.causeTrack(i), track.causeIndex(i));
  let stall = STALLS.indexOf("order");
  for (let steps = 0; size > 0; steps++) {
    size--;
    const [from, to, cause, index] = [open.from[size] as number, open.to[size] as number, open.track[size] as number, open.index[size] as number];
    if (to <= from) continue; // counts as a step all the same: the report does so
    const by = run.tracks[cause];
    if (!by || !(index >= 0 && index < by.size) || steps >= LONGEST_CHAIN) {
      put(stall, from, to);
      continue;
    }
    stall = stallOfResource(run, run.instructions.resource[by.leaf(index)] ?? -1);
    const ran = Math.max(from, Math.min(to, by.start(index)));
    put(stall, ran, to);
    // Before it ran, the cause waited in turn; before that, its engine was busy with the slice in front of it.
    const reached = Math.max(from, Math.min(ran, by.ready(index)));
    push(from, reached, cause, index - 1);
    push(reached, ran, by.causeTrack(index), by.causeIndex(index));
  }
}

/** Index in STALLS of the longest part of the wait before slice i, or -1 where it did not wait. */
export function stallOf(run: Run, track: Track, i: number, waits: Waits): number {
  const sums = sumsOf(piecesOf(run, track, i, waits));
  let best = -1;
  sums.forEach((cycles, stall) => {
    if (cycles > 0 && (best < 0 || cycles > (sums[best] as number))) best = stall;
  });
  return best;
}

function sumsOf({ count, stall, from, to }: Pieces): number[] {
  const sums = STALLS.map(() => 0);
  for (let k = 0; k < count; k++) sums[stall[k] as number] = (sums[stall[k] as number] as number) + (to[k] as number) - (from[k] as number);
  return sums;
}

/** What each part of the wait before slice i was for, longest first. */
export function waitParts(run: Run, track: Track, i: number, waits: Waits): { stall: number; cycles: number }[] {
  return sumsOf(piecesOf(run, track, i, waits)).flatMap((cycles, stall) => (cycles > 0 ? [{ stall, cycles }] : [])).sort((a, b) => b.cycles - a.cycles || a.stall - b.stall);
}

const HOW: Record<string, string> = {
  partner: "the other end of its transfer",
  start: "its START",
  ddrEntry: "the end of a DDR transfer",
  resource: "a shared resource",
};

/** What exactly let slice i go: "a lock: the data was not there yet"; "" where it did not wait. */
export function letGoBy(run: Run, track: Track, i: number): string {
  if (track.start(i) <= track.ready(i)) return "";
  const kind = run.waitKinds[track.wait(i)] ?? "";
  if (kind !== "lock") return HOW[kind] ?? kind;
  const sense = senseOf(run, track.lock(i));
  if (hadNothing(run, track, i)) return "a lock: there was no output yet";
  return sense === "data" ? "a lock: the data was not there yet" : sense === "place" ? "a lock: no place was free" : "a lock";
}

/** "waits 120 cycles for DDR (a lock: ...)", or that there is nothing to do; `duration` says how long. */
export function waitSentence(run: Run, track: Track, i: number, waits: Waits, duration: (cycles: number) => string): string {
  const long = duration(track.start(i) - track.ready(i));
  return hadNothing(run, track, i) ? `${idleText(track, long)} (${letGoBy(run, track, i)})` : `waits ${long} for ${waitText(run, track, i, waits)}`;
}

/** "DDR (a lock: the data was not there yet)"; a wait with several causes names the longest and how many others there were. */
export function waitText(run: Run, track: Track, i: number, waits: Waits): string {
  if (track.start(i) > track.ready(i) && hadNothing(run, track, i)) return idleText(track);
  const parts = waitParts(run, track, i, waits);
  const [longest] = parts;
  if (!longest) return "";
  const others = parts.slice(1).map(({ stall }) => STALLS[stall]);
  return `${STALLS[longest.stall]}${others.length ? `, then ${others.join(", ")}` : ""} (${letGoBy(run, track, i)})`;
}
