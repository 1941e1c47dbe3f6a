// The lines that what is selected occurs in, and where: the lock that they acquire or release, the tensor or the memory that they name.
import type { Run } from "../../run/run";
import type { Focus } from "../../ui/state";
import { lineCostsOf } from "./line_costs";
import { type Link, linksOf } from "./links";
import { blockAt, couldBe, linesWithLock, locksAt } from "./targets";

export interface Touched {
  /** In order. */
  lines: number[];
  has(line: number): boolean;
  /** Of a block's addresses only those of lines that were asked for are known: there are too many. */
  linksIn(line: number): Link[];
}

const NOTHING: Touched = { lines: [], has: () => false, linksIn: () => [] };

export function touchedBy(run: Run, focus: Focus): Touched {
  if (focus.lock >= 0) return byLock(run, focus.lock);
  if (focus.block >= 0 || focus.tensor >= 0) return byMemory(run, focus.tensor, focus.block);
  return NOTHING;
}

function byLock(run: Run, lock: number): Touched {
  const lines = linesWithLock(run, lock, (track) => lineCostsOf(run).lines[track] ?? []);
  const all = new Set(lines);
  const engines = [run.locks.producer[lock], run.locks.consumer[lock]].flatMap((track) => run.tracks[track ?? -1] ?? []);
  const isIt = (line: number, link: Link) => couldBe(run, line, link, lock) && engines.some((engine) => locksAt(run, line, link, { row: engine.row, column: engine.column }).includes(lock));
  return { lines, has: (line) => all.has(line), linksIn: remembered((line) => (all.has(line) ? linksOf(run, line).filter((link) => isIt(line, link)) : [])) };
}

function byMemory(run: Run, tensor: number, block: number): Touched {
  const name = `%${tensor}`;
  const named = new RegExp(`${name}(?!\\d)`);
  const lines: number[] = [];
  if (tensor >= 0) run.asm.forEach((text, line) => { if (named.test(text)) lines.push(line); });
  const all = new Set(lines);
  const isIt = (line: number, link: Link) =>
    link.kind === "tensor" ? (run.asm[line] as string).slice(link.from, link.to) === name : link.kind === "address" && block >= 0 && blockAt(run, line, link, null) === block;
  const linksIn = remembered((line) => linksOf(run, line).filter((link) => isIt(line, link)));
  return { lines, has: (line) => all.has(line) || (block >= 0 && linksIn(line).length > 0), linksIn };
}

function remembered(find: (line: number) => Link[]): (line: number) => Link[] {
  const known = new Map<number, Link[]>();
  return (line) => {
    let links = known.get(line);
    if (!links) known.set(line, (links = find(line)));
    return links;
  };
}
