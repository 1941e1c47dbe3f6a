// What each line of program.asm cost in the run: how often it ran, how long, how long its engines waited for it, and how much of the
// run's critical path it is. An engine that had nothing to do yet held up nobody: that is no wait here.
import { leavesOnPath } from "../../run/critical_path";
import { eachSlice } from "../../run/repeat";
import type { Run, SliceRef } from "../../run/run";
import { hadNothing } from "../../run/stalls";
import type { Track } from "../../run/track";
import { listingOf } from "./listing";
import { structureOf } from "./structure";

/**
 * Each has an entry for every line; cycles are sums over all engines that execute the line. Heads of layers, sections and loops
 * have the sum of what stands below them.
 */
export interface LineCosts {
  slices: Float64Array;
  busy: Float64Array;
  wait: Float64Array;
  /** Cycles of the critical path: the only ones that the end of the run waits for, and no more than there are in the run. */
  path: Float64Array;
  /** Of lines that are instructions. */
  mostBusy: number;
  mostWait: number;
  mostPath: number;
  /** Of all lines, so that columns have room for the sums. */
  widest: { slices: number; busy: number; wait: number; path: number };
  /** Busy and wait cycles of all lines together, and of each layer's. */
  whole: number;
  ofLayer: Float64Array;
  /** Tracks that execute each line, in order; the other way round, lines by track. */
  tracks: Map<number, number[]>;
  lines: number[][];
}

const known = new WeakMap<Run, LineCosts>();

export function lineCostsOf(run: Run): LineCosts {
  let costs = known.get(run);
  if (!costs) known.set(run, (costs = lineCosts(run)));
  return costs;
}

/** One walk over all slices, one over the critical path. */
export function lineCosts(run: Run): LineCosts {
  const lines = run.asm.length;
  const costs: LineCosts = {
    slices: new Float64Array(lines), busy: new Float64Array(lines), wait: new Float64Array(lines), path: new Float64Array(lines),
    mostBusy: 0, mostWait: 0, mostPath: 0, widest: { slices: 0, busy: 0, wait: 0, path: 0 }, whole: 0, ofLayer: new Float64Array(run.layers.length), tracks: new Map(), lines: [],
  };
  for (const track of run.tracks) countTrack(run, track, costs);
  countPath(run, costs);
  const { layer } = listingOf(run);
  for (let line = 0; line < lines; line++) {
    const [busy, wait] = [costs.busy[line] as number, costs.wait[line] as number];
    costs.mostBusy = Math.max(costs.mostBusy, busy);
    costs.mostWait = Math.max(costs.mostWait, wait);
    costs.mostPath = Math.max(costs.mostPath, costs.path[line] as number);
    costs.whole += busy + wait;
    const of = layer[line] as number;
    if (of >= 0 && of < costs.ofLayer.length) costs.ofLayer[of] = (costs.ofLayer[of] as number) + busy + wait;
  }
  sumUp(run, costs);
  return costs;
}

function countTrack(run: Run, track: Track, { slices, busy, wait, tracks, lines }: LineCosts): void {
  const lineOf = run.instructions.line;
  const own = new Set<number>();
  let last = -1;
  eachSlice(run, track, (i, times) => {
    const line = lineOf[track.leaf(i)] ?? -1;
    if (!(line >= 0 && line < slices.length)) return;
    const start = track.start(i);
    slices[line] = (slices[line] as number) + times;
    busy[line] = (busy[line] as number) + times * (track.end(i) - start);
    if (!hadNothing(run, track, i)) wait[line] = (wait[line] as number) + times * (start - track.ready(i));
    if (line !== last) own.add(line);
    last = line;
  });
  lines[track.index] = [...own];
  for (const line of own) {
    const known = tracks.get(line);
    if (known) known.push(track.index);
    else tracks.set(line, [track.index]);
  }
}

function countPath(run: Run, { path: cycles }: LineCosts): void {
  leavesOnPath(run).forEach((own, leaf) => {
    const line = run.instructions.line[leaf] ?? -1;
    if (line >= 0 && line < cycles.length) cycles[line] = (cycles[line] as number) + own;
  });
}

function sumUp(run: Run, costs: LineCosts): void {
  const { endOf } = structureOf(run);
  for (const name of ["slices", "busy", "wait", "path"] as const) {
    const column = costs[name];
    const upTo = new Float64Array(column.length + 1);
    for (let line = 0; line < column.length; line++) upTo[line + 1] = (upTo[line] as number) + (column[line] as number);
    let widest = 0;
    for (let line = 0; line < column.length; line++) {
      const end = endOf[line] as number;
      if (end > line) column[line] = (upTo[end] as number) - (upTo[line] as number);
      widest = Math.max(widest, column[line] as number);
    }
    costs.widest[name] = widest;
  }
}

/** Part that a line has of the busy and wait cycles of its layer, or of the run. */
export function shareOf(costs: LineCosts, line: number, layer: number): number {
  const whole = layer >= 0 ? (costs.ofLayer[layer] ?? 0) : costs.whole;
  return whole > 0 ? ((costs.busy[line] as number) + (costs.wait[line] as number)) / whole : 0;
}

/** The slice of a line after (by = 1) or before (-1) another one: on its engine, then on the next that executes the line. */
export function nextSlice(run: Run, line: number, at: SliceRef | null, by: 1 | -1): SliceRef | null {
  const tracks = lineCostsOf(run).tracks.get(line) ?? [];
  const known = at ? tracks.indexOf(at.track) : -1;
  for (let k = known >= 0 ? known : by > 0 ? 0 : tracks.length - 1; k >= 0 && k < tracks.length; k += by) {
    const track = run.tracks[tracks[k] as number] as Track;
    const first = at && k === known ? at.index + by : by > 0 ? 0 : track.size - 1;
    for (let index = first; index >= 0 && index < track.size; index += by) if (run.instructions.line[track.leaf(index)] === line) return { track: track.index, index };
  }
  return null;
}

/** Length of a line's bar. The root keeps the many lines of a thousandth of the heaviest in sight. */
export const barShare = (cost: number, most: number): number => (most > 0 ? Math.sqrt(Math.min(1, Math.max(0, cost) / most)) : 0);
