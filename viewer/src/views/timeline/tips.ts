// What a slice, the wait before it, an engine or a group of engines is, in words.
import { layerName, lockText, trackName } from "../../run/names";
import type { Run, SliceRef } from "../../run/run";
import { hadNothing, idleText, waitSentence, waitText } from "../../run/stalls";
import type { Track } from "../../run/track";
import type { App } from "../../ui/app";
import { count } from "../../ui/numbers";
import type { TipLine } from "../../ui/tip";
import { linesOf } from "./group_raster";
import type { Row } from "./rows";
import { wordingsOf } from "./wording";

const LONGEST = 400; // characters of asm

export function sliceTip(app: App, at: SliceRef, cycle: number): TipLine[] {
  const { run } = app;
  const track = run.tracks[at.track] as Track;
  const i = at.index;
  const [start, end, ready] = [track.start(i), track.end(i), track.ready(i)];
  const lines: TipLine[] = [[wordingsOf(run, track, i)[0] ?? "", "head"]];
  if (cycle < start && start > ready) {
    lines.push(waitSentence(run, track, i, app.waits, (cycles) => app.duration(cycles)));
    if (track.lock(i) >= 0) lines.push([lockText(run, track.lock(i)), "faint"]);
  } else {
    lines.push(`${app.duration(end - start)} from ${count(start)}`);
    if (start > ready) lines.push([hadNothing(run, track, i) ? `before: ${idleText(track, `${count(start - ready)} cycles`)}` : `after waiting ${count(start - ready)} for ${waitText(run, track, i, app.waits)}`, "faint"]);
  }
  lines.push([`${trackName(run, track)}, for layer ${layerName(run, track.layer(i))}`, "faint"]);
  const text = run.textOf(track.leaf(i));
  if (text) lines.push([text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text, "code"]);
  return lines;
}

/** `onName`: the pointer is at the left. */
export function rowTip(run: Run, row: Row, onName: boolean): TipLine[] | null {
  if (row.kind === "lane") {
    const track = run.tracks[row.track] as Track;
    const use: TipLine = ["Click: its first slice here. T: pin it at the top. Wheel: scroll.", "faint"];
    return onName ? [[trackName(run, track), "head"], `${count(track.size)} slices; the figure is how busy it is in the window`, use] : null;
  }
  const head: TipLine[] = [[row.label, "head"], `${count(row.tracks.length)} engines`];
  if (row.open) return [...head, "Click to fold it into a line for each resource."];
  const names = linesOf(run, row.tracks).map(({ resource, members }) => `${run.instructions.resources[resource] ?? ""} (${members.length})`);
  return [...head, `From above: ${names.join(", ")}. The stronger, the more of them are busy.`, ["Click to open.", "faint"]];
}
