import { describe, expect, it } from "vitest";
import { leadsTo, otherEndsOf } from "../../src/run/transfers";
import { runOf, timelineOf } from "./sample";

describe("a transfer over a wire", () => {
  const [INPUT, WEIGHTS] = [2, 1]; // of RESOURCES
  const sent = [{ start: 10, end: 20, leaf: 1, cause: { track: 0, index: 0 } }, { start: 20, end: 26, leaf: 1 }];
  const received = sent.map(({ start, end }) => ({ start, end, leaf: 1 }));
  const { device } = timelineOf([]);
  const wire = (row: number) => ({ name: `row${row}`, reach: { row, column: 0, rows: 1, columns: 2 }, feeders: [0] });
  const run = runOf(
    [
      { engine: "ddrIn", slices: [{ start: 0, end: 10 }] },
      { engine: "wire", column: 0, slices: sent },
      { engine: "wire", column: 1, slices: sent },
      { engine: "coreIn", row: 0, column: 0, slices: received },
      { engine: "coreIn", row: 0, column: 1, slices: received },
      { engine: "coreIn", row: 0, column: 1, channel: 1, slices: received.map((s) => ({ ...s, leaf: 2 })) },
      { engine: "coreIn", row: 1, column: 0, slices: [{ start: 10, end: 21, leaf: 1 }] },
      { engine: "core", slices: [{ start: 10, end: 20, leaf: 1 }] },
    ],
    [0, 0, 0], [0, INPUT, WEIGHTS], { device: { ...device, rows: 2, columns: 2, wires: [wire(0), wire(1)] } },
  );

  it("goes from the wire to the cores in its reach that receive it", () => {
    expect(otherEndsOf(run, { track: 1, index: 0 })).toEqual([{ track: 3, index: 0 }, { track: 4, index: 0 }]);
    expect(otherEndsOf(run, { track: 2, index: 0 }), "the core of that row received something else").toEqual([]);
  });
  it("goes from a core to the wire that sent it", () => {
    expect(otherEndsOf(run, { track: 4, index: 1 })).toEqual([{ track: 1, index: 1 }]);
    expect(otherEndsOf(run, { track: 5, index: 0 }), "of another resource").toEqual([]);
  });
  it("is nothing that a core computes", () => {
    expect(otherEndsOf(run, { track: 7, index: 0 })).toEqual([]);
  });
  it("leads on from what is received to what the wire waited for", () => {
    const steps = [];
    for (let at = leadsTo(run, { track: 3, index: 0 }); at; at = leadsTo(run, at)) steps.push(at);
    expect(steps).toEqual([{ track: 1, index: 0 }, { track: 0, index: 0 }]);
    expect(leadsTo(run, { track: 1, index: 1 })).toBeNull();
  });
});
