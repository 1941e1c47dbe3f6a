// A strip for each memory that is shown, one under the other, and where in it a box lies.
import type { Run } from "../../run/run";
import type { TimeScale } from "../../ui/time_axis";
import { AddressScale, usedRanges } from "./address_scale";
import { type Box, type Memory, memoryAt, memtiles, parsePlace, type Place } from "../../run/memory_map";

const LEAST_HEIGHT = 118;
const GAP = 10;
const CURVE_SHARE = 0.2;
const FOLD_BELOW = 0.5; // of the capacity used

export interface Strip {
  memory: Memory;
  top: number; // in pixels from the first strip's top
  height: number;
  /** The curve stands between curveTop and curveBottom, under the map of addresses. */
  curveTop: number;
  curveBottom: number;
  scale: AddressScale;
}

/** What the choice "all", "ddr", "memtile:2" or "core:1,2" shows. */
export function placesOf(run: Run, choice: string): Place[] {
  const one = parsePlace(run, choice);
  return one ? [one] : memtiles(run);
}

/** Whether unused stretches of address are better left out, where nobody has chosen. */
export function foldsByDefault(memories: readonly Memory[]): boolean {
  return memories.every(({ boxes, capacity }) => usedRanges(boxes).reduce((sum, [from, to]) => sum + to - from, 0) < capacity * FOLD_BELOW);
}

/** Strips fill `height`, or scroll where there are too many. `stretch` makes them higher. */
export function layOutStrips(run: Run, choice: string, fold: string, height: number, stretch: number): { strips: Strip[]; height: number } {
  const memories = placesOf(run, choice).map((place) => memoryAt(run, place));
  const folds = fold === "on" || (fold !== "off" && foldsByDefault(memories));
  const each = Math.max(LEAST_HEIGHT, Math.floor((height - 4) / memories.length)) * stretch;
  // One scale for all: the same address stands at the same height in each.
  const used = usedRanges(memories.flatMap(({ boxes }) => boxes));
  const capacity = Math.max(1, ...memories.map((memory) => memory.capacity));
  const strips = memories.map((memory, k): Strip => {
    const top = k * each;
    const bottom = top + each - GAP;
    const curveTop = bottom - Math.min(74, Math.max(20, each * CURVE_SHARE));
    return { memory, top, height: each, curveTop, curveBottom: bottom, scale: new AddressScale(capacity, used, folds, top + 3, curveTop - 7) };
  });
  return { strips, height: each * memories.length };
}

export interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

const LEAST = 1.5; // pixels: nothing is too small or too short to be seen
const LEAST_STREAM = 3; // high: where a tensor goes to DDR and back should not be missed
const INSET = 2.5;

/** Of a box, with what it stands on left visible at its left and right. `offset` is where the strips begin on screen. */
export function rectangleOf(box: Box, strip: Strip, time: TimeScale, offset: number): Rectangle {
  const [low, high] = [strip.scale.y(box.address), strip.scale.y(box.address + box.size)];
  const width = Math.max(LEAST, time.x(box.to) - time.x(box.from));
  const inset = width > 12 * (box.depth + 1) ? INSET * box.depth : 0;
  return { x: time.x(box.from) + inset, y: high + offset, width: width - 2 * inset, height: Math.max(box.role === "stream" ? LEAST_STREAM : LEAST, low - high) };
}

/** The box at a pixel: of those that overlap there, the one drawn last. */
export function boxAt(strip: Strip, time: TimeScale, offset: number, x: number, y: number): Box | null {
  const SLACK = 1.5;
  let best: Box | null = null;
  for (const box of drawingOrder(strip.memory.boxes)) {
    const r = rectangleOf(box, strip, time, offset);
    if (x >= r.x - SLACK && x <= r.x + r.width + SLACK && y >= r.y - SLACK && y <= r.y + r.height + SLACK) best = box;
  }
  return best;
}

/** What lies on others comes last. */
export const drawingOrder = (boxes: readonly Box[]): Box[] => [...boxes].sort((a, b) => a.depth - b.depth);
