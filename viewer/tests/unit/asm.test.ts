import { expect, test } from "vitest";
import { barShare, lineCosts } from "../../src/views/asm/line_costs";
import { linesWith, listingOf, nextIn } from "../../src/views/asm/listing";
import { tokensOf } from "../../src/views/asm/tokens";
import { runOf, RESOURCES } from "./sample";

const ASM = [
  "heddle.asm/1",
  'layer 0 "a <b>" op "Conv"',
  "# ---- layer 0 ----",
  "on core row 0 column 0, layer 0:",
  "  loop 2 {  # i0",
  "    CONV k0 acquire L3 release L(1 - row)",
  "  }",
  "# ---- layer 1 ----",
  "on wire column 0, layer 1:",
  "  RECV %4[y 0 for 1] wire(0) -> @0x13b0 [2 by 72, 64 B]",
].join("\n");

// Leaves 0 and 2 stand on line 5 of layer 0, leaf 1 on line 9 of layer 1.
const run = runOf(
  [
    { slices: [{ start: 10, end: 30, leaf: 0 }, { ready: 30, start: 37, end: 40, leaf: 0 }, { start: 50, end: 55, leaf: 1 }] },
    { slices: [{ start: 5, end: 6, leaf: 2 }, { start: 6, end: 106, leaf: 1 }] },
  ],
  [0, 1, 0], [0, 1, 0],
  {
    asm: ASM,
    instructions: { layer: [0, 1, 0], resource: [0, 1, 0], mnemonic: [0, 0, 0], bytes: [0, 0, 0], macs: [0, 0, 0], line: [5, 9, 5], mnemonics: ["CONV"], resources: RESOURCES },
  },
);

test("a line's cost is the sum over its instructions and their engines", () => {
  const costs = lineCosts(run);
  expect([...costs.slices]).toEqual([0, 0, 0, 0, 0, 3, 0, 0, 0, 2]);
  expect([...costs.busy]).toEqual([0, 0, 0, 0, 0, 20 + 3 + 1, 0, 0, 0, 5 + 100]);
  expect([...costs.wait]).toEqual([0, 0, 0, 0, 0, 10 + 7 + 5, 0, 0, 0, 10 + 0]);
  expect([costs.mostSlices, costs.mostBusy, costs.mostWait]).toEqual([3, 105, 22]);
});

test("a bar is full for the heaviest, empty for nothing", () => {
  expect([barShare(0, 10), barShare(10, 10), barShare(1, 100), barShare(0, 0)]).toEqual([0, 1, 0.1, 0]);
});

test("each line knows its section and its layer; a comment at the margin belongs to what is below", () => {
  const listing = listingOf(run);
  expect([...listing.head]).toEqual([-1, -1, 3, 3, 3, 3, 3, 8, 8, 8]);
  expect([...listing.layer]).toEqual([-1, -1, 0, 0, 0, 0, 0, 1, 1, 1]);
  expect([...listing.leaf]).toEqual([-1, -1, -1, -1, -1, 0, -1, -1, -1, 1]);
  expect([...listing.firstOfLayer]).toEqual(run.layers.map((_, k) => [5, 9][k] ?? -1));
});

test("text is found whatever its case, and steps go round", () => {
  expect(linesWith(run, "ACQUIRE l3")).toEqual([5]);
  expect(linesWith(run, "LAYER")).toEqual([1, 2, 3, 7, 8]);
  expect(linesWith(run, "")).toEqual([]);
  const lines = [2, 5, 9];
  expect([1, 2, 8, 9].map((from) => nextIn(lines, from, 1))).toEqual([0, 1, 2, 0]);
  expect([2, 5, 6, 20].map((from) => nextIn(lines, from, -1))).toEqual([2, 0, 1, 2]);
  expect(nextIn([], 3, 1)).toBe(-1);
});

const kinds = (line: string) => tokensOf(line).filter(({ kind }) => kind !== "plain").map(({ kind, text }) => `${kind} ${text}`);

test("the parts of a line follow the grammar, and together they are the line", () => {
  expect(kinds("    CONV k0 acquire L3, 2*L(4 + row)")).toEqual(["mnemonic CONV", "keyword acquire", "lock L3", "number 2", "lock L", "number 4"]);
  expect(kinds("  RECV %4[y 0 for 1] -> @0x13b0 [64 B]  # x")).toEqual(["mnemonic RECV", "tensor %4", "number 0", "number 1", "address @0x13b0", "number 64", "comment # x"]);
  expect(kinds('tensor %0 "a # \\" L3" scale 0.5')).toEqual(["keyword tensor", "tensor %0", 'string "a # \\" L3"', "number 0.5"]);
  expect(kinds("on core row 0, layer 3:")).toEqual(["head on core row 0, layer 3:"]);
  for (const line of [...run.asm, "", '"open 🦉 <script>', "# only"]) expect(tokensOf(line).map(({ text }) => text).join("")).toBe(line);
});
