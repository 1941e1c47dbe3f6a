// An instruction in a few words: what it is, what it moves or makes, how much of it.
import { bytes, macs } from "../../ui/numbers";
import { tensorName } from "../../run/names";
import type { Run } from "../../run/run";
import type { Track } from "../../run/track";

const known = new WeakMap<Run, Map<string, string[]>>();

/** Wordings of what slice `i` ran, longest first: "LOADFM conv1_q 896 B", "LOADFM conv1_q", "LOADFM". */
export function wordingsOf(run: Run, track: Track, i: number): readonly string[] {
  let ofRun = known.get(run);
  if (!ofRun) known.set(run, (ofRun = new Map()));
  const leaf = track.leaf(i);
  const much = amountText(run.bytesOf(track, i), run.macsOf(track, i));
  const key = `${leaf} ${much}`; // slices of one instruction may move records of different lengths
  let wordings = ofRun.get(key);
  if (!wordings) ofRun.set(key, (wordings = makeWordings(run, leaf, much)));
  return wordings;
}

function makeWordings(run: Run, leaf: number, much: string): string[] {
  const mnemonic = run.mnemonicOf(leaf);
  const what = operandOf(run, leaf);
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

const amountText = (moved: number, done: number): string => (done > 0 ? macs(done) : moved > 0 ? bytes(moved) : "");
