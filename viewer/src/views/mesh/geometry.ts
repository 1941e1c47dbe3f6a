// Where things of the device are drawn:
//
//        | DDR in/out |              one bar for each channel of each memtile
//        [  memtile  ]
//   +----o------o---------------     crossbar: a lane for each wire, a dot where a memtile may feed it
//   |    | [ core ] > | [ core ] >   a wire drops down its column, or runs along its row; > are the core's writes
//   scrubber                         the whole run, with the window
import type { DeviceJson } from "../../run/format";
import { columnOfMemtile, memtilesOf } from "../../run/memtiles";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type WireKind = "column" | "row" | "wide";

export interface WireLine {
  wire: number;
  name: string;
  kind: WireKind;
  laneY: number;
  /** Thickness that leaves a gap to the next lane, and to the next trunk at the left. */
  laneRoom: number;
  trunkRoom: number;
  /** Dots of the feeders, on the lane. */
  feeds: number[];
  /** Where the figures stand. */
  label: { x: number; y: number; width: number };
  /** From the lane to its cores: x0 y0 x1 y1 ... */
  points: number[];
  reaches(row: number, column: number): boolean;
}

export interface Geometry {
  cores: Box[];
  memtiles: Box[];
  /** Above each memtile. */
  ddr: Box[];
  wires: WireLine[];
  scrubber: Box;
  /** Of the line above it that says what it shows; null where the pane is low. */
  scrubberKey: Box | null;
  panel: Box | null;
  /** Width of the strip at the right of a core that shows its writes. */
  write: number;
  /** Of the stub that a memtile feeds wires with. */
  stub: { from: number; to: number };
}

export const HEAD = 22;
const PANEL = 270;
const WIDEST_CORE = 250;
const TALLEST_CORE = 170;
const LABEL = 70; // of the wires at the left
const MARGIN = 8;
const KEY = 14;

/** A wire that serves one column drops down it; the first such of a column, where its reach is one core. */
export function wireKinds({ wires }: DeviceJson): WireKind[] {
  const dropped = new Set<number>();
  return wires.map(({ reach }) => {
    if (reach.columns === 1 && (reach.rows > 1 || !dropped.has(reach.column))) {
      dropped.add(reach.column);
      return "column";
    }
    return reach.rows === 1 ? "row" : "wide";
  });
}

export function layOut(device: DeviceJson, width: number, height: number): Geometry {
  const rows = Math.max(1, device.rows);
  const columns = Math.max(1, device.columns);
  const kinds = wireKinds(device);
  const small = height < 330;
  const panel = width >= 820 ? { x: width - PANEL, y: HEAD, width: PANEL, height: 0 } : null;
  const scrubber = { x: MARGIN, y: height - (small ? 30 : 46), width: width - 2 * MARGIN, height: small ? 26 : 42 };
  const scrubberKey = small ? null : { ...scrubber, y: scrubber.y - KEY, height: KEY };
  const foot = scrubberKey?.y ?? scrubber.y;
  if (panel) panel.height = foot - HEAD - 8;
  const wide = kinds.filter((k) => k === "wide").length;
  const thin = kinds.length - wide;
  const room = foot - HEAD - 8;
  const trunks = kinds.filter((k) => k !== "column").length;
  const trunkGap = small ? 2 : 4;
  const least = MARGIN + LABEL + trunks * trunkGap;
  const right = (panel ? panel.x : width) - MARGIN;

  const ddr = small ? 12 : 22;
  const memtile = small ? 17 : room > 420 ? 40 : 30;
  const thinLane = Math.max(1, Math.min(4, (room * 0.1) / Math.max(1, thin)));
  const wideLane = Math.max(2, Math.min(13, (room * 0.22) / Math.max(1, wide)));
  const crossbar = thin * thinLane + wide * wideLane + 6;
  const tag = kinds.includes("column") ? (small ? 11 : 14) : 2;
  const top = HEAD + ddr + memtile + crossbar + tag;
  const pitchY = Math.min(TALLEST_CORE, (HEAD + room - top) / rows);
  const pitchX = Math.min(WIDEST_CORE, Math.max(20, (right - least) / columns));
  const left = least + Math.max(0, (right - least - columns * pitchX) / 2);
  const rowLane = kinds.includes("row") ? Math.min(9, pitchY * 0.22) : 3;
  const drop = kinds.includes("column") ? 12 : 4;
  const write = Math.min(12, pitchX * 0.12);

  const columnX = (c: number) => left + c * pitchX;
  const cores = Array.from({ length: device.rows * device.columns }, (_, k) => ({
    x: columnX(k % columns) + drop, y: top + Math.floor(k / columns) * pitchY + rowLane, width: pitchX - drop - write - 5, height: pitchY - rowLane - 2,
  }));
  const memtileX = (m: number) => columnX(columnOfMemtile(device, m)) + drop;
  const memtiles = Array.from({ length: memtilesOf(device) }, (_, m) => ({ x: memtileX(m), y: HEAD + ddr, width: pitchX - drop - write - 5, height: memtile }));
  const stubX = (m: number) => memtileX(m) + (pitchX - drop - write - 5) / 2;
  const laneTop = HEAD + ddr + memtile + 4;
  const wires = routes(device, kinds, { laneTop, thinLane, wideLane, columnX, stubX, pitchX, pitchY, top, rowLane, drop, left, trunkGap, tag });
  return { cores, memtiles, ddr: memtiles.map((m) => ({ ...m, y: HEAD, height: ddr - 2 })), wires, scrubber, scrubberKey, panel, write, stub: { from: HEAD + ddr + memtile, to: laneTop + crossbar - 6 } };
}

interface Grid {
  laneTop: number;
  thinLane: number;
  wideLane: number;
  columnX(column: number): number;
  stubX(memtile: number): number;
  pitchX: number;
  pitchY: number;
  top: number;
  rowLane: number;
  drop: number;
  left: number;
  trunkGap: number;
  tag: number;
}

// Lanes from above: wide wires, then rows from the last to the first, so that no trunk crosses another, then columns.
function routes({ wires }: DeviceJson, kinds: WireKind[], g: Grid): WireLine[] {
  const of = (kind: WireKind) => wires.flatMap((_, w) => (kinds[w] === kind ? [w] : []));
  const beside = [...of("wide"), ...of("row").reverse()];
  const out: WireLine[] = [];
  let y = g.laneTop;
  for (const wire of [...beside, ...of("column")]) {
    const { name, reach, feeders } = wires[wire] as DeviceJson["wires"][number];
    const kind = kinds[wire] as WireKind;
    const lane = kind === "wide" ? g.wideLane : g.thinLane;
    const laneY = y + lane / 2;
    y += lane;
    const feeds = feeders.map(g.stubX);
    const room = { laneRoom: Math.max(0.6, Math.min(2, lane * 0.7)), trunkRoom: g.trunkGap * 0.7 };
    const reaches = (row: number, column: number) => row >= reach.row && row < reach.row + reach.rows && column >= reach.column && column < reach.column + reach.columns;
    const ends = g.columnX(reach.column + reach.columns) - 6;
    if (kind === "column") {
      const x = g.columnX(reach.column) + g.drop / 2 - 1;
      out.push({ wire, name, kind, laneY, ...room, feeds, reaches, label: { x: x + 6, y: g.top - g.tag / 2, width: g.pitchX - g.drop }, points: [x, laneY, x, g.top + (reach.row + reach.rows) * g.pitchY - 3] });
      continue;
    }
    const trunk = g.left - 4 - (beside.length - 1 - beside.indexOf(wire)) * g.trunkGap;
    const rowY = (row: number) => g.top + row * g.pitchY + g.rowLane / 2;
    const points = kind === "row" ? [trunk, laneY, trunk, rowY(reach.row), ends, rowY(reach.row)] : [ends, laneY, trunk, laneY, trunk, g.top + (reach.row + reach.rows) * g.pitchY - 3];
    const labelY = kind === "row" ? g.top + (reach.row + 0.5) * g.pitchY : laneY;
    out.push({ wire, name, kind, laneY, ...room, feeds, reaches, label: { x: g.left - beside.length * g.trunkGap - LABEL - 2, y: labelY, width: kind === "wide" && lane < 9 ? 0 : LABEL }, points });
  }
  return out;
}

export const holds = ({ x, y, width, height }: Box, px: number, py: number, slack = 0): boolean => px >= x - slack && py >= y - slack && px < x + width + slack && py < y + height + slack;

/** Distance of a point from a line of horizontal and vertical pieces. */
export function distance(points: readonly number[], px: number, py: number): number {
  let best = Infinity;
  for (let i = 0; i + 3 < points.length; i += 2) {
    const [x0, y0, x1, y1] = points.slice(i, i + 4) as [number, number, number, number];
    const nearX = Math.max(Math.min(x0, x1), Math.min(px, Math.max(x0, x1)));
    const nearY = Math.max(Math.min(y0, y1), Math.min(py, Math.max(y0, y1)));
    best = Math.min(best, Math.hypot(px - nearX, py - nearY));
  }
  return best;
}
