import { describe, expect, it } from "vitest";
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
