// What stands in a node: as much as has room, and never half a word of the figures.
import { fitText, textWidth, type TextStyle } from "../../paint/painter";
import type { Layer, Run } from "../../run/run";
import { percent } from "../../ui/numbers";
import { type Colour, shareOfTime } from "./colours";
import type { GraphNode, Network } from "./network";

const SHORT_OPS: Record<string, string> = {
  GlobalAveragePool: "GlobalAvgPool", GlobalMaxPool: "GlobalMaxPool", AveragePool: "AvgPool", BatchNormalization: "BatchNorm", ConvTranspose: "ConvTransp",
};
const POOLS: Record<string, string> = { GlobalAveragePool: "avg pool", GlobalMaxPool: "max pool", AveragePool: "avg pool", MaxPool: "max pool" };

/** The first that fits, or nothing. */
export const firstThatFits = (texts: readonly string[], width: number, style: TextStyle): string => texts.find((text) => textWidth(text, style) <= width) ?? "";

/** Cut in the middle: names of a network differ at their ends. */
export function fitName(name: string, width: number, style: TextStyle): string {
  if (textWidth(name, style) <= width) return name;
  let [low, high] = [0, name.length - 1]; // characters that stay
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(cutTo(name, middle), style) <= width) low = middle;
    else high = middle - 1;
  }
  return low >= 2 ? cutTo(name, low) : fitText(name, width, style);
}

function cutTo(name: string, kept: number): string {
  const tail = Math.ceil(kept / 2);
  return `${name.slice(0, kept - tail)}…${name.slice(name.length - tail)}`;
}

/** The second line of a layer's node, from all that one would like to the figure alone. */
export function figuresOf(run: Run, layer: Layer, colour: Colour, figure: string): string[] {
  const share = percent(shareOfTime(run, layer));
  const ops = [layer.op, SHORT_OPS[layer.op], POOLS[layer.op]].filter((op) => op !== undefined);
  if (colour === "time") return [...ops.map((op) => `${figure} · ${op}`), figure];
  return [...ops.map((op) => `${figure} · ${share} · ${op}`), `${figure} · ${share}`, figure];
}

/** Without a layer: an input or output of the network, with its shape. */
export function shapesOf(run: Run, node: GraphNode): string[] {
  const shape = run.graph.tensors[node.tensor];
  const text = shape ? `${shape.height}x${shape.width}x${shape.channels}` : "";
  return [`${node.kind} ${text}`, text || node.kind, node.kind];
}

const LEAST = 84;
const MOST = 168;
const PADDING = 14;
const MARK = 14;
export const NAME_SIZE = 11.4; // at scale 1
export const FIGURE_SIZE = 10;

/** As wide as the words of this network need: narrow nodes make a larger picture. */
export function nodeWidthOf(run: Run, { nodes }: Network): number {
  const names = nodes.map(({ name }) => textWidth(name, { size: NAME_SIZE, bold: true }) + MARK);
  const figures = run.layers.flatMap((layer) => [layer.boundBy ?? "", `10.0 % · ${SHORT_OPS[layer.op] ?? layer.op}`]).map((text) => textWidth(text, { size: FIGURE_SIZE }));
  const widest = [...names, ...figures].reduce((a, b) => Math.max(a, b), 0);
  return Math.round(Math.max(LEAST, Math.min(MOST, widest + PADDING)));
}

const NAMES_TO_READ = 0.8; // of all, that should fit whole
const LEAST_HEIGHT = 11.5; // pixels of a node from which it holds a line of text
const ALWAYS = 0.62; // scale that is good enough for any names

/** Size of the text of a node that is too low for two lines. */
export const lineSize = (height: number): number => Math.min(10, height * 0.62);

/** Whether most names can be read in nodes of `width` x `height` at a scale. */
export function isLegible({ nodes }: Network, width: number, height: number, scale: number): boolean {
  if (scale >= ALWAYS) return true;
  const size = lineSize(height * scale);
  const names = nodes.map(({ name }) => textWidth(name, { size })).sort((a, b) => a - b);
  const wanted = names[Math.max(0, Math.ceil(names.length * NAMES_TO_READ) - 1)] ?? 0;
  return height * scale >= LEAST_HEIGHT && width * scale - 7 >= wanted;
}
