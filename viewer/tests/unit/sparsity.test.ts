// tests/unit/driver/compare_text_test.cc has the same layers and expects the same sentences.
import { describe, expect, it } from "vitest";
import { Run } from "../../src/run/run";
import { columnsOf } from "../../src/views/compare/change_table";
import { differ } from "../../src/views/compare/difference";
import { sparsityOf, thinnedNumbers, thinnedText } from "../../src/views/compare/sparsity";
import { summaryOf } from "../../src/views/compare/summary";
import { timelineOf } from "./sample";

interface Of {
  name: string;
  cycles: number;
  macs: number;
  boundBy?: string;
  imbalance?: number;
  busy?: number;
  toCores?: number;
}

function runWith(layers: Of[], batch = 1): Run {
  const json = timelineOf([{ slices: [] }]);
  const sample = json.report.layers[0]!;
  const rows = layers.map(({ name, cycles, macs, boundBy = "compute", imbalance = 1, busy = 0, toCores = 0 }) => {
    const dense = name === "pool" || name === "cut" ? macs : 80;
    return { ...sample, name, cycles: batch * cycles, macs: batch * macs, macsExecuted: batch * macs, weightBytes: macs, denseMacs: batch * dense, denseWeightBytes: dense, density: dense ? macs / dense : null, boundBy, imbalance, busyCycles: { [boundBy]: busy }, weightsToCoresBytes: toCores };
  });
  return new Run({ ...json, makespan: layers.reduce((sum, { cycles }) => sum + cycles, 0), report: { ...json.report, time: { ...json.report.time, batch }, layers: rows } });
}

const DENSE: Of[] = [
  { name: "stem", cycles: 100, macs: 80 }, { name: "in1", cycles: 100, macs: 80, boundBy: "input wire" }, { name: "in2", cycles: 100, macs: 80 },
  { name: "in3", cycles: 100, macs: 80 }, { name: "twice", cycles: 100, macs: 80, toCores: 1000 }, { name: "uneven", cycles: 100, macs: 80, imbalance: 1.02 },
  { name: "idle", cycles: 100, macs: 80 }, { name: "half", cycles: 100, macs: 80 }, { name: "pool", cycles: 60, macs: 0 },
];
const SPARSE: Of[] = [
  { name: "stem", cycles: 100, macs: 80 }, { name: "in1", cycles: 100, macs: 40, boundBy: "input wire" }, { name: "in2", cycles: 90, macs: 40, boundBy: "input wire" },
  { name: "in3", cycles: 80, macs: 40, boundBy: "input wire" }, { name: "twice", cycles: 70, macs: 40, boundBy: "weights wire", busy: 69, toCores: 1039 },
  { name: "uneven", cycles: 65, macs: 40, imbalance: 1.305 }, { name: "idle", cycles: 80, macs: 40, imbalance: 1.02, busy: 50 }, { name: "half", cycles: 50, macs: 40 },
  { name: "pool", cycles: 60, macs: 0 },
];

describe("what sparsity gained", () => {
  const difference = differ(runWith(DENSE), runWith(SPARSE));

  it("is said, and what held layers back", () => {
    expect(sparsityOf(difference).map(({ head, text }) => `${head} ${text}`)).toEqual([
      "Gained: B needs 56.3 % of A's MACs and 56.3 % of its weight bytes. 7 layers need fewer, and are 1.31 times as fast, of 2.00 that the MACs allow.",
      "Held back: 2 layers (in2, in3) are bound by input wire, in A by compute: fewer weights change nothing there.",
      "Held back: 1 layer (in1) is bound by input wire, as in A: fewer weights change nothing there.",
      "Held back: 1 layer (twice) is bound by weights wire, which carries 103.9 % of A's bytes.",
      "Held back: 1 layer (uneven) waits for the heaviest core, which does up to 1.31 times the mean, in A 1.02.",
      "Held back: 1 layer (idle) keeps even the busiest engine at work for only 62.5 % of the time.",
      "Nothing to gain: 1 layer keeps all blocks of weights and takes 14.4 % of B's time; 1 layer has no weights and takes 8.6 %.",
    ]);
    expect(summaryOf(difference, "cycles").map(({ head }) => head)).toContain("Gained:");
  });

  it("is not told apart from what a batch gains", () => {
    const sentences = sparsityOf(differ(runWith(DENSE), runWith(SPARSE, 4)));
    expect(sentences[0]!.text).toContain("B needs 56.3 % of A's MACs and 56.3 % of its weight bytes. 7 layers need fewer, and are 1.31 times as fast");
    expect(sentences.at(-1)).toEqual({ head: "Not told apart:", text: "frames of 1 inference in A and of 4 in B, whose weights come once for all of them, change the times, too." });
  });

  it("is said of the other way, and not at all where both need the same", () => {
    expect(sparsityOf(differ(runWith(SPARSE), runWith(DENSE)))).toEqual([{ head: "The other way:", text: "7 layers need more MACs in B than in A." }]);
    expect(sparsityOf(differ(runWith(SPARSE), runWith(SPARSE)))).toEqual([]);
  });

  it("counts channels that are gone as left out", () => {
    const [gained, ...more] = sparsityOf(differ(runWith([{ name: "cut", cycles: 100, macs: 80 }]), runWith([{ name: "cut", cycles: 50, macs: 40 }])));
    expect(gained?.text).toBe("B needs 50.0 % of A's MACs and 50.0 % of its weight bytes. 1 layer needs fewer, and is 2.00 times as fast, of 2.00 that the MACs allow.");
    expect(more).toEqual([]);
  });

  it("shows of each layer where it differs, in a column that is there only then", () => {
    const [stem, , , , , uneven] = difference.changes;
    expect(thinnedText(stem!)).toBe("");
    expect(thinnedText(uneven!)).toBe("density 50.0 %, imbalance 1.31, 40 of 80 MAC");
    expect(thinnedNumbers(uneven!)).toEqual([1, 0.5, 1.02, 1.305, 80, 80, 40]);
    expect(columnsOf(difference)).toContain("sparsity");
    expect(columnsOf(differ(runWith(SPARSE), runWith(SPARSE)))).not.toContain("sparsity");
  });
});
