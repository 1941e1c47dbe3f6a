// How busy a resource is over a stretch of time, from the counters summed up once.
import type { Run } from "../../run/run";

export interface Usage {
  name: string;
  /** Share of its engines that are busy between two cycles. */
  share(from: number, to: number): number;
}

const known = new WeakMap<Run, Usage[]>();

export function usagesOf(run: Run): Usage[] {
  let usages = known.get(run);
  if (!usages) known.set(run, (usages = run.counters.series.map((series) => usageOf(run, series))));
  return usages;
}

function usageOf(run: Run, { name, most, values }: { name: string; most: number; values: ArrayLike<number> }): Usage {
  const { step } = run.counters;
  const done = new Float64Array(values.length + 1); // busy cycles up to each step
  for (let k = 0; k < values.length; k++) done[k + 1] = (done[k] as number) + (values[k] as number);
  const engines = step > 0 ? most / step : 0;
  // Within a step the work is taken as spread evenly; the last step may be a short one.
  const upTo = (cycle: number) => {
    const k = Math.max(0, Math.min(values.length - 1, Math.floor(cycle / step)));
    const from = k * step;
    const width = Math.min(step, run.makespan - from);
    const share = width > 0 ? Math.max(0, Math.min(1, (cycle - from) / width)) : 0;
    return (done[k] as number) + ((done[k + 1] ?? done[k]) as number - (done[k] as number)) * share;
  };
  return { name, share: (from, to) => (engines > 0 && to > from && values.length > 0 ? Math.max(0, Math.min(1, (upTo(to) - upTo(from)) / (engines * (to - from)))) : 0) };
}
