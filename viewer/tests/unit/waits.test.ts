// What an engine waits for: by the neighbour that ended the wait, or followed back to what ran meanwhile.
import { describe, expect, it } from "vitest";
import type { Run } from "../../src/run/run";
import { letGoBy, piecesOf, senseOf, STALLS, type Waits, waitParts, waitSentence } from "../../src/run/stalls";
import { runOf } from "./sample";

// DDR in   |      0..90      |
// wire     . . . . . . . . . .|90..100|
// core     . . . . . . . . . . . . . . |100..120|
const chain = (): Run =>
  runOf(
    [
      { engine: "ddrIn", slices: [{ start: 0, end: 90, leaf: 0 }] },
      { engine: "wire", slices: [{ start: 90, end: 100, ready: 0, leaf: 1, cause: { track: 0, index: 0 } }] },
      { engine: "core", slices: [{ start: 100, end: 120, ready: 0, leaf: 2, cause: { track: 1, index: 0 } }] },
    ],
    [0, 0, 0],
    [4, 2, 0],
  );

const piecesIn = (run: Run, track: number, i: number, waits: Waits) => {
  const { count, stall, from, to } = piecesOf(run, run.tracks[track]!, i, waits);
  return Array.from({ length: count }, (_, k) => [STALLS[stall[k]!], from[k], to[k]]);
};

describe("a wait", () => {
  it("is the neighbour's as a whole, or each one's that ran meanwhile", () => {
    expect(piecesIn(chain(), 2, 0, "direct")).toEqual([["input", 0, 100]]);
    expect(piecesIn(chain(), 2, 0, "root")).toEqual([["input", 90, 100], ["DDR", 0, 90]]);
    expect(waitParts(chain(), chain().tracks[2]!, 0, "root").map(({ stall, cycles }) => [STALLS[stall], cycles])).toEqual([["DDR", 90], ["input", 10]]);
  });

  it("goes to what was in front of the cause on its engine, before the cause was reached", () => {
    const run = runOf(
      [
        { engine: "wire", slices: [{ start: 0, end: 60, leaf: 0 }, { start: 60, end: 100, leaf: 1 }] },
        { engine: "core", slices: [{ start: 100, end: 120, ready: 0, leaf: 2, cause: { track: 0, index: 1 } }] },
      ],
      [0, 0, 0],
      [1, 2, 0],
    );
    expect(piecesIn(run, 1, 0, "root")).toEqual([["input", 60, 100], ["weights", 0, 60]]);
  });

  it("is the same whenever it is asked for, in runs of many slices, too", () => {
    const many = 2500; // each waits for DDR, then for the wire
    const at = (k: number) => 100 * k;
    const run = runOf(
      [
        { engine: "ddrIn", slices: Array.from({ length: many }, (_, k) => ({ start: at(k), end: at(k) + 40, leaf: 0 })) },
        { engine: "wire", slices: Array.from({ length: many }, (_, k) => ({ start: at(k) + 40, end: at(k) + 60, ready: at(k), leaf: 1, cause: { track: 0, index: k } })) },
        { engine: "core", slices: Array.from({ length: many }, (_, k) => ({ start: at(k) + 60, end: at(k + 1), ready: at(k), leaf: 2, ...(k % 2 ? { cause: { track: 1, index: k } } : {}) })) },
      ],
      [0, 0, 0],
      [4, 2, 0],
    );
    for (const k of [0, 1, 2499, 1023, 1024, 1025, 1, 2048, 2047, 3])
      expect(piecesIn(run, 2, k, "root")).toEqual(k % 2 ? [["input", at(k) + 40, at(k) + 60], ["DDR", at(k), at(k) + 40]] : [["order", at(k), at(k) + 60]]);
    expect(piecesIn(run, 2, 1, "direct")).toEqual([["input", 100, 160]]);
    expect(piecesIn(chain(), 2, 0, "root"), "another run").toEqual([["input", 90, 100], ["DDR", 0, 90]]);
  });

  it("is none of a slice that started when it was ready", () => {
    expect(piecesIn(chain(), 0, 0, "root")).toEqual([]);
    expect(letGoBy(chain(), chain().tracks[0]!, 0)).toBe("");
  });
});

describe("a lock", () => {
  const withLock = (producer: string, consumer: string, tileKind: number): Run =>
    runOf(
      [
        { engine: producer as never, slices: [{ start: 0, end: 50, leaf: 0 }] },
        { engine: consumer as never, slices: [{ start: 50, end: 60, ready: 0, leaf: 1, lock: 0, wait: 1, cause: { track: 0, index: 0 } }] },
      ],
      [0, 0],
      [3, 5],
      { locks: { tileKinds: ["ddr", "memtile", "core"], tileKind: [tileKind], row: [0], column: [0], index: [3], initial: [0], producer: [0], consumer: [1] } },
    );

  it.each([
    ["ddrIn", "wire", 1, "data"], ["wire", "ddrIn", 1, "place"], ["coreOut", "ddrOut", 1, "data"], ["ddrOut", "coreOut", 1, "place"],
    ["coreIn", "core", 2, "data"], ["core", "coreIn", 2, "place"], ["core", "coreOut", 2, "data"], ["coreOut", "core", 2, "place"],
  ])("from %s to %s says that there is no %s", (producer, consumer, tile, sense) => {
    expect(senseOf(withLock(producer, consumer, tile), 0)).toBe(sense);
  });

  it("of outputs that are not there yet leaves who takes them away with nothing to do", () => {
    const run = withLock("coreOut", "ddrOut", 1);
    for (const waits of ["root", "direct"] as const) expect(piecesIn(run, 1, 0, waits)).toEqual([["nothing to do", 0, 50]]);
    expect(letGoBy(run, run.tracks[1]!, 0)).toBe("a lock: there was no output yet");
  });
});

describe("the sequencer", () => {
  it("holds up nobody when it waits for what it has started: the run's end is no cause of its own", () => {
    const run = runOf(
      [
        { engine: "core", slices: [{ start: 0, end: 100, leaf: 0 }] },
        { engine: "sequencer", slices: [{ start: 100, end: 100, ready: 0, leaf: 1, wait: 4, cause: { track: 0, index: 0 } }] },
      ],
      [0, 0],
      [0, 6],
    );
    for (const waits of ["root", "direct"] as const) {
      expect(piecesIn(run, 1, 0, waits)).toEqual([["nothing to do", 0, 100]]);
      expect(waitSentence(run, run.tracks[1]!, 0, waits, (cycles) => `${cycles} cycles`)).toBe("waits 100 cycles for the run's end (the end of a DDR transfer)");
    }
  });
});
