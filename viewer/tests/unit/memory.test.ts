import { expect, test } from "vitest";
import type { BlockJson } from "../../src/run/format";
import { AddressScale, usedRanges } from "../../src/views/memory/address_scale";
import { boxName, lifeIn, memoryAt, parsePlace, roleOf, spilledTensors, usersOf } from "../../src/run/memory_map";
import { bytesAt, mostIn, occupancyOf, type Span } from "../../src/run/occupancy";
import { boxAt, foldsByDefault, layOutStrips, rectangleOf } from "../../src/views/memory/strips";
import { TimeScale } from "../../src/ui/time_axis";
import { runOf } from "./sample";

const span = (address: number, size: number, from: number, to: number): Span => ({ address, size, from, to });

const block = (change: Partial<BlockJson>): BlockJson => ({
  name: "x", kind: "memtile", tiles: { row: 0, column: 0, rows: 1, columns: 1 }, address: 0, size: 64, firstLayer: 0, lastLayer: 0, start: 0, end: 10, tensor: -1, ...change,
});

const runWith = (memory: BlockJson[], rows = 1, columns = 1) =>
  runOf([{ slices: [{ start: 0, end: 100 }] }], [0, 1], [0, 0], {
    memory,
    device: { name: "paper", rows, columns, clockHz: 1e9, coreBytes: 1000, memtileBytes: 2000, wires: [] },
  });

test("bytes that two blocks share count once, and only while either lives", () => {
  //   bytes 0..100 in [0, 10), 50..150 in [5, 20): 100, then 150, then 100
  const occupancy = occupancyOf([span(0, 100, 0, 10), span(50, 100, 5, 20)]);
  expect(occupancy.at).toEqual([0, 5, 10, 20]);
  expect(occupancy.bytes).toEqual([100, 150, 100, 0]);
  expect(occupancy.peak).toEqual({ bytes: 150, from: 5, to: 10 });
  expect([-1, 0, 4, 5, 9, 10, 19, 20, 99].map((cycle) => bytesAt(occupancy, cycle))).toEqual([0, 100, 100, 150, 150, 100, 100, 0, 0]);
});

test("one block after another at the same address makes no step", () => {
  expect(occupancyOf([span(0, 64, 0, 10), span(0, 64, 10, 20)])).toEqual({ at: [0, 20], bytes: [64, 0], peak: { bytes: 64, from: 0, to: 20 } });
});

test("nothing stored is nothing taken", () => {
  const none = occupancyOf([span(0, 0, 0, 10), span(0, 64, 5, 5)]);
  expect(none).toEqual({ at: [], bytes: [], peak: { bytes: 0, from: 0, to: 0 } });
  expect(bytesAt(none, 3)).toBe(0);
  expect(mostIn(none, 0, 100)).toBe(0);
});

test("occupancy equals counting byte by byte, at every cycle and in every window", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 60; round++) {
    const spans = Array.from({ length: random(14) }, () => {
      const [address, from] = [random(40), random(40)];
      return span(address, random(20), from, from + random(20));
    });
    const occupancy = occupancyOf(spans);
    const slow = Array.from({ length: 64 }, (_, cycle) => {
      const taken = new Set<number>();
      for (const s of spans) if (s.from <= cycle && cycle < s.to) for (let a = s.address; a < s.address + s.size; a++) taken.add(a);
      return taken.size;
    });
    slow.forEach((bytes, cycle) => expect(bytesAt(occupancy, cycle)).toBe(bytes));
    expect(occupancy.peak.bytes).toBe(Math.max(...slow));
    const [from, to] = [random(30), 31 + random(30)];
    expect(mostIn(occupancy, from, to)).toBe(Math.max(...slow.slice(from, to)));
  }
});

test("a block lives in each tile of its rectangle for as long as the file says", () => {
  const over = block({ kind: "core", tiles: { row: 1, column: 2, rows: 2, columns: 2 }, starts: [[2, 5], 7, 8], ends: [[3, 20], 30] });
  expect(lifeIn(over, { kind: "core", row: 1, column: 2 })).toEqual({ from: 5, to: 20 });
  expect(lifeIn(over, { kind: "core", row: 2, column: 3 })).toEqual({ from: 8, to: 30 });
  expect(lifeIn(over, { kind: "core", row: 0, column: 2 })).toBeNull();
  expect(lifeIn(over, { kind: "memtile", row: 0, column: 2 })).toBeNull();
  expect(lifeIn(block({ kind: "ddr" }), { kind: "ddr" })).toEqual({ from: 0, to: 10 });
  expect(lifeIn(block({ start: -1, end: -1 }), { kind: "memtile", row: 0, column: 0 })).toBeNull();
});

test("names tell what a block is, and whose bytes it holds", () => {
  const run = runWith([]);
  const role = (name: string, change: Partial<BlockJson> = {}) => roleOf(run, block({ name, firstLayer: 1, ...change }));
  expect(role("tensor t1", { tensor: 1 })).toEqual({ role: "tensor", tensor: 1 });
  expect(role("weights")).toEqual({ role: "weights", tensor: -1 });
  expect(role("layer1 weights", { kind: "core" })).toEqual({ role: "weights", tensor: -1 });
  expect(role("layer1 input 0 stream")).toEqual({ role: "stream", tensor: 1 });
  expect(role("layer1 output stream")).toEqual({ role: "stream", tensor: 2 });
  expect(role("layer1 input 0", { kind: "core" })).toEqual({ role: "ring", tensor: 1 });
  expect(role("layer1 output", { kind: "core" })).toEqual({ role: "output", tensor: 2 });
  expect(role("layer1 accumulators", { kind: "core" })).toEqual({ role: "accumulators", tensor: -1 });
  expect(role("what else")).toEqual({ role: "other", tensor: -1 });
});

test("a tensor that is written to DDR and read back is spilled; inputs and outputs are not", () => {
  const run = runWith([
    block({ kind: "ddr", tensor: 0, writtenBy: [], readBy: [0] }),
    block({ kind: "ddr", tensor: 1, writtenBy: [0], readBy: [1] }),
    block({ kind: "ddr", tensor: 2, writtenBy: [1], readBy: [] }),
    block({ name: "layer0 output stream", firstLayer: 0, slots: 2, size: 64 }),
    block({ name: "layer0 output", kind: "core", firstLayer: 0, tiles: { row: 0, column: 0, rows: 4, columns: 1 } }),
  ]);
  expect([...spilledTensors(run)]).toEqual([1]);
  const [stream] = memoryAt(run, { kind: "memtile", row: 0, column: 0 }).boxes;
  expect(stream).toMatchObject({ spilled: true, tensor: 1, parts: 8 });
  expect(stream && boxName(run, stream)).toBe("t1 to DDR");
  expect(usersOf(run, run.memory[1] as BlockJson)).toEqual({ writers: [0], readers: [1] });
  expect(usersOf(run, block({ tensor: 1 }))).toEqual({ writers: [0], readers: [1] }); // by the network
});

test("what lies within another is drawn upon it, and every overlap is known", () => {
  const run = runWith([
    block({ name: "part", tensor: 1, address: 128, size: 64, start: 20, end: 40 }),
    block({ name: "whole", tensor: 2, address: 0, size: 512, start: 10, end: 50 }),
    block({ name: "weights", address: 1024, size: 100, start: 0, end: 30 }),
    block({ name: "weights", address: 1024, size: 200, start: 25, end: 60, firstLayer: 1 }),
  ]);
  const { boxes, overlaps, occupancy } = memoryAt(run, { kind: "memtile", row: 0, column: 0 });
  expect(boxes.map((box) => [box.block, box.depth])).toEqual([[2, 0], [1, 0], [0, 1], [3, 0]]);
  expect(overlaps.map(({ address, size, from, to }) => [address, size, from, to])).toEqual([[1024, 100, 25, 30], [128, 64, 20, 40]]);
  expect(occupancy.peak).toEqual({ bytes: 712, from: 25, to: 50 });
});

test("only memories that the device has can be chosen", () => {
  const run = runWith([], 2, 3);
  expect(parsePlace(run, "ddr")).toEqual({ kind: "ddr" });
  expect(parsePlace(run, "memtile:2")).toEqual({ kind: "memtile", row: 0, column: 2 });
  expect(parsePlace(run, "core:1,2")).toEqual({ kind: "core", row: 1, column: 2 });
  for (const wrong of ["memtile:3", "core:2,0", "core:0,3", "all", "", "<b>"]) expect(parsePlace(run, wrong)).toBeNull();
});

test("addresses run upwards; unused ones fold into a gap and back", () => {
  expect(usedRanges([span(100, 50, 0, 1), span(0, 100, 0, 1), span(800, 10, 0, 1), span(5, 0, 0, 1)])).toEqual([[0, 150], [800, 810]]);
  const plain = new AddressScale(1000, [[0, 100], [900, 1000]], false, 10, 110);
  expect([plain.y(0), plain.y(500), plain.y(1000)]).toEqual([110, 60, 10]);
  expect(plain.address(60)).toBeCloseTo(500);
  const folded = new AddressScale(1000, [[0, 100], [900, 1000]], true, 10, 219);
  expect(folded.pieces.map((piece) => piece.isGap)).toEqual([false, true, false]);
  expect([folded.y(0), folded.y(100), folded.y(900), folded.y(1000)]).toEqual([219, 119, 110, 10]);
  for (const address of [0, 37, 100, 900, 950, 1000]) expect(folded.address(folded.y(address))).toBeCloseTo(address);
  expect(plain.ticks(20)).toEqual([0, 256, 512, 768]);
});

test("strips fill the height, and the box under a pixel is the one on top", () => {
  const run = runWith([block({ tensor: 1, size: 1500, end: 100 }), block({ tensor: 2, size: 400, start: 20, end: 80 })], 1, 2);
  const { strips, height } = layOutStrips(run, "all", "", 404, 1);
  expect([strips.length, height]).toEqual([2, 400]);
  expect(foldsByDefault(strips.map((strip) => strip.memory))).toBe(false);
  const strip = strips[0] as (typeof strips)[number];
  const time = new TimeScale({ from: 0, to: 100 }, 176, 1176);
  const y = strip.scale.y(200) + 50;
  expect(boxAt(strip, time, 50, 176 + 500, y)?.block).toBe(1);
  expect(boxAt(strip, time, 50, 176 + 100, y)?.block).toBe(0);
  expect(boxAt(strip, time, 50, 176 + 500, strip.scale.y(1900) + 50)).toBeNull();
  const whole = strip.memory.boxes.find((box) => box.block === 0) as (typeof strip.memory.boxes)[number];
  expect(rectangleOf(whole, strip, time, 50)).toMatchObject({ x: 176, width: 1000 });
});
