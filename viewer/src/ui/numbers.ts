// Figures as people read them.

export const count = (n: number): string => (Math.round(n) + 0).toLocaleString("en"); // + 0: no "-0"

const LITTLE = 0.001; // of the whole: below it a tenth of a percent says nothing

export function percent(share: number | null | undefined): string {
  if (share == null || !Number.isFinite(share)) return "–";
  const size = Math.abs(share);
  if (size === 0 || size >= LITTLE) return `${(100 * share).toFixed(1)} %`;
  return size >= LITTLE / 200 ? `${(100 * share).toFixed(3)} %` : share > 0 ? "<0.001 %" : "-0.000 %";
}
export const signed = (text: string, value: number): string => (value > 0 ? `+${text}` : value < 0 ? `−${text.replace(/^[-−]/, "")}` : text);

/** 10^9 bytes are a GB, as for rates. */
export function bytes(n: number): string {
  if (n >= 1e9) return `${(n / 1e9).toFixed(2)} GB`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(2)} MB`;
  if (n >= 1e4) return `${(n / 1e3).toFixed(1)} kB`;
  return `${count(n)} B`;
}

/** Sizes of memories: 64 KiB. */
export function kibibytes(n: number): string {
  if (n >= 1 << 20) return `${trim(n / (1 << 20))} MiB`;
  return n >= 1024 ? `${trim(n / 1024)} KiB` : `${count(n)} B`;
}

export function seconds(s: number): string {
  const size = Math.abs(s);
  if (size >= 1) return `${s.toFixed(3)} s`;
  if (size >= 1e-3) return `${(s * 1e3).toFixed(3)} ms`;
  if (size >= 1e-6) return `${(s * 1e6).toFixed(2)} µs`;
  return `${Math.round(s * 1e9)} ns`;
}

export function macs(n: number): string {
  if (n >= 1e9) return `${(n / 1e9).toFixed(2)} GMAC`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} MMAC`;
  return n >= 1e4 ? `${(n / 1e3).toFixed(1)} kMAC` : `${count(n)} MAC`;
}

const trim = (x: number) => String(Number(x.toFixed(1)));

/** Times as the numbers of a table, in the unit that is chosen: whole cycles, or microseconds. */
export function timeNumbers(clockHz: number, unit: "cycles" | "time"): { unit: string; of(cycles: number): number } {
  return unit === "time" ? { unit: "µs", of: (cycles) => Number(((cycles / clockHz) * 1e6).toPrecision(9)) } : { unit: "cycles", of: (cycles) => cycles };
}

/** A share as the number of a table's column, whose title has the "%". */
export const percentNumber = (share: number | null | undefined): number | "" => (share == null || !Number.isFinite(share) ? "" : Number((100 * share).toPrecision(6)));

/** A length of time: the unit that is chosen first, the other behind it. */
export function durationText(cycles: number, clockHz: number, unit: "cycles" | "time"): string {
  const time = seconds(cycles / clockHz);
  return unit === "time" ? `${time} (${count(cycles)} cycles)` : `${count(cycles)} cycles (${time})`;
}
