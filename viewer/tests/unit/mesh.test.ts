import { describe, expect, it } from "vitest";
import type { Run } from "../../src/run/run";
import { STALLS, stallOf } from "../../src/run/stalls";
import { meshFigures, paddedShare, shareOf } from "../../src/views/mesh/figures";
import { feedsOf, memtileOf } from "../../src/run/feeds";
import { layOut, wireKinds } from "../../src/views/mesh/geometry";
import { columnsOf, loadOf } from "../../src/run/load";
import { runOf, type SliceSpec, timelineOf } from "./sample";
import { Run as RunOf } from "../../src/run/run";

/** Slices of random length on three engines, with waits, and some without length. */
function randomRun(seed: number, slices: number, longest: number): Run {
  let state = seed;
  const random = (n: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % n;
  const tracks: SliceSpec[][] = [[], [], []];
  for (let k = 0; k < slices; k++) {
    const t = random(3);
    const other = (t + 1) % 3;
    const before = tracks[t]!.at(-1)?.end ?? 0;
    const ready = before + (random(5) === 0 ? random(longest) : 0);
    const start = ready + (random(2) ? random(longest) : 0);
    const cause = tracks[other]!.length ? { track: other, index: tracks[other]!.length - 1 } : undefined;
    tracks[t]!.push({ ready, start, end: start + random(longest), leaf: random(4), ...(start > ready && cause ? { cause } : {}) });
  }
  return runOf([{ slices: tracks[0]! }, { engine: "wire", slices: tracks[1]! }, { engine: "coreOut", slices: tracks[2]! }], [0, 1, 2, 2], [0, 1, 2, 3]);
}

/** The same by walking all slices. */
function slowSum(run: Run, index: number, from: number, to: number): Float64Array {
  const columns = columnsOf(run);
  const out = new Float64Array(columns.count);
  const track = run.tracks[index]!;
  const part = (a: number, b: number) => (b > a ? Math.max(0, Math.min(b, to) - Math.max(a, from)) / (b - a) : a >= from && a < to ? 1 : 0);
  for (let i = 0; i < track.size; i++) {
    const [ready, start, end, leaf] = [track.ready(i), track.start(i), track.end(i), track.leaf(i)];
    if (start > ready) out[columns.stall + stallOf(run, track, i, "direct")]! += part(ready, start) * (start - ready);
    out[run.instructions.resource[leaf]!]! += part(start, end) * (end - start);
    out[columns.macs]! += part(start, end) * run.instructions.macs[leaf]!;
    out[columns.needed]! += part(start, end) * run.macsNeededBy(track, i);
    out[columns.bytes]! += part(start, end) * run.instructions.bytes[leaf]!;
  }
  return out;
}

describe("the load of a track", () => {
  for (const [seed, slices, longest] of [[1, 90, 9], [2, 3000, 40], [3, 700, 3000]] as const)
    it(`is what a walk over all slices finds, in any window (${slices} slices)`, () => {
      const run = randomRun(seed, slices, longest);
      const load = loadOf(run, "direct");
      for (let k = 0; k < 120; k++) {
        const from = ((k * 7919) % 1000) / 1000 * run.makespan;
        const to = k % 3 ? from + (k % 17) * (run.makespan / 40) : Math.round(from) + k;
        for (let t = 0; t < 3; t++) {
          const sums = new Float64Array(load.columns.count);
          load.add(t, from, to, sums);
          const slow = slowSum(run, t, from, to);
          sums.forEach((v, c) => expect(Math.abs(v - slow[c]!)).toBeLessThan(1e-6 * Math.max(1, run.makespan)));
        }
      }
    });

  it("counts a slice without length in the window that it starts in", () => {
    const run = runOf([{ slices: [{ start: 0, end: 1024 }, { start: 1024, end: 1024 }, { start: 1024, end: 2048 }] }]);
    const macs = (from: number, to: number) => {
      const sums = new Float64Array(loadOf(run, "direct").columns.count);
      loadOf(run, "direct").add(0, from, to, sums);
      return sums[loadOf(run, "direct").columns.macs];
    };
    expect(macs(0, 1024)).toBe(256);
    expect(macs(1024, 2048)).toBe(512);
    expect(macs(0, 2048)).toBe(768);
  });

  it("fills its bins with all that ran", () => {
    const run = randomRun(5, 2000, 50);
    const load = loadOf(run, "direct");
    const bins = new Float64Array(load.bins);
    load.addBins(0, 0, bins);
    expect(bins.reduce((a, b) => a + b, 0)).toBeCloseTo(slowSum(run, 0, 0, run.makespan)[0]!, 6);
  });

  it("knows where a layer ran", () => {
    const run = runOf([{ slices: [{ start: 0, end: 10, leaf: 0 }, { start: 10, end: 20, leaf: 1 }] }], [0, 1]);
    expect(loadOf(run, "direct").ranLayer(0, 0, { from: 0, to: 5 })).toBe(true);
    expect(loadOf(run, "direct").ranLayer(0, 0, { from: 10, to: 20 })).toBe(false);
    expect(loadOf(run, "direct").ranLayer(0, 1, { from: 0, to: 11 })).toBe(true);
  });
});

describe("the figures of the mesh", () => {
  it("tell busy, waiting, idle and padded time of a core, and a wire's rate", () => {
    const timeline = timelineOf(
      [
        { engine: "core", slices: [{ start: 4, end: 10, ready: 0, leaf: 0, cause: { track: 1, index: 0 } }] },
        { engine: "wire", slices: [{ start: 0, end: 4, leaf: 1 }, { start: 15, end: 20, ready: 15, leaf: 1 }] },
      ],
      [0, 0], [0, 1],
    );
    timeline.device.wires = [{ name: "w", reach: { row: 0, column: 0, rows: 1, columns: 1 }, feeders: [0] }];
    const run = new RunOf(timeline);
    const mesh = meshFigures(loadOf(run, "direct"), { from: 0, to: 20 });
    const core = mesh.cores[0]!;
    expect([core.busy, core.stalled]).toEqual([0.3, 0.2]);
    expect(core.idle).toBeCloseTo(0.5);
    expect(STALLS[core.worst]).toBe("weights");
    expect(paddedShare(core)).toBe(0.5);
    expect(shareOf("padded", mesh.memtiles[0]!)).toBeNull();
    expect(mesh.wires[0]!.busy).toBe(0.45);
    expect(mesh.wires[0]!.rate).toBeCloseTo(128 / 20e-9);
  });

  it("are there for a run in which nothing happens", () => {
    const run = runOf([]);
    const mesh = meshFigures(loadOf(run, "direct"), { from: 0, to: 0 });
    expect(mesh.cores[0]!.idle).toBe(1);
    expect(paddedShare(mesh.cores[0]!)).toBeNull();
  });
});

describe("the drawing of the mesh", () => {
  const device = (rows: number, columns: number, wires: { rows: number; columns: number; row?: number; column?: number }[]) => ({
    ...timelineOf([]).device, rows, columns,
    wires: wires.map((w, k) => ({ name: `w${k}`, reach: { row: w.row ?? 0, column: w.column ?? 0, rows: w.rows, columns: w.columns }, feeders: [0] })),
  });

  it("tells wires of a column, of a row and of more", () => {
    expect(wireKinds(device(1, 1, [{ rows: 1, columns: 1 }, { rows: 1, columns: 1 }]))).toEqual(["column", "row"]);
    expect(wireKinds(device(2, 2, [{ rows: 2, columns: 1 }, { rows: 1, columns: 2 }, { rows: 2, columns: 2 }]))).toEqual(["column", "row", "wide"]);
  });

  it("keeps every tile within the picture, at any size of device and pane", () => {
    for (const [rows, columns] of [[1, 1], [3, 5], [8, 8], [1, 8], [8, 1]] as const)
      for (const [width, height] of [[1290, 830], [1290, 480], [700, 220], [480, 300]] as const) {
        const wires = [...Array.from({ length: columns }, (_, column) => ({ rows, columns: 1, column })), ...Array.from({ length: rows }, (_, row) => ({ rows: 1, columns, row }))];
        const geometry = layOut(device(rows, columns, wires), width, height);
        for (const box of [...geometry.cores, ...geometry.memtiles]) {
          expect(box.width).toBeGreaterThan(8);
          expect(box.height).toBeGreaterThan(5);
          expect(box.x + box.width).toBeLessThanOrEqual(geometry.panel?.x ?? width);
          expect(box.y + box.height).toBeLessThanOrEqual(geometry.scrubber.y);
        }
      }
  });
});

describe("who feeds a wire", () => {
  it("is told by its line of asm", () => {
    expect(memtileOf("LOADFM %0[y 0] mem(column) @0x0 [8 B]", 3)).toBe(3);
    expect(memtileOf("LOADWM record[0] mem(-4 + column) @0x0", 6)).toBe(2);
    expect(memtileOf("x mem(2*column - 1) @0x0", 3)).toBe(5);
    expect(memtileOf("x mem(2) @0x0", 3)).toBe(2);
    expect(memtileOf("x mem(i0 + column)", 3)).toBeNull();
    expect(memtileOf("CONV k0 %1", 3)).toBeNull();
  });

  it("is summed over the run, by bytes", () => {
    const json = timelineOf([{ engine: "wire", column: 1, slices: [{ start: 0, end: 1 }, { start: 1, end: 2, leaf: 1 }, { start: 2, end: 3 }] }], [0, 0], [2, 2]);
    const wires = ["a", "b"].map((name) => ({ name, reach: { row: 0, column: 0, rows: 1, columns: 1 }, feeders: [0, 1] }));
    const run = new RunOf({ ...json, asm: "L mem(column)\nL mem(-1 + column)", device: { ...json.device, wires }, instructions: { ...json.instructions, bytes: [30, 40] } });
    expect(feedsOf(run).map((feeds) => [...feeds])).toEqual([[], [[1, 0.6], [0, 0.4]]]);
  });
});
