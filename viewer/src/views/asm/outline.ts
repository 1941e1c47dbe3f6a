// The parts of the program, for the menu that jumps to them.
import { layerName } from "../../run/names";
import type { Run } from "../../run/run";
import { listingOf } from "./listing";
import { structureOf } from "./structure";

export interface Part {
  line: number;
  name: string;
}

const DECLARATIONS: [string, string][] = [["tensor ", "tensors"], ["layer ", "layers"], ["kernel ", "kernels"], ["buffer ", "buffers"], ["lock ", "locks"]];

const known = new WeakMap<Run, Part[]>();

/** What is declared, each layer's code, and the sequencer's, in the order of the text. */
export function outlineOf(run: Run): Part[] {
  let parts = known.get(run);
  if (!parts) known.set(run, (parts = outline(run)));
  return parts;
}

function outline(run: Run): Part[] {
  const { sections, endOf } = structureOf(run);
  const { layer } = listingOf(run);
  const parts: Part[] = [{ line: 0, name: "the program" }];
  const code = firstOfCode(run);
  for (const [start, name] of DECLARATIONS) {
    const line = run.asm.findIndex((text) => text.startsWith(start));
    if (line >= 0 && line < code) parts.push({ line, name });
  }
  const heads = run.asm.flatMap((text, line) => (text.startsWith("#") && (endOf[line] as number) > 0 ? [line] : []));
  const sequencer = sections.find(({ engine }) => engine === "sequencer");
  for (const line of heads) {
    if (sequencer && line + 1 >= sequencer.line) break;
    parts.push({ line, name: `${layer[line]}  ${layerName(run, layer[line] as number)}` });
  }
  if (sequencer) parts.push({ line: sequencer.line, name: "sequencer: START and WAIT" });
  return parts.sort((a, b) => a.line - b.line);
}

/** Where the first layer's code begins; 0 for a program without any. */
export function firstOfCode(run: Run): number {
  const first = structureOf(run).sections[0]?.line ?? 0;
  return first > 0 && (run.asm[first - 1] as string).startsWith("#") ? first - 1 : first;
}

/** Place in the outline of the part that a line stands in. */
export function partAt(parts: readonly Part[], line: number): number {
  let at = 0;
  while (at + 1 < parts.length && (parts[at + 1] as Part).line <= line) at++;
  return at;
}
