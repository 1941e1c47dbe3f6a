import { describe, expect, test } from "vitest";
import { focusOf } from "../../src/ui/state";
import { evaluate } from "../../src/views/asm/expression";
import { nextCostliest, type Rank, RANKS } from "../../src/views/asm/costliest";
import { find, nextIn } from "../../src/views/asm/find";
import { Finder } from "../../src/views/asm/finder";
import { heatOf } from "../../src/views/asm/heat";
import { barShare, lineCosts, nextSlice, shareOf } from "../../src/views/asm/line_costs";
import { linksIn, linksOf } from "../../src/views/asm/links";
import { listingOf } from "../../src/views/asm/listing";
import { firstOfCode, outlineOf, partAt } from "../../src/views/asm/outline";
import { structureOf } from "../../src/views/asm/structure";
import { engineInSight, locksAt, targetOf } from "../../src/views/asm/targets";
import { tokensOf } from "../../src/views/asm/tokens";
import { touchedBy } from "../../src/views/asm/touched";
import { runOf, RESOURCES, timelineOf } from "./sample";

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
  "  RECV %4[y 0] wire(0) -> @0x13b0 [2 by 72, 64 B]",
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

describe("costs", () => {
  test("a line's cost is the sum over its instructions and their engines; a head's that of its lines", () => {
    const costs = lineCosts(run);
    expect([...costs.slices]).toEqual([0, 0, 3, 3, 3, 3, 0, 2, 2, 2]);
    expect([...costs.busy]).toEqual([0, 0, 24, 24, 24, 20 + 3 + 1, 0, 105, 105, 5 + 100]);
    expect([...costs.wait]).toEqual([0, 0, 22, 22, 22, 10 + 7 + 5, 0, 10, 10, 10 + 0]);
    expect([...costs.path]).toEqual([0, 0, 1, 1, 1, 1, 0, 100, 100, 100]); // the last slice, and what its engine did before
    expect([costs.mostBusy, costs.mostWait, costs.mostPath, costs.widest]).toEqual([105, 22, 100, { slices: 3, busy: 105, wait: 22, path: 100 }]);
  });

  test("the costliest line is the one that the end of the run waits for; a line that only runs ahead comes first by its waits alone", () => {
    const costs = lineCosts(run);
    const order = (rank: Rank) => [nextCostliest(run, costs, rank, -1)?.line, nextCostliest(run, costs, rank, nextCostliest(run, costs, rank, -1)?.line ?? -1)?.line];
    expect([order(RANKS[0]), order("wait")]).toEqual([[9, 5], [5, 9]]);
    expect(nextCostliest(run, costs, "path", 5)).toEqual({ line: 9, place: 0, of: 2 });
  });

  test("shares are of the layer or of the run", () => {
    const costs = lineCosts(run);
    expect([shareOf(costs, 5, 0), shareOf(costs, 9, -1), shareOf(costs, 7, 1), shareOf(costs, 0, -1)]).toEqual([1, 115 / 161, 1, 0]);
    expect([...heatOf(run, costs, 2)]).toEqual([0, 1]);
    expect([...heatOf(run, costs, 10)].map((share) => Math.round(share * 100))).toEqual([0, 0, 0, 0, 0, 63, 0, 0, 0, 100]);
  });

  test("a bar is full for the heaviest, empty for nothing", () => {
    expect([barShare(0, 10), barShare(10, 10), barShare(1, 100), barShare(0, 0), barShare(20, 10)]).toEqual([0, 1, 0.1, 0, 1]);
  });

  test("the slices of a line follow one another on an engine, then on the next", () => {
    const walk: string[] = [];
    for (let at = nextSlice(run, 9, null, 1); at; at = nextSlice(run, 9, at, 1)) walk.push(`${at.track}:${at.index}`);
    expect(walk).toEqual(["0:2", "1:1"]);
    expect(nextSlice(run, 5, null, -1)).toEqual({ track: 1, index: 0 });
    expect(nextSlice(run, 5, { track: 1, index: 0 }, -1)).toEqual({ track: 0, index: 1 });
    expect(nextSlice(run, 0, null, 1)).toBeNull();
  });
});

describe("order", () => {
  test("each line knows its section and its layer; a comment at the margin belongs to what is below", () => {
    const listing = listingOf(run);
    expect([...listing.head]).toEqual([-1, -1, 3, 3, 3, 3, 3, 8, 8, 8]);
    expect([...listing.layer]).toEqual([-1, -1, 0, 0, 0, 0, 0, 1, 1, 1]);
    expect([...listing.leaf]).toEqual([-1, -1, -1, -1, -1, 0, -1, -1, -1, 1]);
    expect([...listing.firstOfLayer]).toEqual(run.layers.map((_, k) => [5, 9][k] ?? -1));
  });

  test("heads of layers, sections and loops know where they end, lines the loops around them", () => {
    const nested = ["on core rows 0-1 columns 2-3, layer none:", "  loop 2 {", "    loop 3 {", "      ADD", "    }", "  }"];
    const structure = structureOf(runOf([{ slices: [] }], [0], [0], { asm: nested.join("\n") }));
    expect([...structure.endOf]).toEqual([6, 6, 5, 0, 0, 0]);
    expect([0, 1, 2, 3, 5].map((line) => structure.turnsAt(line))).toEqual([[], [], [2], [2, 3], [2]]);
    expect(structure.sections).toEqual([{ line: 0, end: 6, engine: "core", layer: -1, ranges: [{ rows: { from: 0, to: 1 }, columns: { from: 2, to: 3 } }] }]);
    const apart = structureOf(runOf([{ slices: [] }], [0], [0], { asm: "on core-in rows 0-1 column 0 and row 3 columns 2-3 channel 1, layer none:\n  ADD" }));
    expect(apart.sections[0]?.ranges).toEqual([{ rows: { from: 0, to: 1 }, columns: { from: 0, to: 0 } }, { rows: { from: 3, to: 3 }, columns: { from: 2, to: 3 } }]);
    expect([...structureOf(run).endOf]).toEqual([0, 0, 7, 7, 7, 0, 0, 10, 10, 0]);
  });

  test("the outline has what is declared and each layer; the view begins with the first of these", () => {
    expect(outlineOf(run).map(({ line, name }) => `${line} ${name}`)).toEqual(["0 the program", "1 layers", "2 0  layer0", "7 1  layer1"]);
    expect(firstOfCode(run)).toBe(2);
    expect([0, 1, 6, 9].map((line) => partAt(outlineOf(run), line))).toEqual([0, 1, 2, 3]);
    const empty = runOf([{ slices: [] }], [0], [0], { asm: "" });
    expect([firstOfCode(empty), outlineOf(empty).length]).toEqual([0, 1]);
  });
});

describe("find", () => {
  test("text whatever its case, with its places", () => {
    expect(find(run, "ACQUIRE l3").lines).toEqual([5]);
    expect(find(run, "LAYER").lines).toEqual([1, 2, 3, 7, 8]);
    expect(find(run, "l").placesIn(3)).toEqual([[16, 17], [24, 25]]);
    expect(find(run, "").lines).toEqual([]);
  });

  test("regular expressions, with a sentence for what is none", () => {
    const found = find(run, "/L\\(|%\\d+/");
    expect([found.lines, found.placesIn(9)]).toEqual([[5, 9], [[7, 9]]]);
    expect(find(run, "/acquire").lines).toEqual([5]); // as one types
    expect(find(run, "/x*/").placesIn(0)).toEqual([]); // nothing, everywhere
    expect(find(run, "/(/").problem).toMatch(/^no regular expression: .*group/i);
    expect(find(run, "/(/").lines).toEqual([]);
  });

  test("a number is a line", () => {
    expect([find(run, ":3").goTo, find(run, "10").goTo]).toEqual([2, 9]);
    expect(find(run, "11")).toMatchObject({ goTo: -1, problem: "there are lines 1 to 10" });
  });

  test("steps go round, and say where they are", () => {
    const lines = [2, 5, 9];
    expect([1, 2, 8, 9].map((from) => nextIn(lines, from, 1))).toEqual([0, 1, 2, 0]);
    expect([2, 5, 6, 20].map((from) => nextIn(lines, from, -1))).toEqual([2, 0, 1, 2]);
    expect(nextIn([], 3, 1)).toBe(-1);
    const finder = new Finder();
    finder.look(run, "layer", [4]);
    expect([finder.text(""), finder.first(3), finder.text("")]).toEqual(["found in 5 lines", 3, "found 3 of 5 lines"]);
    expect([finder.step(0, -1), finder.step(0, -1), finder.step(0, -1)]).toEqual([2, 1, 8]);
    finder.look(run, "", [4]);
    expect([finder.text("lock 3"), finder.step(0, 1), finder.text("lock 3")]).toEqual(["lock 3: in 1 line", 4, "lock 3: 1 of 1 line"]);
    finder.look(run, ":7", [4]);
    expect([finder.first(0), finder.text("")]).toEqual([6, "line 7"]);
  });
});

describe("expressions", () => {
  const value = (text: string) => evaluate(text, 0, { row: 2, column: 3, i0: 5 });
  test("follow the grammar and end where it ends", () => {
    expect(value("0x10 + (i0 mod 4)*576 [64 B]")).toEqual({ value: 16 + 576, end: 21 });
    expect(value("-2 + column) @")?.value).toBe(1);
    expect(value("128 + 64*i0 - 2*row")?.value).toBe(128 + 320 - 4);
    expect(value("((2 + i0) mod 3)*10")?.value).toBe(10);
    expect(value("7 -> core(0)")).toEqual({ value: 7, end: 1 });
  });
  test("are nothing where they cannot be read", () => {
    for (const text of ["", "(1", "i1 + 2", "x", "* 3"]) expect(value(text), text).toBeNull();
  });
});

// A 2x2 of cores; locks as the text names them.
const PLACES = [[0, 0, 0, 2], [0, 1, 0, 2], [0, 1, 1, 2], [1, 0, 0, 7], [1, 0, 0, 8], [1, 0, 1, 7], [1, 0, 1, 8], [0, 0, 0, 5], [0, 0, 0, 6]];
const column = (k: number) => PLACES.map((place) => place[k] as number);
const spmd = runOf(
  [{ engine: "coreOut", row: 1, slices: [{ start: 0, end: 1, leaf: 0 }] }, { engine: "ddrOut", slices: [{ start: 1, end: 2, leaf: 1 }] }, { engine: "core", slices: [{ start: 1, end: 2, leaf: 2 }] }],
  [0, 0, 0], [0, 0, 0],
  {
    asm: [
      "on core-out row 0 columns 0-1 and row 1 columns 0-1 channel 0, layer 0:",
      "  WRITEFM %1[y 0] @0x100 [8 B] acquire L2 -> mem(column) @0x40 + 256*row [8 B] release L(7 + row)",
      "on ddr-out columns 0-1 channel 0, layer 0:",
      "  WRITE %1[y 0] mem @0x0 [8 B] acquire L8 -> ddr @0x1000 [8 B]",
      "on core row 0 column 0, layer 0:",
      "  loop 2 {  # i0",
      "    ADD acquire L(5 + i0), 2*L99",
      "  }",
      "lock L7 in mem(1) = 0 from core-out(0,1).0 to ddr-out(1).0",
    ].join("\n"),
    instructions: { layer: [0, 0, 0], resource: [0, 0, 0], mnemonic: [0, 0, 0], bytes: [0, 0, 0], macs: [0, 0, 0], line: [1, 3, 6], mnemonics: ["WRITEFM"], resources: RESOURCES },
    locks: { tileKinds: ["core", "memtile"], tileKind: column(0), row: column(1), column: column(2), index: column(3), initial: PLACES.map(() => 0), producer: PLACES.map(() => 0), consumer: PLACES.map(() => 1) },
    memory: [
      { name: "t1", kind: "memtile", tiles: { row: 0, column: 0, rows: 1, columns: 1 }, address: 0, size: 0x200, firstLayer: 0, lastLayer: 0, start: 0, end: 9, tensor: 1 },
      { name: "t0", kind: "memtile", tiles: { row: 0, column: 0, rows: 1, columns: 1 }, address: 0x140, size: 0x20, firstLayer: 0, lastLayer: 0, start: 0, end: 9, tensor: 0 },
      { name: "out", kind: "core", tiles: { row: 0, column: 0, rows: 2, columns: 2 }, address: 0x100, size: 16, firstLayer: 0, lastLayer: -1, start: 0, end: 9, tensor: -1 },
    ],
  },
);
const linkAt = (line: number, text: string) => {
  const found = linksOf(spmd, line).find(({ from, to }) => spmd.asm[line]?.slice(from, to) === text);
  if (!found) throw new Error(`no link ${text}`);
  return found;
};

describe("names in the text", () => {
  test("are locks, tensors and addresses, but not in strings and comments", () => {
    const text = 'buffer "L3 %4 @0x1 \\" L4" in mem(2) @0x10 acquire L(1 - row), 2*L5 %6 # L7';
    expect(linksIn(text).map(({ kind, from, to }) => `${kind} ${text.slice(from, to)}`)).toEqual(["address @0x10", "lock L(1 - row)", "lock L5", "tensor %6"]);
  });

  test("a lock belongs to its end's tile, for every engine that the section speaks for", () => {
    expect(locksAt(spmd, 1, linkAt(1, "L2"))).toEqual([0, 1, 2]); // core 0,1 has none
    expect(locksAt(spmd, 1, linkAt(1, "L(7 + row)"))).toEqual([3, 5, 4, 6]);
    expect(locksAt(spmd, 1, linkAt(1, "L(7 + row)"), { row: 1, column: 1 })).toEqual([6]);
    expect(locksAt(spmd, 3, linkAt(3, "L8"))).toEqual([4, 6]);
    expect(locksAt(spmd, 8, linkAt(8, "L7"))).toEqual([5]);
  });

  test("a lock that a loop counts through is each of them", () => {
    expect(locksAt(spmd, 6, linkAt(6, "L(5 + i0)"))).toEqual([7, 8]);
    expect(targetOf(spmd, 6, linkAt(6, "L99"), null)).toBeNull();
  });

  test("the engine that is looked at is meant, if the line is one of its", () => {
    expect(engineInSight(spmd, 1, { track: 0, tile: null })).toEqual({ row: 1, column: 0 });
    expect(engineInSight(spmd, 3, { track: 0, tile: null })).toBeNull();
    expect(engineInSight(spmd, 3, { track: -1, tile: { kind: "memtile", row: 0, column: 1 } })).toEqual({ row: 0, column: 1 });
    expect(targetOf(spmd, 1, linkAt(1, "L2"), { row: 1, column: 0 })).toEqual({ kind: "lock", lock: 1 });
    expect(targetOf(spmd, 1, linkAt(1, "L2"), { row: 9, column: 0 })).toEqual({ kind: "lock", lock: 0 });
  });

  test("an address is the block that holds it, where only one can be meant", () => {
    expect(targetOf(spmd, 1, linkAt(1, "@0x100"), null)).toEqual({ kind: "block", block: 2 });
    expect(targetOf(spmd, 1, linkAt(1, "@0x40"), null)).toEqual({ kind: "block", block: 0 });
    expect(targetOf(spmd, 1, linkAt(1, "@0x40"), { row: 1, column: 0 })).toEqual({ kind: "block", block: 0 }); // 0x140: by its tensor
    expect(targetOf(spmd, 1, linkAt(1, "@0x40"), { row: 0, column: 1 })).toBeNull();
    expect(targetOf(spmd, 3, linkAt(3, "@0x1000"), null)).toBeNull();
    expect(targetOf(spmd, 1, linkAt(1, "%1"), null)).toEqual({ kind: "tensor", tensor: 1 });
  });

  test("what is selected is found in the lines of its own engines", () => {
    const touched = touchedBy(spmd, focusOf(spmd, { kind: "lock", lock: 4 }));
    expect(touched.lines).toEqual([1, 3]);
    expect(touched.linksIn(1)).toEqual([linkAt(1, "L(7 + row)")]);
    expect(touchedBy(spmd, focusOf(spmd, { kind: "lock", lock: 5 })).lines).toEqual([]); // of memtile 1, which these engines do not serve
    expect(touchedBy(spmd, focusOf(spmd, { kind: "tensor", tensor: 1 })).lines).toEqual([1, 3]);
    const block = touchedBy(spmd, focusOf(spmd, { kind: "block", block: 2 }));
    expect([block.has(1), block.linksIn(1), block.has(3)]).toEqual([true, [linkAt(1, "@0x100")], false]);
    expect(touchedBy(spmd, focusOf(spmd, null)).lines).toEqual([]);
  });
});

const kinds = (line: string) => tokensOf(line).filter(({ kind }) => kind !== "plain").map(({ kind, text }) => `${kind} ${text}`);

test("the parts of a line follow the grammar, and together they are the line", () => {
  expect(kinds("    CONV k0 acquire L3, 2*L(4 + row)")).toEqual(["mnemonic CONV", "keyword acquire", "lock L3", "number 2", "lock L", "number 4"]);
  expect(kinds("  RECV %4[y 0 for 1] -> @0x13b0 [64 B]  # x")).toEqual(["mnemonic RECV", "tensor %4", "number 0", "number 1", "address @0x13b0", "number 64", "comment # x"]);
  expect(kinds('tensor %0 "a # \\" L3" scale 0.5')).toEqual(["keyword tensor", "tensor %0", 'string "a # \\" L3"', "number 0.5"]);
  expect(kinds("on core row 0, layer 3:")).toEqual(["head on core row 0, layer 3:"]);
  for (const line of [...run.asm, "", '"open 🦉 <script>', "# only"]) expect(tokensOf(line).map(({ text }) => text).join("")).toBe(line);
});

describe("a program whose steps are not the layers in order", () => {
  test("has its sections with the layers that the steps name", () => {
    const asm = ["step 0 layer 1", "step 1 layer 0", "step 2 layer 1", "on core, step 0:", "  CONV k0", "on core, step 1:", "  CONV k1", "on core, step 2:", "  CONV k0", "on sequencer, step none:", "  START x"];
    const run = runOf([{ slices: [{ start: 0, end: 1 }] }], [1, 0, 1], [0, 0, 0], { asm: asm.join("\n"), instructions: { ...timelineOf([], [1, 0, 1]).instructions, line: [4, 6, 8] } });
    expect(structureOf(run).sections.map(({ line, layer }) => [line, layer])).toEqual([[3, 1], [5, 0], [7, 1], [9, -1]]);
    expect([...listingOf(run).layer]).toEqual([-1, -1, -1, 1, 1, 0, 0, 1, 1, -1, -1]);
  });
});
