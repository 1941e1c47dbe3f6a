// An instruction in a few words: what it is, what it moves or makes, how much of it.
import { bytes, macs } from "../../ui/numbers";
import { tensorName } from "../../run/names";
import type { Run } from "../../run/run";

const known = new WeakMap<Run, Map<number, string[]>>();

/** Wordings of instruction `leaf`, longest first: "LOADFM conv1_q 896 B", "LOADFM conv1_q", "LOADFM". */
export function wordingsOf(run: Run, leaf: number): readonly string[] {
  let ofRun = known.get(run);
  if (!ofRun) known.set(run, (ofRun = new Map()));
  let wordings = ofRun.get(leaf);
  if (!wordings) ofRun.set(leaf, (wordings = makeWordings(run, leaf)));
  return wordings;
}

function makeWordings(run: Run, leaf: number): string[] {
  const mnemonic = run.mnemonicOf(leaf);
  const what = operandOf(run, leaf);
  const much = amountOf(run, leaf);
  const wordings = [[mnemonic, what, much], [mnemonic, what], [mnemonic, much], [mnemonic]].map((words) => words.filter(Boolean).join(" "));
  return [...new Set(wordings)];
}

/** The tensor that it moves or makes stands first in its line of asm; what has none (START, WAIT) names an engine. */
function operandOf(run: Run, leaf: number): string {
  const text = run.textOf(leaf);
  const operand = /(?:%(\d+)|\b(record))\[/.exec(text);
  if (!operand) return text.length < 60 ? text.replace(/^\S+\s*/, "") : "";
  return operand[1] === undefined ? "weights" : tensorName(run, Number(operand[1]));
}

function amountOf({ instructions }: Run, leaf: number): string {
  const moved = instructions.bytes[leaf] ?? 0;
  const done = instructions.macs[leaf] ?? 0;
  return done > 0 ? macs(done) : moved > 0 ? bytes(moved) : "";
}
