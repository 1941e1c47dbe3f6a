// Where an axis has its marks.
export interface Range {
  from: number;
  to: number;
}

/** Round values, about `wish` pixels apart; 0, never -0. */
export function ticks(window: Range, pixels: number, wish: number, step = 1): number[] {
  const least = ((window.to - window.from) * wish) / Math.max(1, pixels) / step;
  const power = 10 ** Math.floor(Math.log10(least));
  const width = step * Math.max(step === 1 ? 1 : 0, power * ([1, 2, 5, 10].find((m) => m * power >= least) ?? 10));
  const out: number[] = [];
  for (let k = Math.ceil(window.from / width); k * width <= window.to; k++) out.push(k * width + 0);
  return out;
}

/** 1 2 5 10 20 50 ... within the range. */
export function decadeTicks({ from, to }: Range): { value: number; major: boolean }[] {
  const out: { value: number; major: boolean }[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++)
    for (const digit of [1, 2, 5]) {
      const value = digit * 10 ** power;
      if (value >= from && value <= to) out.push({ value, major: digit === 1 });
    }
  return out;
}
