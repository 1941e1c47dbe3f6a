// The view in one line: what the run's time is, and what there is to gain.
import type { App } from "../../ui/app";
import { count, percent } from "../../ui/numbers";
import type { Known } from "./known";
import { gainText, type ShareRow } from "./share_table";

const NAMED = 2; // resources

export function summaryOf(app: App, known: Known): string {
  const { run, path } = known;
  if (!path.steps) return "Nothing ran: there is no path.";
  const rows = known.rowsOf("resource");
  const shares = rows.slice(0, NAMED).map((row) => `${row.name} ${percent(row.cycles / Math.max(1, run.makespan))}`);
  const best = rows.reduce((most, row) => ((row.gain?.cycles ?? 0) > (most.gain?.cycles ?? 0) ? row : most), rows[0] as ShareRow);
  const gain = best.gain && best.gain.cycles > 0 ? ` Most to gain: ${best.name}, ${gainText(run, best.gain)} shorter if free.` : "";
  const distinct = (values: Iterable<number>) => new Set([...values].filter((value) => value >= 0)).size;
  const many = (n: number, one: string) => `${count(n)} ${one}${n === 1 ? "" : "s"}`;
  const what = [many(path.steps, "step"), many(distinct(path.track), "engine"), many(distinct(path.layer), "layer")].join(", ");
  return `${shares.join(", ")} of the run.${gain} ${what} fill ${app.duration(run.makespan)}.`;
}
