// Which lock or block of the run a name in the text is.
//
//   on core-out rows 0-1 columns 0-1 channel 0, layer 0:
//     WRITEFM ... @0x1db0 acquire L2 -> mem(column) @0x0 ... release L(7 + row)    for core 1,0: L2 of core 1,0 and L8 of memtile 0
//
// A section speaks for rectangles of engines, a loop for all its turns: one name can be many locks.
import type { RangeJson } from "../../run/format";
import type { Run } from "../../run/run";
import type { Focus, Selection } from "../../ui/state";
import { evaluate, type Values } from "./expression";
import { type Link, linksOf } from "./links";
import { type Engine, type Section, structureOf } from "./structure";

interface Tile extends Engine {
  kind: "core" | "memtile" | "ddr";
}

const MOST_TURNS = 4096;
const LOCK = /^lock L(\d+) in (?:core\((\d+),\s*(\d+)\)|mem\((\d+)\))/;
const BUFFER = /\bin (core|mem) rows? (\d+)[-\d]* columns? (\d+)[-\d]* $/;

/** What a click on the link selects: of `near`, the engine that is looked at, or where it does not execute the line, of the first. */
export function targetOf(run: Run, line: number, link: Link, near: Engine | null): Selection | null {
  switch (link.kind) {
    case "tensor": {
      const tensor = evaluate(run.asm[line] ?? "", link.at, {})?.value ?? -1;
      return run.graph.tensors[tensor] ? { kind: "tensor", tensor } : null;
    }
    case "address": {
      const block = blockAt(run, line, link, near);
      return block >= 0 ? { kind: "block", block } : null;
    }
    case "lock": {
      const [lock] = locksAt(run, line, link, engineNear(run, line, near));
      return lock === undefined ? null : { kind: "lock", lock };
    }
  }
}

/** Every lock that the name stands for: of `only`, or of all engines that the section speaks for, in all turns of its loops. */
export function locksAt(run: Run, line: number, link: Link, only: Engine | null = null): number[] {
  if (link.kind !== "lock") return [];
  const text = run.asm[line] ?? "";
  const declared = LOCK.exec(text);
  if (declared) {
    const [, index, row, column, mem] = declared;
    return [lockIn(run, mem === undefined ? { kind: "core", row: Number(row), column: Number(column) } : { kind: "memtile", row: 0, column: Number(mem) }, Number(index))].filter((lock) => lock >= 0);
  }
  const section = sectionAt(run, line);
  if (!section) return [];
  const locks = new Set<number>();
  const depends = text.slice(link.from, link.to) + (link.owner.kind === "mem" ? text.slice(link.owner.at, text.indexOf(")", link.owner.at)) : "");
  for (const engine of only ? [only] : enginesOf(section))
    for (const turn of turnsOf(run, line, depends)) {
      const values = { ...turn, row: engine.row, column: engine.column };
      const tile = tileOf(text, link, section, values, engine);
      const index = evaluate(text, link.at, values);
      if (tile && index) locks.add(lockIn(run, tile, index.value));
    }
  locks.delete(-1);
  return [...locks];
}

/** Lines that acquire or release the lock, in order: only its two queues do. */
export function linesWithLock(run: Run, lock: number, linesOfTrack: (track: number) => Iterable<number>): number[] {
  const lines = new Set<number>();
  for (const by of [run.locks.producer[lock] ?? -1, run.locks.consumer[lock] ?? -1]) {
    const track = run.tracks[by];
    if (!track) continue;
    const engine = { row: track.row, column: track.column };
    for (const line of linesOfTrack(by)) if (linksOf(run, line).some((link) => couldBe(run, line, link, lock) && locksAt(run, line, link, engine).includes(lock))) lines.add(line);
  }
  return [...lines].sort((a, b) => a - b);
}

/** Whether the number in the text, where it is a plain one, is the lock's. */
export function couldBe(run: Run, line: number, { kind, at, to }: Link, lock: number): boolean {
  const text = run.asm[line] ?? "";
  return kind === "lock" && (text[at] === "(" || Number(text.slice(at, to)) === run.locks.index[lock]);
}

/** The block of memory that an address lies in while its layer runs; -1 where none does, or several could be meant. */
export function blockAt(run: Run, line: number, link: Link, near: Engine | null): number {
  const text = run.asm[line] ?? "";
  const section = sectionAt(run, line);
  const engine = engineNear(run, line, near) ?? (section ? firstEngineOf(section) : { row: 0, column: 0 });
  const values: Values = { ...firstTurn(run, line), row: engine.row, column: engine.column };
  const tile = section ? tileOf(text, link, section, values, engine) : (declaredTile(text, link) ?? tileOf(text, link, null, values, engine));
  const address = evaluate(text, link.at, values)?.value;
  if (!tile || address === undefined) return -1;
  const layers = section ? { first: section.layer, last: section.layer } : layersIn(text);
  const found: number[] = [];
  run.memory.forEach((block, b) => {
    const isThere = block.kind === tile.kind && holds(block.tiles, tile) && address >= block.address && address < block.address + block.size;
    if (isThere && block.firstLayer <= layers.last && (block.lastLayer < 0 || block.lastLayer >= layers.first)) found.push(b);
  });
  return found.length === 1 ? (found[0] as number) : onlyOfTensor(run, found, line);
}

/** `near`, if the line speaks for it. */
export function engineNear(run: Run, line: number, near: Engine | null): Engine | null {
  const section = sectionAt(run, line);
  const within = (at: number, { from, to }: { from: number; to: number }) => at >= from && at <= to;
  return near && section?.ranges.some(({ rows, columns }) => within(near.row, rows) && within(near.column, columns)) ? near : null;
}

/** Of what is selected, the engine that could have executed the line; null where it is of another kind. */
export function engineInSight(run: Run, line: number, { track, tile }: Pick<Focus, "track" | "tile">): Engine | null {
  const kind = /^[a-z]+/.exec(sectionAt(run, line)?.engine ?? "")?.[0];
  const selected = run.tracks[track];
  if (!kind) return null;
  if (selected) return selected.engine.startsWith(kind) ? { row: selected.row, column: selected.column } : null;
  return tile && (tile.kind === "core" ? "core" : "ddr") === kind ? { row: tile.row, column: tile.column } : null;
}

function sectionAt(run: Run, line: number): Section | null {
  const { sections, sectionOf } = structureOf(run);
  return sections[sectionOf[line] ?? -1] ?? null;
}

function tileOf(text: string, { owner }: Link, section: Section | null, values: Values, { row, column }: Engine): Tile | null {
  if (owner.kind === "ddr") return { kind: "ddr", row: 0, column: 0 };
  if (owner.kind === "mem") {
    const named = evaluate(text, owner.at, values);
    return named && { kind: "memtile", row: 0, column: named.value };
  }
  if (section?.engine.startsWith("core")) return { kind: "core", row, column };
  return section?.engine.startsWith("ddr") ? { kind: "memtile", row: 0, column } : null;
}

function* enginesOf({ ranges }: Section): Generator<Engine> {
  for (const { rows, columns } of ranges) for (let { from: row } = rows; row <= rows.to; row++) for (let { from: column } = columns; column <= columns.to; column++) yield { row, column };
}

const firstEngineOf = (section: Section): Engine => enginesOf(section).next().value as Engine;

const firstTurn = (run: Run, line: number): Record<string, number> => Object.fromEntries(structureOf(run).turnsAt(line).map((_, depth) => [`i${depth}`, 0]));

/** All values of the counters that stand in `text`, a turn after the other; the other counters are 0. */
function* turnsOf(run: Run, line: number, text: string): Generator<Values> {
  const values = firstTurn(run, line);
  const counted = structureOf(run).turnsAt(line).map((times, depth) => ({ name: `i${depth}`, times })).filter(({ name }) => text.includes(name));
  const all = Math.min(MOST_TURNS, counted.reduce((product, { times }) => product * times, 1));
  for (let turn = 0; turn < all; turn++) {
    let rest = turn;
    for (const { name, times } of counted) {
      values[name] = rest % times;
      rest = Math.floor(rest / times);
    }
    yield values;
  }
}

const lockMaps = new WeakMap<Run, Map<string, number>>();
const keyOf = ({ kind, row, column }: Tile, index: number) => `${kind} ${kind === "core" ? row : 0} ${column} ${index}`;

function lockIn(run: Run, tile: Tile, index: number): number {
  let map = lockMaps.get(run);
  if (!map) {
    const { locks } = run;
    lockMaps.set(run, (map = new Map()));
    for (let lock = 0; lock < locks.count; lock++) {
      const kind = locks.tileKinds[locks.tileKind[lock] as number] === "core" ? "core" : "memtile";
      map.set(keyOf({ kind, row: locks.row[lock] as number, column: locks.column[lock] as number }, locks.index[lock] as number), lock);
    }
  }
  return map.get(keyOf(tile, index)) ?? -1;
}

const holds = (tiles: RangeJson, { kind, row, column }: Tile): boolean =>
  kind === "ddr" || (column >= tiles.column && column < tiles.column + tiles.columns && (kind === "memtile" || (row >= tiles.row && row < tiles.row + tiles.rows)));

/** Memory is given to others once a tensor is dead: the tensor that the line speaks of tells which block was meant. */
function onlyOfTensor(run: Run, blocks: number[], line: number): number {
  let head = line; // the pieces of a tensor stand below it
  while ((run.asm[head] ?? "").startsWith("  slice ")) head--;
  const tensor = Number(/%(\d+)/.exec(run.asm[head] ?? "")?.[1] ?? -1);
  const own = tensor >= 0 ? blocks.filter((b) => run.memory[b]?.tensor === tensor) : [];
  return own.length === 1 ? (own[0] as number) : -1;
}

/** "buffer ... in core rows 0-3 columns 0-3 @..." */
function declaredTile(text: string, link: Link): Tile | null {
  const found = BUFFER.exec(text.slice(0, link.from));
  return found && { kind: found[1] === "core" ? "core" : "memtile", row: Number(found[2]), column: Number(found[3]) };
}

function layersIn(text: string): { first: number; last: number } {
  const named = /\blayers? (\d+)(?: to (\d+))?/.exec(text);
  return named ? { first: Number(named[1]), last: Number(named[2] ?? named[1]) } : { first: 0, last: Infinity };
}
