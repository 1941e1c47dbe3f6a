// Every engine's slices over time, with the layers above them and what each engine waits for.
import type { Painter } from "../../paint/painter";
import { type Load, loadOf } from "../../run/load";
import { layerName, trackName } from "../../run/names";
import type { Band } from "../../run/groups";
import type { SliceRef } from "../../run/run";
import { waitText } from "../../run/stalls";
import type { Track } from "../../run/track";
import { leadsTo } from "../../run/transfers";
import type { App } from "../../ui/app";
import { button } from "../../ui/dom";
import { BAND_HEIGHT, bandAtCycle, bandsInFocus, bandTip, brightBands, paintBands, selectionOfBand } from "../../ui/layer_bands";
import { count, timeNumbers } from "../../ui/numbers";
import type { Change, Selection } from "../../ui/state";
import { AXIS_HEIGHT, GUTTER, listenToTime, paintAxis, paintMeasure, TimeScale } from "../../ui/time_axis";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { WaitsChoice } from "../../ui/waits_choice";
import { type Bar, cursorAt, isOnBar, listenToBar } from "../../ui/window_bar";
import { KEY_HEIGHT, paintKey } from "./key_strip";
import { LaneImage } from "./lane_image";
import type { Bright } from "./raster";
import { Lanes } from "./lanes";
import { paintMeasureCard } from "./measure_card";
import { Overview } from "./overview";
import { paintSelection, paintWords } from "./paint_marks";
import { paintNames } from "./paint_names";
import { paintPath } from "./path_overlay";
import { rowTip, sliceTip } from "./tips";

const HIGH_OVERVIEW = 80;
const LOW_OVERVIEW = 58; // in a low pane
const LOW = 480;
const SUMMING = 8; // milliseconds of a frame, until the run is summed up
const MOST_ROWS = 100000; // of the table
const LEGEND: TipLine[] = [
  ["The whole run", "head"],
  "A line for each resource, the stronger the more of its engines are busy.",
  ["Drag the window or its sides; click beside it to bring it there; the wheel zooms.", "faint"],
];

export class TimelineView extends CanvasView {
  private readonly lanes: Lanes;
  private image: LaneImage | null = null;
  private readonly overview = new Overview();
  private readonly waitsChoice: WaitsChoice;
  private readonly pathButton = button("Path", "Show the critical path and dim all else (K)", () => this.togglePath());

  constructor(app: App) {
    super(app, "timeline", "Timeline of every engine");
    this.lanes = new Lanes(app.store);
    this.waitsChoice = new WaitsChoice(app);
    listenToBar(app, this.canvas, () => this.bar);
    listenToTime(app, this.canvas, {
      scale: () => this.scale,
      isAxis: (y) => y >= this.axisTop && y < this.bandsTop,
      scrollBy: (pixels) => {
        this.lanes.scrollBy(pixels);
        this.redraw();
      },
      click: (x, y) => this.click(x, y),
    });
    this.canvas.addEventListener("dblclick", (e) => this.zoomTo(e.offsetX, e.offsetY));
    this.keys.push(
      { key: ".", shown: ".", does: "next slice of the engine", run: () => this.step(1) },
      { key: ",", shown: ",", does: "previous slice of the engine", run: () => this.step(-1) },
      { key: "n", shown: "N", does: "next slice of the same instruction", run: () => this.stepSame(1) },
      { key: "p", shown: "P", does: "previous slice of the same instruction", run: () => this.stepSame(-1) },
      { key: "c", shown: "C", does: "go to what the slice waited for, or came from", run: () => this.toCause() },
      { key: "arrowdown", shown: "↓", does: "the engine below", run: () => this.stepRow(1) },
      { key: "arrowup", shown: "↑", does: "the engine above", run: () => this.stepRow(-1) },
      { key: "x", shown: "X", does: "open or shut all columns", run: () => this.lanes.toggleGroups() },
      { key: "t", shown: "T", does: "pin the selected engine at the top, or let it go", run: () => this.pin() },
      { key: "k", shown: "K", does: "show the critical path", run: () => this.togglePath() },
    );
  }

  override tools(): HTMLElement[] {
    this.markPathButton();
    return [this.pathButton, this.waitsChoice.root, button("Columns", "Open or shut all columns (X)", () => this.lanes.toggleGroups())];
  }

  override changed(change: Change): void {
    if (change.has("selection")) this.revealSelection();
    if (change.has("options")) this.markPathButton();
    this.waitsChoice.mark();
    super.changed(change);
  }

  paint(p: Painter): void {
    const { app, lanes, scale, axisTop, top, bottom } = this;
    const { run, focus } = app;
    this.layOut();
    this.paintImage(p, scale, top, bottom);
    const marked = { run, lanes, scale, waits: app.waits };
    const load = this.load();
    const { parts } = lanes;
    for (const part of parts)
      p.clip(0, part.top, this.width, part.height, () => {
        paintWords(p, marked, part, this.bright);
        if (this.showsPath) paintPath(p, run, scale, part.top, part.top + part.height, (track) => this.laneOf(track));
        paintNames(p, { ...marked, load, chosenTrack: focus.track }, part);
      });
    if (parts.length > 1) p.rect(0, (parts[1]?.top ?? top) - 2, this.width, 1.5, p.theme.accent);
    paintSelection(p, marked, focus, top, bottom);
    p.rect(0, 0, this.width, top, p.theme.ground);
    this.overview.paint(p, app, this.bar, this.density);
    paintAxis(p, app, scale, axisTop, top);
    paintBands(p, app, scale, this.bandsTop);
    paintMeasure(p, app, scale, axisTop, bottom);
    if (load) paintMeasureCard(p, app, load, scale, top, bottom);
    paintKey(p, this.width, bottom, app.waits);
  }

  table(): Table {
    const { run } = this.app;
    const { window, unit } = this.app.store.state;
    const time = timeNumbers(run.device.clockHz, unit);
    this.layOut();
    const rows: (string | number)[][] = [];
    const selections: Selection[] = [];
    const tracks = new Set(this.lanes.all.flatMap((row) => (row.kind === "lane" ? [row.track] : row.open ? [] : row.tracks)));
    for (const t of tracks) {
      const track = run.tracks[t] as Track;
      for (let i = track.firstAfter(window.from); i < track.size && track.start(i) < window.to && rows.length < MOST_ROWS; i++) {
        selections.push({ kind: "slice", track: t, index: i });
        rows.push([
          trackName(run, track), run.mnemonicOf(track.leaf(i)), layerName(run, track.layer(i)), time.of(track.start(i)), time.of(track.end(i)), time.of(track.end(i) - track.start(i)),
          time.of(track.start(i) - track.ready(i)), waitText(run, track, i, this.app.waits), run.textOf(track.leaf(i)),
        ]);
      }
    }
    const cut = rows.length >= MOST_ROWS ? `, cut after ${count(MOST_ROWS)}: zoom in for the rest` : "";
    return {
      caption: `Slices from cycle ${count(Math.max(0, window.from))} to ${count(Math.min(run.makespan, window.to))}, engine by engine${cut}.`,
      columns: ["engine", "instruction", "layer", `start (${time.unit})`, `end (${time.unit})`, `ran (${time.unit})`, `waited (${time.unit})`, "for", "asm"],
      rows,
      selections,
    };
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (event.buttons) return;
    const { app } = this;
    const hit = this.hit(x, y);
    const band = hit ? null : this.bandAt(x, y);
    const row = this.lanes.at(y);
    const isAxis = y >= this.axisTop && y < this.bandsTop && x > GUTTER;
    const isLink = hit || band || (row && (row.kind === "group" || x < GUTTER));
    this.canvas.style.cursor = isOnBar(this.bar, x, y) ? cursorAt(app, this.bar, x) : isLink ? "pointer" : isAxis ? "col-resize" : "default";
    const tip = hit ? sliceTip(app, hit, this.scale.cycle(x)) : band ? bandTip(app, band) : y < this.axisTop ? LEGEND : row ? rowTip(app.run, row, x < GUTTER) : null;
    if (tip) app.tip.show(event, tip);
    else app.tip.hide();
  }

  // ---- places ----

  /** The bands beside which all others are dimmed: those of the selected layer, group, tile, step or frame. */
  private get bright(): Bright {
    const { slice, leaf, layer, group, frame } = this.app.focus;
    return slice || leaf >= 0 || (layer < 0 && group < 0 && frame < 0) ? null : brightBands(this.app);
  }

  private get scale(): TimeScale {
    return new TimeScale(this.app.store.state.window, GUTTER, Math.max(GUTTER + 1, this.width));
  }

  private get bar(): Bar {
    return { x: GUTTER, y: 0, width: Math.max(1, this.width - GUTTER), height: this.axisTop };
  }

  /** From above: overview, axis, bands, lanes. */
  private get axisTop(): number {
    return this.height < LOW ? LOW_OVERVIEW : HIGH_OVERVIEW;
  }
  private get bandsTop(): number {
    return this.axisTop + AXIS_HEIGHT;
  }
  private get top(): number {
    return this.bandsTop + BAND_HEIGHT;
  }

  /** Where the lanes end. */
  private get bottom(): number {
    return Math.max(this.top, this.height - KEY_HEIGHT);
  }

  private layOut(): void {
    this.lanes.layOut(this.app.run, this.top, this.bottom);
  }

  private trackAt(at: SliceRef): Track {
    return this.app.run.tracks[at.track] as Track;
  }

  private hit(x: number, y: number): SliceRef | null {
    const row = this.lanes.at(y);
    if (x < GUTTER || row?.kind !== "lane") return null;
    const index = this.trackAt({ track: row.track, index: 0 }).at(this.scale.cycle(x), 2 * this.scale.perPixel);
    return index < 0 ? null : { track: row.track, index };
  }

  private bandAt(x: number, y: number): Band | null {
    return x < GUTTER || y < this.bandsTop || y >= this.top ? null : bandAtCycle(this.app.run, this.scale.cycle(x));
  }

  private laneOf(track: number): { top: number; height: number } | null {
    const row = this.lanes.of(this.trackAt({ track, index: 0 }));
    return row && { top: this.lanes.y(row), height: row.height - 2 };
  }

  // ---- what a user does ----

  private click(x: number, y: number): void {
    const row = this.lanes.at(y);
    if (row && (row.kind === "group" || (row.open !== null && x < GUTTER))) {
      this.lanes.toggle(row.key);
      return;
    }
    if (row?.kind === "lane" && x < GUTTER) {
      this.selectAt(row.track, this.app.store.state.window.from);
      return;
    }
    const band = this.bandAt(x, y);
    if (band) this.app.select(selectionOfBand(band));
    else if (x > GUTTER && y > this.top && y < this.bottom) {
      const hit = this.hit(x, y);
      this.app.selectInSight(hit ? { kind: "slice", ...hit } : null);
    }
  }

  private zoomTo(x: number, y: number): void {
    const hit = this.hit(x, y);
    const stretch = hit ? { from: this.trackAt(hit).ready(hit.index), to: this.trackAt(hit).end(hit.index) } : this.bandAt(x, y);
    if (stretch) this.app.showStretch(stretch);
  }

  /** The slice of the engine that ends first after `cycle`. */
  private selectAt(index: number, cycle: number): void {
    const track = this.trackAt({ track: index, index: 0 });
    if (track.size) this.app.select({ kind: "slice", track: index, index: Math.min(track.size - 1, track.firstAfter(cycle)) });
  }

  private pin(): void {
    const { track } = this.app.focus;
    if (track >= 0) this.lanes.togglePin(track);
  }

  private get showsPath(): boolean {
    return this.app.store.option("timeline.path", "0") === "1";
  }

  private togglePath(): void {
    this.app.store.setOption("timeline.path", this.showsPath ? "0" : "1");
  }

  private markPathButton(): void {
    this.pathButton.setAttribute("aria-pressed", String(this.showsPath));
  }

  private step(by: number): void {
    const { slice } = this.app.focus;
    if (!slice) return;
    const index = slice.index + by;
    if (index >= 0 && index < this.trackAt(slice).size) this.app.select({ kind: "slice", track: slice.track, index });
  }

  private stepSame(by: number): void {
    const { slice, leaf } = this.app.focus;
    if (!slice) return;
    const track = this.trackAt(slice);
    for (let index = slice.index + by; index >= 0 && index < track.size; index += by) {
      if (track.leaf(index) !== leaf) continue;
      this.app.select({ kind: "slice", track: slice.track, index });
      return;
    }
  }

  private stepRow(by: number): void {
    const { slice } = this.app.focus;
    const { window } = this.app.store.state;
    const lanes = this.lanes.all.flatMap((row) => (row.kind === "lane" && !this.lanes.isPinnedRow(row) ? [row.track] : []));
    const at = slice ? lanes.indexOf(slice.track) : -1;
    const middle = slice ? this.trackAt(slice).start(slice.index) : (window.from + window.to) / 2;
    for (let k = at < 0 && by < 0 ? lanes.length - 1 : at + by; k >= 0 && k < lanes.length; k += by) {
      const track = this.trackAt({ track: lanes[k] as number, index: 0 });
      if (!track.size) continue;
      this.selectAt(track.index, middle);
      return;
    }
  }

  private toCause(): void {
    const { slice } = this.app.focus;
    const behind = slice && leadsTo(this.app.run, slice);
    if (behind) this.app.select({ kind: "slice", ...behind });
  }

  // Scrolls and moves so far that what was selected elsewhere is in sight here.
  private revealSelection(): void {
    const { app, lanes } = this;
    const { slice, layer, leaf, lock } = app.focus;
    this.layOut();
    if (slice) {
      const track = this.trackAt(slice);
      app.reveal({ from: track.start(slice.index), to: track.end(slice.index) });
      const row = lanes.of(track);
      if (row) lanes.reveal(row);
    } else if (lock >= 0 || app.store.state.selection?.kind === "engine") {
      const track = app.run.tracks[lock >= 0 ? (app.run.locks.consumer[lock] ?? -1) : app.focus.track];
      const row = track && lanes.of(track);
      if (row) lanes.reveal(row);
    } else if (leaf < 0 && (layer >= 0 || app.focus.group >= 0 || app.focus.frame >= 0)) {
      const stretch = bandsInFocus(app);
      if (stretch && stretch.to > stretch.from) app.reveal(stretch);
    }
  }

  // ---- the picture ----

  /** Null until the run is summed up, which goes on frame by frame. */
  private load(): Load | null {
    const load = loadOf(this.app.run, this.app.waits);
    if (load.done < 1) {
      load.grow(SUMMING);
      this.redraw();
    }
    return load.done < 1 ? null : load;
  }

  private paintImage(p: Painter, scale: TimeScale, top: number, bottom: number): void {
    const { run } = this.app;
    const ratio = this.density;
    const width = Math.round(this.width * ratio) - Math.round(GUTTER * ratio);
    const height = Math.round(bottom * ratio) - Math.round(top * ratio);
    if (width <= 0 || height <= 0) return;
    if (!this.image?.fits(run, p, width, height)) this.image = new LaneImage(run, p, ratio, width, height);
    this.image.paint(p, this.lanes, scale.window, this.bright, top, this.app.waits);
  }
}
