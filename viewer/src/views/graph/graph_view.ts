// The network, coloured by what each layer costs: click a node to see the layer everywhere, an edge to see the tensor.
import "./graph.css";
import type { Painter } from "../../paint/painter";
import { tensorName } from "../../run/names";
import type { Run } from "../../run/run";
import type { App } from "../../ui/app";
import { button, element } from "../../ui/dom";
import { bytes, percent, percentNumber } from "../../ui/numbers";
import type { Change } from "../../ui/state";
import type { TipLine } from "../../ui/tip";
import { CanvasView, type Table } from "../../ui/view";
import { type Camera, centred, held, zoomed } from "./camera";
import { COLOURS, type Colour, shareOfTime } from "./colours";
import { type Layout, scaleOf } from "./fold";
import { type Minimap, minimapOf, paintMinimap, paintScene, type Scene } from "./graph_paint";
import { type Legend, legendOf, paintLegend } from "./legend";
import { type GraphNode, type Network, networkOf } from "./network";
import { hitEdge, hitNode } from "./pick";
import { layRibbon, type Ribbon } from "./ribbon";
import { spread } from "./spread";
import { nodeWidthOf } from "./words";

const NODE_HEIGHT = 38;
const BUDGET = 10; // milliseconds of layout a frame
const READABLE = 0.75; // scale to which one is brought at least when something far out is selected
const LOW = 300; // pixels of a pane
const MOST_FIRST = 0.9; // scale of what is scrolled over
const SOFTLY = 220; // milliseconds

interface Work {
  network: Network;
  nodeWidth: number;
  ribbons: Partial<Record<"down" | "right", Ribbon>>;
  running: { direction: "down" | "right"; steps: Generator<number, Ribbon> } | null;
  done: number;
}

const works = new WeakMap<Run, Work>();

export class GraphView extends CanvasView {
  private layout: Layout | null = null;
  private laidFor = "";
  private laidRun: Run | null = null;
  private camera: Camera = { scale: 1, x: 0, y: 0 };
  /** Nobody has moved yet: the whole graph stays in sight, whatever the size of the pane. */
  private fits = true;
  private wantsWhole = false;
  private isWhole = true;
  private hoveredEdge = -1;
  private map: Minimap | null = null;
  private flight = 0;
  private known: Legend = { height: 0, entries: [] };
  private legendRun: Run | null = null;
  private legendMade = "";
  private readonly colour = element("select", { title: "What the colour says", aria: { label: "Colour of the graph" } });
  private readonly direction = element("select", { title: "Which way the data goes", aria: { label: "Direction of the graph" } });

  constructor(app: App) {
    super(app, "graph", "Graph of the network");
    this.fillChoices();
    this.root.append(element("div", { className: "graph-tools" }, this.colour, this.direction, button("Fit", "Fit the whole graph (G)", () => this.fit())));
    this.listen();
    this.keys.push(
      { key: "g", shown: "G", does: "fit the whole graph", run: () => this.fit() },
      { key: "+", shown: "+", does: "zoom the graph in", run: () => this.zoom(1.25) },
      { key: "-", shown: "−", does: "zoom the graph out", run: () => this.zoom(0.8) },
      { key: "arrowdown", shown: "↓", does: "a consumer of the layer", run: () => this.step(1) },
      { key: "arrowup", shown: "↑", does: "the producer of its input", run: () => this.step(-1) },
      { key: "arrowright", shown: "→", does: "the layer that runs next", run: () => this.walk(1) },
      { key: "arrowleft", shown: "←", does: "the layer that ran before", run: () => this.walk(-1) },
    );
  }

  override changed(change: Change): void {
    const { store } = this.app;
    this.colour.value = this.coloured;
    this.direction.value = store.option("graph.direction", "auto");
    if (change.has("run")) [this.fits, this.wantsWhole] = [true, false];
    if (change.has("selection")) requestAnimationFrame(() => this.revealSelection());
    super.changed(change);
  }

  paint(p: Painter): void {
    const layout = this.layOut();
    if (!layout) {
      p.text(this.width / 2, this.height / 2, `Laying out the graph: ${percent(this.work.done)}`, { align: "center", colour: p.theme.faint });
      return;
    }
    const scene = this.scene(layout);
    const notes = this.notes();
    p.clip(0, this.legend.height, this.width, this.height - this.legend.height, () => {
      paintScene(p, scene);
      this.map = minimapOf(scene);
      if (this.map) paintMinimap(p, scene, this.map);
      if (notes) {
        p.rect(0, this.height - 22, this.width, 22, p.theme.raised);
        p.text(10, this.height - 11, notes, { colour: p.theme.faint, width: this.width - 20 });
      }
    });
    if (!scene.network.nodes.length) p.text(this.width / 2, this.height / 2, "The network has no operators on the array.", { align: "center", colour: p.theme.faint });
    paintLegend(p, this.legend, this.width);
  }

  table(): Table {
    const { run } = this.app;
    const shape = (tensor: number) => {
      const t = run.graph.tensors[tensor];
      return t ? `${t.name} ${t.height}x${t.width}x${t.channels}` : "";
    };
    const consumers = (tensor: number) => run.graph.operators.flatMap((op) => (op.inputs.includes(tensor) ? [op.name] : [])).join("; ");
    return {
      caption: `Operators of the network in the order in which they run.${this.notes() ? ` ${this.notes()}` : ""}`,
      columns: ["layer", "operator", "takes", "makes", "read by", "cycles", "share %", "bound by", "efficiency %"],
      rows: run.graph.operators.map((operator, i) => {
        const layer = run.layers[i];
        return [operator.name, layer?.op ?? operator.op, operator.inputs.map(shape).join("; "), shape(operator.output), consumers(operator.output), layer?.cycles ?? 0, percentNumber(layer && shareOfTime(run, layer)), layer?.boundBy ?? "", percentNumber(layer?.efficiency)];
      }),
    };
  }

  protected override hover(x: number, y: number, event: PointerEvent): void {
    if (event.buttons) return;
    const { app } = this;
    const layout = this.layout;
    const node = layout && !this.onMap(x, y) ? this.nodeAt(x, y) : -1;
    const edge = layout && node < 0 && !this.onMap(x, y) ? this.edgeAt(x, y) : -1;
    this.canvas.style.cursor = node >= 0 || edge >= 0 || this.onMap(x, y) ? "pointer" : "grab";
    if (edge !== this.hoveredEdge) {
      this.hoveredEdge = edge;
      this.redraw();
    }
    const network = this.work.network;
    if (node >= 0) app.tip.show(event, this.nodeTip(network.nodes[node] as GraphNode));
    else if (edge >= 0) app.tip.show(event, this.edgeTip(edge));
    else app.tip.hide();
  }

  // ---- layout ----

  private get work(): Work {
    const { run } = this.app;
    const known = works.get(run);
    if (known) return known;
    const network = networkOf(run);
    const work: Work = { network, nodeWidth: nodeWidthOf(run, network), ribbons: {}, running: null, done: 0 };
    works.set(run, work);
    return work;
  }

  /** The ribbon, or null while it is being made; each call makes some of it. */
  private ribbon(direction: "down" | "right"): Ribbon | null {
    const { work } = this;
    const known = work.ribbons[direction];
    if (known) return known;
    const size = direction === "down" ? { main: NODE_HEIGHT, cross: work.nodeWidth } : { main: work.nodeWidth, cross: NODE_HEIGHT };
    if (work.running?.direction !== direction) work.running = { direction, steps: layRibbon(work.network, size) };
    const until = performance.now() + BUDGET;
    do {
      const step = work.running.steps.next();
      if (step.done) {
        work.running = null;
        return (work.ribbons[direction] = step.value);
      }
      work.done = step.value;
    } while (performance.now() < until);
    this.redraw();
    return null;
  }

  private layOut(): Layout | null {
    const { run, store } = this.app;
    const wish = store.option("graph.direction", "auto");
    const [width, height] = [this.width, this.height - this.legend.height];
    const asked = `${wish} ${this.fits ? `${Math.round(width)} ${Math.round(height)}` : ""}`;
    if (this.layout && this.laidRun === run && (this.laidFor === asked || (!this.fits && this.laidFor.startsWith(`${wish} `)))) return this.layout;
    const ribbons: [Ribbon, boolean][] = [];
    for (const direction of ["down", "right"] as const) {
      if (wish !== "auto" && wish !== direction) continue;
      const ribbon = this.ribbon(direction);
      if (!ribbon) return null;
      ribbons.push([ribbon, direction === "down"]);
    }
    const { layout, isWhole } = spread(ribbons, width, height, this.wantsWhole);
    [this.layout, this.isWhole, this.laidFor, this.laidRun] = [layout, isWhole, asked, run];
    if (this.fits) this.camera = isWhole ? this.whole(layout) : this.beginning(layout, width);
    this.revealSelection();
    return layout;
  }

  private beginning(layout: Layout, width: number): Camera {
    const scale = Math.min(MOST_FIRST, width / layout.width);
    return { scale, x: (width - layout.width * scale) / 2, y: this.legend.height };
  }

  private whole(layout: Layout): Camera {
    const height = this.height - this.legend.height - (this.notes() ? 22 : 0);
    const camera = centred(this.width, height, scaleOf(layout, this.width, height), layout.width / 2, layout.height / 2);
    return { ...camera, y: camera.y + this.legend.height };
  }

  private scene(layout: Layout): Scene {
    return { run: this.app.run, network: this.work.network, layout, camera: this.camera, colour: this.coloured, focus: this.app.focus, hoveredEdge: this.hoveredEdge, width: this.width, height: this.height };
  }

  private get legend(): Legend {
    const { run } = this.app;
    const low = this.height < LOW;
    const made = `${this.coloured} ${this.width} ${low}`;
    if (this.legendRun !== run || this.legendMade !== made) [this.known, this.legendRun, this.legendMade] = [legendOf(run, this.coloured, this.width, low), run, made];
    return this.known;
  }

  private get coloured(): Colour {
    const chosen = this.app.store.option("graph.colour", "time");
    return COLOURS.find((colour) => colour === chosen) ?? "time";
  }

  private notes(): string {
    const { hostOperators } = this.app.run.report;
    return hostOperators.length ? `On the host, in no figure here: ${hostOperators.join(", ")}` : "";
  }

  // ---- what is where ----

  private nodeAt(x: number, y: number): number {
    return this.layout && y > this.legend.height ? hitNode(this.layout, (x - this.camera.x) / this.camera.scale, (y - this.camera.y) / this.camera.scale) : -1;
  }

  private edgeAt(x: number, y: number): number {
    const { camera, layout } = this;
    return layout && y > this.legend.height ? hitEdge(layout, (x - camera.x) / camera.scale, (y - camera.y) / camera.scale, 5 / camera.scale) : -1;
  }

  private onMap(x: number, y: number): boolean {
    const { map } = this;
    return map !== null && x >= map.left - 4 && y >= map.top - 4 && x <= map.left + map.width + 4 && y <= map.top + map.height + 4;
  }

  private nodeTip(node: GraphNode): TipLine[] {
    const { app } = this;
    const { run } = app;
    const layer = node.kind === "operator" ? run.layers[node.index] : undefined;
    if (!layer) return [[node.name, "head"], `${node.kind} of the network`, ...this.tensorLines(node.tensor)];
    return [
      [layer.name, "head"],
      `${layer.op}, ${app.duration(layer.cycles)}, ${percent(shareOfTime(run, layer))} of the run`,
      `bound by ${layer.boundBy ?? "nothing"}, efficiency ${percent(layer.efficiency)}`,
      [layer.split, "faint"],
    ];
  }

  private edgeTip(edge: number): TipLine[] {
    const { nodes, edges } = this.work.network;
    const { from, to, tensor } = edges[edge] as Network["edges"][number];
    return [[tensorName(this.app.run, tensor), "head"], ...this.tensorLines(tensor), [`from ${(nodes[from] as GraphNode).name} to ${(nodes[to] as GraphNode).name}`, "faint"]];
  }

  private tensorLines(tensor: number): TipLine[] {
    const shape = this.app.run.graph.tensors[tensor];
    return shape ? [`${shape.height} x ${shape.width} x ${shape.channels} (height, width, channels), ${bytes(shape.height * shape.width * shape.channels)}`] : [];
  }

  // ---- what a user does ----

  private fillChoices(): void {
    const { store } = this.app;
    const titles: Record<Colour, string> = { time: "by time", bound: "by bound", efficiency: "by efficiency" };
    this.colour.append(...COLOURS.map((value) => element("option", { value, textContent: titles[value] })));
    this.colour.addEventListener("change", () => store.setOption("graph.colour", this.colour.value));
    for (const [value, textContent] of [["auto", "as it fits"], ["down", "top to bottom"], ["right", "left to right"]] as const) this.direction.append(element("option", { value, textContent }));
    this.direction.addEventListener("change", () => {
      this.fits = true;
      store.setOption("graph.direction", this.direction.value);
    });
  }

  private listen(): void {
    const { canvas } = this;
    let drag: { x: number; y: number; camera: Camera; moved: boolean; onMap: boolean } | null = null;
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(-Math.max(-200, Math.min(200, e.deltaY * (e.deltaMode === 1 ? 16 : 1))) * 0.002), e.offsetX, e.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      drag = { x: e.offsetX, y: e.offsetY, camera: this.camera, moved: false, onMap: this.onMap(e.offsetX, e.offsetY) };
      canvas.setPointerCapture(e.pointerId);
      if (drag.onMap) this.toMap(e.offsetX, e.offsetY);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag) return;
      if (Math.hypot(e.offsetX - drag.x, e.offsetY - drag.y) > 3) drag.moved = true;
      if (drag.onMap) this.toMap(e.offsetX, e.offsetY);
      else if (drag.moved) this.move({ ...drag.camera, x: drag.camera.x + e.offsetX - drag.x, y: drag.camera.y + e.offsetY - drag.y });
      if (drag.moved) this.app.tip.hide();
    });
    canvas.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved && !drag.onMap) this.click(e.offsetX, e.offsetY);
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("dblclick", (e) => {
      const node = this.work.network.nodes[this.nodeAt(e.offsetX, e.offsetY)];
      const layer = node?.kind === "operator" ? this.app.run.layers[node.index] : undefined;
      if (layer) this.app.showStretch({ from: layer.start, to: layer.end });
    });
  }

  private click(x: number, y: number): void {
    const { app } = this;
    const { nodes, edges } = this.work.network;
    const node = nodes[this.nodeAt(x, y)];
    const edge = edges[this.edgeAt(x, y)];
    if (node) app.select(node.kind === "operator" ? { kind: "layer", layer: node.index } : { kind: "tensor", tensor: node.tensor });
    else app.select(edge ? { kind: "tensor", tensor: edge.tensor } : null);
  }

  private fit(): void {
    this.fits = true;
    this.wantsWhole = true;
    this.flight = 0;
    this.laidFor = "";
    this.redraw();
  }

  private zoom(factor: number, x = this.width / 2, y = this.height / 2): void {
    if (this.layout) this.move(zoomed(this.camera, factor, x, y, this.whole(this.layout).scale * 0.7));
  }

  private move(camera: Camera): void {
    if (!this.layout) return;
    this.flight = 0;
    this.fits = false;
    this.camera = held(camera, this.layout.width, this.layout.height, this.width, this.height);
    this.redraw();
  }

  private toMap(x: number, y: number): void {
    const { map, camera } = this;
    if (map) this.move(centred(this.width, this.height, camera.scale, (x - map.left) / map.scale, (y - map.top) / map.scale));
  }

  private step(by: number): void {
    const { nodes, edges } = this.work.network;
    const { focus } = this.app;
    const at = nodes.findIndex((node) => node.kind === "operator" && node.index === focus.layer);
    const next = at < 0 ? nodes.find(({ kind }) => kind === "operator") : edges.map((edge) => (by > 0 ? (edge.from === at ? nodes[edge.to] : undefined) : edge.to === at ? nodes[edge.from] : undefined)).find((node) => node?.kind === "operator");
    if (next) this.app.select({ kind: "layer", layer: next.index });
  }

  private walk(by: number): void {
    const { run, focus } = this.app;
    const layer = focus.layer < 0 ? 0 : Math.max(0, Math.min(run.layers.length - 1, focus.layer + by));
    if (run.layers.length) this.app.select({ kind: "layer", layer });
  }

  // What was selected elsewhere comes softly into the middle when it is out of sight, or too small to read.
  private revealSelection(): void {
    const { layout, camera } = this;
    const { focus } = this.app;
    if (!layout || (this.fits && this.isWhole)) return;
    const at = this.work.network.nodes.findIndex((node) => (node.kind === "operator" ? node.index === focus.layer : node.tensor === focus.tensor));
    const place = layout.nodes[at];
    if (!place) return;
    const [x, y] = [place.x * camera.scale + camera.x, place.y * camera.scale + camera.y];
    if (x > 40 && x < this.width - 40 && y > this.legend.height + 20 && y < this.height - 30) return;
    this.fly(centred(this.width, this.height + this.legend.height, Math.max(camera.scale, Math.min(READABLE, camera.scale * 2)), place.x, place.y));
  }

  private fly(to: Camera): void {
    const from = this.camera;
    const begin = performance.now();
    const flight = begin;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.camera = to;
      this.redraw();
      return;
    }
    this.flight = flight;
    const step = () => {
      if (this.flight !== flight) return;
      const t = Math.min(1, (performance.now() - begin) / SOFTLY);
      const share = t * t * (3 - 2 * t);
      const between = (a: number, b: number) => a + (b - a) * share;
      this.camera = { scale: between(from.scale, to.scale), x: between(from.x, to.x), y: between(from.y, to.y) };
      this.redraw();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
}
