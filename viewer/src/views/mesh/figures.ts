// The figures of tiles and links in a stretch of the run.
import { laneName, trackName } from "../../run/names";
import type { Run, Stretch } from "../../run/run";
import { NO_WORK, STALLS } from "../../run/stalls";
import type { EngineKind } from "../../run/format";
import { memtilesOf } from "../../run/memtiles";
import type { Tile } from "../../ui/state";
import type { Load } from "../../run/load";

export const MODES = ["busy", "stalled", "idle", "padded"] as const;
export type Mode = (typeof MODES)[number];

/** Shares are of the stretch, over the engines that stand behind the figure. */
export interface Figures {
  busy: number;
  /** In the order of STALLS. */
  stalls: number[];
  stalled: number;
  /** Index in STALLS of the longest, or -1. */
  worst: number;
  idle: number;
  macs: number;
  needed: number;
  bytes: number;
  /** Resource that kept it busy for longest, or -1. */
  resource: number;
}

export interface TileFigures extends Figures {
  tile: Tile;
  name: string;
  tracks: number[];
}

export interface LinkFigures extends Figures {
  track: number;
  engine: EngineKind;
  name: string;
  row: number;
  column: number;
  /** What it carries at most, or 0 where the file does not say. */
  limit: number;
  rate: number; // bytes per second
}

export interface MeshFigures {
  stretch: Stretch;
  columns: number; // of cores
  cores: TileFigures[]; // row by row
  memtiles: TileFigures[];
  wires: (LinkFigures | null)[]; // as device.wires; null for one that carries nothing in the whole run
  ddr: LinkFigures[];
  writes: LinkFigures[];
}

/** The window held within the run. */
export function stretchOf(run: Run, window: Stretch): Stretch {
  const from = Math.max(0, Math.min(window.from, run.makespan));
  return { from, to: Math.max(from, Math.min(window.to, run.makespan)) };
}

function figuresOf(load: Load, tracks: number[], { from, to }: Stretch): Figures {
  const { columns } = load;
  const sums = new Float64Array(columns.count);
  for (const track of tracks) load.add(track, from, to, sums);
  const time = Math.max(1e-9, (to - from) * tracks.length);
  const share = (column: number) => Math.max(0, Math.min(1, (sums[column] as number) / time));
  const byResource = Array.from({ length: columns.resources }, (_, r) => share(r));
  // Whoever takes outputs away and finds none holds up nobody: it is idle.
  const stalls = STALLS.map((_, s) => (s === NO_WORK ? 0 : share(columns.stall + s)));
  const busy = Math.min(1, total(byResource));
  const stalled = Math.min(1, total(stalls));
  return {
    busy, stalls, stalled, worst: largest(stalls), idle: tracks.length && to > from ? Math.max(0, 1 - busy - stalled) : 1,
    macs: sums[columns.macs] as number, needed: sums[columns.needed] as number, bytes: sums[columns.bytes] as number, resource: largest(byResource),
  };
}

const total = (values: number[]) => values.reduce((sum, v) => sum + v, 0);

function largest(values: number[]): number {
  let best = -1;
  values.forEach((v, k) => {
    if (v > 1e-9 && (best < 0 || v > (values[best] as number))) best = k;
  });
  return best;
}

export function meshFigures(load: Load, stretch: Stretch): MeshFigures {
  const { run } = load;
  const { device } = run;
  const tracksOf = (matches: (engine: EngineKind, row: number, column: number) => boolean) => run.tracks.flatMap((t) => (matches(t.engine, t.row, t.column) ? [t.index] : []));
  const tile = (kind: Tile["kind"], row: number, column: number, tracks: number[]): TileFigures => ({
    tile: { kind, row, column }, name: kind === "core" ? `core ${row},${column}` : `memtile ${column}`, tracks, ...figuresOf(load, tracks, stretch),
  });
  const cores = Array.from({ length: device.rows * device.columns }, (_, k) => {
    const [row, column] = [Math.floor(k / device.columns), k % device.columns];
    return tile("core", row, column, tracksOf((e, r, c) => e === "core" && r === row && c === column));
  });
  const memtiles = Array.from({ length: memtilesOf(device) }, (_, column) => tile("memtile", 0, column, tracksOf((e, _r, c) => e.startsWith("ddr") && c === column)));
  const link = (track: number) => linkFigures(load, track, stretch);
  const links = (...engines: EngineKind[]) => tracksOf((e) => engines.includes(e)).map(link);
  const wires = device.wires.map((_, w) => {
    const track = run.tracks.find((t) => t.engine === "wire" && t.column === w);
    return track ? link(track.index) : null;
  });
  return { stretch, columns: device.columns, cores, memtiles, wires, ddr: links("ddrIn", "ddrOut"), writes: links("coreOut") };
}

function linkFigures(load: Load, index: number, stretch: Stretch): LinkFigures {
  const { run } = load;
  const track = run.tracks[index] as Run["tracks"][number];
  const figures = figuresOf(load, [index], stretch);
  const seconds = (stretch.to - stretch.from) / run.device.clockHz;
  return {
    ...figures, track: index, engine: track.engine, row: track.row, column: track.column,
    name: track.engine === "wire" ? laneName(run, track) : trackName(run, track), limit: limitOf(run, track.engine), rate: seconds > 0 ? figures.bytes / seconds : 0,
  };
}

function limitOf({ device }: Run, engine: EngineKind): number {
  if (engine === "ddrIn") return device.ddrReadBytesPerSecond ?? 0;
  if (engine === "ddrOut") return device.ddrWriteBytesPerSecond ?? 0;
  if (engine === "coreOut") return device.coreWriteBytesPerSecond ?? 0;
  return device.wireBytesPerSecond ?? 0;
}

/** Share of the executed MACs that no output asks for, or null where none ran. */
export const paddedShare = ({ macs, needed }: Figures): number | null => (macs > 0.5 ? Math.max(0, 1 - needed / macs) : null);

/** The share that the mode shows, or null where it has no meaning. */
export function shareOf(mode: Mode, figures: Figures): number | null {
  return mode === "padded" ? paddedShare(figures) : figures[mode];
}
