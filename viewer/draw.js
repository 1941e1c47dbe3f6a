// The picture: a raster of typed arrays for the slices, a little text and a few lines over it.

const GUTTER = 172, AXIS = 22, OVERVIEW = 70, BAND = 19, TOP = OVERVIEW + AXIS + BAND;
// By resource, in the order of instructions.resources; told apart with any kind of colour vision (after Okabe and Ito).
const COLOURS = [[27, 158, 119], [230, 161, 0], [74, 168, 224], [196, 108, 160], [213, 94, 0], [61, 95, 179], [138, 143, 148]];
const OTHER = [138, 143, 148];
const colourOf = (resource) => COLOURS[resource] ?? OTHER;
const css = (c, alpha = 1) => `rgba(${c[0]},${c[1]},${c[2]},${alpha})`;
const SHADES = 32;

const packed = (c) => ((255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
const mix = (a, b, t) => a.map((x, i) => Math.round(x + (b[i] - x) * t));

function makePalette(dark) {
  const ground = dark ? [21, 23, 26] : [251, 251, 250], lane = dark ? [29, 32, 36] : [240, 240, 238];
  const kinds = [...COLOURS, OTHER];
  return {
    ground: packed(ground), lane: packed(lane), text: dark ? "#e6e7e8" : "#1d1f21", faint: dark ? "#9aa0a6" : "#5f6468",
    line: dark ? "#33373c" : "#dcdcd8", raised: dark ? "#1d2024" : "#ffffff", accent: dark ? "#6db6f2" : "#0b61a4", onSlice: "#101214",
    groundCss: css(ground),
    busy: kinds.map((c) => Uint32Array.from({ length: SHADES + 1 }, (_, s) => packed(mix(lane, c, s === 0 ? 0 : 0.18 + (0.82 * s) / SHADES)))),
    edge: kinds.map((c) => packed(mix(c, dark ? [0, 0, 0] : [255, 255, 255], 0.45))),
    stall: kinds.map((c) => packed(mix(lane, c, 0.55))),
  };
}

// Fills one lane: `high` is what fills its upper part, `low` the strip below, where waits show.
function rasterLane(model, levels, track, view, width, palette, high, low) {
  high.fill(palette.lane);
  low.fill(palette.lane);
  const cycles = (view.to - view.from) / width;
  let k = -1;
  while (k + 1 < levels.length && levels[k + 1].width <= cycles) k++;
  if (k < 0) rasterSlices(model, track, view, width, palette, high, low);
  else rasterBins(levels[k], view, width, cycles, palette, high, low);
}

function rasterBins(level, view, width, cycles, palette, high, low) {
  const bins = level.share.length;
  for (let x = 0; x < width; x++) {
    const cycle = view.from + x * cycles;
    const first = Math.max(0, Math.floor(cycle / level.width));
    const last = Math.min(bins - 1, Math.floor((cycle + cycles * 0.999) / level.width));
    if (cycle + cycles <= 0 || first > last) continue;
    let sum = 0, best = -1, kind = NOTHING, stall = NOTHING, least = 256;
    for (let b = first; b <= last; b++) {
      const share = level.share[b];
      sum += share;
      if (share > best && level.busy[b] !== NOTHING) { best = share; kind = level.busy[b]; }
      if (share < least && level.stall[b] !== NOTHING) { least = share; stall = level.stall[b]; }
    }
    const shade = Math.ceil((sum / (last - first + 1) / 255) * SHADES);
    if (kind !== NOTHING) high[x] = low[x] = palette.busy[kind][shade];
    if (stall !== NOTHING && shade < SHADES * 0.8) low[x] = palette.stall[Math.min(stall, palette.stall.length - 1)];
  }
}

function rasterSlices(model, track, view, width, palette, high, low) {
  const scale = width / (view.to - view.from);
  const resource = model.instructions.resource;
  for (let i = firstAfter(track, view.from); i < track.size && track.ready[i] < view.to; i++) {
    const start = Math.floor((track.start[i] - view.from) * scale), kind = resource[track.leaf[i]];
    if (track.start[i] > track.ready[i]) {
      const stall = waitResource(model, track, i);
      const from = Math.max(0, Math.floor((track.ready[i] - view.from) * scale));
      low.fill(palette.stall[stall < 0 ? palette.stall.length - 1 : stall], from, Math.max(from, start));
    }
    if (track.start[i] >= view.to) break;
    const from = Math.max(0, start), to = Math.max(start + 1, Math.floor((track.end[i] - view.from) * scale));
    if (to <= 0) continue;
    high.fill(palette.busy[kind][SHADES], from, to);
    low.fill(palette.busy[kind][SHADES], from, to);
    if (to - start > 3 && start >= 0 && start < width) high[start] = low[start] = palette.edge[kind];
  }
}

class Picture {
  constructor(canvas, model) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.model = model;
    this.levels = [];  // made when a track is first seen
  }

  levelsOf(index) {
    return (this.levels[index] ??= buildLevels(this.model, this.model.tracks[index]));
  }

  setTheme(dark) {
    this.palette = makePalette(dark);
    this.overview = null;
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = window.devicePixelRatio || 1;
    this.width = Math.max(GUTTER + 50, box.width);
    this.height = Math.max(TOP + LANE, box.height);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.image = this.overview = null;
  }

  x(view, cycle) { return GUTTER + ((cycle - view.from) / (view.to - view.from)) * (this.width - GUTTER); }
  cycle(view, x) { return view.from + ((x - GUTTER) / (this.width - GUTTER)) * (view.to - view.from); }

  draw(state) {
    const { context: c, palette: p } = this;
    c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    c.textBaseline = "middle";
    c.fillStyle = p.groundCss;
    c.fillRect(0, 0, this.width, this.height);
    this.drawTracks(state);
    this.drawLabels(state);
    this.drawSliceNames(state);
    this.drawChain(state);
    c.fillStyle = p.groundCss;
    c.fillRect(0, 0, this.width, TOP);
    this.drawOverview(state);
    this.drawAxis(state);
    this.drawBands(state);
  }

  drawTracks(state) {
    const { model, palette, ratio } = this;
    const left = Math.round(GUTTER * ratio), top = Math.round(TOP * ratio);
    const width = this.canvas.width - left, height = this.canvas.height - top;
    if (width <= 0 || height <= 0) return;
    if (!this.image) {
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.high = new Uint32Array(width);
      this.low = new Uint32Array(width);
    }
    this.pixels.fill(palette.ground);
    for (const row of this.visibleRows(state)) {
      if (row.kind !== "lane") continue;
      rasterLane(model, this.levelsOf(row.track), model.tracks[row.track], state.view, width, palette, this.high, this.low);
      const from = Math.round((row.top - state.scroll) * ratio), to = Math.round((row.top - state.scroll + row.height - 2) * ratio);
      const strip = from + Math.round((to - from) * 0.62);
      for (let y = Math.max(0, from); y < Math.min(height, to); y++) this.pixels.set(y < strip ? this.high : this.low, y * width);
    }
    this.context.putImageData(this.image, left, top);
  }

  *visibleRows(state) {
    const bottom = state.scroll + this.height - TOP;
    for (const row of state.rows) if (row.top + row.height > state.scroll && row.top < bottom) yield row;
  }

  drawLabels(state) {
    const { context: c, palette: p } = this;
    c.fillStyle = p.raised;
    c.fillRect(0, TOP, GUTTER, this.height);
    for (const row of this.visibleRows(state)) {
      const y = TOP + row.top - state.scroll, middle = y + (row.height - 2) / 2 + 0.5;
      if (row.kind === "group") {
        c.fillStyle = p.raised;
        c.fillRect(GUTTER, y, this.width, row.height - 1);
        c.fillStyle = p.text;
        c.font = "600 12px system-ui, sans-serif";
        c.fillText(`${row.open ? "▾" : "▸"}  ${row.label}`, 8, middle);
      } else {
        c.fillStyle = state.selected?.track === row.track ? p.accent : p.faint;
        c.font = "11px system-ui, sans-serif";
        const mark = row.opens ? (state.opened.has(row.key) ? "▾ " : "▸ ") : "";
        c.fillText(fitText(c, mark + row.label, GUTTER - 22 - 12 * row.depth), 8 + 14 * row.depth, middle);
      }
    }
    c.fillStyle = p.line;
    c.fillRect(GUTTER - 1, TOP, 1, this.height);
  }

  drawSliceNames(state) {
    const { context: c, model } = this;
    const scale = (this.width - GUTTER) / (state.view.to - state.view.from);
    c.font = "10px system-ui, sans-serif";
    c.fillStyle = this.palette.onSlice;
    for (const row of this.visibleRows(state)) {
      if (row.kind !== "lane") continue;
      const track = model.tracks[row.track];
      if (this.levelsOf(row.track)[0].width < 1 / scale) continue;  // too many slices in a pixel to name any
      for (let i = firstAfter(track, state.view.from); i < track.size && track.start[i] < state.view.to; i++) {
        const from = Math.max(GUTTER, this.x(state.view, track.start[i])), to = Math.min(this.width, this.x(state.view, track.end[i]));
        if (to - from < 44) continue;
        const name = `${model.instructions.mnemonics[model.instructions.mnemonic[track.leaf[i]]]} ${model.layers[track.layer[i]]?.name ?? ""}`;
        c.fillText(fitText(c, name, to - from - 8), from + 4, TOP + row.top - state.scroll + (row.height - 2) / 2 + 0.5);
      }
    }
  }

  // The selected slice and the slices that it waited for, one after another.
  drawChain(state) {
    const { context: c, palette: p, model } = this;
    if (!state.selected) return;
    c.save();
    c.beginPath();
    c.rect(GUTTER, TOP, this.width - GUTTER, this.height - TOP);
    c.clip();
    let after = null;
    for (const at of state.chain) {
      const row = state.rows.find((r) => r.track === at.track);
      const track = model.tracks[at.track];
      const box = row && { y: TOP + row.top - state.scroll, x: this.x(state.view, track.start[at.index]), end: this.x(state.view, track.end[at.index]) };
      if (box) {
        c.strokeStyle = after ? p.faint : p.accent;
        c.lineWidth = after ? 1.2 : 2;
        c.strokeRect(box.x - 1, box.y - 1, Math.max(3, box.end - box.x) + 2, row.height);
        if (after) {
          c.strokeStyle = p.accent;
          c.lineWidth = 1.2;
          c.beginPath();
          c.moveTo(box.end, box.y + row.height / 2);
          c.bezierCurveTo(box.end + 18, box.y + row.height / 2, after.x - 18, after.y + LANE / 2, after.x, after.y + LANE / 2);
          c.stroke();
        }
        after = box;
      }
    }
    c.restore();
  }

  // Whole run: one line a resource, the darker the busier, with a frame around what is in view.
  drawOverview(state) {
    const { context: c, palette: p, model } = this;
    const width = this.width - GUTTER, series = model.counters.series, step = (OVERVIEW - 10) / Math.max(1, series.length);
    if (!this.overview) {
      this.overview = new OffscreenCanvas(Math.max(1, Math.round(width * this.ratio)), Math.round(OVERVIEW * this.ratio));
      const o = this.overview.getContext("2d");
      o.scale(this.ratio, this.ratio);
      series.forEach((s, k) => {
        const colour = colourOf(model.instructions.resources.indexOf(s.name));
        const each = (width * model.counters.step) / model.makespan;
        s.values.forEach((value, i) => {
          if (value <= 0) return;
          o.fillStyle = css(colour, 0.15 + 0.85 * Math.min(1, value / s.most));
          o.fillRect(i * each, 5 + k * step, each + 0.3, step - 1);
        });
      });
    }
    c.fillStyle = p.raised;
    c.fillRect(0, 0, this.width, OVERVIEW);
    c.drawImage(this.overview, GUTTER, 0, width, OVERVIEW);
    c.fillStyle = p.faint;
    c.font = "10px system-ui, sans-serif";
    c.textAlign = "right";
    series.forEach((s, k) => c.fillText(s.name, GUTTER - 8, 5 + (k + 0.5) * step));
    c.textAlign = "left";
    const from = GUTTER + (state.view.from / model.makespan) * width, to = GUTTER + (state.view.to / model.makespan) * width;
    c.strokeStyle = p.accent;
    c.lineWidth = 1.5;
    c.strokeRect(Math.max(GUTTER, from) + 0.5, 1.5, Math.max(3, Math.min(this.width, to) - Math.max(GUTTER, from) - 1.5), OVERVIEW - 3);
  }

  drawAxis(state) {
    const { context: c, palette: p, model } = this;
    const span = state.view.to - state.view.from, wish = (span * 120) / (this.width - GUTTER);
    const power = 10 ** Math.floor(Math.log10(wish));
    const step = Math.max(1, power * [1, 2, 5, 10].find((m) => m * power >= wish));
    c.font = "11px system-ui, sans-serif";
    c.fillStyle = p.faint;
    c.fillText("cycles", 8, OVERVIEW + AXIS / 2);
    for (let tick = Math.max(0, Math.ceil(state.view.from / step) * step); tick <= Math.min(state.view.to, model.makespan); tick += step) {
      const x = this.x(state.view, tick);
      c.fillStyle = p.line;
      c.fillRect(x, OVERVIEW + 4, 1, AXIS - 4);
      c.fillStyle = p.faint;
      c.fillText(tick.toLocaleString("en"), x + 4, OVERVIEW + AXIS / 2 + 1);
    }
  }

  // A layer's band is the stretch of the run that completes it; its colour says what bounds it.
  drawBands(state) {
    const { context: c, palette: p, model } = this;
    const y = OVERVIEW + AXIS;
    c.font = "11px system-ui, sans-serif";
    c.fillStyle = p.faint;
    c.fillText("layers", 8, y + BAND / 2);
    for (const layer of model.layers) {
      if (layer.cycles === 0 || layer.to < state.view.from || layer.from > state.view.to) continue;
      const from = Math.max(GUTTER, this.x(state.view, layer.from)), to = Math.min(this.width, this.x(state.view, layer.to));
      c.fillStyle = css(colourOf(model.instructions.resources.indexOf(layer.boundBy)), layer.index === state.layer ? 0.95 : 0.42);
      c.fillRect(from, y + 1, Math.max(0.5, to - from - 1), BAND - 3);
      if (to - from < 34) continue;
      c.fillStyle = layer.index === state.layer ? p.onSlice : p.text;
      c.fillText(fitText(c, layer.name, to - from - 8), from + 4, y + BAND / 2);
    }
    c.fillStyle = p.line;
    c.fillRect(0, TOP - 1, this.width, 1);
  }
}

function fitText(context, text, width) {
  if (width < 10) return "";
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? text.slice(0, low) + "…" : "";
}
