// What the pointer is told of a share, of a step and of what the gains mean.
import type { CriticalPath } from "../../run/critical_path";
import { lockText, trackName } from "../../run/names";
import type { App } from "../../ui/app";
import { count } from "../../ui/numbers";
import type { TipLine } from "../../ui/tip";
import type { Item } from "./fold";
import { gainNote, type ShareRow } from "./share_table";
import { linkName } from "./shares";
import { linkText, wordsOf } from "./step_list";

const LONGEST_ASM = 400;

export function shareTip(app: App, row: ShareRow, isOnly: boolean): TipLine[] {
  const lines: TipLine[] = [[row.name, "head"], `${app.duration(row.cycles)} of the path, in ${count(row.steps)} ${row.steps === 1 ? "step" : "steps"}`];
  const how: TipLine = [isOnly ? "Click: all steps again" : "Click: only these steps", "faint"];
  if (!row.gain) return [...lines, how];
  const most = row.gain.how === "at most" ? "at most " : "";
  return [...lines, `if free, the run would be shorter by ${most}${app.duration(row.gain.cycles)}`, [gainNote(row.gain.how), "faint"], how];
}

export const GAIN_TIP: TipLine[] = [
  ["How much shorter the run would be if this took no time", "head"],
  `No sign: ${gainNote("executed")}`,
  `≤ and hatched: ${gainNote("at most")}`,
  ["A gain is less than the share where another chain is nearly as long: freeing one leaves the other.", "faint"],
];

export function stepTip(app: App, path: CriticalPath, item: Item, isOnLock: boolean): TipLine[] {
  const { run } = app;
  const k = item.first;
  const words = wordsOf(run, path, item);
  const [from, to] = [path.time[k] as number, path.time[item.end] as number];
  const lines: TipLine[] = [[`${words.what} · ${words.layer}`, "head"], `${app.duration(to - from)} from ${count(from)}`];
  if (item.times > 1) lines.push([`${app.duration((to - from) / item.times)} each time`, "faint"]);
  const lock = path.lock[k] as number;
  const waited = lock >= 0 ? lockText(run, lock) : linkText(run, path, k);
  const link = waited ? `waited for ${waited}` : linkName(run, path.link[k] as number);
  if (link) lines.push([link, "faint"]);
  const track = run.tracks[path.track[k] as number];
  if (track) lines.push([trackName(run, track), "faint"]);
  const text = run.textOf(path.leaf[k] as number);
  if (text) lines.push([text.length > LONGEST_ASM ? `${text.slice(0, LONGEST_ASM)}…` : text, "code"]);
  if (isOnLock) lines.push(["Click: select the lock", "faint"]);
  return lines;
}
