// What the mesh says of a tile or a link in words, and its table.
import { NO_WORK, STALLS } from "../../run/stalls";
import type { App } from "../../ui/app";
import { bytes, count, macs, percent } from "../../ui/numbers";
import type { TipLine } from "../../ui/tip";
import type { Table } from "../../ui/view";
import { feedsOf } from "../../run/feeds";
import { type Figures, type LinkFigures, type MeshFigures, paddedShare, type TileFigures } from "./figures";
import { linkName, linksOf } from "./panel";

const MOST_FEEDERS = 4;
const SHOWN = STALLS.map((_, s) => s).filter((s) => s !== NO_WORK);

const cycles = ({ stretch }: MeshFigures): number => stretch.to - stretch.from;

function stallLines(figures: Figures): TipLine[] {
  const kinds = figures.stalls.map((share, s) => ({ share, s })).filter(({ share }) => share > 0.00005).sort((a, b) => b.share - a.share);
  return kinds.map(({ share, s }): TipLine => [`   ${percent(share)} for ${STALLS[s]}`, "faint"]);
}

export function tileTip(app: App, mesh: MeshFigures, tile: TileFigures): TipLine[] {
  const lines: TipLine[] = [[tile.name, "head"]];
  if (!tile.tracks.length) return [...lines, "has nothing to do in this run"];
  const isCore = tile.tile.kind === "core";
  if (!isCore) lines.push([`all figures are means of its ${count(tile.tracks.length)} DDR channels; how full it is, Memory says`, "faint"]);
  lines.push(`busy ${percent(tile.busy)} of ${app.duration(cycles(mesh))}`, `waits ${percent(tile.stalled)}`, ...stallLines(tile), `idle ${percent(tile.idle)}`);
  if (isCore && tile.macs > 0.5) lines.push(`${macs(tile.macs)}, of which ${percent(paddedShare(tile))} only pad`);
  if (tile.bytes > 0.5) lines.push(`${bytes(tile.bytes)} moved`);
  return lines;
}

export function linkTip(app: App, mesh: MeshFigures, link: LinkFigures): TipLine[] {
  const { device } = app.run;
  const lines: TipLine[] = [[linkName(link), "head"], `busy ${percent(link.busy)} of ${app.duration(cycles(mesh))}`, `${bytes(link.rate)}/s${link.limit ? ` of at most ${bytes(link.limit)}/s` : ""}: ${bytes(link.bytes)}`];
  lines.push(`waits ${percent(link.stalled)}`, ...stallLines(link));
  const wire = link.engine === "wire" ? device.wires[link.column] : undefined;
  if (wire) {
    const { row, column, rows, columns } = wire.reach;
    const sent = [...(feedsOf(app.run)[link.column] ?? [])].sort((a, b) => b[1] - a[1]).map(([memtile, share]) => `${memtile} (${percent(share)})`);
    if (sent.length) lines.push(`in this run from memtile ${sent.slice(0, MOST_FEEDERS).join(", ")}${sent.length > MOST_FEEDERS ? ` and ${sent.length - MOST_FEEDERS} more` : ""}`);
    lines.push([`reaches cores ${row},${column} to ${row + rows - 1},${column + columns - 1}; memtiles ${wire.feeders.join(", ")} may feed it`, "faint"]);
  }
  return lines;
}

export function scrubberTip(app: App, mesh: MeshFigures): TipLine[] {
  return [
    [`Window: cycles ${count(mesh.stretch.from)} to ${count(mesh.stretch.to)}`, "head"],
    app.duration(cycles(mesh)),
    "The whole run, mean of all cores: strong colour computes, pale waits for what has that colour, empty is idle.",
    ["Drag the window or its sides; wheel zooms; [ and ] step it.", "faint"],
  ];
}

const figure = (share: number): number => Number((100 * share).toFixed(4));

export function meshTable(mesh: MeshFigures): Table {
  const columns = ["name", "busy %", "waits %", ...SHOWN.map((s) => `waits for ${STALLS[s]} %`), "idle %", "MACs", "padded MACs %", "bytes", "bytes/s"];
  const seconds = (rate: number | null) => (rate === null ? "" : Math.round(rate));
  const row = (name: string, f: Figures, rate: number | null) => {
    const padded = paddedShare(f);
    return [name, figure(f.busy), figure(f.stalled), ...SHOWN.map((s) => figure(f.stalls[s] as number)), figure(f.idle), Math.round(f.macs), padded === null ? "" : figure(padded), Math.round(f.bytes), seconds(rate)];
  };
  return {
    caption: `Tiles and links from cycle ${count(mesh.stretch.from)} to ${count(mesh.stretch.to)}; a memtile's figures are the mean of its DDR channels.`,
    columns,
    rows: [...[...mesh.cores, ...mesh.memtiles].map((tile) => row(tile.name, tile, null)), ...linksOf(mesh).map((link) => row(linkName(link), link, link.rate))],
  };
}
