// One key at a time, around a chosen point: how far a figure goes while all other keys stay as they are.
import { type Painter, textWidth } from "../paint/painter";
import { better, worse } from "../paint/theme";
import { boundsOf, largest } from "../sweep/bounds";
import { cellText, cellValue, cellWithUnit, pointName, titleOf, wantsMore } from "../sweep/figures";
import { isBetter } from "../sweep/grid";
import type { NumberColumn } from "../sweep/sweep";
import { sensitivities, type Sensitivity } from "../sweep/tornado";
import { percent, signed } from "../ui/numbers";
import type { App } from "../sweep_page/app";
import { type Box, numberAxis, paintAcross } from "../sweep_page/axes";
import { axisOptions, ChoiceView, choiceOf, switchOf, type Table } from "../sweep_page/parts";
import { nearest, type Spot } from "../sweep_page/spots";

const TOP = 34;
const BOTTOM = 42;
const RIGHT = 24;
const NAMES = 190;
const ROW = 46; // at most

export class TornadoView extends ChoiceView {
  private spots: Spot[] = [];
  private along = ""; // the key that the arrows go along
  private known: { found: Sensitivity[]; of: unknown; key: string } | null = null;

  constructor(app: App) {
    super(app, "tornado", "What each key does to a figure around the chosen point");
    this.choices = [
      choiceOf(app, "figure", axisOptions(app), "tornado.figure", () => this.figure?.name ?? ""),
      switchOf(app, "log", "Logarithmic axis", "tornado.log"),
    ];
    this.canvas.addEventListener("click", (e) => {
      const spot = nearest(this.spots, e.offsetX, e.offsetY, app.selection);
      if (spot) app.pick(spot.point, e.shiftKey);
    });
    const step = (by: number, byKey: number) => () => this.step(by, byKey);
    this.keys.push(
      { key: "arrowright", shown: "→", does: "along the key of the point before: the next value", run: step(1, 0) },
      { key: "arrowleft", shown: "←", does: "the value before", run: step(-1, 0) },
      { key: "arrowdown", shown: "↓", does: "the next key", run: step(0, 1) },
      { key: "arrowup", shown: "↑", does: "the key before", run: step(0, -1) },
    );
  }

  private get figure(): NumberColumn | null {
    return this.app.axis("tornado.figure", "ms", "cycles", "estimateMs");
  }

  /** The selected point; with none, the one with the best figure of the first network. */
  private get base(): number {
    const { app, figure } = this;
    if (!figure) return -1;
    if (app.selection >= 0) return app.selection;
    let best = -1;
    const { models } = app;
    const first = models ? app.visible.points.find((point) => !Number.isNaN(figure.values[point])) : undefined;
    const code = first === undefined ? -1 : (models?.codes[first] ?? -1);
    for (const point of app.visible.points) {
      if (models && models.codes[point] !== code) continue;
      if (!Number.isNaN(figure.values[point]) && (best < 0 || isBetter(figure, wantsMore(figure), point, best))) best = point;
    }
    return best;
  }

  private found(base: number, figure: NumberColumn): Sensitivity[] {
    const key = `${base} ${figure.name}`;
    if (this.known?.of !== this.app.visible || this.known.key !== key) this.known = { found: sensitivities(this.app.keys, this.app.visible.points, base, figure), of: this.app.visible, key };
    return this.known.found;
  }

  paint(p: Painter): void {
    const { base, figure } = this;
    const { theme } = p;
    this.spots = [];
    const say = (text: string) => p.text(this.width / 2, this.height / 2, text, { align: "center", colour: theme.faint, width: this.width - 40 });
    if (!figure || base < 0) {
      say("Select a point that has this figure.");
      return;
    }
    p.text(8, 16, `Around ${pointName(this.app.sweep, base)}: ${figure.name} ${cellWithUnit(figure, base)}`, { bold: true, size: 12, width: this.width - 16 });
    if (Number.isNaN(figure.values[base])) {
      say(`This point has no ${figure.name}: ${this.app.sweep.text("reason", base) || this.app.sweep.text("status", base)}`);
      return;
    }
    const found = this.found(base, figure);
    if (!found.length) {
      say("No point that is shown differs from it in one key alone.");
      return;
    }
    const box: Box = { x: NAMES, y: TOP, width: this.width - NAMES - RIGHT, height: this.height - TOP - BOTTOM };
    if (box.width < 80 || box.height < 30) return;
    const axis = numberAxis(found.flatMap(({ least, most }) => [least, most]), this.app.store.option("tornado.log", "") === "on", box.x + 8, box.x + box.width - 8, false);
    const row = Math.min(ROW, box.height / found.length);
    const shown = { ...box, height: row * found.length };
    p.rect(shown.x, shown.y, shown.width, shown.height, theme.sunken);
    paintAcross(p, axis, shown, titleOf(figure));
    p.rect(0, box.y + this.placeIn(found) * row, 3, row, theme.accent);
    found.forEach((one, k) => this.paintRow(p, one, { y: box.y + k * row, height: row }, (value) => axis.at(value), figure, base));
    const x = axis.at(figure.values[base] as number);
    p.line([x, shown.y, x, shown.y + shown.height], theme.text, 1.5);
  }

  private paintRow(p: Painter, { key, others, least, most }: Sensitivity, { y, height }: { y: number; height: number }, at: (value: number) => number, figure: NumberColumn, base: number): void {
    const { theme } = p;
    const middle = y + height / 2;
    const own = figure.values[base] as number;
    const twins = key.twins.length ? ` (with ${key.twins.map(({ name }) => name).join(", ")})` : "";
    p.text(NAMES - 10, middle - (height > 26 ? 7 : 0), `${key.column.name}${twins}`, { align: "right", width: NAMES - 18, bold: true });
    if (height > 26) p.text(NAMES - 10, middle + 8, `here ${cellWithUnit(key.column, base)}`, { align: "right", width: NAMES - 18, colour: theme.faint });
    const thick = Math.min(20, height * 0.5);
    const more = wantsMore(figure);
    const [good, bad] = [better(0.75), worse(0.75)];
    p.rect(at(least), middle - thick / 2, at(own) - at(least), thick, more ? bad : good);
    p.rect(at(own), middle - thick / 2, at(most) - at(own), thick, more ? good : bad);
    let free = -Infinity;
    for (const point of [...others].sort((a, b) => (figure.values[a] as number) - (figure.values[b] as number))) {
      const x = at(figure.values[point] as number);
      p.rect(x - 1, middle - thick / 2 - 2, 2, thick + 4, theme.text);
      this.spots.push({ point, x, y: middle, radius: 6 });
      const text = cellText(key.column, point);
      const half = textWidth(text, { size: 10 }) / 2;
      if (height < 34 || x - half < free) continue;
      p.text(x, middle + thick / 2 + 8, text, { size: 10, align: "center", colour: theme.faint });
      free = x + half + 6;
    }
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    const spot = nearest(this.spots, x, y);
    this.canvas.style.cursor = spot ? "pointer" : "default";
    const { base, figure } = this;
    if (!spot || !figure) {
      this.app.tip.hide();
      return;
    }
    const { sweep } = this.app;
    const change = (figure.values[spot.point] as number) / (figure.values[base] as number) - 1;
    const bound = largest(boundsOf(sweep), spot.point);
    this.app.tip.show(event, [[pointName(sweep, spot.point), "head"], `${figure.name}: ${cellWithUnit(figure, spot.point)}, ${signed(percent(change), change)}`, ...(bound ? [[`limited most by ${bound.name}`, "faint"] as [string, "faint"]] : [])]);
  }

  private placeIn(found: readonly Sensitivity[]): number {
    return Math.max(0, found.findIndex(({ key }) => key.column.name === this.along));
  }

  private step(by: number, byKey: number): void {
    const { base, figure } = this;
    const found = figure && base >= 0 ? this.found(base, figure) : [];
    if (!found.length) return;
    const { key, others } = found[(this.placeIn(found) + byKey + found.length) % found.length] as Sensitivity;
    this.along = key.column.name;
    this.redraw();
    if (!by) return;
    const ranks = (point: number) => (key.column.kind === "number" ? (key.column.values[point] as number) : (key.column.codes[point] as number));
    const line = [...others, base].sort((a, b) => ranks(a) - ranks(b));
    const next = line[line.indexOf(base) + by];
    if (next !== undefined) this.app.select(next);
  }

  table(): Table {
    const { base, figure } = this;
    const found = figure && base >= 0 ? this.found(base, figure) : [];
    const points = found.flatMap(({ others }) => others);
    return {
      caption: figure && base >= 0 ? `${titleOf(figure)} of the points that differ in one key from ${pointName(this.app.sweep, base)} (${cellWithUnit(figure, base)}).` : "Select a point.",
      columns: ["key", "here", "there", figure?.name ?? "figure", "share of the chosen point's", "point"],
      rows: found.flatMap(({ key, others }) =>
        others.map((point) => [key.column.name, cellValue(key.column, base), cellValue(key.column, point), figure ? cellValue(figure, point) : "", figure ? Number(((figure.values[point] as number) / (figure.values[base] as number)).toPrecision(6)) : "", this.app.sweep.nameOf(point)])),
      selections: points,
    };
  }
}
