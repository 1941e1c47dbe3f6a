// Many straight lines between two axes as a picture: how many pass each pixel. Lines that start and end on the same pixels are drawn once.

/** Counts for width x height pixels, row after row; line i goes from (0, from[i]) to (width - 1, to[i]). NaN lines are left out. */
export function densityOf(from: ArrayLike<number>, to: ArrayLike<number>, lines: readonly number[], width: number, height: number): Float32Array {
  const out = new Float32Array(width * height);
  const weights = new Int32Array(height * height);
  for (const line of lines) {
    const a = Math.round(from[line] as number);
    const b = Math.round(to[line] as number);
    // Comparisons with NaN are false.
    if (a >= 0 && b >= 0 && a < height && b < height) weights[a * height + b] = (weights[a * height + b] as number) + 1;
  }
  for (let a = 0; a < height; a++)
    for (let b = 0; b < height; b++) {
      const weight = weights[a * height + b] as number;
      if (weight) drawLine(out, a, b, weight, width, height);
    }
  return out;
}

function drawLine(out: Float32Array, a: number, b: number, weight: number, width: number, height: number): void {
  const slope = (b - a) / Math.max(1, width - 1);
  // Steep lines take several pixels of a column, so that they stay whole.
  const half = Math.abs(slope) / 2;
  for (let x = 0; x < width; x++) {
    const middle = a + slope * x + 0.5;
    const top = Math.max(0, Math.floor(middle - half));
    const bottom = Math.min(height - 1, Math.floor(middle + half));
    const share = weight / (bottom - top + 1);
    for (let y = top, at = top * width + x; y <= bottom; y++, at += width) out[at] = (out[at] as number) + share;
  }
}
