// The chain of instructions and locks that sets the makespan: where it runs, whose time it is, and what it would gain to be without.
import type { Painter } from "../../paint/painter";
import { type CriticalPath, criticalPath, stepAt, stepOf } from "../../run/critical_path";
import { lockText, trackName } from "../../run/names";
import { placeOf } from "../../run/places";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { button, element } from "../../ui/dom";
import { count, percent } from "../../ui/numbers";
import { type Change, tileOfTrack } from "../../ui/state";
import { AXIS_HEIGHT, GUTTER, listenToTime, paintAxis, paintMeasure, TimeScale } from "../../ui/time_axis";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { folded, foldsAround, isFold, type Item, keyOf, type Line, linesOf } from "./fold";
import { gainsOf } from "./gains";
import { ScrollArea } from "./scroll";
import { gainNote, HEAD, paintShareTable, ROW, type ShareRow, sortAt, type TableLook } from "./share_table";
import { GROUPINGS, type Grouping, groupName, linkName, longestStep, type Share, sharesOf } from "./shares";
import { BAND, paintStrip, type StripData, stripData, type StripPlace, stripPlace } from "./strip";
import { isOnMark, LINE, linkText, type ListLook, paintStepList, wordsOf } from "./step_list";
import { pathTable } from "./path_table";
import "./path.css";

const TITLES: Record<Grouping, string> = { resource: "Resource", layer: "Layer", place: "Tile", lock: "Lock" };
const SUMMARY = 24;

/** What is computed once for a run. */
interface Known {
  run: Run;
  path: CriticalPath;
  items: Item[];
  strip: StripData;
  shares: Map<Grouping, Share[]>;
}

const made = new WeakMap<Run, Known>();

function knownOf(run: Run): Known {
  let known = made.get(run);
  if (!known) {
    const path = criticalPath(run);
    known = { run, path, items: folded(run, path), strip: stripData(run, path), shares: new Map() };
    made.set(run, known);
  }
  return known;
}

export class PathView extends CanvasView {
  private readonly shareArea = new ScrollArea();
  private readonly listArea = new ScrollArea();
  private readonly open = new Set<string>();
  private lines: Line[] = [];
  private linesFor: { items: Item[]; open: number } | null = null;
  private readonly buttons = new Map<Grouping, HTMLButtonElement>();
  private ownSelection = false;

  constructor(app: App) {
    super(app, "path", "Critical path: the steps that set the makespan");
    this.listenToScrolling();
    listenToTime(app, this.canvas, {
      scale: () => this.scale,
      isAxis: (y) => y < AXIS_HEIGHT,
      click: (x, y) => this.click(x, y),
    });
    this.canvas.addEventListener("dblclick", (e) => this.doubleClick(e.offsetX, e.offsetY));
    this.keys.push(
      { key: "]", shown: "]", does: "next step of the path", run: () => this.step(1) },
      { key: "[", shown: "[", does: "previous step of the path", run: () => this.step(-1) },
      { key: "g", shown: "G", does: "group by resource, layer, tile or lock", run: () => this.nextGrouping() },
      { key: "e", shown: "E", does: "open or shut the loop of the selected step", run: () => this.toggleSelected() },
    );
  }

  override tools(): HTMLElement[] {
    const { store } = this.app;
    const group = element("div", { className: "path-groups", aria: { role: "group", label: "Shares of the run by" } });
    for (const by of GROUPINGS) {
      const choice = button(TITLES[by], `Share of the run by ${TITLES[by].toLowerCase()} (G)`, () => store.setOption("path.by", by));
      this.buttons.set(by, choice);
      group.append(choice);
    }
    this.markButtons();
    return [element("span", { className: "faint", textContent: "shares by" }), group];
  }

  override changed(change: Change): void {
    this.markButtons();
    if (change.has("run")) this.linesFor = null;
    const comesUp = change.has("view") || change.has("lower");
    if (change.has("selection") || comesUp) this.revealSelection();
    if ((change.has("window") && !change.has("selection") && !this.ownSelection) || (comesUp && this.selectedStep < 0)) this.followWindow();
    this.ownSelection = false;
    super.changed(change);
  }

  paint(p: Painter): void {
    const { app } = this;
    const known = this.layOut();
    const scale = this.scale;
    const place = this.stripPlace;
    paintAxis(p, app, scale, 0, place.height);
    paintStrip(p, { run: app.run, path: known.path, data: known.strip, scale, place, layer: this.litLayer, step: this.selectedStep });
    paintMeasure(p, app, scale, 0, place.height);
    p.text(10, place.height + SUMMARY / 2 + 1, this.summary(known), { width: this.width - 20, size: 12 });
    paintShareTable(p, this.tableLook);
    const { x, y, height } = this.listArea;
    p.rect(x - 1, y - HEAD, 1, height + HEAD, p.theme.line);
    paintStepList(p, this.listLook);
  }

  table(): Table {
    const known = this.known;
    return pathTable(known.run, known.path, this.app.store.state.unit === "time", (by) => this.rowsOf(by));
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (event.buttons) return;
    const { app } = this;
    const lines = this.tipAt(x, y);
    const inHead = y >= this.shareArea.y - HEAD && y < this.shareArea.y && x < this.shareArea.width;
    this.canvas.style.cursor = lines || inHead ? "pointer" : y < AXIS_HEIGHT && x > GUTTER ? "col-resize" : "default";
    if (lines) app.tip.show(event, lines);
    else app.tip.hide();
  }

  // ---- what is known, and where it is ----

  private get known(): Known {
    return knownOf(this.app.run);
  }

  private get scale(): TimeScale {
    return new TimeScale(this.app.store.state.window, GUTTER, this.width);
  }

  private get stripPlace(): StripPlace {
    return stripPlace(this.known.strip, this.height);
  }

  private get grouping(): Grouping {
    const by = this.app.store.option("path.by", "resource");
    return GROUPINGS.find((known) => known === by) ?? "resource";
  }

  private get selectedStep(): number {
    const { slice } = this.app.focus;
    return slice ? stepOf(this.app.run, this.known.path, slice) : -1;
  }

  /** A layer that is selected as such: not that of a slice. */
  private get litLayer(): number {
    const { focus } = this.app;
    return focus.slice || focus.leaf >= 0 ? -1 : focus.layer;
  }

  private rowsOf(by: Grouping): ShareRow[] {
    const { run, path, shares } = this.known;
    let known = shares.get(by);
    if (!known) shares.set(by, (known = sharesOf(run, path, by)));
    const gains = gainsOf(run);
    return known.map((share) => ({ ...share, name: groupName(run, by, share.group), gain: by === "lock" || share.group < 0 ? undefined : gains.of(by, share) }));
  }

  private get rows(): ShareRow[] {
    const rows = this.rowsOf(this.grouping);
    const sort = this.app.store.option("path.sort", "share");
    if (sort === "name") rows.sort((a, b) => a.group - b.group);
    if (sort === "gain") rows.sort((a, b) => (b.gain?.cycles ?? -1) - (a.gain?.cycles ?? -1));
    return rows;
  }

  private get tableLook(): TableLook {
    const { app } = this;
    const { focus, run } = app;
    const by = this.grouping;
    const track = run.tracks[focus.track];
    const step = this.selectedStep;
    const chosen = { resource: step < 0 ? -2 : (this.known.path.resource[step] as number), layer: focus.layer, place: track ? placeOf(run, track) : placeOfTile(app), lock: focus.lock }[by];
    return { run, by, rows: this.rows, area: this.shareArea, inTime: app.store.state.unit === "time", sort: app.store.option("path.sort", "share"), isChosen: (row) => row.group >= 0 && row.group === chosen };
  }

  private get listLook(): ListLook {
    const { run, path } = this.known;
    return { run, path, lines: this.lines, open: this.open, area: this.listArea, inTime: this.app.store.state.unit === "time", step: this.selectedStep, layer: this.litLayer };
  }

  private layOut(): Known {
    const { known } = this;
    if (this.linesFor?.items !== known.items || this.linesFor.open !== this.open.size) {
      this.lines = linesOf(known.items, this.open);
      this.linesFor = { items: known.items, open: this.open.size };
    }
    const top = this.stripPlace.height + SUMMARY + HEAD;
    const left = Math.round(Math.max(300, Math.min(600, this.width * 0.42)));
    const by = this.grouping;
    const rows = this.rowsOf(by);
    this.shareArea.place(0, top, left, this.height - top, rows.length * ROW);
    this.listArea.place(left + 1, top, this.width - left - 1, this.height - top, this.lines.length * LINE);
    if (by !== "lock") {
      const gains = gainsOf(known.run);
      gains.onNews = () => this.redraw();
      gains.want(by, rows);
    }
    return known;
  }

  private summary({ run, path, strip }: Known): string {
    if (!path.steps) return "Nothing ran: there is no path.";
    const engines = new Set(path.track).size;
    const parts = this.rowsOf("resource").slice(0, 3).map((row) => `${row.name} ${percent(row.cycles / Math.max(1, run.makespan))}`);
    return `${count(path.steps)} steps on ${count(engines)} engines and ${count(new Set(strip.layers.map((l) => l.layer)).size)} layers fill the run's ${this.app.duration(run.makespan)} without a gap: ${parts.join(", ")}`;
  }

  // ---- what is under the pointer ----

  private lineAt(x: number, y: number): Line | null {
    if (!this.listArea.holds(x, y)) return null;
    return this.lines[Math.floor((y - this.listArea.y + this.listArea.offset) / LINE)] ?? null;
  }

  private rowAt(x: number, y: number): ShareRow | null {
    if (!this.shareArea.holds(x, y)) return null;
    return this.rows[Math.floor((y - this.shareArea.y + this.shareArea.offset) / ROW)] ?? null;
  }

  private stepAtPoint(x: number, y: number): number {
    const { path } = this.known;
    if (x < GUTTER || y < AXIS_HEIGHT || y >= this.stripPlace.height || !path.steps) return -1;
    const cycle = this.scale.cycle(x);
    return cycle >= 0 && cycle < this.app.run.makespan ? stepAt(path, cycle) : -1;
  }

  private tipAt(x: number, y: number): TipLine[] | null {
    const { app } = this;
    const { run, path } = this.known;
    const row = this.rowAt(x, y);
    if (row) {
      const lines: TipLine[] = [[row.name, "head"], `${app.duration(row.cycles)} of the path, in ${count(row.steps)} steps`];
      if (row.gain) lines.push(`if free, the run would be shorter by ${row.gain.how === "at most" ? "at most " : ""}${app.duration(row.gain.cycles)}`, [gainNote(row.gain), "faint"]);
      return lines;
    }
    const line = this.lineAt(x, y);
    if (line) return this.tipOf(line.item);
    const step = this.stepAtPoint(x, y);
    return step >= 0 && (path.track[step] as number) < run.tracks.length ? this.tipOf({ first: step, end: step + 1, times: 1, parts: null }) : null;
  }

  private tipOf(item: Item): TipLine[] {
    const { app } = this;
    const { run, path } = this.known;
    const k = item.first;
    const words = wordsOf(run, path, item);
    const [from, to] = [path.time[k] as number, path.time[item.end] as number];
    const lines: TipLine[] = [[`${words.what} · ${words.layer}`, "head"], `${app.duration(to - from)} from ${count(from)}`];
    if (item.times > 1) lines.push([`${app.duration((to - from) / item.times)} each time`, "faint"]);
    const lock = path.lock[k] as number;
    const link = lock >= 0 ? `waited for ${lockText(run, lock)}` : linkText(run, path, k) ? `waited for ${linkText(run, path, k)}` : linkName(run, path.link[k] as number);
    if (link) lines.push([link, "faint"]);
    const track = run.tracks[path.track[k] as number];
    if (track) lines.push([trackName(run, track), "faint"]);
    const text = run.textOf(path.leaf[k] as number);
    if (text) lines.push([text.length > 400 ? `${text.slice(0, 400)}…` : text, "code"]);
    return lines;
  }

  // ---- what a user does ----

  private click(x: number, y: number): void {
    const step = this.stepAtPoint(x, y);
    if (step >= 0) {
      if (y < AXIS_HEIGHT + BAND) this.app.select({ kind: "layer", layer: this.known.path.layer[step] as number });
      else this.selectStep(step);
      return;
    }
    const line = this.lineAt(x, y);
    if (line) {
      if (isFold(line.item) && isOnMark(this.listLook, x, line.depth)) this.toggle(line.item);
      else this.selectStep(line.item.first);
      return;
    }
    const row = this.rowAt(x, y);
    if (row) this.selectRow(row);
    else if (this.shareArea.holds(x, y + HEAD)) this.app.store.setOption("path.sort", sortAt(this.tableLook, x));
  }

  private doubleClick(x: number, y: number): void {
    const line = this.lineAt(x, y);
    const { path } = this.known;
    if (line && isFold(line.item)) this.toggle(line.item);
    const item = line?.item ?? null;
    const step = item ? item.first : this.stepAtPoint(x, y);
    if (step >= 0) this.app.showStretch({ from: path.time[step] as number, to: path.time[item ? item.end : step + 1] as number });
  }

  private selectRow(row: ShareRow): void {
    const { app } = this;
    const { run, path } = this.known;
    const by = this.grouping;
    if (by === "layer" && row.group >= 0) app.select({ kind: "layer", layer: row.group });
    else if (by === "lock" && row.group >= 0) app.select({ kind: "lock", lock: row.group });
    else {
      const step = longestStep(run, path, by, row.group);
      const tile = by === "place" ? tileOfTrack(run, path.track[step] as number) : null;
      if (tile) app.select({ kind: "tile", tile });
      else this.selectStep(step);
    }
  }

  private selectStep(step: number): void {
    const { run, path } = this.known;
    const [track, index] = [path.track[step] ?? -1, path.index[step] ?? -1];
    if (!run.tracks[track]) return;
    this.ownSelection = true;
    this.app.select({ kind: "slice", track, index });
  }

  private step(by: number): void {
    const { path } = this.known;
    const at = this.selectedStep;
    const next = at < 0 ? stepAt(path, Math.max(0, this.app.store.state.window.from)) : at + by;
    if (next >= 0 && next < path.steps) this.selectStep(next);
  }

  private toggle(item: Item): void {
    const key = keyOf(item);
    if (!this.open.delete(key)) this.open.add(key);
    this.linesFor = null;
    this.redraw();
  }

  private toggleSelected(): void {
    const at = this.selectedStep;
    if (at < 0) return;
    const keys = foldsAround(this.known.items, at);
    const areOpen = keys.length > 0 && keys.every((key) => this.open.has(key));
    for (const key of keys) if (areOpen) this.open.delete(key);
      else this.open.add(key);
    this.linesFor = null;
    this.revealSelection();
    this.redraw();
  }

  private nextGrouping(): void {
    const at = GROUPINGS.indexOf(this.grouping);
    this.app.store.setOption("path.by", GROUPINGS[(at + 1) % GROUPINGS.length] as string);
  }

  private markButtons(): void {
    for (const [by, choice] of this.buttons) choice.setAttribute("aria-pressed", String(by === this.grouping));
  }

  // What was selected elsewhere comes into sight in both lists.
  private revealSelection(): void {
    this.layOut();
    const { app } = this;
    const { path } = this.known;
    const step = this.selectedStep;
    if (step >= 0) {
      app.reveal({ from: path.time[step] as number, to: path.time[step + 1] as number });
      this.revealStep(step);
    } else if (this.litLayer >= 0) {
      const first = path.layer.indexOf(this.litLayer);
      if (first >= 0) this.revealStep(first);
    }
    const look = this.tableLook;
    const row = look.rows.findIndex((candidate) => look.isChosen(candidate));
    if (row >= 0) this.shareArea.reveal(row * ROW, (row + 1) * ROW);
  }

  private revealStep(step: number): void {
    // The innermost line that has the step comes last of those that hold it.
    let line = -1;
    this.lines.forEach(({ item }, n) => {
      if (step >= item.first && step < item.end) line = n;
    });
    if (line >= 0) this.listArea.reveal(line * LINE, (line + 1) * LINE);
  }

  private followWindow(): void {
    const { window } = this.app.store.state;
    const { path } = this.known;
    if (!path.steps || window.from <= 0) return;
    this.layOut();
    const first = this.lines.findIndex(({ item }) => (path.time[item.end] as number) > window.from);
    if (first >= 0) this.listArea.scrollTo(first * LINE);
  }

  // The lists take the wheel and the drag of their bars; what is above them is time.
  private listenToScrolling(): void {
    const areas = [this.shareArea, this.listArea];
    const { canvas } = this;
    let inLists = false;
    canvas.addEventListener("wheel", (e) => {
      if (e.offsetY < this.stripPlace.height) return;
      e.preventDefault();
      e.stopImmediatePropagation();
      const area = e.offsetX < this.listArea.x ? this.shareArea : this.listArea;
      area.scrollTo(area.offset + e.deltaY * (e.deltaMode === 1 ? LINE : 1));
      this.app.tip.hide();
      this.redraw();
    }, { passive: false, capture: true });
    canvas.addEventListener("pointerdown", (e) => {
      inLists = e.offsetY >= this.stripPlace.height;
      if (e.button !== 0 || !areas.some((area) => area.press(e.offsetX, e.offsetY))) return;
      e.stopImmediatePropagation();
      canvas.setPointerCapture(e.pointerId);
      this.redraw();
    }, true);
    canvas.addEventListener("pointermove", (e) => {
      if (!areas.some((area) => area.drag(e.offsetY))) {
        // A drag that began in the lists does not move time.
        if (e.buttons && inLists) e.stopImmediatePropagation();
        return;
      }
      e.stopImmediatePropagation();
      this.redraw();
    }, true);
    const release = (e: PointerEvent) => {
      if (!areas.map((area) => area.release()).some(Boolean)) return;
      e.stopImmediatePropagation();
      this.redraw();
    };
    canvas.addEventListener("pointerup", release, true);
    canvas.addEventListener("pointercancel", release, true);
  }
}

function placeOfTile(app: App): number {
  const { tile } = app.focus;
  if (!tile) return -2;
  const { rows, columns } = app.run.device;
  return tile.kind === "core" ? tile.row * columns + tile.column : rows * columns + tile.column;
}
