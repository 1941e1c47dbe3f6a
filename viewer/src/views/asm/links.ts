// What a line of program.asm names: locks, tensors and addresses, each with its place in the text.
import type { Run } from "../../run/run";

/** Whose memory or locks a name speaks of: those of a memtile whose column is an expression at `at`, of the engine's own tile, of DDR. */
export type Owner = { kind: "mem"; at: number } | { kind: "own" } | { kind: "ddr" };

/** `from` .. `to` is its place in the line; its number is an expression at `at`. */
export interface Link {
  kind: "lock" | "tensor" | "address";
  from: number;
  to: number;
  at: number;
  owner: Owner;
}

const MOST_KNOWN = 20000; // lines
// Strings and comments name nothing.
const NAMES = /"(?:\\.|[^"\\])*"?|#.*|\bL\d+\b|\bL\([^()]*\)|%\d+|@0x[0-9a-f]+/gi;
const MEM = /\bmem\([^()]*\)/g;

const known = new WeakMap<Run, Map<number, Link[]>>();

export function linksOf(run: Run, line: number): Link[] {
  let lines = known.get(run);
  if (!lines || lines.size > MOST_KNOWN) known.set(run, (lines = new Map()));
  let links = lines.get(line);
  if (!links) lines.set(line, (links = linksIn(run.asm[line] ?? "")));
  return links;
}

export function linksIn(text: string): Link[] {
  const links: Link[] = [];
  for (const { 0: name, index: from } of text.matchAll(NAMES)) {
    const place = { from, to: from + name.length, at: from + 1 };
    if (name.startsWith("L")) links.push({ kind: "lock", ...place, owner: ownerOfLock(text, from) });
    else if (name.startsWith("%")) links.push({ kind: "tensor", ...place, owner: { kind: "own" } });
    else if (name.startsWith("@")) links.push({ kind: "address", ...place, owner: ownerOfAddress(text, from) });
  }
  return links;
}

const ownerMem = (mem: RegExpExecArray): Owner => ({ kind: "mem", at: mem.index + "mem(".length });

/** A lock belongs to the end that it is written behind: the last memtile named, or else the engine's own tile. */
function ownerOfLock(text: string, at: number): Owner {
  const mem = [...text.slice(0, at).matchAll(MEM)].pop();
  return mem ? ownerMem(mem) : { kind: "own" };
}

/** Of an address, only the word right before it says where it is. */
function ownerOfAddress(text: string, at: number): Owner {
  const before = text.slice(0, at).trimEnd();
  if (before.endsWith("ddr") || before === "weights") return { kind: "ddr" };
  const mem = [...before.matchAll(MEM)].pop();
  return mem && mem.index + mem[0].length === before.length ? ownerMem(mem) : { kind: "own" };
}
