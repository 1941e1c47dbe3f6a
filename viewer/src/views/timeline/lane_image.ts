// All lanes in sight as one image.
import type { Painter } from "../../paint/painter";
import type { Run, Stretch } from "../../run/run";
import type { Waits } from "../../run/stalls";
import type { Track } from "../../run/track";
import { GUTTER } from "../../ui/time_axis";
import { GroupRaster } from "./group_raster";
import type { Lanes, Part } from "./lanes";
import { type Bright, LaneRaster, type Palette, paletteOf } from "./raster";
import type { Row } from "./rows";

const STRIP = 0.62; // of a lane's height, above the strip that shows waits

export class LaneImage {
  private readonly pixels: Uint32Array;
  private readonly data: ImageData;
  private readonly palette: Palette;
  private readonly raster: LaneRaster;
  private readonly groups: GroupRaster;
  private readonly dark: boolean;

  constructor(private readonly run: Run, p: Painter, private readonly ratio: number, width: number, height: number) {
    this.data = new ImageData(width, height);
    this.pixels = new Uint32Array(this.data.data.buffer);
    this.palette = paletteOf(p.theme, run.instructions.resources.length);
    this.raster = new LaneRaster(run, this.palette, width);
    this.groups = new GroupRaster(run, this.palette, width);
    this.dark = p.theme.dark;
  }

  fits(run: Run, p: Painter, width: number, height: number): boolean {
    return this.run === run && this.dark === p.theme.dark && this.data.width === width && this.data.height === height;
  }

  /** All bands but the bright ones are dimmed. The image's first line stands at `top`. */
  paint(p: Painter, lanes: Lanes, window: Stretch, bright: Bright, top: number, waits: Waits): void {
    this.pixels.fill(this.palette.ground);
    for (const part of lanes.parts) for (const row of part.rows) this.paintRow(row, lanes.y(row) - top, part, top, window, bright, waits);
    p.image(GUTTER, top, this.data.width / this.ratio, this.data.height / this.ratio, this.data);
  }

  private paintRow(row: Row, y: number, part: Part, top: number, window: Stretch, bright: Bright, waits: Waits): void {
    const { ratio, raster, pixels } = this;
    const least = Math.max(0, Math.round((part.top - top) * ratio));
    const most = Math.min(this.data.height, Math.round((part.top - top + part.height) * ratio));
    const from = Math.round(y * ratio);
    const to = Math.round((y + row.height - 2) * ratio);
    if (row.kind === "group") {
      if (row.open) return;
      this.groups.paint(pixels, row.tracks, window, from + Math.round(2 * ratio), to - Math.round(2 * ratio), least, most);
      return;
    }
    raster.fill(this.run.tracks[row.track] as Track, window, bright, waits);
    const strip = from + Math.round((to - from) * STRIP);
    for (let line = Math.max(least, from); line < Math.min(most, to); line++) pixels.set(line < strip ? raster.high : raster.low, line * this.data.width);
  }
}
