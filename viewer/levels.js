// Level of detail: for every track a pyramid of bins, each with the share of time that its engine was busy, what it was
// busy with for longest, and what it waited for longest. Drawing then costs as much as there are pixels, not slices.

const NOTHING = 255;
const MOST_BINS = 65536;

// Level 0 has about one bin a slice; each further level halves the number of bins.
function buildLevels(model, track) {
  const resources = model.instructions.resources.length;
  let bins = 64;
  while (bins < track.size && bins < MOST_BINS) bins *= 2;
  const width = Math.max(1, model.makespan / bins);
  const share = new Uint8Array(bins), busy = new Uint8Array(bins).fill(NOTHING), stall = new Uint8Array(bins).fill(NOTHING);
  const sums = new Float64Array(2 * resources + 1);
  let bin = 0;
  const most = (from, to) => {
    let best = NOTHING, cycles = 0;
    for (let k = from; k < to; k++) if (sums[k] > cycles) { cycles = sums[k]; best = k - from; }
    return best;
  };
  const flush = () => {
    let total = 0;
    for (let k = 0; k < resources; k++) total += sums[k];
    share[bin] = total > 0 ? Math.max(1, Math.min(255, Math.round((255 * total) / width))) : 0;
    busy[bin] = most(0, resources);
    stall[bin] = most(resources, 2 * resources + 1);
    sums.fill(0);
  };
  const add = (kind, from, to) => {
    while (from < to) {
      const at = Math.min(bins - 1, Math.floor(from / width));
      if (at !== bin) { flush(); bin = at; }
      const until = at === bins - 1 ? to : Math.min(to, (at + 1) * width);
      sums[kind] += until - from;
      if (until <= from) break;
      from = until;
    }
  };
  for (let i = 0; i < track.size; i++) {
    if (track.start[i] > track.ready[i]) {
      const resource = waitResource(model, track, i);
      add(resources + (resource < 0 ? resources : resource), track.ready[i], track.start[i]);
    }
    add(model.instructions.resource[track.leaf[i]], track.start[i], track.end[i]);
  }
  flush();
  const levels = [{ width, share, busy, stall }];
  while (levels[levels.length - 1].share.length > 64) levels.push(halve(levels[levels.length - 1]));
  return levels;
}

function halve(level) {
  const n = level.share.length / 2;
  const out = { width: level.width * 2, share: new Uint8Array(n), busy: new Uint8Array(n), stall: new Uint8Array(n) };
  for (let i = 0; i < n; i++) {
    const a = 2 * i, b = a + 1;
    const sum = level.share[a] + level.share[b];
    out.share[i] = sum > 0 ? Math.max(1, sum >> 1) : 0;
    out.busy[i] = level.busy[level.share[a] >= level.share[b] ? a : b];
    // The emptier half says more about waiting.
    out.stall[i] = level.stall[level.share[a] <= level.share[b] ? a : b];
    if (out.stall[i] === NOTHING) out.stall[i] = Math.min(level.stall[a], level.stall[b]);
  }
  return out;
}

// Index of the first slice that ends after `cycle`.
function firstAfter(track, cycle) {
  let low = 0, high = track.size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.end[middle] > cycle) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The slice of the track that holds `cycle`, or the one whose wait does; -1 for none.
function sliceAt(track, cycle, slack = 0) {
  const i = firstAfter(track, cycle);
  if (i < track.size && track.ready[i] <= cycle) return i;
  if (i < track.size && track.start[i] - cycle <= slack) return i;
  return i > 0 && cycle - track.end[i - 1] <= slack ? i - 1 : -1;
}
