// What lies where in each memory, and when: address x time, how full it is, and where it is fullest.
import { firstThatFits } from "../../paint/labels";
import { type Painter, textWidth } from "../../paint/painter";
import { framesIn } from "../../run/frames";
import { memtilesOf } from "../../run/memtiles";
import { layerName } from "../../run/names";
import type { BlockJson } from "../../run/format";
import type { Band } from "../../run/groups";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { button, element } from "../../ui/dom";
import { BAND_HEIGHT, bandAtCycle, bandTip, paintBands, selectionOfBand, type Users } from "../../ui/layer_bands";
import { count, kibibytes } from "../../ui/numbers";
import type { Change, Selection } from "../../ui/state";
import { AXIS_HEIGHT, GUTTER, listenToTime, paintAxis, paintMeasure, TimeScale } from "../../ui/time_axis";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { type Bar, cursorAt, isOnBar, listenToBar } from "../../ui/window_bar";
import { boxName, placeKey, placeName, roleText, spilledTensors, usersOf } from "../../run/memory_map";
import { mostIn } from "../../run/occupancy";
import { LEGEND, paintLegend } from "./legend";
import { OVERVIEW, paintOverview } from "./overview";
import { type Lit, StripPainter } from "./paint_strip";
import { boxAt, foldsByDefault, layOutStrips, placesOf, type Strip } from "./strips";
import { boxTip, fillTip, layerWhen, peakText, plannedText } from "./tips";
import "./memory.css";

const BANDS = OVERVIEW + AXIS_HEIGHT;
const TOP = BANDS + BAND_HEIGHT;
const PEAK_MARK = 10; // pixels about the mark of a peak
const STRETCH = 1.3; // a step of making strips higher
const MOST_STRETCH = 24;

export class MemoryView extends CanvasView {
  private strips: Strip[] = [];
  private stripsHeight = 0;
  private scroll = 0;
  private ownChoice = false;
  private readonly choice = element("select", { className: "memory-choice", title: "Which memory", aria: { label: "Which memory" } });
  private readonly peak = button("", "Go to where the most bytes are taken (M)", () => this.toPeak());
  private readonly fold = button("Fold", "Fold addresses that nothing uses (O)", () => this.toggleFold());
  private choicesOf: Run | null = null;

  constructor(app: App) {
    super(app, "memory", "What lies in each memory over time");
    listenToBar(app, this.canvas, () => this.bar);
    listenToTime(app, this.canvas, {
      scale: () => this.time,
      isAxis: (y) => y >= OVERVIEW && y < BANDS,
      scrollBy: (pixels) => this.scrollTo(this.scroll + pixels),
      click: (x, y) => this.click(x, y),
    });
    this.canvas.addEventListener("dblclick", (e) => this.zoomTo(e.offsetX, e.offsetY));
    this.peak.className = "memory-peak";
    this.choice.addEventListener("change", () => app.store.setOption("memory.tile", this.choice.value));
    this.keys.push(
      { key: "m", shown: "M", does: "go to where the most bytes are taken", run: () => this.toPeak() },
      { key: "]", shown: "]", does: "next memory", run: () => this.stepPlace(1) },
      { key: "[", shown: "[", does: "previous memory", run: () => this.stepPlace(-1) },
      { key: ".", shown: ".", does: "next block of the memory", run: () => this.stepBlock(1) },
      { key: ",", shown: ",", does: "previous block of the memory", run: () => this.stepBlock(-1) },
      { key: "+", shown: "+", does: "higher strips", run: () => this.setStretch(STRETCH) },
      { key: "-", shown: "−", does: "lower strips", run: () => this.setStretch(1 / STRETCH) },
      { key: "o", shown: "O", does: "fold or show addresses that nothing uses", run: () => this.toggleFold() },
    );
  }

  override tools(): HTMLElement[] {
    return [this.peak, this.fold, this.choice];
  }

  override changed(change: Change): void {
    if (change.has("run") || this.choicesOf !== this.app.run) this.fillChoices();
    if (change.has("selection")) this.revealSelection();
    this.choice.value = this.chosen;
    this.layOut();
    this.fold.setAttribute("aria-pressed", String(this.folds));
    this.namePeak();
    super.changed(change);
  }

  paint(p: Painter): void {
    this.layOut();
    this.scroll = Math.max(0, Math.min(this.scroll, this.stripsHeight - (this.bottom - TOP)));
    const { app, time } = this;
    const painter = new StripPainter(p, app.run, time, TOP - this.scroll, this.lit, this.bottom);
    p.clip(0, TOP, this.width, this.bottom - TOP, () => {
      for (const strip of this.strips) painter.paint(strip);
      this.paintLater(p);
      if (!this.strips.some((strip) => strip.memory.boxes.length)) p.text(GUTTER + 20, TOP + 26, "Nothing lies here at any time.", { colour: p.theme.faint, size: 13 });
    });
    p.rect(0, 0, this.width, TOP, p.theme.ground);
    paintOverview(p, app, this.strips, this.fullest, this.width);
    paintAxis(p, app, time, OVERVIEW, TOP);
    paintBands(p, app, time, BANDS, this.users);
    p.rect(GUTTER - 1, OVERVIEW, 1, this.height - OVERVIEW, p.theme.line);
    paintMeasure(p, app, time, OVERVIEW, this.bottom);
    paintLegend(p, this.width, this.bottom, spilledTensors(app.run).size > 0);
  }

  private isLater(x: number): boolean {
    const [first] = this.app.run.frames;
    return first !== undefined && x > GUTTER && this.time.cycle(x) >= first.end;
  }

  /** Where only later frames run, that they lie as the first one does: an empty picture would say that nothing lies there. */
  private paintLater(p: Painter): void {
    const { time } = this;
    const [first, ...later] = this.app.run.frames;
    const x = Math.max(GUTTER, time.x(first?.end ?? 0));
    const width = time.right - x;
    if (!later.length || width < 4) return;
    const words = firstThatFits([`${later.length > 1 ? `frames 2 to ${later.length + 1} lie` : "frame 2 lies"} in the same places as frame 1`, "as frame 1"], width - 16);
    for (const { top, curveTop } of this.strips) {
      const y = TOP - this.scroll + top + 3;
      const height = curveTop - top - 10;
      p.rect(x, y, width, height, p.theme.ground);
      p.hatch(x, y, width, height, p.theme.line);
      if (!words) continue;
      const half = textWidth(words) / 2 + 6;
      p.rect(x + width / 2 - half, y + height / 2 - 10, 2 * half, 20, p.theme.ground);
      p.text(x + width / 2, y + height / 2, words, { align: "center", colour: p.theme.faint });
    }
  }

  table(): Table {
    const { run } = this.app;
    const names = (layers: number[]) => layers.map((layer) => layerName(run, layer)).join(" ");
    const spilled = spilledTensors(run);
    const rows = this.strips.flatMap(({ memory }) =>
      memory.boxes.map((box): (string | number)[] => {
        const block = run.memory[box.block] as BlockJson;
        const { writers, readers } = usersOf(run, block);
        return [
          placeName(memory.place), boxName(run, box), roleText(run, box), `0x${box.address.toString(16)}`, `0x${(box.address + box.size).toString(16)}`, box.size, block.slots ?? 1,
          box.from, box.to, box.to - box.from, names(writers), names(readers), spilled.has(box.tensor) ? "yes" : "",
        ];
      }),
    );
    return {
      caption: `${peakText(this.app.run, this.fullest)}. Blocks of each memory, by start.`,
      columns: ["memory", "block", "what", "from address", "to address", "bytes", "places", "start", "end", "cycles", "written by", "read by", "spilled"],
      rows,
    };
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (event.buttons) return;
    const { app } = this;
    const strip = this.stripAt(y);
    const box = strip && x > GUTTER ? boxAt(strip, this.time, TOP - this.scroll, x, y) : null;
    const band = this.bandAt(x, y);
    this.canvas.style.cursor = isOnBar(this.bar, x, y) ? cursorAt(app, this.bar, x) : box || band || (strip && x < GUTTER) ? "pointer" : y >= OVERVIEW && y < BANDS && x > GUTTER ? "col-resize" : "default";
    if (box && strip) app.tip.show(event, boxTip(app, strip, box));
    else if (strip && this.isLater(x)) app.tip.show(event, [["As in frame 1", "head"], "Each frame uses the same places; the first one is shown."]);
    else if (strip && x > GUTTER) app.tip.show(event, fillTip(app, strip, this.time, x, y - TOP + this.scroll));
    else if (band) app.tip.show(event, bandTip(app, band));
    else if (y < OVERVIEW && x > GUTTER) app.tip.show(event, this.overviewTip(x));
    else app.tip.hide();
  }

  // ---- places ----

  /** Where the strips end and the legend begins. */
  private get bottom(): number {
    return Math.max(TOP, this.height - LEGEND);
  }

  private get time(): TimeScale {
    return new TimeScale(this.app.store.state.window, GUTTER, Math.max(GUTTER + 1, this.width));
  }

  private get bar(): Bar {
    return { x: GUTTER, y: 0, width: Math.max(1, this.width - GUTTER), height: OVERVIEW };
  }

  /** Who writes and who reads what is selected. */
  private get users(): Users | null {
    const { run, focus } = this.app;
    const block = run.memory[focus.block] ?? run.memory.find((b) => focus.tensor >= 0 && b.tensor === focus.tensor);
    return block ? usersOf(run, block) : null;
  }

  private get chosen(): string {
    const value = this.app.store.option("memory.tile", "all");
    return placesOf(this.app.run, value).length === 1 && value !== "all" ? value : "all";
  }

  private get folds(): boolean {
    const fold = this.app.store.option("memory.fold", "");
    return fold ? fold === "on" : foldsByDefault(this.strips.map((strip) => strip.memory));
  }

  private get stretch(): number {
    const value = Number(this.app.store.option("memory.stretch", "1"));
    return value >= 1 && value <= MOST_STRETCH ? value : 1;
  }

  private layOut(): void {
    const { run, store } = this.app;
    const { strips, height } = layOutStrips(run, this.chosen, store.option("memory.fold", ""), this.bottom - TOP, this.stretch);
    this.strips = strips;
    this.stripsHeight = height;
  }

  private stripAt(y: number): Strip | null {
    const at = y - TOP + this.scroll;
    return y < TOP || y >= this.bottom ? null : (this.strips.find((strip) => at >= strip.top && at < strip.top + strip.height) ?? null);
  }

  private bandAt(x: number, y: number): Band | null {
    if (x < GUTTER || y < BANDS || y >= TOP) return null;
    return bandAtCycle(this.app.run, this.time.cycle(x));
  }

  private scrollTo(scroll: number): void {
    this.scroll = Math.max(0, Math.min(scroll, this.stripsHeight - (this.bottom - TOP)));
    this.redraw();
  }

  // ---- what a user does ----

  private click(x: number, y: number): void {
    const { app } = this;
    const band = this.bandAt(x, y);
    const strip = this.stripAt(y);
    if (band) app.select(selectionOfBand(band));
    else if (strip && x < GUTTER) app.store.setOption("memory.tile", this.strips.length > 1 ? placeKey(strip.memory.place) : "all");
    else if (strip) {
      const box = boxAt(strip, this.time, TOP - this.scroll, x, y);
      this.ownChoice = true; // what is clicked here is in sight already
      const onCurve = y - TOP + this.scroll >= strip.curveTop - PEAK_MARK;
      app.select(box ? { kind: "block", block: box.block } : onCurve && !this.isLater(x) ? this.momentAt(strip, x) : null);
    }
  }

  /** What lies in the memory at the point's cycle; near the mark of the peak, at the peak. */
  private momentAt(strip: Strip, x: number): Selection | null {
    const { place, occupancy: { peak } } = strip.memory;
    const middle = (peak.from + peak.to) / 2;
    const cycle = Math.abs(this.time.x(middle) - x) <= PEAK_MARK ? middle : this.time.cycle(x);
    if (!(cycle >= 0 && cycle < this.app.run.makespan)) return null;
    return { kind: "moment", memory: place.kind === "ddr" ? { kind: "ddr", row: 0, column: 0 } : place, cycle: Math.floor(cycle) };
  }

  private zoomTo(x: number, y: number): void {
    const strip = this.stripAt(y);
    const box = strip && x > GUTTER ? boxAt(strip, this.time, TOP - this.scroll, x, y) : null;
    if (box) this.app.showStretch(box);
  }

  private setStretch(by: number): void {
    const wanted = Math.max(1, Math.min(MOST_STRETCH, this.stretch * by));
    const middle = (this.scroll + (this.bottom - TOP) / 2) / Math.max(1, this.stripsHeight);
    this.app.store.setOption("memory.stretch", wanted.toFixed(2));
    this.layOut();
    this.scrollTo(middle * this.stripsHeight - (this.bottom - TOP) / 2);
  }

  private toggleFold(): void {
    this.app.store.setOption("memory.fold", this.folds ? "off" : "on");
  }

  private stepPlace(by: number): void {
    const keys = [...this.choice.options].map((option) => option.value);
    const next = keys[(keys.indexOf(this.chosen) + by + keys.length) % keys.length];
    if (next) this.app.store.setOption("memory.tile", next);
  }

  private stepBlock(by: number): void {
    const { app } = this;
    const strip = this.strips.find(({ memory }) => memory.boxes.some((box) => box.block === app.focus.block)) ?? this.strips[0];
    if (!strip) return;
    const { boxes } = strip.memory;
    const at = boxes.findIndex((box) => box.block === app.focus.block);
    const next = boxes[at < 0 ? 0 : at + by];
    if (next) app.select({ kind: "block", block: next.block });
  }

  // ---- the peak ----

  /** The fullest of the memories that are shown. */
  private get fullest(): Strip | null {
    return this.strips.reduce<Strip | null>((best, strip) => (strip.memory.occupancy.peak.bytes > (best?.memory.occupancy.peak.bytes ?? 0) ? strip : best), null);
  }

  private namePeak(): void {
    const strip = this.fullest;
    this.peak.disabled = !strip;
    this.peak.textContent = strip ? `Peak ${kibibytes(strip.memory.occupancy.peak.bytes)}` : "No peak";
    this.peak.title = `${peakText(this.app.run, strip)}. ${plannedText(this.app.run, strip)} Click, or M, to go there.`;
  }

  private toPeak(): void {
    const strip = this.fullest;
    if (!strip) return;
    const { app } = this;
    const { peak } = strip.memory.occupancy;
    const layer = layerWhen(app.run, peak.from);
    const span = Math.max((peak.to - peak.from) * 4, layer ? (layer.cycles / framesIn(app.run)) * 3 : 0, 100);
    const middle = (peak.from + peak.to) / 2;
    app.show(middle - span / 2, middle + span / 2);
    this.scrollToStrip(strip);
    this.ownChoice = true;
    app.selectInSight(this.momentAt(strip, this.time.x(middle)));
  }

  private scrollToStrip(strip: Strip): void {
    const bottom = strip.top + strip.height;
    if (strip.top < this.scroll) this.scrollTo(strip.top);
    else if (bottom > this.scroll + this.bottom - TOP) this.scrollTo(bottom - (this.bottom - TOP));
  }

  // ---- the selection ----

  private get lit(): Lit {
    const { app } = this;
    const { focus, run } = app;
    const { selection } = app.store.state;
    const layer = selection?.kind === "layer" ? focus.layer : -1;
    const blocks = (of: "writers" | "readers") => new Set(layer < 0 ? [] : run.memory.flatMap((block, b) => (usersOf(run, block)[of].includes(layer) ? [b] : [])));
    return { block: focus.block, tensor: focus.tensor, layer, writes: blocks("writers"), reads: blocks("readers") };
  }

  // A block or a tile that was selected elsewhere: shows the memory that it is of.
  private revealSelection(): void {
    const { app } = this;
    const { selection } = app.store.state;
    const own = this.ownChoice;
    this.ownChoice = false;
    if (own || (selection?.kind !== "block" && selection?.kind !== "tile")) return;
    const block = app.run.memory[app.focus.block];
    const place = block?.kind === "ddr" ? ({ kind: "ddr" } as const) : app.focus.tile;
    if (!place) return;
    const isShown = placesOf(app.run, this.chosen).some((shown) => placeKey(shown) === placeKey(place));
    if (!isShown) app.store.setOption("memory.tile", placeKey(place));
    if (block && block.start >= 0) app.reveal({ from: block.start, to: Math.max(block.end, block.start + 1) });
    this.layOut();
    const strip = this.strips.find(({ memory }) => placeKey(memory.place) === placeKey(place));
    if (strip) this.scrollToStrip(strip);
  }

  private fillChoices(): void {
    const { run } = this.app;
    this.choicesOf = run;
    const option = (value: string, text: string) => element("option", { value, textContent: text });
    const memtiles = element("optgroup", { label: "Memtiles" }, option("all", "All memtiles"));
    for (let column = 0; column < memtilesOf(run.device); column++) memtiles.append(option(`memtile:${column}`, `Memtile ${column}`));
    const cores = element("optgroup", { label: "Cores" });
    for (let row = 0; row < run.device.rows; row++) for (let column = 0; column < run.device.columns; column++) cores.append(option(`core:${row},${column}`, `Core ${row},${column}`));
    this.choice.replaceChildren(memtiles, element("optgroup", { label: "Outside" }, option("ddr", "DDR")), cores);
  }

  private overviewTip(x: number): TipLine[] {
    const { run } = this.app;
    const step = run.makespan / Math.max(1, this.width - GUTTER);
    const cycle = (x - GUTTER) * step;
    const lines = this.strips.map(({ memory }): TipLine => `${placeName(memory.place)}: ${kibibytes(mostIn(memory.occupancy, cycle, cycle + step))}`);
    const layer = layerWhen(run, cycle);
    return [[`cycle ${count(cycle)}${layer ? `, ${layer.name}` : ""}`, "head"], ...lines, `${peakText(run, this.fullest)}.`, [plannedText(run, this.fullest), "faint"]];
  }
}
