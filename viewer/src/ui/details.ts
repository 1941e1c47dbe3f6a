// The selection in words, at the side; every thing that it names is one click away.
import { laneName, layerName, lockText, tensorName, trackName } from "../run/names";
import type { SliceRef } from "../run/run";
import { letGoBy, STALLS, waitParts } from "../run/stalls";
import type { Track } from "../run/track";
import { leadsTo, otherEndsOf } from "../run/transfers";
import type { App } from "./app";
import { button, element } from "./dom";
import { bytes, count, kibibytes, macs, percent, signed } from "./numbers";
import { type Change, producerOf, type Selection, type ViewId } from "./state";
import { summary } from "./summary";

const CHAIN = 12; // steps shown behind a slice
const PAST_BOUND = "The bound is a yardstick, not a wall: a layer passes it where it overlaps its neighbours or uses the wires in another way.";

export class Details {
  readonly root = element("aside", { id: "details", aria: { label: "Details of the selection" } });

  constructor(private readonly app: App) {}

  changed(change: Change): void {
    this.root.hidden = !this.app.hasDetails;
    if (!change.has("selection") && !change.has("run") && !change.has("unit")) return;
    const { selection } = this.app.store.state;
    const content = selection ? this.of(selection) : summary(this.app);
    this.root.replaceChildren(...content);
  }

  private of(selection: Selection): Node[] {
    switch (selection.kind) {
      case "slice":
        return this.slice({ track: selection.track, index: selection.index });
      case "layer":
        return this.layer(selection.layer);
      case "instruction":
        return this.instruction(selection.leaf);
      case "tensor":
        return this.tensor(selection.tensor);
      case "block":
        return this.block(selection.block);
      case "lock":
        return this.lock(selection.lock);
      case "tile":
        return this.tile();
    }
  }

  private slice(at: SliceRef): Node[] {
    const { app } = this;
    const { run } = app;
    const track = run.tracks[at.track];
    if (!track || at.index >= track.size) return summary(this.app);
    const i = at.index;
    const leaf = track.leaf(i);
    const list = new List();
    list.add("engine", trackName(run, track));
    list.add("layer", this.layerLink(track.layer(i)));
    list.add("ran", `${app.duration(track.end(i) - track.start(i))}, from ${count(track.start(i))} to ${count(track.end(i))}`);
    if (track.start(i) > track.ready(i)) {
      list.add("waited", app.duration(track.start(i) - track.ready(i)));
      for (const { stall, cycles } of waitParts(run, track, i, "root")) list.add(`for ${STALLS[stall]}`, app.duration(cycles));
      list.add("let go by", letGoBy(run, track, i));
    }
    if (track.lock(i) >= 0) list.add("lock", this.link(lockText(run, track.lock(i)), { kind: "lock", lock: track.lock(i) }));
    if (run.instructions.bytes[leaf]) list.add("moved", bytes(run.instructions.bytes[leaf]));
    if (run.instructions.macs[leaf]) list.add("did", macs(run.instructions.macs[leaf]));
    for (const end of otherEndsOf(run, at)) list.add(track.engine === "wire" ? "received by" : "sent by", this.sliceLink(end));
    list.add("slice", `${count(i + 1)} of ${count(track.size)} of its engine`);
    const parts: Node[] = [element("h2", { textContent: run.mnemonicOf(leaf) }), list.root, this.asm(leaf)];
    parts.push(...this.chainBehind(at), this.views(["timeline", "path", "asm", "mesh"]));
    return parts;
  }

  /** What led to a slice, one behind the other, and whether there is more. */
  private chainBehind(at: SliceRef): Node[] {
    const { run } = this.app;
    const chain: SliceRef[] = [];
    let next = leadsTo(run, at);
    for (; next && chain.length < CHAIN; next = leadsTo(run, next)) chain.push(next);
    const say = (text: string) => element("p", { className: "faint", textContent: text });
    if (!chain.length) return [say("It waited for no other slice: the chain of waits (C) ends here.")];
    const steps = chain.map((step) => {
      const by = run.tracks[step.track] as Track;
      const waited = by.start(step.index) - by.ready(step.index);
      return element("li", {}, this.sliceLink(step, `, ended ${count(by.end(step.index))}${waited > 0 ? `, itself waited ${count(waited)}` : ""}`));
    });
    return [element("h3", { textContent: "What led to it (C)" }), element("ol", {}, ...steps), say(next ? "The chain goes on behind the last of them." : "The last of them waited for no other slice: there the chain ends.")];
  }

  private sliceLink(at: SliceRef, more = ""): HTMLButtonElement {
    const { run } = this.app;
    const track = run.tracks[at.track] as Track;
    return this.link(`${run.mnemonicOf(track.leaf(at.index))} on ${trackName(run, track)}${more}`, { kind: "slice", ...at });
  }

  private layer(index: number): Node[] {
    const { app } = this;
    const { run } = app;
    const layer = run.layers[index];
    if (!layer) return summary(this.app);
    const list = new List();
    list.add("operator", layer.op);
    list.add("takes", `${app.duration(layer.cycles)}, ${percent(layer.cycles / run.makespan)} of the run`);
    list.add("bound by", layer.boundBy ?? "nothing");
    list.add("efficiency", element("span", { textContent: percent(layer.efficiency), title: (layer.efficiency ?? 0) > 1 ? PAST_BOUND : "" }));
    if (layer.closedFormError != null) list.add("estimate", `${signed(percent(layer.closedFormError), layer.closedFormError)} off what ran`);
    list.add("split", layer.split);
    list.add("cores", `${layer.cores} of ${run.device.rows * run.device.columns}`);
    list.add("work", `${macs(layer.macs)} needed, ${percent(layer.macsExecuted ? 1 - layer.macs / layer.macsExecuted : 0)} more of what ran is padding`);
    if (layer.density != null) list.add("weights", `${bytes(layer.weightBytes)}, ${percent(layer.density)} of the blocks kept`);
    list.add("DDR", `${bytes(layer.ddrReadBytes)} read, ${bytes(layer.ddrWriteBytes)} written`);
    list.add("to cores", bytes(layer.memtileToCoreBytes));
    const operator = run.graph.operators[index];
    operator?.inputs.forEach((tensor) => list.add("input", this.tensorLink(tensor)));
    if (operator) list.add("output", this.tensorLink(operator.output));
    return [element("h2", { textContent: layer.name }), list.root, this.views(["timeline", "path", "memory", "graph", "layers", "asm"])];
  }

  private instruction(leaf: number): Node[] {
    const { run } = this.app;
    const list = new List();
    list.add("layer", this.layerLink(run.instructions.layer[leaf] ?? -1));
    list.add("line", `${count((run.instructions.line[leaf] ?? 0) + 1)} of program.asm`);
    if (run.instructions.bytes[leaf]) list.add("moves", `${bytes(run.instructions.bytes[leaf])} each time`);
    if (run.instructions.macs[leaf]) list.add("does", `${macs(run.instructions.macs[leaf])} each time`);
    const first = firstSliceOf(this.app, leaf);
    const parts: Node[] = [element("h2", { textContent: run.mnemonicOf(leaf) }), list.root, this.asm(leaf)];
    if (first) parts.push(this.link("its first slice", { kind: "slice", ...first }));
    parts.push(this.views(["timeline", "asm"]));
    return parts;
  }

  private tensor(index: number): Node[] {
    const { run } = this.app;
    const tensor = run.graph.tensors[index];
    if (!tensor) return summary(this.app);
    const list = new List();
    list.add("shape", `${tensor.height} x ${tensor.width} x ${tensor.channels} (height, width, channels)`);
    list.add("size", kibibytes(tensor.height * tensor.width * tensor.channels));
    const producer = producerOf(run, index);
    list.add("made by", producer >= 0 ? this.layerLink(producer) : "the network's input");
    const consumers = run.graph.operators.flatMap((op, i) => (op.inputs.includes(index) ? [i] : []));
    if (consumers.length) consumers.forEach((i) => list.add("read by", this.layerLink(i)));
    else list.add("read by", "nobody on the array: an output of the network");
    run.memory.forEach((block, b) => {
      if (block.tensor === index) list.add("lies in", this.link(placeText(this.app, b), { kind: "block", block: b }));
    });
    return [element("h2", { textContent: tensor.name }), list.root, this.views(["memory", "graph", "timeline"])];
  }

  private block(index: number): Node[] {
    const { app } = this;
    const block = app.run.memory[index];
    if (!block) return summary(this.app);
    const list = new List();
    list.add("lies in", placeText(app, index));
    list.add("size", kibibytes(block.size));
    list.add("lives", `${app.duration(block.end - block.start)}, from ${count(block.start)} to ${count(block.end)}`);
    if (block.tensor >= 0) {
      list.add("tensor", this.tensorLink(block.tensor));
      const producer = producerOf(app.run, block.tensor);
      list.add("made by", producer >= 0 ? this.layerLink(producer) : "the network's input");
      app.run.graph.operators.forEach((op, i) => {
        if (op.inputs.includes(block.tensor)) list.add("read by", this.layerLink(i));
      });
    } else if (block.firstLayer >= 0) list.add("for", this.layerLink(block.firstLayer));
    return [element("h2", { textContent: block.name }), list.root, this.views(["memory", "timeline"])];
  }

  private lock(lock: number): Node[] {
    const { run } = this.app;
    const list = new List();
    list.add("what", lockText(run, lock));
    list.add("initial", String(run.locks.initial[lock] ?? 0));
    for (const [role, track] of [["released by", run.locks.producer[lock]], ["acquired by", run.locks.consumer[lock]]] as const) {
      if (track !== undefined && run.tracks[track]?.size) list.add(role, this.link(`${laneName(run, run.tracks[track])}: its first slice`, { kind: "slice", track, index: 0 }));
    }
    const waits = longestWaits(this.app, lock);
    const parts: Node[] = [element("h2", { textContent: `Lock ${run.locks.index[lock]}` }), list.root];
    if (waits.length) {
      const items = waits.map(({ at, cycles }) => element("li", {}, this.link(`${count(cycles)} cycles at ${count((run.tracks[at.track] as (typeof run.tracks)[number]).start(at.index))}`, { kind: "slice", ...at })));
      parts.push(element("h3", { textContent: "Longest waits for it" }), element("ol", {}, ...items));
    } else parts.push(element("p", { className: "faint", textContent: "Nobody ever waited for it." }));
    return parts;
  }

  private tile(): Node[] {
    const { tile } = this.app.focus;
    if (!tile) return summary(this.app);
    const name = tile.kind === "core" ? `Core ${tile.row},${tile.column}` : `Memtile ${tile.column}`;
    const { run } = this.app;
    const list = new List();
    run.tracks.forEach((track, t) => {
      const here = tile.kind === "core" ? track.engine.startsWith("core") && track.row === tile.row : track.engine.startsWith("ddr");
      if (here && track.column === tile.column && track.size) list.add(laneName(run, track), this.link(`${count(track.size)} slices`, { kind: "slice", track: t, index: 0 }));
    });
    return [element("h2", { textContent: name }), list.root, this.views(["mesh", "memory", "timeline"])];
  }

  private link(text: string, selection: Selection): HTMLButtonElement {
    const node = button(text, text, () => this.app.select(selection));
    node.className = "link";
    return node;
  }

  private layerLink(layer: number): Node {
    return layer >= 0 ? this.link(layerName(this.app.run, layer), { kind: "layer", layer }) : element("span", { textContent: "none" });
  }

  private tensorLink(tensor: number): Node {
    return this.link(tensorName(this.app.run, tensor), { kind: "tensor", tensor });
  }

  private asm(leaf: number): Node {
    return element("pre", { className: "code", textContent: this.app.run.textOf(leaf) });
  }

  private views(ids: ViewId[]): Node {
    const known = ids.filter((id) => this.app.viewIds.includes(id));
    return element("p", { className: "see" }, "Show in ", ...known.map((id) => button(id, `Show in the view ${id}`, () => this.app.open(id))));
  }
}

class List {
  readonly root = element("dl");
  add(name: string, value: Node | string): void {
    this.root.append(element("dt", { textContent: name }), element("dd", {}, value));
  }
}

/** "memtile 0-3 at 0x1a40" */
export function placeText(app: App, index: number): string {
  const block = app.run.memory[index];
  if (!block) return "";
  const { row, column, rows, columns } = block.tiles;
  const span = (first: number, n: number) => (n > 1 ? `${first}–${first + n - 1}` : String(first));
  const where = block.kind === "ddr" ? "DDR" : block.kind === "memtile" ? `memtile ${span(column, columns)}` : `core ${span(row, rows)},${span(column, columns)}`;
  return `${where} at 0x${block.address.toString(16)}`;
}

export function firstSliceOf(app: App, leaf: number): SliceRef | null {
  for (const track of app.run.tracks) for (let i = 0; i < track.size; i++) if (track.leaf(i) === leaf) return { track: track.index, index: i };
  return null;
}

function longestWaits(app: App, lock: number): { at: SliceRef; cycles: number }[] {
  const track = app.run.tracks[app.run.locks.consumer[lock] ?? -1];
  if (!track) return [];
  const waits: { at: SliceRef; cycles: number }[] = [];
  for (let i = 0; i < track.size; i++) if (track.lock(i) === lock) waits.push({ at: { track: track.index, index: i }, cycles: track.start(i) - track.ready(i) });
  return waits.sort((a, b) => b.cycles - a.cycles).slice(0, 8);
}
