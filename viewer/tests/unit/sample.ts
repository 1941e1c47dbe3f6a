// Small runs made by hand or at random, in the form of the file.
import type { RolledJson, TimelineJson, TrackJson } from "../../src/run/format";
import { Run } from "../../src/run/run";

export interface SliceSpec {
  start: number;
  end: number;
  ready?: number; // by default the end before
  leaf?: number;
  wait?: number;
  lock?: number;
  cause?: { track: number; index: number };
  bytes?: number; // where it is not its instruction's
  macs?: number;
}

export interface TrackSpec extends Partial<Pick<TrackJson, "engine" | "row" | "column" | "channel">> {
  slices: SliceSpec[];
}

const WAIT_KINDS = ["none", "lock", "partner", "start", "ddrEntry", "resource"];
export const RESOURCES = ["compute", "weights wire", "input wire", "output", "DDR read", "DDR write", "sequencer"];

const EACH = { bytes: 64, macs: 256 }; // of one iteration of any instruction

/** A timeline whose tracks are as given; leaf k is instruction k of layer layerOfLeaf[k] and of resource resourceOfLeaf[k]. */
export function timelineOf(tracks: TrackSpec[], layerOfLeaf: number[] = [0], resourceOfLeaf: number[] = layerOfLeaf.map(() => 0), change: Partial<TimelineJson> = {}): TimelineJson {
  const columns: RolledJson[] = [];
  const put = (values: number[]) => columns.push(values) - 1;
  const made = tracks.map((track): TrackJson => {
    const causeTracks = [...new Set(track.slices.flatMap((s) => (s.cause ? [s.cause.track] : [])))];
    const last = new Map<number, number>();
    const before = (i: number) => (i > 0 ? (track.slices[i - 1] as SliceSpec) : { end: 0, leaf: 0 });
    const causeSteps = track.slices.map(({ cause }) => {
      if (!cause) return 0;
      const step = cause.index - (last.get(cause.track) ?? 0);
      last.set(cause.track, cause.index);
      return step;
    });
    return {
      engine: track.engine ?? "core", row: track.row ?? 0, column: track.column ?? 0, channel: track.channel ?? 0,
      slices: track.slices.length, causeTracks,
      gap: put(track.slices.map((s, i) => s.start - before(i).end)),
      duration: put(track.slices.map((s) => s.end - s.start)),
      idle: put(track.slices.map((s, i) => (s.ready ?? before(i).end) - before(i).end)),
      leaf: put(track.slices.map((s, i) => (s.leaf ?? 0) - (before(i).leaf ?? 0))),
      layer: put(track.slices.map(() => 0)),
      wait: put(track.slices.map((s) => s.wait ?? (s.cause ? 1 : 0))),
      lock: put(track.slices.map((s) => s.lock ?? -1)),
      causeTrack: put(track.slices.map((s) => (s.cause ? causeTracks.indexOf(s.cause.track) + 1 : 0))),
      causeStep: put(causeSteps),
      ...(track.slices.some((s) => s.bytes !== undefined) ? { bytes: put(track.slices.map((s) => s.bytes ?? EACH.bytes)) } : {}),
      ...(track.slices.some((s) => s.macs !== undefined) ? { macs: put(track.slices.map((s) => s.macs ?? EACH.macs)) } : {}),
    };
  });
  const makespan = Math.max(0, ...tracks.flatMap((t) => t.slices.map((s) => s.end)));
  const layers = Math.max(0, ...layerOfLeaf) + 1;
  const each = (value: number) => layerOfLeaf.map(() => value);
  return {
    format: "heddle.timeline/1", model: "sample", makespan,
    device: { name: "paper", rows: 1, columns: 1, clockHz: 1e9, coreBytes: 49152, memtileBytes: 524288, wires: [] },
    graph: {
      tensors: Array.from({ length: layers + 1 }, (_, i) => ({ name: `t${i}`, height: 8, width: 8, channels: 8 })),
      operators: Array.from({ length: layers }, (_, i) => ({ name: `layer${i}`, op: "Conv", inputs: [i], output: i + 1 })),
      inputs: [{ name: "input", tensor: 0 }], outputs: [{ name: "output", tensor: layers }],
    },
    report: {
      format: "heddle.report/2",
      model: { name: "sample", sha256: "", macs: 0, weightBytes: 0 },
      device: { name: "paper", rows: 1, columns: 1, clockHz: 1e9, macsPerCycle: 256 },
      time: { cycles: makespan, seconds: makespan / 1e9, closedFormSeconds: null, closedFormWorstLayerError: null },
      bounds: { efficiency: 0.5 }, traffic: {}, memory: { memtilePeakBytes: 0, corePeakBytes: 0 },
      work: { macsDense: 0, macsExecuted: 0, macsPadded: 0 },
      verification: { ran: false, matches: false, tensorsCompared: 0, bytesCompared: 0, mismatches: 0 },
      layers: Array.from({ length: layers }, (_, i) => ({
        name: `layer${i}`, op: "Conv", split: "1x1", cycles: i === layers - 1 ? makespan - Math.floor(makespan / layers) * i : Math.floor(makespan / layers),
        start: 0, end: makespan, boundBy: "compute", boundSeconds: 0, efficiency: 0.5, closedFormError: null, density: 1, macs: 0, macsExecuted: 0, weightBytes: 0,
        ddrReadBytes: 0, ddrWriteBytes: 0, memtileToCoreBytes: 0, coreToMemtileBytes: 0, cores: 1,
      })),
      hostOperators: [], notModelled: [],
    },
    asm: layerOfLeaf.map((_, k) => `OP${k}`).join("\n"),
    whatIf: [],
    instructions: {
      layer: layerOfLeaf, resource: resourceOfLeaf, mnemonic: each(0), bytes: each(EACH.bytes), macs: each(EACH.macs), macsNeeded: each(128),
      line: layerOfLeaf.map((_, k) => k), mnemonics: ["CONV"], resources: RESOURCES,
    },
    locks: { tileKinds: ["ddr", "memtile", "core"], tileKind: [2], row: [0], column: [0], index: [3], initial: [0], producer: [0], consumer: [0] },
    memory: [], counters: { step: 1, series: [] }, waitKinds: WAIT_KINDS, tracks: made, columns,
    ...change,
  };
}

export const runOf = (...given: Parameters<typeof timelineOf>): Run => new Run(timelineOf(...given));
