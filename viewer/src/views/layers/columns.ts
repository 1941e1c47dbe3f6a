// What the table says of a layer, and of all layers together.
import type { Layer, Run } from "../../run/run";
import { oneMoreRow, prefetchOf } from "../../run/layer_facts";
import { waitsOf } from "../../run/layer_waits";
import { STALLS } from "../../run/stalls";
import { bytes, count, percent, seconds, signed } from "../../ui/numbers";

export type Value = number | string | null;

export interface Column {
  key: string;
  title: string;
  /** Of the plain number, for CSV. */
  unit: string;
  help: string;
  numeric: boolean;
  value(layer: Layer): Value;
  format(value: number | string): string;
  /** Of several layers; absent where a sum says nothing. */
  total?(layers: readonly Layer[]): number | null;
}

const plain = (value: number | string) => (typeof value === "number" ? count(value) : value);
const asPercent = (value: number | string) => percent(Number(value));
const asBytes = (value: number | string) => bytes(Number(value));
const signedPercent = (value: number | string) => signed(percent(Number(value)), Number(value));
const ratio = (part: number, whole: number) => (whole > 0 ? part / whole : null);

type Figure = (layer: Layer) => number;
const sum = (layers: readonly Layer[], of: Figure) => layers.reduce((total, layer) => total + of(layer), 0);
const summed = (of: Figure) => ({ value: of, total: (layers: readonly Layer[]) => sum(layers, of) });

const textColumn = (key: string, title: string, help: string, value: (layer: Layer) => string): Column => ({ key, title, unit: "", help, numeric: false, value, format: String });

const bytesColumn = (key: string, title: string, help: string, of: Figure): Column => ({ key, title, unit: "B", help, numeric: true, format: asBytes, ...summed(of) });

const closedFormCycles: Figure = (layer) => (typeof layer["closedFormCycles"] === "number" ? layer["closedFormCycles"] : 0);

function timeColumns(run: Run, unit: "cycles" | "time"): Column[] {
  const clock = run.device.clockHz;
  const time = (value: number | string) => (unit === "time" ? seconds(Number(value) / clock) : count(Number(value)));
  const takes = "How much later the array is done with the layers up to this one than with those before it; all add up to the run.";
  return [
    { key: "cycles", title: unit, unit: "cycles", help: takes, numeric: true, format: time, ...summed((l) => l.cycles) },
    { key: "share", title: "share", unit: "of the run", help: "Share of the whole run.", numeric: true, format: asPercent, ...summed((l) => (run.makespan > 0 ? l.cycles / run.makespan : 0)) },
  ];
}

function efficiencyColumns(run: Run): Column[] {
  const clock = run.device.clockHz;
  const isAll = (layers: readonly Layer[]) => layers.length === run.layers.length;
  return [
    {
      key: "efficiency", title: "efficiency", unit: "", numeric: true, format: asPercent, value: (l) => l.efficiency,
      help: "What the layer would take at best, by the resource that bounds it, over what it took. Overlap with other layers, or inputs that a stride skips, can pass 100 %.",
      total: (layers) => (isAll(layers) ? (run.report.bounds["efficiency"] ?? null) : ratio(sum(layers, (l) => l.boundSeconds) * clock, sum(layers, (l) => l.cycles))),
    },
    {
      key: "estimate", title: "estimate error", unit: "", numeric: true, format: signedPercent, value: (l) => l.closedFormError,
      help: "The planner's closed formula against what ran: +10 % means that the formula says ten percent more.",
      total: (layers) => {
        const known = layers.filter((l) => l.closedFormError !== null);
        const ran = sum(known, (l) => l.cycles);
        return ran > 0 ? sum(known, closedFormCycles) / ran - 1 : null;
      },
    },
  ];
}

function workColumns(run: Run): Column[] {
  return [
    ...(run.groups.length ? [{ key: "tiles", title: "tiles", unit: "", help: "Steps that it is computed in, by turns with its neighbours; 1 where it is computed whole.", numeric: true, format: plain, value: (l: Layer) => Math.max(1, l.steps?.length ?? 1) }] : []),
    textColumn("split", "split", "How the layer is cut over the cores and over time.", (l) => l.split),
    { key: "cores", title: "cores", unit: "", help: `Cores that computed for it, of ${run.device.rows * run.device.columns}.`, numeric: true, format: plain, value: (l) => l.cores },
    { key: "macs", title: "MMAC", unit: "MAC", help: "Multiply-accumulates that the layer needs, in millions, without padding.", numeric: true, format: (v) => megas(Number(v)), ...summed((l) => l.macs) },
    {
      key: "padded", title: "padded", unit: "", numeric: true, format: asPercent, value: (l) => paddedShare(l.macs, l.macsExecuted),
      help: "Share of the multiply-accumulates that ran which was padding of channels.",
      total: (layers) => paddedShare(sum(layers, (l) => l.macs), sum(layers, (l) => l.macsExecuted)),
    },
    {
      key: "density", title: "density", unit: "", numeric: true, format: densityText, value: (l) => l.density ?? null,
      help: "Share of the blocks of its weights that are kept; the others are zero and skipped.",
      total: (layers) => {
        const known = layers.filter((l) => l.density != null);
        return ratio(sum(known, (l) => (l.density ?? 0) * l.weightBytes), sum(known, (l) => l.weightBytes));
      },
    },
  ];
}

const megas = (n: number) => n === 0 ? "0" : (n / 1e6).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const densityText = (value: number | string) => (Number(value) >= 1 ? "dense" : percent(Number(value)));
// A sparse layer executes less than it needs; that is no padding.
const paddedShare = (needed: number, executed: number) => (executed > 0 ? Math.max(0, 1 - needed / executed) : null);

function waitColumns(run: Run): Column[] {
  const help = "summed over the layer's cores; a wait counts for what it was owed to at the end of its chain of causes.";
  const known = run.layers.some((layer) => layer["waitCoreCycles"] !== undefined);
  if (!known) return [];
  const waits = new WeakMap<Layer, number[]>(run.layers.map((layer) => [layer, waitsOf(run, layer)]));
  const of = (layer: Layer, stall: number) => waits.get(layer)?.[stall] ?? 0;
  const all = (layer: Layer) => STALLS.reduce((total, _, stall) => total + of(layer, stall), 0);
  return [
    { key: "waits", title: "cores waited", unit: "core cycles", help: `Core cycles that were waited, ${help}`, numeric: true, format: plain, ...summed(all) },
    ...STALLS.flatMap((name, stall): Column[] =>
      run.layers.some((layer) => of(layer, stall) > 0)
        ? [{ key: `wait-${name.replace(" ", "-")}`, title: `for ${name}`, unit: "core cycles", help: `Core cycles that were waited for ${name}, ${help}`, numeric: true, format: plain, ...summed((l) => of(l, stall)) }]
        : [],
    ),
  ];
}

function placeColumns(run: Run, unit: "cycles" | "time"): Column[] {
  const clock = run.device.clockHz;
  const time = (value: number | string) => (unit === "time" ? seconds(Number(value) / clock) : count(Number(value)));
  return [
    { key: "row", title: "one more row", unit: "cycles", help: `At most so much less with ${run.device.rows + 1} rows of cores to share the computing; 0 where computing does not bound the layer.`, numeric: true, format: time, ...summed((l) => oneMoreRow(run, l)) },
    {
      key: "prefetched", title: "prefetched", unit: "", help: "Share of what was read from DDR for the layer that had come before its first core started; the rest came while it ran.", numeric: true, format: asPercent,
      value: (l) => ratio(prefetchOf(run)[l.index]?.early ?? 0, prefetchOf(run)[l.index]?.read ?? 0),
      total: (layers) => ratio(sum(layers, (l) => prefetchOf(run)[l.index]?.early ?? 0), sum(layers, (l) => prefetchOf(run)[l.index]?.read ?? 0)),
    },
    { key: "start", title: "start", unit: "cycles", help: "Start of the layer's first instruction; layers overlap.", numeric: true, format: time, value: (l) => l.start },
    { key: "end", title: "end", unit: "cycles", help: "End of the layer's last instruction.", numeric: true, format: time, value: (l) => l.end },
  ];
}

/** All columns, in order; the first two stay in sight. */
export function columnsOf(run: Run, unit: "cycles" | "time"): Column[] {
  return [
    { key: "number", title: "#", unit: "", help: "Number of the layer in program.asm.", numeric: true, format: plain, value: (l) => l.index },
    textColumn("layer", "layer", "Name of the operator in the network.", (l) => l.name),
    textColumn("operator", "operator", "Kind of operator.", (l) => l.op),
    ...timeColumns(run, unit),
    textColumn("bound", "bound by", "The resource whose busiest engine worked longest for the layer.", (l) => l.boundBy ?? "none"),
    ...efficiencyColumns(run),
    ...workColumns(run),
    bytesColumn("weights", "weights", "Bytes of weights that the layer needs, without padding and biases.", (l) => l.weightBytes),
    bytesColumn("ddr-read", "DDR read", "From DDR into memtiles, on behalf of the layer.", (l) => l.ddrReadBytes),
    bytesColumn("ddr-write", "DDR write", "From memtiles to DDR.", (l) => l.ddrWriteBytes),
    bytesColumn("to-cores", "to cores", "Over wires from memtiles to cores; a multicast counts once.", (l) => l.memtileToCoreBytes),
    bytesColumn("from-cores", "from cores", "From cores to memtiles.", (l) => l.coreToMemtileBytes),
    ...waitColumns(run),
    ...placeColumns(run, unit),
  ];
}

export const textOf = (column: Column, layer: Layer): string => {
  const value = column.value(layer);
  return value === null ? "–" : column.format(value);
};
