// What the page shows, in one place: plain values that the address holds, so that a link brings another reader to the same sight.
import { stepsOf } from "../run/groups";
import type { Run, SliceRef, Stretch } from "../run/run";
import { type PageState, StateStore } from "./store";

export const VIEWS = ["timeline", "path", "memory", "mesh", "layers", "graph", "asm", "compare"] as const;
export type ViewId = (typeof VIEWS)[number];
export const TITLES: Readonly<Record<ViewId, string>> = {
  timeline: "Timeline", path: "Critical path", memory: "Memory", mesh: "Mesh", layers: "Layers", graph: "Graph", asm: "Asm", compare: "Compare",
};

export interface Tile {
  kind: "core" | "memtile";
  row: number; // 0 for a memtile
  column: number;
}

/** One thing of the run that is selected. */
export type Selection =
  | { kind: "slice"; track: number; index: number }
  | { kind: "layer"; layer: number }
  | { kind: "instruction"; leaf: number }
  | { kind: "tensor"; tensor: number }
  | { kind: "block"; block: number }
  | { kind: "lock"; lock: number }
  | { kind: "tile"; tile: Tile }
  | { kind: "engine"; track: number }
  /** Layers that are computed tile by tile: all, one tile of them, or one layer's step in it; -1: all. */
  | { kind: "group"; group: number; tile: number; layer: number }
  /** One inference of several. */
  | { kind: "frame"; frame: number }
  /** What lies in a memory at a cycle. */
  | { kind: "moment"; memory: Memory; cycle: number };

export interface Memory {
  kind: "core" | "memtile" | "ddr";
  row: number; // 0 where there are none
  column: number;
}

export interface State extends PageState<ViewId> {
  /** Which run the views show: 0, or 1 where two were given. */
  run: number;
  /** The stretch of time on screen, shared by all views that have a time axis. */
  window: Stretch;
  selection: Selection | null;
  /** A stretch that was measured with the mouse. */
  measure: Stretch | null;
  unit: "cycles" | "time";
}

/** Of the window, that may show what lies before the run and behind it. */
export const EDGE = 0.01;

export type Change = ReadonlySet<keyof State>;
export const EVERYTHING: Change = new Set<keyof State>(["view", "lower", "run", "window", "selection", "measure", "unit", "options"]);

export class Store extends StateStore<State> {}

/** All that is known of the selection; -1 or null where it says nothing. Views light up what concerns them. */
export interface Focus {
  slice: SliceRef | null;
  track: number;
  leaf: number;
  line: number;
  layer: number;
  tensor: number;
  block: number;
  lock: number;
  tile: Tile | null;
  /** Of layers that are computed tile by tile: which, and which of their tiles. */
  group: number;
  groupTile: number;
  frame: number;
}

const NOTHING: Focus = { slice: null, track: -1, leaf: -1, line: -1, layer: -1, tensor: -1, block: -1, lock: -1, tile: null, group: -1, groupTile: -1, frame: -1 };

/** Layer that makes the tensor, or -1. */
export const producerOf = (run: Run, tensor: number): number => run.graph.operators.findIndex((op) => op.output === tensor || op.pools === tensor);

export function tileOfTrack(run: Run, track: number): Tile | null {
  const t = run.tracks[track];
  if (!t || t.engine === "sequencer" || t.engine === "wire") return null;
  return t.engine.startsWith("ddr") ? { kind: "memtile", row: 0, column: t.column } : { kind: "core", row: t.row, column: t.column };
}

export function focusOf(run: Run, selection: Selection | null): Focus {
  const { instructions, locks } = run;
  switch (selection?.kind) {
    case undefined:
      return NOTHING;
    case "slice": {
      const track = run.tracks[selection.track];
      if (!track || !(selection.index >= 0 && selection.index < track.size)) return NOTHING;
      const leaf = track.leaf(selection.index);
      const slice = { track: selection.track, index: selection.index };
      return { ...NOTHING, slice, track: slice.track, leaf, line: instructions.line[leaf] ?? -1, layer: track.layer(slice.index), tile: tileOfTrack(run, slice.track) };
    }
    case "layer":
      return { ...NOTHING, layer: selection.layer };
    case "instruction":
      return { ...NOTHING, leaf: selection.leaf, line: instructions.line[selection.leaf] ?? -1, layer: instructions.layer[selection.leaf] ?? -1 };
    case "tensor":
      return { ...NOTHING, tensor: selection.tensor, layer: producerOf(run, selection.tensor) };
    case "block": {
      const block = run.memory[selection.block];
      if (!block) return NOTHING;
      const tile: Tile | null = block.kind === "ddr" ? null : { kind: block.kind, row: block.tiles.row, column: block.tiles.column };
      return { ...NOTHING, block: selection.block, tensor: block.tensor, layer: block.tensor >= 0 ? producerOf(run, block.tensor) : block.firstLayer, tile };
    }
    case "lock": {
      if (!(selection.lock >= 0 && selection.lock < locks.count)) return NOTHING;
      const kind = locks.tileKinds[locks.tileKind[selection.lock] as number] === "core" ? "core" : "memtile";
      return { ...NOTHING, lock: selection.lock, tile: { kind, row: kind === "core" ? (locks.row[selection.lock] as number) : 0, column: locks.column[selection.lock] as number } };
    }
    case "tile":
      return { ...NOTHING, tile: selection.tile };
    case "engine":
      return run.tracks[selection.track] ? { ...NOTHING, track: selection.track, tile: tileOfTrack(run, selection.track) } : NOTHING;
    case "group": {
      const { group, tile, layer } = selection;
      return stepsOf(run, group, tile, layer).length ? { ...NOTHING, layer, group, groupTile: tile } : NOTHING;
    }
    case "frame":
      return run.frames[selection.frame] ? { ...NOTHING, frame: selection.frame } : NOTHING;
    case "moment": {
      const { kind, row, column } = selection.memory;
      return kind === "ddr" ? NOTHING : { ...NOTHING, tile: { kind, row, column } };
    }
  }
}
