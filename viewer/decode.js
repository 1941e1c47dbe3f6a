// heddle.timeline/1 -> typed arrays. docs/timeline.md says what each entry means.

// [3, [3, 1, 2], 9] -> 3 1 2 1 2 1 2 9
function unroll(rolled, size) {
  const out = new Float64Array(size);
  let n = 0;
  const walk = (items, first) => {
    for (let i = first; i < items.length; i++) {
      const item = items[i];
      if (typeof item === "number") { out[n++] = item; continue; }
      const start = n;
      walk(item, 1);
      const body = n - start;
      for (let k = 1; k < item[0] && n < size; k++) { out.copyWithin(n, start, start + body); n += body; }
    }
  };
  walk(rolled, 0);
  return out;
}

function rolledLength(rolled, first = 0) {
  let n = 0;
  for (let i = first; i < rolled.length; i++) n += typeof rolled[i] === "number" ? 1 : rolled[i][0] * rolledLength(rolled[i], 1);
  return n;
}

const unrollAll = (rolled) => unroll(rolled, rolledLength(rolled));

function decodeTrack(track, columnOf, layerOfLeaf) {
  const n = track.slices;
  const [gap, duration, idle, leafStep, layerStep, waits, locks, causeTracks, causeSteps] =
    ["gap", "duration", "idle", "leaf", "layer", "wait", "lock", "causeTrack", "causeStep"].map((name) => columnOf(track[name], n));
  const out = {
    engine: track.engine, row: track.row, column: track.column, channel: track.channel, size: n,
    start: new Float64Array(n), end: new Float64Array(n), ready: new Float64Array(n),
    leaf: new Int32Array(n), layer: new Int32Array(n), wait: new Uint8Array(n), lock: new Int32Array(n),
    causeTrack: new Int32Array(n), causeIndex: new Int32Array(n),
  };
  const lastIndex = new Float64Array(track.causeTracks.length + 1);
  lastIndex[0] = -1;
  let end = 0, leaf = 0;
  for (let i = 0; i < n; i++) {
    out.start[i] = end + gap[i];
    out.ready[i] = end + idle[i];
    end = out.end[i] = out.start[i] + duration[i];
    leaf += leafStep[i];
    out.leaf[i] = leaf;
    out.layer[i] = (layerOfLeaf[leaf] ?? 0) + layerStep[i];
    out.wait[i] = waits[i];
    out.lock[i] = locks[i];
    const place = causeTracks[i];
    out.causeTrack[i] = place ? track.causeTracks[place - 1] : -1;
    out.causeIndex[i] = lastIndex[place] += causeSteps[i];
  }
  return out;
}

// Times are known to the model only by cycles; `clockHz` turns them into seconds for the eye.
function decode(json) {
  if (json.format !== "heddle.timeline/1") {
    throw new Error(`This page reads heddle.timeline/1; the file says ${JSON.stringify(json.format)}. Open it with the heddle that wrote it.`);
  }
  const instructions = {}, count = rolledLength(json.instructions.layer), asm = json.asm.split("\n");
  for (const key of ["layer", "resource", "mnemonic", "bytes", "macs", "line"]) instructions[key] = unroll(json.instructions[key], count);
  const locks = {};
  for (const key of ["tileKind", "row", "column", "index", "initial", "producer", "consumer"]) locks[key] = unrollAll(json.locks[key]);
  const pool = new Map();
  const columnOf = (place, size) => {
    if (!pool.has(place)) pool.set(place, unroll(json.columns[place], size));
    return pool.get(place);
  };
  const tracks = json.tracks.map((track) => decodeTrack(track, columnOf, instructions.layer));
  let done = 0;
  const layers = json.report.layers.map((layer, index) => {
    const from = done;
    done += layer.cycles;
    return { ...layer, index, from, to: done };  // from .. to: the stretch of the run that completes it
  });
  return {
    model: json.model, makespan: json.makespan, device: json.device, graph: json.graph, report: json.report, layers, tracks,
    instructions: { ...instructions, text: Array.from(instructions.line, (line) => asm[line].trim()), mnemonics: json.instructions.mnemonics, resources: json.instructions.resources },
    locks: { ...locks, tileKinds: json.locks.tileKinds },
    memory: json.memory, waitKinds: json.waitKinds, slices: tracks.reduce((sum, t) => sum + t.size, 0),
    counters: { step: json.counters.step, series: json.counters.series.map((s) => ({ ...s, values: unrollAll(s.values) })) },
  };
}

// What a slice waited for: the resource of the slice that ended its wait, or -1.
function waitResource(model, track, i) {
  const cause = track.causeTrack[i] < 0 ? null : model.tracks[track.causeTrack[i]];
  return cause && track.causeIndex[i] < cause.size ? model.instructions.resource[cause.leaf[track.causeIndex[i]]] : -1;
}

// The page carries gzip in base64: small, and nothing in it can be markup.
async function unpack(base64) {
  let bytes;
  if (Uint8Array.fromBase64) {
    bytes = Uint8Array.fromBase64(base64);
  } else {
    const binary = atob(base64);
    bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
