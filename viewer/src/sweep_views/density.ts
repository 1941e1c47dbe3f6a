// Many straight lines between two axes as a picture: how many pass each pixel. Lines that start and end on the same pixels are drawn once.

/** Counts for width x height pixels, row after row; line i goes from (0, from[i]) to (width - 1, to[i]). NaN lines are left out. */
export function densityOf(from: ArrayLike<number>, to: ArrayLike<number>, lines: readonly number[], width: number, height: number): Float32Array {
  const out = new Float32Array(width * height);
  const pairs = new Map<number, number>();
  for (const line of lines) {
    const [a, b] = [Math.round(from[line] as number), Math.round(to[line] as number)];
    if (Number.isNaN(a) || Number.isNaN(b) || a < 0 || b < 0 || a >= height || b >= height) continue;
    const pair = a * height + b;
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  for (const [pair, weight] of pairs) {
    const a = Math.floor(pair / height);
    const b = pair % height;
    const slope = (b - a) / Math.max(1, width - 1);
    // Steep lines take several pixels of a column, so that they stay whole.
    const thick = Math.abs(slope);
    for (let x = 0; x < width; x++) {
      const middle = a + slope * x;
      const top = Math.max(0, Math.round(middle - thick / 2));
      const bottom = Math.min(height - 1, Math.round(middle + thick / 2));
      const share = weight / Math.max(1, bottom - top + 1);
      for (let y = top; y <= bottom; y++) out[y * width + x] = (out[y * width + x] as number) + share;
    }
  }
  return out;
}
