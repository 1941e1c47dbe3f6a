// The whole run above the lanes: a line for each resource, the stronger the more of its engines are busy.
import type { Painter } from "../../paint/painter";
import { css, mix, packed, resourceColour, type Theme } from "../../paint/theme";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { GUTTER } from "../../ui/time_axis";
import { type Bar, paintWindow } from "../../ui/window_bar";

const MARGIN = 5;

/** Its lines are thousands of small rectangles that stay the same while time moves: they are kept as an image. */
export class Overview {
  private run: Run | null = null;
  private theme: Theme | null = null;
  private lines: ImageData | null = null;

  /** `density`: device pixels of a CSS pixel. */
  paint(p: Painter, app: App, bar: Bar, density: number): void {
    const { run } = app;
    const { theme } = p;
    const { series } = run.counters;
    const lines = this.linesOf(run, theme, bar, density);
    const height = (bar.height - 2 * MARGIN) / Math.max(1, series.length);
    p.rect(0, bar.y, bar.x, bar.height, theme.raised);
    p.image(bar.x, bar.y, lines.width / density, lines.height / density, lines);
    series.forEach((s, k) => {
      const y = bar.y + MARGIN + k * height;
      p.rect(GUTTER - 16, y + 1, 9, Math.min(9, height - 2), css(resourceColour(run.instructions.resources.indexOf(s.name))));
      p.text(GUTTER - 22, y + height / 2, s.name, { size: Math.min(10, Math.max(8, height)), colour: theme.faint, align: "right" });
    });
    paintWindow(p, app, bar);
  }

  private linesOf(run: Run, theme: Theme, bar: Bar, density: number): ImageData {
    const [width, height] = [Math.max(1, Math.round(bar.width * density)), Math.max(1, Math.round(bar.height * density))];
    if (!this.lines || this.run !== run || this.theme !== theme || this.lines.width !== width || this.lines.height !== height) {
      [this.run, this.theme, this.lines] = [run, theme, new ImageData(width, height)];
      paintLines(run, theme, this.lines, density);
    }
    return this.lines;
  }
}

function paintLines(run: Run, theme: Theme, image: ImageData, density: number): void {
  const { width, height } = image;
  const { series, step } = run.counters;
  const pixels = new Uint32Array(image.data.buffer).fill(packed(theme.raisedRgb));
  const line = (height - 2 * MARGIN * density) / Math.max(1, series.length);
  series.forEach((s, k) => {
    const colour = resourceColour(run.instructions.resources.indexOf(s.name));
    const [top, bottom] = [Math.round(MARGIN * density + k * line), Math.round(MARGIN * density + (k + 1) * line - density)];
    const bins = Math.max(1, Math.min(s.values.length, Math.floor(width / density / 2)));
    for (let b = 0; b < bins; b++) {
      const from = Math.floor((b * s.values.length) / bins);
      const to = Math.max(from + 1, Math.floor(((b + 1) * s.values.length) / bins));
      let sum = 0;
      for (let i = from; i < to; i++) sum += s.values[i] as number;
      if (sum <= 0) continue;
      const shade = packed(mix(theme.raisedRgb, colour, 0.15 + 0.85 * Math.min(1, sum / s.most / (to - from))));
      const left = Math.round((from * step * width) / run.makespan);
      const right = Math.min(width, Math.max(left + 1, Math.round((to * step * width) / run.makespan)));
      for (let y = top; y < Math.max(top + 1, bottom); y++) pixels.fill(shade, y * width + left, y * width + right);
    }
  });
}
