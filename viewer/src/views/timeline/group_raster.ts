// A group that is shut as pixels: a line for each resource that its members work for, the stronger the more of them are busy.
import type { Run, Stretch } from "../../run/run";
import type { Track } from "../../run/track";
import { type Level, levelFor, NOTHING, placeOf } from "./levels";
import { type Palette, SHADES } from "./raster";

/** The tracks that work for each resource, in the order of Run.instructions.resources. An engine that does several goes by its first slice. */
export function linesOf(run: Run, tracks: readonly number[]): { resource: number; members: Track[] }[] {
  const lines: Track[][] = run.instructions.resources.map(() => []);
  for (const index of tracks) {
    const track = run.tracks[index];
    if (track?.size) lines[run.instructions.resource[track.leaf(0)] ?? 0]?.push(track);
  }
  return lines.flatMap((members, resource) => (members.length ? [{ resource, members }] : []));
}

/** How many of the tracks are busy at each pixel. */
export function busyOf(run: Run, tracks: readonly Track[], window: Stretch, sums: Float32Array): void {
  const cycles = (window.to - window.from) / sums.length;
  sums.fill(0);
  for (const track of tracks) {
    const level = levelFor(run, track, cycles, "none");
    if (level) addBins(sums, level, window, cycles);
    else addSlices(sums, track, window);
  }
}

export class GroupRaster {
  private readonly sums: Float32Array;
  private readonly line: Uint32Array;

  constructor(
    private readonly run: Run,
    private readonly palette: Palette,
    private readonly width: number,
  ) {
    this.sums = new Float32Array(width);
    this.line = new Uint32Array(width);
  }

  /** Into rows from .. to of an image, of which least .. most may be drawn on. */
  paint(pixels: Uint32Array, tracks: readonly number[], window: Stretch, from: number, to: number, least: number, most: number): void {
    const lines = linesOf(this.run, tracks);
    const each = (to - from) / Math.max(1, lines.length);
    lines.forEach(({ resource, members }, k) => {
      const colours = this.palette.busy[resource] as Uint32Array;
      busyOf(this.run, members, window, this.sums);
      this.sums.forEach((busy, x) => (this.line[x] = colours[Math.ceil(Math.min(1, busy / members.length) * SHADES)] as number));
      const last = Math.round(from + (k + 1) * each) - 1; // a line of ground between two
      for (let y = Math.max(least, Math.round(from + k * each)); y < Math.min(most, last); y++) pixels.set(this.line, y * this.width);
    });
  }
}

function addBins(sums: Float32Array, level: Level, window: Stretch, cycles: number): void {
  const { share, busy, width, bins } = level;
  const last = bins - 1;
  for (let x = 0; x < sums.length; x++) {
    const cycle = window.from + x * cycles;
    const from = Math.max(0, Math.floor((cycle - level.from) / width));
    const to = Math.min(last, Math.floor((cycle + cycles * 0.999 - level.from) / width));
    if (cycle + cycles <= 0 || from > to) continue;
    let sum = 0;
    for (let bin = from; bin <= to; bin++) {
      const b = placeOf(level, bin);
      if (busy[b] !== NOTHING) sum += share[b] as number;
    }
    sums[x] = (sums[x] as number) + sum / (to - from + 1) / 255;
  }
}

function addSlices(sums: Float32Array, track: Track, window: Stretch): void {
  const scale = sums.length / (window.to - window.from);
  for (let i = track.firstAfter(window.from); i < track.size && track.start(i) < window.to; i++) {
    const from = Math.max(0, Math.floor((track.start(i) - window.from) * scale));
    const to = Math.min(sums.length, Math.max(from + 1, Math.floor((track.end(i) - window.from) * scale)));
    for (let x = from; x < to; x++) sums[x] = (sums[x] as number) + 1;
  }
}
