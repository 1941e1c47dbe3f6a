// The chain itself, step by step, with its loops folded.
import type { Painter } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import { type CriticalPath, LINK_ENGINE, LINK_FIRST } from "../../run/critical_path";
import { layerName, lockName, trackName } from "../../run/names";
import type { Run } from "../../run/run";
import { count, percent } from "../../ui/numbers";
import { isFold, type Item, keyOf, type Line } from "./fold";
import { amount } from "./share_table";
import type { ScrollArea } from "../../ui/scroll";
import { cyclesIn, type Only, stepsIn } from "./only";
import { linkName } from "./shares";

export const LINE = 19;
const MOST_NAMES = 3;

export interface ListLook {
  run: Run;
  path: CriticalPath;
  lines: readonly Line[];
  open: ReadonlySet<string>;
  area: ScrollArea;
  inTime: boolean;
  /** Step that is selected, or -1. */
  step: number;
  layer: number;
  only: Only | null;
}

interface Words {
  what: string;
  where: string;
  layer: string;
  link: string;
}

/** Lock or event through which step k was let go by the one before. */
export function linkText(run: Run, path: CriticalPath, k: number): string {
  const lock = path.lock[k] as number;
  if (lock >= 0) return lockName(run, lock);
  const link = path.link[k] as number;
  return link === LINK_FIRST || link === LINK_ENGINE ? "" : linkName(run, link);
}

const stepWhat = (run: Run, path: CriticalPath, k: number) => (path.track[k] as number) < 0 ? "latency" : run.mnemonicOf(path.leaf[k] as number);
const stepWhere = (run: Run, path: CriticalPath, k: number) => {
  const track = run.tracks[path.track[k] as number];
  return track ? trackName(run, track) : "";
};

/** The distinct ones, in order; the last of many stand for the rest. */
function named(names: Iterable<string>): string {
  const distinct = [...new Set(names)].filter(Boolean);
  return distinct.length > MOST_NAMES ? `${distinct.slice(0, MOST_NAMES - 1).join(", ")} … ${distinct[distinct.length - 1]}` : distinct.join(", ");
}

/** Steps that stand for a folded item: its first iteration. */
function firstIteration({ first, end, times }: Item): number[] {
  const steps = Math.min(64, Math.ceil((end - first) / times));
  return Array.from({ length: steps }, (_, k) => first + k);
}

export function wordsOf(run: Run, path: CriticalPath, item: Item): Words {
  const steps = firstIteration(item);
  const what = named(steps.map((k) => stepWhat(run, path, k)));
  return {
    what: item.times > 1 ? `${count(item.times)} × ${steps.length > 1 ? `(${what})` : what}` : what,
    where: named(steps.map((k) => stepWhere(run, path, k))),
    layer: named(steps.map((k) => layerName(run, path.layer[k] as number))),
    link: linkText(run, path, item.first),
  };
}

interface Columns {
  from: number; // right edge
  cycles: number; // right edge
  what: number;
  where: number;
  layer: number; // 0: not shown
  link: number; // 0: not shown
  right: number;
}

function columnsOf({ area, run, inTime }: ListLook): Columns {
  const widest = Math.max(58, 7 * amount(run, run.makespan, inTime).length);
  const from = area.x + 6 + widest;
  const cycles = from + widest;
  const what = cycles + 12;
  const right = area.x + area.inner - 4;
  const room = right - what;
  const shares: [number, number, number] = room > 520 ? [0.27, 0.53, 0.76] : room > 230 ? [0.36, 0.69, 0] : [0.55, 0, 0];
  const at = (share: number) => (share ? what + room * share : 0);
  return { from, cycles, what, where: at(shares[0]), layer: at(shares[1]), link: at(shares[2]), right };
}

export function paintStepList(p: Painter, look: ListLook): void {
  const { area, lines } = look;
  const at = columnsOf(look);
  const { theme } = p;
  const headY = area.y - 11;
  const head = (x: number, text: string, align: "left" | "right" = "left") => { if (x) p.text(x, headY, text, { colour: theme.faint, align }); };
  head(at.from, "at", "right");
  head(at.cycles, look.inTime ? "takes" : "cycles", "right");
  if (look.only) p.text(at.what, headY, onlyHead(look, look.only), { colour: theme.accent, width: at.right - at.what });
  else {
    head(at.what, "instruction");
    head(at.where, "on");
    head(at.layer, "layer");
    head(at.link, "waited for");
  }
  p.rect(area.x, area.y - 1, area.width, 1, theme.line);
  p.clip(area.x, area.y, area.width, area.height, () => {
    const first = Math.max(0, Math.floor(area.offset / LINE));
    for (let n = first; n < lines.length && n * LINE < area.offset + area.height; n++) paintLine(p, look, at, n);
    area.paintBar(p);
  });
}

function onlyHead({ run, path }: ListLook, only: Only): string {
  const all = { first: 0, end: path.steps };
  const share = percent(cyclesIn(only, all) / Math.max(1, run.makespan));
  return `✕  only ${only.by === "lock" ? "before " : ""}${only.name}: ${count(stepsIn(only, all))} of ${count(path.steps)} steps, ${share} of the run`;
}

function paintLine(p: Painter, look: ListLook, at: Columns, n: number): void {
  const { area, run, path, open, inTime, only } = look;
  const { item, depth } = look.lines[n] as Line;
  const { theme } = p;
  const y = area.y + n * LINE - area.offset;
  const middle = y + LINE / 2;
  const [from, to] = [path.time[item.first] as number, path.time[item.end] as number];
  const chosen = look.step >= item.first && look.step < item.end;
  const ofLayer = look.layer >= 0 && path.layer[item.first] === look.layer;
  if (chosen) p.rect(area.x, y, area.inner, LINE, theme.dark ? "rgba(109,182,242,0.24)" : "rgba(11,97,164,0.16)");
  else if (ofLayer) p.rect(area.x, y, area.inner, LINE, theme.dark ? "rgba(109,182,242,0.09)" : "rgba(11,97,164,0.06)");
  const words = wordsOf(run, path, item);
  p.text(at.from, middle, amount(run, from, inTime), { align: "right", colour: theme.faint });
  p.text(at.cycles, middle, amount(run, only ? cyclesIn(only, item) : to - from, inTime), { align: "right", bold: true });
  const x = at.what + 12 * Math.min(depth, 4);
  if (isFold(item)) p.text(x, middle, open.has(keyOf(item)) ? "▾" : "▸", { colour: theme.faint });
  if ((path.resource[item.first] as number) >= 0) p.rect(x + 12, y + 5, 9, 9, css(resourceColour(path.resource[item.first] as number)));
  const cell = (left: number, end: number, text: string, colour: string) => { if (left) p.text(left, middle, text, { colour, width: end - left - 8 }); };
  cell(x + 25, at.where || at.right, words.what, theme.text);
  cell(at.where, at.layer || at.right, words.where, theme.faint);
  cell(at.layer, at.link || at.right, words.layer, theme.text);
  cell(at.link, at.right, words.link, (path.lock[item.first] as number) >= 0 ? theme.accent : theme.faint);
}

/** Whether x is on the mark that opens and shuts a fold. */
export function isOnMark(look: ListLook, x: number, depth: number): boolean {
  const left = columnsOf(look).what + 12 * Math.min(depth, 4);
  return x >= left - 4 && x < left + 12;
}

/** Whether x is on what the step waited for. */
export function isOnLink(look: ListLook, x: number): boolean {
  const { link } = columnsOf(look);
  return link > 0 && x >= link;
}
