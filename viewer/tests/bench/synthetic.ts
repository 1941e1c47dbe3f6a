// A timeline that no loop shortens: vite-node tests/bench/synthetic.ts OUT.json [SLICES, default 1000000] [MESH, default 8]
//
// Every core with its channels, memtile channels and wires of a MESH x MESH array, slices with jittered times, waits and causes.
import { writeFileSync } from "node:fs";
import type { EngineKind, TimelineJson, TrackJson } from "../../src/run/format";
import { RESOURCES, timelineOf } from "../unit/sample";

const [out = "", size = "1000000", mesh = "8"] = process.argv.slice(-3).filter((text) => /\.json$|^\d+$/.test(text));
const slices = Number(size);
const side = Number(mesh);
const LAYERS = 100;
const LEAVES = 2000;

let seed = 42;
const random = (n: number) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};

const engines: Pick<TrackJson, "engine" | "row" | "column" | "channel">[] = [];
const add = (engine: EngineKind, row: number, column: number, channel = 0) => engines.push({ engine, row, column, channel });
add("sequencer", 0, 0);
for (let column = 0; column < side; column++) {
  for (const channel of [0, 1]) add("ddrIn", 0, column, channel);
  for (const channel of [0, 1]) add("ddrOut", 0, column, channel);
  for (let row = 0; row < side; row++) {
    for (const channel of [0, 1]) add("coreIn", row, column, channel);
    add("core", row, column);
    add("coreOut", row, column);
  }
}
for (let wire = 0; wire < 2 * side; wire++) add("wire", 0, wire);

const each = Math.floor(slices / engines.length);
const columns: number[][] = [];
const put = (values: number[]) => columns.push(values) - 1;
const column = (value: (i: number) => number) => put(Array.from({ length: each }, (_, i) => value(i)));
let makespan = 0;
const tracks = engines.map((engine, t): TrackJson => {
  const gaps = Array.from({ length: each }, () => (random(3) ? 0 : 5 + random(200)));
  const durations = Array.from({ length: each }, () => 20 + random(400));
  makespan = Math.max(makespan, gaps.reduce((a, b) => a + b, 0) + durations.reduce((a, b) => a + b, 0));
  const leaves = Array.from({ length: each }, (_, i) => Math.floor((i * LEAVES) / each));
  const cause = (t + 1) % engines.length;
  let last = 0;
  const stepTo = (i: number) => {
    const step = i - last;
    last = i;
    return step;
  };
  return {
    ...engine, slices: each, causeTracks: [cause],
    gap: put(gaps), duration: put(durations), idle: column(() => 0), leaf: put(leaves.map((leaf, i) => leaf - (leaves[i - 1] ?? 0))),
    layer: column(() => 0), wait: put(gaps.map((gap) => (gap ? 1 : 0))), lock: column(() => -1), causeTrack: put(gaps.map((gap) => (gap ? 1 : 0))),
    causeStep: put(gaps.map((gap, i) => (gap ? stepTo(i) : 0))), padded: column(() => 0),
  };
});

const sample: TimelineJson = timelineOf([], Array.from({ length: LEAVES }, (_, leaf) => Math.floor((leaf * LAYERS) / LEAVES)), Array.from({ length: LEAVES }, (_, leaf) => leaf % RESOURCES.length));
const STEPS = 1000;
const step = Math.ceil(makespan / STEPS);
let done = 0;
writeFileSync(out, JSON.stringify({
  ...sample, model: `synthetic, ${each * engines.length} slices`, makespan, columns, tracks,
  device: { ...sample.device, rows: side, columns: side, wires: Array.from({ length: 2 * side }, (_, wire) => wire < side
    ? { name: `column${wire}`, reach: { row: 0, column: wire, rows: side, columns: 1 }, feeders: [wire] }
    : { name: `row${wire - side}`, reach: { row: wire - side, column: 0, rows: 1, columns: side }, feeders: Array.from({ length: side }, (_, m) => m) }) },
  report: { ...sample.report, layers: sample.report.layers.map((layer, i) => { const cycles = Math.floor((makespan * (i + 1)) / LAYERS) - done; done += cycles; return { ...layer, cycles, start: done - cycles, end: done }; }) },
  counters: { step, series: RESOURCES.slice(0, 6).map((name) => ({ name, unit: "busy cycles", most: step, values: Array.from({ length: STEPS }, () => random(step)) })) },
}));
