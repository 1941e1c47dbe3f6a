// How much of the run the critical path spends on each resource.
import { criticalPath } from "./critical_path";
import type { Run } from "./run";

export interface ResourceShare {
  resource: number;
  /** On the critical path. */
  cycles: number;
  /** By which the run would be shorter were the resource free; null where the file does not say. */
  gain: number | null;
}

/** Largest first. */
export function resourcesOnPath(run: Run): ResourceShare[] {
  const path = criticalPath(run);
  const cycles = new Map<number, number>();
  for (let k = 0; k < path.steps; k++) {
    const resource = path.resource[k] as number;
    if (resource >= 0) cycles.set(resource, (cycles.get(resource) ?? 0) + (path.time[k + 1] as number) - (path.time[k] as number));
  }
  const gainOf = (resource: number): number | null => {
    const without = run.whatIf.find((entry) => entry.resource === run.instructions.resources[resource]);
    return without ? run.makespan - without.cycles : null;
  };
  return [...cycles].map(([resource, spent]) => ({ resource, cycles: spent, gain: gainOf(resource) })).sort((a, b) => b.cycles - a.cycles || a.resource - b.resource);
}
