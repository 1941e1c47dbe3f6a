import { describe, expect, it } from "vitest";
import type { DeviceJson, LayerJson, ReportJson } from "../../src/run/format";
import { Run } from "../../src/run/run";
import { waitsOf } from "../../src/run/layer_waits";
import { columnsOf, textOf } from "../../src/views/layers/columns";
import { rowsToHave } from "../../src/ui/row_window";
import { columnsToShow } from "../../src/views/layers/fit";
import { pick, type Pick } from "../../src/views/layers/pick";
import { attainable, type Box, clustersOf, placeLabels, pointsOf, rangeOf, roofsOf } from "../../src/views/layers/roofline";
import { decadeTicks } from "../../src/paint/ticks";
import { timelineOf } from "./sample";

const layerOf = (change: Partial<LayerJson>): LayerJson => ({
  name: "conv", op: "Conv", split: "W/2", cycles: 100, start: 0, end: 100, boundBy: "compute", boundSeconds: 5e-8, efficiency: 0.5, closedFormError: null,
  macs: 1000, macsExecuted: 1250, weightBytes: 64, ddrReadBytes: 100, ddrWriteBytes: 0, memtileToCoreBytes: 200, coreToMemtileBytes: 50, cores: 4, ...change,
});

/** A 2x2 mesh of 16 MAC a cycle at 1 GHz, 4 wires of 4 GB/s, 8 GB/s of DDR. */
function runOf(layers: LayerJson[], report: Partial<ReportJson> = {}, device: Partial<DeviceJson> = {}): Run {
  const json = timelineOf([{ slices: [{ start: 0, end: 400, leaf: 0 }] }], layers.map((_, i) => i));
  const wire = { name: "w", reach: { row: 0, column: 0, rows: 2, columns: 1 }, feeders: [0] };
  return new Run({
    ...json, makespan: layers.reduce((sum, layer) => sum + layer.cycles, 0),
    device: { ...json.device, rows: 2, columns: 2, wireBytesPerSecond: 4e9, wires: [wire, wire, wire, wire], ddrChannelsIn: 2, ddrReadBytesPerSecond: 2e9, ...device },
    report: { ...json.report, layers, device: { name: "paper", rows: 2, columns: 2, clockHz: 1e9, macsPerCycle: 16 }, bounds: { efficiency: 0.625 }, ...report },
  });
}

const any: Pick = { words: "", bound: "", operator: "", sort: "number" };
const run = runOf([
  layerOf({ name: "b", cycles: 100, closedFormError: 0.1, closedFormCycles: 110, density: 0.5 }),
  layerOf({ name: "a10", cycles: 300, op: "Add", boundBy: "input wire", efficiency: null, macs: 0, macsExecuted: 0, weightBytes: 0, waitCoreCycles: { "input wire": 40, "DDR read": 3, "DDR write": 4, none: 9 } }),
  layerOf({ name: "a9", cycles: 0, boundBy: null, density: 1, weightBytes: 192 }),
]);
const columns = columnsOf(run, "cycles");
const column = (key: string) => columns.find((c) => c.key === key) as (typeof columns)[number];

describe("columns of the layer table", () => {
  it("total to the figures of the report", () => {
    const total = (key: string) => column(key).total?.(run.layers);
    expect(total("cycles")).toBe(run.makespan);
    expect(total("macs")).toBe(2000);
    expect(total("padded")).toBeCloseTo(1 - 2000 / 2500);
    expect(total("to-cores")).toBe(600);
    expect(total("efficiency")).toBe(0.625);
    expect(column("efficiency").total?.([run.layers[0] as never])).toBeCloseTo(0.5); // 50 of 100 cycles
    expect(total("estimate")).toBeCloseTo(0.1); // of the one layer that has a formula
    expect(total("density")).toBeCloseTo((0.5 * 64 + 192) / 256);
  });

  it("say what is not known, and what is dense", () => {
    expect(run.layers.map((layer) => textOf(column("density"), layer))).toEqual(["50.0 %", "–", "dense"]);
    expect(textOf(column("efficiency"), run.layers[1] as never)).toBe("–");
    expect(textOf(column("estimate"), run.layers[0] as never)).toBe("+10.0 %");
    expect(textOf(columnsOf(run, "time").find((c) => c.key === "cycles") as never, run.layers[1] as never)).toBe("300 ns");
  });

  it("sum waits by what was waited for", () => {
    expect(waitsOf(run, run.layers[1] as never)).toEqual([40, 0, 0, 7, 0, 0, 0]);
    expect(columns.filter(({ key }) => key.startsWith("wait")).map(({ key }) => key)).toEqual(["waits", "wait-input", "wait-DDR"]);
    expect(column("waits").value(run.layers[1] as never)).toBe(47);
  });

  it("leave waits out where the report has none", () => {
    expect(columnsOf(runOf([layerOf({})]), "cycles").some(({ key }) => key.startsWith("wait"))).toBe(false);
  });
});

describe("pick", () => {
  const names = (how: Partial<Pick>) => pick(run.layers, columns, { ...any, ...how }).map(({ name }) => name);

  it("filters by all words, bound and operator", () => {
    expect(names({ words: "ADD wire" })).toEqual(["a10"]);
    expect(names({ bound: "none" })).toEqual(["a9"]);
    expect(names({ operator: "Conv", words: "b" })).toEqual(["b"]);
    expect(names({ words: "nowhere" })).toEqual([]);
  });

  it("sorts by figures and by names, and puts what has no value last", () => {
    expect(names({ sort: "-cycles" })).toEqual(["a10", "b", "a9"]);
    expect(names({ sort: "layer" })).toEqual(["a9", "a10", "b"]);
    expect(names({ sort: "efficiency" })).toEqual(["b", "a9", "a10"]);
    expect(names({ sort: "-efficiency" })).toEqual(["b", "a9", "a10"]);
    expect(names({ sort: "no such column" })).toEqual(["b", "a10", "a9"]);
  });
});

describe("roofline", () => {
  it("takes the walls from the device", () => {
    expect(roofsOf(run)).toEqual({ compute: 64, cores: 16, ddr: 8 });
  });

  it("takes the rate that all DDR channels share where it is less than theirs together", () => {
    const ddr = (total: number) => roofsOf(runOf([], {}, { ddrReadTotalBytesPerSecond: total })).ddr;
    expect([ddr(5e9), ddr(9e9)]).toEqual([5, 8]);
  });

  it("knows no walls where the device says nothing", () => {
    const roofs = roofsOf(new Run(timelineOf([{ slices: [] }])));
    expect(roofs.cores).toBe(0);
    expect(roofs.ddr).toBe(0);
  });

  it("places layers with MACs and cycles of their own", () => {
    const { points, left } = pointsOf(run);
    expect(left).toBe(2);
    expect(points.map(({ x, y }) => ({ x, y }))).toEqual([{ x: { cores: 5, ddr: 10 }, y: 10 }]);
  });

  it("bends at the ridge", () => {
    const roofs = roofsOf(run);
    expect(attainable(roofs, "cores", 2)).toBe(32);
    expect(attainable(roofs, "cores", 4)).toBe(64);
    expect(attainable(roofs, "cores", 400)).toBe(64);
    expect(attainable({ ...roofs, ddr: 0 }, "ddr", 2)).toBe(64);
  });

  it("shows all values within at least two decades", () => {
    for (const values of [[3], [3, 4], [0.001, 5e6], [], [0, NaN, 7]]) {
      const { from, to } = rangeOf(values);
      expect(to / from).toBeGreaterThanOrEqual(99.9);
      for (const value of values) if (value > 0) expect(value > from && value < to).toBe(true);
    }
    expect(decadeTicks({ from: 0.9, to: 25 }).map(({ value }) => value)).toEqual([1, 2, 5, 10, 20]);
  });

  it("takes marks that lie on each other as one", () => {
    const mark = (x: number, radius: number) => ({ x, y: 0, radius });
    expect(clustersOf([mark(0, 10), mark(8, 10), mark(16, 10), mark(100, 10), mark(104, 3)])).toEqual([[0, 1, 2], [3, 4]]);
    expect(clustersOf([])).toEqual([]);
  });

  it("lets no label cover a point or another label", () => {
    const within: Box = { x: 0, y: 0, width: 400, height: 300 };
    const points = Array.from({ length: 60 }, (_, k) => ({ x: (k * 97) % 400, y: (k * 61) % 300, radius: 3 + (k % 5), width: 40 + (k % 3) * 20 }));
    const boxes = placeLabels(points, 12, within);
    const placed = boxes.filter((box) => box !== null);
    expect(placed.length).toBeGreaterThan(10);
    const apart = (a: Box, b: Box) => a.x >= b.x + b.width || b.x >= a.x + a.width || a.y >= b.y + b.height || b.y >= a.y + a.height;
    placed.forEach((box, k) => {
      expect(box.x >= 0 && box.y >= 0 && box.x + box.width <= 400 && box.y + box.height <= 300).toBe(true);
      for (const other of placed.slice(k + 1)) expect(apart(box, other)).toBe(true);
      for (const { x, y, radius } of points) expect(apart(box, { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius })).toBe(true);
    });
  });
});


describe("columns that fit", () => {
  const columns = columnsOf(run, "cycles");
  const widths = new Map(columns.map(({ key }) => [key, 100]));
  const shown = (chosen: string, room: number) => columnsToShow(columns, chosen, widths, room).map(({ key }) => key);

  it("are the most asked for, in the table's order", () => {
    expect(shown("", 599)).toEqual(["number", "layer", "cycles", "share", "bound"]);
    expect(shown("", 700)).toEqual(["number", "layer", "operator", "cycles", "share", "bound", "efficiency"]);
  });

  it("are never without number and name, and all where there is room", () => {
    expect(shown("", 0)).toEqual(["number", "layer"]);
    expect(shown("", Infinity)).toEqual(columns.map(({ key }) => key));
  });

  it("do not matter to who chose", () => {
    expect(shown("all", 0)).toHaveLength(columns.length);
    expect(shown("macs cycles", 0)).toEqual(["number", "layer", "cycles", "macs"]);
  });
});

describe("rows in sight", () => {
  const none = { from: 0, to: -1 };

  it("are there with some about them, also at the ends", () => {
    expect(rowsToHave(2000, 0, 220, none)).toEqual({ from: 0, to: 20 });
    expect(rowsToHave(2000, 22000, 220, none)).toEqual({ from: 990, to: 1020 });
    expect(rowsToHave(2000, 44000, 220, none)).toEqual({ from: 1989, to: 2000 });
    expect(rowsToHave(0, 0, 220, none)).toEqual({ from: 0, to: 0 });
  });

  it("stay while one scrolls within them", () => {
    const now = { from: 990, to: 1020 };
    expect(rowsToHave(2000, 22000 + 10 * 22, 220, now)).toBe(now);
    expect(rowsToHave(2000, 22000 + 11 * 22, 220, now)).not.toBe(now);
    expect(rowsToHave(900, 22000, 220, now)).not.toBe(now);
  });
});
