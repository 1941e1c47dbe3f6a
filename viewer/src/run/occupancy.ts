// How many bytes of a memory are taken, over time. Bytes that two blocks share count once.

/** A stretch of address that is taken for a while; both half-open. */
export interface Span {
  address: number;
  size: number;
  from: number;
  to: number;
}

export interface Occupancy {
  /** From at[i] to at[i + 1], bytes[i] are taken; none before the first and after the last. */
  at: number[];
  bytes: number[];
  peak: Peak;
}

export interface Peak {
  bytes: number;
  /** The first stretch of time in which so much is taken. */
  from: number;
  to: number;
}

export function occupancyOf(spans: readonly Span[]): Occupancy {
  const alive = spans.filter((span) => span.to > span.from && span.size > 0);
  const bounds = sortedUnique(alive.flatMap(({ address, size }) => [address, address + size]));
  const place = new Map(bounds.map((bound, k) => [bound, k]));
  const holders = new Int32Array(bounds.length); // of the bytes from bounds[k] to bounds[k + 1]
  const events = alive.flatMap((span) => [{ cycle: span.from, by: 1, span }, { cycle: span.to, by: -1, span }]).sort((a, b) => a.cycle - b.cycle);
  const out: Occupancy = { at: [], bytes: [], peak: { bytes: 0, from: 0, to: 0 } };
  let taken = 0;
  events.forEach(({ cycle, by, span }, e) => {
    const end = place.get(span.address + span.size) as number;
    for (let k = place.get(span.address) as number; k < end; k++) {
      const before = holders[k] as number;
      holders[k] = before + by;
      if ((before === 0) !== (before + by === 0)) taken += by * ((bounds[k + 1] as number) - (bounds[k] as number));
    }
    if (events[e + 1]?.cycle !== cycle) append(out, cycle, taken);
  });
  out.peak = peakOf(out);
  return out;
}

function append(out: Occupancy, cycle: number, bytes: number): void {
  if (out.bytes.at(-1) === bytes) return;
  out.at.push(cycle);
  out.bytes.push(bytes);
}

function peakOf({ at, bytes }: Occupancy): Peak {
  const peak: Peak = { bytes: 0, from: 0, to: 0 };
  bytes.forEach((taken, i) => {
    if (taken > peak.bytes) Object.assign(peak, { bytes: taken, from: at[i], to: at[i + 1] ?? at[i] });
  });
  return peak;
}

const sortedUnique = (values: number[]): number[] => [...new Set(values)].sort((a, b) => a - b);

/** Index of the step that holds at `cycle`, or -1 before the first. */
export function stepAt({ at }: Occupancy, cycle: number): number {
  let low = -1;
  let high = at.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((at[middle] as number) <= cycle) low = middle;
    else high = middle - 1;
  }
  return low;
}

export const bytesAt = (occupancy: Occupancy, cycle: number): number => occupancy.bytes[stepAt(occupancy, cycle)] ?? 0;

/** Most bytes that are taken at any time from `from` to `to`. */
export function mostIn(occupancy: Occupancy, from: number, to: number): number {
  let most = 0;
  for (let i = Math.max(0, stepAt(occupancy, from)); i < occupancy.at.length && (occupancy.at[i] as number) < to; i++)
    if ((occupancy.at[i + 1] ?? Infinity) > from) most = Math.max(most, occupancy.bytes[i] as number);
  return most;
}
