import { describe, expect, it } from "vitest";
import { firstThatFits, fitName, type Measure } from "../../src/paint/labels";
import { loadOf } from "../../src/run/load";
import { Run } from "../../src/run/run";
import { STALLS } from "../../src/run/stalls";
import { waitersOf } from "../../src/run/waiters";
import { Store, type State } from "../../src/ui/state";
import { advance } from "../../src/views/mesh/player";
import { accountOf, busyShare } from "../../src/views/timeline/busy";
import { busyOf, linesOf } from "../../src/views/timeline/group_raster";
import { Lanes } from "../../src/views/timeline/lanes";
import { layOut } from "../../src/views/timeline/rows";
import { wordingsOf } from "../../src/views/timeline/wording";
import { runOf, timelineOf } from "./sample";

const sixWide: Measure = (text) => 6 * [...text].length;

describe("names where there is little room", () => {
  it("stay whole, lose their beginning, or are left out where most would be lost", () => {
    expect(fitName("s2b1_proj", 60, {}, sixWide)).toBe("s2b1_proj");
    expect(fitName("s2b1_proj", 48, {}, sixWide)).toBe("…b1_proj");
    expect(fitName("s2b1_proj", 36, {}, sixWide)).toBe("");
    expect(fitName("x".repeat(300), 90, {}, sixWide)).toBe(`…${"x".repeat(14)}`);
    expect(fitName("😀😀😀😀😀😀😀", 42, {}, sixWide)).toBe("😀😀😀😀😀😀😀");
    expect(fitName("a😀😀😀😀😀😀", 36, {}, sixWide)).toBe("…😀😀😀😀😀");
    expect(fitName("a", 5, {}, sixWide)).toBe("");
  });

  it("give way to shorter wordings, never to half a one", () => {
    const choices = ["LOADFM t1 896 B", "LOADFM t1", "LOADFM"];
    expect([120, 80, 40, 20].map((room) => firstThatFits(choices, room, {}, sixWide))).toEqual(["LOADFM t1 896 B", "LOADFM t1", "LOADFM", ""]);
  });
});

describe("an instruction in a few words", () => {
  const asm = ["LOADFM %1[y 0] mem(0) @0x0 [64 B]", "CONV k0 %2[y 0] in %1[row 0]", "LOADW record[0] -> mem @0x0", "START ddr-in(0).1", "OP %99[y]"];
  const json = timelineOf([{ slices: [0, 1, 2, 3, 4, 2].map((leaf, i) => ({ start: i, end: i + 1, leaf, bytes: [64, 0, 64, 0, 0, 8][i]! })) }], [0, 0, 0, 0, 1]);
  const run = new Run({
    ...json,
    asm: asm.join("\n"),
    instructions: { ...json.instructions, mnemonic: [0, 1, 2, 3, 4], mnemonics: ["LOADFM", "CONV", "LOADW", "START", "OP"], bytes: [64, 0, 64, 0, 0], macs: [0, 256, 0, 0, 0] },
  });
  const track = run.tracks[0]!;
  it("names what it moves or makes, and how much", () => {
    expect(wordingsOf(run, track, 0)).toEqual(["LOADFM t1 64 B", "LOADFM t1", "LOADFM 64 B", "LOADFM"]);
    expect(wordingsOf(run, track, 1)[0]).toBe("CONV t2 256 MAC");
    expect(wordingsOf(run, track, 2)[0]).toBe("LOADW weights 64 B");
    expect(wordingsOf(run, track, 3)).toEqual(["START ddr-in(0).1", "START"]);
    expect(wordingsOf(run, track, 4)).toEqual(["OP"]);
  });

  it("tells of a slice what its own weight record is, of the same instruction", () => {
    expect(wordingsOf(run, track, 5)[0]).toBe("LOADW weights 8 B");
    expect(wordingsOf(run, track, 2)[0]).toBe("LOADW weights 64 B");
  });
});

//   track 0, wire    [ 0..10 )[ 10..30 )
//   track 1, core    ....10[ 10..20 )....30[ 30..40 )     waits for the wire, twice
//   track 2, core    ....10[ 10..40 )                     waits for the wire, once
//   track 3, coreOut (nothing)
const run = runOf(
  [
    { engine: "wire", slices: [{ start: 0, end: 10, leaf: 1 }, { start: 10, end: 30, leaf: 1 }] },
    { engine: "core", slices: [{ start: 10, end: 20, cause: { track: 0, index: 0 } }, { start: 30, end: 40, cause: { track: 0, index: 1 } }] },
    { engine: "core", row: 1, slices: [{ start: 10, end: 40, cause: { track: 0, index: 0 } }] },
    { engine: "coreOut", slices: [] },
  ],
  [0, 0], [0, 2],
  { device: { name: "paper", rows: 2, columns: 1, clockHz: 1e9, coreBytes: 1, memtileBytes: 1, wires: [{ name: "column0", reach: { row: 0, column: 0, rows: 2, columns: 1 }, feeders: [0] }] } },
);

describe("whom a slice let go", () => {
  it("are those whose wait its end ended", () => {
    expect(waitersOf(run, { track: 0, index: 0 })).toEqual([{ track: 1, index: 0 }, { track: 2, index: 0 }]);
    expect(waitersOf(run, { track: 0, index: 1 })).toEqual([{ track: 1, index: 1 }]);
    expect(waitersOf(run, { track: 1, index: 1 })).toEqual([]);
    expect(waitersOf(run, { track: 9, index: 0 })).toEqual([]);
  });
});

describe("what happened in a stretch", () => {
  const load = loadOf(run, "direct");
  load.grow(Infinity);
  it("is the mean of the engines of a resource, and of the cores' waits", () => {
    const { resources, waits, slices } = accountOf(load, { from: 0, to: 20 });
    expect(resources.map(({ name, share }) => [name, share])).toEqual([["compute", 0.5], ["input wire", 1]]);
    expect(waits[STALLS.indexOf("input")]?.share).toBeCloseTo(0.5);
    expect(slices).toBe(2);
  });
  it("is within the run", () => {
    expect(busyShare(load, [2], { from: -40, to: 80 })).toBe("75 %");
    expect(busyShare(load, [1, 2], { from: 20, to: 40 })).toBe("75 %");
    expect(busyShare(load, [3], { from: 0, to: 40 })).toBe("0 %");
    expect(busyShare(load, [1], { from: 50, to: 90 })).toBe("");
  });
});

describe("rows", () => {
  it("group the engines by column; one that is shut keeps its engines in mind", () => {
    const { rows, pinned } = layOut(run, new Set(["column0"]));
    expect(rows.map((row) => row.key)).toEqual(["column0"]);
    expect(rows[0]).toMatchObject({ kind: "group", open: false, tracks: [0, 1, 2, 3] });
    expect(pinned).toEqual([]);
  });

  it("of a group that is shut show how many of its engines are busy, by resource", () => {
    const lines = linesOf(run, [0, 1, 2, 3]);
    expect(lines.map(({ resource, members }) => [resource, members.map((t) => t.index)])).toEqual([[0, [1, 2]], [2, [0]]]);
    const sums = new Float32Array(40);
    busyOf(run, lines[0]?.members ?? [], { from: 0, to: 40 }, sums);
    expect([...sums]).toEqual([...new Array(10).fill(0), ...new Array(10).fill(2), ...new Array(10).fill(1), ...new Array(10).fill(2)]);
  });

  const lanesWith = (options: Record<string, string>, bottom = 160) => {
    const state: State = { view: "timeline", lower: "", run: 0, window: { from: 0, to: 40 }, selection: null, measure: null, unit: "cycles", options };
    const lanes = new Lanes(new Store(state));
    lanes.layOut(run, 100, bottom);
    return lanes;
  };

  it("that are pinned stay while the others scroll", () => {
    const lanes = lanesWith({ "timeline.pinned": "2 x 99 2" });
    expect(lanes.pinned).toEqual([2, 99]);
    expect(lanes.parts.map(({ top, height }) => [top, height])).toEqual([[100, 20], [120, 40]]);
    const pinned = lanes.at(105);
    expect(pinned).toMatchObject({ kind: "lane", track: 2, key: "pin2" });
    const first = lanes.at(121);
    expect(first).toMatchObject({ kind: "group" });
    lanes.scrollBy(1000);
    expect(lanes.at(105)).toBe(pinned);
    expect(lanes.at(121)).not.toBe(first);
    expect(lanes.of(run.tracks[2] as (typeof run.tracks)[number])).toBe(pinned);
  });

  it("come into sight when asked for", () => {
    const lanes = lanesWith({}, 130);
    const last = lanes.all.at(-1);
    if (!last) throw new Error("no rows");
    expect(lanes.y(last) + last.height).toBeGreaterThan(130);
    lanes.reveal(last);
    expect(lanes.y(last) + last.height).toBeLessThanOrEqual(130);
  });
});

describe("the window that plays", () => {
  it("moves by its length in about a second, and through any run in half a minute", () => {
    expect(advance(1200, 10000, 1000)).toBeCloseTo(1000);
    expect(advance(1, 30000, 1000)).toBeCloseTo(1000);
  });
});
