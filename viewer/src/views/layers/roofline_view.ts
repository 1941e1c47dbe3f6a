// The roofline as a picture beside the table: hover and click are linked with it.
import { firstThatFits } from "../../paint/labels";
import { fitText, type Painter, textWidth } from "../../paint/painter";
import { paintMark } from "../../paint/marks";
import { css, mix, resourceColour } from "../../paint/theme";
import { decadeTicks, type Range } from "../../paint/ticks";
import type { Layer } from "../../run/run";
import type { App } from "../../ui/app";
import { bytes, count, percent, percentNumber } from "../../ui/numbers";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { boundOf } from "./pick";
import { attainable, type Box, type Bytes, clustersOf, overlap, placeLabels, type Point, pointsOf, rangeOf, type Roofs, roofsOf } from "./roofline";

const LEFT = 62;
const RIGHT = 14;
const LEGEND_LINE = 18;
const AXIS = 40;
const NOTE_LINE = 14;
const ROOF_LABEL = 24;
const PLACES = [0.36, 0.3, 0.45, 0.55, 0.65, 0.75, 0.2, 0.85, 0.92, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8]; // of a roof's words, on its length
const ASIDE = [10, 24, 38, 52, 66]; // pixels from the roof
const LABELS = 24; // marks, or clusters of them, that are named at most, the longest first
const SMALLEST = 3;
const LARGEST = 15; // radius, of the layer that takes longest
const ROOM_FOR_LARGEST = 150; // layers; of more, all are smaller

interface Placed {
  point: Point;
  x: number;
  y: number;
  radius: number;
}

/** Pixels of the plot and the values at its edges. */
interface Plot extends Box {
  across: Range;
  up: Range;
}

const along = (range: Range, value: number) => Math.log(value / range.from) / Math.log(range.to / range.from);
const xOf = (plot: Plot, value: number) => plot.x + along(plot.across, value) * plot.width;
const yOf = (plot: Plot, value: number) => plot.y + (1 - along(plot.up, value)) * plot.height;
const tickText = (value: number) => (value >= 1 ? count(value) : String(Number(value.toPrecision(2))));

export class RooflineView extends CanvasView {
  /** Layers that the table leaves out are pale here. */
  shows: (layer: Layer) => boolean = () => true;
  hovered = -1;
  onHover: (layer: number) => void = () => {};
  private placed: Placed[] = [];

  constructor(app: App) {
    super(app, "layers", "Roofline of all layers");
    this.canvas.addEventListener("click", (e) => {
      // Marks lie on each other: each click takes the next one there.
      const hits = this.at(e.offsetX, e.offsetY);
      const before = hits.findIndex(({ point }) => point.layer.index === app.focus.layer);
      const hit = hits[(before + 1) % Math.max(1, hits.length)];
      app.select(hit ? { kind: "layer", layer: hit.point.layer.index } : null);
    });
    this.canvas.addEventListener("pointerleave", () => this.onHover(-1));
  }

  table(): Table {
    const { points } = pointsOf(this.app.run);
    return {
      caption: "Roofline: what each layer achieved.",
      columns: ["layer", "MAC/cycle", "MAC/B to cores", "MAC/B read from DDR", "share of its roof %"],
      rows: points.map((point) => [point.layer.name, round(point.y), round(point.x.cores), round(point.x.ddr), percentNumber(shareOf(roofsOf(this.app.run), "cores", point))]),
    };
  }

  private get kind(): Bytes {
    return this.app.store.option("layers.bytes", "cores") === "ddr" ? "ddr" : "cores";
  }

  /** MAC/cycle, or GMAC/s where times are shown. */
  private get perSecond(): number {
    return this.app.store.state.unit === "time" ? this.app.run.device.clockHz / 1e9 : 1;
  }

  paint(p: Painter): void {
    const { run } = this.app;
    const { points, left } = pointsOf(run);
    const roofs = roofsOf(run);
    const shown = points.filter((point) => point.x[this.kind] !== null);
    const legend = this.paintLegend(p);
    const note = this.paintNote(p, left + points.length - shown.length);
    const [width, height] = [this.width - LEFT - RIGHT, this.height - legend - 6 - AXIS - note];
    this.placed = [];
    if (width < 60 || height < 50) return;
    const plot: Plot = { x: LEFT, y: legend + 6, width, height, ...this.ranges(shown, roofs, height) };
    this.paintAxes(p, plot);
    p.clip(plot.x, plot.y - 6, plot.width + RIGHT, plot.height + 6, () => {
      this.place(shown, plot);
      const labels = this.paintRoofs(p, plot, roofs);
      this.paintPoints(p);
      this.paintChosen(p, plot);
      this.paintNames(p, plot, labels);
    });
    if (!shown.length) p.text(plot.x + plot.width * 0.65, plot.y + plot.height * 0.72, "No layer moved such bytes and took time.", { align: "center", colour: p.theme.faint });
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    const hits = this.at(x, y);
    const hit = hits.find(({ point }) => point.layer.index === this.app.focus.layer) ?? hits[0];
    this.canvas.style.cursor = hit ? "pointer" : "default";
    if (hit) this.app.tip.show(event, [...this.tip(hit.point), ...othersOf(hits, hit)]);
    else this.app.tip.hide();
    this.onHover(hit ? hit.point.layer.index : -1);
  }

  private tip({ layer, x, y }: Point): TipLine[] {
    const { app } = this;
    const roofs = roofsOf(app.run);
    const lines: TipLine[] = [
      [layer.name, "head"],
      `${layer.op}, ${app.duration(layer.cycles)}, bound by ${boundOf(layer)}`,
      `${y.toFixed(1)} MAC/cycle: ${percent(roofs.compute ? y / roofs.compute : null)} of all cores' peak`,
    ];
    for (const [kind, moved, what] of [["cores", layer.memtileToCoreBytes, "to cores"], ["ddr", layer.ddrReadBytes, "read from DDR"]] as const) {
      const intensity = x[kind];
      if (intensity !== null) lines.push(`${intensity.toPrecision(3)} MAC/B ${what} (${bytes(moved)}): ${percent(y / attainable(roofs, kind, intensity))} of that roof`);
    }
    return lines;
  }

  /** The marks under a pixel, the nearest first. */
  private at(x: number, y: number): Placed[] {
    const distance = (placed: Placed) => Math.hypot(placed.x - x, placed.y - y);
    const near = this.placed.filter((placed) => distance(placed) < placed.radius + 2);
    const hits = near.length ? near : this.placed.filter((placed) => distance(placed) < placed.radius + 6);
    return hits.filter(({ point }) => this.shows(point.layer)).sort((a, b) => distance(a) - distance(b));
  }

  private ranges(points: readonly Point[], roofs: Roofs, height: number): { across: Range; up: Range } {
    const ridge = roofs[this.kind] > 0 ? [roofs.compute / roofs[this.kind]] : [];
    const up = rangeOf([...points.map(({ y }) => y), roofs.compute]);
    // Room for the words above the roof.
    up.to = Math.max(up.to, roofs.compute * (up.to / up.from) ** (ROOF_LABEL / height));
    return { across: rangeOf([...points.map((point) => point.x[this.kind] ?? 0), ...ridge]), up };
  }

  private place(points: readonly Point[], plot: Plot): void {
    const longest = Math.max(1, ...points.map(({ layer }) => layer.cycles));
    const largest = Math.max(SMALLEST + 3, LARGEST * Math.min(1, Math.sqrt(ROOM_FOR_LARGEST / Math.max(1, points.length))));
    this.placed = points
      .map((point): Placed => ({ point, x: xOf(plot, point.x[this.kind] ?? 1), y: yOf(plot, point.y), radius: SMALLEST + (largest - SMALLEST) * Math.sqrt(point.layer.cycles / longest) }))
      .sort((a, b) => b.radius - a.radius);
  }

  // ---- the picture ----

  /** Marks of the bounds that occur; returns its height. */
  private paintLegend(p: Painter): number {
    const { run } = this.app;
    const names = [...new Set(pointsOf(run).points.map(({ layer }) => boundOf(layer)))];
    let x = LEFT + 6;
    let y = 14;
    p.text(8, y, "bound by", { colour: p.theme.faint });
    for (const name of names) {
      const resource = run.instructions.resources.indexOf(name);
      const width = 20 + textWidth(name) + 12;
      if (x > LEFT + 6 && x + width > this.width - RIGHT) [x, y] = [LEFT + 6, y + LEGEND_LINE];
      paintMark(p, resource, x + 6, y, 5, css(resourceColour(resource), 0.8), p.theme.text);
      p.text(x + 16, y, name, { colour: p.theme.faint });
      x += width;
    }
    const area = "area: cycles of the layer; name +5: five more on the same spot";
    if (x + textWidth(area) > this.width - RIGHT) y += LEGEND_LINE;
    p.text(this.width - RIGHT, y, area, { colour: p.theme.faint, align: "right", width: this.width - RIGHT - 8 });
    return y + LEGEND_LINE / 2;
  }

  /** What exactly is plotted, at the bottom; returns its height. */
  private paintNote(p: Painter, left: number): number {
    const lines = wrapped(noteOf(this.kind, left, this.app.run.layers.length), this.width - LEFT - RIGHT, 10);
    const most = Math.max(0, Math.min(lines.length, Math.floor((this.height - 250) / NOTE_LINE)));
    lines.slice(0, most).forEach((line, k) => {
      const cut = k === most - 1 && most < lines.length;
      p.text(LEFT, this.height - (most - k) * NOTE_LINE + NOTE_LINE / 2 - 3, cut ? fitText(`${line} ${lines[k + 1] ?? ""}`, this.width - LEFT - RIGHT, { size: 10 }) : line, { size: 10, colour: p.theme.faint });
    });
    return most * NOTE_LINE + (most ? 4 : 0);
  }

  private paintAxes(p: Painter, plot: Plot): void {
    const { theme } = p;
    p.rect(plot.x, plot.y, plot.width, plot.height, theme.sunken);
    const bottom = plot.y + plot.height;
    let free = -Infinity;
    for (const { value, major } of decadeTicks(plot.across)) {
      const x = xOf(plot, value);
      const text = tickText(value);
      p.rect(x, plot.y, 1, plot.height, theme.line);
      if (x - textWidth(text) / 2 < free || (!major && plot.width < 260)) continue;
      p.text(x, bottom + 10, text, { colour: theme.faint, align: "center" });
      free = x + textWidth(text) / 2 + 8;
    }
    const scale = this.perSecond;
    const up = { from: plot.up.from * scale, to: plot.up.to * scale };
    for (const { value, major } of decadeTicks(up)) {
      const y = yOf(plot, value / scale);
      p.rect(plot.x, y, plot.width, 1, theme.line);
      if (major || plot.height > 150) p.text(plot.x - 6, y, tickText(value), { colour: theme.faint, align: "right" });
    }
    const moved = this.kind === "cores" ? "byte moved to cores" : "byte read from DDR";
    p.text(plot.x + plot.width / 2, bottom + 28, `MAC needed per ${moved} (MAC/B)`, { align: "center", width: plot.width });
    const rate = this.app.store.state.unit === "time" ? "GMAC/s" : "MAC/cycle";
    p.text(13, plot.y + plot.height / 2, firstThatFits([`${rate} achieved`, rate], plot.height), { align: "center", turn: -Math.PI / 2 });
  }

  /** Returns where its labels stand. */
  private paintRoofs(p: Painter, plot: Plot, roofs: Roofs): Box[] {
    const { device } = this.app.run;
    const { theme } = p;
    const other: Bytes = this.kind === "cores" ? "ddr" : "cores";
    const names: Record<Bytes, string> = {
      cores: `${device.wires.length} wire${device.wires.length === 1 ? "" : "s"}: ${round(roofs.cores)} B/cycle`,
      ddr: `DDR read: ${round(roofs.ddr)} B/cycle`,
    };
    const words: Box[] = [];
    const taken: Box[] = [];
    const peak = this.peakLabel(plot, roofs);
    if (peak) words.push(peak.box);
    const slope = (kind: Bytes, colour: string, dash: number[], above: boolean) => {
      const rate = roofs[kind];
      if (!(rate > 0)) return;
      const start = plot.up.from / rate < plot.across.from ? plot.across.from : plot.up.from / rate;
      const end = Math.min(plot.across.to, roofs.compute > 0 ? roofs.compute / rate : Infinity);
      if (end <= start) return;
      const [x0, y0, x1, y1] = [xOf(plot, start), yOf(plot, start * rate), xOf(plot, end), yOf(plot, end * rate)];
      p.line([x0, y0, x1, y1], colour, kind === this.kind ? 2 : 1.2, dash);
      const turn = Math.atan2(y1 - y0, x1 - x0);
      const length = Math.hypot(x1 - x0, y1 - y0);
      for (let at = 0; at < length; at += 6) taken.push({ x: x0 + Math.cos(turn) * at - 3, y: y0 + Math.sin(turn) * at - 3, width: 6, height: 6 });
      const width = textWidth(names[kind]);
      if (length < width + 16) return;
      const placed = (at: number, off: number) => {
        const [x, y] = [x0 + Math.cos(turn) * at - Math.sin(turn) * off, y0 + Math.sin(turn) * at + Math.cos(turn) * off];
        const along = Array.from({ length: 11 }, (_, k) => (k / 10 - 0.5) * width);
        return { x, y, boxes: along.map((step): Box => ({ x: x + Math.cos(turn) * step - 7, y: y + Math.sin(turn) * step - 7, width: 14, height: 14 })) };
      };
      const fits = ({ boxes }: { boxes: Box[] }) => boxes.every((box) => contains(plot, box) && !words.some((other) => overlap(box, other)));
      // In the middle of the line's lower half, where few layers get, or wherever there is room; best where the fewest marks lie on it.
      const spots = ASIDE.flatMap((aside) => PLACES.map((share) => placed(Math.min(length - width / 2 - 4, Math.max(width / 2 + 8, length * share)), above ? 1 - aside : aside))).filter(fits);
      const covered = ({ boxes }: { boxes: Box[] }) => this.placed.filter((mark) => boxes.some((box) => overlap(box, boxOf(mark)))).length;
      const spot = spots.reduce((best: (typeof spots)[0] | undefined, at) => (best && covered(best) <= covered(at) ? best : at), undefined);
      if (!spot) return;
      p.text(spot.x, spot.y, names[kind], { align: "center", turn, colour });
      words.push(...spot.boxes);
    };
    // Each roof's words stand on its outer side, away from the other roof's.
    const isOtherAbove = roofs[other] > roofs[this.kind];
    slope(other, theme.faint, [5, 4], isOtherAbove);
    slope(this.kind, theme.text, [], !isOtherAbove);
    if (roofs.compute > 0) {
      const y = yOf(plot, roofs.compute);
      const from = roofs[this.kind] > 0 ? Math.max(plot.x, xOf(plot, roofs.compute / roofs[this.kind])) : plot.x;
      p.line([from, y, plot.x + plot.width, y], theme.text, 2);
      if (from > plot.x) p.line([plot.x, y, from, y], theme.faint, 1, [2, 4]);
    }
    if (peak) p.text(peak.box.x, peak.box.y + peak.box.height / 2, peak.text);
    return [...taken, ...words];
  }

  /** Above the roof: left of the ridge, where next to no layer gets, or wherever no mark is in its way. */
  private peakLabel(plot: Plot, roofs: Roofs): { text: string; box: Box } | null {
    if (!(roofs.compute > 0)) return null;
    const { device, report } = this.app.run;
    const cores = device.rows * device.columns;
    const peak = this.app.store.state.unit === "time" ? `${count(roofs.compute * this.perSecond)} GMAC/s` : `${count(roofs.compute)} MAC/cycle`;
    const whole = fitText(`${cores} core${cores === 1 ? "" : "s"} x ${count(report.device.macsPerCycle)}: ${peak}`, plot.width - 8);
    const y = yOf(plot, roofs.compute) - 18;
    const places = [whole, peak].flatMap((text) => {
      const width = textWidth(text);
      const last = plot.x + plot.width - 4 - width;
      return [Math.min(plot.x + 6, last), last].map((x) => ({ text, box: { x, y, width, height: 18 } }));
    });
    const isFree = ({ box }: { box: Box }) => !this.placed.some((mark) => overlap(box, boxOf(mark)));
    return places.find(isFree) ?? places[0] ?? null;
  }

  private paintPoints(p: Painter): void {
    const isMarked = ({ point }: Placed) => point.layer.index === this.app.focus.layer || point.layer.index === this.hovered;
    // Small ones upon large ones; what is selected or under the pointer upon all.
    const order = [...this.placed.filter(({ point }) => !this.shows(point.layer)), ...this.placed.filter(({ point }) => this.shows(point.layer))];
    for (const placed of [...order.filter((at) => !isMarked(at)), ...order.filter(isMarked)]) this.paintPoint(p, placed, isMarked(placed));
  }

  private paintPoint(p: Painter, { point, x, y, radius }: Placed, isMarked: boolean): void {
    const { theme } = p;
    const resource = this.app.run.instructions.resources.indexOf(boundOf(point.layer));
    const shown = this.shows(point.layer);
    const colour = resourceColour(resource);
    paintMark(p, resource, x, y, radius, css(colour, isMarked ? 1 : shown ? 0.5 : 0.12), shown ? css(mix(colour, theme.dark ? [255, 255, 255] : [0, 0, 0], 0.45)) : theme.line);
  }

  private paintNames(p: Painter, plot: Plot, taken: Box[]): void {
    const marks = this.placed.filter(({ point }) => this.shows(point.layer));
    const { hovered, app } = this;
    const rank = ({ point }: Placed) => (point.layer.index === hovered ? 0 : point.layer.index === app.focus.layer ? 1 : 2);
    const size = { size: 10 };
    const named = clustersOf(marks)
      .map((members) => members.map((k) => marks[k] as Placed).sort((a, b) => rank(a) - rank(b)))
      .sort((a, b) => rank(a[0] as Placed) - rank(b[0] as Placed))
      .map((members, k): { at: Placed; name: string } => {
        const at = members[0] as Placed;
        const more = members.length > 1 ? ` +${members.length - 1}` : "";
        return { at, name: k < LABELS ? `${fitText(at.point.layer.name, 130, size)}${more}` : "" };
      });
    const known = new Set(named.map(({ at }) => at));
    const others = marks.filter((at) => !known.has(at)).map((at) => ({ at, name: "" }));
    const labels = [...named, ...others];
    const places = placeLabels(labels.map(({ at: { x, y, radius }, name }) => ({ x, y, radius: radius * 0.8, width: textWidth(name, size) })), 12, plot, taken);
    places.forEach((box, k) => {
      const label = labels[k];
      if (box && label) p.text(box.x, box.y + 6, label.name, { ...size, bold: rank(label.at) < 2 });
    });
  }

  // The selected layer with a ring, and where it stands by its other kind of bytes.
  private paintChosen(p: Painter, plot: Plot): void {
    const { focus, run } = this.app;
    const roofs = roofsOf(run);
    const other: Bytes = this.kind === "cores" ? "ddr" : "cores";
    for (const { point, x, y, radius } of this.placed) {
      const chosen = point.layer.index === focus.layer;
      if (!chosen && point.layer.index !== this.hovered) continue;
      const colour = chosen ? p.theme.accent : p.theme.text;
      p.circle(x, y, radius + 3.5, "transparent", colour);
      const best = attainable(roofs, this.kind, point.x[this.kind] ?? 1);
      if (Number.isFinite(best) && best > point.y) p.line([x, y - radius - 4, x, yOf(plot, best)], colour, 1, [2, 3]);
      const far = point.x[other];
      if (far !== null && far >= plot.across.from && far <= plot.across.to) {
        const at = xOf(plot, far);
        p.line([x, y, at, y], colour, 1, [2, 3]);
        p.circle(at, y, 4, p.theme.ground, colour);
      }
    }
  }
}

const OTHERS = 8; // names in a tip

function othersOf(hits: readonly Placed[], hit: Placed): TipLine[] {
  const others = hits.filter((other) => other !== hit).map(({ point }) => point.layer.name);
  if (!others.length) return [];
  const more = others.length > OTHERS ? ` and ${others.length - OTHERS} more` : "";
  return [[`Also here: ${others.slice(0, OTHERS).join(", ")}${more}. Click again for the next.`, "faint"]];
}

const boxOf = ({ x, y, radius }: Placed): Box => ({ x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius });
const contains = (plot: Box, box: Box): boolean => box.x >= plot.x && box.y >= plot.y && box.x + box.width <= plot.x + plot.width && box.y + box.height <= plot.y + plot.height;
const round = (value: number | null): number => (value === null ? 0 : Number(value.toPrecision(4)));
const shareOf = (roofs: Roofs, kind: Bytes, { x, y }: Point) => y / attainable(roofs, kind, x[kind] ?? 0);

function noteOf(kind: Bytes, left: number, all: number): string {
  const across = kind === "cores" ? "bytes of weights and inputs that wires moved from memtiles to cores (a multicast counts once)" : "bytes that it read from DDR";
  const none = left > 0 ? ` ${left} of ${all} layers without MACs, such bytes or cycles of their own are not plotted.` : "";
  return (
    `MACs that a layer needs, without padding, over the ${across}, against the same MACs over the cycles that it adds to the run. ` +
    `The dashed roof and the hollow mark of the selected layer are for ${kind === "cores" ? "bytes read from DDR" : "bytes moved to cores"}. ` +
    `A layer that overlaps its neighbours, or skips zero blocks, can pass a roof; depth-wise kernels have a lower one.${none}`
  );
}

function wrapped(text: string, width: number, size: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && textWidth(longer, { size }) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line ? [...lines, line] : lines;
}
