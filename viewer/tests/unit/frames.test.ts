import { describe, expect, it } from "vitest";
import { frameName, frameOf } from "../../src/run/frames";
import { Run } from "../../src/run/run";
import { parseSelection, selectionText } from "../../src/ui/hash";
import { search } from "../../src/ui/search";
import { focusOf } from "../../src/ui/state";
import { timelineOf } from "./sample";

// Two layers, three times:   0 1 0 1 0 1
function threeFrames(): Run {
  const json = timelineOf([{ slices: [0, 1, 0, 1, 0, 1].map((leaf, i) => ({ start: 10 * i, end: 10 * i + 10, leaf })) }], [0, 1]);
  json.report.frames = [0, 1, 2].map((frame) => ({ start: 20 * frame, end: 20 * frame + 20, stepCycles: frame === 2 ? [10, 12] : [10, 10] }));
  return new Run(json);
}

describe("a run of several frames", () => {
  const run = threeFrames();
  it("has the bands of each frame, one after another; they fill the run", () => {
    expect(run.bands.map(({ layer, frame, from, to }) => [layer, frame, from, to])).toEqual([
      [0, 0, 0, 10], [1, 0, 10, 20], [0, 1, 20, 30], [1, 1, 30, 40], [0, 2, 40, 50], [1, 2, 50, 62],
    ]);
  });
  it("knows the frame of a slice by its place in the queue", () => {
    expect([0, 1, 2, 5].map((index) => frameOf(run, { track: 0, index }))).toEqual([0, 0, 1, 2]);
    expect(frameName(run, 1)).toBe("frame 2 of 3");
  });
  it("finds frames by search, and keeps a selected one in the address", () => {
    expect(search(run, "frames", 9).map(({ text }) => text)).toEqual(["frame 1 of 3", "frame 2 of 3", "frame 3 of 3"]);
    expect(search(run, "frame 2", 9).map(({ selection }) => selection)).toEqual([{ kind: "frame", frame: 1 }]);
    expect(parseSelection(selectionText({ kind: "frame", frame: 2 }))).toEqual({ kind: "frame", frame: 2 });
    expect(focusOf(run, { kind: "frame", frame: 2 }).frame).toBe(2);
    expect(focusOf(run, { kind: "frame", frame: 3 }).frame).toBe(-1);
  });
  it("says nothing of frames where there is one", () => {
    const one = new Run(timelineOf([{ slices: [{ start: 0, end: 10, leaf: 0 }] }], [0]));
    expect([one.frames.length, frameOf(one, { track: 0, index: 0 }), search(one, "frame 1", 9).length]).toEqual([0, -1, 0]);
  });
});
