// Slices as pixels: typed arrays straight into an image, which is what keeps a million of them moving.
import { mix, packed, type Rgb, resourceColour, stallColour, type Theme } from "../../paint/theme";
import { bandOfSlices } from "../../run/frames";
import type { Run, Stretch } from "../../run/run";
import { NO_WORK, piecesOf, STALLS, type Waits } from "../../run/stalls";
import type { Track } from "../../run/track";
import { bandOfBin, type Level, levelFor, NOTHING, placeOf } from "./levels";

export const SHADES = 32;
const NOTHING_TO_DO = 0.16; // of a colour: engines that hold up nobody are hardly seen
const DIMMED = 0.25; // what is left of the colour of layers that are not selected

export interface Palette {
  ground: number;
  lane: number;
  /** By resource and shade. */
  busy: Uint32Array[];
  dim: Uint32Array[];
  edge: Uint32Array;
  stall: Uint32Array;
}

export function paletteOf(theme: Theme, resources: number): Palette {
  const shades = (colour: Rgb, left: number) =>
    Uint32Array.from({ length: SHADES + 1 }, (_, s) => packed(mix(theme.laneRgb, colour, s === 0 ? 0 : left * (0.18 + (0.82 * s) / SHADES))));
  const kinds = Array.from({ length: resources }, (_, r) => resourceColour(r));
  return {
    ground: packed(theme.groundRgb),
    lane: packed(theme.laneRgb),
    busy: kinds.map((c) => shades(c, 1)),
    dim: kinds.map((c) => shades(c, DIMMED)),
    edge: Uint32Array.from(kinds, (c) => packed(mix(c, theme.dark ? [0, 0, 0] : [255, 255, 255], 0.45))),
    stall: Uint32Array.from(STALLS, (_, s) => packed(mix(theme.laneRgb, stallColour(s), s === NO_WORK ? NOTHING_TO_DO : 0.55))),
  };
}

/** By place in Run.bands, 1 for those that are selected; null where none is. */
export type Bright = Uint8Array | null;

/** One lane: `high` is what fills its upper part, `low` the strip below, where waits show. `bright` tells the bands beside which all others are dimmed, if any are. */
export class LaneRaster {
  readonly high: Uint32Array;
  readonly low: Uint32Array;

  constructor(
    private readonly run: Run,
    private readonly palette: Palette,
    readonly width: number,
  ) {
    this.high = new Uint32Array(width);
    this.low = new Uint32Array(width);
  }

  fill(track: Track, window: Stretch, bright: Bright, waits: Waits): void {
    this.high.fill(this.palette.lane);
    this.low.fill(this.palette.lane);
    const cycles = (window.to - window.from) / this.width;
    const level = levelFor(this.run, track, cycles, waits);
    if (level) this.fillBins(level, window, cycles, bright);
    else this.fillSlices(track, window, bright, waits);
  }

  private fillBins(level: Level, window: Stretch, cycles: number, bright: Bright): void {
    const { high, low, palette, width } = this;
    const { share, busy, stall } = level;
    const last = level.bins - 1;
    for (let x = 0; x < width; x++) {
      const cycle = window.from + x * cycles;
      const from = Math.max(0, Math.floor((cycle - level.from) / level.width));
      const to = Math.min(last, Math.floor((cycle + cycles * 0.999 - level.from) / level.width));
      if (cycle + cycles <= 0 || from > to) continue;
      let sum = 0;
      let most = -1;
      let least = 256;
      let kind = NOTHING;
      let waits = NOTHING;
      let of = -1;
      for (let bin = from; bin <= to; bin++) {
        const b = placeOf(level, bin);
        const s = share[b] as number;
        sum += s;
        if (s > most && busy[b] !== NOTHING) {
          most = s;
          kind = busy[b] as number;
          of = bin;
        }
        if (s < least && stall[b] !== NOTHING) {
          least = s;
          waits = stall[b] as number;
        }
      }
      const shade = Math.ceil((sum / (to - from + 1) / 255) * SHADES);
      const colours = !bright || bright[bandOfBin(level, of)] ? palette.busy : palette.dim;
      if (kind !== NOTHING) high[x] = low[x] = (colours[kind] as Uint32Array)[shade] as number;
      if (waits !== NOTHING && shade < SHADES * 0.8) low[x] = palette.stall[waits] as number;
    }
  }

  private fillSlices(track: Track, window: Stretch, bright: Bright, waits: Waits): void {
    const { high, low, palette, width, run } = this;
    const scale = width / (window.to - window.from);
    const bandOf = bandOfSlices(run, track);
    for (let i = track.firstAfter(window.from); i < track.size && track.ready(i) < window.to; i++) {
      const start = track.start(i);
      const x = Math.floor((start - window.from) * scale);
      // What a wait was for takes time to find: only where a pixel shows it.
      if (Math.floor((track.ready(i) - window.from) * scale) < x && x > 0) {
        const { count, stall, from, to } = piecesOf(run, track, i, waits);
        for (let k = count - 1; k >= 0; k--) {
          const left = Math.max(0, Math.floor(((from[k] as number) - window.from) * scale));
          low.fill(palette.stall[stall[k] as number] as number, left, Math.max(left, Math.floor(((to[k] as number) - window.from) * scale)));
        }
      }
      if (start >= window.to) break;
      const to = Math.max(x + 1, Math.floor((track.end(i) - window.from) * scale));
      if (to <= 0) continue;
      const kind = run.instructions.resource[track.leaf(i)] ?? 0;
      const colours = !bright || bright[bandOf(i)] ? palette.busy : palette.dim;
      const colour = (colours[kind] as Uint32Array)[SHADES] as number;
      high.fill(colour, Math.max(0, x), to);
      low.fill(colour, Math.max(0, x), to);
      if (to - x > 3 && x >= 0 && x < width) high[x] = low[x] = palette.edge[kind] as number;
    }
  }
}
