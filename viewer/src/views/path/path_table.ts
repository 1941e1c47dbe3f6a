// The view's twin: all shares in all groupings, then every step of the chain.
import type { CriticalPath } from "../../run/critical_path";
import { layerName, trackName } from "../../run/names";
import type { Run } from "../../run/run";
import { percentNumber, timeNumbers } from "../../ui/numbers";
import type { Selection } from "../../ui/state";
import type { Table } from "../../ui/view";
import type { ShareRow } from "./share_table";
import { type Grouping, GROUPINGS, linkName } from "./shares";
import { linkText } from "./step_list";

const SHARE_OF: Record<Grouping, string> = { resource: "share of a resource", layer: "share of a layer", place: "share of a tile", lock: "share by what it let go" };

/** Steps that end before cycle `from` are not in sight. */
export function pathTable(run: Run, path: CriticalPath, from: number, inTime: boolean, rowsOf: (by: Grouping) => readonly ShareRow[]): Table {
  const rows: (string | number)[][] = [];
  const whole = Math.max(1, run.makespan);
  const time = timeNumbers(run.device.clockHz, inTime ? "time" : "cycles");
  const figure = (cycles: number) => time.of(cycles);
  for (const by of GROUPINGS)
    for (const row of rowsOf(by)) {
      const gain = row.gain ? [figure(row.gain.cycles), row.gain.how] : ["", row.gain === null ? "not computed yet" : ""];
      rows.push([SHARE_OF[by], row.name, "", "", "", figure(row.cycles), percentNumber(row.cycles / whole), row.steps, ...gain, "", ""]);
    }
  const selections: (Selection | null)[] = rows.map(() => null);
  const shares = rows.length;
  let gone = 0;
  for (let k = 0; k < path.steps; k++) {
    if ((path.time[k + 1] as number) <= from) gone = k + 1;
    const track = run.tracks[path.track[k] as number];
    const cycles = (path.time[k + 1] as number) - (path.time[k] as number);
    selections.push(track ? { kind: "slice", track: path.track[k] as number, index: path.index[k] as number } : null);
    rows.push([
      `step ${k + 1}`, track ? run.mnemonicOf(path.leaf[k] as number) : "latency", track ? trackName(run, track) : "", layerName(run, path.layer[k] as number), figure(path.time[k] as number),
      figure(cycles), percentNumber(cycles / whole), 1, "", "", linkText(run, path, k) || linkName(run, path.link[k] as number), track ? (run.instructions.line[path.leaf[k] as number] ?? -1) + 1 : "",
    ]);
  }
  return {
    caption: "Critical path: its shares of the run, with what the run would gain if each took no time, then its steps in order.",
    columns: ["row", "name", "engine", "layer", `from (${time.unit})`, time.unit, "of the run %", "steps", `shorter if free by (${time.unit})`, "how that is known", "waited for", "line of asm"],
    rows,
    before: { from: shares, to: shares + gone },
    selections,
  };
}
