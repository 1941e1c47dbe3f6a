import { describe, expect, it } from "vitest";
import type { TimelineJson } from "../../src/run/format";
import { Run } from "../../src/run/run";
import { splitChange } from "../../src/views/compare/split_change";
import { align, likeness, longestRising, mostAlike, type Sight } from "../../src/views/compare/align";
import { differ, isSame, onlyText, stepsOf } from "../../src/views/compare/difference";
import { layOut, parseParts, partsFor } from "../../src/views/compare/layout";
import { summaryOf } from "../../src/views/compare/summary";
import { endsOf } from "../../src/views/compare/timelines";
import { whatElse } from "../../src/views/compare/what_else";
import { usagesOf } from "../../src/views/compare/usage";
import { timelineOf } from "./sample";

type Spec = [name: string, op: string, cycles: number, boundBy?: string];

function runWith(layers: Spec[], change: Partial<TimelineJson> = {}): Run {
  const json = timelineOf([{ slices: [] }], [0], [0], change);
  const sample = json.report.layers[0] as TimelineJson["report"]["layers"][number];
  const rows = layers.map(([name, op, cycles, boundBy]) => ({ ...sample, name, op, cycles, boundBy: boundBy ?? "compute" }));
  return new Run({ ...json, makespan: layers.reduce((sum, [, , cycles]) => sum + cycles, 0), report: { ...json.report, layers: rows }, ...change });
}

const namesOf = (a: Run, b: Run) => align(a, b).pairs.map((pair) => `${pair.a?.name ?? "-"}/${pair.b?.name ?? "-"}`);

describe("align", () => {
  it("pairs namesakes wherever they stand, and the rest by operator", () => {
    const a = runWith([["stem", "Conv", 1], ["p1", "MaxPool", 1], ["c1", "Conv", 1], ["fc", "Gemm", 1]]);
    const b = runWith([["stem", "Conv", 1], ["x", "Conv", 1], ["y", "Add", 1], ["fc", "Gemm", 1]]);
    expect(namesOf(a, b)).toEqual(["stem/stem", "p1/-", "c1/x", "-/y", "fc/fc"]);
  });

  it("puts what only B has behind what is before it in B, and first where nothing is", () => {
    expect(namesOf(runWith([["m", "Conv", 1]]), runWith([["first", "Pad", 1], ["m", "Conv", 1], ["last", "Add", 1]]))).toEqual(["-/first", "m/m", "-/last"]);
  });

  it("pairs the first of a name that occurs twice with the first", () => {
    const twice: Spec[] = [["s", "Conv", 1], ["s", "Conv", 2]];
    expect(align(runWith(twice), runWith(twice)).pairs.map(({ a, b }) => [a?.index, b?.index])).toEqual([[0, 0], [1, 1]]);
  });

  it("knows the row of every layer", () => {
    const a = runWith([["a", "Conv", 1], ["b", "Add", 1]]);
    const b = runWith([["c", "Gemm", 1], ["a", "Conv", 1]]);
    const { pairs, rowOf } = align(a, b);
    pairs.forEach((pair) => {
      if (pair.a) expect(rowOf[0][pair.a.index]).toBe(pair.row);
      if (pair.b) expect(rowOf[1][pair.b.index]).toBe(pair.row);
    });
    expect(pairs).toHaveLength(3);
  });

  it("takes a network without layers", () => {
    expect(namesOf(runWith([]), runWith([["a", "Conv", 1]]))).toEqual(["-/a"]);
  });

  it("keeps the order between namesakes", () => {
    const a = runWith([["x", "Conv", 1], ["stem", "Gemm", 1], ["y", "Add", 1]]);
    const b = runWith([["u", "Add", 1], ["stem", "Gemm", 1], ["v", "Conv", 1]]);
    expect(namesOf(a, b)).toEqual(["-/u", "x/-", "stem/stem", "-/v", "y/-"]);
  });

  it("finds the pairs that are most alike, as trying everything does", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
    const best = (x: Sight[], y: Sight[]): number => {
      const [i, j] = [x[0], y[0]];
      if (!i || !j) return 0;
      const both = likeness(i, j);
      return Math.max(both && both + best(x.slice(1), y.slice(1)), best(x.slice(1), y), best(x, y.slice(1)));
    };
    const layer = runWith([["c", "Conv", 1]]).layers[0] as Sight["layer"];
    for (let round = 0; round < 60; round++) {
      const some = () => Array.from({ length: random(7) }, (_, k): Sight => ({ layer: { ...layer, index: k }, op: "AB"[random(2)] as string, name: `${"pq"[random(2)]}${random(9)}`, macs: random(4), size: random(3) }));
      const [x, y] = [some(), some()];
      const pairs = mostAlike(x, y);
      expect(pairs.reduce((sum, [one, other]) => sum + likeness(one, other), 0)).toBeCloseTo(best(x, y), 9);
      pairs.forEach(([one, other], k) => {
        expect(likeness(one, other)).toBeGreaterThan(0);
        const before = pairs[k - 1];
        if (before) expect(one.layer.index > before[0].layer.index && other.layer.index > before[1].layer.index).toBe(true);
      });
    }
  });

  it("takes more than the operator for a pair", () => {
    const sight = (name: string, macs: number, size: number, op = "Conv"): Sight => ({ layer: runWith([[name, op, 1]]).layers[0] as Sight["layer"], op, name, macs, size });
    expect(likeness(sight("a", 100, 100), sight("b", 100, 100))).toBeGreaterThan(0);
    expect(likeness(sight("a", 100, 100), sight("b", 10, 10))).toBe(0);
    expect(likeness(sight("stage3.conv1", 100, 100), sight("stage3.conv2", 20, 20))).toBeGreaterThan(0);
    expect(likeness(sight("a", 100, 100), sight("a", 100, 100, "Gemm"))).toBe(0);
  });

  it("finds a longest rising chain", () => {
    expect(longestRising([3, -1, 0, 1, 5, 2, 4])).toEqual([2, 3, 5, 6]);
    expect(longestRising([])).toEqual([]);
  });
});

describe("the layout", () => {
  const lanes = 6;
  it("shows what there is room for, or what was chosen", () => {
    expect([...partsFor(1290, 800)]).toEqual(["changes", "time", "layers"]);
    expect([...partsFor(1290, 300)]).toEqual(["changes", "layers"]);
    expect([...partsFor(790, 600)]).toEqual(["changes", "time"]);
    expect([...(parseParts("layers nonsense") ?? [])]).toEqual(["layers"]);
    expect(parseParts("nonsense")).toBeNull();
  });

  it("fills a high pane, and scrolls in a low one", () => {
    const parts = new Set(["changes", "time"] as const);
    expect(layOut(800, 900, 100, { parts, lanes, same: false }).height).toBeCloseTo(900);
    const low = layOut(800, 300, 40, { parts, lanes, same: false });
    expect(low.height).toBeGreaterThan(300);
    expect(low.time?.y).toBe((low.changes?.y ?? 0) + (low.changes?.height ?? 0));
    expect(layOut(800, 300, 40, { parts: new Set(["changes"] as const), lanes, same: false })).toMatchObject({ time: null, height: 300 });
  });
});

describe("waterfall", () => {
  const a = runWith([["c1", "Conv", 100], ["c2", "Conv", 50, "DDR read"], ["old", "Pad", 7]]);
  const b = runWith([["c1", "Conv", 40, "input wire"], ["c2", "Conv", 60, "DDR read"], ["new", "Add", 5]]);

  it("leads from A to B exactly, in either order", () => {
    for (const order of ["network", "size"] as const) {
      const steps = stepsOf(differ(a, b), order);
      expect(steps[0]?.from).toBe(157);
      expect(steps.at(-1)?.to).toBe(105);
      steps.forEach((step, k) => expect(step.from).toBe(k ? steps[k - 1]?.to : 157));
    }
  });

  it("orders by size", () => {
    expect(stepsOf(differ(a, b), "size").map(({ change }) => change?.delta)).toEqual([-60, 10, -7, 5]);
  });

  it("gives what no layer completes a bar of its own", () => {
    const late = runWith([["c1", "Conv", 40]], { makespan: 45 });
    const steps = stepsOf(differ(runWith([["c1", "Conv", 40]]), late), "network");
    expect(steps.map(({ change, from, to }) => [change?.name, from, to])).toEqual([["c1", 40, 40], [undefined, 40, 45]]);
  });

  it("compares seconds where the clocks differ, and says so", () => {
    const { device } = timelineOf([{ slices: [] }]);
    const fast = runWith([["c1", "Conv", 100], ["c2", "Conv", 50], ["old", "Pad", 7]], { device: { ...device, clockHz: 2e9 } });
    const difference = differ(a, fast);
    expect(difference.unit).toBe("seconds");
    expect(stepsOf(difference, "network").at(-1)?.to).toBeCloseTo(157 / 2e9, 18);
    expect(summaryOf(difference, "cycles")[0]).toEqual({ head: "B is 2.00× faster than A:", text: expect.stringContaining("the clocks differ (1 GHz and 2 GHz)") as string });
  });

  it("says that nothing changed, and only then", () => {
    expect(isSame(differ(a, a))).toBe(true);
    expect(summaryOf(differ(a, a), "cycles").map(({ head }) => head)).toEqual(["No difference:"]);
    expect(isSame(differ(a, runWith([["c1", "Conv", 100], ["c2", "Conv", 50], ["old", "Pad", 7]])))).toBe(false);
  });

  it("says what else differs: the device, the model's file, what is tiled", () => {
    const { device, report } = timelineOf([{ slices: [] }]);
    const made = (change: Partial<typeof device>, more: Partial<typeof report> = {}) => {
      const run = runWith([["c1", "Conv", 100], ["c2", "Conv", 50]], { device: { ...device, ddrReadBytesPerSecond: 4e9, ...change } });
      Object.assign(run.report, more);
      return run;
    };
    expect(whatElse(made({}), made({}))).toEqual([]);
    expect(whatElse(made({}), made({ ddrReadBytesPerSecond: 250e6, memtileBytes: 1 << 20 }))).toEqual(["DDR read 4.00 GB/s → 250.00 MB/s a channel", "memtile 512 KiB → 1 MiB"]);
    expect(whatElse(made({}), made({}, { model: { ...report.model, sha256: "1" } }))).toEqual(["the model's file is another one"]);
    const tiled = made({});
    Object.assign(tiled, { groups: [{ index: 0, firstLayer: 0, lastLayer: 1, tiles: 3 }] });
    expect(whatElse(made({}), tiled)).toEqual(["B computes c1 … c2 in 3 tiles"]);
    expect(whatElse(tiled, tiled)).toEqual([]);
    expect(summaryOf(differ(made({}), tiled), "cycles").map(({ head }) => head)).toContain("Differs:");
  });

  it("compares inference by inference where one run has more of them", () => {
    const one = runWith([["c1", "Conv", 100]]);
    const four = runWith([["c1", "Conv", 340]]);
    Object.assign(four.report, { time: { ...four.report.time, frames: 4 } });
    Object.assign(four.layers[0]!, { macs: 4 * one.layers[0]!.macs, denseMacs: 4 * one.layers[0]!.macs });
    const difference = differ(one, four);
    expect(difference).toMatchObject({ before: 100, after: 85, rest: 0, whole: { before: 100, after: 340 }, isThinned: false });
    expect(stepsOf(difference, "network")).toMatchObject([{ from: 100, to: 85 }]);
    expect(summaryOf(difference, "cycles")[0]).toEqual({
      head: "By inference, B is 1.18× faster than A:",
      text: "85 ns against 100 ns (85 against 100 cycles). A runs 1 in 100 ns, B 4 in 340 ns: figures are those of one, on average; over time, both runs are whole.",
    });
  });

  it("says of a layer of one run at the end of which it is in the other", () => {
    const [apart, together] = [runWith([["pw", "Conv", 60], ["dw", "Conv", 50]]), runWith([["pw", "Conv", 70]])];
    together.graph.operators[0]!.atEnd = "dw";
    const change = (difference: ReturnType<typeof differ>) => difference.changes.find(({ name }) => name === "dw")!;
    const [there, back] = [differ(apart, together), differ(together, apart)];
    expect(onlyText(there, change(there))).toBe("only in A, in B at the end of pw");
    expect(onlyText(back, change(back))).toBe("only in B, in A at the end of pw");
    delete together.graph.operators[0]!.atEnd;
    together.graph.operators[0]!.tables = ["act", "dw"];
    expect(onlyText(there, change(there))).toBe("only in A, in B at the end of pw");
    delete together.graph.operators[0]!.tables;
    together.graph.operators[0]!.atStart = "dw";
    expect(onlyText(there, change(there))).toBe("only in A, in B at the start of pw");
    delete together.graph.operators[0]!.atStart;
    expect(onlyText(there, change(there))).toBe("only in A");
  });

  it("says what changed", () => {
    const [speed, layers, aligned, bounds] = summaryOf(differ(a, b), "cycles");
    expect(speed?.head).toBe("B is 1.50× faster than A:");
    expect(layers?.text).toBe("2 layers take less time in B, most of all c1 −60, old (only in A) −7; 2 layers take more, most of all c2 +10, new (only in B) +5.");
    expect(aligned?.text).toBe("2 of A's 3 and B's 3 layers, by name.");
    expect(bounds?.text).toBe("1 of 2 changed: 1 compute → input wire. 1 layer only in A. 1 layer only in B.");
  });
});

describe("usage", () => {
  it("shares out the busy cycles of the steps, the short last one too", () => {
    const run = runWith([["c", "Conv", 25]], { counters: { step: 10, series: [{ name: "compute", unit: "busy cycles", most: 20, values: [20, 10, 5] }] } });
    const usage = usagesOf(run)[0];
    expect(usage?.share(0, 10)).toBe(1);
    expect(usage?.share(10, 20)).toBe(0.5);
    expect(usage?.share(20, 25)).toBe(0.5);
    expect(usage?.share(5, 15)).toBe(0.75);
    expect(usage?.share(0, 25)).toBeCloseTo(35 / 50);
    expect(usage?.share(3, 3)).toBe(0);
  });
});

describe("how a split changed", () => {
  it("says once what is the same", () => {
    expect(splitChange("W/4 x C/4, 1 pass", "W/4 x C/4, 1 pass")).toBe("W/4 x C/4, 1 pass");
    expect(splitChange("W/4 x C/4, 1 pass", "W/8 x C/8, 3 passes")).toBe("W/4→8 x C/4→8, 1→3 passes");
    expect(splitChange("W/4 x C/4, 16 passes, reduction cut in 4", "W/7 x C/8, 16 passes")).toBe("W/4→7 x C/4→8, 16 passes, reduction cut in 4 (A)");
    expect(splitChange("H/2", "W/4, 2 passes, input resident")).toBe("H/2 (A), W/4 (B), 2 passes (B), input resident (B)");
  });
});

describe("labels of where the runs end", () => {
  const time = { left: 0, right: 300, x: (amount: number) => amount };
  const ends = (before: number, after: number) => endsOf({ before, after }, time, (text) => 7 * text.length);
  it("stand beside each other where there is room", () => {
    expect(ends(300, 200)).toEqual([["B ends", 154, 200], ["A ends", 254, 300]]);
    expect(ends(250, 250)).toEqual([["A and B end", 169, 250]]);
    expect(ends(400, 200)).toEqual([["B ends", 154, 200]]);
  });
  it("are one where one would lie on the other", () => {
    expect(ends(300, 270)).toEqual([["", 270, 270], ["B ends, then A", 198, 300]]);
    expect(ends(260, 300)).toEqual([["", 260, 260], ["A ends, then B", 198, 300]]);
  });
});
