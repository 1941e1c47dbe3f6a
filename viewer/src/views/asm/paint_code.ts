// One line of code on the canvas: coloured, cut at the right, with what was searched for marked.
import { type Painter, textWidth } from "../../paint/painter";
import type { Theme } from "../../paint/theme";
import { type TokenKind, tokensOf } from "./tokens";

export const CODE = { size: 11, mono: true } as const;

const LIGHT: Partial<Record<TokenKind, string>> = { mnemonic: "#8a3b00", lock: "#8b2f6d", address: "#0b61a4", tensor: "#5b3fa0", number: "#22664a", string: "#4d6410" };
const DARK: Partial<Record<TokenKind, string>> = { mnemonic: "#f0b072", lock: "#e39bc8", address: "#6db6f2", tensor: "#b9a7f2", number: "#97d1b5", string: "#bccf8f" };
const MARK = { light: "rgba(230,161,0,0.38)", dark: "rgba(230,161,0,0.30)" };

function colourOf(theme: Theme, kind: TokenKind): string {
  if (kind === "head") return theme.accent;
  if (kind === "comment" || kind === "keyword") return theme.faint;
  return (theme.dark ? DARK : LIGHT)[kind] ?? theme.text;
}

export const characterWidth = (): number => textWidth("0", CODE);

const isPlain = (text: string) => /^[\x20-\x7e]*$/.test(text);

/** In a fixed pitch only what is beyond ASCII has to be measured. */
export const codeWidth = (text: string): number => (isPlain(text) ? text.length * characterWidth() : textWidth(text, CODE));

/** Paints `line` with its middle at y, no wider than `width`. Says whether it was cut. */
export function paintCode(p: Painter, x: number, y: number, line: string, width: number): boolean {
  const cut = codeWidth(line) > width;
  const limit = x + width - (cut ? characterWidth() : 0);
  let at = x;
  for (const { kind, text } of tokensOf(line)) {
    const wide = codeWidth(text);
    const style = { ...CODE, colour: colourOf(p.theme, kind), bold: kind === "mnemonic" || kind === "head" };
    if (cut && at + wide > limit) {
      const room = Math.max(0, Math.floor((limit - at) / characterWidth()));
      if (isPlain(text)) p.text(at, y, `${text.slice(0, room)}…`, style);
      else p.text(at, y, text, { ...style, width: limit - at });
      return true;
    }
    if (text.trim()) p.text(at, y, text, style);
    at += wide;
  }
  return cut;
}

/** Where the characters from .. to of the line stand, cut at `width`; the cut itself, where they are behind it. */
export function placeOf(line: string, from: number, to: number, width: number): { x: number; width: number } {
  const one = characterWidth();
  const x = codeWidth(line.slice(0, from));
  if (x >= width - one) return { x: width - one, width: one };
  return { x, width: Math.min(width - x, codeWidth(line.slice(from, to))) };
}

/** Character of the line at x, or -1 behind its end. */
export function characterAt(line: string, x: number): number {
  if (x < 0) return -1;
  let at = Math.floor(x / characterWidth());
  if (!isPlain(line)) for (at = 0; at < line.length && codeWidth(line.slice(0, at + 1)) <= x; ) at++;
  return at < line.length ? at : -1;
}

/** Marks what was found. */
export function paintFound(p: Painter, x: number, top: number, height: number, line: string, places: readonly [number, number][], width: number): void {
  const colour = p.theme.dark ? MARK.dark : MARK.light;
  for (const [from, to] of places) {
    const at = placeOf(line, from, to, width);
    p.rect(x + at.x, top, at.width, height, colour);
  }
}
