// The whole run at the foot of the mesh: how busy its cores are over time, and the window, to be dragged and pulled at its sides.
import { type Painter, textWidth } from "../../paint/painter";
import { css, resourceColour, stallColour } from "../../paint/theme";
import { STALLS } from "../../run/stalls";
import type { App } from "../../ui/app";
import { paintWindow } from "../../ui/window_bar";
import type { Box } from "./geometry";
import type { Load } from "../../run/load";

const SMALL = { size: 10 };
const WAIT = 0.5; // of the colour of what is waited for

interface Profile {
  busy: Float64Array; // share, by bin
  /** In the order of STALLS. */
  stalls: Float64Array[];
}

const profiles = new WeakMap<Load, Profile>();

/** Mean over the cores; only for a load that is done. */
export function profileOf(load: Load): Profile {
  let profile = profiles.get(load);
  if (profile) return profile;
  profile = { busy: new Float64Array(load.bins), stalls: STALLS.map(() => new Float64Array(load.bins)) };
  const cores = load.run.tracks.filter((t) => t.engine === "core");
  for (const { index } of cores) {
    for (let r = 0; r < load.columns.resources; r++) load.addBins(index, r, profile.busy);
    profile.stalls.forEach((values, s) => load.addBins(index, load.columns.stall + s, values));
  }
  const time = load.width * Math.max(1, cores.length);
  for (const values of [profile.busy, ...profile.stalls]) values.forEach((v, b) => (values[b] = v / time));
  profiles.set(load, profile);
  return profile;
}

export function paintScrubber(p: Painter, app: App, load: Load, box: Box): void {
  const { theme } = p;
  p.rect(box.x, box.y, box.width, box.height, css(theme.laneRgb));
  if (load.done >= 1) paintProfile(p, load, box);
  paintWindow(p, app, box);
}

export function paintScrubberKey(p: Painter, box: Box): void {
  const { theme } = p;
  const middle = box.y + box.height / 2 - 1;
  const entries: [string, string | null][] = [["the whole run, mean of all cores:", null], ["compute", css(resourceColour(0))], ...STALLS.map((name, s): [string, string] => [`waits for ${name}`, css(stallColour(s), WAIT)]).slice(0, -1), ["idle", css(theme.laneRgb)]];
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
  const { busy, stalls } = profileOf(load);
  const width = (load.width / Math.max(1, load.run.makespan)) * box.width;
  p.clip(box.x, box.y, box.width, box.height, () => {
    for (let b = 0; b < load.bins; b++) {
      const x = box.x + b * width;
      let top = box.y + box.height;
      const pile = (share: number, colour: string) => {
        if (share <= 0) return;
        top -= share * box.height;
        p.rect(x, top, width + 0.4, share * box.height, colour);
      };
      pile(busy[b] as number, css(resourceColour(0)));
      stalls.forEach((values, s) => pile(values[b] as number, css(stallColour(s), WAIT)));
    }
  });
}
