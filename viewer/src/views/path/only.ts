// The steps of one group alone: of a resource, a layer, a tile, or those that end in a lock.
import type { CriticalPath } from "../../run/critical_path";
import type { Run } from "../../run/run";
import { groupName, groupOf, type Grouping, GROUPINGS } from "./shares";

export interface Only {
  by: Grouping;
  group: number;
  name: string;
  matches(step: number): boolean;
  /** Cycles and number of the steps that match, before step k. */
  cycles: Float64Array;
  steps: Int32Array;
}

export const onlyText = (by: Grouping, group: number): string => `${by}:${group}`;

/** As onlyText wrote it; null for a text that names no group that the path has. */
export function onlyOf(run: Run, path: CriticalPath, text: string): Only | null {
  const [, name, number] = /^([a-z]+):(-?\d{1,9})$/.exec(text) ?? [];
  const by = GROUPINGS.find((known) => known === name);
  if (!by) return null;
  const group = Number(number);
  const of = groupOf(run, path, by);
  const matches = (k: number) => of(k) === group;
  const cycles = new Float64Array(path.steps + 1);
  const steps = new Int32Array(path.steps + 1);
  for (let k = 0; k < path.steps; k++) {
    const is = matches(k);
    cycles[k + 1] = (cycles[k] as number) + (is ? (path.time[k + 1] as number) - (path.time[k] as number) : 0);
    steps[k + 1] = (steps[k] as number) + (is ? 1 : 0);
  }
  return steps[path.steps] ? { by, group, name: groupName(run, by, group), matches, cycles, steps } : null;
}

/** What of first .. end matches. */
export const cyclesIn = ({ cycles }: Only, { first, end }: { first: number; end: number }): number => (cycles[end] as number) - (cycles[first] as number);
export const stepsIn = ({ steps }: Only, { first, end }: { first: number; end: number }): number => (steps[end] as number) - (steps[first] as number);
