// State <-> the address behind '#'. What cannot be read is left out: an old link still opens the page.
import type { Stretch } from "../run/run";
import { EDGE, type Selection, type State, type Tile, VIEWS, type ViewId } from "./state";

const MEMORIES = ["core", "memtile", "ddr"] as const;

export function selectionText(selection: Selection): string {
  switch (selection.kind) {
    case "slice":
      return `slice:${selection.track}:${selection.index}`;
    case "layer":
      return `layer:${selection.layer}`;
    case "instruction":
      return `instruction:${selection.leaf}`;
    case "tensor":
      return `tensor:${selection.tensor}`;
    case "block":
      return `block:${selection.block}`;
    case "lock":
      return `lock:${selection.lock}`;
    case "tile":
      return `tile:${selection.tile.kind}:${selection.tile.row}:${selection.tile.column}`;
    case "engine":
      return `engine:${selection.track}`;
    case "group":
      return ["group", selection.group, ...(selection.tile >= 0 ? [selection.tile, ...(selection.layer >= 0 ? [selection.layer] : [])] : [])].join(":");
    case "frame":
      return `frame:${selection.frame}`;
    case "moment":
      return `moment:${selection.memory.kind}:${selection.memory.row}:${selection.memory.column}:${Math.round(selection.cycle)}`;
  }
}

export function parseSelection(text: string): Selection | null {
  const [kind = "", ...rest] = text.split(":");
  if (kind === "tile") {
    const [row, column] = numbers(rest.slice(1), 2) ?? [];
    if (row === undefined || column === undefined || (rest[0] !== "core" && rest[0] !== "memtile")) return null;
    return { kind, tile: { kind: rest[0], row, column } satisfies Tile };
  }
  if (kind === "moment") {
    const [row, column, cycle] = numbers(rest.slice(1), 3) ?? [];
    const of = MEMORIES.find((name) => name === rest[0]);
    return row === undefined || column === undefined || cycle === undefined || !of ? null : { kind, memory: { kind: of, row, column }, cycle };
  }
  if (kind === "slice") {
    const [track, index] = numbers(rest, 2) ?? [];
    return track === undefined || index === undefined ? null : { kind, track, index };
  }
  if (kind === "group") {
    const [group, tile = -1, layer = -1] = numbers(rest, Math.min(rest.length, 3)) ?? [];
    return group === undefined ? null : { kind, group, tile, layer };
  }
  const [value] = numbers(rest, 1) ?? [];
  if (value === undefined) return null;
  switch (kind) {
    case "layer":
      return { kind, layer: value };
    case "instruction":
      return { kind, leaf: value };
    case "tensor":
      return { kind, tensor: value };
    case "block":
      return { kind, block: value };
    case "lock":
      return { kind, lock: value };
    case "engine":
      return { kind, track: value };
    case "frame":
      return { kind, frame: value };
    default:
      return null;
  }
}

function numbers(texts: string[], size: number): number[] | null {
  if (texts.length !== size || !texts.every((text) => /^\d{1,12}$/.test(text))) return null;
  return texts.map(Number);
}

const stretchText = (from: number, to: number) => `${Math.round(from)}-${Math.round(to)}`;

/** Cut to the run, with `edge` cycles at its sides; null where nothing of it is in the run. */
function parseStretch(text: string | null, makespan: number, edge: (span: number) => number): Stretch | null {
  const parts = /^(-?\d{1,15})-(-?\d{1,15})$/.exec(text ?? "");
  if (!parts) return null;
  const [from, to] = [Number(parts[1]), Number(parts[2])];
  if (to <= from || to <= 0 || from >= makespan) return null;
  const room = edge(to - from);
  return { from: Math.max(0 - room, from), to: Math.min(makespan + room, to) };
}

export function hashOf(state: Readonly<State>): string {
  const out = new URLSearchParams();
  out.set("view", state.view);
  out.set("lower", state.lower || "none");
  if (state.run) out.set("run", String(state.run));
  out.set("window", stretchText(state.window.from, state.window.to));
  if (state.selection) out.set("select", selectionText(state.selection));
  if (state.measure) out.set("measure", stretchText(state.measure.from, state.measure.to));
  if (state.unit !== "cycles") out.set("unit", state.unit);
  for (const [name, value] of Object.entries(state.options)) out.set(`o.${name}`, value);
  return `#${out}`;
}

/** `makespans`: of the runs that the page has. */
export function parseHash(hash: string, byDefault: Omit<State, "window">, makespans: readonly number[]): State {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const view = (name: string) => VIEWS.find((id) => id === given.get(name) && (id !== "compare" || makespans.length > 1));
  const options: Record<string, string> = {};
  for (const [name, value] of given) if (name.startsWith("o.")) options[name.slice(2)] = value;
  const lower: ViewId | "" = given.get("lower") === "none" ? "" : (view("lower") ?? byDefault.lower);
  const upper = view("view") ?? byDefault.view;
  const run = Number(given.get("run")) === 1 && makespans.length > 1 ? 1 : 0;
  const makespan = makespans[run] ?? 0;
  return {
    view: upper,
    lower: lower === upper ? "" : lower,
    run,
    window: parseStretch(given.get("window"), makespan, (span) => Math.ceil(EDGE * Math.min(span, makespan))) ?? { from: 0, to: makespan },
    selection: parseSelection(given.get("select") ?? ""),
    measure: parseStretch(given.get("measure"), makespan, () => 0),
    unit: given.get("unit") === "time" ? "time" : "cycles",
    options,
  };
}
