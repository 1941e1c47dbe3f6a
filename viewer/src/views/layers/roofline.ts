// The roofline of a run: what each layer achieved against the walls of the device.
//
//   x = MACs that the layer needs / bytes that it moved        y = MACs that it needs / cycles that it took
//
// Two kinds of bytes, each with its own wall y = x * bytes a cycle: those over the wires to the cores, and those read from DDR.
import type { Range } from "../../paint/ticks";
import type { Layer, Run } from "../../run/run";

export type Bytes = "cores" | "ddr";

export interface Roofs {
  /** MAC a cycle, all cores at their peak. */
  compute: number;
  /** Bytes a cycle, all wires, and all DDR channels. */
  cores: number;
  ddr: number;
}

export interface Point {
  layer: Layer;
  /** MAC/B for either kind of bytes; null where the layer moved none. */
  x: Record<Bytes, number | null>;
  /** MAC/cycle */
  y: number;
}

export function roofsOf(run: Run): Roofs {
  const { device, report } = run;
  return {
    compute: report.device.macsPerCycle * device.rows * device.columns,
    cores: (device.wires.length * (device.wireBytesPerSecond ?? 0)) / device.clockHz,
    ddr: ddrRate(run) / device.clockHz,
  };
}

function ddrRate({ device }: Run): number {
  const channels = device.columns * (device.ddrChannelsIn ?? 0) * (device.ddrReadBytesPerSecond ?? 0);
  return Math.min(channels, device.ddrReadTotalBytesPerSecond ?? Infinity);
}

/** The layers with work and time of their own, and how many have none. */
export function pointsOf(run: Run): { points: Point[]; left: number } {
  const per = (macs: number, bytes: number) => (bytes > 0 ? macs / bytes : null);
  const points = run.layers
    .filter((layer) => layer.macs > 0 && layer.cycles > 0)
    .map((layer): Point => ({ layer, x: { cores: per(layer.macs, layer.memtileToCoreBytes), ddr: per(layer.macs, layer.ddrReadBytes) }, y: layer.macs / layer.cycles }));
  return { points, left: run.layers.length - points.length };
}

/** The best that the walls allow at an intensity. */
export const attainable = (roofs: Roofs, kind: Bytes, x: number): number => Math.min(roofs.compute || Infinity, roofs[kind] > 0 ? x * roofs[kind] : Infinity);

/** A logarithmic range about the values, at least two decades wide. */
export function rangeOf(values: readonly number[]): Range {
  const known = values.filter((value) => value > 0 && Number.isFinite(value));
  if (!known.length) return { from: 1, to: 100 };
  const [low, high] = [Math.log10(Math.min(...known)), Math.log10(Math.max(...known))];
  const room = 0.12 + (high - low) * 0.04;
  const [least, most] = [low - room, high + room];
  const lack = Math.max(0, 2 - (most - least)) / 2;
  return { from: 10 ** (least - lack), to: 10 ** (most + lack) };
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Marks that hide one another, chains of them too; each in the order of the marks, and the clusters by their first. */
export function clustersOf(marks: readonly { x: number; y: number; radius: number }[]): number[][] {
  const cluster = new Int32Array(marks.length).fill(-1);
  const out: number[][] = [];
  marks.forEach((_, start) => {
    if ((cluster[start] as number) >= 0) return;
    const members = [start];
    cluster[start] = out.length;
    for (let k = 0; k < members.length; k++) {
      const a = marks[members[k] as number] as (typeof marks)[number];
      marks.forEach((b, other) => {
        if ((cluster[other] as number) >= 0 || Math.hypot(a.x - b.x, a.y - b.y) > HIDES * (a.radius + b.radius)) return;
        cluster[other] = out.length;
        members.push(other);
      });
    }
    out.push(members.sort((a, b) => a - b));
  });
  return out;
}

const HIDES = 0.62; // of the sum of their radii: nearer than that, a mark has no room for a name of its own

export const overlap = (a: Box, b: Box) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** A place beside each point, in their order, that covers no point and no label before it; null where there is none. */
export function placeLabels(points: readonly { x: number; y: number; radius: number; width: number }[], height: number, within: Box, taken: readonly Box[] = []): (Box | null)[] {
  const blocked: Box[] = [...taken];
  for (const { x, y, radius } of points) blocked.push({ x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius });
  return points.map(({ x, y, radius, width }) => {
    if (width <= 0) return null;
    const gap = radius + 4;
    const wishes: [number, number][] = [[x + gap, y - height / 2], [x - gap - width, y - height / 2], [x - width / 2, y - gap - height], [x - width / 2, y + gap], [x + gap * 0.7, y - gap * 0.7 - height], [x + gap * 0.7, y + gap * 0.7]];
    for (const [left, top] of wishes) {
      const box = { x: left, y: top, width, height };
      const inside = left >= within.x && top >= within.y && left + width <= within.x + within.width && top + height <= within.y + within.height;
      if (!inside || blocked.some((other) => overlap(box, other))) continue;
      blocked.push(box);
      return box;
    }
    return null;
  });
}
