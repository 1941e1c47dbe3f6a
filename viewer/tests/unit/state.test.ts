import { describe, expect, it, vi } from "vitest";
import { hashOf, parseHash, parseSelection, selectionText } from "../../src/ui/hash";
import { entered } from "../../src/ui/other_run";
import { focusOf, type Selection, type State, Store } from "../../src/ui/state";
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
      const full: State = { ...state, view: "mesh", lower: "", window: { from: -1, to: 77 }, selection, measure: { from: 3, to: 9 }, unit: "time", options: { "memory.tile": "core 1,2 & more=", x: "" } };
      expect(parseHash(hashOf(full), state, [100])).toEqual(full);
    }
  });

  it("falls back on the defaults where it cannot be read", () => {
    for (const hash of ["", "#", "#view=nonsense&lower=&run=7&window=9-3&select=slice:1&measure=x", "#select=tile:moon:1:2", "#%%%", "#view=compare"])
      expect(parseHash(hash, state, [100])).toEqual(state);
    expect(parseHash("#view=compare&run=1", state, [100, 40])).toMatchObject({ view: "compare", run: 1, window: { from: 0, to: 40 } });
  });

  it("keeps to the run", () => {
    const read = (text: string) => parseHash(text, state, [1000]);
    expect(read("#window=5000-6000&measure=1000-2000")).toMatchObject({ window: { from: 0, to: 1000 }, measure: null });
    expect(read("#window=-900--100").window).toEqual({ from: 0, to: 1000 });
    expect(read("#window=-900-6000&measure=-50-20")).toMatchObject({ window: { from: -10, to: 1010 }, measure: { from: 0, to: 20 } });
    expect(read("#window=990-6000").window).toEqual({ from: 990, to: 1010 });
    expect(read("#window=-5-1005").window).toEqual({ from: -5, to: 1005 });
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

describe("options", () => {
  it("are kept only where they are not as by default", () => {
    vi.stubGlobal("requestAnimationFrame", () => 0);
    const store = new Store(state);
    expect(store.option("a", "x")).toBe("x");
    store.setOption("a", "y");
    expect(store.option("a", "x")).toBe("y");
    store.setOption("a", "x");
    store.setOption("b", "");
    expect(store.state.options).toEqual({ b: "" });
    vi.unstubAllGlobals();
  });
});

describe("the other run", () => {
  const slices = [{ start: 0, end: 400, leaf: 0 }, { start: 400, end: 1000, leaf: 1 }];
  const runs = [runOf([{ slices }], [0, 1]), runOf([{ slices: slices.map((s) => ({ ...s, start: s.start / 2, end: s.end / 2 })) }], [0, 1])];
  const inA: State = { ...state, window: { from: 300, to: 700 }, selection: { kind: "slice", track: 0, index: 1 } };
  const left = { run: 0, selection: inA.selection, window: inA.window, shown: { kind: "layer", layer: 1 } as Selection };

  it("shows the layer of the same name, in a window that lies in the run", () => {
    expect(entered(runs, inA, null, 1)).toEqual({ selection: { kind: "layer", layer: 1 }, window: { from: 100, to: 500 }, isBack: false });
    expect(entered(runs, { ...state, window: { from: 0, to: 1000 } }, null, 1).window).toEqual({ from: 0, to: 500 });
  });
  it("is as it was left when one comes back", () => {
    const inB: State = { ...state, run: 1, window: { from: 20, to: 30 }, selection: { kind: "layer", layer: 1 } };
    expect(entered(runs, inB, left, 0)).toEqual({ selection: inA.selection, window: inA.window, isBack: true });
    expect(entered(runs, { ...inB, selection: null }, { ...left, shown: null }, 0).isBack).toBe(true);
  });
  it("follows another layer that was selected meanwhile", () => {
    const inB: State = { ...state, run: 1, window: { from: 20, to: 30 }, selection: { kind: "layer", layer: 0 } };
    expect(entered(runs, inB, left, 0)).toEqual({ selection: { kind: "layer", layer: 0 }, window: { from: 20, to: 30 }, isBack: false });
    expect(entered(runs, { ...inB, selection: null }, left, 0).isBack).toBe(false);
  });
});
