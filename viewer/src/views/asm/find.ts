// What a query means: text, /a regular expression/, or a line by its number.
import type { Run } from "../../run/run";
import { loweredOf } from "./listing";

export interface Found {
  /** Lines that were found, in order. */
  lines: number[];
  /** Line to go to, from 0; -1 where text is looked for. */
  goTo: number;
  /** Places of what was found within a line. */
  placesIn(line: number): [number, number][];
  /** Why nothing, or not all, was looked for. */
  problem: string;
}

const MOST_PLACES = 100;
const LONGEST = 400; // milliseconds: some expressions never end

const NOTHING: Found = { lines: [], goTo: -1, placesIn: () => [], problem: "" };

export function find(run: Run, query: string): Found {
  if (!query) return NOTHING;
  const number = /^:?\s*(\d[\d,]*)$/.exec(query.trim());
  if (number) return toLine(run, Number((number[1] as string).replace(/,/g, "")));
  const expression = /^\/(.*?)\/?$/.exec(query);
  return expression ? withExpression(run, expression[1] as string) : withText(run, query.toLowerCase());
}

function toLine(run: Run, number: number): Found {
  const { length } = run.asm;
  if (number < 1 || number > length) return { ...NOTHING, problem: `there are lines 1 to ${length.toLocaleString("en")}` };
  return { ...NOTHING, goTo: number - 1 };
}

function withText(run: Run, wanted: string): Found {
  const lowered = loweredOf(run);
  const lines: number[] = [];
  lowered.forEach((text, line) => { if (text.includes(wanted)) lines.push(line); });
  const placesIn = (line: number) => {
    const text = lowered[line] ?? "";
    const places: [number, number][] = [];
    if (text.length !== run.asm[line]?.length) return places; // some letters are two in lower case
    for (let at = text.indexOf(wanted); at >= 0 && places.length < MOST_PLACES; at = text.indexOf(wanted, at + wanted.length)) places.push([at, at + wanted.length]);
    return places;
  };
  return { ...NOTHING, lines, placesIn };
}

function withExpression(run: Run, source: string): Found {
  if (!source) return NOTHING;
  let expression: RegExp;
  try {
    expression = new RegExp(source, "gi");
  } catch (error) {
    return { ...NOTHING, problem: `no regular expression: ${reasonOf(error)}` };
  }
  const test = new RegExp(source, "i");
  const lines: number[] = [];
  const until = performance.now() + LONGEST;
  let problem = "";
  for (let line = 0; line < run.asm.length; line++) {
    if (test.test(run.asm[line] as string)) lines.push(line);
    if (line % 256 !== 255 || performance.now() < until) continue;
    problem = `slow expression: looked no further than line ${(line + 1).toLocaleString("en")}`;
    break;
  }
  const placesIn = (line: number) => {
    const places: [number, number][] = [];
    for (const { 0: text, index } of (run.asm[line] ?? "").matchAll(expression)) {
      if (text) places.push([index, index + text.length]);
      if (places.length >= MOST_PLACES) break;
    }
    return places;
  };
  return { lines, goTo: -1, placesIn, problem };
}

/** "Invalid regular expression: /a(/i: Unterminated group" -> "Unterminated group"; other browsers say it shorter. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^.*\/[a-z]*:\s*/, "");
}

/** Place in `sorted` of the next entry above (by = 1) or below (by = -1) `from`, round at the ends; -1 if there is none. */
export function nextIn(sorted: readonly number[], from: number, by: 1 | -1): number {
  const n = sorted.length;
  if (!n) return -1;
  if (by > 0) {
    const at = sorted.findIndex((line) => line > from);
    return at < 0 ? 0 : at;
  }
  for (let at = n - 1; at >= 0; at--) if ((sorted[at] as number) < from) return at;
  return n - 1;
}
