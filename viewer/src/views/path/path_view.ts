// The chain of instructions and locks that sets the makespan: where it runs, whose time it is, and what it would gain to be without.
import type { Painter } from "../../paint/painter";
import { stepAt, stepOf } from "../../run/critical_path";
import { placeOf, placeOfTile } from "../../run/places";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { element } from "../../ui/dom";
import { listenToScroll, ScrollArea } from "../../ui/scroll";
import { type Change, tileOfTrack } from "../../ui/state";
import { AXIS_HEIGHT, GUTTER, listenToTime, paintAxis, paintMeasure, TimeScale } from "../../ui/time_axis";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { foldsAround, isFold, type Item, keyOf, type Line, linesOf } from "./fold";
import { gainsOf } from "../../run/gains";
import { type Known, knownOf } from "./known";
import { type Only, onlyText, stepsIn } from "./only";
import { HEAD, paintShareTable, ROW, type ShareRow, sortAt, type TableLook } from "./share_table";
import { GROUPING_TITLES, GROUPINGS, type Grouping, groupOf } from "./shares";
import { BAND, LITTLE, paintStrip, type StripData, type StripPlace, stripPlace, withoutIdle } from "./strip";
import { summaryOf } from "./summary";
import { isOnLink, isOnMark, LINE, type ListLook, paintStepList } from "./step_list";
import { GAIN_TIP, shareTip, stepTip } from "./tips";
import { pathTable } from "./path_table";

const SUMMARY = 24;
const NARROW = 900; // width of a view whose list needs the room more than its shares
const LEAST_SECOND = HEAD + 6 * ROW; // height that a second table is worth

interface ShareTable {
  by: Grouping;
  area: ScrollArea;
}

export class PathView extends CanvasView {
  private readonly shareAreas = [new ScrollArea(), new ScrollArea()] as const;
  private readonly listArea = new ScrollArea();
  private readonly open = new Set<string>();
  private lines: Line[] = [];
  private linesFor: { items: Item[]; open: number; only: Only | null } | null = null;
  private readonly choice = element("select", { title: "What the run's time is shared out by (R)", aria: { label: "Shares of the run by" } });
  /** On screen: the chosen grouping, and below it the layers where there is room. */
  private tables: ShareTable[] = [];
  private ownSelection = false;

  constructor(app: App) {
    super(app, "path", "Critical path: the steps that set the makespan");
    // The lists take the wheel and the drag of their bars; what is above them is time.
    listenToScroll(this.canvas, [...this.shareAreas, this.listArea], (y) => y < this.stripPlace.height, () => {
      app.tip.hide();
      this.redraw();
    });
    listenToTime(app, this.canvas, {
      scale: () => this.scale,
      isAxis: (y) => y < AXIS_HEIGHT,
      click: (x, y) => this.click(x, y),
    });
    this.choice.append(...GROUPINGS.map((by) => element("option", { value: by, textContent: GROUPING_TITLES[by] })));
    this.choice.addEventListener("change", () => app.store.setOption("path.by", this.choice.value));
    this.canvas.addEventListener("dblclick", (e) => this.doubleClick(e.offsetX, e.offsetY));
    this.keys.push(
      { key: ">", shown: ">", does: "next step of the path", run: () => this.step(1) },
      { key: "<", shown: "<", does: "previous step of the path", run: () => this.step(-1) },
      { key: "r", shown: "R", does: "shares by resource, layer, tile or lock", run: () => this.nextGrouping() },
      { key: "i", shown: "I", does: "only the steps of the selected one's resource, layer, tile or lock, or all", run: () => this.isolateSelected() },
      { key: "e", shown: "E", does: "open or shut the loop of the selected step", run: () => this.toggleSelected() },
    );
  }

  override tools(): HTMLElement[] {
    return [this.choice];
  }

  override changed(change: Change): void {
    this.choice.value = this.grouping;
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
    const { only, strip: onlyStrip } = this.only;
    paintStrip(p, { run: app.run, path: known.path, data: this.strip, scale, place, layer: this.litLayer, step: this.selectedStep, only, onlyData: onlyStrip });
    paintMeasure(p, app, scale, 0, place.height);
    p.text(10, place.height + SUMMARY / 2 + 1, summaryOf(app, known), { width: this.width - 20, size: 12 });
    for (const table of this.tables) paintShareTable(p, this.lookOf(table));
    const { x, y, height } = this.listArea;
    p.rect(x - 1, y - HEAD, 1, height + HEAD, p.theme.line);
    paintStepList(p, this.listLook);
  }

  table(): Table {
    const { known } = this;
    return pathTable(known.run, known.path, this.app.store.state.window.from, this.app.store.state.unit === "time", (by) => known.rowsOf(by));
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (event.buttons) return;
    const { app } = this;
    const lines = this.tipAt(x, y);
    this.canvas.style.cursor = lines ? "pointer" : y < AXIS_HEIGHT && x > GUTTER ? "col-resize" : "default";
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

  private get strip(): StripData {
    return this.height < LITTLE ? withoutIdle(this.known.strip) : this.known.strip;
  }

  private get stripPlace(): StripPlace {
    return stripPlace(this.strip, this.height);
  }

  private get only(): { only: Only | null; strip: StripData | null } {
    return this.known.onlyOf(this.app.store.option("path.only", ""));
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

  private sortedRows(by: Grouping): ShareRow[] {
    const rows = this.known.rowsOf(by);
    const sort = this.app.store.option("path.sort", "share");
    if (sort === "name") rows.sort((a, b) => a.group - b.group);
    if (sort === "gain") rows.sort((a, b) => (b.gain?.cycles ?? -1) - (a.gain?.cycles ?? -1));
    return rows;
  }

  private lookOf({ by, area }: ShareTable): TableLook {
    const { app } = this;
    const { focus, run } = app;
    const track = run.tracks[focus.track];
    const step = this.selectedStep;
    const chosen = { resource: step < 0 ? -2 : (this.known.path.resource[step] as number), layer: focus.layer, place: track ? placeOf(run, track) : placeOfTile(run, focus.tile), lock: focus.lock }[by];
    return { run, by, rows: this.sortedRows(by), area, inTime: app.store.state.unit === "time", sort: app.store.option("path.sort", "share"), isChosen: (row) => (row.group >= 0 && row.group === chosen) || this.isOnly(by, row.group) };
  }

  private get listLook(): ListLook {
    const { run, path } = this.known;
    return { run, path, lines: this.lines, open: this.open, area: this.listArea, inTime: this.app.store.state.unit === "time", step: this.selectedStep, layer: this.litLayer, only: this.only.only };
  }

  private layOut(): Known {
    const { known } = this;
    const { only } = this.only;
    if (this.linesFor?.items !== known.items || this.linesFor.open !== this.open.size || this.linesFor.only !== only) {
      this.lines = linesOf(known.items, this.open, only ? (item) => stepsIn(only, item) > 0 : undefined);
      this.linesFor = { items: known.items, open: this.open.size, only };
    }
    const top = this.stripPlace.height + SUMMARY + HEAD;
    const left = Math.round(Math.max(290, Math.min(600, this.width * (this.width < NARROW ? 0.35 : 0.42))));
    this.listArea.place(left + 1, top, this.width - left - 1, this.height - top, this.lines.length * LINE);
    this.placeTables(top, left);
    this.askForGains(known.run);
    return known;
  }

  private placeTables(top: number, width: number): void {
    const by = this.grouping;
    const [first, second] = this.shareAreas;
    const content = this.known.rowsOf(by).length * ROW;
    const left = this.height - top - content - ROW / 2;
    const hasSecond = by === "resource" && left >= LEAST_SECOND;
    first.place(0, top, width, hasSecond ? content : this.height - top, content);
    second.place(0, top + content + ROW / 2 + HEAD, width, hasSecond ? left - HEAD : 0, this.known.rowsOf("layer").length * ROW);
    this.tables = hasSecond ? [{ by, area: first }, { by: "layer", area: second }] : [{ by, area: first }];
  }

  private askForGains(run: Run): void {
    const gains = gainsOf(run);
    gains.onNews.set("path", () => this.redraw());
    for (const { by } of this.tables) if (by !== "lock") gains.want(by, this.known.rowsOf(by));
  }

  // ---- what is under the pointer ----

  private lineAt(x: number, y: number): Line | null {
    if (!this.listArea.holds(x, y)) return null;
    return this.lines[Math.floor((y - this.listArea.y + this.listArea.offset) / LINE)] ?? null;
  }

  private rowAt(x: number, y: number): { by: Grouping; row: ShareRow } | null {
    const table = this.tables.find(({ area }) => area.holds(x, y));
    const row = table && this.sortedRows(table.by)[Math.floor((y - table.area.y + table.area.offset) / ROW)];
    return row ? { by: table.by, row } : null;
  }

  private headAt(x: number, y: number): ShareTable | null {
    return this.tables.find(({ area }) => x < area.width && y >= area.y - HEAD && y < area.y) ?? null;
  }

  private stepAtPoint(x: number, y: number): number {
    const { path } = this.known;
    if (x < GUTTER || y < AXIS_HEIGHT || y >= this.stripPlace.height || !path.steps) return -1;
    const cycle = this.scale.cycle(x);
    return cycle >= 0 && cycle < this.app.run.makespan ? stepAt(path, cycle) : -1;
  }

  private tipAt(x: number, y: number): TipLine[] | null {
    const { app } = this;
    const { path } = this.known;
    const hit = this.rowAt(x, y);
    if (hit) return shareTip(app, hit.row, this.isOnly(hit.by, hit.row.group));
    if (this.isOnlyHead(x, y)) return ["Click: all steps again"];
    const head = this.headAt(x, y);
    if (head) return sortAt(this.lookOf(head), x) === "gain" ? GAIN_TIP : [sortAt(this.lookOf(head), x) === "name" ? "Click: in order" : "Click: largest share first"];
    const line = this.lineAt(x, y);
    if (line) return stepTip(app, path, line.item, this.lockAt(x, line) >= 0);
    const step = this.stepAtPoint(x, y);
    return step >= 0 ? stepTip(app, path, { first: step, end: step + 1, times: 1, parts: null }, false) : null;
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
      const lock = this.lockAt(x, line);
      if (isFold(line.item) && isOnMark(this.listLook, x, line.depth)) this.toggle(line.item);
      else if (lock >= 0) this.app.select({ kind: "lock", lock });
      else this.selectStep(line.item.first);
      return;
    }
    const hit = this.rowAt(x, y);
    const head = this.headAt(x, y);
    if (this.isOnlyHead(x, y)) this.showOnly("");
    else if (hit) this.selectRow(hit.by, hit.row);
    else if (head) this.app.store.setOption("path.sort", sortAt(this.lookOf(head), x));
  }

  private doubleClick(x: number, y: number): void {
    const line = this.lineAt(x, y);
    const { path } = this.known;
    if (line && isFold(line.item)) this.toggle(line.item);
    const item = line?.item ?? null;
    const step = item ? item.first : this.stepAtPoint(x, y);
    if (step >= 0) this.app.showStretch({ from: path.time[step] as number, to: path.time[item ? item.end : step + 1] as number });
  }

  /** Lists only the steps of the row, and selects what it names; a second click lists all again. */
  private selectRow(by: Grouping, row: ShareRow): void {
    const { app } = this;
    if (this.isOnly(by, row.group)) {
      this.showOnly("");
      return;
    }
    this.showOnly(onlyText(by, row.group));
    if (row.group < 0) return;
    if (by === "layer") app.select({ kind: "layer", layer: row.group });
    if (by === "lock") app.select({ kind: "lock", lock: row.group });
    const { run, path } = this.known;
    const of = groupOf(run, path, "place");
    const tile = by === "place" ? tileOfTrack(run, path.track[path.track.findIndex((_, k) => of(k) === row.group)] ?? -1) : null;
    if (tile) app.select({ kind: "tile", tile });
  }

  private isOnly(by: Grouping, group: number): boolean {
    const { only } = this.only;
    return only?.by === by && only.group === group;
  }

  private showOnly(text: string): void {
    this.listArea.scrollTo(0);
    this.app.store.setOption("path.only", text);
  }

  private isolateSelected(): void {
    const { run, path } = this.known;
    const step = this.selectedStep;
    if (this.only.only) this.showOnly("");
    else if (step >= 0) this.showOnly(onlyText(this.grouping, groupOf(run, path, this.grouping)(step)));
  }

  /** Over the list, where it says that it is not whole. */
  private isOnlyHead(x: number, y: number): boolean {
    const { listArea } = this;
    return this.only.only !== null && x > listArea.x && y >= listArea.y - HEAD && y < listArea.y;
  }

  /** Lock through which the line's step was let go, where x is on its name; else -1. */
  private lockAt(x: number, { item }: Line): number {
    return isOnLink(this.listLook, x) ? (this.known.path.lock[item.first] as number) : -1;
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
    const { only } = this.only;
    let next = at < 0 ? stepAt(path, Math.max(0, this.app.store.state.window.from)) : at + by;
    while (only && next >= 0 && next < path.steps && !only.matches(next)) next += by;
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
    for (const table of this.tables) {
      const look = this.lookOf(table);
      const row = look.rows.findIndex((candidate) => look.isChosen(candidate));
      if (row >= 0) table.area.reveal(row * ROW, (row + 1) * ROW);
    }
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
}
