// Whose time the critical path is, by four ways to group its steps. Each way shares out the whole makespan.
import { type CriticalPath, LINK_ENGINE, LINK_FIRST, LINK_WAIT } from "../../run/critical_path";
import { layerName, lockName } from "../../run/names";
import { placeName, placeOf } from "../../run/places";
import type { Run } from "../../run/run";

export const GROUPINGS = ["resource", "layer", "place", "lock"] as const;
export type Grouping = (typeof GROUPINGS)[number];
export const GROUPING_TITLES: Record<Grouping, string> = { resource: "shares by resource", layer: "shares by layer", place: "shares by tile", lock: "shares by lock" };

/** Time in which no slice of the path runs. */
export const NO_SLICE = -1;

export interface Share {
  /** Index of the resource, layer, place or lock; NO_SLICE; of hand-overs without a lock, below HAND_OVERS. */
  group: number;
  cycles: number;
  steps: number;
}

const HAND_OVERS = -10;
const END_OF_RUN = HAND_OVERS - LINK_FIRST;
const SAME_ENGINE = HAND_OVERS - LINK_ENGINE;

/** Steps grouped by what follows them: the lock through which the step was waited for, or the kind of the hand-over. */
function handOver(path: CriticalPath, k: number): number {
  if (k + 1 >= path.steps) return END_OF_RUN;
  const lock = path.lock[k + 1] as number;
  return lock >= 0 ? lock : HAND_OVERS - (path.link[k + 1] as number);
}

/** The group of each step. */
export function groupOf(run: Run, path: CriticalPath, by: Grouping): (k: number) => number {
  switch (by) {
    case "resource":
      return (k) => path.resource[k] as number;
    case "layer":
      return (k) => path.layer[k] as number;
    case "lock":
      return (k) => handOver(path, k);
    case "place": {
      const places = run.tracks.map((track) => placeOf(run, track));
      return (k) => places[path.track[k] as number] ?? NO_SLICE;
    }
  }
}

/** Largest first; the cycles add up to the makespan. */
export function sharesOf(run: Run, path: CriticalPath, by: Grouping): Share[] {
  const group = groupOf(run, path, by);
  const shares = new Map<number, Share>();
  for (let k = 0; k < path.steps; k++) {
    const g = group(k);
    let share = shares.get(g);
    if (!share) shares.set(g, (share = { group: g, cycles: 0, steps: 0 }));
    share.cycles += (path.time[k + 1] as number) - (path.time[k] as number);
    share.steps++;
  }
  return [...shares.values()].sort((a, b) => b.cycles - a.cycles || a.group - b.group);
}

const WAITS: Record<string, string> = { partner: "the other end", start: "its START", ddrEntry: "a DDR transfer", resource: "a shared resource" };

/** How step k follows the one before it. */
export function linkName(run: Run, link: number): string {
  if (link === LINK_FIRST) return "";
  if (link === LINK_ENGINE) return "next on its engine";
  const kind = run.waitKinds[link - LINK_WAIT] ?? "";
  return WAITS[kind] ?? kind;
}

export function groupName(run: Run, by: Grouping, group: number): string {
  if (group === NO_SLICE) return "no instruction";
  switch (by) {
    case "resource":
      return run.instructions.resources[group] ?? "";
    case "layer":
      return layerName(run, group);
    case "place":
      return placeName(run, group);
    case "lock":
      if (group >= 0) return lockName(run, group);
      if (group === END_OF_RUN) return "the end of the run";
      return group === SAME_ENGINE ? "the same engine goes on" : linkName(run, HAND_OVERS - group);
  }
}
