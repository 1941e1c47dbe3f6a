// Panel of one inference of several.
import { frameName } from "../run/frames";
import { element } from "./dom";
import { count, percent } from "./numbers";
import { barRow, barTable, List, type Words } from "./panel_parts";

const LISTED = 12; // layers

export function framePanel(words: Words, index: number): Node[] | null {
  const { app } = words;
  const { run } = app;
  const frame = run.frames[index];
  if (!frame) return null;
  const list = new List();
  list.add("runs", `from ${count(frame.start)} to ${count(frame.end)}, ${app.duration(frame.end - frame.start)}`);
  const before = run.frames[index - 1];
  if (before) {
    list.add("ends", `${app.duration(frame.end - before.end)} after the one before`);
    list.add("overlap", before.end > frame.start ? `begins ${app.duration(before.end - frame.start)} before that one has ended` : "none: it begins when that one has ended");
  }
  const near = [index - 1, index + 1].filter((k) => run.frames[k]);
  if (near.length) list.add("beside", element("span", {}, ...near.flatMap((k, i) => [i ? ", " : "", words.link(frameName(run, k), { kind: "frame", frame: k })])));
  const cycles = new Map<number, number>();
  for (const band of run.bands) if (band.frame === index) cycles.set(band.layer, (cycles.get(band.layer) ?? 0) + band.to - band.from);
  const longest = [...cycles].sort((a, b) => b[1] - a[1]).slice(0, LISTED);
  const most = Math.max(1, longest[0]?.[1] ?? 0);
  const rows = longest.map(([layer, took]) => barRow(words.layer(layer), took / most, "var(--accent)", percent(took / Math.max(1, frame.end - frame.start))));
  return [element("h2", { textContent: frameName(run, index) }), list.root, barTable(["layer", "of the frame"], rows), words.views(["timeline"])];
}
