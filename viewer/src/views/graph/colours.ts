// What the colour of a node says, and its words beside it.
import { css, heat, mix, type Rgb, resourceColour, type Theme } from "../../paint/theme";
import type { Layer, Run } from "../../run/run";
import { percent } from "../../ui/numbers";

export const COLOURS = ["time", "bound", "efficiency"] as const;
export type Colour = (typeof COLOURS)[number];

const WASTE: Rgb = [150, 82, 196];

export interface Look {
  fill: string;
  text: string;
  edge: string;
  /** Beside the operator: the figure that the colour shows. */
  figure: string;
}

export const shareOfTime = (run: Run, layer: Layer): number => (run.makespan > 0 ? layer.cycles / run.makespan : 0);

export function lookOf(run: Run, theme: Theme, colour: Colour, layer: Layer, longest: number): Look {
  const of = (rgb: Rgb, edge: Rgb, figure: string): Look => ({ fill: css(rgb), text: legibleOn(rgb), edge: css(edge), figure });
  const share = percent(shareOfTime(run, layer));
  if (colour === "bound") {
    const rgb = resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? ""));
    return of(mix(theme.laneRgb, rgb, 0.55), rgb, layer.boundBy ?? "not bound");
  }
  if (colour === "efficiency") {
    const { efficiency } = layer;
    const rgb = efficiency === null ? theme.laneRgb : heat(theme, 1 - Math.min(1, efficiency), WASTE);
    return of(rgb, mix(rgb, WASTE, 0.35), efficiency === null ? "–" : percent(efficiency));
  }
  const rgb = heat(theme, longest > 0 ? layer.cycles / longest : 0);
  return of(rgb, mix(rgb, [213, 94, 0], 0.35), share);
}

/** Colours from 0 to 1 for a legend: the longest layer, or the worst efficiency, at 1. */
export const rampOf = (theme: Theme, colour: Colour, share: number): string => css(colour === "efficiency" ? heat(theme, share, WASTE) : heat(theme, share));

// Relative luminance as WCAG has it; the text that contrasts more: at least 4.58 to 1, which greyer ones would miss on middling grounds.
function legibleOn(rgb: Rgb): string {
  const [r, g, b] = rgb.map((v) => (v <= 10 ? v / 3294 : ((v / 255 + 0.055) / 1.055) ** 2.4)) as [number, number, number];
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return luminance > 0.179 ? "#000000" : "#ffffff";
}

/** Of the bar below a node, which says the same as its colour. */
export const barColour = (colour: Colour): string => (colour === "time" ? "rgb(176,64,0)" : "rgb(96,40,140)");
