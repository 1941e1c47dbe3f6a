// What is counted once for frames that are alike is what counting them all gives.
import { describe, expect, it } from "vitest";
import { executionsOf } from "../../src/run/executions";
import type { RolledJson, TimelineJson } from "../../src/run/format";
import { loadOf } from "../../src/run/load";
import { eachSlice } from "../../src/run/repeat";
import { Run } from "../../src/run/run";
import { piecesOf } from "../../src/run/stalls";
import { criticalPath } from "../../src/run/critical_path";
import { bandOfBin, levelsOf, NOTHING, placeOf } from "../../src/views/timeline/levels";
import { lockWaits } from "../../src/ui/search";
import { type SliceSpec, timelineOf } from "./sample";

const FRAMES = 12;
const EACH = [9, 7]; // slices of a frame: of the wire, of the core

/** A core that works on what a wire brings: the wire is ahead by at most two, and the first frames take longer to get going. */
function written(frames = FRAMES): TimelineJson {
  const tracks: SliceSpec[][] = [[], []];
  const [wire, core] = tracks as [SliceSpec[], SliceSpec[]];
  const put = (to: SliceSpec[], leaf: number, cycles: number, cause: { track: number; index: number } | undefined, free: number) => {
    const ready = to[to.length - 1]?.end ?? 0;
    const start = Math.max(ready, free);
    to.push({ start, end: start + cycles, ready, leaf, lock: leaf % 3, ...(start > ready && cause ? { cause } : {}) });
  };
  for (let frame = 0; frame < frames; frame++) {
    const [sent, done] = [frame * EACH[0]!, frame * EACH[1]!];
    for (let k = 0; k < EACH[0]!; k++) {
      const of = frame > 0 && k === 4 ? { track: 1, index: done - EACH[1]! + 3 } : undefined; // room is free when the core has done so much
      put(wire, k, 10 + ((7 * k) % 5), of, of ? core[of.index]!.end : 0);
    }
    for (let k = 0; k < EACH[1]!; k++) put(core, EACH[0]! + k, 18 + ((5 * k) % 9), { track: 0, index: sent + k + 1 }, wire[sent + k + 1]!.end);
  }
  const leaves = Array.from({ length: EACH[0]! + EACH[1]! }, (_, leaf) => leaf);
  const json = timelineOf([{ slices: wire, engine: "wire" }, { slices: core }], leaves.map((leaf) => leaf % 2), leaves.map((leaf) => (leaf < EACH[0]! ? 2 : 0)));
  const end = (frame: number) => core[(frame + 1) * EACH[1]! - 1]!.end;
  json.report.frames = Array.from({ length: frames }, (_, frame) => {
    const from = frame ? end(frame - 1) : 0;
    return { start: from, end: end(frame), stepCycles: [5, end(frame) - from - 5] };
  });
  return json;
}

/** The same file with a loop in each column, as the compiler rolls them. */
function rolled(json: TimelineJson): TimelineJson {
  const columns = [...json.columns];
  json.tracks.forEach((track, t) => {
    for (const [name, place] of Object.entries(track)) {
      if (!["gap", "duration", "idle", "leaf", "layer", "wait", "lock", "causeTrack", "causeStep"].includes(name)) continue;
      columns[place as number] = roll(json.columns[place as number] as number[], EACH[t]!);
    }
  });
  return { ...json, columns };
}

function roll(values: number[], period: number): RolledJson {
  let best = { from: 0, times: 0 };
  for (let from = 0; from + 2 * period <= values.length; from++) {
    let to = from + period;
    while (to < values.length && values[to] === values[to - period]) to++;
    const times = Math.floor((to - from) / period);
    if (times > best.times) best = { from, times };
  }
  const { from, times } = best;
  return [...values.slice(0, from), [times, ...values.slice(from, from + period)], ...values.slice(from + times * period)];
}

const plain = new Run(written());
const run = new Run(rolled(written()));
let seed = 5;
const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;

describe("frames that are alike", () => {
  it("are found where the file says so, and nowhere else", () => {
    expect(plain.repeat).toBeNull();
    expect(run.repeat).not.toBeNull();
    expect(run.repeat!.times).toBeGreaterThan(FRAMES / 2);
    expect([...run.repeat!.slices]).toEqual(EACH);
    const cut = rolled(written());
    cut.report.frames = [];
    expect(new Run(cut).repeat).toBeNull();
  });

  it("read the same as where they are written out", () => {
    const [many, one] = [new Run(rolled(written(700))), new Run(written(700))]; // some thousand slices: blocks begin anywhere in a frame
    expect(many.repeat!.times).toBeGreaterThan(600);
    for (const [read, written] of [[many, one], [run, plain]] as const) for (const track of read.tracks) {
      const as = written.tracks[track.index]!;
      expect(track.finish).toBe(as.finish);
      for (let i = 0; i < track.size; i++)
        for (const what of ["start", "end", "ready", "leaf", "layer", "wait", "lock", "causeTrack", "causeIndex", "bytes", "macs"] as const)
          if (what !== "causeIndex" || as.causeTrack(i) >= 0) expect(track[what](i), `${what} of slice ${i}`).toEqual(as[what](i));
    }
  });

  it("stand for all of them: each slice is visited once, or for its likes", () => {
    for (const track of run.tracks) {
      let slices = 0;
      let visits = 0;
      eachSlice(run, track, (_, times) => {
        slices += times;
        visits++;
      });
      expect(slices).toBe(track.size);
      expect(visits).toBeLessThanOrEqual(track.size / 2);
    }
  });

  it("give the same sums", () => {
    for (const track of [0, 1]) expect(executionsOf(run, () => true, [track])).toEqual(executionsOf(plain, () => true, [track]));
    expect([...lockWaits(run)]).toEqual([...lockWaits(plain)]);
    expect(criticalPath(run)).toEqual(criticalPath(plain));
  });

  it("give the same account of any stretch", () => {
    for (const waits of ["root", "direct"] as const) {
      const [load, as] = [loadOf(run, waits), loadOf(plain, waits)];
      for (let n = 0; n < 600; n++) {
        const track = random(2);
        const from = random(run.makespan);
        const to = n % 50 ? from + 1 + random(n % 2 ? 40 : run.makespan) : run.makespan;
        const [got, expected] = [new Float64Array(load.columns.count), new Float64Array(load.columns.count)];
        load.add(track, from, to, got);
        as.add(track, from, to, expected);
        got.forEach((amount, c) => expect(amount, `column ${c} of track ${track}, ${from} to ${to}`).toBeCloseTo(expected[c]!, 6));
        expect(load.ranLayer(track, n % 3, { from, to })).toBe(as.ranLayer(track, n % 3, { from, to }));
      }
      const [bins, expected] = [new Float64Array(load.bins), new Float64Array(as.bins)];
      for (let column = 0; column < load.columns.count; column++) {
        load.addBins(0, column, bins.fill(0));
        as.addBins(0, column, expected.fill(0));
        bins.forEach((amount, b) => expect(amount, `column ${column}, bin ${b}`).toBeCloseTo(expected[b]!, 6));
      }
    }
  });

  it("have the bins of their own slices", () => {
    for (const track of run.tracks) {
      const [level] = levelsOf(run, track, "root");
      expect(level!.share.length).toBeLessThan(level!.bins);
      for (let bin = 0; bin < level!.bins; bin++) {
        const [from, to] = [level!.from + bin * level!.width, level!.from + (bin + 1) * level!.width];
        let busy = 0;
        let best = { cycles: 0, band: -1 };
        const waits = new Map<number, number>();
        for (let i = 0; i < track.size; i++) {
          const cycles = Math.max(0, Math.min(to, track.end(i)) - Math.max(from, track.start(i)));
          busy += cycles;
          const frame = Math.floor(i / EACH[track.index]!);
          if (cycles > best.cycles + 1e-6) best = { cycles, band: 2 * frame + track.layer(i) };
          const { count, stall, from: begins, to: ends } = piecesOf(run, track, i, "root");
          for (let k = 0; k < count; k++) {
            const waited = Math.min(to, ends[k]!) - Math.max(from, begins[k]!);
            if (waited > 1e-6) waits.set(stall[k]!, (waits.get(stall[k]!) ?? 0) + waited);
          }
        }
        const place = placeOf(level!, bin);
        expect(Math.abs(level!.share[place]! - (255 * busy) / level!.width), `share of bin ${bin}`).toBeLessThanOrEqual(1);
        if (best.cycles > 1e-6) expect(bandOfBin(level!, bin), `band of bin ${bin}`).toBe(best.band);
        expect(level!.stall[place] === NOTHING, `wait of bin ${bin}`).toBe(waits.size === 0);
      }
    }
  });

  it("have coarser bins that are halves of the finer ones, down to where all are written out", () => {
    for (const track of run.tracks) {
      const levels = levelsOf(run, track, "none");
      const last = levels[levels.length - 1]!;
      expect(last.bins).toBeLessThanOrEqual(64);
      for (const [k, level] of levels.slice(1).entries()) {
        const finer = levels[k]!;
        expect(level.width).toBeCloseTo(2 * finer.width);
        for (let bin = 0; bin < level.bins; bin++) {
          const share = (at: number) => (at < finer.bins ? finer.share[placeOf(finer, at)]! : finer.share[placeOf(finer, finer.bins - 1)]!);
          const mean = (share(2 * bin) + share(2 * bin + 1)) / 2;
          expect(Math.abs(level.share[placeOf(level, bin)]! - mean), `bin ${bin} of ${level.bins}`).toBeLessThanOrEqual(1);
        }
      }
    }
  });
});
