// Beside the mesh: what all its cores did in the window, and the links that carried most.
import { fitName } from "../../paint/labels";
import { type Painter, textWidth } from "../../paint/painter";
import { css, heat, resourceColour, type Rgb, stallColour } from "../../paint/theme";
import { NO_WORK, STALLS } from "../../run/stalls";
import { bytes, macs, percent } from "../../ui/numbers";
import type { LinkFigures, MeshFigures, Mode, TileFigures } from "./figures";
import type { Box } from "./geometry";
import { hueOf } from "./paint";

const LINE = 17;
const IDLE: Rgb = [138, 143, 148];
const TITLES: Record<Mode, string> = {
  busy: "time that a core computes", stalled: "time spent waiting, and for what mostly", idle: "time with nothing to do", padded: "executed MACs that only pad",
};

const OTHER_LEGEND = "lines and bars: time that a wire, a DDR channel or a core's sending is busy";
const BUSY_LEGEND = `${OTHER_LEGEND}; a memtile's %: mean of its channels`;

const mean = (values: number[]): number => (values.length ? values.reduce((sum, v) => sum + v, 0) / values.length : 0);

/** The scale of colours of the mode; for stalls, each kind with its name. */
export function paintLegend(p: Painter, mode: Mode, width: number): void {
  const { theme } = p;
  const middle = 11;
  p.text(8, middle, "0", { size: 10, colour: theme.faint });
  for (let k = 0; k < 40; k++) p.rect(18 + 1.5 * k, middle - 5, 1.7, 10, css(heat(theme, k / 39, mode === "stalled" ? IDLE : hueOf(mode, -1))));
  p.text(82, middle, "100 %", { size: 10, colour: theme.faint });
  p.text(122, middle, TITLES[mode], { width: 226 });
  let x = 352;
  const key = (name: string, colour: Rgb) => {
    if (x + 30 + name.length * 6 > width) return;
    p.rect(x, middle - 4, 9, 9, css(colour));
    p.text(x + 13, middle, name, { size: 10, colour: theme.faint });
    x += 24 + name.length * 6;
  };
  if (mode === "stalled") STALLS.forEach((name, s) => s !== NO_WORK && key(name, stallColour(s)));
  else if (x + 420 < width) p.text(x, middle, mode === "busy" && x + textWidth(BUSY_LEGEND, { size: 10 }) + 8 < width ? BUSY_LEGEND : OTHER_LEGEND, { size: 10, colour: theme.faint, width: width - x - 8 });
}

/** What the chosen tile did in the window, or all cores where none is chosen; then the busiest links. */
export function paintPanel(p: Painter, box: Box, figures: MeshFigures, chosen: TileFigures | null, chosenTrack: number): void {
  const { theme } = p;
  p.rect(box.x, box.y, 1, box.height, theme.line);
  const [left, width] = [box.x + 12, box.width - 20];
  const of = chosen ? [chosen] : figures.cores;
  const title = chosen ? `${chosen.name.charAt(0).toUpperCase()}${chosen.name.slice(1)}` : figures.cores.length === 1 ? "The core" : `All ${figures.cores.length} cores`;
  p.text(left, box.y + 10, `${title} in the window`, { bold: true, width });
  paintParts(p, left, box.y + 21, width, partsOf(of));
  let y = box.y + 42;
  for (const { name, share, colour } of partsOf(of)) {
    if (share < 0.0005) continue;
    p.rect(left, y - 5, 9, 9, css(colour));
    p.text(left + 15, y, name, { width: width - 75 });
    p.text(left + width, y, percent(share), { align: "right" });
    y += LINE;
  }
  for (const [name, value] of workOf(of, figures, chosen !== null)) {
    p.text(left, y, name, { width: width - 60, colour: theme.faint });
    p.text(left + width, y, value, { align: "right", colour: theme.faint });
    y += LINE;
  }
  paintBusiest(p, { x: left, y: y + 6, width, height: box.y + box.height - y - 6 }, figures, chosenTrack);
}

function paintParts(p: Painter, left: number, y: number, width: number, parts: Part[]): void {
  let x = left;
  for (const { share, colour } of parts) {
    p.rect(x, y, share * width, 11, css(colour));
    x += share * width;
  }
  p.frame(left + 0.5, y + 0.5, width - 1, 10, p.theme.line);
}

function workOf(tiles: TileFigures[], { stretch }: MeshFigures, isOne: boolean): [string, string][] {
  const sum = (of: (tile: TileFigures) => number) => tiles.reduce((total, tile) => total + of(tile), 0);
  const work = sum((tile) => tile.macs);
  const padded: [string, string] = ["MACs that only pad", percent(work > 0.5 ? Math.max(0, 1 - sum((tile) => tile.needed) / work) : null)];
  if (!isOne) return [padded];
  const moved: [string, string] = ["moved", bytes(sum((tile) => tile.bytes))];
  const cycles = Math.max(1, stretch.to - stretch.from);
  return work > 0.5 ? [["did", macs(work)], ["MACs per cycle", (work / cycles).toFixed(1)], padded] : [moved];
}

interface Part {
  name: string;
  share: number;
  colour: Rgb;
}

function partsOf(tiles: TileFigures[]): Part[] {
  return [
    { name: "busy", share: mean(tiles.map((c) => c.busy)), colour: resourceColour(0) },
    ...STALLS.map((name, s) => ({ name: `waits for ${name}`, share: mean(tiles.map((c) => c.stalls[s] as number)), colour: stallColour(s) })).filter(({ share }) => share > 0),
    { name: "idle", share: mean(tiles.map((c) => c.idle)), colour: [200, 203, 206] as Rgb },
  ];
}

export const linksOf = (figures: MeshFigures): LinkFigures[] => [...figures.wires.filter((wire) => wire !== null), ...figures.ddr, ...figures.writes];

/** How a link is called beside others of all kinds. */
export const linkName = (link: LinkFigures): string => (link.engine === "coreOut" ? `core ${link.row},${link.column} out` : link.name);

function paintBusiest(p: Painter, box: Box, figures: MeshFigures, chosenTrack: number): void {
  const room = Math.floor((box.height - LINE) / LINE);
  if (room < 1) return;
  p.text(box.x, box.y, "Busiest links", { bold: true, width: box.width });
  const links = linksOf(figures).sort((a, b) => b.busy - a.busy).slice(0, Math.min(room, 14));
  links.forEach((link, k) => {
    const y = box.y + (k + 1) * LINE;
    const chosen = link.track === chosenTrack;
    p.rect(box.x, y - 7, box.width * link.busy, 14, css(link.resource >= 0 ? resourceColour(link.resource) : IDLE, 0.32));
    p.text(box.x + 4, y, fitName(linkName(link), box.width - 128), { bold: chosen, colour: chosen ? p.theme.accent : p.theme.text });
    p.text(box.x + box.width - 78, y, percent(link.busy), { align: "right" });
    p.text(box.x + box.width - 2, y, `${bytes(link.rate)}/s`, { size: 10, align: "right", width: 74 });
  });
}
