// Where an engine is: a core, a memtile, a wire or the sequencer, numbered so that sums over them need no names.
import { memtilesOf } from "./memtiles";
import { laneName } from "./names";
import type { Run } from "./run";
import type { Track } from "./track";

/** Cores row by row, then memtiles, then wires, then the sequencer. */
export function placeOf({ device }: Run, { engine, row, column }: Track): number {
  const cores = device.rows * device.columns;
  switch (engine) {
    case "core":
    case "coreIn":
    case "coreOut":
      return row * device.columns + column;
    case "ddrIn":
    case "ddrOut":
      return cores + column;
    case "wire":
      return cores + memtilesOf(device) + column;
    case "sequencer":
      return cores + memtilesOf(device) + device.wires.length;
  }
}

export function placeName(run: Run, place: number): string {
  const { device } = run;
  const cores = device.rows * device.columns;
  if (place < 0) return "";
  if (place < cores) return `core ${Math.floor(place / device.columns)},${place % device.columns}`;
  if (place < cores + memtilesOf(device)) return `memtile ${place - cores}`;
  const track = run.tracks.find((t) => placeOf(run, t) === place);
  return track ? laneName(run, track) : "";
}

/** Of a core or memtile; -2, which is no place, for none. */
export function placeOfTile({ device }: Run, tile: { kind: "core" | "memtile"; row: number; column: number } | null): number {
  if (!tile) return -2;
  return tile.kind === "core" ? tile.row * device.columns + tile.column : device.rows * device.columns + tile.column;
}
