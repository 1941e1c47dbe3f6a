// Depth-wise tiling: layers that are computed by turns, some rows each, so that what lies between them is never there whole.
//
//   group 0 of layers 0 to 2 in 3 tiles      bands  0 1 2 0 1 2 0 1 2 3        a band of its own for each step
import type { FrameJson, GroupJson, ReportJson, StepJson } from "./format";
import type { Layer, Run, Stretch } from "./run";

export interface Group extends GroupJson {
  index: number;
}

/** The stretch of the run that completes a layer, or one step of it; all of them fill the run, one after another. */
export interface Band extends Stretch {
  layer: number;
  group: number; // or -1
  tile: number; // of the group, or -1
  frame: number;
}

const bandsOfLeaves = new WeakMap<Run, Int32Array>();

/** By instruction its place in Run.bands, in the first frame: of a layer in tiles, the step under whose heads it stands in the program; -1 where it has none. */
export function bandOfLeaf(run: Run): Int32Array {
  let bands = bandsOfLeaves.get(run);
  if (!bands) bandsOfLeaves.set(run, (bands = findBands(run)));
  return bands;
}

function findBands(run: Run): Int32Array {
  const own: number[][] = run.layers.map(() => []); // by layer, in the order of the schedule
  run.bands.forEach(({ layer, frame }, band) => frame || own[layer]?.push(band));
  const { layer: layerOf, line } = run.instructions;
  const stepOf = stepOfLines(run);
  const steps: Set<number>[] = run.layers.map(() => new Set()); // of the program, by layer
  layerOf.forEach((layer, leaf) => steps[layer]?.add(stepOf[line[leaf] ?? -1] ?? -1));
  const inOrder = steps.map((all) => [...all].sort((a, b) => a - b));
  return Int32Array.from(layerOf, (layer, leaf) => {
    const bands = own[layer] ?? [];
    const step = inOrder[layer]?.indexOf(stepOf[line[leaf] ?? -1] ?? -1) ?? 0;
    return bands[bands.length > 1 ? step : 0] ?? -1;
  });
}

/** By line of the program the step that the head above it names, or -1. */
function stepOfLines(run: Run): Int32Array {
  let step = -1;
  return Int32Array.from(run.groups.length ? run.asm : [], (text) => {
    const head = text.startsWith("on ") ? /, step (\d+):$/.exec(text.trimEnd()) : null;
    if (head) step = Number(head[1]);
    return step;
  });
}

/** One step with its layer. */
export interface LayerStep extends StepJson {
  layer: number;
}

export const groupsOf = (report: ReportJson): Group[] => (report.groups ?? []).map((group, index) => ({ ...group, index }));

/** The group of a layer, or -1. */
export const groupOfLayer = (groups: readonly Group[], layer: number): number => groups.findIndex(({ firstLayer, lastLayer }) => layer >= firstLayer && layer <= lastLayer);

/** In the order of the schedule: tile by tile. */
function stepsOfGroup(layers: readonly Layer[], { firstLayer, lastLayer }: Group): LayerStep[] {
  const steps = layers.slice(firstLayer, lastLayer + 1).flatMap(({ index, steps: own }) => (own ?? []).map((step): LayerStep => ({ ...step, layer: index })));
  return steps.sort((a, b) => a.tile - b.tile || a.layer - b.layer);
}

export function bandsOf(layers: readonly Layer[], groups: readonly Group[], frames: readonly FrameJson[] = []): Band[] {
  const bands: Band[] = [];
  let done = 0;
  const add = (layer: number, cycles: number, group = -1, tile = -1) => {
    bands.push({ layer, group, tile, frame: 0, from: done, to: done + cycles });
    done += cycles;
  };
  for (let i = 0; i < layers.length; ) {
    const group = groups[groupOfLayer(groups, i)];
    if (!group) {
      add(i, (layers[i] as Layer).cycles);
      i++;
      continue;
    }
    for (const { layer, tile, cycles } of stepsOfGroup(layers, group)) add(layer, cycles, group.index, tile);
    i = group.lastLayer + 1;
  }
  if (frames.length) return bandsOfFrames(bands, frames);
  // What the sequencer does at the end is the last layer's.
  const whole = layers.reduce((sum, { cycles }) => sum + cycles, 0);
  const last = bands[bands.length - 1];
  if (last) last.to = Math.max(last.to, whole);
  return bands;
}

// The same steps again in each frame, each as long as it is there.
function bandsOfFrames(steps: readonly Band[], frames: readonly FrameJson[]): Band[] {
  let done = 0;
  return frames.flatMap(({ stepCycles }, frame) => steps.map((step, k) => ({ ...step, frame, from: done, to: (done += stepCycles[k] ?? 0) })));
}

/** Steps of a tile, or of all tiles (-1); of one layer, or of all (-1). */
export function stepsOf(run: Run, group: number, tile: number, layer = -1): LayerStep[] {
  const of = run.groups[group];
  return of ? stepsOfGroup(run.layers, of).filter((step) => (tile < 0 || step.tile === tile) && (layer < 0 || step.layer === layer)) : [];
}

/** From the first of its own instructions to the end of its last one; null where there is no such step. */
export function stretchOfSteps(steps: readonly LayerStep[]): Stretch | null {
  if (!steps.length) return null;
  return { from: Math.min(...steps.map(({ start }) => start)), to: Math.max(...steps.map(({ end }) => end)) };
}

/** "conv1_1 … pool2" */
export function groupName(run: Run, group: number): string {
  const of = run.groups[group];
  return of ? `${run.layers[of.firstLayer]?.name ?? ""} … ${run.layers[of.lastLayer]?.name ?? ""}` : "";
}

/** "rows 16–31"; nothing where nobody knows. */
export const rowsText = ({ firstRow, rows }: StepJson): string => (rows > 1 ? `rows ${firstRow}–${firstRow + rows - 1}` : rows === 1 ? `row ${firstRow}` : "");
