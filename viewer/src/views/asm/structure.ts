// The order within program.asm: sections, loops and layers. Read once for a run; docs/asm.md has the grammar.
import type { Run } from "../../run/run";
import { layersOfHeads } from "./schedule";

export interface Engine {
  row: number;
  column: number;
}

interface Span {
  from: number;
  to: number;
}

/** Inclusive; 0 where the engine has none. */
interface Range {
  rows: Span;
  columns: Span;
}

export interface Section {
  /** Line of its head, and one behind its last. */
  line: number;
  end: number;
  engine: string; // "core", "ddr-in", ...
  layer: number; // -1: none
  /** The rectangles of engines that it speaks for. */
  ranges: Range[];
}

export interface Structure {
  sections: Section[];
  /** Section of each line, or -1. */
  sectionOf: Int32Array;
  /** Of heads of layers, sections and loops: one behind the last line that they hold; 0 for all other lines. */
  endOf: Int32Array;
  /** Loop around each line, by its line; -1 for none. */
  loopOf: Int32Array;
  /** How often the loops around a line go round, the outermost first. */
  turnsAt(line: number): number[];
}

const SECTION = /^on ([a-z-]+)(.*?)(?:, (?:layer|step) (?:\d+|none))?:\s*$/;
const LAYER = /^# -+ layer \d+\b/;

const made = new WeakMap<Run, Structure>();

export function structureOf(run: Run): Structure {
  let structure = made.get(run);
  if (!structure) made.set(run, (structure = new Reader(run.asm).read()));
  return structure;
}

class Reader {
  private readonly sections: Section[] = [];
  private readonly sectionOf: Int32Array;
  private readonly endOf: Int32Array;
  private readonly loopOf: Int32Array;
  private readonly loops: number[] = [];
  private section: Section | null = null;
  private layer = -1; // line of its head
  private readonly layerOf: (head: string) => number;

  constructor(private readonly asm: readonly string[]) {
    this.sectionOf = new Int32Array(asm.length).fill(-1);
    this.endOf = new Int32Array(asm.length);
    this.loopOf = new Int32Array(asm.length).fill(-1);
    this.layerOf = layersOfHeads(asm);
  }

  read(): Structure {
    const { asm, sections, sectionOf, endOf, loopOf } = this;
    asm.forEach((text, line) => {
      if (text.startsWith(" ")) this.inside(text, line);
      else this.atMargin(text, line);
      if (this.section) sectionOf[line] = sections.length - 1;
    });
    this.closeSection(asm.length);
    this.closeLayer(asm.length);
    const turnsAt = (line: number): number[] => {
      const turns: number[] = [];
      for (let loop = loopOf[line] ?? -1; loop >= 0; loop = loopOf[loop] as number) turns.unshift(Number(/\bloop (\d+)/.exec(asm[loop] as string)?.[1] ?? 1));
      return turns;
    };
    return { sections, sectionOf, endOf, loopOf, turnsAt };
  }

  private inside(text: string, line: number): void {
    const { loops } = this;
    const trimmed = text.trimStart();
    const closes = trimmed.startsWith("}");
    const loop = loops[loops.length - 1] ?? -1;
    this.loopOf[line] = loop;
    if (trimmed.startsWith("loop ")) loops.push(line);
    else if (closes && loop >= 0) {
      loops.pop();
      this.endOf[loop] = line + 1;
    }
  }

  private atMargin(text: string, line: number): void {
    this.closeSection(line);
    const head = SECTION.exec(text);
    if (head) {
      const where = head[2] as string;
      this.section = { line, end: line, engine: head[1] as string, layer: this.layerOf(text), ranges: where.split(" and ").map(rangeIn) };
      this.sections.push(this.section);
    } else if (LAYER.test(text)) {
      this.closeLayer(line);
      this.layer = line;
    }
  }

  private closeSection(line: number): void {
    if (this.section) this.endOf[this.section.line] = this.section.end = line;
    this.section = null;
    this.loops.length = 0;
  }

  private closeLayer(line: number): void {
    if (this.layer >= 0) this.endOf[this.layer] = line;
    this.layer = -1;
  }
}

const rangeIn = (text: string): Range => ({ rows: spanIn(text, "row"), columns: spanIn(text, "column") });

function spanIn(text: string, name: string): Span {
  const found = new RegExp(`\\b${name}s? (\\d+)(?:-(\\d+))?`).exec(text);
  const from = Number(found?.[1] ?? 0);
  return { from, to: Number(found?.[2] ?? from) };
}
