// The difference of two runs in a few sentences.
import type { Run } from "../../run/run";
import { bytes, count, percent, seconds, signed } from "../../ui/numbers";
import { amountText, boundChanged, boundText, type LayerChange, deltaText, type Difference, isSame } from "./difference";
import { sparsityOf } from "./sparsity";
import { whatElse } from "./what_else";

const NAMED = 3; // layers of a kind
const MOST_NAME = 40; // characters of a name in a sentence

export interface Sentence {
  head: string;
  text: string;
}

export function summaryOf(difference: Difference, unit: "cycles" | "time"): Sentence[] {
  if (isSame(difference)) return [{ head: "No difference:", text: `every layer takes as long in B as in A, is split and bound alike, and moves the same bytes; both take ${amountText(difference, difference.before, unit)}${unit === "cycles" && difference.unit === "cycles" ? " cycles" : ""}.` }, ...differences(difference)];
  return [speed(difference), ...differences(difference), gains(difference, unit), ...alignment(difference), bounds(difference), traffic(difference), ...sparsityOf(difference)];
}

/** What the runs were given, where that differs. */
function differences({ a, b }: Difference): Sentence[] {
  const phrases = whatElse(a, b);
  return phrases.length ? [{ head: "Differs:", text: `${phrases.join("; ")}.` }] : [];
}

/** How the layers were found in each other, unless names alone did it. */
function alignment({ a, b, changes }: Difference): Sentence[] {
  const both = changes.filter((change) => change.a && change.b);
  const named = both.filter((change) => change.a?.name === change.b?.name).length;
  if (named === changes.length) return [];
  const guessed = both.length - named;
  const how = guessed ? `${count(named)} by name, ${count(guessed)} by operator, size and place` : "by name";
  return [{ head: "Aligned:", text: `${count(both.length)} of A's ${count(a.layers.length)} and B's ${count(b.layers.length)} layers, ${how}.` }];
}

function speed({ a, b, unit, shares, before, after }: Difference): Sentence {
  const [timeA, timeB] = (unit === "seconds" ? [before, after] : [before / a.device.clockHz, after / b.device.clockHz]) as [number, number];
  const cycles = unit === "seconds" ? `${count(b.makespan / shares[1])} against ${count(a.makespan / shares[0])} cycles` : `${count(after)} against ${count(before)} cycles`;
  const clocks = unit === "seconds" ? `; the clocks differ (${clock(a.device.clockHz)} and ${clock(b.device.clockHz)}), so times are compared, not cycles` : "";
  const times = `${seconds(timeB)} against ${seconds(timeA)} (${cycles})${clocks}.`;
  const [framesA, framesB] = shares;
  if (framesA === 1 && framesB === 1) return { head: `${verdict(timeA, timeB)}:`, text: times };
  const all = ([run, frames]: readonly [Run, number]) => `${count(frames)} in ${seconds(run.makespan / run.device.clockHz)}`;
  return { head: `By inference, ${verdict(timeA, timeB)}:`, text: `${times} A runs ${all([a, framesA])}, B ${all([b, framesB])}: figures are those of one, on average; over time, both runs are whole.` };
}

function verdict(before: number, after: number): string {
  if (before === after) return "A and B take the same time";
  if (!(before > 0 && after > 0)) return "One of the runs takes no time";
  const factor = Math.max(before / after, after / before);
  const ratio = factor < 1.005 ? `${(100 * (factor - 1)).toPrecision(2)} %` : `${factor.toFixed(2)}×`;
  return `B is ${ratio} ${after < before ? "faster" : "slower"} than A`;
}

function gains(difference: Difference, unit: "cycles" | "time"): Sentence {
  const named = (changes: LayerChange[]) => changes.slice(0, NAMED).map((change) => `${short(change.name)}${only(change)} ${deltaText(difference, change.delta, unit)}`).join(", ");
  const ordered = [...difference.changes].sort((x, y) => x.delta - y.delta);
  const less = ordered.filter(({ delta }) => delta < 0);
  const more = ordered.filter(({ delta }) => delta > 0).reverse();
  const same = difference.changes.length - less.length - more.length;
  const parts = [
    less.length ? `${layers(less.length)} ${takes(less.length)} less time in B, most of all ${named(less)}` : "",
    more.length ? `${layers(more.length)} ${takes(more.length)} more, most of all ${named(more)}` : "",
    same ? `${layers(same)} ${takes(same)} as long as in A` : "",
  ];
  return { head: "Layers:", text: `${parts.filter(Boolean).join("; ")}.` };
}

const short = (name: string) => (name.length > MOST_NAME ? `${name.slice(0, MOST_NAME / 2)}…${name.slice(-MOST_NAME / 2)}` : name);
const only = (change: LayerChange) => (change.a && change.b ? "" : change.a ? " (only in A)" : " (only in B)");

function bounds({ changes }: Difference): Sentence {
  const both = changes.filter(({ a, b }) => a && b);
  const kinds = new Map<string, number>();
  for (const { a, b } of both.filter(boundChanged)) {
    const kind = `${boundText(a)} → ${boundText(b)}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const changed = both.filter(boundChanged).length;
  const list = [...kinds].sort((x, y) => y[1] - x[1]).map(([kind, n]) => `${count(n)} ${kind}`).join(", ");
  const alone = [["A", changes.filter(({ b }) => !b).length], ["B", changes.filter(({ a }) => !a).length]] as const;
  const lonely = alone.filter(([, n]) => n > 0).map(([run, n]) => ` ${layers(n)} only in ${run}.`).join("");
  const what = !both.length ? "no layer is in both runs." : changed ? `${count(changed)} of ${count(both.length)} changed: ${list}.` : "the same for every layer that both runs have.";
  return { head: "Bound by:", text: what + lonely };
}

function traffic({ a, b, shares }: Difference): Sentence {
  const kinds: [string, string][] = [["ddrReadBytes", "DDR read"], ["ddrWriteBytes", "DDR written"], ["memtileToCoreBytes", "to cores"], ["coreToMemtileBytes", "from cores"]];
  const moved = kinds.map(([key, what]) => moveText(what, (a.report.traffic[key] ?? 0) / shares[0], (b.report.traffic[key] ?? 0) / shares[1]));
  const [before, after] = [a.report.bounds["efficiency"], b.report.bounds["efficiency"]];
  return { head: "Traffic:", text: `${moved.join(", ")}. Efficiency (layer bounds / time) ${percent(before)} → ${percent(after)}.` };
}

function moveText(what: string, before: number, after: number): string {
  if (before === after) return `${what} ${bytes(after)} in both`;
  const times = before > 0 ? after / before : 0;
  const change = times > 10 ? ` (${count(times)}×)` : times > 0 ? ` (${signed(percent(times - 1), after - before)})` : "";
  return `${what} ${bytes(before)} → ${bytes(after)}${change}`;
}

const takes = (n: number) => (n === 1 ? "takes" : "take");
const layers = (n: number) => (n === 1 ? "1 layer" : `${count(n)} layers`);
const clock = (hertz: number) => (hertz >= 1e9 ? `${Number((hertz / 1e9).toFixed(3))} GHz` : `${Number((hertz / 1e6).toFixed(1))} MHz`);
