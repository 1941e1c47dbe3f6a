// One run: everything that the page knows of it. Built from the file once; views only read it.
import { type BlockJson, type DeviceJson, type ExplanationJson, type FrameJson, type GraphJson, type LayerJson, type RaisedKeysJson, type ReportJson, type TimelineJson, refusal } from "./format";
import { bandsOf, type Band, groupsOf, type Group } from "./groups";
import { findRepeat, type Repeat } from "./repeat";
import { Rolled, unrolled, unrolledWide } from "./rolled";
import { Track } from "./track";

export interface Layer extends LayerJson {
  index: number;
  /** The stretch of the run that completes the layer: the stretches of all layers fill the run, one after another. */
  from: number;
  to: number;
}

export interface Instructions {
  count: number;
  layer: Int32Array;
  resource: Int32Array;
  mnemonic: Int32Array;
  bytes: Float64Array; // of one iteration; of a slice: Run.bytesOf
  macs: Float64Array; // of one iteration, padding included; of a slice: Run.macsOf
  macsNeeded: Float64Array; // of one iteration, without padding
  line: Int32Array; // in Run.asm, from 0
  mnemonics: string[];
  resources: string[];
}

export interface Locks {
  count: number;
  tileKinds: string[];
  tileKind: Int32Array;
  row: Int32Array;
  column: Int32Array;
  index: Int32Array;
  initial: Int32Array;
  producer: Int32Array; // track, or -1
  consumer: Int32Array;
}

/** A slice, by its track and its index in it. */
export interface SliceRef {
  track: number;
  index: number;
}

/** Cycles, half-open. */
export interface Stretch {
  from: number;
  to: number;
}

export class Run {
  readonly model: string;
  readonly makespan: number;
  readonly device: DeviceJson;
  readonly graph: GraphJson;
  readonly report: ReportJson;
  readonly layers: Layer[];
  /** Layers that are computed tile by tile. */
  readonly groups: Group[];
  /** Inferences, where the run has several; else none. */
  readonly frames: readonly FrameJson[];
  /** What frames do alike; null where nothing is known of that. */
  readonly repeat: Repeat | null;
  /** What completes the run, stretch by stretch: each layer, or each step of those in groups. */
  readonly bands: Band[];
  /** What explain.json says; null in a file without it. */
  readonly explanation: ExplanationJson | null;
  readonly tracks: Track[];
  readonly slices: number;
  readonly instructions: Instructions;
  readonly locks: Locks;
  readonly memory: BlockJson[];
  readonly waitKinds: string[];
  readonly whatIf: { resource: string; cycles: number }[];
  readonly counters: { step: number; series: { name: string; unit: string; most: number; values: Float64Array }[] };
  /** Lines of program.asm, without their ends. */
  readonly asm: string[];
  private leavesOfLine: Map<number, number[]> | undefined;

  /** `keys`: what keys of the device that are raised would gain; null where nobody found out. */
  constructor(json: TimelineJson, readonly keys: readonly RaisedKeysJson[] | null = null) {
    const reason = refusal(json);
    if (reason) throw new Error(reason);
    this.model = json.model;
    this.makespan = json.makespan;
    this.device = json.device;
    this.graph = json.graph;
    this.report = json.report;
    this.memory = json.memory;
    this.waitKinds = json.waitKinds;
    this.whatIf = json.whatIf ?? [];
    this.asm = json.asm.split("\n");
    this.instructions = readInstructions(json);
    this.locks = readLocks(json);
    this.counters = {
      step: json.counters.step,
      series: json.counters.series.map((s) => ({ name: s.name, unit: s.unit, most: s.most, values: unrolledWide(s.values) })),
    };
    const pool: (Rolled | undefined)[] = [];
    const columnAt = (place: number) => (pool[place] ??= new Rolled(json.columns[place] ?? []));
    this.tracks = json.tracks.map((track, index) => new Track(index, track, columnAt, this.instructions.layer, json.report.frames?.length));
    this.slices = this.tracks.reduce((sum, track) => sum + track.size, 0);
    let done = 0;
    this.layers = json.report.layers.map((layer, index) => {
      const from = done;
      done += layer.cycles;
      return { ...layer, index, from, to: done };
    });
    this.groups = groupsOf(json.report);
    this.frames = json.report.frames ?? [];
    this.bands = bandsOf(this.layers, this.groups, this.frames);
    this.repeat = findRepeat(this);
    this.explanation = json.explanation ?? null;
  }

  mnemonicOf(leaf: number): string {
    return this.instructions.mnemonics[this.instructions.mnemonic[leaf] ?? -1] ?? "";
  }

  /** The line of asm of an instruction. */
  textOf(leaf: number): string {
    return this.asm[this.instructions.line[leaf] ?? -1]?.trim() ?? "";
  }

  leavesAt(line: number): number[] {
    if (!this.leavesOfLine) {
      this.leavesOfLine = new Map();
      this.instructions.line.forEach((at, leaf) => {
        const leaves = this.leavesOfLine?.get(at);
        if (leaves) leaves.push(leaf);
        else this.leavesOfLine?.set(at, [leaf]);
      });
    }
    return this.leavesOfLine.get(line) ?? [];
  }

  /** Bytes that a slice moved: its instruction's, or those of its own weight record. */
  bytesOf(track: Track, i: number): number {
    return track.bytes(i) ?? this.instructions.bytes[track.leaf(i)] ?? 0;
  }

  /** MACs that a slice did, padding included. */
  macsOf(track: Track, i: number): number {
    return track.macs(i) ?? this.instructions.macs[track.leaf(i)] ?? 0;
  }

  /** MACs of a slice that the network asks for; the rest of what ran is padding. */
  macsNeededBy(track: Track, i: number): number {
    const padded = track.padded(i);
    return padded === null ? (this.instructions.macsNeeded[track.leaf(i)] ?? 0) : this.macsOf(track, i) - padded;
  }

  /** What ended the wait of a slice: none where it did not wait, or where nobody in particular did. */
  causeOf(at: SliceRef): SliceRef | null {
    const track = this.tracks[at.track] as Track;
    const cause = track.causeTrack(at.index);
    const index = track.causeIndex(at.index);
    return cause >= 0 && index >= 0 && index < (this.tracks[cause] as Track).size ? { track: cause, index } : null;
  }

  /** Resource of the slice that ended the wait, or -1. */
  waitResource(track: Track, i: number): number {
    const cause = track.causeTrack(i);
    if (cause < 0) return -1;
    const index = track.causeIndex(i);
    const by = this.tracks[cause] as Track;
    return index >= 0 && index < by.size ? (this.instructions.resource[by.leaf(index)] ?? -1) : -1;
  }
}

function readInstructions(json: TimelineJson): Instructions {
  const from = json.instructions;
  const macs = unrolledWide(from.macs);
  return {
    count: macs.length,
    layer: unrolled(from.layer),
    resource: unrolled(from.resource),
    mnemonic: unrolled(from.mnemonic),
    bytes: unrolledWide(from.bytes),
    macs,
    macsNeeded: from.macsNeeded ? unrolledWide(from.macsNeeded) : macs,
    line: unrolled(from.line),
    mnemonics: from.mnemonics,
    resources: from.resources,
  };
}

function readLocks(json: TimelineJson): Locks {
  const from = json.locks;
  return {
    count: new Rolled(from.index).length,
    tileKinds: from.tileKinds,
    tileKind: unrolled(from.tileKind),
    row: unrolled(from.row),
    column: unrolled(from.column),
    index: unrolled(from.index),
    initial: unrolled(from.initial),
    producer: unrolled(from.producer),
    consumer: unrolled(from.consumer),
  };
}
