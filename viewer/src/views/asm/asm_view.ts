// program.asm line by line, with what each line cost in the run.
import type { Painter } from "../../paint/painter";
import { lockName, tensorName } from "../../run/names";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { button } from "../../ui/dom";
import { count } from "../../ui/numbers";
import { ScrollArea } from "../../ui/scroll";
import type { Change, Selection } from "../../ui/state";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { asmTable } from "./asm_table";
import "./asm.css";
import { type Columns, columnsOf } from "./columns";
import { nextCostliest, type Rank, RANK_WORDS, RANKS } from "./costliest";
import { copyText } from "./copy";
import { FindBar } from "./find_bar";
import { Finder } from "./finder";
import { listenToListing } from "./input";
import { type LineCosts, lineCostsOf, nextSlice } from "./line_costs";
import { lineTip, linkTip, shareTip, WHAT_IT_SHOWS } from "./line_tip";
import { type Link, linksOf } from "./links";
import { type Listing, listingOf } from "./listing";
import { firstOfCode } from "./outline";
import { PartMenu } from "./part_menu";
import { characterAt, characterWidth, codeWidth } from "./paint_code";
import { type Look, paintListing, ROOM, ROW, STEPS, STRIP, TITLES, TOP } from "./paint_listing";
import { structureOf } from "./structure";
import { engineInSight, locksAt, targetOf } from "./targets";
import { type Touched, touchedBy } from "./touched";

const STEP = 80; // to the side
const COPIED = 4000; // milliseconds that the page says so

interface Known {
  run: Run;
  costs: LineCosts;
  listing: Listing;
  longest: number; // pixels
}

export class AsmView extends CanvasView {
  private readonly area = new ScrollArea();
  private readonly finder = new Finder();
  private readonly find: FindBar;
  private readonly parts = new PartMenu((line) => this.scrollToLine(line));
  private known: Known | null = null;
  private touchedFor: { run: Run; selection: Selection | null; touched: Touched } | null = null;
  private sideways = 0; // pixels that the code is moved to the left
  private revealed: Selection | null = null;
  private hot: { line: number; link: Link } | null = null;
  private chosen: { from: number; to: number; anchor: number } | null = null;
  private copied = "";

  constructor(app: App) {
    super(app, "asm", "Program listing with the cost of each line");
    this.find = new FindBar({ look: (query) => this.look(query), go: (by) => this.goTo(this.finder.step(this.topLine, by)) });
    const page = () => Math.max(ROW, this.area.height - 2 * ROW);
    this.keys.push(
      { key: "n", shown: "N", does: "next slice that the selected line ran as", run: () => this.stepSlice(1) },
      { key: "p", shown: "P", does: "previous slice of the line", run: () => this.stepSlice(-1) },
      { key: "j", shown: "J", does: "the costliest line, then the next costliest: by the column whose heading was clicked, else by its cycles on the critical path", run: () => this.toCostliest() },
      { key: "}", shown: "}", does: "next section", run: () => this.goSection(1) },
      { key: "{", shown: "{", does: "previous section", run: () => this.goSection(-1) },
      { key: "l", shown: "L", does: "find in the listing: text, /regex/, :line", run: () => this.find.focus() },
      { key: "y", shown: "Y", does: "copy the line, or the lines chosen with Shift and click (Ctrl+C)", run: () => this.copy() },
      { key: "v", shown: "V", does: "share of the layer or of the run", run: () => this.turnShare() },
      { key: "arrowdown", shown: "↓", does: "a line down", run: () => this.scrollBy(ROW) },
      { key: "arrowup", shown: "↑", does: "a line up", run: () => this.scrollBy(-ROW) },
      { key: "arrowright", shown: "→", does: "long lines: to the right (or Shift and wheel)", run: () => this.moveSideways(STEP) },
      { key: "arrowleft", shown: "←", does: "long lines: to the left", run: () => this.moveSideways(-STEP) },
      { key: "pagedown", shown: "Page ↓", does: "a page down", run: () => this.scrollBy(page()) },
      { key: "pageup", shown: "Page ↑", does: "a page up", run: () => this.scrollBy(-page()) },
      { key: "home", shown: "Home", does: "the first line", run: () => this.scrollBy(-Infinity) },
      { key: "end", shown: "End", does: "the last line", run: () => this.scrollBy(Infinity) },
    );
    listenToListing(this.canvas, this.area, {
      lineHeight: ROW,
      lineAt: (x, y) => this.lineAt(x, y),
      scrolled: (x, y) => {
        this.moveSideways(x);
        this.scrollBy(y);
      },
      hover: (e) => this.hover(e.offsetX, e.offsetY, e),
      click: (x, y, extend) => this.click(x, y, extend),
      copy: () => this.copy(),
    });
  }

  override tools(): HTMLElement[] {
    const copy = button("Copy", "Copy the selected line, or the lines chosen with Shift and click (Y)", () => this.copy());
    copy.className = "asm-copy";
    return [this.parts.root, this.find.root, copy];
  }

  override changed(change: Change): void {
    const isNew = this.known?.run !== this.app.run;
    this.layOut();
    const { selection } = this.app.store.state;
    if (isNew) {
      // Whoever opens a listing wants code; what it declares is a part of the menu.
      this.scrollToLine(firstOfCode(this.app.run));
      this.revealed = null;
    }
    if (selection !== this.revealed) {
      this.revealed = selection;
      this.chosen = null;
      this.revealSelection();
    }
    super.changed(change);
  }

  paint(p: Painter): void {
    paintListing(p, this.lookNow());
  }

  table(): Table {
    const { costs, listing } = this.layOut();
    return asmTable(this.app.run, costs, listing, this.topLine);
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (event.buttons) return;
    const { app } = this;
    const hot = this.linkAt(x, y);
    if (hot?.link !== this.hot?.link) this.redraw();
    this.hot = hot;
    const line = this.lineAt(x, y);
    const acts = hot || this.isShare(x, y) || this.rankAt(x, y) || this.stripAt(x, y) >= 0 || this.stepAt(x, y) || (line >= 0 && this.selectionOf(line));
    this.canvas.style.cursor = acts ? "pointer" : "default";
    const tip = this.tipAt(x, y, line);
    if (tip.length) app.tip.show(event, tip);
    else app.tip.hide();
  }

  // ---- places ----

  private layOut(): Known {
    const { run } = this.app;
    if (this.known?.run !== run) {
      const longest = run.asm.reduce((most, line) => Math.max(most, line.length), 0) * characterWidth();
      this.known = { run, costs: lineCostsOf(run), listing: listingOf(run), longest };
      this.sideways = 0;
      this.chosen = null;
    }
    this.area.place(0, TOP, this.width, this.height - TOP, run.asm.length * ROW);
    this.finder.look(run, this.query, this.touched.lines);
    return this.known;
  }

  private get columns(): Columns {
    return columnsOf(this.app.run, lineCostsOf(this.app.run), this.ofRun, this.width);
  }

  private get ofRun(): boolean {
    return this.app.store.option("asm.share", "layer") === "run";
  }

  private get touched(): Touched {
    const { run, focus, store } = this.app;
    const { selection } = store.state;
    if (this.touchedFor?.run !== run || this.touchedFor.selection !== selection) this.touchedFor = { run, selection, touched: touchedBy(run, focus) };
    return this.touchedFor.touched;
  }

  private get topLine(): number {
    return Math.ceil(this.area.offset / ROW);
  }

  /** Line at a point, the section's head at the top included; -1 for none. */
  private lineAt(x: number, y: number): number {
    if (y >= TITLES && y < TOP) return this.stepAt(x, y) ? -1 : (this.layOut().listing.head[Math.floor(this.area.offset / ROW)] ?? -1);
    const strip = this.stripAt(x, y);
    if (strip >= 0) return strip;
    if (!this.area.holds(x, y) || x > this.area.inner) return -1;
    const line = Math.floor((y - TOP + this.area.offset) / ROW);
    return line < this.app.run.asm.length ? line : -1;
  }

  private linkAt(x: number, y: number): { line: number; link: Link } | null {
    const { code } = this.columns;
    const line = y < TOP ? -1 : this.lineAt(x, y);
    if (line < 0 || x < code || x > code + this.codeWidth) return null;
    const at = characterAt(this.app.run.asm[line] as string, x - code + this.sideways);
    const link = linksOf(this.app.run, line).find(({ from, to }) => at >= from && at < to);
    return link && this.targetOf(line, link) ? { line, link } : null;
  }

  private targetOf(line: number, link: Link): Selection | null {
    const { run, focus } = this.app;
    return targetOf(run, line, link, engineInSight(run, line, focus));
  }

  private isShare(x: number, y: number): boolean {
    const { left, right } = this.columns.share;
    return y < TITLES && x >= left && x <= right;
  }

  /** The arrows in the section's head. */
  private stepAt(x: number, y: number): -1 | 0 | 1 {
    const left = this.width - ROOM - STEPS;
    if (y < TITLES || y >= TOP || x < left || x >= left + STEPS) return 0;
    return x < left + STEPS / 2 ? -1 : 1;
  }

  /** The whole program in small: the line that stands there, or -1. */
  private stripAt(x: number, y: number): number {
    const { inner, height } = this.area;
    const { length } = this.app.run.asm;
    return y >= TOP && x >= inner - STRIP && x < inner && length * ROW > height ? Math.floor(((y - TOP) / height) * length) : -1;
  }

  private tipAt(x: number, y: number, line: number): TipLine[] {
    const { app, hot } = this;
    if (this.isShare(x, y)) return shareTip(this.ofRun);
    const rank = this.rankAt(x, y);
    if (rank) return [[`Click: the costliest line by ${RANK_WORDS[rank]}; J: the next`, "head"], ...WHAT_IT_SHOWS.slice(1)];
    if (y < TITLES) return WHAT_IT_SHOWS;
    if (this.stripAt(x, y) >= 0) return [[`line ${count(line + 1)}: click to go there`, "head"], ...lineTip(app, line)];
    const step = this.stepAt(x, y);
    if (step) return [step < 0 ? "Previous section ({)" : "Next section (})"];
    const target = hot && this.targetOf(hot.line, hot.link);
    if (hot && target) return linkTip(app, hot.line, hot.link, target);
    return line >= 0 && (app.run.asm[line] as string).trim() ? lineTip(app, line) : [];
  }

  private scrollBy(pixels: number): void {
    this.area.scrollTo(this.area.offset + pixels);
    this.parts.show(this.app.run, this.topLine);
    this.redraw();
  }

  private scrollToLine(line: number): void {
    this.scrollBy(line * ROW - this.area.offset);
  }

  private moveSideways(pixels: number): void {
    const { longest } = this.layOut();
    this.sideways = Math.max(0, Math.min(this.sideways + pixels, longest - this.codeWidth));
    this.redraw();
  }

  private goSection(by: 1 | -1): void {
    const { sections } = structureOf(this.app.run);
    const top = this.topLine;
    const to = by > 0 ? sections.find(({ line }) => line > top) : sections.findLast(({ line }) => line < top);
    if (to) this.scrollToLine(to.line);
  }

  // ---- what a user does ----

  private click(x: number, y: number, extend: boolean): void {
    const line = this.lineAt(x, y);
    const step = this.stepAt(x, y);
    const strip = this.stripAt(x, y);
    const hit = this.linkAt(x, y);
    const rank = this.rankAt(x, y);
    if (this.isShare(x, y)) this.turnShare();
    else if (rank) this.rankBy(rank);
    else if (step) this.goSection(step);
    else if (strip >= 0) this.scrollToLine(strip - Math.floor(this.area.height / ROW / 2));
    else if (line >= 0 && y < TOP) this.scrollToLine(line);
    else if (line >= 0 && extend) this.choose(line);
    else if (hit) this.selectLink(hit.line, hit.link);
    else if (line >= 0) this.selectLine(line);
  }

  private choose(line: number): void {
    const anchor = this.chosen?.anchor ?? (this.app.focus.line >= 0 ? this.app.focus.line : line);
    this.chosen = { from: Math.min(anchor, line), to: Math.max(anchor, line), anchor };
    this.redraw();
  }

  private selectLine(line: number): void {
    this.take(this.selectionOf(line));
    this.chosen = { from: line, to: line, anchor: line };
    this.redraw();
  }

  /** Of several locks that a name stands for, a further click takes the next. */
  private selectLink(line: number, link: Link): void {
    const { run, focus } = this.app;
    const all = locksAt(run, line, link);
    const at = all.indexOf(focus.lock);
    this.take(at >= 0 && all.length > 1 ? { kind: "lock", lock: all[(at + 1) % all.length] as number } : this.targetOf(line, link));
  }

  private take(selection: Selection | null): void {
    if (!selection) return;
    this.revealed = selection; // it is in sight already
    this.app.select(selection);
  }

  /** What a click on the line selects: its instruction, or a head's layer. */
  private selectionOf(line: number): Selection | null {
    const { listing } = this.layOut();
    const leaf = listing.leaf[line] as number;
    if (leaf >= 0) return { kind: "instruction", leaf };
    const layer = listing.layer[line] as number;
    const isHead = (structureOf(this.app.run).endOf[line] as number) > 0 && !(this.app.run.asm[line] as string).startsWith(" ");
    return isHead && this.app.run.layers[layer] ? { kind: "layer", layer } : null;
  }

  private stepSlice(by: 1 | -1): void {
    const { run, focus } = this.app;
    if (focus.line < 0) return;
    const slice = nextSlice(run, focus.line, focus.slice, by);
    if (slice) this.take({ kind: "slice", ...slice });
  }

  private get rank(): Rank {
    const chosen = this.app.store.option("asm.rank", RANKS[0]);
    return RANKS.find((rank) => rank === chosen) ?? RANKS[0];
  }

  /** The column of figures whose title is at the point. */
  private rankAt(x: number, y: number): Rank | null {
    const column = y < TITLES ? this.columns.costs.find(({ right, width }) => x >= right - width && x <= right) : undefined;
    return column?.rank ?? null;
  }

  private rankBy(rank: Rank): void {
    this.app.store.setOption("asm.rank", rank);
    this.toCostliest(rank, -1);
  }

  private toCostliest(rank = this.rank, after = this.app.focus.line): void {
    const { run } = this.app;
    const next = nextCostliest(run, this.layOut().costs, rank, after);
    if (!next) return;
    this.bringIntoSight(next.line);
    this.selectLine(next.line);
    this.say(`no. ${count(next.place + 1)} of ${count(next.of)} lines by ${RANK_WORDS[rank]}; J: the next`);
  }

  private turnShare(): void {
    this.app.store.setOption("asm.share", this.ofRun ? "layer" : "run");
  }

  private copy(): void {
    const { line } = this.app.focus;
    const { from, to } = this.chosen ?? { from: line, to: line };
    const lines = from < 0 ? [] : this.app.run.asm.slice(from, to + 1);
    const what = lines.length > 1 ? `${count(lines.length)} lines` : `line ${count(from + 1)}`;
    if (!lines.length) this.say("nothing to copy: click a line first");
    else void copyText(`${lines.join("\n")}\n`).then((done) => this.say(done ? `copied ${what}` : "the browser does not let the page copy"));
  }

  private say(text: string): void {
    this.copied = text;
    this.redraw();
    setTimeout(() => {
      if (this.copied !== text) return;
      this.copied = "";
      this.redraw();
    }, COPIED);
  }

  private revealSelection(): void {
    const { listing } = this.layOut();
    const { line, layer, leaf } = this.app.focus;
    const [touched] = this.touched.lines;
    if (line >= 0) this.bringIntoSight(line);
    else if (touched !== undefined) {
      if (!this.touched.lines.some((at) => this.isInSight(at))) this.bringIntoSight(touched);
    } else if (leaf < 0 && layer >= 0) this.bringIntoSight(listing.firstOfLayer[layer] ?? -1);
  }

  private isInSight(line: number): boolean {
    const { offset, height } = this.area;
    return line * ROW >= offset && (line + 1) * ROW <= offset + height;
  }

  /** With what is around it, and whole lines at the top. */
  private bringIntoSight(line: number): void {
    if (line >= 0 && !this.isInSight(line)) this.scrollToLine(line - Math.floor(this.area.height / ROW / 3));
  }

  // ---- search ----

  private get query(): string {
    return this.app.store.option("asm.find", "");
  }

  private look(query: string): void {
    this.app.store.setOption("asm.find", query);
    this.copied = "";
    this.layOut();
    this.goTo(this.finder.first(Math.floor(this.area.offset / ROW)));
  }

  private goTo(line: number): void {
    if (line >= 0) {
      this.bringIntoSight(line);
      this.bringMatchIntoSight(line);
    }
    this.redraw();
  }

  private bringMatchIntoSight(line: number): void {
    const text = this.app.run.asm[line] as string;
    const [first] = this.finder.found.placesIn(line);
    const link = this.touched.linksIn(line)[0];
    const [begin, end] = this.query ? (first ?? [0, 0]) : [link?.from ?? 0, link?.to ?? 0];
    const from = codeWidth(text.slice(0, begin));
    const to = codeWidth(text.slice(0, end)) + 2 * characterWidth();
    if (to <= this.codeWidth) this.sideways = 0;
    else if (from < this.sideways || to > this.sideways + this.codeWidth) this.sideways = Math.max(0, Math.min(from - STEP, to - this.codeWidth / 2));
  }

  // ---- the picture ----

  /** Of whole characters. */
  private get codeWidth(): number {
    const room = this.area.inner - STRIP - ROOM / 2 - this.columns.code;
    return Math.max(0, Math.floor(room / characterWidth()) * characterWidth());
  }

  private lookNow(): Look {
    const { run, focus } = this.app;
    const { costs, listing } = this.layOut();
    const name = focus.lock >= 0 ? lockName(run, focus.lock) : tensorName(run, focus.tensor);
    const message = this.copied || this.finder.text(name);
    const { finder, area, columns, sideways, ofRun, touched, hot, chosen, width, codeWidth } = this;
    this.find.show(this.query, message, finder.found.problem !== "", finder.lines.length > 0);
    return { run, focus, listing, costs, columns, area, width, codeWidth, sideways, ofRun, finder, touched, hot, chosen, message };
  }
}
