// program.asm line by line, with what each line cost in the run.
import { type Painter, textWidth } from "../../paint/painter";
import { css, resourceColour } from "../../paint/theme";
import { layerName } from "../../run/names";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { count } from "../../ui/numbers";
import type { Change, Selection } from "../../ui/state";
import { CanvasView, type Table } from "../../ui/view";
import { ScrollArea } from "../../ui/scroll";
import "./asm.css";
import { type Columns, columnsOf, HEAD_STYLE } from "./columns";
import { FindBar, hitsText } from "./find_bar";
import { type LineCosts, lineCostsOf } from "./line_costs";
import { lineTip, WHAT_IT_SHOWS } from "./line_tip";
import { linesWith, type Listing, listingOf, loweredOf, nextIn } from "./listing";
import { characterWidth, CODE, codeWidth, paintCode, paintMatches } from "./paint_code";
import { paintCosts } from "./paint_costs";

const ROW = 18;
const TITLES = 22;
const TOP = TITLES + ROW + 3; // the columns' titles and the section's head
const TICKS = 4; // beside the scroll bar
const ROOM = 16; // at the right of the code
const GAP = 12;
const STEP = 80; // to the side

interface Found {
  run: Run;
  query: string;
  lines: number[];
}

export class AsmView extends CanvasView {
  private readonly area = new ScrollArea();
  private readonly find: FindBar;
  private known: { run: Run; costs: LineCosts; listing: Listing; columns: Columns; longest: number } | null = null;
  private found: Found | null = null;
  private foundAt = -1; // place in found.lines
  private sideways = 0; // pixels that the code is moved to the left
  private revealed: Selection | null = null;
  private pressed: number | null = null; // line

  constructor(app: App) {
    super(app, "asm", "Program listing with the cost of each line");
    this.find = new FindBar({ look: (query) => this.look(query), go: (by) => this.goFound(by) });
    const page = () => Math.max(ROW, this.area.height - 2 * ROW);
    this.keys.push(
      { key: "arrowdown", shown: "↓", does: "a line down", run: () => this.scrollBy(ROW) },
      { key: "arrowup", shown: "↑", does: "a line up", run: () => this.scrollBy(-ROW) },
      { key: "arrowright", shown: "→", does: "long lines: to the right (or Shift and wheel)", run: () => this.moveSideways(STEP) },
      { key: "arrowleft", shown: "←", does: "long lines: to the left", run: () => this.moveSideways(-STEP) },
      { key: "pagedown", shown: "Page ↓", does: "a page down", run: () => this.scrollBy(page()) },
      { key: "pageup", shown: "Page ↑", does: "a page up", run: () => this.scrollBy(-page()) },
      { key: "home", shown: "Home", does: "the first line", run: () => this.scrollBy(-Infinity) },
      { key: "end", shown: "End", does: "the last line", run: () => this.scrollBy(Infinity) },
      { key: "]", shown: "]", does: "next section", run: () => this.goSection(1) },
      { key: "[", shown: "[", does: "previous section", run: () => this.goSection(-1) },
      { key: "l", shown: "L", does: "find in the listing", run: () => this.find.focus() },
    );
    this.listen();
  }

  override tools(): HTMLElement[] {
    this.showFound();
    return [this.find.root];
  }

  override changed(change: Change): void {
    if (change.has("run") && this.known && this.known.run !== this.app.run) {
      this.area.scrollTo(0);
      this.revealed = null;
    }
    this.layOut();
    this.showFound();
    const { selection } = this.app.store.state;
    if (selection !== this.revealed) {
      this.revealed = selection;
      this.revealSelection();
    }
    super.changed(change);
  }

  paint(p: Painter): void {
    const { columns } = this.layOut();
    const first = Math.floor(this.area.offset / ROW);
    const last = Math.min(this.app.run.asm.length - 1, Math.floor((this.area.offset + this.area.height) / ROW));
    p.clip(0, TOP, this.width, this.area.height, () => {
      for (let line = first; line <= last; line++) this.paintMargin(p, columns, line, TOP + line * ROW - this.area.offset);
    });
    p.clip(columns.code - 5, TOP, Math.max(0, this.codeWidth + 10), this.area.height, () => {
      for (let line = first; line <= last; line++) this.paintText(p, columns, line, TOP + line * ROW - this.area.offset);
    });
    this.paintTitles(p, columns);
    this.paintSection(p, columns, first);
    this.area.paintBar(p);
    this.paintTicks(p);
  }

  table(): Table {
    const { run } = this.app;
    const { costs } = this.layOut();
    return {
      caption: "Every line of program.asm with how often it was executed and the cycles that its engines, all together, worked and waited.",
      columns: ["line", "text", "slices", "busy cycles", "wait cycles"],
      rows: run.asm.map((text, at) => [at + 1, text, costs.slices[at] as number, costs.busy[at] as number, costs.wait[at] as number]),
    };
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (event.buttons) return;
    const { app } = this;
    const line = this.lineAt(x, y);
    this.canvas.style.cursor = line >= 0 && this.selectionOf(line) ? "pointer" : "default";
    if (y < TITLES) app.tip.show(event, WHAT_IT_SHOWS);
    else if (line >= 0 && (app.run.asm[line] as string).trim()) app.tip.show(event, lineTip(app, line));
    else app.tip.hide();
  }

  // ---- places ----

  private layOut(): NonNullable<AsmView["known"]> {
    const { run } = this.app;
    if (this.known?.run !== run) {
      const costs = lineCostsOf(run);
      const longest = run.asm.reduce((most, line) => Math.max(most, line.length), 0) * characterWidth();
      this.known = { run, costs, listing: listingOf(run), columns: columnsOf(run, costs), longest };
      this.sideways = 0;
    }
    this.area.place(0, TOP, this.width, this.height - TOP, run.asm.length * ROW);
    return this.known;
  }

  /** Line at a point, the section's head at the top included; -1 for none. */
  private lineAt(x: number, y: number): number {
    if (y >= TITLES && y < TOP) return this.headOf(Math.floor(this.area.offset / ROW));
    if (!this.area.holds(x, y) || x > this.area.inner) return -1;
    const line = Math.floor((y - TOP + this.area.offset) / ROW);
    return line < this.app.run.asm.length ? line : -1;
  }

  private headOf(line: number): number {
    return this.layOut().listing.head[line] ?? -1;
  }

  private scrollBy(pixels: number): void {
    this.area.scrollTo(this.area.offset + pixels);
    this.redraw();
  }

  private moveSideways(pixels: number): void {
    const { longest } = this.layOut();
    this.sideways = Math.max(0, Math.min(this.sideways + pixels, longest - this.codeWidth));
    this.redraw();
  }

  private goSection(by: 1 | -1): void {
    const { asm } = this.app.run;
    const from = Math.ceil(this.area.offset / ROW);
    for (let line = from + by; line >= 0 && line < asm.length; line += by) {
      if (!(asm[line] as string).startsWith("on ")) continue;
      this.area.scrollTo(line * ROW);
      this.redraw();
      return;
    }
  }

  // ---- what a user does ----

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const unit = e.deltaMode === WheelEvent.DOM_DELTA_LINE ? ROW : 1;
      this.moveSideways(unit * (e.shiftKey ? e.deltaX || e.deltaY : e.deltaX));
      if (!e.shiftKey) this.scrollBy(unit * e.deltaY);
      this.hover(e.offsetX, e.offsetY, e as unknown as PointerEvent);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      canvas.setPointerCapture(e.pointerId);
      if (this.area.press(e.offsetX, e.offsetY)) this.redraw();
      else this.pressed = this.lineAt(e.offsetX, e.offsetY);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (this.area.drag(e.offsetY)) this.redraw();
    });
    canvas.addEventListener("pointerup", (e) => {
      if (this.area.release()) this.redraw();
      else if (this.pressed !== null && this.pressed >= 0 && this.pressed === this.lineAt(e.offsetX, e.offsetY)) this.click(this.pressed, e.offsetY);
      this.pressed = null;
    });
    canvas.addEventListener("pointercancel", () => {
      this.area.release();
      this.pressed = null;
    });
  }

  private click(line: number, y: number): void {
    const selection = this.selectionOf(line);
    if (y < TOP) {
      this.area.scrollTo(line * ROW);
      this.redraw();
    } else if (selection) {
      this.revealed = selection; // it is in sight already
      this.app.select(selection);
    }
  }

  /** What a click on the line selects: its instruction, or a head's layer. */
  private selectionOf(line: number): Selection | null {
    const { listing } = this.layOut();
    const leaf = listing.leaf[line] as number;
    if (leaf >= 0) return { kind: "instruction", leaf };
    const layer = listing.layer[line] as number;
    return listing.head[line] === line && this.app.run.layers[layer] ? { kind: "layer", layer } : null;
  }

  private revealSelection(): void {
    const { listing } = this.layOut();
    const { line, layer, leaf } = this.app.focus;
    const at = line >= 0 ? line : leaf < 0 && layer >= 0 ? (listing.firstOfLayer[layer] ?? -1) : -1;
    if (at >= 0) this.bringIntoSight(at);
  }

  /** With what is around it, and whole lines at the top. */
  private bringIntoSight(line: number): void {
    const { offset, height } = this.area;
    if (line * ROW < offset || (line + 1) * ROW > offset + height) this.area.scrollTo((line - Math.floor(height / ROW / 3)) * ROW);
  }

  // ---- search ----

  private get query(): string {
    return this.app.store.option("asm.find", "");
  }

  private get hits(): number[] {
    const { run } = this.app;
    if (this.found?.run !== run || this.found.query !== this.query) {
      this.found = { run, query: this.query, lines: linesWith(run, this.query) };
      this.foundAt = -1;
    }
    return this.found.lines;
  }

  private look(query: string): void {
    this.app.store.setOption("asm.find", query);
    const first = Math.floor(this.area.offset / ROW);
    this.goTo(nextIn(this.hits, first - 1, 1));
  }

  private goFound(by: 1 | -1): void {
    const { hits } = this;
    const first = Math.ceil(this.area.offset / ROW);
    this.goTo(this.foundAt >= 0 ? (this.foundAt + by + hits.length) % hits.length : nextIn(hits, first, by));
  }

  private goTo(at: number): void {
    this.foundAt = this.hits.length ? at : -1;
    const line = this.hits[this.foundAt];
    if (line !== undefined) {
      this.bringIntoSight(line);
      this.bringMatchIntoSight(line);
    }
    this.showFound();
    this.redraw();
  }

  private bringMatchIntoSight(line: number): void {
    const text = this.app.run.asm[line] as string;
    const at = (loweredOf(this.app.run)[line] as string).indexOf(this.query.toLowerCase());
    const to = codeWidth(text.slice(0, at + this.query.length)) + 2 * characterWidth();
    const from = codeWidth(text.slice(0, at));
    if (to <= this.codeWidth) this.sideways = 0;
    else if (from < this.sideways || to > this.sideways + this.codeWidth) this.sideways = Math.max(0, Math.min(from - STEP, to - this.codeWidth / 2));
  }

  private showFound(): void {
    const { length } = this.hits;
    this.find.show(this.query, this.foundAt, length);
  }

  // ---- the picture ----

  /** Of whole characters. */
  private get codeWidth(): number {
    const room = this.area.inner - TICKS - ROOM / 2 - this.layOut().columns.code;
    return Math.max(0, Math.floor(room / characterWidth()) * characterWidth());
  }

  private paintMargin(p: Painter, columns: Columns, line: number, top: number): void {
    const { run, focus } = this.app;
    const { listing } = this.layOut();
    const middle = top + ROW / 2;
    const accent = p.theme.accent;
    if (focus.line === line) {
      p.rect(0, top, this.area.inner, ROW, p.theme.dark ? "rgba(109,182,242,0.20)" : "rgba(11,97,164,0.14)");
    } else if (listing.head[line] === line) p.rect(0, top, this.area.inner, ROW, p.theme.sunken);
    if (focus.layer >= 0 && listing.layer[line] === focus.layer) p.rect(0, top, focus.line === line ? 4 : 2, ROW, accent);
    p.text(columns.number, middle, count(line + 1), { ...CODE, align: "right", colour: focus.line === line ? p.theme.text : p.theme.faint });
    const leaf = listing.leaf[line] as number;
    if (leaf >= 0) paintCosts(p, run, columns, line, leaf, top, ROW);
  }

  private paintText(p: Painter, columns: Columns, line: number, top: number): void {
    const { run } = this.app;
    const text = run.asm[line] as string;
    const { hits, foundAt } = this;
    const query = this.query.toLowerCase();
    const x = columns.code - this.sideways;
    const width = this.codeWidth + this.sideways;
    if (this.codeWidth < 20) return;
    if (query) paintMatches(p, x, top + 1, ROW - 2, text, loweredOf(run)[line] as string, query, width);
    if (foundAt >= 0 && hits[foundAt] === line) p.frame(columns.code - 4.5, top + 0.5, this.codeWidth + 8, ROW - 1, p.theme.accent);
    paintCode(p, x, top + ROW / 2, text, width);
  }

  private paintTitles(p: Painter, columns: Columns): void {
    p.rect(0, 0, this.width, TITLES, p.theme.raised);
    const y = TITLES / 2;
    p.text(columns.number, y, "line", { ...HEAD_STYLE, align: "right" });
    for (const { title, right } of columns.costs) p.text(right - 3, y, title, { ...HEAD_STYLE, align: "right" });
    const hits = this.query ? hitsText(this.foundAt, this.hits.length) : "";
    const right = this.width - ROOM;
    p.text(right, y, hits, { align: "right", colour: p.theme.faint });
    p.text(columns.code, y, "program.asm", { ...HEAD_STYLE, width: Math.max(0, right - columns.code - textWidth(hits) - GAP) });
    p.rect(0, TITLES - 1, this.width, 1, p.theme.line);
  }

  /** The section that the first line in sight stands in, and its layer. */
  private paintSection(p: Painter, columns: Columns, first: number): void {
    const { run, focus } = this.app;
    const { listing } = this.layOut();
    const head = this.headOf(first);
    const layer = head < 0 ? -1 : (listing.layer[head] as number);
    p.rect(0, TITLES, this.width, TOP - TITLES, p.theme.sunken);
    p.rect(0, TOP - 1, this.width, 1, p.theme.line);
    const middle = TITLES + (TOP - TITLES) / 2;
    const x = columns.code;
    const right = this.width - ROOM;
    if (head < 0) {
      p.text(x, middle, "what the program is made of: no section yet", { colour: p.theme.faint, width: right - x });
      return;
    }
    if (focus.layer >= 0 && layer === focus.layer) p.rect(0, TITLES, 2, TOP - TITLES - 1, p.theme.accent);
    p.text(columns.number, middle, count(head + 1), { ...CODE, align: "right", colour: p.theme.faint });
    const text = run.asm[head] as string;
    const name = layerName(run, layer);
    const room = right - x - GAP;
    const headWidth = Math.min(textWidth(text, { ...CODE, bold: true }), Math.max(0.6 * room, room - textWidth(name)));
    p.text(x, middle, text, { ...CODE, bold: true, colour: p.theme.accent, width: headWidth + 1 });
    p.text(x + headWidth + GAP, middle, name, { width: Math.max(0, room - headWidth) });
  }

  /** Where the selected layer and what was found lie in the whole listing. */
  private paintTicks(p: Painter): void {
    const { area } = this;
    const { focus, run } = this.app;
    const { listing } = this.layOut();
    const lines = run.asm.length;
    if (lines * ROW <= area.height) return;
    const x = area.inner - TICKS;
    const placeOf = (line: number) => TOP + Math.floor((line / lines) * (area.height - 2));
    const ticks = (sorted: Iterable<number>, colour: string) => {
      let last = -1;
      for (const line of sorted) {
        const y = placeOf(line);
        if (y > last) p.rect(x, y, TICKS, 2, colour);
        last = y;
      }
    };
    if (focus.layer >= 0) ticks(linesOfLayer(listing, focus.layer), p.theme.accent);
    ticks(this.hits, css(resourceColour(1)));
  }
}

function* linesOfLayer({ layer }: Listing, wanted: number): Generator<number> {
  for (let line = 0; line < layer.length; line++) if (layer[line] === wanted) yield line;
}
