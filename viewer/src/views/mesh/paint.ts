// Draws the device: heat on tiles, load on the lines between them.
import { type Painter, textWidth } from "../../paint/painter";
import { css, heat, mix, resourceColour, type Rgb, stallColour, type Theme } from "../../paint/theme";
import { STALLS } from "../../run/stalls";
import { count } from "../../ui/numbers";
import type { Feeds } from "../../run/feeds";
import { type LinkFigures, type MeshFigures, type Mode, shareOf, type TileFigures } from "./figures";
import type { Box, Geometry, WireLine } from "./geometry";

const IDLE: Rgb = [138, 143, 148];
const PADDED: Rgb = [213, 94, 0];

export interface Look {
  geometry: Geometry;
  figures: MeshFigures;
  mode: Mode;
  feeds: Feeds;
  /** Whether the tile is what is selected. */
  isChosen(tile: TileFigures): boolean;
  /** Whether the core ran the selected layer in the window. */
  ranLayer(tile: TileFigures): boolean;
  /** Link that is selected, by its track, or -1. */
  chosenTrack: number;
  /** Wire under the pointer, or -1. */
  wire: number;
}

export function hueOf(mode: Mode, worst: number): Rgb {
  if (mode === "stalled") return stallColour(worst);
  return { busy: resourceColour(0), idle: IDLE, padded: PADDED }[mode];
}

/** "97 %", and "<1 %" for what is not quite nothing. */
export const short = (share: number | null): string => (share === null ? "–" : share > 0 && share < 0.005 ? "<1 %" : `${count(share * 100)} %`);

export function paintMesh(p: Painter, look: Look): void {
  const { geometry, figures } = look;
  for (const line of geometry.wires) paintWire(p, look, line, figures.wires[line.wire] ?? null);
  paintStubs(p, look);
  paintDdr(p, look);
  geometry.memtiles.forEach((box, c) => paintTile(p, look, box, figures.memtiles[c] as TileFigures));
  geometry.cores.forEach((box, k) => paintTile(p, look, box, figures.cores[k] as TileFigures));
  for (const link of figures.writes) paintWrite(p, look, link);
  if (look.wire >= 0) paintReach(p, look);
}

// From each memtile to the lanes: a dot where it sends over the wire in this run, nothing but the crossing where it only could.
function paintStubs(p: Painter, { geometry, feeds, figures }: Look): void {
  const sends = (wire: number, memtile: number) => (feeds[wire]?.get(memtile) ?? 0) > 0;
  geometry.memtiles.forEach((box, memtile) => {
    const x = box.x + box.width / 2;
    p.line([x, geometry.stub.from, x, geometry.stub.to], css(p.theme.dark ? [110, 116, 122] : [165, 170, 174]), 1);
    for (const line of geometry.wires) {
      if (!sends(line.wire, memtile) || !line.feeds.includes(x)) continue;
      const link = figures.wires[line.wire] ?? null;
      p.circle(x, line.laneY, geometry.wires.length > 12 ? 2 : 3, link && link.busy > 0 ? css(resourceColour(link.resource)) : p.theme.faint, geometry.wires.length > 12 ? undefined : p.theme.text);
    }
  });
}

/** Dark or light letters, whichever can be read on the ground. */
export function inkOn(theme: Theme, [r, g, b]: Rgb): string {
  const isPale = 0.299 * r + 0.587 * g + 0.114 * b > 100;
  if (isPale) return theme.dark ? theme.onColour : theme.text;
  return theme.dark ? theme.text : "#ffffff";
}

function paintTile(p: Painter, look: Look, box: Box, tile: TileFigures): void {
  const { theme } = p;
  const share = shareOf(look.mode, tile);
  const fill = share === null ? theme.laneRgb : heat(theme, share, hueOf(look.mode, tile.worst));
  const ink = inkOn(theme, fill);
  p.rect(box.x, box.y, box.width, box.height, css(fill));
  p.frame(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, theme.line);
  paintWords(p, look.mode, box, tile, short(share), ink);
  if (look.ranLayer(tile)) {
    p.frame(box.x + 1, box.y + 1, box.width - 2, box.height - 2, theme.text, 2);
    if (box.width > 24) p.polygon([box.x + box.width - 11, box.y, box.x + box.width, box.y, box.x + box.width, box.y + 11], theme.text);
  }
  if (look.isChosen(tile)) p.frame(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1, theme.accent, 3);
}

// The longest of the names that leaves room for the figure beside it; what a core waits for stands with it where it fits.
function wordsFor(tile: TileFigures, note: string, width: number, size: number): string {
  const brief = tile.name.replace("core ", "").replace("memtile ", "M");
  const choices = note ? [`${tile.name} ${note}`, `${brief} ${note}`, brief] : [tile.name, brief];
  return choices.find((text) => textWidth(text, { size }) <= width) ?? "";
}

function paintWords(p: Painter, mode: Mode, box: Box, tile: TileFigures, figure: string, ink: string): void {
  const note = mode === "stalled" && tile.worst >= 0 ? (STALLS[tile.worst] as string) : "";
  if (box.height < 29) {
    const size = Math.max(8, Math.min(11, box.height * 0.6));
    const middle = box.y + box.height / 2 + 0.5;
    const style = { size, bold: true, colour: ink };
    p.text(box.x + box.width - 4, middle, figure, { ...style, align: "right" });
    p.text(box.x + 4, middle, wordsFor(tile, note, box.width - textWidth(figure, style) - 12, size), { size, colour: ink });
    return;
  }
  const figureSize = Math.max(8, Math.min(18, box.height * 0.42, box.width * 0.22));
  const isTall = box.height > 52;
  const middle = box.y + box.height / 2 + (isTall ? 2 : 6);
  p.text(box.x + 6, box.y + 8.5, wordsFor(tile, isTall ? "" : note, box.width - 18, 10), { size: 10, colour: ink });
  p.text(box.x + box.width / 2, middle, figure, { size: figureSize, bold: true, colour: ink, align: "center", width: box.width - 4 });
  if (note && isTall) p.text(box.x + box.width / 2, middle + figureSize * 0.5 + 8, note, { size: 10, colour: ink, align: "center", width: box.width - 6 });
}

const lineColour = (theme: Theme, link: LinkFigures | null): string => css(link && link.resource >= 0 ? mix(theme.laneRgb, resourceColour(link.resource), 0.35 + 0.65 * link.busy) : mix(theme.laneRgb, theme.dark ? [255, 255, 255] : [0, 0, 0], 0.16));

function paintWire(p: Painter, look: Look, line: WireLine, link: LinkFigures | null): void {
  const { theme } = p;
  const chosen = link !== null && link.track === look.chosenTrack;
  const colour = chosen || line.wire === look.wire ? theme.accent : lineColour(theme, link);
  const thickness = 1 + 4 * (link?.busy ?? 0);
  const xs = [...line.feeds, line.points[0] as number];
  p.line([Math.min(...xs), line.laneY, Math.max(...xs), line.laneY], colour, Math.min(line.laneRoom, thickness));
  const trunk = line.kind === "row" ? 0 : line.kind === "wide" ? 1 : -1;
  for (let k = 0; 2 * k + 3 < line.points.length; k++) p.line(line.points.slice(2 * k, 2 * k + 4), colour, k === trunk ? Math.min(thickness, line.trunkRoom) : thickness);
  const text = `${line.name} ${short(link?.busy ?? 0)}`;
  if (line.label.width > 30) p.text(line.label.x, line.label.y, text, { size: line.kind === "wide" ? 9 : 10, colour: chosen ? theme.accent : theme.faint, width: line.label.width });
}

// One bar a channel, as full as it is busy: into the memtile, then out of it.
function paintDdr(p: Painter, { geometry, figures, chosenTrack }: Look): void {
  geometry.ddr.forEach((box, column) => {
    const links = figures.ddr.filter((link) => link.column === column);
    const width = box.width / Math.max(1, links.length);
    const size = figureSize(box, links, width - 3);
    const busiest = links.reduce((most, link) => Math.max(most, link.busy), 0);
    links.forEach((link, k) => {
      const x = box.x + k * width;
      const hue = link.resource >= 0 ? resourceColour(link.resource) : IDLE;
      const fill = (width - 3) * link.busy;
      p.rect(x, box.y, width - 3, box.height, css(p.theme.laneRgb));
      p.rect(x, box.y, fill, box.height, css(mix(p.theme.laneRgb, hue, 0.55)));
      p.frame(x + 0.5, box.y + 0.5, width - 4, box.height - 1, link.track === chosenTrack ? p.theme.accent : p.theme.line, link.track === chosenTrack ? 2 : 1);
      const arrow = link.engine === "ddrIn" ? "↓" : "↑";
      const long = `${arrow} ${link.engine === "ddrIn" ? "in" : "out"} ${short(link.busy)}`;
      const figure = count(100 * link.busy);
      const text = [long, `${arrow}${figure}`].find((choice) => textWidth(choice, { size }) < width - 5) ?? figure;
      // Where there is no room for all, the busiest keeps its figure.
      if (size > LEAST_FIGURE || link.busy === busiest) p.text(x + (width - 3) / 2, box.y + box.height / 2 + 0.5, text, { size, align: "center" });
    });
  });
}

const LEAST_FIGURE = 6; // pixels high

/** The largest size of letters in which each channel's figure fits its bar. */
function figureSize(box: Box, links: readonly LinkFigures[], room: number): number {
  const most = box.height < 14 ? 8 : 10;
  for (let size = most; size > LEAST_FIGURE; size--) if (links.every((link) => textWidth(count(100 * link.busy), { size }) <= room)) return size;
  return LEAST_FIGURE;
}

// A bar at the right of the core, from below, as high as its sending is busy.
export function writeBox({ geometry, figures }: Look, link: LinkFigures): Box {
  const core = geometry.cores[link.row * figures.columns + link.column] as Box;
  return { x: core.x + core.width + 1, y: core.y, width: geometry.write, height: core.height };
}

function paintWrite(p: Painter, look: Look, link: LinkFigures): void {
  const box = writeBox(look, link);
  const filled = box.height * link.busy;
  p.rect(box.x, box.y, box.width, box.height, css(p.theme.laneRgb));
  p.rect(box.x, box.y + box.height - filled, box.width, filled, css(resourceColour(3)));
  p.frame(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1, link.track === look.chosenTrack ? p.theme.accent : p.theme.line, link.track === look.chosenTrack ? 2 : 1);
  if (box.height > 44 && box.width > 8) p.text(box.x + box.width / 2, box.y + box.height / 2, `out ${short(link.busy)}`, { size: 8.5, align: "center", turn: -Math.PI / 2 });
}

/** What the wire under the pointer reaches, and who feeds it. */
function paintReach(p: Painter, { geometry, wire, figures }: Look): void {
  const line = geometry.wires.find((at) => at.wire === wire);
  if (!line) return;
  const { theme } = p;
  const dashed = ({ x, y, width, height }: Box) => p.line([x, y, x + width, y, x + width, y + height, x, y + height, x, y], theme.accent, 1.5, [5, 3]);
  figures.cores.forEach(({ tile }, k) => {
    if (line.reaches(tile.row, tile.column)) dashed(geometry.cores[k] as Box);
  });
  for (const x of line.feeds) p.circle(x, line.laneY, 3, theme.accent);
}
