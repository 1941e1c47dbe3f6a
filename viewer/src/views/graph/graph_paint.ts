// The graph as a picture: what of it is in sight, in screen pixels so that text stays sharp at any zoom.
import { type Painter, type TextStyle, textWidth } from "../../paint/painter";
import { paintMark } from "../../paint/marks";
import { css, resourceColour } from "../../paint/theme";
import type { Layer, Run } from "../../run/run";
import type { Focus } from "../../ui/state";
import type { Camera } from "./camera";
import { barColour, type Colour, type Look, lookOf } from "./colours";
import type { Layout } from "./fold";
import type { GraphNode, Network } from "./network";
import { figuresOf, firstThatFits, fitName, lineSize, shapesOf } from "./words";

export interface Scene {
  run: Run;
  network: Network;
  layout: Layout;
  camera: Camera;
  colour: Colour;
  focus: Focus;
  hoveredEdge: number;
  width: number;
  height: number;
}

const TWO_LINES = 27; // pixels of a node's height
const ONE_LINE = 11;
const SHAPE_SCALE = 0.9; // from which shapes stand beside the edges
const ARROW = 5;

/** Tensors that the focus names, and those of the layer that it names. */
export function litTensors(run: Run, focus: Focus): { chosen: number; near: Set<number> } {
  const operator = run.graph.operators[focus.layer];
  const near = new Set<number>(operator && focus.tensor < 0 ? [...operator.inputs, operator.output] : []);
  return { chosen: focus.tensor, near };
}

export function paintScene(p: Painter, scene: Scene): void {
  paintEdges(p, scene);
  paintNodes(p, scene);
}

function paintEdges(p: Painter, scene: Scene): void {
  const { layout, camera, network, run, focus, hoveredEdge } = scene;
  const { theme } = p;
  const { chosen, near } = litTensors(run, focus);
  const screen = (points: readonly number[]) => points.map((v, k) => v * camera.scale + (k % 2 ? camera.y : camera.x));
  const faint = theme.dark ? "#5b626a" : "#a9aeb2";
  const stroke = (tensor: number, edge: number): [string, number] =>
    tensor === chosen ? [theme.accent, 2.5] : edge === hoveredEdge ? [theme.text, 2] : near.has(tensor) ? [theme.accent, 1.4] : [faint, Math.max(0.6, Math.min(1.2, 1.6 * camera.scale))];
  const labelled = new Set<number>();
  layout.routes.forEach((route, e) => {
    const points = screen(route);
    if (!inSight(points, scene)) return;
    const { tensor } = network.edges[e] as Network["edges"][number];
    const [colour, thickness] = stroke(tensor, e);
    p.line(points, colour, thickness);
    if (camera.scale > 0.35) paintArrow(p, points, colour, layout.downwards);
    if (camera.scale >= SHAPE_SCALE && !labelled.has(tensor)) {
      labelled.add(tensor);
      paintShape(p, run, tensor, points);
    }
  });
  for (const copy of layout.copies) {
    const points = screen(copy.link);
    const { tensor } = network.nodes[copy.node] as GraphNode;
    const [colour, thickness] = stroke(tensor, -2);
    if (inSight(points, scene)) p.line(points, colour, thickness, [4, 3]);
  }
}

function paintArrow(p: Painter, points: readonly number[], colour: string, downwards: boolean): void {
  const x = points[points.length - 2] as number;
  const y = points[points.length - 1] as number;
  p.polygon(downwards ? [x, y, x - ARROW * 0.6, y - ARROW, x + ARROW * 0.6, y - ARROW] : [x, y, x - ARROW, y - ARROW * 0.6, x - ARROW, y + ARROW * 0.6], colour);
}

function paintShape(p: Painter, run: Run, tensor: number, points: readonly number[]): void {
  const shape = run.graph.tensors[tensor];
  if (!shape || points.length < 4) return;
  const [x0, y0, x1, y1] = points.slice(0, 4) as [number, number, number, number];
  if (Math.abs(y1 - y0) < 9) return;
  p.text(Math.max(x0, x1) + 5, (y0 + y1) / 2, `${shape.height}x${shape.width}x${shape.channels}`, { size: 9, colour: p.theme.faint });
}

function inSight(points: readonly number[], { width, height }: Scene): boolean {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + 1 < points.length; k += 2) {
    const [x, y] = [points[k] as number, points[k + 1] as number];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return right > 0 && left < width && bottom > 0 && top < height;
}

function paintNodes(p: Painter, scene: Scene): void {
  const { layout, camera, network, width, height } = scene;
  const [w, h] = [layout.nodeWidth * camera.scale, layout.nodeHeight * camera.scale];
  const longest = Math.max(0, ...scene.run.layers.map((layer) => layer.cycles));
  const paint = (node: number, x: number, y: number, isCopy: boolean) => {
    const [left, top] = [x * camera.scale + camera.x - w / 2, y * camera.scale + camera.y - h / 2];
    if (left > width || left + w < 0 || top > height || top + h < 0) return;
    paintNode(p, scene, network.nodes[node] as GraphNode, { left, top, width: w, height: h }, isCopy, longest);
  };
  layout.nodes.forEach(({ x, y }, node) => paint(node, x, y, false));
  for (const { node, x, y } of layout.copies) paint(node, x, y, true);
}

interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

function paintNode(p: Painter, scene: Scene, node: GraphNode, at: Frame, isCopy: boolean, longest: number): void {
  const { run, focus, colour } = scene;
  const { theme } = p;
  const layer = node.kind === "operator" ? run.layers[node.index] : undefined;
  const chosen = layer ? focus.layer === node.index : focus.tensor === node.tensor;
  const look: Look = layer && !isCopy ? lookOf(run, theme, colour, layer, longest) : { fill: theme.ground, text: theme.text, edge: theme.line, figure: "" };
  const { left, top, width, height } = at;
  p.rect(left, top, width, height, look.fill);
  if (layer && !isCopy) paintSecondSign(p, scene, layer, at, longest);
  p.frame(left + 0.5, top + 0.5, width - 1, height - 1, look.edge);
  if (isCopy || !layer) p.line([left, top, left + width, top, left + width, top + height, left, top + height, left, top], theme.faint, 1, [3, 2]);
  if (chosen) p.frame(left - 1.5, top - 1.5, width + 3, height + 3, theme.accent, 3);
  paintWords(p, scene, node, layer, at, look, isCopy);
}

// Beside the colour: a bar as long as the share of the longest layer, or the mark of what bounds.
function paintSecondSign(p: Painter, { run, colour }: Scene, layer: Layer, { left, top, width, height }: Frame, longest: number): void {
  const bar = Math.max(2, height * 0.09);
  if (colour === "bound") {
    const resource = run.instructions.resources.indexOf(layer.boundBy ?? "");
    p.rect(left, top, Math.max(2, Math.min(4, width * 0.03)), height, css(resourceColour(resource)));
    const radius = height >= TWO_LINES ? 4.5 : Math.min(4, height * 0.24);
    if (height >= ONE_LINE && width > 30) paintMark(p, resource, left + width - radius - 5, height >= TWO_LINES ? top + 10 : top + height / 2, radius, css(resourceColour(resource)), p.theme.text);
    return;
  }
  const share = colour === "time" ? (longest > 0 ? layer.cycles / longest : 0) : Math.min(1, layer.efficiency ?? 0);
  p.rect(left, top + height - bar, width * share, bar, barColour(colour));
}

function paintWords(p: Painter, scene: Scene, node: GraphNode, layer: Layer | undefined, { left, top, width, height }: Frame, look: Look, isCopy: boolean): void {
  const { run, colour } = scene;
  const mark = colour === "bound" && layer && !isCopy ? 14 : 0;
  const figures = isCopy ? ["continued"] : layer ? figuresOf(run, layer, colour, look.figure) : shapesOf(run, node);
  const name = (room: number, style: TextStyle) => (isCopy ? firstThatFits([`… ${node.name}`], room, style) : "") || fitName(node.name, room, style);
  if (height >= TWO_LINES) {
    const first = { size: Math.max(9.5, Math.min(15, height * 0.3)), bold: !isCopy, colour: look.text };
    const second = { size: Math.max(9, Math.min(13, height * 0.265)), colour: look.text };
    p.text(left + 7, top + height * 0.29, name(width - 12 - mark, first), first);
    p.text(left + 7, top + height * 0.65, firstThatFits(figures, width - 12, second), second);
  } else if (height >= ONE_LINE) {
    const style = sizeThatFits(node.name, width - 7 - mark, { size: lineSize(height), colour: look.text });
    const shown = name(width - 7 - mark, style);
    p.text(left + 4, top + height / 2, shown, style);
    // Of the figures, what has room behind the name.
    const small = { ...style, size: style.size * 0.88 };
    const room = width - mark - 10 - textWidth(shown, style);
    if (layer && !isCopy) p.text(left + width - 3 - mark, top + height / 2, firstThatFits(figures.slice(-1), room, small), { ...small, align: "right" });
  }
}

const SMALLEST = 8;

/** Rather a little smaller than cut. */
function sizeThatFits<S extends TextStyle & { size: number }>(text: string, width: number, style: S): S {
  const size = Math.max(Math.min(SMALLEST, style.size), Math.min(style.size, (style.size * width) / Math.max(1, textWidth(text, style))));
  return size < style.size && textWidth(text, { ...style, size }) <= width ? { ...style, size } : style;
}

/** The whole graph in a corner, with a frame about what is in sight. */
export interface Minimap extends Frame {
  scale: number;
}

export function minimapOf({ layout, camera, width, height }: Scene): Minimap | null {
  const isLarge = layout.width * camera.scale > width * 1.25 || layout.height * camera.scale > height * 1.25;
  if (!isLarge || width < 420 || height < 150) return null;
  const scale = Math.min(200 / layout.width, (width * 0.16) / layout.width, (height * 0.36) / layout.height);
  const [w, h] = [layout.width * scale, layout.height * scale];
  return { scale, left: width - w - 12, top: height - h - 12, width: w, height: h };
}

export function paintMinimap(p: Painter, scene: Scene, map: Minimap): void {
  const { layout, camera, network, run, colour } = scene;
  const { theme } = p;
  const longest = Math.max(0, ...run.layers.map((layer) => layer.cycles));
  p.rect(map.left - 4, map.top - 4, map.width + 8, map.height + 8, theme.raised);
  p.frame(map.left - 4, map.top - 4, map.width + 8, map.height + 8, theme.line);
  const [w, h] = [Math.max(1.5, layout.nodeWidth * map.scale), Math.max(1.5, layout.nodeHeight * map.scale)];
  layout.nodes.forEach(({ x, y }, k) => {
    const node = network.nodes[k] as GraphNode;
    const layer = node.kind === "operator" ? run.layers[node.index] : undefined;
    p.rect(map.left + x * map.scale - w / 2, map.top + y * map.scale - h / 2, w, h, layer ? lookOf(run, theme, colour, layer, longest).fill : theme.faint);
  });
  const clamp = (v: number, most: number) => Math.max(0, Math.min(most, v));
  const x0 = clamp((-camera.x / camera.scale) * map.scale, map.width);
  const y0 = clamp((-camera.y / camera.scale) * map.scale, map.height);
  const x1 = clamp(((scene.width - camera.x) / camera.scale) * map.scale, map.width);
  const y1 = clamp(((scene.height - camera.y) / camera.scale) * map.scale, map.height);
  p.frame(map.left + x0, map.top + y0, x1 - x0, y1 - y0, theme.accent, 1.5);
}
