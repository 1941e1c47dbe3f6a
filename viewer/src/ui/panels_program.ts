// Panels of what ran: slices, instructions, locks, engines and tiles.
import { leavesOnPath } from "../run/critical_path";
import { executionsOf, executionsOfLeaf, tensorMovedBy } from "../run/executions";
import { frameName, frameOf, slicesOfFrame } from "../run/frames";
import { laneName, lockText, trackName } from "../run/names";
import { eachSlice } from "../run/repeat";
import type { Run, SliceRef } from "../run/run";
import { hadNothing, idleText, letGoBy, STALLS, waitParts } from "../run/stalls";
import type { Track } from "../run/track";
import { leadsTo, otherEndsOf } from "../run/transfers";
import { element } from "./dom";
import { bytes, count, macs, percent } from "./numbers";
import { addGain, barRow, barTable, List, resourceSwatch, waitRows, type Words } from "./panel_parts";
import type { Tile } from "./state";

const CHAIN = 12; // steps shown behind a slice
const LONGEST = 8; // waits for a lock

export function slicePanel(words: Words, at: SliceRef): Node[] | null {
  const { app } = words;
  const { run } = app;
  const track = run.tracks[at.track];
  if (!track || at.index >= track.size) return null;
  const i = at.index;
  const leaf = track.leaf(i);
  const list = new List();
  list.add("engine", words.link(trackName(run, track), { kind: "engine", track: at.track }));
  list.add("layer", words.layer(track.layer(i)));
  const frame = frameOf(run, at);
  if (frame >= 0) list.add("frame", words.link(frameName(run, frame), { kind: "frame", frame }));
  list.add("ran", `${app.duration(track.end(i) - track.start(i))}, from ${count(track.start(i))} to ${count(track.end(i))}`);
  if (track.start(i) > track.ready(i)) {
    const had = hadNothing(run, track, i);
    list.add("waited", `${app.duration(track.start(i) - track.ready(i))}${had ? `: ${idleText(track)}` : ""}`);
    if (!had) for (const { stall, cycles } of waitParts(run, track, i, "root")) list.add(`for ${STALLS[stall]}`, app.duration(cycles));
    list.add("let go by", letGoBy(run, track, i));
  }
  if (track.lock(i) >= 0) list.add("lock", words.link(lockText(run, track.lock(i)), { kind: "lock", lock: track.lock(i) }));
  const [moved, done] = [run.bytesOf(track, i), run.macsOf(track, i)];
  if (moved) list.add("moved", bytes(moved));
  if (done) list.add("did", macs(done));
  for (const end of otherEndsOf(run, at)) list.add(track.engine === "wire" ? "received by" : "sent by", words.slice(end));
  list.add("slice", `${count(i + 1)} of ${count(track.size)} of its engine`);
  return [element("h2", { textContent: run.mnemonicOf(leaf) }), list.root, words.asm(leaf), ...chainBehind(words, at), words.views(["timeline", "path", "asm", "mesh"])];
}

/** What led to a slice, one behind the other, and whether there is more. */
function chainBehind(words: Words, at: SliceRef): Node[] {
  const { run } = words.app;
  const chain: SliceRef[] = [];
  let next = leadsTo(run, at);
  for (; next && chain.length < CHAIN; next = leadsTo(run, next)) chain.push(next);
  if (!chain.length) return [words.faint("It waited for no other slice: the chain of waits (C) ends here."), ...busyBefore(words, at)];
  const steps = chain.map((step) => {
    const by = run.tracks[step.track] as Track;
    const waited = by.start(step.index) - by.ready(step.index);
    return element("li", {}, words.slice(step, `, ended ${count(by.end(step.index))}${waited > 0 ? `, itself waited ${count(waited)}` : ""}`));
  });
  const end = next ? "The chain goes on behind the last of them." : "The last of them waited for no other slice: there the chain ends.";
  return [element("h3", { textContent: "What led to it (C)" }), element("ol", {}, ...steps), words.faint(end), ...(next ? [] : busyBefore(words, chain[chain.length - 1] as SliceRef))];
}

/** Where a chain ends its engine was busy: since when, and with what before this slice. */
function busyBefore(words: Words, { track: index, index: last }: SliceRef): Node[] {
  const { run } = words.app;
  const track = run.tracks[index] as Track;
  let first = last;
  while (first > 0 && track.start(first) === track.end(first - 1)) first--;
  if (first === last) return [];
  const before = { track: index, index: last - 1 };
  return [element("p", {}, `Its engine had worked without a break since ${count(track.start(first))}, on ${count(last - first)} ${last - first === 1 ? "slice" : "slices"} before it; the last was `, words.slice(before), ".")];
}

/** `each` is what the instruction says of one iteration; where its weight records differ, that is only the first's. */
function amounts(all: number, slices: number, each: number, text: (amount: number) => string): string {
  if (all === slices * each || !slices) return `${text(each)} each time, ${text(slices * each)} in all`;
  return `${text(all / slices)} each time on average, ${text(all)} in all`;
}

export function instructionPanel(words: Words, leaf: number): Node[] {
  const { app } = words;
  const { run } = app;
  const ran = executionsOfLeaf(run, leaf);
  const list = new List();
  list.add("layer", words.layer(run.instructions.layer[leaf] ?? -1));
  list.add("line", `${count((run.instructions.line[leaf] ?? 0) + 1)} of program.asm`);
  const tensor = tensorMovedBy(run, leaf);
  const moved = ran.slices ? ran.bytes : (run.instructions.bytes[leaf] ?? 0);
  const done = ran.slices ? ran.macs : (run.instructions.macs[leaf] ?? 0);
  if (run.graph.tensors[tensor]) list.add(moved ? "moves" : "tensor", words.tensor(tensor));
  else if (moved && /\brecord\[/.test(run.textOf(leaf))) list.add("moves", "weights");
  if (moved) list.add("bytes", amounts(moved, ran.slices, run.instructions.bytes[leaf] ?? 0, bytes));
  if (done) list.add("does", amounts(done, ran.slices, run.instructions.macs[leaf] ?? 0, macs));
  list.add("ran", `${count(ran.slices)} ${ran.slices === 1 ? "time" : "times"}${ran.slices ? `${run.frames.length ? ` in all ${run.frames.length} frames` : ""}, from ${count(ran.from)} to ${count(ran.to)}` : ""}`);
  if (ran.tracks.length) list.add("on", words.engines(ran.tracks));
  const onPath = leavesOnPath(run)[leaf] ?? 0;
  if (ran.slices) addGain(list, app, "instruction", { group: leaf, cycles: onPath }, `are this line, ${percent(onPath / run.makespan)} of the run`);
  const parts: Node[] = [element("h2", { textContent: run.mnemonicOf(leaf) }), list.root, words.asm(leaf)];
  const whole = ran.busy + ran.waits.reduce((a, b) => a + b, 0);
  const resource = run.instructions.resource[leaf] ?? -1;
  if (whole > 0) parts.push(barTable(["cycles, all its engines", ""], [barRow("busy", ran.busy / whole, resourceSwatch(resource), count(ran.busy)), ...waitRows(ran.waits, whole, count)]));
  if (ran.first) parts.push(words.link("its first slice", { kind: "slice", ...ran.first }));
  return [...parts, words.views(["timeline", "asm"])];
}

export function lockPanel(words: Words, lock: number): Node[] {
  const { run } = words.app;
  const list = new List();
  list.add("what", lockText(run, lock));
  list.add("initial", String(run.locks.initial[lock] ?? 0));
  for (const [role, track] of [["released by", run.locks.producer[lock]], ["acquired by", run.locks.consumer[lock]]] as const) {
    if (track !== undefined && run.tracks[track]?.size) list.add(role, words.link(trackName(run, run.tracks[track]), { kind: "engine", track }));
  }
  const waits = waitsFor(words, lock);
  const nothing = waits.reduce((sum, { cycles, times, isIdle }) => sum + (isIdle ? times * cycles : 0), 0);
  const total = waits.reduce((sum, { cycles, times }) => sum + times * cycles, -nothing);
  list.add("waited for", `${words.app.duration(total)} in all, by all engines together`);
  if (nothing) list.add("nothing to send", `${words.app.duration(nothing)}: there was no output yet, which holds up nobody`);
  const parts: Node[] = [element("h2", { textContent: `Lock ${run.locks.index[lock]}` }), list.root];
  if (!total && !nothing) return [...parts, words.faint("Nobody ever waited for it.")];
  const items = together(run, inOneFrame(run, waits.filter(({ cycles, isIdle }) => cycles > 0 && isIdle === !total))).slice(0, LONGEST).map(({ at, cycles, times, start, engines }) => {
    const others = `${engines > 1 ? ` and ${engines - 1} more` : ""}${times > 1 ? `, and likewise in ${times - 1} ${times === 2 ? "frame" : "frames"} after this one` : ""}`;
    return element("li", {}, words.link(`${count(cycles)} cycles at ${count(start)}: ${trackName(run, run.tracks[at.track] as Track)}${others}`, { kind: "slice", ...at }));
  });
  return [...parts, element("h3", { textContent: "Longest waits for it" }), element("ol", {}, ...items)];
}

/** Engines that meet in one transfer wait for the same: one entry for all whose waits are as long and end at the same time. */
function together(run: Run, waits: readonly Waited[]): (Waited & { start: number; engines: number })[] {
  const found = new Map<string, Waited & { start: number; engines: number }>();
  for (const wait of waits) {
    const start = (run.tracks[wait.at.track] as Track).start(wait.at.index);
    const known = found.get(`${wait.cycles} ${start}`);
    if (known) known.engines++;
    else found.set(`${wait.cycles} ${start}`, { ...wait, start, engines: 1 });
  }
  return [...found.values()];
}

/** Waits at the same place of several frames, as long each time: the first stands for all. */
function inOneFrame(run: Run, waits: readonly Waited[]): readonly Waited[] {
  if (!run.frames.length) return waits;
  const found = new Map<string, Waited>();
  for (const wait of waits) {
    const each = slicesOfFrame(run, run.tracks[wait.at.track] as Track);
    const key = each ? `${wait.cycles} ${wait.at.track} ${wait.at.index % each}` : `${wait.at.track} ${wait.at.index}`;
    const known = found.get(key);
    if (!known) found.set(key, { ...wait });
    else {
      known.times += wait.times;
      if (wait.at.index < known.at.index) known.at = wait.at;
    }
  }
  return [...found.values()];
}

interface Waited {
  at: SliceRef;
  cycles: number;
  times: number; // in frames that are alike
  isIdle: boolean;
}

/** Of all engines that waited for it: the one that acquires it, and those at the other ends of its transfers. */
function waitsFor({ app }: Words, lock: number): Waited[] {
  const waits: Waited[] = [];
  for (const track of app.run.tracks)
    eachSlice(app.run, track, (i, times) => {
      if (track.lock(i) === lock) waits.push({ at: { track: track.index, index: i }, cycles: track.start(i) - track.ready(i), times, isIdle: hadNothing(app.run, track, i) });
    });
  return waits.sort((a, b) => b.cycles - a.cycles);
}

/** How an engine spent the run: busy, waiting, and with nothing to do. */
function runOfEngine(words: Words, index: number): HTMLElement {
  const { run } = words.app;
  const track = run.tracks[index] as Track;
  const { busy, waits } = executionsOf(run, () => true, [index]);
  const idle = run.makespan - busy - waits.reduce((a, b) => a + b, 0);
  const share = (cycles: number) => percent(cycles / Math.max(1, run.makespan));
  const resource = track.size ? (run.instructions.resource[track.leaf(0)] ?? -1) : -1;
  const rows = [barRow("busy", busy / Math.max(1, run.makespan), resourceSwatch(resource), share(busy), `${count(busy)} cycles`), ...waitRows(waits, run.makespan, share)];
  if (idle > 0) rows.push(barRow("idle", idle / Math.max(1, run.makespan), "var(--line)", share(idle), "nothing to do: before its first and after its last instruction"));
  return barTable(["waits followed back", "of the run"], rows);
}

export function enginePanel(words: Words, index: number): Node[] | null {
  const { app } = words;
  const { run } = app;
  const track = run.tracks[index];
  if (!track) return null;
  const title = element("h2", { textContent: trackName(run, track) });
  if (!track.size) return [title, words.faint("It has nothing to do in this run.")];
  const list = new List();
  let moved = 0;
  eachSlice(run, track, (i, times) => void (moved += times * run.bytesOf(track, i)));
  list.add("slices", words.link(`${count(track.size)}: the first`, { kind: "slice", track: index, index: 0 }));
  list.add("works", `from ${count(track.start(0))} to ${count(track.end(track.size - 1))}`);
  if (moved) list.add("moved", bytes(moved));
  return [title, list.root, runOfEngine(words, index), words.views(["timeline", "mesh"])];
}

export function tilePanel(words: Words, tile: Tile | null): Node[] | null {
  if (!tile) return null;
  const { run } = words.app;
  const list = new List();
  const parts: Node[] = [element("h2", { textContent: tile.kind === "core" ? `Core ${tile.row},${tile.column}` : `Memtile ${tile.column}` }), list.root];
  run.tracks.forEach((track, t) => {
    const here = tile.kind === "core" ? track.engine.startsWith("core") && track.row === tile.row : track.engine.startsWith("ddr");
    if (!here || track.column !== tile.column || !track.size) return;
    list.add(laneName(run, track), words.link(`${count(track.size)} slices`, { kind: "engine", track: t }));
    if (track.engine === "core") parts.push(runOfEngine(words, t));
  });
  return [...parts, words.views(["mesh", "memory", "timeline"])];
}
