// heddle.timeline/1 as it stands in the file; docs/timeline.md says what each entry means.

export const FORMAT = "heddle.timeline/1";

/** A sequence with its loops: a number stands for itself, [n, items...] for its items n times. */
export type RolledItem = number | RolledJson;
export type RolledJson = RolledItem[];

export interface RangeJson {
  row: number;
  column: number;
  rows: number;
  columns: number;
}

export interface DeviceJson {
  name: string;
  rows: number;
  columns: number;
  clockHz: number;
  coreBytes: number;
  memtileBytes: number;
  ddrReadBytesPerSecond?: number;
  ddrWriteBytesPerSecond?: number;
  ddrReadTotalBytesPerSecond?: number; // of all channels, where they share a rate
  ddrWriteTotalBytesPerSecond?: number;
  wireBytesPerSecond?: number;
  coreWriteBytesPerSecond?: number;
  ddrChannelsIn?: number; // of one memtile
  ddrChannelsOut?: number;
  wires: { name: string; reach: RangeJson; feeders: number[] }[];
}

/** What an operator of the graph does beside what it is named after. */
export const namesBeside = (operator?: Pick<GraphJson["operators"][number], "atStart" | "atEnd" | "tables">): string[] => [
  ...(operator?.atStart ? [operator.atStart] : []),
  ...(operator?.tables ?? []),
  ...(operator?.atEnd ? [operator.atEnd] : []),
];

export interface GraphJson {
  tensors: { name: string; height: number; width: number; channels: number }[];
  operators: { name: string; op: string; inputs: number[]; output: number; atStart?: string; atEnd?: string; tables?: string[]; pools?: number; folded?: number }[];
  inputs: { name: string; tensor: number }[];
  outputs: { name: string; tensor: number }[];
}

/** Some rows of a layer that is tiled depth-wise; docs/report.md. */
export interface StepJson {
  tile: number;
  firstRow: number;
  rows: number; // 0: nobody knows
  cycles: number;
  start: number;
  end: number;
}

/** Layers that are computed tile by tile, by turns. */
export interface GroupJson {
  firstLayer: number;
  lastLayer: number;
  tiles: number;
  cycles: number;
  start: number;
  end: number;
  keptBytes: number;
  weightsAgainBytes: number;
}

/** One row of the report's layer table; docs/report.md. */
export interface LayerJson {
  name: string;
  op: string;
  split: string;
  cycles: number;
  start: number;
  end: number;
  boundBy: string | null;
  /** The engine that works longest, as in asm: "wire(3)". */
  boundEngine?: string;
  boundSeconds: number;
  /** Its busiest engine with its best mapping; null where the planner weighed none. */
  mappingBoundCycles?: number | null;
  efficiency: number | null;
  closedFormError: number | null;
  /** 8x8 blocks of weights that are kept, of all; null where there are none. */
  density?: number | null;
  /** MACs of the core with most, over the mean of those that compute. */
  imbalance?: number | null;
  /** Needed if no block were left out. */
  denseMacs?: number;
  denseWeightBytes?: number;
  macs: number;
  macsExecuted: number;
  /** Of these: on channels that fill a block up to eight. */
  macsOnPaddedChannels?: number;
  weightBytes: number;
  ddrReadBytes: number;
  ddrWriteBytes: number;
  memtileToCoreBytes: number;
  coreToMemtileBytes: number;
  weightsToCoresBytes?: number;
  inputsToCoresBytes?: number;
  busyCycles?: Record<string, number>;
  cores: number;
  steps?: StepJson[];
  [more: string]: unknown;
}

export interface FrameJson {
  start: number;
  end: number;
  /** How much later the array is done with each step of the schedule than with all before it, frame after frame. */
  stepCycles: number[];
}

export interface ReportJson {
  format: string;
  model: { name: string; sha256: string; macs: number; weightBytes: number };
  device: { name: string; rows: number; columns: number; clockHz: number; macsPerCycle: number };
  time: { cycles: number; seconds: number; frames?: number; batch?: number; coldCycles?: number; steadyCycles?: number; closedFormSeconds: number | null; closedFormWorstLayerError: number | null };
  bounds: Record<string, number>;
  traffic: Record<string, number>;
  memory: { memtilePeakBytes: number; corePeakBytes: number };
  work: { macsDense: number; macsExecuted: number; macsPadded: number };
  verification: { ran: boolean; matches: boolean; tensorsCompared: number; bytesCompared: number; mismatches: number };
  layers: LayerJson[];
  groups?: GroupJson[];
  /** Of a run of several inferences. */
  frames?: FrameJson[];
  hostOperators: string[];
  notModelled: string[];
}

export interface MappingJson {
  split: string;
  cut: string;
  streams: string[];
  loops: string;
}

/** What explain.json says of a layer; docs/explain.md. */
export interface ExplainedLayerJson {
  mapping: MappingJson | null;
  tried: number;
  alternatives: { mapping: MappingJson; closedFormCycles: number; losesCycles: number; boundBy: string }[];
  noAlternatives: string;
  bytes: { what: string; movedBytes: number; neededBytes: number; why: string[] }[];
}

export interface ExplainedGroupJson {
  first: string;
  last: string;
  layers: number;
  tiles: number;
  aloneCycles: number | null;
  tiledCycles: number | null;
}

/** Keys of the device, raised at the same time, and the run with them. */
export interface RaisedKeysJson {
  raised: { key: string; from: string; to: string }[];
  cycles: number;
  gainCycles: number;
  heldBy: string[]; // keys that are as small, so that these alone gain nothing
}

export interface ExplanationJson {
  tiling: { taken: boolean; aloneCycles: number | null; tiledCycles: number | null; why: string; groups: ExplainedGroupJson[] } | null;
  layers: ExplainedLayerJson[];
}

export interface BlockJson {
  name: string;
  kind: "ddr" | "memtile" | "core";
  tiles: RangeJson;
  address: number;
  size: number;
  firstLayer: number;
  lastLayer: number;
  start: number;
  end: number;
  tensor: number;
  /** Places in it that are used in turn: 2 for ping-pong. */
  slots?: number;
  writtenBy?: number[]; // layers
  readBy?: number[];
  /** start and end for each of the tiles, row by row. */
  starts?: RolledJson;
  ends?: RolledJson;
}

export interface TrackJson {
  engine: EngineKind;
  row: number;
  column: number;
  channel: number;
  slices: number;
  causeTracks: number[];
  gap: number;
  duration: number;
  idle: number;
  leaf: number;
  layer: number;
  wait: number;
  lock: number;
  causeTrack: number;
  causeStep: number;
  padded?: number;
  /** Of each slice, where those of one instruction differ. */
  bytes?: number;
  macs?: number;
}

export type EngineKind = "sequencer" | "ddrIn" | "ddrOut" | "wire" | "coreIn" | "core" | "coreOut";

export interface TimelineJson {
  format: string;
  model: string;
  makespan: number;
  device: DeviceJson;
  graph: GraphJson;
  report: ReportJson;
  asm: string;
  whatIf?: { resource: string; cycles: number }[];
  explanation?: ExplanationJson;
  instructions: {
    layer: RolledJson;
    tile?: RolledJson; // of the layer's group
    resource: RolledJson;
    mnemonic: RolledJson;
    bytes: RolledJson;
    macs: RolledJson;
    macsNeeded?: RolledJson;
    line: RolledJson;
    mnemonics: string[];
    resources: string[];
  };
  locks: {
    tileKinds: string[];
    tileKind: RolledJson;
    row: RolledJson;
    column: RolledJson;
    index: RolledJson;
    initial: RolledJson;
    producer: RolledJson;
    consumer: RolledJson;
  };
  memory: BlockJson[];
  counters: { step: number; series: { name: string; unit: string; most: number; values: RolledJson }[] };
  waitKinds: string[];
  tracks: TrackJson[];
  columns: RolledJson[];
}

/** Why `json` cannot be shown, or null. A minor addition within /1 is no reason. */
export function refusal(json: unknown): string | null {
  const format = typeof json === "object" && json !== null ? (json as { format?: unknown }).format : undefined;
  if (format === FORMAT) return null;
  const newer = typeof format === "string" ? /^heddle\.timeline\/(\d+)$/.exec(format) : null;
  if (newer && Number(newer[1]) > 1)
    return `The file is ${format}; this page reads ${FORMAT}. Open it with the page of the heddle that wrote it, or write it anew: heddle view OUT.`;
  return `This is not a timeline of heddle: its format should be ${FORMAT}, but is ${JSON.stringify(format) ?? "missing"}.`;
}
