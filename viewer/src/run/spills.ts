// Tensors that go to DDR for want of room and come back, and what that costs.
import { criticalPath } from "./critical_path";
import { tensorMovedBy } from "./executions";
import { spilledTensors } from "./memory_map";
import { eachSlice } from "./repeat";
import type { Run } from "./run";

export interface Spill {
  tensor: number;
  bytes: number; // of the tensor
  written: number; // bytes moved to DDR
  read: number; // and back
  /** Cycles that DDR channels worked for it, all together. */
  busy: number;
  /** Of the critical path: what the run spends on it at the place that sets its length. */
  onPath: number;
}

const known = new WeakMap<Run, Spill[]>();

/** The costliest first. */
export function spillsOf(run: Run): readonly Spill[] {
  let spills = known.get(run);
  if (!spills) known.set(run, (spills = find(run)));
  return spills;
}

function find(run: Run): Spill[] {
  const spills = new Map<number, Spill>();
  for (const tensor of spilledTensors(run)) {
    const { height, width, channels } = run.graph.tensors[tensor] ?? { height: 0, width: 0, channels: 0 };
    spills.set(tensor, { tensor, bytes: height * width * channels, written: 0, read: 0, busy: 0, onPath: 0 });
  }
  if (!spills.size) return [];
  const ofLeaf = new Map<number, Spill | undefined>();
  const spillOf = (leaf: number): Spill | undefined => {
    if (!ofLeaf.has(leaf)) ofLeaf.set(leaf, spills.get(tensorMovedBy(run, leaf)));
    return ofLeaf.get(leaf);
  };
  for (const track of run.tracks) {
    if (track.engine !== "ddrIn" && track.engine !== "ddrOut") continue;
    eachSlice(run, track, (i, times) => {
      const spill = spillOf(track.leaf(i));
      if (!spill) return;
      const bytes = times * run.bytesOf(track, i);
      if (track.engine === "ddrIn") spill.read += bytes;
      else spill.written += bytes;
      spill.busy += times * (track.end(i) - track.start(i));
    });
  }
  const path = criticalPath(run);
  for (let k = 0; k < path.steps; k++) {
    const engine = run.tracks[path.track[k] as number]?.engine;
    const spill = engine === "ddrIn" || engine === "ddrOut" ? spillOf(path.leaf[k] as number) : undefined;
    if (spill) spill.onPath += (path.time[k + 1] as number) - (path.time[k] as number);
  }
  return [...spills.values()].sort((a, b) => b.onPath - a.onPath || b.busy - a.busy || a.tensor - b.tensor);
}
