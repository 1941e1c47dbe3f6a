// What an engine waits for, in the words of whoever tunes the network: told by the resource of the slice that ended the wait.
import type { Run } from "./run";
import type { Track } from "./track";

export const STALLS = ["input", "weights", "output space", "DDR", "compute", "order"] as const;
export type Stall = (typeof STALLS)[number];

const BY_RESOURCE: Record<string, Stall> = {
  "input wire": "input",
  "weights wire": "weights",
  output: "output space",
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

/** Index in STALLS of the wait before slice i, or -1 where it did not wait. */
export function stallOf(run: Run, track: Track, i: number): number {
  return track.start(i) > track.ready(i) ? stallOfResource(run, run.waitResource(track, i)) : -1;
}

/** "waits 1,204 cycles for weights: a lock released by LOADWM on row wire 2", without the count. */
export function waitText(run: Run, track: Track, i: number): string {
  const stall = stallOf(run, track, i);
  if (stall < 0) return "";
  const how: Record<string, string> = {
    lock: "a lock",
    partner: "the other end of its transfer",
    start: "its START",
    ddrEntry: "the end of a DDR transfer",
    resource: "a shared resource",
  };
  const kind = run.waitKinds[track.wait(i)] ?? "";
  return `${STALLS[stall]} (${how[kind] ?? kind})`;
}
