import { describe, expect, it } from "vitest";
import { executionsOfLeaf } from "../../src/run/executions";
import { loadOf } from "../../src/run/load";
import { Run, type Stretch } from "../../src/run/run";
import { STALLS, stallOf } from "../../src/run/stalls";
import { runOf, type SliceSpec, timelineOf } from "./sample";

function sumsOf(run: Run, track: number, { from, to }: Stretch) {
  const load = loadOf(run, "direct");
  const sums = new Float64Array(load.columns.count);
  load.add(track, from, to, sums);
  return { sums, columns: load.columns };
}

describe("Track", () => {
  it("gives every slice back, over many blocks", () => {
    let end = 0;
    const slices: SliceSpec[] = Array.from({ length: 5000 }, (_, i) => {
      const ready = end;
      const start = ready + (i % 3);
      end = start + 1 + (i % 7);
      return { ready, start, end, leaf: i % 4, lock: i % 3 ? 0 : -1, ...(i % 3 ? { cause: { track: 1, index: i } } : {}) };
    });
    const causes: SliceSpec[] = Array.from({ length: 5000 }, (_, i) => ({ start: i, end: i + 1 }));
    const run = runOf([{ slices }, { engine: "coreIn", slices: causes }], [0, 0, 1, 1]);
    const track = run.tracks[0]!;
    for (const i of [0, 1, 2, 1023, 1024, 1025, 2047, 4096, 4999, 7, 3333]) {
      const s = slices[i]!;
      expect([track.start(i), track.end(i), track.ready(i), track.leaf(i), track.lock(i)]).toEqual([s.start, s.end, s.ready, s.leaf, s.lock]);
      expect(track.layer(i)).toBe(s.leaf! < 2 ? 0 : 1);
      expect(run.causeOf({ track: 0, index: i })).toEqual(s.cause ?? null);
    }
  });

  it("finds slices by time as a walk through all of them does", () => {
    const slices: SliceSpec[] = [{ start: 2, end: 5 }, { start: 9, end: 10, ready: 7 }, { start: 10, end: 30 }];
    const track = runOf([{ slices }]).tracks[0]!;
    for (let cycle = -1; cycle < 33; cycle++) {
      const walked = slices.findIndex((s) => s.end > cycle);
      expect(track.firstAfter(cycle)).toBe(walked < 0 ? slices.length : walked);
    }
    expect(track.at(6)).toBe(-1); // neither runs nor waits
    expect(track.at(8)).toBe(1); // waits
    expect(track.at(6, 1)).toBe(0); // near enough
    expect(track.at(40)).toBe(-1);
  });

  it("tells what a slice waited for by who ended the wait", () => {
    const run = runOf(
      [{ slices: [{ ready: 0, start: 4, end: 6, leaf: 0, cause: { track: 1, index: 0 } }] }, { engine: "coreIn", slices: [{ start: 0, end: 4, leaf: 1 }] }],
      [0, 0],
      [0, 1],
    );
    expect(STALLS[stallOf(run, run.tracks[0]!, 0, "direct")]).toBe("weights");
    expect(stallOf(run, run.tracks[1]!, 0, "direct")).toBe(-1);
  });

  it("gives a slice the bytes and MACs of its own weight record, where the file has them", () => {
    const many: SliceSpec[] = Array.from({ length: 3000 }, (_, i) => ({ start: i, end: i + 1, bytes: i % 700, macs: 5_000_000_000 + i }));
    const run = runOf([{ slices: many }, { slices: [{ start: 0, end: 4 }] }]);
    const [own, shared] = [run.tracks[0]!, run.tracks[1]!];
    for (const i of [0, 1, 699, 700, 1023, 1024, 2999]) expect([run.bytesOf(own, i), run.macsOf(own, i)]).toEqual([i % 700, 5_000_000_000 + i]);
    expect([run.bytesOf(shared, 0), run.macsOf(shared, 0)]).toEqual([64, 256]);
    const { sums, columns } = sumsOf(run, 0, { from: 0, to: 1024 });
    expect(sums[columns.bytes]).toBe(many.slice(0, 1024).reduce((sum, { bytes }) => sum + bytes!, 0));
    expect(sums[columns.macs]).toBe(many.slice(0, 1024).reduce((sum, { macs }) => sum + macs!, 0));
    const all = executionsOfLeaf(run, 0);
    expect([all.slices, all.bytes]).toEqual([3001, many.reduce((sum, { bytes }) => sum + bytes!, 64)]);
  });

  it("refuses a slice that is not there", () => {
    expect(() => runOf([{ slices: [{ start: 0, end: 1 }] }]).tracks[0]!.start(1)).toThrow(RangeError);
  });
});

describe("Run", () => {
  it("lays the layers' stretches end to end over the run", () => {
    const run = runOf([{ slices: [{ start: 0, end: 10, leaf: 0 }, { start: 10, end: 21, leaf: 1 }] }], [0, 1]);
    expect(run.layers.map(({ from, to }) => [from, to])).toEqual([[0, 10], [10, 21]]);
    expect(run.makespan).toBe(21);
  });

  it("rejects a newer major version in one sentence, and what is no timeline", () => {
    expect(() => new Run({ ...timelineOf([]), format: "heddle.timeline/2" })).toThrow(/heddle\.timeline\/2.*reads heddle\.timeline\/1/);
    expect(() => new Run({ ...timelineOf([]), format: "something" })).toThrow(/not a timeline of heddle/);
  });
});
