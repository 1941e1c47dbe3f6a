// What limits each point: a bar of its time, in the colours of the resources; points in the order of the table.
import { type Painter, textWidth } from "../paint/painter";
import { css, resourceColour } from "../paint/theme";
import { boundsOf, type Bound, largest } from "../sweep/bounds";
import { cellValue, cellWithUnit, pointName } from "../sweep/figures";
import type { NumberColumn } from "../sweep/sweep";
import { count, percent } from "../ui/numbers";
import { listenToScroll, ScrollArea } from "../ui/scroll";
import type { TipLine } from "../ui/tip";
import type { App } from "../sweep_page/app";
import { ChoiceView, choiceOf, type Table } from "../sweep_page/parts";
import type { Change } from "../sweep_page/state";

const ROW = 20;
const HEAD = 30;
const NAMES = 300; // width, at most
const FIGURE = 110;

export class LimitsView extends ChoiceView {
  private readonly area = new ScrollArea();
  private tally: { of: unknown; text: Map<Bound, number> } | null = null;

  constructor(app: App) {
    super(app, "limits", "What limits each point");
    this.choices = [choiceOf(app, "length of a bar", [["share", "all alike"], ["time", "its time"]], "limits.length", () => app.store.option("limits.length", "share"))];
    listenToScroll(this.canvas, [this.area], () => false, () => this.redraw());
    this.canvas.addEventListener("click", (e) => app.pick(this.pointAt(e.offsetY), e.shiftKey));
    const step = (by: number) => () => this.step(by);
    this.keys.push({ key: "arrowdown", shown: "↓", does: "the point below", run: step(1) }, { key: "arrowup", shown: "↑", does: "the point above", run: step(-1) });
  }

  override changed(change: Change): void {
    super.changed(change);
    if (change.has("selection") || change.has("view") || change.has("lower")) this.reveal();
  }

  private get time(): NumberColumn | undefined {
    return this.app.sweep.numbers("ms");
  }

  private get bounds(): Bound[] {
    return boundsOf(this.app.sweep);
  }

  paint(p: Painter): void {
    const { app, area } = this;
    const points = app.ordered;
    const { theme } = p;
    const { bounds } = this;
    area.place(0, HEAD, this.width, this.height - HEAD, points.length * ROW);
    if (!bounds.length || !points.length) {
      p.text(this.width / 2, this.height / 2, bounds.length ? "No point passes the filters." : "This sweep does not say what limits its points.", { align: "center", colour: theme.faint });
      return;
    }
    const names = Math.min(NAMES, this.width * 0.3);
    const room = area.inner - names - FIGURE - 16;
    const { time } = this;
    const longest = this.isTime && time ? points.reduce((most, point) => Math.max(most, time.values[point] || 0), 0) : 0;
    p.clip(0, HEAD, this.width, this.height - HEAD, () => {
      const first = Math.floor(area.offset / ROW);
      for (let place = first; place < Math.min(points.length, first + this.height / ROW + 1); place++) {
        const point = points[place] as number;
        const y = HEAD + place * ROW - area.offset;
        const scale = longest > 0 && time ? (time.values[point] || 0) / longest : 1;
        this.paintRow(p, point, y, { names, room, scale });
      }
    });
    area.paintBar(p);
    this.paintHead(p, names, room);
  }

  private get isTime(): boolean {
    return this.app.store.option("limits.length", "share") === "time";
  }

  private paintRow(p: Painter, point: number, y: number, { names, room, scale }: { names: number; room: number; scale: number }): void {
    const { app, time } = this;
    const { theme } = p;
    if (point === app.selection) p.rect(0, y, this.area.inner, ROW, theme.dark ? "rgba(109,182,242,0.20)" : "rgba(11,97,164,0.14)");
    if (point === app.held) p.frame(1, y + 1, this.area.inner - 2, ROW - 2, theme.faint);
    p.text(8, y + ROW / 2, pointName(app.sweep, point), { width: names - 12 });
    if (time) p.text(names + FIGURE - 14, y + ROW / 2, cellWithUnit(time, point), { align: "right" });
    let x = names + FIGURE;
    const whole = room * scale;
    let known = false;
    for (const { column, resource } of this.bounds) {
      const share = column.values[point] as number;
      if (!(share > 0)) continue;
      const width = share * whole;
      p.rect(x, y + 3, width, ROW - 6, css(resourceColour(resource)));
      const text = percent(share);
      if (textWidth(text) + 6 < width) p.text(x + width / 2, y + ROW / 2, text, { align: "center", colour: theme.onColour, size: 10 });
      x += width;
      known = true;
    }
    if (known) p.frame(names + FIGURE + 0.5, y + 3.5, Math.max(0, whole - 1), ROW - 7, theme.line);
    else p.text(names + FIGURE, y + ROW / 2, [app.sweep.text("status", point), app.sweep.text("reason", point)].filter(Boolean).join(": "), { colour: theme.faint, width: room });
  }

  private paintHead(p: Painter, names: number, room: number): void {
    const { theme } = p;
    p.rect(0, 0, this.width, HEAD, theme.raised);
    p.rect(0, HEAD - 1, this.width, 1, theme.line);
    p.text(8, HEAD / 2, "in the order of Points", { colour: theme.faint, width: names - 12 });
    let x = names;
    for (const [bound, n] of this.counts()) {
      const text = `${bound.name}: most of ${count(n)}`;
      const width = textWidth(text) + 30;
      if (x + width > names + FIGURE + room + 16) break;
      p.rect(x, HEAD / 2 - 5, 10, 10, css(resourceColour(bound.resource)));
      p.text(x + 15, HEAD / 2, text, { colour: theme.faint });
      x += width;
    }
  }

  /** Of how many points each resource has the largest share. */
  private counts(): Map<Bound, number> {
    const { visible } = this.app;
    if (this.tally?.of === visible) return this.tally.text;
    const { bounds } = this;
    const text = new Map(bounds.map((bound) => [bound, 0]));
    for (const point of visible.points) {
      const bound = largest(bounds, point);
      if (bound) text.set(bound, (text.get(bound) ?? 0) + 1);
    }
    this.tally = { of: visible, text };
    return text;
  }

  private pointAt(y: number): number {
    return y < HEAD ? -1 : (this.app.ordered[Math.floor((y - HEAD + this.area.offset) / ROW)] ?? -1);
  }

  protected override hover(_x: number, y: number, event: PointerEvent): void {
    const point = this.pointAt(y);
    if (point < 0) {
      this.app.tip.hide();
      return;
    }
    const { sweep } = this.app;
    const shares = this.bounds.map(({ column, name }) => ({ name, share: column.values[point] as number })).filter(({ share }) => share > 0).sort((a, b) => b.share - a.share);
    const lines: TipLine[] = [[pointName(sweep, point), "head"], ...shares.map(({ name, share }) => `${name}: ${percent(share)}`)];
    const by = sweep.text("boundBy", point);
    if (by) lines.push([`lower bound set by ${by}`, "faint"]);
    this.app.tip.show(event, lines);
  }

  private step(by: number): void {
    const points = this.app.ordered;
    const at = points.indexOf(this.app.selection);
    const next = points[at < 0 ? 0 : Math.max(0, Math.min(points.length - 1, at + by))];
    if (next !== undefined) this.app.select(next);
  }

  private reveal(): void {
    const at = this.app.ordered.indexOf(this.app.selection);
    if (at < 0) return;
    this.area.place(0, HEAD, this.width, this.height - HEAD, this.app.ordered.length * ROW);
    this.area.reveal(at * ROW, (at + 1) * ROW);
  }

  table(): Table {
    const { app, time } = this;
    const points = app.ordered;
    const columns = [...(time ? [time] : []), ...this.bounds.map(({ column }) => column)];
    return {
      caption: "The share of its time for which each resource limits a point.",
      columns: ["point", ...columns.map(({ name }) => name)],
      rows: points.map((point) => [pointName(app.sweep, point), ...columns.map((column) => cellValue(column, point))]),
      selections: [...points],
    };
  }
}
