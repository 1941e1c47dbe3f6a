// The picture of the comparison: sentences, waterfall, both runs over time.
import { type Painter, textWidth } from "../../paint/painter";
import { runName } from "../../run/names";
import type { App } from "../../ui/app";
import { percent } from "../../ui/numbers";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { type Changes, changesOf, paintChanges, stepAt } from "./changes";
import { amountText, boundText, deltaText, type Difference, isSame, type LayerChange, type Order, onlyText, ratioText } from "./difference";
import { type Layout, layOut, type Parts } from "./layout";
import { summaryOf } from "./summary";
import { amountPerCycle, paintTimelines, sharesAt, type Shown, timeHit, timeViewOf } from "./timelines";
import { usagesOf } from "./usage";

const LINE = 16;
const MARGIN = 8;

export interface Compared {
  readonly difference: Difference;
  readonly order: Order;
  /** Row of the selected layer, or -1. */
  readonly chosen: number;
  readonly parts: Parts;
  /** Height of what can be seen at once; the picture may be higher and scroll. */
  readonly room: number;
  select(change: LayerChange): void;
}

interface Scene {
  lines: { head: string; text: string }[];
  height: number;
  changes: Changes | null;
  shown: Shown | null;
}

const SHORT = 380; // panes with room for one sentence only

export class PictureView extends CanvasView {
  constructor(
    app: App,
    private readonly compared: Compared,
  ) {
    super(app, "compare", "What each layer changes from run A to run B, and both over time");
    this.canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    this.canvas.addEventListener("dblclick", (e) => {
      if (this.isTime(e.offsetY)) app.show(0, app.run.makespan);
    });
    this.listenToDrag();
  }

  paint(p: Painter): void {
    const { difference, order, chosen } = this.compared;
    const { unit } = this.app.store.state;
    const { lines, changes, shown } = this.scene();
    lines.forEach(({ head, text }, k) => {
      const y = MARGIN + (k + 0.5) * LINE;
      p.text(MARGIN, y, head, { bold: true });
      p.text(MARGIN + (head ? textWidth(head, { bold: true }) + 6 : 0), y, text);
    });
    if (changes) paintChanges(p, changes, difference, { order, unit, chosen });
    if (shown) paintTimelines(p, difference, shown);
  }

  table(): Table {
    return { caption: "", columns: [], rows: [] };
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    const { app } = this;
    const { difference } = this.compared;
    const { unit } = app.store.state;
    const { changes, shown } = this.scene();
    const step = changes && stepAt(changes, x, y);
    const hit = step || !shown ? null : timeHit(difference, shown, x, y);
    const row = step ? (step.change?.row ?? -1) : (hit?.row ?? -1);
    const change = difference.changes[row];
    this.canvas.style.cursor = change ? "pointer" : "";
    if (change) app.tip.show(event, changeTip(difference, change, unit));
    else if (step) app.tip.show(event, [["Time that no layer completes", "head"], `${deltaText(difference, step.to - step.from, unit)} in B`]);
    else if (hit?.usage && shown) {
      const [a, b] = sharesAt(difference, hit.usage, shown.time, x);
      app.tip.show(event, [[hit.usage, "head"], `at ${amountText(difference, hit.amount, unit)}`, `A (filled): ${a}`, `B (line): ${b}`]);
    } else app.tip.hide();
  }

  /** Height that the picture wants, for the style sheet. */
  get wanted(): number {
    return this.scene().height;
  }

  /** All that stands in the picture, for its present size. */
  private scene(): Scene {
    const { difference, order, chosen, parts, room } = this.compared;
    const { unit, window } = this.app.store.state;
    const lines = this.lines(unit, room < SHORT);
    const layout: Layout = layOut(this.width, room, 2 * MARGIN + lines.length * LINE, { parts, lanes: usagesOf(difference.a).length, same: isSame(difference) });
    const time = timeViewOf(difference, this.app.run, window, this.width);
    return {
      lines,
      height: layout.height,
      changes: layout.changes && changesOf(difference, order, layout.changes),
      shown: layout.time && { layout: { ...layout, time: layout.time }, time, unit, chosen },
    };
  }

  private lines(unit: "cycles" | "time", isShort: boolean): { head: string; text: string }[] {
    const { difference } = this.compared;
    const names = { head: "", text: `A is ${runName(difference.a)}; B is ${runName(difference.b)}.` };
    const sentences = summaryOf(difference, unit);
    return (isShort ? sentences.slice(0, 1) : [names, ...sentences]).flatMap(({ head, text }) => wrapped(head, text, this.width - 2 * MARGIN));
  }

  private isTime(y: number): boolean {
    return y >= (this.scene().shown?.layout.time.y ?? Infinity);
  }

  /** Cycle of the run that the page shows, under a pixel. */
  private cycleAt(x: number): number {
    const { difference } = this.compared;
    return (this.scene().shown?.time.amount(x) ?? 0) / amountPerCycle(difference, this.app.run);
  }

  // Over the timelines the wheel zooms; elsewhere it scrolls the picture.
  private wheel(e: WheelEvent): void {
    if (!this.isTime(e.offsetY)) return;
    e.preventDefault();
    const pixels = e.deltaY * (e.deltaMode === 1 ? 16 : 1);
    this.app.zoom(Math.exp(Math.max(-200, Math.min(200, pixels)) * 0.002), this.cycleAt(e.offsetX));
  }

  private listenToDrag(): void {
    const { canvas, app } = this;
    let drag: { x: number; moved: boolean; time: boolean } | null = null;
    canvas.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      drag = { x: e.offsetX, moved: false, time: this.isTime(e.offsetY) };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag || (!drag.moved && Math.abs(e.offsetX - drag.x) <= 3)) return;
      app.tip.hide();
      if (drag.time) app.pan(this.cycleAt(drag.x) - this.cycleAt(e.offsetX));
      drag = { ...drag, x: e.offsetX, moved: true };
    });
    canvas.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved) this.click(e.offsetX, e.offsetY);
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => {
      drag = null;
    });
  }

  private click(x: number, y: number): void {
    const { difference } = this.compared;
    const { changes, shown } = this.scene();
    const step = changes && stepAt(changes, x, y);
    const change = step ? step.change : shown && difference.changes[timeHit(difference, shown, x, y)?.row ?? -1];
    if (change) this.compared.select(change);
    else this.app.select(null);
  }
}

export function changeTip(difference: Difference, change: LayerChange, unit: "cycles" | "time"): TipLine[] {
  const { a, b } = change;
  const of = (amount: number) => amountText(difference, amount, unit);
  const title = a && b && a.name !== b.name ? `${a.name} in A, ${b.name} in B` : change.name;
  const lines: TipLine[] = [[title, "head"], [(a ?? b)?.op ?? "", "faint"]];
  if (!a || !b) return [...lines, `${onlyText(difference, change)}: ${of(change.before + change.after)}`, `bound by ${boundText(a ?? b)}`, (a ?? b)?.split ?? ""];
  lines.push(`A ${of(change.before)} → B ${of(change.after)}: ${deltaText(difference, change.delta, unit)}, ${ratioText(change.before, change.after)} as fast`);
  lines.push(`bound by ${boundText(a)}${a.boundBy === b.boundBy ? " in both" : ` → ${boundText(b)}`}`);
  lines.push(`efficiency ${percent(a.efficiency)} → ${percent(b.efficiency)}`);
  lines.push(a.split === b.split ? `split ${a.split}` : `split ${a.split} → ${b.split}`);
  return lines;
}

/** Lines no wider than `width`; the head stands on the first. */
function wrapped(head: string, text: string, width: number): { head: string; text: string }[] {
  const lines: { head: string; text: string }[] = [];
  let line = "";
  let room = width - (head ? textWidth(head, { bold: true }) + 6 : 0);
  const end = () => lines.push({ head: lines.length ? "" : head, text: line });
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && textWidth(longer) > room) {
      end();
      line = word;
      room = width;
    } else line = longer;
  }
  end();
  return lines;
}
