// Why a layer takes as long as it does: over which wires its bytes come, what was there early, and what more cores could save.
import { criticalPath, pathCyclesBy } from "./critical_path";
import { memtileOf } from "./feeds";
import { slicesOfFrame } from "./frames";
import { memtilesOf } from "./memtiles";
import type { Layer, Run } from "./run";

export interface Route {
  what: "inputs" | "weights";
  /** Names of wires, in the order of the device. */
  wires: string[];
  memtiles: number[];
  bytes: number;
}

/** Over which wires the layer's inputs and weights go, and out of which memtiles; bytes of one frame. */
export function routesOf(run: Run, layer: Layer): Route[] {
  const routes = (["inputs", "weights"] as const).map((what): Route & { from: Set<number> } => ({ what, wires: [], memtiles: [], bytes: 0, from: new Set() }));
  const kinds = [run.instructions.resources.indexOf("input wire"), run.instructions.resources.indexOf("weights wire")];
  for (const track of run.tracks) {
    if (track.engine !== "wire") continue;
    const moved = [0, 0];
    const last = slicesOfFrame(run, track) || track.size;
    for (let i = track.firstAfter(layer.start); i < last && track.start(i) < layer.end; i++) {
      const leaf = track.leaf(i);
      const kind = kinds.indexOf(run.instructions.resource[leaf] ?? -1);
      if (track.layer(i) !== layer.index || kind < 0) continue;
      moved[kind] = (moved[kind] as number) + run.bytesOf(track, i);
      const memtile = memtileOf(run.textOf(leaf), track.column);
      if (memtile !== null) routes[kind]?.from.add(memtile);
    }
    routes.forEach((route, kind) => {
      if (!moved[kind]) return;
      route.wires.push(run.device.wires[track.column]?.name ?? String(track.column));
      route.bytes += moved[kind] as number;
    });
  }
  return routes.filter(({ bytes }) => bytes > 0).map(({ from, ...route }) => ({ ...route, memtiles: [...from].filter((m) => m >= 0 && m < memtilesOf(run.device)).sort((a, b) => a - b) }));
}

export interface Prefetch {
  /** Bytes read from DDR for the layer, and those of them that had come before its first core started. */
  read: number;
  early: number;
}

const prefetches = new WeakMap<Run, Prefetch[]>();

/** By layer. */
export function prefetchOf(run: Run): readonly Prefetch[] {
  let known = prefetches.get(run);
  if (known) return known;
  const began = beginnings(run);
  const found = (known = run.layers.map((): Prefetch => ({ read: 0, early: 0 })));
  for (const track of run.tracks) {
    if (track.engine !== "ddrIn") continue;
    const each = slicesOfFrame(run, track) || track.size;
    for (let i = 0; i < track.size; i++) {
      const layer = track.layer(i);
      const of = found[layer];
      if (!of) continue;
      const bytes = run.bytesOf(track, i);
      of.read += bytes;
      if (track.end(i) <= (began[Math.floor(i / each)]?.[layer] ?? 0)) of.early += bytes;
    }
  }
  prefetches.set(run, known);
  return known;
}

/** By frame and layer: when its first core starts. */
function beginnings(run: Run): number[][] {
  const frames = Math.max(1, run.frames.length);
  const began = Array.from({ length: frames }, () => run.layers.map(() => Infinity));
  for (const track of run.tracks) {
    if (track.engine !== "core") continue;
    const each = slicesOfFrame(run, track) || track.size;
    const first = new Map<number, number>(); // slice of each layer; the same in each frame
    for (let i = 0; i < each; i++) if (!first.has(track.layer(i))) first.set(track.layer(i), i);
    began.forEach((of, frame) => {
      for (const [layer, i] of first) of[layer] = Math.min(of[layer] ?? 0, track.start(frame * each + i));
    });
  }
  return began;
}

/** At most so many cycles less would the layer take with one more row of cores to share its computing, all else as it is. */
export function oneMoreRow(run: Run, layer: Layer): number {
  const busy = layer.busyCycles ?? {};
  const compute = busy["compute"] ?? 0;
  const others = Object.entries(busy).filter(([name]) => name !== "compute").reduce((most, [, cycles]) => Math.max(most, cycles), 0);
  if (layer.boundBy !== "compute" || compute <= others) return 0;
  const { rows } = run.device;
  return Math.min(layer.cycles, Math.floor(compute - Math.max(others, (compute * rows) / (rows + 1))));
}

const paths = new WeakMap<Run, Float64Array>();

/** Cycles of the critical path, by layer. */
export function layersOnPath(run: Run): Float64Array {
  let cycles = paths.get(run);
  if (!cycles) {
    const path = criticalPath(run);
    paths.set(run, (cycles = pathCyclesBy(path, path.layer, run.layers.length)));
  }
  return cycles;
}
