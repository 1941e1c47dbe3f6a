// Finds layers, tensors, locks, memory by address, and instructions, from what one types.
import { frameName } from "../run/frames";
import { namesBeside } from "../run/format";
import { groupName, rowsText, stepsOf } from "../run/groups";
import { memtilesOf } from "../run/memtiles";
import { layerName, lockName, lockText, tensorName, trackName } from "../run/names";
import { eachSlice } from "../run/repeat";
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
 * "group 2", "tile 3" and "conv1_1 tile 3" layers that are computed tile by tile, "frame 2" one inference of several, anything else names: layers first, then tensors, then lines of asm.
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
  findTiles(run, words, hits, most);
  findFrames(run, words, hits, most);
  for (const layer of run.layers) {
    if (!room()) return hits;
    if (found(`layer ${layer.name} ${namesBeside(run.graph.operators[layer.index]).join(" ")} ${layer.op} ${layer.boundBy ?? ""}`.toLowerCase()))
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

/** The number behind the word, from 1, or 0: "tile 3". */
const numberBehind = (words: string[], word: string): number => {
  const at = words.indexOf(word);
  return at < 0 ? 0 : Number(/^\d+$/.exec(words[at + 1] ?? "")?.[0] ?? 0);
};

// Groups, tiles of them, and of layers that are named their steps.
function findTiles(run: Run, words: string[], hits: Hit[], most: number) {
  const plain = words.map((word) => (word === "tiles" || word === "groups" ? word.slice(0, -1) : word));
  if (!plain.includes("tile") && !plain.includes("group")) return;
  const [group, tile] = [numberBehind(plain, "group"), numberBehind(plain, "tile")];
  const names = plain.filter((word, k) => word !== "tile" && word !== "group" && !(/^\d+$/.test(word) && (plain[k - 1] === "tile" || plain[k - 1] === "group")));
  const put = (hit: Hit) => void (hits.length < most && hits.push(hit));
  for (const of of run.groups) {
    if (group && of.index !== group - 1) continue;
    const name = groupName(run, of.index);
    if (!names.length && !tile) put({ selection: { kind: "group", group: of.index, tile: -1, layer: -1 }, kind: "group", text: name, note: `group ${of.index + 1}, ${of.tiles} tiles` });
    if (!plain.includes("tile")) continue;
    for (const step of names.length ? stepsOf(run, of.index, tile - 1) : []) {
      const layer = layerName(run, step.layer);
      if (names.every((word) => layer.toLowerCase().includes(word))) put({ selection: { kind: "group", group: of.index, tile: step.tile, layer: step.layer }, kind: "tile", text: `${layer}, tile ${step.tile + 1}`, note: rowsText(step) });
    }
    for (let t = tile ? tile - 1 : 0; !names.length && t < (tile || of.tiles) && t < of.tiles; t++)
      put({ selection: { kind: "group", group: of.index, tile: t, layer: -1 }, kind: "tile", text: `tile ${t + 1} of ${of.tiles}`, note: name });
  }
}

function findFrames(run: Run, words: string[], hits: Hit[], most: number) {
  if ((words[0] !== "frame" && words[0] !== "frames") || words.length > 2) return;
  const wanted = numberBehind(words, "frame");
  run.frames.forEach(({ start, end }, frame) => {
    if (hits.length < most && (!wanted || frame === wanted - 1)) hits.push({ selection: { kind: "frame", frame }, kind: "frame", text: frameName(run, frame), note: `${count(start)} to ${count(end)}` });
  });
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
  const waits = waitsOfLocks.get(run);
  if (waits) return waits;
  const own = new Float64Array(run.locks.count);
  for (const track of run.tracks)
    eachSlice(run, track, (i, times) => {
      const lock = track.lock(i);
      if (lock >= 0 && !hadNothing(run, track, i)) own[lock] = (own[lock] ?? 0) + times * (track.start(i) - track.ready(i));
    });
  waitsOfLocks.set(run, own);
  return own;
}
