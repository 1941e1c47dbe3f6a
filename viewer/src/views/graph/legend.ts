// The strip along the top: what colours, marks and dashes mean, on as many lines as it takes.
import { paintMark } from "../../paint/marks";
import { type Painter, textWidth } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import type { Run } from "../../run/run";
import { percent } from "../../ui/numbers";
import { barColour, type Colour, rampOf, shareOfTime } from "./colours";

const LINE = 26;
const MARGIN = 10;
const GAP = 14;
const TOOLS = 300; // of the first line, where the choices stand
const RAMP = 120;

interface Entry {
  width: number;
  paint(p: Painter, x: number, middle: number): void;
}

interface Placed extends Entry {
  x: number;
  line: number;
}

export interface Legend {
  height: number;
  entries: Placed[];
}

/** `low` panes get the colours alone: the rest is in the tips too. */
export function legendOf(run: Run, colour: Colour, width: number, low: boolean): Legend {
  let [x, line] = [MARGIN, 0];
  const entries = entriesOf(run, colour, low).map((entry): Placed => {
    const right = line === 0 ? width - TOOLS : width - MARGIN;
    if (x + entry.width > right && (x > MARGIN || line === 0)) [x, line] = [MARGIN, line + 1];
    const placed = { ...entry, x, line };
    x += entry.width + GAP;
    return placed;
  });
  return { height: 6 + (line + 1) * LINE, entries };
}

export function paintLegend(p: Painter, { height, entries }: Legend, width: number): void {
  p.rect(0, 0, width, height, p.theme.raised);
  p.rect(0, height - 1, width, 1, p.theme.line);
  for (const entry of entries) entry.paint(p, entry.x, 3 + (entry.line + 0.5) * LINE);
}

/** A picture of `room` pixels and the words for it. */
const entry = (room: number, text: string, paint: (p: Painter, x: number, middle: number) => void): Entry => ({
  width: room + (room ? 6 : 0) + textWidth(text),
  paint(p, x, middle) {
    paint(p, x, middle);
    p.text(x + room + (room ? 6 : 0), middle, text, { colour: p.theme.faint });
  },
});

function entriesOf(run: Run, colour: Colour, low: boolean): Entry[] {
  const colours = colour === "bound" ? boundEntries(run, !low) : [rampEntry(run, colour)];
  if (low) return colours;
  const dashed = entry(18, "input, output, or continued from elsewhere", (p, x, middle) => {
    p.line([x, middle - 5, x + 18, middle - 5, x + 18, middle + 5, x, middle + 5, x, middle - 5], p.theme.faint, 1, [3, 2]);
  });
  return [...colours, ...(colour === "bound" ? [] : [barEntry(colour)]), dashed];
}

function boundEntries(run: Run, counted: boolean): Entry[] {
  const { resources } = run.instructions;
  const names = [...new Set(run.layers.map(({ boundBy }) => boundBy ?? ""))].sort((a, b) => resources.indexOf(a) - resources.indexOf(b));
  const marks = names.map((name) => {
    const resource = resources.indexOf(name);
    const layers = counted ? ` (${run.layers.filter(({ boundBy }) => (boundBy ?? "") === name).length})` : "";
    return entry(12, `${name || "not bound"}${layers}`, (p, x, middle) => paintMark(p, resource, x + 6, middle, 5, css(resourceColour(resource)), p.theme.text));
  });
  return [entry(0, counted ? "bound by (layers)" : "bound by", () => {}), ...marks];
}

function rampEntry(run: Run, colour: Colour): Entry {
  const longest = run.layers.reduce((most, layer) => Math.max(most, shareOfTime(run, layer)), 0);
  const [from, to] = colour === "time" ? ["share of the run: 0 %", percent(longest)] : ["efficiency: 100 % and more", "0 %"];
  const width = textWidth(from) + 6;
  return entry(width + RAMP, to, (p, x, middle) => {
    p.text(x, middle, from, { colour: p.theme.faint });
    for (let k = 0; k < 24; k++) p.rect(x + width + (k * RAMP) / 24, middle - 6, RAMP / 24 + 0.5, 12, rampOf(p.theme, colour, k / 23));
  });
}

const barEntry = (colour: Colour): Entry =>
  entry(22, colour === "time" ? "bar: share, of the longest layer's" : "bar: efficiency", (p, x, middle) => {
    p.rect(x, middle - 2, 22, 4, p.theme.line);
    p.rect(x, middle - 2, 14, 4, barColour(colour));
  });
