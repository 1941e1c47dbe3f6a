// What lies in each memory, when, and what it is. Names of blocks are the compiler's: "conv1 output stream", "conv1 input 0".
import type { BlockJson } from "./format";
import { memtilesOf } from "./memtiles";
import { layerName, tensorName } from "./names";
import { unrolledWide } from "./rolled";
import type { Run } from "./run";
import { type Occupancy, occupancyOf, type Span } from "./occupancy";

export type Place = { kind: "memtile" | "core"; row: number; column: number } | { kind: "ddr" };

/** stream: the rows of a spilled tensor on their way; ring: rows of an input that a core keeps; weights: records that pass through. */
export type Role = "tensor" | "weights" | "stream" | "ring" | "output" | "accumulators" | "other";

/** A block as one memory has it. */
export interface Box extends Span {
  block: number; // in Run.memory
  role: Role;
  layer: number; // that it serves, or -1 for a tensor
  /** Tensor that the bytes belong to, or -1. */
  tensor: number;
  /** Equal parts that are used in turn: ping and pong, rows of a ring. */
  parts: number;
  /** Its tensor goes to DDR and comes back. */
  spilled: boolean;
  /** How many boxes hold it whole, in address and time: it is drawn on top of them. */
  depth: number;
}

/** Where two boxes share bytes at the same time. */
export interface Overlap extends Span {
  boxes: [Box, Box];
}

export interface Memory {
  place: Place;
  boxes: Box[]; // by start, what holds others before them
  overlaps: Overlap[];
  occupancy: Occupancy;
  /** Bytes that it can hold; DDR: that anything has an address for. */
  capacity: number;
}

const memories = new WeakMap<Run, Map<string, Memory>>();

export const placeKey = (place: Place): string => (place.kind === "ddr" ? "ddr" : place.kind === "memtile" ? `memtile:${place.column}` : `core:${place.row},${place.column}`);

export function parsePlace(run: Run, key: string): Place | null {
  if (key === "ddr") return { kind: "ddr" };
  const parts = /^(?:memtile:(\d+)|core:(\d+),(\d+))$/.exec(key);
  if (!parts) return null;
  const place: Place = parts[1] !== undefined ? { kind: "memtile", row: 0, column: Number(parts[1]) } : { kind: "core", row: Number(parts[2]), column: Number(parts[3]) };
  return place.row < run.device.rows && place.column < run.device.columns ? place : null;
}

export const placeName = (place: Place): string => (place.kind === "ddr" ? "DDR" : place.kind === "memtile" ? `Memtile ${place.column}` : `Core ${place.row},${place.column}`);

export const memtiles = (run: Run): Place[] => Array.from({ length: memtilesOf(run.device) }, (_, column) => ({ kind: "memtile", row: 0, column }));

export function memoryAt(run: Run, place: Place): Memory {
  let known = memories.get(run);
  if (!known) memories.set(run, (known = new Map()));
  const key = placeKey(place);
  let memory = known.get(key);
  if (!memory) known.set(key, (memory = build(run, place)));
  return memory;
}

function build(run: Run, place: Place): Memory {
  const spilled = spilledTensors(run);
  const boxes = run.memory.flatMap((block, index) => {
    const life = lifeIn(block, place);
    return life ? [boxOf(run, block, index, life, spilled)] : [];
  });
  boxes.sort((a, b) => a.from - b.from || b.size - a.size || a.address - b.address);
  const overlaps = overlapsOf(boxes);
  for (const { boxes: [a, b] } of overlaps) {
    if (holds(a, b)) b.depth++;
    else if (holds(b, a)) a.depth++;
  }
  const top = Math.max(1, ...boxes.map((box) => box.address + box.size));
  const capacity = place.kind === "ddr" ? top : Math.max(top, place.kind === "core" ? run.device.coreBytes : run.device.memtileBytes);
  return { place, boxes, overlaps, occupancy: occupancyOf(boxes), capacity };
}

/** Cycles in which the block lives there, or null where it never does. */
export function lifeIn(block: BlockJson, place: Place): { from: number; to: number } | null {
  if (block.kind !== place.kind) return null;
  let tile = 0;
  if (place.kind !== "ddr") {
    const { tiles } = block;
    const [row, column] = [place.row - tiles.row, place.column - tiles.column];
    if (row < 0 || row >= tiles.rows || column < 0 || column >= tiles.columns) return null;
    tile = row * tiles.columns + column;
  }
  const from = (block.starts && unrolledWide(block.starts)[tile]) ?? block.start;
  const to = (block.ends && unrolledWide(block.ends)[tile]) ?? block.end;
  return from >= 0 && to >= from ? { from, to } : null;
}

const spilledIn = new WeakMap<Run, ReadonlySet<number>>();

/** Tensors that a layer writes to DDR for another to read back. */
export function spilledTensors(run: Run): ReadonlySet<number> {
  let spilled = spilledIn.get(run);
  if (!spilled) spilledIn.set(run, (spilled = new Set(run.memory.flatMap((b) => (b.kind === "ddr" && b.tensor >= 0 && b.writtenBy?.length && b.readBy?.length ? [b.tensor] : [])))));
  return spilled;
}

function boxOf(run: Run, block: BlockJson, index: number, life: { from: number; to: number }, spilled: ReadonlySet<number>): Box {
  const { role, tensor } = roleOf(run, block);
  const layer = role === "tensor" ? -1 : block.firstLayer;
  return { block: index, role, layer, tensor, address: block.address, size: block.size, ...life, parts: partsOf(run, block, role), spilled: spilled.has(tensor), depth: 0 };
}

export function roleOf(run: Run, block: BlockJson): { role: Role; tensor: number } {
  if (block.tensor >= 0) return { role: "tensor", tensor: block.tensor };
  const operator = run.graph.operators[block.firstLayer];
  if (/(^| )weights$/.test(block.name)) return { role: "weights", tensor: -1 };
  const input = / input (\d+)( stream)?$/.exec(block.name);
  if (input) return { role: input[2] ? "stream" : "ring", tensor: operator?.inputs[Number(input[1])] ?? -1 };
  const output = / output( stream)?$/.exec(block.name);
  if (output) return { role: output[1] ? "stream" : "output", tensor: operator?.output ?? -1 };
  if (/ rows before its end$/.test(block.name)) return { role: "ring", tensor: operator?.pools ?? -1 };
  return { role: / accumulators$/.test(block.name) ? "accumulators" : "other", tensor: -1 };
}

// What streams out of a memtile has its places once for each row of cores that sends there.
function partsOf(run: Run, block: BlockJson, role: Role): number {
  const slots = block.slots ?? 1;
  if (slots < 2 || role === "weights" || role === "tensor") return 1; // records differ in size; a tensor's rows are no places
  if (role === "stream" && / output stream$/.test(block.name)) {
    const sender = run.memory.find((b) => b.kind === "core" && b.firstLayer === block.firstLayer && / output$/.test(b.name));
    const parts = slots * (sender?.tiles.rows ?? 1);
    if (block.size % parts === 0) return parts;
  }
  return block.size % slots === 0 ? slots : 1;
}

const holds = (outer: Span, inner: Span): boolean =>
  outer.address <= inner.address && inner.address + inner.size <= outer.address + outer.size && outer.from <= inner.from && inner.to <= outer.to;

/** Of boxes in order of their start. */
export function overlapsOf(boxes: readonly Box[]): Overlap[] {
  const overlaps: Overlap[] = [];
  boxes.forEach((a, i) => {
    for (let k = i + 1; k < boxes.length; k++) {
      const b = boxes[k] as Box;
      if (b.from >= a.to) break;
      const address = Math.max(a.address, b.address);
      const size = Math.min(a.address + a.size, b.address + b.size) - address;
      const to = Math.min(a.to, b.to);
      if (size > 0 && to > b.from) overlaps.push({ boxes: [a, b], address, size, from: b.from, to });
    }
  });
  return overlaps;
}

/** "conv1 weights", "conv1_q to DDR": what tells it from others comes first, for boxes are narrow. */
export function boxName(run: Run, box: Box): string {
  const block = run.memory[box.block] as BlockJson;
  const layer = layerName(run, box.layer);
  const tensor = tensorName(run, box.tensor) || block.name;
  switch (box.role) {
    case "tensor":
      return tensor;
    case "weights":
      return layer ? `${layer} weights` : "weights of all layers";
    case "stream":
      return / output stream$/.test(block.name) ? `${tensor} to DDR` : `${tensor} from DDR`;
    case "ring":
      return `${tensor} in`;
    case "output":
      return `${tensor} out`;
    case "accumulators":
      return `${layer} sums`;
    case "other":
      return block.name;
  }
}

/** What kind of thing it is, in a few words. */
export function roleText(run: Run, box: Box): string {
  const slots = run.memory[box.block]?.slots ?? 1;
  const turn = slots === 2 ? ", ping-pong" : slots > 2 ? `, ${slots} places in turn` : "";
  switch (box.role) {
    case "tensor":
      return "tensor";
    case "weights":
      return `weight records${turn}`;
    case "stream":
      return `rows on their way${turn}`;
    case "ring":
      return `rows of an input${slots === 2 ? ", ping-pong" : slots > 2 ? `, ring of ${slots}` : ""}`;
    case "output":
      return `rows of the output${turn}`;
    case "accumulators":
      return "partial sums";
    case "other":
      return `buffer${turn}`;
  }
}

/** Layers that write and read the block; by the network where the file does not tell. */
export function usersOf(run: Run, block: BlockJson): { writers: number[]; readers: number[] } {
  if (block.writtenBy && block.readBy) return { writers: block.writtenBy, readers: block.readBy };
  if (block.tensor < 0) return { writers: [], readers: block.firstLayer < 0 ? [] : [block.firstLayer] };
  const layersWhere = (matches: (op: Run["graph"]["operators"][number]) => boolean) => run.graph.operators.flatMap((op, i) => (matches(op) ? [i] : []));
  return { writers: layersWhere((op) => op.output === block.tensor), readers: layersWhere((op) => op.inputs.includes(block.tensor)) };
}

/** What lies there at a cycle, largest first. */
export const takenIn = ({ boxes }: Memory, cycle: number): Box[] => boxes.filter((box) => box.from <= cycle && cycle < box.to).sort((a, b) => b.size - a.size);
