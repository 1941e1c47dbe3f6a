// The whole run above the lanes: a line for each resource, the stronger the more of its engines are busy.
import type { Painter } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import type { App } from "../../ui/app";
import { GUTTER } from "../../ui/time_axis";
import { type Bar, paintWindow } from "../../ui/window_bar";

const MARGIN = 5;

export function paintOverview(p: Painter, app: App, bar: Bar): void {
  const { run } = app;
  const { theme } = p;
  const { series, step } = run.counters;
  const height = (bar.height - 2 * MARGIN) / Math.max(1, series.length);
  p.rect(0, bar.y, bar.x + bar.width, bar.height, theme.raised);
  series.forEach((s, k) => {
    const colour = resourceColour(run.instructions.resources.indexOf(s.name));
    const y = bar.y + MARGIN + k * height;
    const bins = Math.max(1, Math.min(s.values.length, Math.floor(bar.width / 2)));
    for (let b = 0; b < bins; b++) {
      const from = Math.floor((b * s.values.length) / bins);
      const to = Math.max(from + 1, Math.floor(((b + 1) * s.values.length) / bins));
      let sum = 0;
      for (let i = from; i < to; i++) sum += s.values[i] as number;
      if (sum > 0) p.rect(bar.x + (from * step * bar.width) / run.makespan, y, ((to - from) * step * bar.width) / run.makespan + 0.4, height - 1, css(colour, 0.15 + 0.85 * Math.min(1, sum / s.most / (to - from))));
    }
    p.rect(GUTTER - 16, y + 1, 9, Math.min(9, height - 2), css(colour));
    p.text(GUTTER - 22, y + height / 2, s.name, { size: Math.min(10, Math.max(8, height)), colour: theme.faint, align: "right" });
  });
  paintWindow(p, app, bar);
}
