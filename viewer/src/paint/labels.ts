// Names where there is little room. Those of neighbours begin alike ("s2b1_proj", "s2b1_add"): a name that is cut loses its
// beginning, and what would hardly be told by its rest is not shown at all.
import { type TextStyle, textWidth } from "./painter";

export type Measure = (text: string, style: TextStyle) => number;

const LEAST_SHARE = 0.6; // of the characters
const LEAST = 5;
const ENOUGH = 12; // characters say enough of any name

/** The name, "…" and most of its end, or "". */
export function fitName(name: string, width: number, style: TextStyle = {}, measure: Measure = textWidth): string {
  if (width < 8) return "";
  if (measure(name, style) <= width) return name;
  const signs = [...name];
  let low = 0;
  let high = Math.min(signs.length - 1, 200);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(`…${signs.slice(-middle).join("")}`, style) <= width) low = middle;
    else high = middle - 1;
  }
  return low >= Math.min(ENOUGH, Math.max(LEAST, LEAST_SHARE * signs.length)) ? `…${signs.slice(-low).join("")}` : "";
}

/** The first of the wordings that fits whole, or "". */
export const firstThatFits = (wordings: readonly string[], width: number, style: TextStyle = {}, measure: Measure = textWidth): string =>
  wordings.find((text) => measure(text, style) <= width) ?? "";
