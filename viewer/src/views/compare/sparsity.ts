// What blocks of weights that B leaves out gained, and where they could not: in the words of `heddle compare`
// (src/driver/compare_text.cc), which a test holds them against.
import { batchOf } from "../../run/frames";
import type { Layer } from "../../run/run";
import { macs } from "../../ui/numbers";
import type { Pair } from "./align";
import { boundText, type Difference, isThinned } from "./difference";
import type { Sentence } from "./summary";

const HELD_BACK_BELOW = 0.9; // of what its MACs allow
const BLAMED_ABOVE = 1.05;
const NAMED = 3; // layers that a sentence names

interface Both {
  a: Layer;
  b: Layer;
}

type Obstacle = "other resource" | "more bytes" | "imbalance" | "idle";

interface Held {
  obstacle: Obstacle;
  boundA: string;
  boundB: string;
  layers: Both[];
}

export function sparsityOf(difference: Difference): Sentence[] {
  const both = difference.changes.flatMap(({ a, b }) => (a && b ? [{ a, b }] : []));
  const fewer = both.filter(({ a, b }) => b.macs < a.macs);
  const more = both.filter(({ a, b }) => b.macs > a.macs).length;
  const sentences: Sentence[] = [];
  if (fewer.length) sentences.push(gained(difference, both, fewer));
  for (const held of heldBack(difference, fewer)) sentences.push({ head: "Held back:", text: heldText(held) });
  if (more) sentences.push({ head: "The other way:", text: `${layers(more)} ${more === 1 ? "needs" : "need"} more MACs in B than in A.` });
  if (fewer.length) sentences.push(...dense(difference, both));
  const [batchA, batchB] = [batchOf(difference.a), batchOf(difference.b)];
  if (sentences.length && batchA !== batchB)
    sentences.push({ head: "Not told apart:", text: `frames of ${batchA} ${batchA === 1 ? "inference" : "inferences"} in A and of ${batchB} in B, whose weights come once for all of them, change the times, too.` });
  return sentences;
}

function gained(difference: Difference, both: readonly Both[], fewer: readonly Both[]): Sentence {
  const [work, bytes] = [share(sum(both, ({ b }) => b.macs), sum(both, ({ a }) => a.macs)), share(sum(both, ({ b }) => b.weightBytes), sum(both, ({ a }) => a.weightBytes))];
  const [before, after] = [sum(fewer, ({ a }) => secondsInA(difference, a)), sum(fewer, ({ b }) => secondsInB(difference, b))];
  const least = sum(fewer, (pair) => allowed(difference, pair));
  const [is, needs] = fewer.length === 1 ? ["is", "needs"] : ["are", "need"];
  return {
    head: "Gained:",
    text: `B needs ${work} of A's MACs and ${bytes} of its weight bytes. ${layers(fewer.length)} ${needs} fewer, and ${is} ${times(before, after)} times as fast, of ${times(before, least)} that the MACs allow.`,
  };
}

/** The time of the layer were it as much less than in A as its MACs are. */
const allowed = (difference: Difference, { a, b }: Both) => (secondsInA(difference, a) * b.macs) / a.macs;
const secondsInA = ({ a }: Difference, layer: Layer) => layer.cycles / a.device.clockHz;
const secondsInB = ({ b }: Difference, layer: Layer) => layer.cycles / b.device.clockHz;

/** Layers of one obstacle and, where that matters, of the same resources; those of most layers first. */
function heldBack(difference: Difference, fewer: readonly Both[]): Held[] {
  const kinds = new Map<string, Held>();
  for (const pair of fewer) {
    if (!(allowed(difference, pair) < HELD_BACK_BELOW * secondsInB(difference, pair.b))) continue;
    const obstacle = obstacleOf(pair);
    const boundA = obstacle === "other resource" ? boundText(pair.a) : "";
    const boundB = obstacle === "other resource" || obstacle === "more bytes" ? boundText(pair.b) : "";
    const key = [obstacle, boundA, boundB].join("|");
    const held = kinds.get(key);
    if (held) held.layers.push(pair);
    else kinds.set(key, { obstacle, boundA, boundB, layers: [pair] });
  }
  return [...kinds.values()].sort((x, y) => y.layers.length - x.layers.length);
}

function obstacleOf({ a, b }: Both): Obstacle {
  if (b.boundBy === "weights wire" || b.boundBy === "DDR read") {
    const [before, after] = [bytesOver(b.boundBy, a), bytesOver(b.boundBy, b)];
    if ((before > 0 ? after / before : 1) > (BLAMED_ABOVE * b.macs) / a.macs) return "more bytes";
  } else if (b.boundBy !== "compute") return "other resource";
  return (b.imbalance ?? 1) > BLAMED_ABOVE * (a.imbalance ?? 1) ? "imbalance" : "idle";
}

const bytesOver = (resource: string | null, layer: Layer): number => (resource === "weights wire" ? (layer.weightsToCoresBytes ?? 0) : layer.ddrReadBytes);

function heldText({ obstacle, boundA, boundB, layers: held }: Held): string {
  const names = held.slice(0, NAMED).map(({ b }) => b.name).join(", ");
  const which = `${layers(held.length)} (${names}${held.length > NAMED ? ", ..." : ""})`;
  const one = held.length === 1;
  switch (obstacle) {
    case "other resource":
      return `${which} ${one ? "is" : "are"} bound by ${boundB}, ${boundA === boundB ? "as in A" : `in A by ${boundA}`}: fewer weights change nothing there.`;
    case "more bytes":
      return `${which} ${one ? "is" : "are"} bound by ${boundB}, which carries ${share(sum(held, ({ b }) => bytesOver(boundB, b)), sum(held, ({ a }) => bytesOver(boundB, a)))} of A's bytes.`;
    case "imbalance":
      return `${which} ${one ? "waits" : "wait"} for the heaviest core, which does up to ${hundredths(most(held, ({ b }) => b.imbalance ?? 1))} times the mean, in A ${hundredths(most(held, ({ a }) => a.imbalance ?? 1))}.`;
    case "idle":
      return `${which} ${one ? "keeps" : "keep"} even the busiest engine at work for only ${share(sum(held, ({ b }) => Math.min(busiest(b), b.cycles)), sum(held, ({ b }) => b.cycles))} of the time.`;
  }
}

const busiest = (layer: Layer) => Object.values(layer.busyCycles ?? {}).reduce((x, y) => Math.max(x, y), 0);

/** Layers of both runs that leave nothing out in B: no blocks, and no channels that A still has. */
function dense({ b: run, shares: [, inferences] }: Difference, both: readonly Both[]): Sentence[] {
  const whole = both.filter(({ a, b }) => b.macs >= a.macs).map(({ b }) => b).filter((b) => b.macs >= (b.denseMacs ?? b.macs) && b.weightBytes >= (b.denseWeightBytes ?? b.weightBytes));
  const [kept, without] = [whole.filter((b) => b.weightBytes > 0), whole.filter((b) => b.weightBytes === 0)];
  const timeOf = (some: readonly Layer[]) => share(sum(some, (b) => b.cycles), run.makespan / inferences);
  const parts: string[] = [];
  const add = (some: readonly Layer[], what: [string, string]) => {
    const one = some.length === 1;
    if (some.length) parts.push(`${layers(some.length)} ${what[one ? 0 : 1]} and ${one ? "takes" : "take"} ${timeOf(some)}${parts.length ? "" : " of B's time"}`);
  };
  add(kept, ["keeps all blocks of weights", "keep all blocks of weights"]);
  add(without, ["has no weights", "have no weights"]);
  return parts.length ? [{ head: "Nothing to gain:", text: `${parts.join("; ")}.` }] : [];
}

/** The sparsity of a layer that differs, in B: "density 50.0 %, imbalance 1.13, 12.8 of 25.7 MMAC"; where A is sparse, too, its density first. */
export function thinnedText(pair: Pair): string {
  const { a, b } = pair;
  if (!a || !b || !isThinned(pair)) return "";
  const density = (layer: Layer) => (layer.density == null ? "–" : share(layer.density, 1));
  const before = a.density != null && a.density < 1 ? `${density(a)} → ` : "";
  const [done, all] = [macs(b.macsExecuted).split(" "), macs(b.denseMacs ?? b.macs).split(" ")];
  const imbalance = b.imbalance == null ? "–" : hundredths(b.imbalance);
  return `density ${before}${density(b)}, imbalance ${imbalance}, ${done[1] === all[1] ? done[0] : done.join(" ")} of ${all.join(" ")}`;
}

/** Columns of the same as numbers, and those of a layer. */
export const THINNED = ["density in A", "density in B", "imbalance in A", "imbalance in B", "MACs if dense", "MACs done in A", "MACs done in B"];
export const thinnedNumbers = ({ a, b }: Pair): (number | string)[] => [
  a?.density ?? "", b?.density ?? "", a?.imbalance ?? "", b?.imbalance ?? "", (b ?? a)?.denseMacs ?? "", a?.macsExecuted ?? "", b?.macsExecuted ?? "",
];

const layers = (n: number) => `${n} ${n === 1 ? "layer" : "layers"}`;
const sum = <T>(list: readonly T[], of: (thing: T) => number) => list.reduce((so, thing) => so + of(thing), 0);
const most = <T>(list: readonly T[], of: (thing: T) => number) => list.reduce((so, thing) => Math.max(so, of(thing)), 0);
const fixed = (value: number, digits: number) => (Math.floor(value * 10 ** digits + 0.5) / 10 ** digits).toFixed(digits);
const hundredths = (value: number) => fixed(value, 2);
const times = (before: number, after: number) => (before > 0 && after > 0 ? hundredths(before / after) : "-");
const share = (part: number, whole: number) => (whole > 0 ? `${fixed((part / whole) * 100, 1)} %` : "-");
