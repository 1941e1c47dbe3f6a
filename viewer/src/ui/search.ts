// Finds layers, tensors, locks, memory by address, and instructions, from what one types.
import { memtilesOf } from "../run/memtiles";
import { layerName, lockName, lockText, tensorName, trackName } from "../run/names";
import type { Run } from "../run/run";
import { spillsOf } from "../run/spills";
import { hadNothing } from "../run/stalls";
import { bytes, count, kibibytes } from "./numbers";
import { placeText } from "./panels_network";
import type { Selection } from "./state";

export interface Hit {
  selection: Selection;
  kind: string;
  text: string;
  note: string;
}

const lowered = new WeakMap<Run, string[]>();

/**
 * At most `most` hits. Every word must occur. "lock 3" finds the locks with that number, "0x1a40" the memory that holds the
 * address, "core 2,1", "memtile 2" and "wire row0" tiles and engines, "spill" the tensors that go to DDR for want of room,
 * anything else names: layers first, then tensors, then lines of asm.
 */
export function search(run: Run, query: string, most: number): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const hits: Hit[] = [];
  const found = (text: string) => words.every((word) => text.includes(word));
  const room = () => hits.length < most;
  findAddress(run, words, hits, most);
  findEngines(run, words, hits, most);
  findSpills(run, words, hits, most);
  findLocks(run, words, hits, most);
  for (const layer of run.layers) {
    if (!room()) return hits;
    if (found(`layer ${layer.name} ${layer.op} ${layer.boundBy ?? ""}`.toLowerCase()))
      hits.push({ selection: { kind: "layer", layer: layer.index }, kind: "layer", text: layer.name, note: `${layer.op}, ${count(layer.cycles)} cycles` });
  }
  for (let t = 0; t < run.graph.tensors.length && room(); t++) {
    const tensor = run.graph.tensors[t];
    if (tensor && found(`tensor ${tensor.name}`.toLowerCase()))
      hits.push({ selection: { kind: "tensor", tensor: t }, kind: "tensor", text: tensor.name, note: `${tensor.height}x${tensor.width}x${tensor.channels}` });
  }
  let lines = lowered.get(run);
  if (!lines) lowered.set(run, (lines = run.asm.map((line) => line.toLowerCase())));
  let lastLine = -1;
  for (let leaf = 0; leaf < run.instructions.count && room(); leaf++) {
    const line = run.instructions.line[leaf] as number;
    if (line === lastLine) continue;
    lastLine = line;
    const layer = layerName(run, run.instructions.layer[leaf] as number);
    if (found(`${lines[line] ?? ""} ${layer.toLowerCase()}`)) hits.push({ selection: { kind: "instruction", leaf }, kind: "asm", text: run.textOf(leaf), note: layer });
  }
  return hits;
}

function findAddress(run: Run, words: string[], hits: Hit[], most: number) {
  const word = words.length === 1 ? /^(0x[0-9a-f]+)$/.exec(words[0] as string) : null;
  if (!word) return;
  const address = Number(word[1]);
  run.memory.forEach((block, index) => {
    if (hits.length < most && address >= block.address && address < block.address + block.size)
      hits.push({ selection: { kind: "block", block: index }, kind: block.kind, text: block.name, note: `${placeText(block)}, ${kibibytes(block.size)}` });
  });
}

const ENGINE_WORDS = ["core", "memtile", "wire", "ddr", "sequencer", "receive", "send"];

// Tiles and engines, where the first word is one of theirs: names of layers may hold any digit.
function findEngines(run: Run, words: string[], hits: Hit[], most: number) {
  if (!ENGINE_WORDS.some((word) => word.startsWith(words[0] as string) && (words[0] as string).length > 2)) return;
  const { rows, columns } = run.device;
  const names = (text: string) => words.every((word) => text.toLowerCase().split(/\s+/).some((own) => own === word || (!/\d/.test(word) && own.startsWith(word))));
  const tile = (kind: "core" | "memtile", row: number, column: number, text: string) => {
    if (hits.length < most && names(text)) hits.push({ selection: { kind: "tile", tile: { kind, row, column } }, kind: "tile", text, note: "" });
  };
  for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) tile("core", row, column, `core ${row},${column}`);
  for (let memtile = 0; memtile < memtilesOf(run.device); memtile++) tile("memtile", 0, memtile, `memtile ${memtile}`);
  for (const track of run.tracks) {
    const text = trackName(run, track);
    if (hits.length < most && track.engine !== "core" && names(text)) hits.push({ selection: { kind: "engine", track: track.index }, kind: "engine", text, note: `${count(track.size)} slices` });
  }
}

function findSpills(run: Run, words: string[], hits: Hit[], most: number) {
  const [word = "", ...others] = words;
  if (word.length < 4 || !"spilled".startsWith(word.replace(/s$/, ""))) return;
  for (const { tensor, bytes: size, onPath } of spillsOf(run)) {
    const text = tensorName(run, tensor);
    if (hits.length < most && others.every((other) => text.toLowerCase().includes(other)))
      hits.push({ selection: { kind: "tensor", tensor }, kind: "spill", text, note: `${bytes(size)}, ${count(onPath)} cycles of the critical path` });
  }
}

// Those that were waited for longest first: the many locks of a number differ in nothing else that tells them apart.
function findLocks(run: Run, words: string[], hits: Hit[], most: number) {
  if (words[0] !== "lock" && !/^l\d+$/.test(words[0] as string)) return;
  const place = words.findIndex((word) => /^l?\d+$/.test(word));
  const number = place < 0 ? -1 : Number(words[place]?.replace("l", ""));
  const others = words.filter((_, k) => k !== place && words[k] !== "lock");
  const waited = lockWaits(run);
  const name = words.join(" ");
  const found: { lock: number; isNamed: boolean }[] = [];
  for (let lock = 0; lock < run.locks.count; lock++) {
    if (number >= 0 && run.locks.index[lock] !== number) continue;
    const text = lockText(run, lock);
    if (others.every((word) => text.toLowerCase().includes(word))) found.push({ lock, isNamed: lockName(run, lock) === name });
  }
  found.sort((a, b) => Number(b.isNamed) - Number(a.isNamed) || (waited[b.lock] as number) - (waited[a.lock] as number));
  for (const { lock } of found.slice(0, most - hits.length))
    hits.push({ selection: { kind: "lock", lock }, kind: "lock", text: lockName(run, lock), note: `waited for ${count(waited[lock] as number)} cycles` });
}

const waitsOfLocks = new WeakMap<Run, Float64Array>();

/** Cycles that its engines waited for each lock, all together; not while they had nothing to send. */
export function lockWaits(run: Run): Float64Array {
  let waits = waitsOfLocks.get(run);
  if (waits) return waits;
  waits = new Float64Array(run.locks.count);
  for (const track of run.tracks)
    for (let i = 0; i < track.size; i++) {
      const lock = track.lock(i);
      if (lock >= 0 && !hadNothing(run, track, i)) waits[lock] = (waits[lock] ?? 0) + track.start(i) - track.ready(i);
    }
  waitsOfLocks.set(run, waits);
  return waits;
}
