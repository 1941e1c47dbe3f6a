// Which memtile sends over which wire, in the whole run. A wire may have many feeders; its instructions name the one that they read,
// as `mem(-4 + column)`, where `column` is the wire's number.
import { eachSlice } from "./repeat";
import type { Run } from "./run";

/** By wire: share of its bytes that each memtile sent; what cannot be told is in none. */
export type Feeds = ReadonlyMap<number, number>[];

const known = new WeakMap<Run, Feeds>();

export function feedsOf(run: Run): Feeds {
  let feeds = known.get(run);
  if (!feeds) known.set(run, (feeds = run.device.wires.map((_, wire) => feedsOfWire(run, wire))));
  return feeds;
}

function feedsOfWire(run: Run, wire: number): ReadonlyMap<number, number> {
  const sent = new Map<number, number>();
  const track = run.tracks.find((t) => t.engine === "wire" && t.column === wire);
  const from = new Map<number, number | null>(); // memtile by instruction
  let all = 0;
  if (!track) return sent;
  eachSlice(run, track, (i, times) => {
    const leaf = track.leaf(i);
    let memtile = from.get(leaf);
    if (memtile === undefined) from.set(leaf, (memtile = memtileOf(run.textOf(leaf), wire)));
    const bytes = times * run.bytesOf(track, i);
    all += bytes;
    if (memtile !== null) sent.set(memtile, (sent.get(memtile) ?? 0) + bytes);
  });
  return new Map([...sent].filter(([, bytes]) => bytes > 0).map(([memtile, bytes]) => [memtile, bytes / all]));
}

/** The memtile that the line of asm reads for the wire, or null where it depends on a loop or none is named. */
export function memtileOf(text: string, wire: number): number | null {
  const place = /\bmem\(([^()]*)\)/.exec(text)?.[1];
  if (place === undefined) return null;
  let sum = 0;
  for (const term of place.replace(/\s*-\s*/g, " + -").split("+").map((t) => t.trim()).filter(Boolean)) {
    const parts = /^(-?)(?:(\d+)(?:\*column)?|column)$/.exec(term);
    if (!parts) return null;
    const factor = parts[2] === undefined ? 1 : Number(parts[2]);
    sum += (parts[1] ? -1 : 1) * factor * (term.endsWith("column") ? wire : 1);
  }
  return sum;
}
