// How things are called, everywhere the same.
import type { Run } from "./run";
import type { Track } from "./track";

/** Where a heading above already says which tile it is. */
export function laneName(run: Run, track: Track): string {
  switch (track.engine) {
    case "sequencer":
      return "sequencer";
    case "ddrIn":
      return `DDR in ${track.channel}`;
    case "ddrOut":
      return `DDR out ${track.channel}`;
    case "wire":
      return `wire ${run.device.wires[track.column]?.name ?? track.column}`;
    case "core":
      return `core ${track.row},${track.column}`;
    case "coreIn":
      return `receive ${track.channel}`;
    case "coreOut":
      return `send ${track.channel}`;
  }
}

export function trackName(run: Run, track: Track): string {
  const lane = laneName(run, track);
  if (track.engine === "ddrIn" || track.engine === "ddrOut") return `memtile ${track.column} ${lane}`;
  if (track.engine === "coreIn" || track.engine === "coreOut") return `core ${track.row},${track.column} ${lane}`;
  return lane;
}

export function lockName(run: Run, lock: number): string {
  const { locks } = run;
  if (!(lock >= 0 && lock < locks.count)) return "";
  const isCore = locks.tileKinds[locks.tileKind[lock] as number] === "core";
  return `lock ${locks.index[lock]} of ${isCore ? `core ${locks.row[lock]},${locks.column[lock]}` : `memtile ${locks.column[lock]}`}`;
}

/** "lock 3 of core 0,1, from receive 0 to core 0,1" */
export function lockText(run: Run, lock: number): string {
  const name = lockName(run, lock);
  const by = (index: number) => (run.tracks[index] ? trackName(run, run.tracks[index]) : "nobody");
  return name && `${name}, from ${by(run.locks.producer[lock] as number)} to ${by(run.locks.consumer[lock] as number)}`;
}

export function layerName(run: Run, layer: number): string {
  return run.layers[layer]?.name ?? "";
}

export function tensorName(run: Run, tensor: number): string {
  return run.graph.tensors[tensor]?.name ?? "";
}

/** "3x3 mesh paper" and the like: tells two runs apart. */
export function runName(run: Run): string {
  return `${run.model} on ${run.device.name} ${run.device.rows}x${run.device.columns}`;
}
