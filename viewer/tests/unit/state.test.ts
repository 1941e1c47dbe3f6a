import { describe, expect, it } from "vitest";
import { hashOf, parseHash, parseSelection, selectionText } from "../../src/ui/hash";
import { focusOf, type Selection, type State } from "../../src/ui/state";
import { runOf } from "./sample";

const state: State = { view: "timeline", lower: "layers", run: 0, window: { from: 0, to: 100 }, selection: null, measure: null, unit: "cycles", options: {} };

describe("the address", () => {
  it("brings back every state", () => {
    const selections: Selection[] = [
      { kind: "slice", track: 3, index: 44 }, { kind: "layer", layer: 2 }, { kind: "instruction", leaf: 9 }, { kind: "tensor", tensor: 0 }, { kind: "block", block: 7 },
      { kind: "lock", lock: 12 }, { kind: "tile", tile: { kind: "core", row: 1, column: 2 } }, { kind: "tile", tile: { kind: "memtile", row: 0, column: 3 } },
    ];
    for (const selection of selections) {
      expect(parseSelection(selectionText(selection))).toEqual(selection);
      const full: State = { ...state, view: "mesh", lower: "", window: { from: -5, to: 77 }, selection, measure: { from: 3, to: 9 }, unit: "time", options: { "memory.tile": "core 1,2 & more=", x: "" } };
      expect(parseHash(hashOf(full), state, [100])).toEqual(full);
    }
  });

  it("falls back on the defaults where it cannot be read", () => {
    for (const hash of ["", "#", "#view=nonsense&lower=&run=7&window=9-3&select=slice:1&measure=x", "#select=tile:moon:1:2", "#%%%", "#view=compare"])
      expect(parseHash(hash, state, [100])).toEqual(state);
    expect(parseHash("#view=compare&run=1", state, [100, 40])).toMatchObject({ view: "compare", run: 1, window: { from: 0, to: 40 } });
  });

  it("never shows one view in both panes", () => {
    expect(parseHash("#view=layers&lower=layers", state, [100]).lower).toBe("");
  });
});

describe("focus", () => {
  const run = runOf([{ row: 2, column: 1, slices: [{ start: 0, end: 4, leaf: 1 }] }], [0, 1]);
  it("names all that belongs to a slice", () => {
    expect(focusOf(run, { kind: "slice", track: 0, index: 0 })).toMatchObject({ leaf: 1, line: 1, layer: 1, track: 0, tile: { kind: "core", row: 2, column: 1 } });
  });
  it("takes a tensor to the layer that makes it", () => {
    expect(focusOf(run, { kind: "tensor", tensor: 2 }).layer).toBe(1);
    expect(focusOf(run, { kind: "tensor", tensor: 0 }).layer).toBe(-1);
  });
  it("is empty for what an old link names and the run lacks", () => {
    for (const selection of [{ kind: "slice", track: 9, index: 0 }, { kind: "slice", track: 0, index: 5 }, { kind: "block", block: 3 }, { kind: "lock", lock: 9 }] as Selection[])
      expect(focusOf(run, selection)).toMatchObject({ slice: null, layer: -1, tile: null });
  });
});
