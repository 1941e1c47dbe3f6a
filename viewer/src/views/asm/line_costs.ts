// What each line of program.asm cost in the run: how often it ran, how long, and how long its engines waited for it.
import type { Run } from "../../run/run";

/** Each has an entry for every line; cycles are sums over all engines that execute the line. */
export interface LineCosts {
  slices: Int32Array;
  busy: Float64Array;
  wait: Float64Array;
  mostSlices: number;
  mostBusy: number;
  mostWait: number;
}

const known = new WeakMap<Run, LineCosts>();

export function lineCostsOf(run: Run): LineCosts {
  let costs = known.get(run);
  if (!costs) known.set(run, (costs = lineCosts(run)));
  return costs;
}

/** One walk over all slices. */
export function lineCosts(run: Run): LineCosts {
  const { count, line } = run.instructions;
  const slices = new Int32Array(count);
  const busy = new Float64Array(count);
  const wait = new Float64Array(count);
  for (const track of run.tracks) {
    for (let i = 0; i < track.size; i++) {
      const leaf = track.leaf(i);
      const start = track.start(i);
      slices[leaf]++;
      busy[leaf] += track.end(i) - start;
      wait[leaf] += start - track.ready(i);
    }
  }
  const lines = run.asm.length;
  const of: LineCosts = { slices: new Int32Array(lines), busy: new Float64Array(lines), wait: new Float64Array(lines), mostSlices: 0, mostBusy: 0, mostWait: 0 };
  for (let leaf = 0; leaf < count; leaf++) {
    const at = line[leaf] as number;
    if (!(at >= 0 && at < lines)) continue;
    of.mostSlices = Math.max(of.mostSlices, (of.slices[at] += slices[leaf] as number));
    of.mostBusy = Math.max(of.mostBusy, (of.busy[at] += busy[leaf] as number));
    of.mostWait = Math.max(of.mostWait, (of.wait[at] += wait[leaf] as number));
  }
  return of;
}

/** Length of a line's bar. The root keeps the many lines of a thousandth of the heaviest in sight. */
export const barShare = (cost: number, most: number): number => (most > 0 ? Math.sqrt(Math.max(0, cost) / most) : 0);
