// Tables and texts beside the picture. Every string of the file is shown as text: nothing here parses markup.

function element(tag, properties = {}, ...children) {
  const { data, ...rest } = properties;
  const node = Object.assign(document.createElement(tag), rest);
  if (data) Object.assign(node.dataset, data);
  node.append(...children);
  return node;
}

const count = (n) => Math.round(n).toLocaleString("en");
const percent = (x) => (x == null ? "–" : `${(100 * x).toFixed(1)} %`);
function seconds(model, cycles) {
  const s = cycles / model.device.clockHz;
  return s >= 1e-3 ? `${(s * 1e3).toFixed(3)} ms` : s >= 1e-6 ? `${(s * 1e6).toFixed(2)} µs` : `${(s * 1e9).toFixed(0)} ns`;
}
const time = (model, cycles) => `${count(cycles)} cycles (${seconds(model, cycles)})`;
function bytes(n) {
  return n >= 1e6 ? `${(n / 1e6).toFixed(2)} MB` : n >= 1e3 ? `${(n / 1e3).toFixed(1)} kB` : `${n} B`;
}

function swatch(resource) {
  const mark = element("i");
  mark.style.background = css(colourOf(resource));
  return mark;
}

function waitText(model, track, i) {
  const kind = model.waitKinds[track.wait[i]];
  const resource = waitResource(model, track, i);
  const what = { lock: "a lock", partner: "the other end of its transfer", start: "START", ddrEntry: "the end of a DDR transfer", resource: "a shared resource" }[kind];
  if (!what) return kind === "none" ? "" : kind;
  return resource < 0 ? what : `${what}: ${model.instructions.resources[resource]}`;
}

function lockText(model, index) {
  const l = model.locks;
  if (index < 0 || index >= l.index.length) return "";
  const tile = l.tileKinds[l.tileKind[index]] === "core" ? `core ${l.row[index]},${l.column[index]}` : `memtile ${l.column[index]}`;
  const by = (track) => (track >= 0 ? trackName(model, model.tracks[track]) : "nobody");
  return `lock ${l.index[index]} of ${tile}, from ${by(l.producer[index])} to ${by(l.consumer[index])}`;
}

function fillTip(tip, model, trackIndex, i, cycle) {
  const track = model.tracks[trackIndex], leaf = track.leaf[i];
  const line = (text, className = "") => element("div", { textContent: text, className });
  const waiting = cycle < track.start[i] && track.start[i] > track.ready[i];
  const rows = [line(`${model.instructions.mnemonics[model.instructions.mnemonic[leaf]]} · ${model.layers[track.layer[i]]?.name ?? ""}`, "head")];
  if (waiting) {
    rows.push(line(`waits ${time(model, track.start[i] - track.ready[i])} for ${waitText(model, track, i) || "its turn"}`));
    if (track.lock[i] >= 0) rows.push(line(lockText(model, track.lock[i]), "faint"));
  } else {
    rows.push(line(`${time(model, track.end[i] - track.start[i])} from ${count(track.start[i])}`));
    if (track.start[i] > track.ready[i]) rows.push(line(`after waiting ${count(track.start[i] - track.ready[i])} for ${waitText(model, track, i) || "its turn"}`, "faint"));
  }
  rows.push(line(trackName(model, track), "faint"));
  const text = model.instructions.text[leaf] ?? "";
  if (text) rows.push(line(text.length > 400 ? text.slice(0, 400) + "…" : text, "code"));
  tip.replaceChildren(...rows);
}

function fillSlice(panel, model, selected, chain, go) {
  if (!selected) {
    panel.replaceChildren(element("p", { className: "faint", textContent: "Click a slice to see what it does, what it waited for, and the chain of waits behind it." }));
    return;
  }
  const track = model.tracks[selected.track], i = selected.index, leaf = track.leaf[i];
  const list = element("dl");
  const entry = (name, ...value) => list.append(element("dt", { textContent: name }), element("dd", {}, ...value));
  entry("engine", trackName(model, track));
  entry("instruction", element("span", { className: "code", textContent: model.instructions.text[leaf] ?? "" }));
  entry("layer", model.layers[track.layer[i]]?.name ?? "");
  entry("ran", `${time(model, track.end[i] - track.start[i])}, ${count(track.start[i])} to ${count(track.end[i])}`);
  if (model.instructions.bytes[leaf]) entry("moved", bytes(model.instructions.bytes[leaf]));
  if (model.instructions.macs[leaf]) entry("did", `${count(model.instructions.macs[leaf])} MAC`);
  if (track.start[i] > track.ready[i]) entry("waited", `${time(model, track.start[i] - track.ready[i])} for ${waitText(model, track, i) || "its turn"}`);
  if (track.lock[i] >= 0) entry("lock", lockText(model, track.lock[i]));
  if (chain.length > 1) {
    const steps = element("ol");
    for (const at of chain.slice(1)) {
      const t = model.tracks[at.track], l = t.leaf[at.index];
      steps.append(element("li", {}, element("button", { textContent: "show", onclick: () => go(at) }), ` ${model.instructions.mnemonics[model.instructions.mnemonic[l]]} on ${trackName(model, t)}, ends ${count(t.end[at.index])}` + (t.start[at.index] > t.ready[at.index] ? `, itself waited ${count(t.start[at.index] - t.ready[at.index])}` : "")));
    }
    entry("because of", steps);
  }
  panel.replaceChildren(list);
}

const LAYER_COLUMNS = [
  ["#", (l) => l.index + 1, (l) => String(l.index + 1)],
  ["layer", (l) => l.name, (l) => l.name, "text name"],
  ["operator", (l) => l.op, (l) => l.op, "text"],
  ["cycles", (l) => l.cycles, (l) => count(l.cycles)],
  ["share", (l) => l.cycles, null],
  ["bound by", (l) => l.boundBy, null, "text"],
  ["efficiency", (l) => l.efficiency ?? -1, (l) => percent(l.efficiency)],
  ["estimate", (l) => l.closedFormError ?? 0, (l) => (l.closedFormError == null ? "–" : (l.closedFormError > 0 ? "+" : "") + percent(l.closedFormError))],
  ["cores", (l) => l.cores, (l) => String(l.cores)],
  ["MMAC", (l) => l.macs, (l) => (l.macs / 1e6).toFixed(1)],
  ["DDR read", (l) => l.ddrReadBytes, (l) => bytes(l.ddrReadBytes)],
  ["DDR write", (l) => l.ddrWriteBytes, (l) => bytes(l.ddrWriteBytes)],
  ["to cores", (l) => l.memtileToCoreBytes, (l) => bytes(l.memtileToCoreBytes)],
  ["split", (l) => l.split, (l) => l.split, "text"],
];

// The table twin of the bands. `choose(index)` is called on a click.
class LayerTable {
  constructor(table, model, choose) {
    Object.assign(this, { table, model, choose, column: 0, descending: false, chosen: -1 });
    const head = element("tr");
    LAYER_COLUMNS.forEach(([title, , , kind = ""], k) => {
      head.append(element("th", { className: kind, scope: "col" }, element("button", { textContent: title, onclick: () => this.sortBy(k) })));
    });
    table.tHead.replaceChildren(head);
    this.longest = Math.max(1, ...model.layers.map((l) => l.cycles));
    this.rows = model.layers.map((layer) => this.makeRow(layer));
    const sum = (key) => model.layers.reduce((n, l) => n + l[key], 0);
    const totals = { "layer": "total", "cycles": count(model.makespan), "share": "100.0 %", "efficiency": percent(model.report.bounds.efficiency), "MMAC": (sum("macs") / 1e6).toFixed(1), "DDR read": bytes(sum("ddrReadBytes")), "DDR write": bytes(sum("ddrWriteBytes")), "to cores": bytes(sum("memtileToCoreBytes")) };
    const foot = element("tr", {}, ...LAYER_COLUMNS.map(([title, , , kind = ""]) => element("td", { className: kind, textContent: totals[title] ?? "" })));
    table.append(element("tfoot", {}, foot));
    this.sortBy(0);
  }

  makeRow(layer) {
    const row = element("tr", { tabIndex: 0, onclick: () => this.choose(layer.index), onkeydown: (e) => { if (e.key === "Enter") this.choose(layer.index); } });
    const share = layer.cycles / this.model.makespan;
    for (const [title, , text, kind = ""] of LAYER_COLUMNS) {
      const cell = element("td", { className: kind });
      if (title === "share") {
        const bar = element("span", { className: "bar" });
        bar.style.width = `${Math.round((60 * layer.cycles) / this.longest)}px`;
        cell.append(bar, percent(share));
      } else if (title === "bound by") {
        cell.append(swatch(this.model.instructions.resources.indexOf(layer.boundBy)), layer.boundBy);
      } else {
        cell.textContent = text(layer);
        if (title === "layer") cell.title = layer.name;
      }
      row.append(cell);
    }
    return row;
  }

  sortBy(k) {
    if (this.column === k && this.sorted) this.descending = !this.descending;
    else this.descending = k !== 0 && !LAYER_COLUMNS[k][3];
    this.column = k;
    this.sorted = true;
    const value = LAYER_COLUMNS[k][1], sign = this.descending ? -1 : 1;
    const order = this.model.layers.map((l) => l.index).sort((a, b) => {
      const x = value(this.model.layers[a]), y = value(this.model.layers[b]);
      return sign * (typeof x === "string" ? x.localeCompare(y) : x - y) || a - b;
    });
    this.table.tBodies[0].replaceChildren(...order.map((i) => this.rows[i]));
    [...this.table.tHead.rows[0].cells].forEach((cell, i) => {
      if (i === k) cell.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }

  select(index) {
    if (this.chosen >= 0) this.rows[this.chosen].removeAttribute("aria-selected");
    this.chosen = index;
    if (index < 0) return;
    this.rows[index].setAttribute("aria-selected", "true");
    this.rows[index].scrollIntoView({ block: "nearest" });
  }
}

// At most `most` hits, layers first; an instruction is found by its line of asm.
function findMatches(model, words, most) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = [];
  const matches = (text) => wanted.every((w) => text.includes(w));
  if (!wanted.length) return hits;
  for (const layer of model.layers) {
    if (hits.length >= most) return hits;
    if (matches(`${layer.name} ${layer.op} ${layer.boundBy}`.toLowerCase())) hits.push({ layer: layer.index, text: layer.name, note: `${layer.op}, ${count(layer.cycles)} cycles` });
  }
  model.searchTexts ??= model.instructions.text.map((t) => t.toLowerCase());
  for (let leaf = 0; leaf < model.searchTexts.length && hits.length < most; leaf++) {
    const layer = model.layers[model.instructions.layer[leaf]]?.name ?? "";
    if (matches(`${model.searchTexts[leaf]} ${layer.toLowerCase()}`)) hits.push({ leaf, text: model.instructions.text[leaf].trim(), note: layer });
  }
  return hits;
}

function firstSliceOf(model, leaf) {
  for (let track = 0; track < model.tracks.length; track++) {
    const index = model.tracks[track].leaf.indexOf(leaf);
    if (index >= 0) return { track, index };
  }
  return null;
}
