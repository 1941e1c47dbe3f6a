// The run in short, at the side while nothing is selected: what limits it, where its time goes, what proves it. Each line leads on.
import { css, resourceColour, stallColour } from "../paint/theme";
import { frameName } from "../run/frames";
import { waitsOf } from "../run/layer_waits";
import { resourcesOnPath } from "../run/resources_on_path";
import { gainingKeys } from "../run/raised_keys";
import type { Layer, Run } from "../run/run";
import { tensorName } from "../run/names";
import { groupName } from "../run/groups";
import { spillsOf } from "../run/spills";
import { STALLS } from "../run/stalls";
import type { App } from "./app";
import { button, element } from "./dom";
import { bytes, count, kibibytes, macs, percent, seconds } from "./numbers";
import { barRow, barTable, Words } from "./panel_parts";
import type { ViewId } from "./state";

const LAYERS = 6; // of the largest
const SPILLS = 6; // of the costliest
const FRAMES = 12; // that have a link of their own
const KEYS = 4; // that gain most
const LEAST_SHARE = 0.005; // of the run, for a resource to be named

export function summary(app: App): Node[] {
  const { run } = app;
  const parts: Node[] = [element("h2", { textContent: app.runs.length > 1 ? `Run ${"AB"[app.store.state.run]}` : "The run" }), verdict(app), ...framesOf(app)];
  if (run.makespan > 0) {
    parts.push(heading(app, "On the critical path", "path"), resources(app), heading(app, "Cores wait for", "mesh"), coreWaits(app));
    if (run.layers.length > 1) parts.push(heading(app, "Layers that take longest", "layers"), largestLayers(app));
  }
  parts.push(...spills(app), ...tiling(app), heading(app, "The array", "mesh"), array(run), ...outside(run));
  parts.push(element("p", { className: "faint", textContent: "Click a slice, a layer, a tile, a tensor or a line of asm: every view then shows what belongs to it, and what it waited for stands here." }));
  return parts;
}

/** How near the run comes to what the device allows, in a sentence. */
function verdict(app: App): HTMLElement {
  const { run } = app;
  const { bounds, time } = run.report;
  const text = element("p", {}, `It takes ${app.duration(run.makespan)}. `);
  const { frames = 1, batch = 1, coldCycles, steadyCycles } = time;
  const several = frames > 1;
  const steady = app.duration(steadyCycles ?? 0);
  if (several && batch > 1) text.append(`That is ${frames} frames of ${batch} inferences: the first ends after ${app.duration(coldCycles ?? 0)}, then an inference takes ${steady}; memory is shown as in the first. `);
  else if (several) text.append(`That is ${frames} inferences: the first ends after ${app.duration(coldCycles ?? 0)}, then one every ${steady}; memory is shown as in the first. `);
  else if (batch > 1) text.append(`That is ${batch} inferences that go through the array together: one every ${steady}. In every tensor they lie one below the other. `);
  const bound = bounds["layerBoundSeconds"];
  if (bound) text.append(`On this device ${!several ? "it" : batch > 1 ? "a frame" : "one"} cannot be less than ${seconds(bound)} layer after layer, or ${seconds(bounds["fusedLowerBoundSeconds"] ?? 0)} however layers overlap or are fused. `);
  if (time.closedFormSeconds && time.seconds) text.append(`The planner's formula said ${seconds(time.closedFormSeconds)}.`);
  return text;
}

/** A link for each inference, or for the first ones and the last; none of a run of one. */
function framesOf(app: App): HTMLElement[] {
  const words = new Words(app);
  const all = app.run.frames.map((_, frame) => frame);
  const shown = all.length > FRAMES ? [...all.slice(0, FRAMES - 1), all.length - 1] : all;
  const links = shown.map((frame) => {
    const link = words.link(String(frame + 1), { kind: "frame", frame });
    link.title = `${frameName(app.run, frame)}: its panel, its steps above the timeline; F goes to it`;
    return link;
  });
  if (!links.length) return [];
  const nodes = links.flatMap((link, k): (Node | string)[] => [...(k === FRAMES - 1 && all.length > FRAMES ? ["… "] : []), link, " "]);
  if (all.length > FRAMES) nodes.push(element("span", { className: "faint", textContent: "(/ finds the others: frame 100)" }));
  return [element("p", { id: "frames" }, "Frames ", ...nodes)];
}

function heading(app: App, text: string, view: ViewId): HTMLElement {
  const open = button(text, `Show the view ${view}`, () => app.open(view));
  open.className = "link";
  return element("h3", {}, open);
}

function resources(app: App): HTMLElement {
  const { run } = app;
  const shares = resourcesOnPath(run).filter(({ cycles }) => cycles >= LEAST_SHARE * run.makespan);
  const rows = shares.map(({ resource, cycles, gain }) => {
    const name = run.instructions.resources[resource] ?? "";
    const shown = barRow(name, cycles / run.makespan, css(resourceColour(resource)), percent(cycles / run.makespan));
    const free = gain === null ? "–" : percent(gain / run.makespan);
    shown.append(element("td", { className: "faint", textContent: free, title: gain === null ? "not computed for a program of this size" : `With every ${name} instruction done in one cycle the run would take ${app.duration(run.makespan - gain)}: executed, not estimated` }));
    return shown;
  });
  const head = element("tr", {}, element("th", { scope: "col", textContent: "resource" }), element("th", { scope: "col", colSpan: 2, textContent: "of the run" }), element("th", { scope: "col", textContent: "if free", title: "How much shorter the run would be" }));
  return element("div", {}, element("table", { className: "figures-table" }, element("thead", {}, head), element("tbody", {}, ...rows)), keys(app));
}

/** Which keys of the device hold the run back. To find them the program runs again for each, which the page cannot do. */
function keys(app: App): HTMLElement {
  const { run } = app;
  if (!run.keys) {
    const command = run.frames.length ? "heddle explain FOLDER" : "heddle view FOLDER";
    const says = run.frames.length ? " says, with the folder of this run." : ` writes this page with them, with the folder of ${run.model} on ${run.device.rows}x${run.device.columns}.`;
    return element("p", { className: "faint" }, "Which keys of the device hold it back, and what doubling each would gain: ", element("code", { textContent: command }), says);
  }
  const gaining = gainingKeys(run.keys, run.makespan).slice(0, KEYS);
  if (!gaining.length) return element("p", { className: "faint", textContent: "No key of the device gains anything where it is doubled." });
  const list = element("dl", { id: "keys" });
  for (const { names, change, cycles, gain, isTogether } of gaining) {
    const title = `${change}: ${app.duration(cycles)}, the same program run again${isTogether ? "; either alone gains nothing" : ""}`;
    list.append(element("dt", { textContent: percent(gain), title }), element("dd", { textContent: names, title }));
  }
  return element("div", {}, element("p", { className: "faint", textContent: "Doubled (a time: halved), these keys of the device make it shorter by:" }), list);
}

/** As the report counts them: followed back through the chain of their causes. */
function coreWaits(app: App): HTMLElement {
  const { run } = app;
  const sums = run.layers.map((layer) => waitsOf(run, layer)).reduce((all, waits) => all.map((cycles, s) => cycles + (waits[s] as number)), STALLS.map(() => 0));
  const whole = Math.max(1, run.makespan * run.device.rows * run.device.columns);
  const parts = sums.map((cycles, stall) => ({ cycles, stall })).filter(({ cycles }) => cycles >= LEAST_SHARE * whole).sort((a, b) => b.cycles - a.cycles);
  if (!parts.length) return element("p", { className: "faint", textContent: "hardly anything" });
  const rows = parts.map(({ cycles, stall }) => barRow(STALLS[stall] as string, cycles / whole, css(stallColour(stall)), percent(cycles / whole), `${count(cycles)} core cycles, each wait followed back through the chain of its causes`));
  return barTable(["followed back", "of core time"], rows);
}

/** What goes to DDR for want of room, and what that costs. */
function spills(app: App): Node[] {
  const { run } = app;
  const all = spillsOf(run);
  if (!all.length) return [];
  const most = Math.max(1, ...all.map(({ onPath }) => onPath));
  const rows = all.slice(0, SPILLS).map(({ tensor, bytes: size, written, read, busy, onPath }) => {
    const link = button(tensorName(run, tensor), tensorName(run, tensor), () => app.select({ kind: "tensor", tensor }));
    link.className = "link";
    const title = `${bytes(written)} written to DDR, ${bytes(read)} read back; DDR channels work ${app.duration(busy)} for it, ${app.duration(onPath)} of that on the critical path`;
    const shown = barRow(link, onPath / most, css(resourceColour(run.instructions.resources.indexOf("DDR write"))), bytes(size), title);
    shown.append(element("td", { className: "faint", textContent: percent(onPath / run.makespan), title }));
    return shown;
  });
  const head = element("tr", {}, ...["tensor", "bytes", "of the path"].map((text, k) => element("th", { scope: "col", colSpan: k === 1 ? 2 : 1, textContent: text })));
  const total = all.reduce((sum, { bytes: size }) => sum + size, 0);
  const path = all.reduce((sum, { onPath }) => sum + onPath, 0);
  const words = `${all.length} ${all.length === 1 ? "tensor" : "tensors"}, ${bytes(total)}: ${percent(path / run.makespan)} of the critical path${all.length > SPILLS ? `; the ${SPILLS} costliest` : ""}`;
  return [heading(app, "Spilled to DDR", "memory"), element("p", { className: "faint", textContent: words }), element("table", { className: "figures-table" }, element("thead", {}, head), element("tbody", {}, ...rows))];
}

/** Layers that are computed tile by tile, or that were tried so. */
function tiling(app: App): Node[] {
  const { run } = app;
  const explained = run.explanation?.tiling;
  if (!run.groups.length && !explained) return [];
  const parts: Node[] = [heading(app, run.groups.length ? "Computed tile by tile" : "Not computed tile by tile", "timeline")];
  if (explained) parts.push(element("p", { className: "faint", textContent: `${explained.why.charAt(0).toUpperCase()}${explained.why.slice(1)}.` }));
  const rows = run.groups.map((group) => {
    const name = groupName(run, group.index);
    const link = button(name, name, () => app.select({ kind: "group", group: group.index, tile: -1, layer: -1 }));
    link.className = "link";
    return barRow(link, group.cycles / run.makespan, "var(--accent)", `${group.tiles}, ${percent(group.cycles / run.makespan)}`, `${group.tiles} tiles; ${bytes(group.keptBytes)} between the layers are nowhere whole`);
  });
  if (rows.length) parts.push(barTable(["layers", "tiles, of the run"], rows));
  return parts;
}

function largestLayers(app: App): HTMLElement {
  const { run } = app;
  const largest = [...run.layers].sort((a, b) => b.cycles - a.cycles || a.index - b.index).slice(0, LAYERS);
  const most = largest[0]?.cycles || 1;
  const rows = largest.map((layer) => barRow(layerLink(app, layer), layer.cycles / most, css(resourceColour(run.instructions.resources.indexOf(layer.boundBy ?? ""))), percent(layer.cycles / run.makespan), `${layer.op}, ${app.duration(layer.cycles)}, bound by ${layer.boundBy ?? "nothing"}`));
  return element("table", { className: "figures-table" }, element("tbody", {}, ...rows));
}

function layerLink(app: App, layer: Layer): HTMLElement {
  const link = button(layer.name, layer.name, () => app.select({ kind: "layer", layer: layer.index }));
  link.className = "link";
  return link;
}

function array(run: Run): HTMLElement {
  const { device, report } = run;
  const list = element("dl");
  const add = (name: string, value: string) => list.append(element("dt", { textContent: name }), element("dd", { textContent: value }));
  const cores = device.rows * device.columns;
  const peak = cores * report.device.macsPerCycle * run.makespan;
  add("cores", `${cores} with ${report.device.macsPerCycle} MAC/cycle each, ${percent(peak ? report.work.macsDense / peak : null)} used`);
  add("work", `${macs(report.work.macsDense)}${report.work.macsPadded ? ` and ${macs(report.work.macsPadded)} of padding` : ""}`);
  add("DDR", `${bytes(report.traffic["ddrReadBytes"] ?? 0)} read, ${bytes(report.traffic["ddrWriteBytes"] ?? 0)} written`);
  add("memtiles", `${kibibytes(report.memory.memtilePeakBytes)} of ${kibibytes(device.memtileBytes)} planned`);
  add("core memory", `${kibibytes(report.memory.corePeakBytes)} of ${kibibytes(device.coreBytes)} planned`);
  return list;
}

/** What the figures do not hold. */
function outside({ report }: Run): Node[] {
  const parts: Node[] = [];
  const { verification } = report;
  const proof = !verification.ran
    ? "Not verified: the figures are those of a program that nobody has executed with data."
    : verification.matches
      ? `Executed with data: ${bytes(verification.bytesCompared)} in ${verification.tensorsCompared} tensors equal the reference bit for bit.`
      : `Executed with data: ${verification.mismatches} values differ from the reference. Do not trust this run.`;
  parts.push(element("h3", { textContent: "Proof" }), element("p", { textContent: proof }));
  for (const [title, items] of [["On the host, not in the time", report.hostOperators], ["Not modelled", report.notModelled]] as const) {
    if (items.length) parts.push(element("h3", { textContent: title }), element("ul", {}, ...items.map((item) => element("li", { textContent: item }))));
  }
  return parts;
}
