// How busy engines are in a stretch of the run, and what they wait for.
import type { Load } from "../../run/load";
import type { Run, Stretch } from "../../run/run";
import { STALLS } from "../../run/stalls";

/** Of a group's tracks those that its figure is of: its cores, where it has any. */
export function coresOf(run: Run, tracks: readonly number[]): { tracks: readonly number[]; what: string } {
  const cores = tracks.filter((t) => run.tracks[t]?.engine === "core");
  if (cores.length) return { tracks: cores, what: cores.length > 1 ? "cores" : "core" };
  const wires = tracks.filter((t) => run.tracks[t]?.engine === "wire");
  return wires.length ? { tracks: wires, what: wires.length > 1 ? "wires" : "wire" } : { tracks, what: "" };
}

const held = ({ makespan }: Run, { from, to }: Stretch): Stretch => ({ from: Math.max(0, Math.min(from, makespan)), to: Math.max(0, Math.min(to, makespan)) });

/** "97 %", of the part of the stretch that is within the run; "" where there is none or nothing that could be busy. */
export function busyShare(load: Load, tracks: readonly number[], stretch: Stretch): string {
  const { from, to } = held(load.run, stretch);
  if (!(to > from) || !tracks.length) return "";
  const sums = new Float64Array(load.columns.count);
  for (const track of tracks) load.add(track, from, to, sums);
  let busy = 0;
  for (let r = 0; r < load.columns.resources; r++) busy += sums[r] as number;
  const share = busy / (to - from) / tracks.length;
  return share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * Math.min(1, share))} %`;
}

export interface Share {
  name: string;
  share: number;
}

export interface Account {
  /** Of the time of all engines that ever work for the resource, by Run.instructions.resources. */
  resources: (Share & { resource: number })[];
  /** Of the time of all cores; in the order of STALLS. */
  waits: (Share & { stall: number })[];
  slices: number;
}

/** What happened in a stretch. */
export function accountOf(load: Load, stretch: Stretch): Account {
  const { run, columns } = load;
  const { from, to } = held(run, stretch);
  const cycles = Math.max(1e-9, to - from);
  const busy = new Float64Array(columns.resources);
  const engines = enginesOf(load);
  const waits = new Float64Array(STALLS.length);
  let cores = 0;
  let slices = 0;
  for (const track of run.tracks) {
    const sums = new Float64Array(columns.count);
    load.add(track.index, from, to, sums);
    for (let r = 0; r < columns.resources; r++) busy[r] = (busy[r] as number) + (sums[r] as number);
    slices += track.firstAfter(to) - track.firstAfter(from);
    if (track.engine !== "core") continue;
    cores++;
    for (let s = 0; s < STALLS.length; s++) waits[s] = (waits[s] as number) + (sums[columns.stall + s] as number);
  }
  const resources = run.instructions.resources.flatMap((name, resource) => (engines[resource] ? [{ name, resource, share: (busy[resource] as number) / cycles / (engines[resource] as number) }] : []));
  return { resources, waits: STALLS.map((name, stall) => ({ name, stall, share: (waits[stall] as number) / cycles / Math.max(1, cores) })), slices };
}

/** By resource: engines that work for it at any time of the run. */
function enginesOf(load: Load): number[] {
  const { run, columns } = load;
  const engines = new Array<number>(columns.resources).fill(0);
  for (const track of run.tracks) {
    const sums = new Float64Array(columns.count);
    load.add(track.index, 0, run.makespan, sums);
    for (let r = 0; r < columns.resources; r++) if ((sums[r] as number) > 0) engines[r] = (engines[r] as number) + 1;
  }
  return engines;
}
