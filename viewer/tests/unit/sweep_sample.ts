// Sweeps made by a formula, of any size: networks on meshes with varied rates. Figures behave like those of compiles: wires and DDR bound
// what cores do not, some points are refused, and here and there a larger mesh is slower.
import type { ColumnJson, Role, SweepJson } from "../../src/sweep/document";

const NETWORKS = [["resnet50", 4.1e9, 25.6], ["resnet18", 1.8e9, 11.7], ["mobilenetv2", 0.3e9, 3.5], ["inception", 5.7e9, 23.9], ["yolo", 8.7e9, 7.2]] as const; // MAC, MB

export interface SampleSize {
  networks?: number;
  /** Rows and columns go from 1 to these. */
  rows?: number;
  cols?: number;
  /** Rates of links.ddr.read and of links.wire, GB/s. */
  ddr?: number[];
  wire?: number[];
}

type Value = number | string | null;

const about = (name: string, role: Role, unit = "", help = `What ${name} is.`): ColumnJson => ({ name, unit, kind: ["point", "model", "device", "status", "reason", "boundBy"].includes(name) ? "text" : "number", role, help });

const COLUMNS: ColumnJson[] = [
  about("point", "key"), about("model", "key", "", "The network."), about("device", "key"), about("rows", "key"), about("cols", "key"), about("cores", "key", "", "Rows times columns."), about("memtiles", "key"),
  about("macsPerCycle", "key", "MAC/cycle"), about("memtileKiB", "key", "KiB"), about("clockGHz", "key", "GHz"), about("ddrReadGBps", "key", "GB/s"), about("ddrTotalGBps", "key", "GB/s"), about("wireGBps", "key", "GB/s"),
  about("links.ddr.read", "vary", "GB/s"), about("links.wire", "vary", "GB/s"),
  about("status", "result"), about("reason", "result"), about("ms", "result", "ms", "Time of one inference."), about("cycles", "result", "cycles"), about("ips", "result", "1/s"), about("floorMs", "result", "ms"), about("layerBoundMs", "result", "ms"),
  about("boundCompute", "result"), about("boundInputWire", "result"), about("boundWeightsWire", "result"), about("boundOutput", "result"), about("boundDdrRead", "result"), about("boundDdrWrite", "result"),
  about("boundBy", "result"), about("efficiency", "result"), about("peakMemtileKiB", "result", "KiB"), about("spilledMB", "result", "MB"), about("estimateMs", "result", "ms"), about("area", "result"), about("slack(ms <= 2)", "result", "", "What is left of it."),
  about("compileSeconds", "effort", "s"),
];

/** A number in 0..1 that is always the same for the same n. */
function noise(n: number): number {
  let x = Math.imul(n + 0x9e3779b9, 0x85ebca6b) >>> 0;
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35) >>> 0;
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

const round = (value: number) => Number(value.toPrecision(6));

export function sampleOf({ networks = 3, rows = 4, cols = 4, ddr = [2, 4], wire = [4] }: SampleSize = {}): SweepJson {
  const data: Record<string, Value[]> = Object.fromEntries(COLUMNS.map(({ name }) => [name, []]));
  let point = 0;
  for (const [model, macs, megabytes] of NETWORKS.slice(0, networks))
    for (let row = 1; row <= rows; row++)
      for (let col = 1; col <= cols; col++)
        for (const read of ddr)
          for (const rate of wire) {
            const values = pointOf(point++, { model, macs, megabytes, row, col, read, rate });
            for (const { name } of COLUMNS) data[name]?.push(values[name] ?? null);
          }
  return { format: "heddle.sweep/1", heddle: "0.1.0", title: "a sample sweep", columns: COLUMNS, points: point, data };
}

interface At {
  model: string;
  macs: number;
  megabytes: number;
  row: number;
  col: number;
  read: number;
  rate: number;
}

function pointOf(point: number, { model, macs, megabytes, row, col, read, rate }: At): Record<string, Value> {
  const cores = row * col;
  const key = {
    point: (0x1000000 + point * 7919).toString(16), model, device: "paper", rows: row, cols: col, cores, memtiles: col, macsPerCycle: 128, memtileKiB: 512, clockGHz: 1,
    ddrReadGBps: read, ddrTotalGBps: 2 * read * col, wireGBps: rate, "links.ddr.read": read, "links.wire": rate,
  };
  // The smallest meshes lack memory for the largest networks.
  if (cores < 3 && macs > 4e9) return { ...key, status: "refused", reason: `PLAN004 ${model} does not fit: a tensor of 812 KiB, memtiles of ${col * 512} KiB` };
  const parts = { boundCompute: macs / (cores * 128e9), boundInputWire: macs / (2.2e11 * rate * (row + col)), boundWeightsWire: (megabytes * 1e-3 * (1 + row / 4)) / (rate * col), boundOutput: macs / (6e12 * col), boundDdrRead: (megabytes * 1e-3) / (read * col), boundDdrWrite: 1e-5 };
  const bump = 1 + 0.08 * noise(point) + (row === 3 && col === 3 ? 0.9 : 0);
  const all = Object.values(parts).reduce((a, b) => a + b, 0);
  const floor = Math.max(...Object.values(parts));
  const seconds = all * 0.8 * bump;
  const shares = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, round((0.94 * part) / all)]));
  const by = Object.entries(parts).sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
  return {
    ...key, ...shares, status: "ok", ms: round(seconds * 1e3), cycles: Math.round(seconds * 1e9), ips: round(1 / seconds), floorMs: round(floor * 600), layerBoundMs: round(floor * 780),
    boundBy: { boundCompute: "compute", boundInputWire: "input wire", boundWeightsWire: "weights wire", boundOutput: "output", boundDdrRead: "DDR read", boundDdrWrite: "DDR write" }[by] ?? "",
    efficiency: round(floor / seconds), peakMemtileKiB: Math.round(512 * (0.3 + 0.6 * noise(point + 1))), spilledMB: noise(point + 2) < 0.2 ? round(noise(point + 3)) : 0, estimateMs: round(seconds * 1e3 * (0.97 + 0.06 * noise(point + 4))),
    "slack(ms <= 2)": round((2 - seconds * 1e3) / 2), area: round(cores + col * 2 + 0.1 * 2 * read * col), compileSeconds: round(0.5 + cores * 0.02),
  };
}

/** 5 networks x 4096 points. */
export const LARGE: SampleSize = { networks: 5, rows: 8, cols: 8, ddr: [1, 2, 3, 4, 6, 8, 12, 16], wire: [2, 3, 4, 6, 8, 10, 12, 16] };
