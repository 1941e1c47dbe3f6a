// The listing on the canvas: titles, the section that one is in, the lines, and at the right the whole program in small.
import { type Painter, textWidth } from "../../paint/painter";
import { css, heat, resourceColour } from "../../paint/theme";
import { layerName } from "../../run/names";
import type { Run } from "../../run/run";
import { count } from "../../ui/numbers";
import type { ScrollArea } from "../../ui/scroll";
import type { Focus } from "../../ui/state";
import { type Columns, HEAD_STYLE } from "./columns";
import type { Finder } from "./finder";
import { heatOf } from "./heat";
import { type LineCosts, shareOf } from "./line_costs";
import type { Link } from "./links";
import type { Listing } from "./listing";
import { CODE, paintCode, paintFound, placeOf } from "./paint_code";
import { paintCosts } from "./paint_costs";
import { structureOf } from "./structure";
import type { Touched } from "./touched";

export const ROW = 18;
export const TITLES = 22;
export const TOP = TITLES + ROW + 3; // the columns' titles and the section's head
export const STRIP = 14; // the whole program, beside the scroll bar
const HEAT = 8; // of it
export const ROOM = 16; // at the right of the code
export const STEPS = 44; // to the section before and behind, in the section's head
const GAP = 12;

export interface Look {
  run: Run;
  focus: Focus;
  listing: Listing;
  costs: LineCosts;
  columns: Columns;
  area: ScrollArea;
  width: number;
  codeWidth: number;
  sideways: number;
  ofRun: boolean;
  finder: Finder;
  touched: Touched;
  /** Under the pointer. */
  hot: { line: number; link: Link } | null;
  /** Lines that were chosen for the clipboard, inclusive. */
  chosen: { from: number; to: number } | null;
  message: string;
}

export function paintListing(p: Painter, look: Look): void {
  const { area, columns, run } = look;
  const first = Math.floor(area.offset / ROW);
  const last = Math.min(run.asm.length - 1, Math.floor((area.offset + area.height) / ROW));
  const topOf = (line: number) => TOP + line * ROW - area.offset;
  p.clip(0, TOP, look.width, area.height, () => {
    for (let line = first; line <= last; line++) paintMargin(p, look, line, topOf(line));
  });
  p.clip(columns.code - 5, TOP, Math.max(0, look.codeWidth + 10), area.height, () => {
    for (let line = first; line <= last; line++) paintText(p, look, line, topOf(line));
  });
  paintTitles(p, look);
  paintSection(p, look, first);
  area.paintBar(p);
  paintStrip(p, look);
}

const isHead = ({ run }: Look, line: number) => (structureOf(run).endOf[line] as number) > 0;

function paintMargin(p: Painter, look: Look, line: number, top: number): void {
  const { run, focus, listing, columns, costs, area, chosen } = look;
  const { theme } = p;
  const isSelected = focus.line === line;
  if (isSelected) p.rect(0, top, area.inner, ROW, theme.dark ? "rgba(109,182,242,0.20)" : "rgba(11,97,164,0.14)");
  else if (isHead(look, line) && !(run.asm[line] as string).startsWith(" ")) p.rect(0, top, area.inner, ROW, theme.sunken);
  if (chosen && line >= chosen.from && line <= chosen.to) p.rect(columns.code - 6, top, 2, ROW, theme.accent);
  if (focus.layer >= 0 && listing.layer[line] === focus.layer) p.rect(0, top, isSelected ? 4 : 2, ROW, theme.accent);
  if (look.touched.has(line)) p.polygon([3, top + ROW / 2, 7, top + ROW / 2 - 4, 11, top + ROW / 2, 7, top + ROW / 2 + 4], theme.accent);
  p.text(columns.number, top + ROW / 2, count(line + 1), { ...CODE, align: "right", colour: isSelected ? theme.text : theme.faint });
  const leaf = listing.leaf[line] as number;
  if (leaf >= 0 || isHead(look, line)) paintCosts(p, run, columns, line, leaf, shareOf(costs, line, look.ofRun ? -1 : (listing.layer[line] as number)), top, ROW);
}

function paintText(p: Painter, look: Look, line: number, top: number): void {
  const { run, finder, columns, hot, codeWidth } = look;
  if (codeWidth < 20) return;
  const text = run.asm[line] as string;
  const x = columns.code - look.sideways;
  const width = codeWidth + look.sideways;
  const { accent } = p.theme;
  paintFound(p, x, top + 1, ROW - 2, text, finder.found.placesIn(line), width);
  if (finder.line === line) p.frame(columns.code - 4.5, top + 0.5, codeWidth + 8, ROW - 1, accent);
  for (const { from, to } of look.touched.linksIn(line)) {
    const at = placeOf(text, from, to, width);
    p.rect(x + at.x - 1, top + 1, at.width + 2, ROW - 2, p.theme.dark ? "rgba(109,182,242,0.28)" : "rgba(11,97,164,0.16)");
    p.frame(x + at.x - 1.5, top + 1.5, at.width + 3, ROW - 3, accent);
  }
  paintCode(p, x, top + ROW / 2, text, width);
  if (hot?.line !== line) return;
  const at = placeOf(text, hot.link.from, hot.link.to, width);
  p.rect(x + at.x, top + ROW - 3, at.width, 1, accent);
}

function paintTitles(p: Painter, { columns, width, finder, message }: Look): void {
  const { theme } = p;
  p.rect(0, 0, width, TITLES, theme.raised);
  const y = TITLES / 2;
  p.text(columns.number, y, "line", { ...HEAD_STYLE, align: "right" });
  for (const { title, right } of columns.costs) p.text(right - 3, y, title, { ...HEAD_STYLE, align: "right" });
  p.text(columns.share.right - 3, y, columns.share.title, { ...HEAD_STYLE, align: "right" });
  const right = width - ROOM;
  const room = right - columns.code;
  p.text(right, y, message, { align: "right", colour: finder.found.problem ? css([196, 69, 28]) : theme.faint, width: room });
  if (textWidth("program.asm", HEAD_STYLE) <= room - textWidth(message) - GAP) p.text(columns.code, y, "program.asm", HEAD_STYLE);
  p.rect(0, TITLES - 1, width, 1, theme.line);
}

/** The section that the first line in sight stands in, and its layer. */
function paintSection(p: Painter, { run, focus, listing, columns, width }: Look, first: number): void {
  const { theme } = p;
  const head = listing.head[first] ?? -1;
  const layer = head < 0 ? -1 : (listing.layer[head] as number);
  p.rect(0, TITLES, width, TOP - TITLES, theme.sunken);
  p.rect(0, TOP - 1, width, 1, theme.line);
  const middle = TITLES + (TOP - TITLES) / 2 - 0.5;
  const x = columns.code;
  const right = width - ROOM - STEPS;
  for (const [at, sign] of [[right + STEPS / 4, -1], [right + (3 * STEPS) / 4, 1]] as const)
    p.polygon([at - 5, middle - 3 * sign, at + 5, middle - 3 * sign, at, middle + 4 * sign], theme.faint);
  if (head < 0) {
    p.text(x, middle, "what the program is made of: no section yet", { colour: theme.faint, width: right - x });
    return;
  }
  if (focus.layer >= 0 && layer === focus.layer) p.rect(0, TITLES, 2, TOP - TITLES - 1, theme.accent);
  const name = layerName(run, layer);
  const room = right - x - GAP;
  if (head >= first) {
    // The head itself stands below.
    p.text(x, middle, name, { width: room });
    return;
  }
  p.text(columns.number, middle, count(head + 1), { ...CODE, align: "right", colour: theme.faint });
  const text = run.asm[head] as string;
  const headWidth = Math.min(textWidth(text, { ...CODE, bold: true }), Math.max(0.6 * room, room - textWidth(name)));
  p.text(x, middle, text, { ...CODE, bold: true, colour: theme.accent, width: headWidth + 1 });
  p.text(x + headWidth + GAP, middle, name, { width: Math.max(0, room - headWidth) });
}

/** The whole program: where its cycles go, and where the selected layer, what was found and what is touched lie. */
function paintStrip(p: Painter, { run, focus, listing, area, finder, costs, touched }: Look): void {
  const lines = run.asm.length;
  if (lines * ROW <= area.height) return;
  const x = area.inner - STRIP;
  const bins = Math.max(1, Math.floor(area.height / 2));
  heatOf(run, costs, bins).forEach((share, bin) => {
    if (share > 0) p.rect(x, TOP + bin * 2, HEAT, 2, css(heat(p.theme, share)));
  });
  const ticks = (sorted: Iterable<number>, left: number, width: number, colour: string) => {
    let last = -1;
    for (const line of sorted) {
      const y = TOP + Math.floor((line / lines) * (area.height - 2));
      if (y > last) p.rect(left, y, width, 2, colour);
      last = y;
    }
  };
  if (focus.layer >= 0) ticks(linesOfLayer(listing, focus.layer), x + HEAT, 3, p.theme.accent);
  ticks(touched.lines, x + HEAT, STRIP - HEAT, p.theme.accent);
  if (finder.lines !== touched.lines) ticks(finder.lines, x + HEAT, STRIP - HEAT, css(resourceColour(1)));
}

function* linesOfLayer({ layer }: Listing, wanted: number): Generator<number> {
  for (let line = 0; line < layer.length; line++) if (layer[line] === wanted) yield line;
}
