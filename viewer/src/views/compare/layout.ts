// Where the parts of the picture stand: sentences, waterfall, timelines, one below the other.
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const LEAST_HEIGHT = 560; // below it the picture scrolls
const BANDS = 76;
const HEAD = 42; // title and axis of the timelines
const LEAST_LANE = 20;

export interface Layout {
  fall: Box;
  /** With title, axis, lanes and bands. */
  time: Box;
  lanes: Box;
  bands: Box;
}

/** `top` is where the sentences end. */
export function layOut(width: number, height: number, top: number, lanes: number): Layout {
  const room = Math.max(LEAST_HEIGHT, height) - top - 8;
  const timeHeight = HEAD + BANDS + Math.max(lanes * LEAST_LANE, 0.48 * room - HEAD - BANDS);
  const fall = { x: 0, y: top, width, height: Math.max(180, room - timeHeight) };
  const time = { x: 0, y: top + fall.height, width, height: timeHeight };
  return {
    fall,
    time,
    lanes: { x: 0, y: time.y + HEAD, width, height: timeHeight - HEAD - BANDS },
    bands: { x: 0, y: time.y + time.height - BANDS, width, height: BANDS },
  };
}
