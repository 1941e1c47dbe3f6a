// What stands at the left: pinned tracks, then all, grouped column > tile > lane.
import { columnOfMemtile } from "../../run/memtiles";
import { laneName, trackName } from "../../run/names";
import type { Run } from "../../run/run";
import type { Track } from "../../run/track";

export const LANE_HEIGHT = 17;
export const HEAD_HEIGHT = 20;
const SHUT_HEIGHT = 32; // of a group that shows its members' load instead of its members
// What rows may grow and shrink to, so that they fill the picture.
const [LEAST_LANE, MOST_LANE] = [14, 34];
const [LEAST_SHUT, MOST_SHUT] = [24, 160];

interface Place {
  top: number; // in its part
  height: number;
  label: string;
  key: string;
}
export interface GroupRow extends Place {
  kind: "group";
  open: boolean;
  /** Its tracks, also those that no row shows. */
  tracks: number[];
}
export interface LaneRow extends Place {
  kind: "lane";
  track: number;
  depth: number;
  /** Of a core: null where it has no further lanes. */
  open: boolean | null;
}
export type Row = GroupRow | LaneRow;

export interface Rows {
  /** These stay where they are when the others scroll. */
  pinned: LaneRow[];
  pinnedHeight: number;
  rows: Row[];
  height: number;
}

/** Column of cores that a wire belongs to, or -1 for one that crosses columns. */
function columnOfWire(run: Run, track: Track): number {
  const reach = run.device.wires[track.column]?.reach;
  return reach && reach.columns === 1 && (reach.rows > 1 || run.device.rows === 1) ? reach.column : -1;
}

const atMemtile = (track: Track) => track.engine === "ddrIn" || track.engine === "ddrOut";
const inCore = (track: Track) => track.engine === "core" || track.engine === "coreIn" || track.engine === "coreOut";

/** `toggled` are keys of groups that are shut and of cores that show their channels; `pinned` are tracks, in order. */
export function layOut(run: Run, toggled: ReadonlySet<string>, pinned: readonly number[] = []): Rows {
  const rows: Row[] = [];
  let top = 0;
  const add = (row: Row) => {
    rows.push(row);
    top += row.height;
  };
  const lane = (track: Track, depth: number, key: string, open: boolean | null) =>
    add({ kind: "lane", track: track.index, depth, key, open, top, height: LANE_HEIGHT, label: laneName(run, track) });
  const group = (key: string, label: string, tracks: Track[], fill: () => void) => {
    const open = !toggled.has(key);
    add({ kind: "group", key, label, open, top, height: open ? HEAD_HEIGHT : SHUT_HEIGHT, tracks: tracks.map((t) => t.index) });
    if (open) fill();
  };
  const shared = run.tracks.filter((t) => t.engine === "sequencer" || (t.engine === "wire" && columnOfWire(run, t) < 0));
  if (shared.length) group("shared", "Shared", shared, () => shared.forEach((t) => lane(t, 1, `track${t.index}`, null)));
  for (let column = 0; column < run.device.columns; column++) {
    const memtile = run.tracks.filter((t) => (atMemtile(t) && columnOfMemtile(run.device, t.column) === column) || (t.engine === "wire" && columnOfWire(run, t) === column));
    const cores = run.tracks.filter((t) => t.column === column && inCore(t));
    if (!memtile.length && !cores.length) continue;
    group(`column${column}`, `Column ${column}`, [...memtile, ...cores], () => {
      memtile.forEach((t) => lane(t, 1, `track${t.index}`, null));
      for (const row of [...new Set(cores.map((t) => t.row))].sort((a, b) => a - b)) {
        const lanes = cores.filter((t) => t.row === row);
        const core = lanes.find((t) => t.engine === "core") ?? (lanes[0] as Track);
        const key = `core${row},${column}`;
        const open = lanes.length > 1 ? toggled.has(key) : null;
        lane(core, 1, key, open);
        if (open) lanes.filter((t) => t !== core).forEach((t) => lane(t, 2, `track${t.index}`, null));
      }
    });
  }
  return { ...pinnedRows(run, pinned), rows, height: top };
}

/** The rows as high as `room` pixels allow, so that they fill it where they can. */
export function fitted(given: Rows, room: number): Rows {
  const count = (matches: (row: Row) => boolean) => given.rows.filter(matches).length;
  const lanes = count((row) => row.kind === "lane");
  const shut = count((row) => row.kind === "group" && !row.open);
  const heads = HEAD_HEIGHT * (given.rows.length - lanes - shut);
  const held = (least: number, most: number, height: number) => Math.max(least, Math.min(most, Math.floor(height)));
  const lane = lanes ? held(LEAST_LANE, MOST_LANE, (room - heads - shut * SHUT_HEIGHT) / lanes) : 0;
  const group = lanes ? SHUT_HEIGHT : shut ? held(LEAST_SHUT, MOST_SHUT, room / shut) : 0;
  let top = 0;
  const rows = given.rows.map((row): Row => {
    const height = row.kind === "lane" ? lane : row.open ? HEAD_HEIGHT : group;
    top += height;
    return { ...row, top: top - height, height };
  });
  return { ...given, rows, height: top };
}

function pinnedRows(run: Run, tracks: readonly number[]): Pick<Rows, "pinned" | "pinnedHeight"> {
  const pinned = tracks.flatMap((t) => run.tracks[t] ?? []).map((track, k): LaneRow => ({
    kind: "lane", track: track.index, depth: 0, key: `pin${track.index}`, open: null, top: k * LANE_HEIGHT, height: LANE_HEIGHT, label: `◆ ${trackName(run, track)}`,
  }));
  return { pinned, pinnedHeight: pinned.length ? pinned.length * LANE_HEIGHT + 3 : 0 };
}
