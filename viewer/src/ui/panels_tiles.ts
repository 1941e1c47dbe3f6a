// Panels of layers that are computed tile by tile: the group, one of its tiles, one layer's step in a tile.
import { css, resourceColour } from "../paint/theme";
import { groupName, type LayerStep, rowsText, stepsOf, stretchOfSteps } from "../run/groups";
import type { Layer } from "../run/run";
import { element } from "./dom";
import { bytes, count, percent } from "./numbers";
import { barRow, barTable, List, type Words } from "./panel_parts";

const LISTED = 16; // tiles, or steps of a layer
const NAMED = 6; // layers of a group

export function groupPanel(words: Words, group: number, tile: number, layer: number): Node[] | null {
  const steps = stepsOf(words.app.run, group, tile, layer);
  if (!steps.length) return null;
  if (tile < 0) return wholeGroup(words, group);
  return layer < 0 ? oneTile(words, group, tile, steps) : oneStep(words, group, steps[0] as LayerStep);
}

const sum = (steps: readonly LayerStep[]) => steps.reduce((all, { cycles }) => all + cycles, 0);

function wholeGroup(words: Words, index: number): Node[] {
  const { app } = words;
  const { run } = app;
  const group = run.groups[index];
  if (!group) return [];
  const list = new List();
  list.add("computed", `in ${group.tiles} tiles, by turns`);
  list.add("takes", `${app.duration(group.cycles)}, ${percent(group.cycles / run.makespan)} of the run`);
  list.add("runs", `from ${count(group.start)} to ${count(group.end)}`);
  list.add("layers", otherLayers(words, index, -1));
  if (group.keptBytes) list.add("between them", `${bytes(group.keptBytes)} that are nowhere whole: layer after layer they would need room in the memtiles, or go to DDR and come back`);
  if (group.weightsAgainBytes) list.add("price", `${bytes(group.weightsAgainBytes)} of weights read again, for tiles after the first`);
  const explained = run.explanation?.tiling?.groups[index];
  if (explained?.aloneCycles != null && explained.tiledCycles != null) list.add("closed form", `${app.duration(explained.tiledCycles)} in tiles, ${app.duration(explained.aloneCycles)} layer after layer`);
  const tiles = Array.from({ length: group.tiles }, (_, tile) => sum(stepsOf(run, index, tile)));
  const most = Math.max(1, ...tiles);
  const rows = tiles.slice(0, LISTED).map((cycles, tile) => barRow(words.link(`tile ${tile + 1}`, { kind: "group", group: index, tile, layer: -1 }), cycles / most, "var(--accent)", count(cycles)));
  return [element("h2", { textContent: groupName(run, index) }), list.root, ...why(words), barTable(["tile", "cycles"], rows), ...more(words, group.tiles), words.views(["timeline", "memory", "layers"])];
}

const why = (words: Words): Node[] => {
  const text = words.app.run.explanation?.tiling?.why;
  return text ? [words.faint(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`)] : [];
};

const more = (words: Words, all: number): Node[] => (all > LISTED ? [words.faint(`and ${all - LISTED} more; a click on the layers above the timeline selects any of them`)] : []);

function oneTile(words: Words, group: number, tile: number, steps: readonly LayerStep[]): Node[] {
  const { app } = words;
  const { run } = app;
  const list = new List();
  list.add("of", words.link(groupName(run, group), { kind: "group", group, tile: -1, layer: -1 }));
  list.add("takes", `${app.duration(sum(steps))}, ${percent(sum(steps) / run.makespan)} of the run`);
  addRuns(list, steps);
  addNeighbours(list, words, group, tile, -1);
  const most = Math.max(1, ...steps.map(({ cycles }) => cycles));
  const rows = steps.map((step) => barRow(words.link(run.layers[step.layer]?.name ?? "", { kind: "group", group, tile, layer: step.layer }), step.cycles / most, colourOf(run.layers[step.layer], run.instructions.resources), count(step.cycles), rowsText(step)));
  return [element("h2", { textContent: `Tile ${tile + 1} of ${run.groups[group]?.tiles ?? 0}` }), list.root, barTable(["layer", "cycles"], rows), words.views(["timeline", "memory"])];
}

const colourOf = (layer: Layer | undefined, resources: readonly string[]): string => css(resourceColour(resources.indexOf(layer?.boundBy ?? "")));

function addRuns(list: List, steps: readonly LayerStep[]): void {
  const stretch = stretchOfSteps(steps);
  if (stretch) list.add("runs", `from ${count(stretch.from)} to ${count(stretch.to)}`);
}

function addNeighbours(list: List, words: Words, group: number, tile: number, layer: number): void {
  const { run } = words.app;
  for (const [name, other] of [["before", tile - 1], ["behind", tile + 1]] as const)
    if (other >= 0 && stepsOf(run, group, other, layer).length) list.add(name, words.link(`tile ${other + 1}`, { kind: "group", group, tile: other, layer }));
}

function oneStep(words: Words, group: number, step: LayerStep): Node[] {
  const { app } = words;
  const { run } = app;
  const layer = run.layers[step.layer] as Layer;
  const list = new List();
  list.add("layer", words.layer(step.layer));
  list.add("tile", words.link(`${step.tile + 1} of ${run.groups[group]?.tiles ?? 0} of ${groupName(run, group)}`, { kind: "group", group, tile: step.tile, layer: -1 }));
  if (rowsText(step)) list.add("computes", `${rowsText(step)} of ${run.graph.tensors[run.graph.operators[step.layer]?.output ?? -1]?.height ?? "?"}`);
  list.add("takes", `${app.duration(step.cycles)}, ${percent(layer.cycles ? step.cycles / layer.cycles : null)} of the layer's`);
  addRuns(list, [step]);
  addNeighbours(list, words, group, step.tile, step.layer);
  return [element("h2", { textContent: `${layer.name}, tile ${step.tile + 1}` }), list.root, words.views(["timeline", "memory"])];
}

/** The group's layers as links, but for one. */
function otherLayers(words: Words, index: number, but: number): Node {
  const { run } = words.app;
  const group = run.groups[index];
  if (!group) return element("span");
  const others = run.layers.slice(group.firstLayer, group.lastLayer + 1).filter((layer) => layer.index !== but);
  const links = others.slice(0, NAMED).flatMap((layer, k) => [k ? ", " : "", words.layer(layer.index)]);
  return element("span", {}, ...links, others.length > NAMED ? ` and ${others.length - NAMED} more` : "");
}

/** What a layer's panel says where it is computed in tiles; nothing else. */
export function stepsOfLayer(words: Words, layer: Layer, list: List): Node[] {
  const { run } = words.app;
  const index = run.groups.findIndex(({ firstLayer, lastLayer }) => layer.index >= firstLayer && layer.index <= lastLayer);
  if (index < 0) return [];
  const steps = stepsOf(run, index, -1, layer.index);
  const tiles = run.groups[index]?.tiles ?? 0;
  list.add("computed", element("span", {}, words.link(`in ${tiles} tiles`, { kind: "group", group: index, tile: -1, layer: -1 }), " by turns with ", otherLayers(words, index, layer.index)));
  const most = Math.max(1, ...steps.map(({ cycles }) => cycles));
  const rows = steps.slice(0, LISTED).map((step) => barRow(words.link(`tile ${step.tile + 1}`, { kind: "group", group: index, tile: step.tile, layer: layer.index }), step.cycles / most, colourOf(layer, run.instructions.resources), count(step.cycles), `${rowsText(step)}; from ${count(step.start)} to ${count(step.end)}`));
  return [element("h3", { textContent: "Its steps" }), barTable(["tile", "cycles"], rows), ...more(words, steps.length)];
}
