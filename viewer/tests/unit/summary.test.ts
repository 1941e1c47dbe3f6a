import { describe, expect, it } from "vitest";
import { gainingKeys } from "../../src/run/raised_keys";
import { resourcesOnPath } from "../../src/run/resources_on_path";
import { runOf } from "./sample";

describe("resources on the critical path", () => {
  // wire: 0..6; core: waits for it, then 6..10.
  const tracks = [
    { engine: "wire" as const, slices: [{ start: 0, end: 6, leaf: 0 }] },
    { slices: [{ start: 6, end: 10, ready: 0, leaf: 1, cause: { track: 0, index: 0 } }] },
  ];
  it("share out the run, largest first, with what the file says of each being free", () => {
    const run = runOf(tracks, [0, 0], [2, 0], { whatIf: [{ resource: "input wire", cycles: 7 }] });
    expect(resourcesOnPath(run)).toEqual([{ resource: 2, cycles: 6, gain: 3 }, { resource: 0, cycles: 4, gain: null }]);
  });
  it("are none in a run in which nothing ran", () => {
    expect(resourcesOnPath(runOf([{ slices: [] }]))).toEqual([]);
  });
});

describe("keys of the device that bind", () => {
  const raised = (keys: string[], gainCycles: number, heldBy: string[] = []) => ({ raised: keys.map((key) => ({ key, from: "4 GB/s", to: "8 GB/s" })), cycles: 1000 - gainCycles, gainCycles, heldBy });
  it("are those that gain, the most first; of several it is said whether one alone gains nothing", () => {
    const keys = gainingKeys([raised(["compute"], 50), raised(["read", "write"], 200), raised(["read"], 0, ["write"]), raised(["write"], 0, ["read"]), raised(["compute", "read"], 60), raised(["none"], 0)], 1000);
    expect(keys.map(({ names, gain, isTogether }) => [names, gain, isTogether])).toEqual([["read and write", 0.2, true], ["compute and read", 0.06, false], ["compute", 0.05, false]]);
    expect(keys[0]).toMatchObject({ cycles: 800, change: "read 4 GB/s → 8 GB/s and write 4 GB/s → 8 GB/s" });
  });
  it("are none where doubling gains nothing", () => {
    expect(gainingKeys([raised(["a"], 0), raised(["b"], -5)], 1000)).toEqual([]);
  });
});
