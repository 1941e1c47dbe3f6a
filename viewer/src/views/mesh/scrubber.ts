// The whole run at the foot of the mesh: how busy its cores are over time, and the window, to be dragged and pulled at its sides.
import { type Painter, textWidth } from "../../paint/painter";
import { css, resourceColour, type Theme } from "../../paint/theme";
import type { Run } from "../../run/run";
import { STALLS } from "../../run/stalls";
import type { App } from "../../ui/app";
import { paintWindow } from "../../ui/window_bar";
import type { Box } from "./geometry";
import type { Load } from "../../run/load";

const SMALL = { size: 10 };

interface Profile {
  busy: Float64Array; // share, by bin
  stalled: Float64Array;
}

const profiles = new WeakMap<Run, Profile>();

/** Mean over the cores; only for a load that is done. */
export function profileOf(load: Load): Profile {
  let profile = profiles.get(load.run);
  if (profile) return profile;
  profile = { busy: new Float64Array(load.bins), stalled: new Float64Array(load.bins) };
  const cores = load.run.tracks.filter((t) => t.engine === "core");
  for (const { index } of cores) {
    for (let r = 0; r < load.columns.resources; r++) load.addBins(index, r, profile.busy);
    for (let s = 0; s < STALLS.length; s++) load.addBins(index, load.columns.stall + s, profile.stalled);
  }
  const time = load.width * Math.max(1, cores.length);
  for (const values of [profile.busy, profile.stalled]) values.forEach((v, b) => (values[b] = v / time));
  profiles.set(load.run, profile);
  return profile;
}

export function paintScrubber(p: Painter, app: App, load: Load, box: Box): void {
  const { theme } = p;
  p.rect(box.x, box.y, box.width, box.height, css(theme.laneRgb));
  if (load.done >= 1) paintProfile(p, load, box);
  paintWindow(p, app, box);
}

const waitingColour = (theme: Theme): string => css(theme.dark ? [96, 101, 107] : [176, 180, 184]);

export function paintScrubberKey(p: Painter, box: Box): void {
  const { theme } = p;
  const middle = box.y + box.height / 2 - 1;
  const entries: [string, string | null][] = [["the whole run, mean of all cores:", null], ["compute", css(resourceColour(0))], ["wait", waitingColour(theme)], ["idle", css(theme.laneRgb)]];
  let x = box.x;
  for (const [text, colour] of entries) {
    if (colour) {
      p.rect(x, middle - 4, 8, 8, colour);
      p.frame(x + 0.5, middle - 3.5, 7, 7, theme.line);
      x += 12;
    }
    const width = textWidth(text, SMALL);
    if (x + width > box.x + box.width) return;
    p.text(x, middle, text, { ...SMALL, colour: theme.faint });
    x += width + 12;
  }
}

function paintProfile(p: Painter, load: Load, box: Box): void {
  const { busy, stalled } = profileOf(load);
  const width = (load.width / Math.max(1, load.run.makespan)) * box.width;
  const grey = waitingColour(p.theme);
  p.clip(box.x, box.y, box.width, box.height, () => {
    for (let b = 0; b < load.bins; b++) {
      const [high, higher] = [(busy[b] as number) * box.height, (stalled[b] as number) * box.height];
      p.rect(box.x + b * width, box.y + box.height - high, width + 0.4, high, css(resourceColour(0)));
      p.rect(box.x + b * width, box.y + box.height - high - higher, width + 0.4, higher, grey);
    }
  });
}
