import { describe, expect, it } from "vitest";
import type { TimelineJson } from "../../src/run/format";
import { Run } from "../../src/run/run";
import { align, commonSequence } from "../../src/views/compare/align";
import { differ, stepsOf } from "../../src/views/compare/difference";
import { summaryOf } from "../../src/views/compare/summary";
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

  it("finds as many pairs as trying everything does", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
    const longest = (x: string[], y: string[]): number =>
      !x.length || !y.length ? 0 : x[0] === y[0] ? 1 + longest(x.slice(1), y.slice(1)) : Math.max(longest(x.slice(1), y), longest(x, y.slice(1)));
    for (let round = 0; round < 50; round++) {
      const ops = () => Array.from({ length: random(8) }, () => "ABC"[random(3)] as string);
      const [x, y] = [ops(), ops()];
      const layersOf = (list: string[]) => runWith(list.map((op, k): Spec => [`${op}${k}`, op, 1])).layers;
      const pairs = commonSequence(layersOf(x), layersOf(y));
      expect(pairs).toHaveLength(longest(x, y));
      pairs.forEach(([one, other], k) => {
        expect(one.op).toBe(other.op);
        if (k > 0) expect(one.index > (pairs[k - 1]?.[0].index ?? 0) && other.index > (pairs[k - 1]?.[1].index ?? 0)).toBe(true);
      });
    }
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

  it("says what changed", () => {
    const [speed, layers, bounds] = summaryOf(differ(a, b), "cycles");
    expect(speed?.head).toBe("B is 1.50× faster than A:");
    expect(layers?.text).toBe("2 layers take less time in B, most of all c1 −60, old (only in A) −7; 2 layers take more, most of all c2 +10, new (only in B) +5.");
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
