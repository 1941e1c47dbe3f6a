import { describe, expect, it } from "vitest";
import { criticalPath, LINK_ENGINE, LINK_FIRST, LINK_WAIT, stepAt, stepOf } from "../../src/run/critical_path";
import { Replay, type Task } from "../../src/run/replay";
import type { Run } from "../../src/run/run";
import { folded, foldsAround, linesOf } from "../../src/views/path/fold";
import { knownOf } from "../../src/views/path/known";
import { cyclesIn, onlyOf, onlyText, stepsIn } from "../../src/views/path/only";
import { GROUPINGS, sharesOf } from "../../src/views/path/shares";
import { stripData, withoutIdle } from "../../src/views/path/strip";
import { runOf, type SliceSpec, type TrackSpec } from "./sample";

function finished<T>(task: Task<T>): T {
  for (;;) {
    const step = task.next();
    if (step.done) return step.value;
  }
}
const without = (run: Run, layer: number) => finished(finished(Replay.of(run)).makespanWithout("layer", layer));

/** The core waits for the wire, which then goes on: 0..4 wire, 4..10 core, 10..12 wire after the core, 12..13 core. */
const handed = (): Run =>
  runOf(
    [
      { slices: [{ start: 4, end: 10, ready: 0, leaf: 0, lock: 0, cause: { track: 1, index: 0 } }, { start: 12, end: 13, ready: 10, leaf: 0, wait: 2, cause: { track: 1, index: 1 } }] },
      { engine: "wire", slices: [{ start: 0, end: 4, leaf: 1 }, { start: 10, end: 12, ready: 4, leaf: 1, lock: 0, cause: { track: 0, index: 0 } }] },
    ],
    [0, 1],
    [0, 1],
  );

/** Machines whose slices start when their engine and one slice of another engine are done; the wait is recorded as the file does. */
function randomRun(seed: number): { run: Run; slow(free: number): number } {
  let state = seed;
  const random = (n: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % n;
  const tracks: (SliceSpec & { needs: { track: number; index: number } | null })[][] = [[], [], [], []];
  for (let k = 0; k < 200; k++) {
    const t = random(4);
    const other = (t + 1 + random(3)) % 4;
    const needs = random(2) && tracks[other]!.length ? { track: other, index: tracks[other]!.length - 1 } : null;
    const ready = tracks[t]!.at(-1)?.end ?? 0;
    const released = needs ? tracks[other]![needs.index]!.end : 0;
    const start = Math.max(ready, released);
    const waits = released > ready && needs;
    tracks[t]!.push({ ready, start, end: start + random(5), leaf: random(3), needs, ...(waits ? { cause: needs } : {}) });
  }
  const run = runOf(tracks.map((slices): TrackSpec => ({ slices })), [0, 1, 2]);
  // All dependencies, met early or late: what the machine would really do.
  const slow = (free: number) => {
    const ends = new Map<object, number>();
    const end = (t: number, i: number): number => {
      const s = tracks[t]![i]!;
      const known = ends.get(s);
      if (known !== undefined) return known;
      const start = Math.max(i > 0 ? end(t, i - 1) : 0, s.needs ? end(s.needs.track, s.needs.index) : 0);
      const value = start + (s.leaf === free ? 0 : s.end - s.start);
      ends.set(s, value);
      return value;
    };
    return Math.max(0, ...tracks.map((slices, t) => (slices.length ? end(t, slices.length - 1) : 0)));
  };
  return { run, slow };
}

describe("criticalPath", () => {
  it("goes from each slice to what let it start", () => {
    const path = criticalPath(handed());
    expect([...path.time]).toEqual([0, 4, 10, 12, 13]);
    expect([...path.track]).toEqual([1, 0, 1, 0]);
    expect([...path.link]).toEqual([LINK_FIRST, LINK_WAIT + 1, LINK_WAIT + 1, LINK_WAIT + 2]);
    expect([...path.lock]).toEqual([-1, 0, 0, -1]);
    expect([...path.layer]).toEqual([1, 0, 1, 0]);
  });

  it("follows the engine where a slice did not wait", () => {
    const path = criticalPath(runOf([{ slices: [{ start: 0, end: 3 }, { start: 3, end: 7 }] }]));
    expect([...path.time]).toEqual([0, 3, 7]);
    expect([...path.link]).toEqual([LINK_FIRST, LINK_ENGINE]);
  });

  it("calls it latency where nothing of the path runs", () => {
    // Starts late without a cause, and after a cause that ended earlier.
    const path = criticalPath(runOf([{ slices: [{ start: 2, end: 5 }, { start: 9, end: 12, cause: { track: 1, index: 0 } }] }, { engine: "wire", slices: [{ start: 1, end: 8 }] }]));
    expect([...path.time]).toEqual([0, 1, 8, 9, 12]);
    expect([...path.track]).toEqual([-1, 1, -1, 0]);
  });

  it("cuts a cause that ends after the wait did, and leaves causes in a circle", () => {
    const late = criticalPath(runOf([{ slices: [{ start: 6, end: 9, ready: 0, cause: { track: 1, index: 0 } }] }, { slices: [{ start: 0, end: 8 }] }]));
    expect([...late.time]).toEqual([0, 6, 9]);
    const circle = criticalPath(
      runOf([{ slices: [{ start: 5, end: 5, ready: 0, cause: { track: 1, index: 0 } }] }, { slices: [{ start: 5, end: 5, ready: 0, cause: { track: 0, index: 0 } }] }]),
    );
    expect(circle.time[0]).toBe(0);
    expect(circle.time[circle.steps]).toBe(5);
  });

  it("fills the run without gap or overlap, and every grouping shares out all of it", () => {
    for (let seed = 1; seed < 40; seed++) {
      const { run } = randomRun(seed);
      const path = criticalPath(run);
      expect(path.time[0]).toBe(0);
      expect(path.time[path.steps]).toBe(run.makespan);
      for (let k = 0; k < path.steps; k++) expect(path.time[k + 1]!).toBeGreaterThanOrEqual(path.time[k]!);
      for (const by of GROUPINGS) expect(sharesOf(run, path, by).reduce((sum, share) => sum + share.cycles, 0)).toBe(run.makespan);
    }
  });

  it("has nothing to walk in an empty run", () => {
    const run = runOf([{ slices: [] }]);
    expect(criticalPath(run).steps).toBe(0);
    expect(sharesOf(run, criticalPath(run), "layer")).toEqual([]);
    expect(folded(run, criticalPath(run))).toEqual([]);
  });

  it("finds steps by time and by slice", () => {
    const run = handed();
    const path = criticalPath(run);
    expect([0, 3, 4, 11, 12, 99].map((cycle) => stepAt(path, cycle))).toEqual([0, 0, 1, 2, 3, 3]);
    expect(stepOf(run, path, { track: 1, index: 1 })).toBe(2);
    expect(stepOf(run, path, { track: 7, index: 1 })).toBe(-1);
  });
});

describe("Replay", () => {
  it("gives the makespan back when nothing is freed", () => {
    expect(without(handed(), -1)).toBe(13);
    for (let seed = 1; seed < 40; seed++) {
      const { run } = randomRun(seed);
      expect(without(run, -1)).toBe(run.makespan);
    }
  });

  it("takes a freed layer's time out of the chain", () => {
    expect(without(handed(), 0)).toBe(6); // the wire's 4 + 2
    expect(without(handed(), 1)).toBe(7); // the core's 6 + 1
  });

  it("never promises less than really running without the layer gives, nor more than the run", () => {
    for (let seed = 1; seed < 60; seed++) {
      const { run, slow } = randomRun(seed);
      for (const layer of [0, 1, 2]) {
        const makespan = without(run, layer);
        expect(makespan).toBeLessThanOrEqual(slow(layer));
        expect(makespan).toBeLessThanOrEqual(run.makespan);
      }
    }
  });

  it("keeps latencies, and breaks circles of causes where they close", () => {
    const run = runOf([{ slices: [{ start: 2, end: 5, leaf: 0 }] }], [0, 1]);
    expect(without(run, 0)).toBe(2);
    const circle = runOf([{ slices: [{ start: 5, end: 7, ready: 0, cause: { track: 1, index: 0 } }] }, { slices: [{ start: 5, end: 6, ready: 0, cause: { track: 0, index: 0 } }] }]);
    expect(without(circle, -1)).toBe(7);
  });
});

describe("folded", () => {
  /** One engine after another, each slice let go by the one before: leaf and track as given. */
  const chain = (tracks: number[]): Run => {
    const specs: TrackSpec[] = [{ slices: [] }, { slices: [] }, { slices: [] }];
    let last: { track: number; index: number } | undefined;
    tracks.forEach((t, k) => {
      const slices = specs[t]!.slices;
      const ready = slices.at(-1)?.end ?? 0;
      slices.push({ ready, start: k, end: k + 1, ...(k > ready && last ? { cause: last } : {}) });
      last = { track: t, index: slices.length - 1 };
    });
    return runOf(specs);
  };
  const shape = (run: Run) => folded(run, criticalPath(run)).map((item) => [item.first, item.end, item.times]);

  it("folds what stands in a row, and the loop around it", () => {
    expect(shape(chain([0, 0, 0, 1]))).toEqual([[0, 3, 3], [3, 4, 1]]);
    expect(shape(chain([0, 0, 1, 0, 0, 1, 2]))).toEqual([[0, 6, 2], [6, 7, 1]]);
    expect(shape(chain([0, 1, 2]))).toEqual([[0, 1, 1], [1, 2, 1], [2, 3, 1]]);
  });

  it("opens down to each step", () => {
    const run = chain([0, 0, 1, 0, 0, 1, 2]);
    const items = folded(run, criticalPath(run));
    const open = foldsAround(items, 4);
    expect(open).toEqual(["0-6", "3-5"]);
    expect(linesOf(items, new Set(open)).map(({ item, depth }) => `${depth}:${item.first}-${item.end}`)).toEqual(["0:0-6", "1:0-2", "1:2-3", "1:3-5", "2:3-4", "2:4-5", "1:5-6", "0:6-7"]);
  });
});

describe("one group alone", () => {
  it("has the steps and cycles of its share, whatever it is grouped by", () => {
    for (let seed = 1; seed < 20; seed++) {
      const { run } = randomRun(seed);
      const path = criticalPath(run);
      const all = { first: 0, end: path.steps };
      for (const by of GROUPINGS)
        for (const share of sharesOf(run, path, by)) {
          const only = onlyOf(run, path, onlyText(by, share.group));
          expect(only && [only.by, only.group, cyclesIn(only, all), stepsIn(only, all)]).toEqual([by, share.group, share.cycles, share.steps]);
        }
    }
  });

  it("is nothing where the text names none, as in a link that was made for another run", () => {
    const run = handed();
    const path = criticalPath(run);
    for (const text of ["", "layer", "layer:", "layer:7", "tensor:0", "layer:1e3", "lock:-99"]) expect(onlyOf(run, path, text), text).toBeNull();
    expect(knownOf(run).onlyOf("layer:7")).toMatchObject({ only: null, strip: null });
  });

  it("leaves the lines that have one of its steps, folds too", () => {
    const run = handed();
    const path = criticalPath(run);
    const wire = onlyOf(run, path, "resource:1");
    const lines = linesOf(folded(run, path), new Set(), (item) => wire !== null && stepsIn(wire, item) > 0);
    expect(lines.map(({ item }) => [item.first, item.end, wire && cyclesIn(wire, item)])).toEqual([[0, 4, 6]]); // 2 x (wire, core)
  });

  it("is a part of the strip", () => {
    const run = handed();
    const path = criticalPath(run);
    const last = (sums: Float64Array) => sums[sums.length - 1];
    const all = stripData(run, path);
    const wire = stripData(run, path, (k) => path.layer[k] === 1);
    expect([all.lanes, all.before.map(last), wire.before.map(last)]).toEqual([[0, 1], [7, 6], [0, 6]]);
    expect(withoutIdle(wire).lanes).toEqual([1]);
  });
});
