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

/** Marks where `wanted`, in lower case, occurs in the line; the cut, where that is behind it. */
export function paintMatches(p: Painter, x: number, top: number, height: number, line: string, lowered: string, wanted: string, width: number): void {
  if (!wanted || lowered.length !== line.length) return;
  const colour = p.theme.dark ? MARK.dark : MARK.light;
  for (let at = lowered.indexOf(wanted); at >= 0; at = lowered.indexOf(wanted, at + wanted.length)) {
    const from = codeWidth(line.slice(0, at));
    const one = characterWidth();
    if (from >= width - one) {
      p.rect(x + width - one, top, one, height, colour);
      return;
    }
    p.rect(x + from, top, Math.min(width - from, codeWidth(line.slice(at, at + wanted.length))), height, colour);
  }
}
