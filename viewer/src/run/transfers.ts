// A transfer over a wire is a slice at each of its ends: one on the wire, one for each core that receives it, at the same time.
import type { Run, SliceRef } from "./run";
import type { Track } from "./track";

function reaches(run: Run, wire: Track, core: Track): boolean {
  const reach = run.device.wires[wire.column]?.reach;
  if (!reach) return false;
  const isIn = (at: number, first: number, size: number) => at >= first && at < first + size;
  return isIn(core.row, reach.row, reach.rows) && isIn(core.column, reach.column, reach.columns);
}

/** The wire's slice of what a core receives, or what the cores receive of a wire's; empty for a slice that is no transfer over a wire. */
export function otherEndsOf(run: Run, { track, index }: SliceRef): SliceRef[] {
  const own = run.tracks[track] as Track;
  const sends = own.engine === "wire";
  if (!sends && own.engine !== "coreIn") return [];
  const [start, end, resource] = [own.start(index), own.end(index), run.instructions.resource[own.leaf(index)]];
  const ends: SliceRef[] = [];
  for (const other of run.tracks) {
    if (other.engine !== (sends ? "coreIn" : "wire") || !(sends ? reaches(run, own, other) : reaches(run, other, own))) continue;
    const i = other.firstAfter(start);
    if (i < other.size && other.start(i) === start && other.end(i) === end && run.instructions.resource[other.leaf(i)] === resource) ends.push({ track: other.index, index: i });
  }
  return ends;
}

/** What led to a slice: whose end ended its wait, else what sent it; a core's receiving end follows its wire and waits for nothing else. */
export function leadsTo(run: Run, at: SliceRef): SliceRef | null {
  const cause = run.causeOf(at);
  if (cause) return cause;
  return run.tracks[at.track]?.engine === "coreIn" ? (otherEndsOf(run, at)[0] ?? null) : null;
}
