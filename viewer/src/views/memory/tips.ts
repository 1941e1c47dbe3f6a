// What a box, a place in a memory and its peak are, in words.
import type { BlockJson } from "../../run/format";
import { layerName } from "../../run/names";
import type { Layer, Run } from "../../run/run";
import { layerAtCycle } from "../../ui/layer_bands";
import type { App } from "../../ui/app";
import { count, kibibytes, percent } from "../../ui/numbers";
import type { TimeScale } from "../../ui/time_axis";
import type { TipLine } from "../../ui/tip";
import { type Box, boxName, placeName, roleText, takenIn, usersOf } from "../../run/memory_map";
import { mostIn } from "../../run/occupancy";
import type { Strip } from "./strips";

const LISTED = 8; // blocks under a point of the curve
const NAMED = 6; // layers of a block

/** The layer whose band covers the cycle. */
export const layerWhen = (run: Run, cycle: number): Layer | undefined => layerAtCycle(run, cycle) ?? undefined;

const lowered = (name: string): string => (name === "DDR" ? name : name.charAt(0).toLowerCase() + name.slice(1));
const hex = (address: number): string => `0x${address.toString(16)}`;

export function peakText(run: Run, strip: Strip | null): string {
  if (!strip) return "Nothing is stored";
  const { place, capacity, occupancy: { peak } } = strip.memory;
  const layer = layerWhen(run, peak.from);
  return `Peak ${kibibytes(peak.bytes)} of ${kibibytes(capacity)} (${percent(peak.bytes / capacity)}) in ${lowered(placeName(place))} at cycle ${count(peak.from)}${layer ? `, during ${layer.name}` : ""}`;
}

/** Why the report's peak is another figure. */
export function plannedText({ report }: Run, strip: Strip | null): string {
  if (!strip || strip.memory.place.kind === "ddr") return "";
  const planned = strip.memory.place.kind === "core" ? report.memory.corePeakBytes : report.memory.memtilePeakBytes;
  return `The report's ${kibibytes(planned)} are the plan's: what each layer by itself needs. Here layers overlap as they ran: weights of the next come while this one's tensors are still in use.`;
}

export function boxTip(app: App, strip: Strip, box: Box): TipLine[] {
  const { run } = app;
  const block = run.memory[box.block] as BlockJson;
  const { writers, readers } = usersOf(run, block);
  const names = (layers: number[]) => `${layers.slice(0, NAMED).map((layer) => layerName(run, layer)).join(", ")}${layers.length > NAMED ? ` and ${layers.length - NAMED} more` : ""}`;
  const lines: TipLine[] = [[boxName(run, box), "head"], `${roleText(run, box)}, ${kibibytes(box.size)} (${count(box.size)} B)`];
  lines.push([`${hex(box.address)} – ${hex(box.address + box.size)}  ${lowered(placeName(strip.memory.place))}`, "code"]);
  lines.push(`lives ${app.duration(box.to - box.from)}, from ${count(box.from)} to ${count(box.to)}`);
  if (writers.length) lines.push(`written by ${names(writers)}`);
  else if (box.role === "tensor") lines.push("there from the start: an input or a constant of the network");
  if (readers.length) lines.push(`read by ${names(readers)}`);
  lines.push([`reserved from ${layerName(run, block.firstLayer) || "the start"} to ${layerName(run, block.lastLayer) || "the end"}`, "faint"]);
  if (box.spilled) lines.push("⇅ spilled: the tensor goes to DDR and comes back");
  const others = strip.memory.overlaps.flatMap(({ boxes: [a, b] }) => (a === box ? [b] : b === box ? [a] : []));
  const more = others.length > 3 ? ` and ${others.length - 3} more` : "";
  if (others.length) lines.push([`shares bytes for a while with ${others.slice(0, 3).map((other) => boxName(run, other)).join(", ")}${more}`, "faint"]);
  return lines;
}

/** `y` is in pixels from the first strip's top. */
export function fillTip(app: App, strip: Strip, time: TimeScale, x: number, y: number): TipLine[] {
  const { run } = app;
  const { memory } = strip;
  const cycle = time.cycle(x);
  const boxes = takenIn(strip.memory, cycle);
  const bytes = mostIn(memory.occupancy, cycle, cycle + time.perPixel);
  const free = y < strip.curveTop - 4 ? `, free at ${hex(Math.max(0, Math.round(strip.scale.address(y))))}` : "";
  const lines: TipLine[] = [[`${kibibytes(bytes)} of ${kibibytes(memory.capacity)} taken (${percent(bytes / memory.capacity)})`, "head"], `${lowered(placeName(memory.place))}, cycle ${count(cycle)}${free}`];
  for (const box of boxes.slice(0, LISTED)) lines.push(`${kibibytes(box.size)}  ${boxName(run, box)}`);
  if (boxes.length > LISTED) lines.push([`and ${boxes.length - LISTED} more`, "faint"]);
  return lines;
}
