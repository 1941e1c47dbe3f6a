// Panels of what the network is made of: layers, tensors, and the blocks of memory where they lie.
import { css, resourceColour } from "../paint/theme";
import type { BlockJson } from "../run/format";
import { batchOf, framesIn, inferencesOf } from "../run/frames";
import { layersOnPath, oneMoreRow, prefetchOf, routesOf } from "../run/layer_facts";
import { waitsOf } from "../run/layer_waits";
import { type Box, boxName, memoryAt, type Memory, type Place, placeName, roleText, spilledTensors, takenIn, usersOf } from "../run/memory_map";
import { layerName } from "../run/names";
import type { Layer, Run } from "../run/run";
import { spillsOf } from "../run/spills";
import { element } from "./dom";
import { bytes, count, kibibytes, macs, percent, signed } from "./numbers";
import { addGain, barRow, barTable, List, waitRows, type Words } from "./panel_parts";
import { mappingOf } from "./panel_mapping";
import { stepsOfLayer } from "./panels_tiles";
import { type Memory as MemoryId, producerOf } from "./state";

const NAMED = 6; // layers of a block
const AGAIN = 1.5; // times: more often is worth its reason

export function layerPanel(words: Words, index: number): Node[] | null {
  const { app } = words;
  const { run } = app;
  const layer = run.layers[index];
  if (!layer) return null;
  const list = new List();
  list.add("operator", layer.op);
  const frames = run.frames.length;
  list.add("takes", `${app.duration(layer.cycles)}, ${percent(layer.cycles / run.makespan)} of the run`);
  const batch = batchOf(run);
  if (batch > 1) list.add("counted", `in all ${inferencesOf(run)} inferences together, as all that follows; ${app.duration(layer.cycles / inferencesOf(run))} for one on average`);
  else if (frames) list.add("counted", `in all ${frames} frames together, as all that follows; ${app.duration(layer.cycles / frames)} in one on average`);
  list.add("runs", `from ${count(layer.start)} to ${count(layer.end)}`);
  list.add("bound by", `${layer.boundBy ?? "nothing"}${layer.boundEngine ? `: ${layer.boundEngine}` : ""}`);
  list.add("efficiency", `${percent(layer.efficiency)}${(layer.efficiency ?? 0) > 1 ? `: ${wayPastBound(run, layer)}` : isHeldByDdr(run, layer) ? ": the bound leaves DDR out, whose bytes may come before" : ""}`);
  if (layer.closedFormError != null) list.add("estimate", `${signed(percent(layer.closedFormError), layer.closedFormError)} off what ran`);
  list.add("split", layer.split);
  const { atStart, atEnd, tables } = run.graph.operators[index] ?? {};
  if (atStart) list.add("does first", atStart);
  if (tables) list.add("looks up", tables.join(", "));
  if (atEnd) list.add("at its end", atEnd);
  list.add("cores", `${layer.cores} of ${run.device.rows * run.device.columns}`);
  if (layer.macs > 0) list.add("work", [`${macs(layer.macs)} needed`, ...paddingOf(layer, run.graph.operators[index]?.folded)].join(", "));
  if (layer.mappingBoundCycles != null) list.add("best mapping", `${app.duration(layer.mappingBoundCycles)} of its busiest engine, alone`);
  if (layer.density != null && layer.density < 1) list.add("weights", `${percent(layer.density)} of the blocks kept`);
  const steps = stepsOfLayer(words, layer, list);
  return [
    element("h2", { textContent: layer.name }), list.root, ...busyAndWaits(layer, words), element("h3", { textContent: "Bytes: moved against needed" }), bytesOf(words, layer),
    element("h3", { textContent: "What it would gain" }), gainsOfLayer(words, layer), ...mappingOf(words, layer), ...steps, words.views(["timeline", "path", "memory", "graph", "layers", "asm"]),
  ];
}

function paddingOf({ macs: needed, macsExecuted, macsOnPaddedChannels: filling = 0 }: Layer, folded?: number): string[] {
  const more = (part: number, why: string) => (part > 0 ? [`${percent(part / needed)} more ${why}`] : []);
  return [...more(filling, folded ? "to fill blocks of 8 channels and taps of folded columns" : "to fill blocks of 8 channels"), ...more(macsExecuted - needed - filling, "computed twice")];
}

/** The bound is a yardstick, not a wall: it takes each layer alone, and all of its inputs as read. */
function wayPastBound(run: Run, layer: Layer): string {
  const skips = Number(layer.inputsToCoresBytes ?? 0) < Math.max(1, run.frames.length) * inputBytesOf(run, layer);
  return skips ? "the bound counts inputs that the layer skips" : "it overlaps its neighbours or uses the wires in another way than the bound";
}

/** The bound is that of computing, wires and sending. DDR alone may need longer, unless what it brings comes while other layers run. */
function isHeldByDdr(run: Run, layer: Layer): boolean {
  const { "DDR read": read = 0, "DDR write": write = 0 } = layer.busyCycles ?? {};
  return Math.max(read, write) > layer.boundSeconds * run.device.clockHz;
}

function sizeOf(run: Run, tensor: number): number {
  const { height, width, channels } = run.graph.tensors[tensor] ?? { height: 0, width: 0, channels: 0 };
  return height * width * channels;
}

const inputBytesOf = (run: Run, layer: Layer) => (run.graph.operators[layer.index]?.inputs ?? []).reduce((sum, tensor) => sum + sizeOf(run, tensor), 0);

function busyAndWaits(layer: Layer, { app }: Words): Node[] {
  const { run } = app;
  const busy = Object.entries((layer["busyCycles"] ?? {}) as Record<string, number>).filter(([, cycles]) => cycles > 0).sort((a, b) => b[1] - a[1]);
  // From its start in the first frame to its end in the last one it mostly has nothing to do.
  const span = run.frames.length ? layer.cycles : layer.end - layer.start;
  const most = Math.max(1, span, ...busy.map(([, cycles]) => cycles));
  const rows = busy.map(([name, cycles]) => barRow(name, cycles / most, css(resourceColour(run.instructions.resources.indexOf(name))), count(cycles), `${percent(cycles / most)} of ${run.frames.length ? "its cycles" : "the time from its start to its end"}`));
  const waits = waitsOf(run, layer).map((cycles) => cycles / Math.max(1, layer.cores));
  const parts: Node[] = [];
  if (rows.length) parts.push(barTable(["busiest engine of", "cycles"], rows));
  const waited = waitRows(waits, most, count);
  if (waited.length) parts.push(barTable(["a core, on average", "cycles"], waited));
  return parts;
}

/** Why bytes go more than once: the cuts of the split that send them anew. */
function reasonFor(run: Run, layer: Layer, what: "weights" | "inputs"): string {
  const explained = run.explanation?.layers[layer.index]?.bytes.find((bytes) => bytes.what === `${what} over wires`);
  if (explained?.why.length) return `: ${explained.why.join("; ")}`;
  const cuts = layer.split.split(", ").filter((part) => (what === "weights" ? /^(W\/(?!1\b)|H\/(?!1\b)|H cut|W cut)|chunk|band/ : /^\d+ pass|C\/(?!1\b)/).test(part) && part !== "1 pass");
  return cuts.length ? `: the split has ${cuts.join(", ")}` : "";
}

function bytesOf(words: Words, layer: Layer): HTMLElement {
  const { run } = words.app;
  const list = new List();
  const operator = run.graph.operators[layer.index];
  const frames = Math.max(1, run.frames.length);
  const moved = (name: string, amount: number, needed: number, reason: string) => {
    if (!amount && !needed) return;
    const times = needed ? amount / needed : 0;
    list.add(name, `${bytes(amount)} for ${bytes(needed)} needed${times >= AGAIN ? `, ${times.toFixed(1)} times${reason}` : ""}`);
  };
  const inputs = operator?.inputs ?? [];
  moved("weights", Number(layer["weightsToCoresBytes"] ?? 0), layer.weightBytes, reasonFor(run, layer, "weights"));
  moved("inputs", Number(layer["inputsToCoresBytes"] ?? 0), frames * inputBytesOf(run, layer), reasonFor(run, layer, "inputs"));
  moved("output", layer.coreToMemtileBytes, operator ? frames * sizeOf(run, operator.output) : 0, "");
  if (layer.ddrReadBytes || layer.ddrWriteBytes) list.add("DDR", `${bytes(layer.ddrReadBytes)} read, ${bytes(layer.ddrWriteBytes)} written`);
  const { read, early } = prefetchOf(run)[layer.index] ?? { read: 0, early: 0 };
  if (read) list.add("prefetched", `${bytes(early)} (${percent(early / read)}) came before its first core started${frames > 1 ? " on their frame" : ""}, ${bytes(read - early)} later`);
  for (const { what, wires, memtiles, bytes: amount } of routesOf(run, layer)) {
    list.add(`${what} by`, `${wires.join(", ")}${memtiles.length ? ` from memtile ${memtiles.join(", ")}` : ""}: ${bytes(frames * amount)}`);
  }
  const spilled = spilledTensors(run);
  for (const tensor of inputs) list.add("input", element("span", {}, words.tensor(tensor), spilled.has(tensor) ? " ⇅ from DDR" : ""));
  if (operator) list.add("output", element("span", {}, words.tensor(operator.output), spilled.has(operator.output) ? " ⇅ to DDR" : ""));
  return list.root;
}

function gainsOfLayer({ app }: Words, layer: Layer): HTMLElement {
  const { run } = app;
  const list = new List();
  addGain(list, app, "layer", { group: layer.index, cycles: layersOnPath(run)[layer.index] ?? 0 }, "are its instructions");
  const atBound = layer.boundSeconds * run.device.clockHz;
  if (atBound > 0 && atBound < layer.cycles) list.add("at its bound", `${app.duration(layer.cycles - atBound)} less${isHeldByDdr(run, layer) ? ", were DDR's bytes there before" : ""}`);
  const row = oneMoreRow(run, layer);
  list.add("one more row", row > 0 ? `of cores: at most ${app.duration(row)} less` : "of cores: nothing, computing does not bound it");
  return list.root;
}

export function tensorPanel(words: Words, index: number): Node[] | null {
  const { app } = words;
  const { run } = app;
  const tensor = run.graph.tensors[index];
  if (!tensor) return null;
  const list = new List();
  const batch = batchOf(run);
  const images = batch > 1 ? `${batch} images, one below the other, of ` : "";
  list.add("shape", `${images}${tensor.height / batch} x ${tensor.width} x ${tensor.channels} (height, width, channels)`);
  list.add("size", kibibytes(tensor.height * tensor.width * tensor.channels));
  const producer = producerOf(run, index);
  const folded = run.graph.operators.find((op) => op.inputs[0] === index && op.folded)?.folded;
  if (folded) list.add("columns", `${folded} of the network's image in each, as channels`);
  list.add("made by", producer >= 0 ? words.layer(producer) : "the network's input");
  const consumers = run.graph.operators.flatMap((op, i) => (op.inputs.includes(index) ? [i] : []));
  if (run.graph.operators[producer]?.pools === index) list.add("read by", "its own layer at its end, in the cores: it never leaves them");
  else if (consumers.length) consumers.forEach((i) => list.add("read by", words.layer(i)));
  else list.add("read by", "nobody on the array: an output of the network");
  const spill = spillsOf(run).find((at) => at.tensor === index);
  if (spill) {
    const times = spill.bytes ? spill.read / (spill.bytes * framesIn(run)) : 0;
    list.add("spilled", `⇅ ${bytes(spill.written)} to DDR, ${bytes(spill.read)} back${times >= AGAIN ? `: ${times.toFixed(1)} times its size` : ""}`);
    list.add("costs", `${app.duration(spill.onPath)}, ${percent(spill.onPath / run.makespan)} of the critical path; DDR channels work ${app.duration(spill.busy)} for it`);
  }
  run.memory.forEach((block, b) => {
    if (block.tensor === index) list.add("lies in", words.link(placeText(block), { kind: "block", block: b }));
  });
  return [element("h2", { textContent: tensor.name }), list.root, words.views(["memory", "graph", "timeline"])];
}

const hex = (address: number): string => `0x${address.toString(16)}`;
const span = (first: number, n: number) => (n > 1 ? `${first}–${first + n - 1}` : String(first));

/** "memtile 0–3 at 0x1a40" */
export function placeText({ kind, tiles, address }: BlockJson): string {
  const { row, column, rows, columns } = tiles;
  const where = kind === "ddr" ? "DDR" : kind === "memtile" ? `memtile ${span(column, columns)}` : `core ${span(row, rows)},${span(column, columns)}`;
  return `${where} at ${hex(address)}`;
}

const placeOf = ({ kind, tiles }: BlockJson): Place => (kind === "ddr" ? { kind } : { kind, row: tiles.row, column: tiles.column });

export function blockPanel(words: Words, index: number): Node[] | null {
  const { app } = words;
  const { run } = app;
  const block = run.memory[index];
  if (!block) return null;
  const memory = memoryAt(run, placeOf(block));
  const box = memory.boxes.find((at) => at.block === index);
  const list = new List();
  if (box) list.add("what", roleText(run, box));
  list.add("lies in", placeText(block));
  list.add("addresses", `${hex(block.address)} – ${hex(block.address + block.size)}`);
  list.add("size", `${kibibytes(block.size)} (${count(block.size)} B)`);
  list.add("lives", block.start < 0 ? "nothing touches it" : `${app.duration(block.end - block.start)}, from ${count(block.start)} to ${count(block.end)}`);
  if (block.tensor >= 0) list.add("tensor", words.tensor(block.tensor));
  const { writers, readers } = usersOf(run, block);
  for (const [name, layers] of [["written by", writers], ["read by", readers]] as const) {
    layers.slice(0, NAMED).forEach((layer) => list.add(name, words.layer(layer)));
    if (layers.length > NAMED) list.add(name, `${layers.length - NAMED} more`);
  }
  if (!writers.length && block.tensor >= 0) list.add("written by", "nobody: an input or a constant of the network");
  list.add("reserved", `from ${layerName(run, block.firstLayer) || "the start"} to ${layerName(run, block.lastLayer) || "the end"}`);
  if (box?.spilled) list.add("⇅ spilled", "the tensor goes to DDR and comes back");
  if (box) sharersOf(memory, box).forEach((other) => list.add("shares bytes with", words.link(boxName(run, other), { kind: "block", block: other.block })));
  return [element("h2", { textContent: box ? boxName(run, box) : block.name }), list.root, words.views(["memory", "timeline"])];
}

const sharersOf = ({ overlaps }: Memory, box: Box): Box[] => overlaps.flatMap(({ boxes: [a, b] }) => (a === box ? [b] : b === box ? [a] : [])).slice(0, NAMED);

/** What lies in a memory at a cycle. */
export function momentPanel(words: Words, { kind, row, column }: MemoryId, cycle: number): Node[] {
  const { app } = words;
  const { run } = app;
  const place: Place = kind === "ddr" ? { kind } : { kind, row, column };
  const memory = memoryAt(run, place);
  const boxes = takenIn(memory, cycle);
  const { peak } = memory.occupancy;
  const isPeak = cycle >= peak.from && cycle < peak.to;
  const list = new List();
  list.add(isPeak ? "peak" : "at", isPeak ? `from cycle ${count(peak.from)} to ${count(peak.to)}` : `cycle ${count(cycle)}`);
  list.add("taken", `${kibibytes(boxes.reduce((sum, box) => sum + box.size, 0))} in ${boxes.length} blocks${isPeak ? `; ${kibibytes(peak.bytes)} without what shares bytes` : ""}`);
  list.add("of", kibibytes(memory.capacity));
  const rows = boxes.map((box) => barRow(words.link(boxName(run, box), { kind: "block", block: box.block }), box.size / Math.max(1, boxes[0]?.size ?? 1), "var(--accent)", kibibytes(box.size), roleText(run, box)));
  return [element("h2", { textContent: placeName(place) }), list.root, barTable(["block", "bytes"], rows), words.views(["memory", "timeline"])];
}
