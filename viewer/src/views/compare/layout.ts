// Where the parts of the picture stand: sentences, changes, timelines, one below the other.
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Parts of the view that can be shown by themselves. */
export const PARTS = ["changes", "time", "layers"] as const;
export type Part = (typeof PARTS)[number];
export type Parts = ReadonlySet<Part>;

const SHORT = 560; // panes that are lower have no room for both pictures
const ROOM_FOR_TABLE = 960;

/** What shows unless somebody chose. */
export const partsFor = (width: number, height: number): Parts =>
  new Set<Part>(["changes", ...(height >= SHORT ? (["time"] as const) : []), ...(width >= ROOM_FOR_TABLE ? (["layers"] as const) : [])]);

export function parseParts(text: string): Parts | null {
  const parts = PARTS.filter((part) => text.split(" ").includes(part));
  return parts.length ? new Set(parts) : null;
}

const BANDS = 76;
const HEAD = 42; // title and axis of the timelines
const LEAST_LANE = 20;
const LEAST_CHANGES = 130;
const NO_CHANGES = 64;

export interface Layout {
  changes: Box | null;
  /** With title, axis, lanes and bands. */
  time: Box | null;
  lanes: Box;
  bands: Box;
  height: number;
}

export interface Wanted {
  parts: Parts;
  lanes: number;
  /** Nothing changed: there is little to draw. */
  same: boolean;
}

/** `top` is where the sentences end. What does not fit makes the picture higher than the pane: it scrolls. */
export function layOut(width: number, height: number, top: number, { parts, lanes, same }: Wanted): Layout {
  const room = height - top - 8;
  const [changes, time] = [parts.has("changes"), parts.has("time")];
  const leastTime = HEAD + BANDS + lanes * LEAST_LANE;
  const least = same ? NO_CHANGES : LEAST_CHANGES;
  const timeHeight = !time ? 0 : changes ? Math.max(leastTime, same ? room - NO_CHANGES : 0.48 * room) : Math.max(leastTime, room);
  const changesHeight = !changes ? 0 : time ? Math.max(least, room - timeHeight) : Math.max(least, room);
  const y = top + changesHeight;
  const box = { x: 0, y, width, height: timeHeight };
  return {
    changes: changes ? { x: 0, y: top, width, height: changesHeight } : null,
    time: time ? box : null,
    lanes: { x: 0, y: y + HEAD, width, height: Math.max(0, timeHeight - HEAD - BANDS) },
    bands: { x: 0, y: y + timeHeight - BANDS, width, height: BANDS },
    height: y + timeHeight + 8,
  };
}
