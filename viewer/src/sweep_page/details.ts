// The selected point in words, at the side; with none selected, the sweep in short.
import { better, css, resourceColour, worse } from "../paint/theme";
import { boundsOf, largest } from "../sweep/bounds";
import { cellText, cellWithUnit, figure, pointName, withUnit } from "../sweep/figures";
import { isBetter } from "../sweep/grid";
import { type Column, has, isConstant, type NumberColumn, type Sweep, type TextColumn } from "../sweep/sweep";
import { button, element } from "../ui/dom";
import { count, percent } from "../ui/numbers";
import { barRow, barTable, List } from "../ui/panel_parts";
import type { App } from "./app";
import { type Change, TITLES, type ViewId } from "./state";
import { timelineOf } from "./timeline_of";

const MOST_REASONS = 6;
const MOST_BEST = 12;

export class Details {
  readonly root = element("aside", { id: "details", tabIndex: 0, aria: { label: "Details of the selection" } });

  constructor(private readonly app: App) {}

  changed(change: Change): void {
    const { app } = this;
    this.root.hidden = !app.hasDetails;
    const concerns = app.selection < 0 ? change.has("selection") || change.has("filters") : change.has("selection") || change.has("held");
    if (concerns) this.root.replaceChildren(...(app.selection >= 0 ? pointPanel(app, app.selection) : summary(app)));
  }
}

const heading = (text: string) => element("h3", { textContent: text });

function link(text: string, title: string, act: () => void): HTMLButtonElement {
  const node = button(text, title, act);
  node.className = "link";
  return node;
}

// ---- a point ----

function pointPanel(app: App, point: number): Node[] {
  const { sweep, held } = app;
  const parts: Node[] = [element("h2", { textContent: pointName(sweep, point) })];
  const reason = sweep.text("reason", point);
  const status = sweep.text("status", point);
  if (status && status !== "ok") parts.push(element("p", { textContent: reason ? `${status}: ${reason}` : status }));
  const isHeld = held === point;
  parts.push(element("p", { className: "see" },
    button(isHeld ? "Let it go" : "Hold to compare", "Hold this point, to compare others with it (H)", () => app.hold(point)),
    ...(held >= 0 && !isHeld ? [button("Compare with the held", `Compare with ${pointName(sweep, held)} (C)`, () => app.open("compare"))] : [])));
  parts.push(...listOf("What it is", sweep, point, (column) => (column.role === "vary" || (column.role === "key" && column.name !== "point")) && !isConstant(column)));
  const bounds = boundRows(sweep, point);
  if (bounds.length) parts.push(heading("What limits it"), barTable(["resource", "of its time"], bounds));
  const isBound = new Set<Column>(boundsOf(sweep).map(({ column }) => column));
  parts.push(...requirements(sweep, point));
  parts.push(...listOf("What came of it", sweep, point, (column) => column.role === "result" && !isBound.has(column) && !requirementOf(column) && !["status", "reason"].includes(column.name)));
  parts.push(...listOf("Effort", sweep, point, ({ role }) => role === "effort"));
  if (sweep.text("point", point)) parts.push(element("p", { className: "faint code", textContent: sweep.text("point", point), title: "The name of its file" }));
  parts.push(...timelineOf(sweep, point));
  parts.push(views(app, ["tornado", "limits", "points"]));
  return parts;
}

function listOf(title: string, sweep: Sweep, point: number, wanted: (column: Column) => boolean): Node[] {
  const columns = sweep.columns.filter((column) => wanted(column) && has(column, point));
  if (!columns.length) return [];
  const list = new List();
  for (const column of columns) list.add(column.name, element("span", { textContent: cellWithUnit(column, point), title: column.help }));
  return [heading(title), list.root];
}

/** "ms <= 2" of the column slack(ms <= 2). */
const requirementOf = ({ name }: Column): string => /^slack\((.*)\)$/.exec(name)?.[1] ?? "";

/** What is left of each requirement, the tightest first. */
function requirements(sweep: Sweep, point: number): Node[] {
  const left = sweep.columns
    .filter((column): column is NumberColumn => column.kind === "number" && requirementOf(column) !== "" && has(column, point))
    .map((column) => ({ text: requirementOf(column), slack: column.values[point] as number }))
    .sort((a, b) => a.slack - b.slack);
  if (!left.length) return [];
  const rows = left.map(({ text, slack }) => barRow(text, Math.abs(slack), slack < 0 ? worse() : better(), percent(slack), slack < 0 ? `${text}: missed by ${percent(-slack)}` : `${text}: ${percent(slack)} are left`));
  return [heading("What is required"), barTable(["requirement", "of it is left"], rows)];
}

const boundRows = (sweep: Sweep, point: number): HTMLElement[] =>
  boundsOf(sweep)
    .map(({ column, name, resource }) => ({ name, resource, share: column.values[point] as number }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share)
    .map(({ name, resource, share }) => barRow(name, share, css(resourceColour(resource)), percent(share), `${figure(share)} of the time`));

const views = (app: App, ids: ViewId[]): Node => element("p", { className: "see" }, "Show in ", ...ids.map((id) => button(TITLES[id], `Show the view ${TITLES[id]}`, () => app.open(id))));

// ---- the sweep ----

function summary(app: App): Node[] {
  const { sweep } = app;
  const { points } = app.visible;
  const all = points.length === sweep.points ? "All" : count(points.length);
  const parts: Node[] = [element("h2", { textContent: "The sweep" }), element("p", { textContent: `${all} of ${count(sweep.points)} points are shown.` })];
  const status = sweep.texts("status");
  if (status) parts.push(heading("How they ended"), ...ends(app, points, status));
  const figures = sweep.numbers("ms") ?? sweep.columns.find((column): column is NumberColumn => column.kind === "number" && column.role === "result" && column.distinct > 0);
  if (figures) parts.push(...best(app, points, figures));
  parts.push(...limits(app, points), ...constants(sweep));
  parts.push(element("p", { className: "faint", textContent: "Click a point: every view then marks it, and what it is and came to stands here. Hold one (H) and select another to compare the two." }));
  return parts;
}

function ends(app: App, points: readonly number[], status: TextColumn): Node[] {
  const tally = new Map<number, number>();
  for (const point of points) tally.set(status.codes[point] as number, (tally.get(status.codes[point] as number) ?? 0) + 1);
  const rows = [...tally].sort((a, b) => b[1] - a[1]).map(([code, n]) => {
    const name = status.words[code] ?? "none";
    return barRow(link(name, `Only these: filter by status ${name}`, () => app.setFilter("status", name)), n / points.length, "var(--accent)", count(n));
  });
  const parts: Node[] = [element("table", { className: "figures-table" }, element("tbody", {}, ...rows))];
  const reasons = app.sweep.texts("reason");
  if (!reasons) return parts;
  const why = new Map<number, number>();
  for (const point of points) {
    const code = reasons.codes[point] as number;
    if (code >= 0 && reasons.words[code]) why.set(code, (why.get(code) ?? 0) + 1);
  }
  const most = [...why].sort((a, b) => b[1] - a[1]);
  if (most.length) parts.push(element("ul", {}, ...most.slice(0, MOST_REASONS).map(([code, n]) => element("li", { textContent: `${count(n)}: ${reasons.words[code]}` }))));
  if (most.length > MOST_REASONS) parts.push(element("p", { className: "faint", textContent: `and ${count(most.length - MOST_REASONS)} other reasons` }));
  return parts;
}

/** The best point of each network. */
function best(app: App, points: readonly number[], column: NumberColumn): Node[] {
  const models = app.sweep.texts("model");
  const found = new Map<number, number>();
  for (const point of points) {
    if (Number.isNaN(column.values[point])) continue;
    const model = models?.codes[point] ?? 0;
    const before = found.get(model);
    if (before === undefined || isBetter(column, false, point, before)) found.set(model, point);
  }
  if (!found.size) return [];
  const list = new List();
  list.root.className = "best";
  for (const [, point] of [...found].sort((a, b) => a[0] - b[0]).slice(0, MOST_BEST)) list.add(withUnit(column, column.values[point] as number), link(pointName(app.sweep, point), pointName(app.sweep, point), () => app.select(point)));
  return [heading(`Least ${column.name}`), list.root];
}

/** Which resource has the largest share, by points. */
function limits(app: App, points: readonly number[]): Node[] {
  const bounds = boundsOf(app.sweep);
  const tally = new Map(bounds.map((bound) => [bound, 0]));
  let known = 0;
  for (const point of points) {
    const bound = largest(bounds, point);
    if (!bound) continue;
    tally.set(bound, (tally.get(bound) ?? 0) + 1);
    known++;
  }
  if (!known) return [];
  const rows = [...tally].filter(([, n]) => n).sort((a, b) => b[1] - a[1]).map(([{ name, resource }, n]) => barRow(name, n / known, css(resourceColour(resource)), count(n)));
  return [heading("Largest share of the time"), barTable(["resource", "points"], rows)];
}

/** Keys that are the same in all points. */
function constants(sweep: Sweep): Node[] {
  const columns = sweep.columns.filter((column) => column.role === "key" && isConstant(column) && column.distinct === 1 && column.name !== "point");
  if (!columns.length || !sweep.points) return [];
  const list = new List();
  for (const column of columns) list.add(column.name, element("span", { textContent: column.unit ? cellWithUnit(column, 0) : cellText(column, 0), title: column.help }));
  return [heading("The same in all points"), list.root];
}
