// Addresses as pixels, low ones at the bottom. What nothing ever uses may be folded into a narrow gap.

interface Piece {
  from: number; // bytes
  to: number;
  bottom: number; // pixels
  top: number; // smaller than bottom
  isGap: boolean;
}

const GAP = 9; // pixels
const LEAST_FOLDED = 0.06; // of the memory: narrower gaps stay as they are

/** Address ranges that are in use at any time, as [from, to], merged and in order. */
export function usedRanges(spans: readonly { address: number; size: number }[]): [number, number][] {
  const sorted = spans.filter((s) => s.size > 0).map((s): [number, number] => [s.address, s.address + s.size]).sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = merged.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

export class AddressScale {
  readonly pieces: Piece[] = [];

  /** `folds`: whether what is in none of `used` shrinks. */
  constructor(
    readonly capacity: number,
    used: readonly [number, number][],
    folds: boolean,
    readonly top: number,
    readonly bottom: number,
  ) {
    const plan = folds ? foldable(capacity, used) : [];
    const gaps = plan.length * GAP;
    const shown = capacity - plan.reduce((sum, [from, to]) => sum + to - from, 0);
    const perByte = Math.max(0, bottom - top - gaps) / Math.max(1, shown);
    let at = 0;
    let y = bottom;
    const add = (to: number, pixels: number, isGap: boolean) => {
      if (to > at) this.pieces.push({ from: at, to, bottom: y, top: (y -= pixels), isGap });
      at = to;
    };
    for (const [from, to] of plan) {
      add(from, (from - at) * perByte, false);
      add(to, GAP, true);
    }
    add(capacity, (capacity - at) * perByte, false);
  }

  y(address: number): number {
    const piece = this.pieces.find((p) => address <= p.to) ?? this.pieces.at(-1);
    if (!piece) return this.bottom;
    return piece.bottom + ((address - piece.from) / (piece.to - piece.from)) * (piece.top - piece.bottom);
  }

  address(y: number): number {
    const piece = this.pieces.find((p) => y >= p.top) ?? this.pieces.at(-1);
    if (!piece || piece.bottom === piece.top) return 0;
    return piece.from + ((piece.bottom - y) / (piece.bottom - piece.top)) * (piece.to - piece.from);
  }

  /** Round addresses, at least `apart` pixels from each other. */
  ticks(apart: number): number[] {
    const shown = this.pieces.filter((p) => !p.isGap);
    const bytes = shown.reduce((sum, p) => sum + p.to - p.from, 0);
    const pixels = shown.reduce((sum, p) => sum + p.bottom - p.top, 0);
    let step = 16;
    while ((step / Math.max(1, bytes)) * pixels < apart && step < this.capacity) step *= 2;
    const out: number[] = [];
    let last = Infinity;
    for (const piece of shown)
      for (let a = Math.ceil(piece.from / step) * step; a <= piece.to; a += step) {
        const y = this.y(a);
        if (last - y < apart) continue;
        out.push(a);
        last = y;
      }
    return out;
  }
}

function foldable(capacity: number, used: readonly [number, number][]): [number, number][] {
  const gaps: [number, number][] = [];
  let at = 0;
  for (const [from, to] of [...used, [capacity, capacity] as const]) {
    if (from - at > capacity * LEAST_FOLDED) gaps.push([at, from]);
    at = Math.max(at, to);
  }
  return gaps;
}
