// Keys of the device that bind: those whose doubling (a time: halving) makes the run shorter, as the compiler found by running it again.
import type { RaisedKeysJson } from "./format";

const LEAST_GAIN = 0.0005; // of the run: 0.1 % as it is printed

export interface GainingKeys {
  /** "links.wire and links.memtile.read", "4 GB/s -> 8 GB/s". */
  names: string;
  change: string;
  cycles: number; // of the run
  gain: number; // of the run
  /** Several that bound the same transfers: one of them by itself gains nothing. */
  isTogether: boolean;
}

/** Those that gain most first. */
export function gainingKeys(keys: readonly RaisedKeysJson[], makespan: number): GainingKeys[] {
  const isHeld = (key: string) => keys.some(({ raised, heldBy }) => raised.length === 1 && raised[0]?.key === key && heldBy.length > 0);
  return keys
    .map(({ raised, cycles, gainCycles }) => {
      const changes = raised.map(({ key, from, to }) => `${key} ${from} → ${to}`);
      return { names: raised.map(({ key }) => key).join(" and "), change: changes.join(" and "), cycles, gain: gainCycles / Math.max(1, makespan), isTogether: raised.length > 1 && raised.every(({ key }) => isHeld(key)) };
    })
    .filter(({ gain }) => gain >= LEAST_GAIN)
    .sort((a, b) => b.gain - a.gain);
}
