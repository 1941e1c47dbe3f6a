// Every engine's slices over time, with the layers above them and what each engine waits for.
import { fitText, type Painter } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import { layerName, lockText, trackName } from "../../run/names";
import type { Layer, Run, SliceRef } from "../../run/run";
import { waitText } from "../../run/stalls";
import type { Track } from "../../run/track";
import type { App } from "../../ui/app";
import { button } from "../../ui/dom";
import { count } from "../../ui/numbers";
import type { Change } from "../../ui/state";
import { AXIS_HEIGHT, GUTTER, listenToTime, paintAxis, paintMeasure, TimeScale } from "../../ui/time_axis";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { levelsOf } from "./levels";
import { paintPath } from "./path_overlay";
import { LaneRaster, type Palette, paletteOf } from "./raster";
import { type LaneRow, layOut, type Row, type Rows } from "./rows";

const OVERVIEW = 80;
const BAND = 19;
const TOP = OVERVIEW + AXIS_HEIGHT + BAND;
const STRIP = 0.62; // of a lane's height, above the strip that shows waits
const CHAIN = 12;
const LEGEND: TipLine[] = [
  ["What the colours mean", "head"],
  "A lane's full height: what its engine is busy with, the stronger the busier.",
  "The low strip of a lane: what its engine waits for, in the colour of the resource that ends the wait.",
  ["Above the axis: the whole run, a line for each resource; drag to move the window.", "faint"],
];

export class TimelineView extends CanvasView {
  private rows: Rows = { rows: [], height: 0 };
  private laidOut: { run: Run; toggled: string } | null = null;
  private scroll = 0;
  private image: { run: Run; pixels: Uint32Array; data: ImageData; raster: LaneRaster; dark: boolean } | null = null;
  private palette: Palette | null = null;
  private readonly pathButton = button("Path", "Show the critical path and dim all else (K)", () => this.togglePath());

  constructor(app: App) {
    super(app, "timeline", "Timeline of every engine");
    listenToTime(app, this.canvas, {
      scale: () => this.scale,
      isAxis: (y) => y >= OVERVIEW && y < OVERVIEW + AXIS_HEIGHT,
      scrollBy: (pixels) => this.scrollTo(this.scroll + pixels),
      click: (x, y) => this.click(x, y),
    });
    this.listenToOverview();
    this.canvas.addEventListener("dblclick", (e) => {
      const hit = this.hit(e.offsetX, e.offsetY);
      const track = hit && this.trackAt(hit);
      if (hit && track) app.showStretch({ from: track.ready(hit.index), to: track.end(hit.index) });
    });
    this.keys.push(
      { key: ".", shown: ".", does: "next slice of the engine", run: () => this.step(1) },
      { key: ",", shown: ",", does: "previous slice of the engine", run: () => this.step(-1) },
      { key: "n", shown: "N", does: "next slice of the same instruction", run: () => this.stepSame(1) },
      { key: "p", shown: "P", does: "previous slice of the same instruction", run: () => this.stepSame(-1) },
      { key: "c", shown: "C", does: "go to what the slice waited for", run: () => this.toCause() },
      { key: "arrowdown", shown: "↓", does: "the engine below", run: () => this.stepRow(1) },
      { key: "arrowup", shown: "↑", does: "the engine above", run: () => this.stepRow(-1) },
      { key: "x", shown: "X", does: "open or shut all columns", run: () => this.toggleColumns() },
      { key: "k", shown: "K", does: "show the critical path", run: () => this.togglePath() },
    );
  }

  override tools(): HTMLElement[] {
    this.markPathButton();
    return [this.pathButton, button("Columns", "Open or shut all columns (X)", () => this.toggleColumns())];
  }

  override changed(change: Change): void {
    if (change.has("selection")) this.revealSelection();
    if (change.has("options")) this.markPathButton();
    super.changed(change);
  }

  paint(p: Painter): void {
    this.layOutRows();
    this.scroll = Math.max(0, Math.min(this.scroll, this.rows.height - (this.height - TOP) + 8));
    const scale = this.scale;
    p.clip(0, TOP, this.width, this.height - TOP, () => {
      this.paintLanes(p, scale);
      this.paintSliceLabels(p, scale);
      if (this.showsPath) this.paintPath(p, scale);
      this.paintNames(p);
      this.paintChain(p, scale);
    });
    p.rect(0, 0, this.width, TOP, p.theme.ground);
    this.paintOverview(p);
    paintAxis(p, this.app, scale, OVERVIEW, TOP);
    this.paintBands(p, scale);
    paintMeasure(p, this.app, scale, OVERVIEW, this.height);
  }

  table(): Table {
    const { run } = this.app;
    const { window } = this.app.store.state;
    const rows: (string | number)[][] = [];
    const MOST = 100000;
    for (const row of this.rows.rows) {
      if (row.kind !== "lane" || rows.length >= MOST) continue;
      const track = run.tracks[row.track] as Track;
      for (let i = track.firstAfter(window.from); i < track.size && track.start(i) < window.to && rows.length < MOST; i++)
        rows.push([
          trackName(run, track), run.mnemonicOf(track.leaf(i)), layerName(run, track.layer(i)), track.start(i), track.end(i), track.end(i) - track.start(i),
          track.start(i) - track.ready(i), waitText(run, track, i), run.textOf(track.leaf(i)),
        ]);
    }
    const cut = rows.length >= MOST ? `, cut after ${count(MOST)}: zoom in for the rest` : "";
    return {
      caption: `Slices from cycle ${count(Math.max(0, window.from))} to ${count(Math.min(run.makespan, window.to))}, engine by engine${cut}.`,
      columns: ["engine", "instruction", "layer", "start", "end", "cycles", "waited", "for", "asm"],
      rows,
    };
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (event.buttons) return;
    const { app } = this;
    const hit = this.hit(x, y);
    const layer = hit ? null : this.layerAt(x, y);
    const row = this.rowAt(y);
    const opens = row && (row.kind === "group" || (row.open !== null && x < GUTTER));
    this.canvas.style.cursor = hit || layer || opens ? "pointer" : y >= OVERVIEW && y < OVERVIEW + AXIS_HEIGHT && x > GUTTER ? "col-resize" : "default";
    if (hit) app.tip.show(event, sliceTip(app, hit, this.scale.cycle(x)));
    else if (layer) app.tip.show(event, [[layer.name, "head"], `${layer.op}, ${app.duration(layer.cycles)}, bound by ${layer.boundBy ?? "nothing"}`, [layer.split, "faint"]]);
    else if (y < OVERVIEW && x < GUTTER) app.tip.show(event, LEGEND);
    else app.tip.hide();
  }

  // ---- places ----

  private get scale(): TimeScale {
    return new TimeScale(this.app.store.state.window, GUTTER, this.width);
  }

  private layOutRows(): void {
    const { run, store } = this.app;
    const toggled = store.option("timeline.toggled", "");
    if (this.laidOut?.run === run && this.laidOut.toggled === toggled) return;
    this.rows = layOut(run, new Set(toggled.split(" ")));
    this.laidOut = { run, toggled };
  }

  private *visible(): Generator<Row> {
    const bottom = this.scroll + this.height - TOP;
    for (const row of this.rows.rows) if (row.top + row.height > this.scroll && row.top < bottom) yield row;
  }

  private rowAt(y: number): Row | null {
    if (y < TOP) return null;
    const at = y - TOP + this.scroll;
    return this.rows.rows.find((row) => at >= row.top && at < row.top + row.height) ?? null;
  }

  private trackAt(at: SliceRef): Track {
    return this.app.run.tracks[at.track] as Track;
  }

  private hit(x: number, y: number): SliceRef | null {
    const row = this.rowAt(y);
    if (x < GUTTER || row?.kind !== "lane") return null;
    const index = this.trackAt({ track: row.track, index: 0 }).at(this.scale.cycle(x), 2 * this.scale.perPixel);
    return index < 0 ? null : { track: row.track, index };
  }

  private layerAt(x: number, y: number): Layer | null {
    if (x < GUTTER || y < OVERVIEW + AXIS_HEIGHT || y >= TOP) return null;
    const cycle = this.scale.cycle(x);
    return this.app.run.layers.find((layer) => cycle >= layer.from && cycle < layer.to) ?? null;
  }

  private scrollTo(scroll: number): void {
    this.scroll = Math.max(0, Math.min(scroll, Math.max(0, this.rows.height - (this.height - TOP) + 8)));
    this.redraw();
  }

  // ---- what a user does ----

  private click(x: number, y: number): void {
    const row = this.rowAt(y);
    if (row && (row.kind === "group" || (row.open !== null && x < GUTTER))) {
      this.toggle(row.key);
      return;
    }
    if (row?.kind === "lane" && x < GUTTER) {
      const track = this.trackAt({ track: row.track, index: 0 });
      if (track.size) this.app.select({ kind: "slice", track: row.track, index: Math.min(track.size - 1, track.firstAfter(this.app.store.state.window.from)) });
      return;
    }
    const layer = this.layerAt(x, y);
    if (layer) this.app.select({ kind: "layer", layer: layer.index });
    else if (x > GUTTER && y > TOP) {
      const hit = this.hit(x, y);
      this.app.select(hit ? { kind: "slice", ...hit } : null);
    }
  }

  private toggle(...keys: string[]): void {
    const { store } = this.app;
    const toggled = new Set(store.option("timeline.toggled", "").split(" ").filter(Boolean));
    for (const key of keys) if (!toggled.delete(key)) toggled.add(key);
    store.setOption("timeline.toggled", [...toggled].join(" "));
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

  private toggleColumns(): void {
    const groups = this.rows.rows.filter((row) => row.kind === "group");
    const open = groups.filter((row) => row.open);
    this.toggle(...(open.length ? open : groups).map((row) => row.key));
  }

  private listenToOverview(): void {
    const centre = (x: number) => {
      const { app } = this;
      const { window } = app.store.state;
      const cycle = ((x - GUTTER) / (this.width - GUTTER)) * app.run.makespan;
      const half = (window.to - window.from) / 2;
      app.show(cycle - half, cycle + half);
    };
    let held = false;
    this.canvas.addEventListener(
      "pointerdown",
      (e) => {
        held = e.offsetY < OVERVIEW && e.offsetX > GUTTER && e.button === 0;
        if (!held) return;
        e.stopImmediatePropagation();
        this.canvas.setPointerCapture(e.pointerId);
        centre(e.offsetX);
      },
      true,
    );
    this.canvas.addEventListener("pointermove", (e) => { if (held) centre(e.offsetX); });
    const release = () => { held = false; };
    this.canvas.addEventListener("pointerup", release);
    this.canvas.addEventListener("pointercancel", release);
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
    const lanes = this.rows.rows.filter((row): row is LaneRow => row.kind === "lane");
    const { slice } = this.app.focus;
    const { window } = this.app.store.state;
    const at = lanes.findIndex((row) => row.track === slice?.track);
    const middle = slice ? this.trackAt(slice).start(slice.index) : (window.from + window.to) / 2;
    for (let k = at < 0 && by < 0 ? lanes.length - 1 : at + by; k >= 0 && k < lanes.length; k += by) {
      const track = this.trackAt({ track: (lanes[k] as LaneRow).track, index: 0 });
      if (!track.size) continue;
      this.app.select({ kind: "slice", track: track.index, index: Math.min(track.size - 1, track.firstAfter(middle)) });
      return;
    }
  }

  private toCause(): void {
    const { slice } = this.app.focus;
    const cause = slice && this.app.run.causeOf(slice);
    if (cause) this.app.select({ kind: "slice", ...cause });
  }

  // Scrolls and moves so far that what was selected elsewhere is in sight here.
  private revealSelection(): void {
    const { app } = this;
    const { slice, layer, leaf } = app.focus;
    this.layOutRows();
    if (slice) {
      const track = this.trackAt(slice);
      app.reveal({ from: track.start(slice.index), to: track.end(slice.index) });
      const row = this.rowOf(slice.track);
      if (!row) return;
      if (row.top < this.scroll) this.scrollTo(row.top - 4);
      else if (row.top + row.height > this.scroll + this.height - TOP) this.scrollTo(row.top + row.height - (this.height - TOP) + 4);
    } else if (leaf < 0 && layer >= 0) {
      const { from, to } = app.run.layers[layer] as Layer;
      if (to > from) app.reveal({ from, to });
    }
  }

  private rowOf(track: number): Row | null {
    const own = this.rows.rows.find((row) => row.kind === "lane" && row.track === track);
    if (own) return own;
    const { engine, row, column } = this.app.run.tracks[track] as Track;
    if (engine !== "coreIn" && engine !== "coreOut") return null;
    return this.rows.rows.find((r) => r.key === `core${row},${column}`) ?? null;
  }

  // ---- the picture ----

  private paintLanes(p: Painter, scale: TimeScale): void {
    const { run, focus, theme } = this.app;
    const ratio = this.density;
    const width = Math.round(this.width * ratio) - Math.round(GUTTER * ratio);
    const height = Math.round(this.height * ratio) - Math.round(TOP * ratio);
    if (width <= 0 || height <= 0) return;
    if (this.image?.run !== run || this.image.data.width !== width || this.image.data.height !== height || this.image.dark !== theme.dark) {
      this.palette = paletteOf(theme, run.instructions.resources.length);
      const data = new ImageData(width, height);
      this.image = { run, data, pixels: new Uint32Array(data.data.buffer), raster: new LaneRaster(run, this.palette, width), dark: theme.dark };
    }
    const { pixels, raster, data } = this.image;
    pixels.fill((this.palette as Palette).ground);
    const only = focus.slice || focus.leaf >= 0 ? -1 : focus.layer;
    for (const row of this.visible()) {
      if (row.kind !== "lane") continue;
      raster.fill(run.tracks[row.track] as Track, scale.window, only);
      const from = Math.round((row.top - this.scroll) * ratio);
      const to = Math.round((row.top - this.scroll + row.height - 2) * ratio);
      const strip = from + Math.round((to - from) * STRIP);
      for (let y = Math.max(0, from); y < Math.min(height, to); y++) pixels.set(y < strip ? raster.high : raster.low, y * width);
    }
    p.image(GUTTER, TOP, width / ratio, height / ratio, data);
  }

  private paintPath(p: Painter, scale: TimeScale): void {
    paintPath(p, this.app.run, scale, TOP, this.height, (track) => {
      const row = this.rowOf(track);
      return row && { top: TOP + row.top - this.scroll, height: row.height - 2 };
    });
  }

  private paintNames(p: Painter): void {
    const { theme } = p;
    const { focus } = this.app;
    p.rect(0, TOP, GUTTER, this.height, theme.raised);
    for (const row of this.visible()) {
      const y = TOP + row.top - this.scroll;
      const middle = y + (row.height - 2) / 2 + 0.5;
      if (row.kind === "group") {
        p.rect(GUTTER, y, this.width, row.height - 1, theme.raised);
        p.text(8, middle, `${row.open ? "▾" : "▸"}  ${row.label}`, { size: 12, bold: true });
        continue;
      }
      const chosen = focus.track === row.track;
      if (chosen) p.rect(0, y - 1, GUTTER, row.height, theme.dark ? "rgba(109,182,242,0.16)" : "rgba(11,97,164,0.10)");
      const mark = row.open === null ? "" : row.open ? "▾ " : "▸ ";
      p.text(8 + 14 * row.depth, middle, mark + row.label, { colour: chosen ? theme.accent : theme.faint, bold: chosen, width: GUTTER - 16 - 14 * row.depth });
    }
    p.rect(GUTTER - 1, TOP, 1, this.height, theme.line);
  }

  private paintSliceLabels(p: Painter, scale: TimeScale): void {
    const { run } = this.app;
    for (const row of this.visible()) {
      if (row.kind !== "lane") continue;
      const track = run.tracks[row.track] as Track;
      if ((levelsOf(run, track)[0]?.width ?? 0) < scale.perPixel) continue; // too many in a pixel to name any
      const middle = TOP + row.top - this.scroll + (row.height - 2) / 2 + 0.5;
      for (let i = track.firstAfter(scale.window.from); i < track.size && track.start(i) < scale.window.to; i++) {
        const from = Math.max(GUTTER, scale.x(track.start(i)));
        const to = Math.min(this.width, scale.x(track.end(i)));
        if (to - from < 44) continue;
        p.text(from + 4, middle, `${run.mnemonicOf(track.leaf(i))} ${layerName(run, track.layer(i))}`, { size: 10, colour: p.theme.onColour, width: to - from - 8 });
      }
    }
  }

  // The selected slice and those that it waited for, one behind the other; of an instruction or a lock, all slices in sight.
  private paintChain(p: Painter, scale: TimeScale): void {
    const { run, focus } = this.app;
    p.clip(GUTTER, TOP, this.width - GUTTER, this.height - TOP, () => {
      if (focus.leaf >= 0 && !focus.slice) this.markEach(p, scale, (track, i) => track.leaf(i) === focus.leaf);
      if (focus.lock >= 0) this.markEach(p, scale, (track, i) => track.lock(i) === focus.lock);
      let after: { x: number; y: number } | null = null;
      let at = focus.slice;
      for (let k = 0; at && k <= CHAIN; k++) {
        const track = this.trackAt(at);
        const row = this.rowOf(at.track);
        if (row) {
          const y = TOP + row.top - this.scroll;
          const [from, to] = [scale.x(track.start(at.index)), scale.x(track.end(at.index))];
          p.frame(from - 1, y - 1, Math.max(3, to - from) + 2, row.height, after ? p.theme.faint : p.theme.accent, after ? 1.2 : 2);
          if (after) p.arc(to, y + row.height / 2, after.x, after.y, p.theme.accent, 1.2);
          after = { x: from, y: y + row.height / 2 };
        }
        at = run.causeOf(at);
      }
    });
  }

  private markEach(p: Painter, scale: TimeScale, matches: (track: Track, i: number) => boolean): void {
    for (const row of this.visible()) {
      if (row.kind !== "lane") continue;
      const track = this.app.run.tracks[row.track] as Track;
      if ((levelsOf(this.app.run, track)[0]?.width ?? 0) * 4 < scale.perPixel) continue;
      for (let i = track.firstAfter(scale.window.from); i < track.size && track.start(i) < scale.window.to; i++) {
        if (!matches(track, i)) continue;
        const from = scale.x(track.start(i));
        p.frame(from, TOP + row.top - this.scroll - 0.5, Math.max(2, scale.x(track.end(i)) - from), row.height - 1, p.theme.accent, 1.5);
      }
    }
  }

  // The whole run, a line for each resource, the stronger the busier, with a frame about what is in sight.
  private paintOverview(p: Painter): void {
    const { run, store } = this.app;
    const { theme } = p;
    const width = this.width - GUTTER;
    const { series, step } = run.counters;
    const height = (OVERVIEW - 10) / Math.max(1, series.length);
    p.rect(0, 0, this.width, OVERVIEW, theme.raised);
    series.forEach((s, k) => {
      const colour = resourceColour(run.instructions.resources.indexOf(s.name));
      const y = 5 + k * height;
      const bins = Math.max(1, Math.min(s.values.length, Math.floor(width / 2)));
      for (let b = 0; b < bins; b++) {
        const from = Math.floor((b * s.values.length) / bins);
        const to = Math.max(from + 1, Math.floor(((b + 1) * s.values.length) / bins));
        let sum = 0;
        for (let i = from; i < to; i++) sum += s.values[i] as number;
        if (sum > 0) p.rect(GUTTER + (from * step * width) / run.makespan, y, ((to - from) * step * width) / run.makespan + 0.4, height - 1, css(colour, 0.15 + 0.85 * Math.min(1, sum / s.most / (to - from))));
      }
      p.rect(GUTTER - 16, y + 1, 9, Math.min(9, height - 2), css(colour));
      p.text(GUTTER - 22, y + height / 2, s.name, { size: 10, colour: theme.faint, align: "right" });
    });
    const { window } = store.state;
    const from = Math.max(GUTTER, GUTTER + (window.from / run.makespan) * width);
    const to = Math.min(this.width, GUTTER + (window.to / run.makespan) * width);
    p.frame(from + 0.5, 1.5, Math.max(3, to - from - 1.5), OVERVIEW - 3, theme.accent, 1.5);
  }

  // A layer's band is the stretch of the run that completes it; its colour says what bounds it.
  private paintBands(p: Painter, scale: TimeScale): void {
    const { run, focus } = this.app;
    const y = OVERVIEW + AXIS_HEIGHT;
    p.text(8, y + BAND / 2, "layers, by what bounds them", { colour: p.theme.faint, width: GUTTER - 12 });
    for (const layer of run.layers) {
      if (layer.cycles === 0 || layer.to < scale.window.from || layer.from > scale.window.to) continue;
      const from = Math.max(GUTTER, scale.x(layer.from));
      const to = Math.min(this.width, scale.x(layer.to));
      const chosen = layer.index === focus.layer;
      p.rect(from, y + 1, Math.max(0.5, to - from - 1), BAND - 3, css(resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? "")), chosen ? 0.95 : 0.42));
      if (to - from >= 34) p.text(from + 4, y + BAND / 2, fitText(layer.name, to - from - 8), { colour: chosen ? p.theme.onColour : p.theme.text });
    }
    p.rect(0, TOP - 1, this.width, 1, p.theme.line);
  }
}

function sliceTip(app: App, at: SliceRef, cycle: number): TipLine[] {
  const { run } = app;
  const track = run.tracks[at.track] as Track;
  const i = at.index;
  const [start, end, ready] = [track.start(i), track.end(i), track.ready(i)];
  const lines: TipLine[] = [[`${run.mnemonicOf(track.leaf(i))} · ${layerName(run, track.layer(i))}`, "head"]];
  if (cycle < start && start > ready) {
    lines.push(`waits ${app.duration(start - ready)} for ${waitText(run, track, i)}`);
    if (track.lock(i) >= 0) lines.push([lockText(run, track.lock(i)), "faint"]);
  } else {
    lines.push(`${app.duration(end - start)} from ${count(start)}`);
    if (start > ready) lines.push([`after waiting ${count(start - ready)} for ${waitText(run, track, i)}`, "faint"]);
  }
  lines.push([trackName(run, track), "faint"]);
  const text = run.textOf(track.leaf(i));
  if (text) lines.push([text.length > 400 ? `${text.slice(0, 400)}…` : text, "code"]);
  return lines;
}
