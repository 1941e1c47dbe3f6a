// State, keys and the pointer. Whatever changes calls `refresh`; drawing happens once a frame.

const byId = (id) => document.getElementById(id);
const KEYS = [["W S", "zoom in, out"], ["A D", "move left, right"], ["↑ ↓", "scroll the tracks"], [". ,", "next, previous slice of the track"], ["C", "go to what the slice waited for"], ["F", "zoom to the selection"], ["0", "the whole run"], ["/", "search"], ["Esc", "clear the selection"], ["wheel", "zoom; over the names, or with Shift: scroll"], ["drag", "move"]];
const CHAIN = 12;  // waits shown behind a selected slice

class Page {
  constructor(model) {
    this.model = model;
    this.canvas = byId("canvas");
    this.picture = new Picture(this.canvas, model);
    this.held = new Set();
    this.state = { view: { from: 0, to: model.makespan }, scroll: 0, closed: new Set(), opened: new Set(), selected: null, chain: [], layer: -1 };
    this.layOut();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
    this.table = new LayerTable(document.querySelector("#layers table"), model, (i) => this.showLayer(i, true));
    this.fillHeader();
    fillSlice(byId("slice"), model, null, [], () => {});
    this.listen();
    new ResizeObserver(() => { this.picture.resize(); this.refresh(); }).observe(this.canvas);
  }

  layOut() {
    this.state.rows = layOut(this.model, this.state.closed, this.state.opened);
    this.refresh();
  }

  refresh() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.moveHeld();
      if (this.picture.ratio) {
        const start = performance.now();
        this.clamp();
        this.picture.draw(this.state);
        this.lastDraw = performance.now() - start;
      }
    });
  }

  clamp() {
    const { view, rows } = this.state, span = Math.min(Math.max(view.to - view.from, 20), this.model.makespan * 1.1);
    const middle = (view.from + view.to) / 2;
    const from = Math.min(Math.max(middle - span / 2, -0.05 * this.model.makespan), 1.05 * this.model.makespan - span);
    this.state.view = { from, to: from + span };
    this.state.scroll = Math.max(0, Math.min(this.state.scroll, rows.height - (this.picture.height - TOP) + 8));
  }

  zoom(factor, at) {
    const { from, to } = this.state.view, fixed = at ?? (from + to) / 2;
    if ((to - from) * factor < 20 && factor < 1) return;
    this.state.view = { from: fixed - (fixed - from) * factor, to: fixed + (to - fixed) * factor };
    this.refresh();
  }

  pan(cycles) {
    const { from, to } = this.state.view;
    this.state.view = { from: from + cycles, to: to + cycles };
    this.refresh();
  }

  show(from, to) {
    const margin = Math.max(8, (to - from) * 0.06);
    this.state.view = { from: from - margin, to: to + margin };
    this.refresh();
  }

  // Keys that are held move the view by the time that has passed, whatever the frame rate.
  moveHeld() {
    const now = performance.now(), passed = Math.min(50, now - (this.lastMove ?? now));
    this.lastMove = now;
    if (!this.held.size) { this.lastMove = undefined; return; }
    const span = this.state.view.to - this.state.view.from;
    if (this.held.has("w")) this.zoom(Math.exp(-passed / 320), this.pointerCycle());
    if (this.held.has("s")) this.zoom(Math.exp(passed / 320), this.pointerCycle());
    if (this.held.has("a")) this.pan((-span * passed) / 900);
    if (this.held.has("d")) this.pan((span * passed) / 900);
    if (this.held.has("arrowup")) this.state.scroll -= passed * 0.7;
    if (this.held.has("arrowdown")) this.state.scroll += passed * 0.7;
    this.refresh();
  }

  pointerCycle() {
    return this.pointer && this.pointer.x > GUTTER ? this.picture.cycle(this.state.view, this.pointer.x) : undefined;
  }

  rowAt(y) {
    const inside = y - TOP + this.state.scroll;
    return y < TOP ? null : this.state.rows.find((row) => inside >= row.top && inside < row.top + row.height) ?? null;
  }

  hit(point) {
    const row = this.rowAt(point.y);
    if (!row || row.kind !== "lane" || point.x < GUTTER) return null;
    const { view } = this.state, cycle = this.picture.cycle(view, point.x);
    const index = sliceAt(this.model.tracks[row.track], cycle, (3 * (view.to - view.from)) / this.picture.width);
    return index < 0 ? null : { track: row.track, index, cycle };
  }

  layerAt(point) {
    if (point.y < OVERVIEW + AXIS || point.y >= TOP || point.x < GUTTER) return null;
    const cycle = this.picture.cycle(this.state.view, point.x);
    return this.model.layers.find((l) => l.from <= cycle && cycle < l.to) ?? null;
  }

  // --- selection --------------------------------------------------------------------------------------------------

  select(at, reveal) {
    const { model, state } = this;
    state.selected = at && { track: at.track, index: at.index };
    state.chain = [];
    for (let next = state.selected; next && state.chain.length < CHAIN;) {
      state.chain.push(next);
      const t = model.tracks[next.track], causes = t.causeTrack[next.index];
      const waited = t.start[next.index] > t.ready[next.index] && causes >= 0 && t.causeIndex[next.index] < model.tracks[causes].size;
      next = waited ? { track: causes, index: t.causeIndex[next.index] } : null;
    }
    if (at) {
      const track = model.tracks[at.track];
      this.setLayer(track.layer[at.index]);
      this.openTab("slice");
      if (reveal) this.reveal(at);
    }
    fillSlice(byId("slice"), model, state.selected, state.chain, (to) => this.select(to, true));
    this.refresh();
  }

  reveal(at) {
    const track = this.model.tracks[at.track], { view, closed, opened } = this.state;
    if (!this.state.rows.some((row) => row.track === at.track)) {
      closed.clear();
      opened.add(`tile${track.row},${track.column}`);
      this.layOut();
    }
    const row = this.state.rows.find((r) => r.track === at.track);
    const height = this.picture.height - TOP;
    if (row && (row.top < this.state.scroll || row.top + row.height > this.state.scroll + height)) this.state.scroll = row.top - height / 2;
    const from = track.start[at.index], to = track.end[at.index], span = view.to - view.from;
    if (to < view.from || from > view.to || to - from < span / 400) {
      const wide = Math.min(span, Math.max(40 * (to - from), 200));
      this.state.view = { from: (from + to - wide) / 2, to: (from + to + wide) / 2 };
    }
  }

  setLayer(index) {
    this.state.layer = index;
    this.table.select(index);
  }

  showLayer(index, zoom) {
    const layer = this.model.layers[index];
    this.setLayer(index);
    if (zoom) this.show(layer.cycles ? layer.from : layer.start, layer.cycles ? layer.to : layer.end);
    this.refresh();
  }

  step(direction) {
    const at = this.state.selected;
    if (!at) return;
    const index = at.index + direction;
    if (index >= 0 && index < this.model.tracks[at.track].size) this.select({ track: at.track, index }, true);
  }

  focus() {
    const { selected, layer } = this.state;
    if (selected) {
      const track = this.model.tracks[selected.track];
      this.show(Math.min(track.ready[selected.index], track.start[selected.index]), track.end[selected.index]);
    } else if (layer >= 0) {
      this.showLayer(layer, true);
    }
  }

  // --- what stands around the picture -----------------------------------------------------------------------------

  fillHeader() {
    const { model } = this, { report, device } = model, verified = report.verification;
    document.title = `${model.model} on ${device.rows}x${device.columns} · heddle`;
    byId("title").textContent = model.model;
    byId("title").title = model.model;
    const fact = (value, note, minor) => element("span", { className: minor ? "minor" : "" }, element("b", { textContent: value }), ` ${note}`);
    byId("summary").append(
      fact(seconds(model, model.makespan), `· ${count(model.makespan)} cycles`),
      fact(`${device.rows}×${device.columns}`, `cores of ${device.name}`),
      fact(percent(report.bounds.efficiency), "of the layer bound"),
      fact(verified.ran ? (verified.matches ? "✓ bit-exact" : "✗ MISMATCH") : "not verified", verified.ran ? `${count(verified.tensorsCompared)} tensors` : "", true),
      fact(count(model.slices), "slices", true));
    const resources = model.instructions.resources.filter((name) => model.counters.series.some((s) => s.name === name));
    byId("legend").append(...resources.map((name) => element("span", {}, swatch(model.instructions.resources.indexOf(name)), name)),
      element("span", { textContent: "full height: busy with · low strip: waits for" }));
    const help = element("dl");
    for (const [key, what] of KEYS) help.append(element("dt", { textContent: key }), element("dd", { textContent: what }));
    byId("help").append(element("b", { textContent: "Keys" }), help);
    if (report.notModelled.length) byId("help").append(element("p", { className: "faint", textContent: `Not modelled: ${report.notModelled.join("; ")}.` }));
  }

  openTab(name) {
    for (const tab of ["layers", "slice"]) {
      byId(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
      byId(tab).hidden = tab !== name;
    }
  }

  setTheme(dark) {
    this.dark = dark;
    document.documentElement.classList.toggle("dark", dark);
    this.picture.setTheme(dark);
    this.refresh();
  }

  search(words) {
    const list = byId("results"), hits = findMatches(this.model, words, 60);
    this.hits = hits;
    list.hidden = !words.trim();
    const take = (hit) => {
      list.hidden = true;
      this.canvas.focus();
      if (hit.layer !== undefined) { this.openTab("layers"); this.showLayer(hit.layer, true); return; }
      const at = firstSliceOf(this.model, hit.leaf);
      if (at) this.select(at, true);
    };
    this.takeHit = take;
    list.replaceChildren(...hits.map((hit, i) => {
      const item = element("li", { role: "option", onclick: () => take(hit) }, element("span", { textContent: hit.text }), element("small", { textContent: hit.note }));
      item.setAttribute("aria-selected", String(i === 0));
      return item;
    }));
    if (!hits.length) list.append(element("li", { className: "none", textContent: "Nothing found" }));
  }

  // --- input ------------------------------------------------------------------------------------------------------

  listen() {
    this.listenPointer();
    this.listenKeys();
    const search = byId("search");
    search.addEventListener("input", () => this.search(search.value));
    search.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && this.hits?.length) this.takeHit(this.hits[0]);
      if (e.key === "Escape") { search.value = ""; this.search(""); this.canvas.focus(); }
    });
    document.addEventListener("pointerdown", (e) => { if (!e.target.closest(".search")) byId("results").hidden = true; });
    byId("fit").onclick = () => this.show(0, this.model.makespan);
    byId("theme").onclick = () => this.setTheme(!this.dark);
    byId("keys").onclick = () => byId("help").showModal();
    byId("help").onclick = () => byId("help").close();
    byId("tab-layers").onclick = () => this.openTab("layers");
    byId("tab-slice").onclick = () => this.openTab("slice");
    const splitter = byId("splitter"), panel = byId("panel");
    splitter.onpointerdown = (e) => { splitter.setPointerCapture(e.pointerId); };
    splitter.onpointermove = (e) => {
      if (splitter.hasPointerCapture(e.pointerId)) panel.style.height = `${Math.max(34, Math.min(innerHeight - 200, innerHeight - e.clientY - 3))}px`;
    };
  }

  point(e) {
    const box = this.canvas.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  }

  listenPointer() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const at = this.point(e), span = this.state.view.to - this.state.view.from, unit = e.deltaMode === 1 ? 16 : 1;
      if (at.x < GUTTER || e.shiftKey) this.state.scroll += (e.deltaY || e.deltaX) * unit;
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan((e.deltaX * unit * span) / this.picture.width);
      else this.zoom(Math.exp(Math.max(-200, Math.min(200, e.deltaY * unit)) * 0.002), this.picture.cycle(this.state.view, at.x));
      this.refresh();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (e) => {
      const at = this.point(e);
      drag = { ...at, view: this.state.view, scroll: this.state.scroll, moved: false, overview: at.y < OVERVIEW && at.x > GUTTER };
      canvas.setPointerCapture(e.pointerId);
      if (drag.overview) this.centre(at);
    });
    canvas.addEventListener("pointermove", (e) => {
      const at = (this.pointer = this.point(e));
      if (!drag) { this.hover(at); return; }
      if (Math.hypot(at.x - drag.x, at.y - drag.y) > 3) drag.moved = true;
      if (drag.overview) { this.centre(at); return; }
      if (!drag.moved) return;
      const moved = ((drag.x - at.x) * (drag.view.to - drag.view.from)) / (this.picture.width - GUTTER);
      this.state.view = { from: drag.view.from + moved, to: drag.view.to + moved };
      this.state.scroll = drag.scroll + drag.y - at.y;
      byId("tip").hidden = true;
      this.refresh();
    });
    canvas.addEventListener("pointerup", (e) => {
      if (drag && !drag.moved && !drag.overview) this.click(this.point(e));
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => { this.pointer = null; byId("tip").hidden = true; });
    canvas.addEventListener("dblclick", (e) => { if (this.hit(this.point(e))) this.focus(); });
  }

  centre(at) {
    const cycle = ((at.x - GUTTER) / (this.picture.width - GUTTER)) * this.model.makespan, half = (this.state.view.to - this.state.view.from) / 2;
    this.state.view = { from: cycle - half, to: cycle + half };
    this.refresh();
  }

  click(at) {
    const row = this.rowAt(at.y);
    if (row && (row.kind === "group" || (row.opens && at.x < GUTTER))) {
      const keys = row.kind === "group" ? this.state.closed : this.state.opened;
      if (!keys.delete(row.key)) keys.add(row.key);
      this.layOut();
      return;
    }
    const layer = this.layerAt(at);
    if (layer) { this.openTab("layers"); this.showLayer(layer.index, true); return; }
    if (at.x > GUTTER && at.y > TOP) this.select(this.hit(at), false);
  }

  hover(at) {
    const tip = byId("tip"), hit = this.hit(at), layer = hit ? null : this.layerAt(at), row = this.rowAt(at.y);
    this.canvas.style.cursor = hit || layer || row?.kind === "group" || (row?.opens && at.x < GUTTER) ? "pointer" : "default";
    tip.hidden = !hit && !layer;
    if (hit) fillTip(tip, this.model, hit.track, hit.index, hit.cycle);
    if (layer) {
      tip.replaceChildren(element("div", { className: "head", textContent: layer.name }), element("div", { textContent: `${layer.op}, ${time(this.model, layer.cycles)}, bound by ${layer.boundBy}` }), element("div", { className: "faint", textContent: layer.split }));
    }
    if (tip.hidden) return;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(at.x + 14, this.picture.width - width - 6))}px`;
    tip.style.top = `${at.y + 18 + height > this.picture.height ? Math.max(4, at.y - height - 12) : at.y + 18}px`;
  }

  listenKeys() {
    const moving = new Set(["w", "a", "s", "d", "arrowup", "arrowdown"]);
    const once = {
      "0": () => this.show(0, this.model.makespan), f: () => this.focus(), ".": () => this.step(1), ",": () => this.step(-1),
      c: () => { if (this.state.chain[1]) this.select(this.state.chain[1], true); },
      "/": () => byId("search").focus(), "?": () => byId("help").showModal(), escape: () => { this.setLayer(-1); this.select(null); },
    };
    addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, dialog, tbody")) return;
      const key = e.key.toLowerCase();
      if (moving.has(key)) { this.held.add(key); this.refresh(); }
      else if (once[key]) once[key]();
      else return;
      e.preventDefault();
    });
    addEventListener("keyup", (e) => this.held.delete(e.key.toLowerCase()));
    addEventListener("blur", () => this.held.clear());
  }
}

unpack(document.querySelector("script.timeline").textContent.trim()).then((json) => {
  window.heddle = new Page(decode(json));
}).catch((error) => {
  byId("problem").hidden = false;
  byId("problem").textContent = `This page cannot show its timeline. ${error.message}`;
});
