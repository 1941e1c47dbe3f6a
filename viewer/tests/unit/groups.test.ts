import { describe, expect, it } from "vitest";
import { bandOfLeaf, groupName, rowsText, stepsOf, stretchOfSteps } from "../../src/run/groups";
import { parseSelection, selectionText } from "../../src/ui/hash";
import { search } from "../../src/ui/search";
import { focusOf, type Selection } from "../../src/ui/state";
import { Run } from "../../src/run/run";
import { timelineOf } from "./sample";

// Layers 0 and 1 by turns in two tiles, then layer 2:   0 1 0 1 2
function tiled(): Run {
  const json = timelineOf([{ slices: [0, 1, 0, 1, 2].map((leaf, i) => ({ start: 10 * i, end: 10 * i + 10, leaf })) }], [0, 1, 2]);
  const step = (tile: number, firstRow: number, rows: number, start: number) => ({ tile, firstRow, rows, cycles: 10, start, end: start + 10 });
  const steps = [[step(0, 0, 5, 0), step(1, 5, 3, 20)], [step(0, 0, 4, 10), step(1, 4, 1, 30)], []];
  json.report.layers.forEach((layer, i) => Object.assign(layer, { steps: steps[i], cycles: i < 2 ? 20 : 12 }));
  json.report.groups = [{ firstLayer: 0, lastLayer: 1, tiles: 2, cycles: 40, start: 0, end: 40, keptBytes: 512, weightsAgainBytes: 64 }];
  return new Run(json);
}

describe("layers that are computed tile by tile", () => {
  const run = tiled();
  it("have a band for each step, in the schedule's order; with the others they fill the run", () => {
    expect(run.bands).toEqual([
      { layer: 0, group: 0, tile: 0, frame: 0, from: 0, to: 10 }, { layer: 1, group: 0, tile: 0, frame: 0, from: 10, to: 20 },
      { layer: 0, group: 0, tile: 1, frame: 0, from: 20, to: 30 }, { layer: 1, group: 0, tile: 1, frame: 0, from: 30, to: 40 },
      { layer: 2, group: -1, tile: -1, frame: 0, from: 40, to: 52 },
    ]);
  });
  it("tell the steps of a tile and of a layer, and where they lie", () => {
    expect(stepsOf(run, 0, 1).map(({ layer }) => layer)).toEqual([0, 1]);
    expect(stretchOfSteps(stepsOf(run, 0, 1))).toEqual({ from: 20, to: 40 });
    expect(stepsOf(run, 0, -1, 1).map(({ tile }) => tile)).toEqual([0, 1]);
    expect(stepsOf(run, 7, -1)).toEqual([]);
    expect(stretchOfSteps([])).toBeNull();
    expect(groupName(run, 0)).toBe("layer0 … layer1");
    expect(stepsOf(run, 0, -1, 1).map(rowsText)).toEqual(["rows 0–3", "row 4"]);
  });
  it("know their instructions by the heads that these stand under", () => {
    const json = timelineOf([{ slices: [0, 1, 2, 3, 4].map((leaf, i) => ({ start: 10 * i, end: 10 * i + 10, leaf })) }], [0, 1, 0, 1, 2]);
    json.asm = [0, 1, 2, 3, 4].map((step) => `on core, step ${step}:\n  CONV k${step}`).join("\n");
    json.instructions.line = [1, 3, 5, 7, 9];
    json.report.layers.forEach((layer, i) => Object.assign(layer, { steps: run.layers[i]!.steps, cycles: run.layers[i]!.cycles }));
    json.report.groups = run.report.groups!;
    expect([...bandOfLeaf(new Run(json))]).toEqual([0, 1, 2, 3, 4]);
  });
  it("are found: the group, a tile of it, and a layer's step in a tile", () => {
    const first = (query: string) => search(run, query, 9)[0]?.selection;
    expect(first("group 1")).toEqual({ kind: "group", group: 0, tile: -1, layer: -1 });
    expect(first("tile")).toEqual({ kind: "group", group: 0, tile: -1, layer: -1 });
    expect(first("tile 2")).toEqual({ kind: "group", group: 0, tile: 1, layer: -1 });
    expect(first("layer1 tile 2")).toEqual({ kind: "group", group: 0, tile: 1, layer: 1 });
    expect(search(run, "layer1 tile", 9).filter(({ kind }) => kind === "tile").map(({ text }) => text)).toEqual(["layer1, tile 1", "layer1, tile 2"]);
    expect(search(run, "tile 3", 9).filter(({ kind }) => kind === "tile")).toEqual([]);
    expect(search(run, "group 2", 9).filter(({ kind }) => kind === "group")).toEqual([]);
  });
  it("stand in the address, and say nothing of what the run does not have", () => {
    const all: Selection[] = [{ kind: "group", group: 0, tile: -1, layer: -1 }, { kind: "group", group: 0, tile: 1, layer: -1 }, { kind: "group", group: 0, tile: 1, layer: 0 }];
    for (const selection of all) expect(parseSelection(selectionText(selection))).toEqual(selection);
    expect(parseSelection("group")).toBeNull();
    expect(parseSelection("group:0:x")).toBeNull();
    expect(focusOf(run, all[2] ?? null)).toMatchObject({ group: 0, groupTile: 1, layer: 0 });
    expect(focusOf(run, { kind: "group", group: 3, tile: -1, layer: -1 }).group).toBe(-1);
  });
});
