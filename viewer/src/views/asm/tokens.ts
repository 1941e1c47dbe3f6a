// A line of program.asm in parts that have a colour each; docs/asm.md has the grammar.
export type TokenKind = "plain" | "comment" | "head" | "keyword" | "mnemonic" | "lock" | "tensor" | "address" | "number" | "string";

export interface Token {
  kind: TokenKind;
  text: string;
}

// In order: string, comment, address, tensor, lock, number, word.
const PART = /("(?:\\.|[^"\\])*"?)|(#.*)|(@?0x[0-9a-fA-F]+|@)|(%\d+)|(\bL\d+\b|\bL(?=\())|(\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|([A-Za-z_][\w-]*)/g;
const GROUPS: TokenKind[] = ["string", "comment", "address", "tensor", "lock", "number"];
const KEYWORDS = new Set([
  "model", "device", "weights", "ddr", "input", "output", "tensor", "slice", "layer", "kernel", "move", "buffer", "lock", "loop", "acquire", "release", "record", "kept", "padding", "holds", "ring", "out", "in", "sum", "init", "add",
]);

const kindOfWord = (word: string): TokenKind => (/^[A-Z][A-Z0-9]{2,}$/.test(word) ? "mnemonic" : KEYWORDS.has(word) ? "keyword" : "plain");

export function tokensOf(line: string): Token[] {
  if (line.startsWith("on ")) return [{ kind: "head", text: line }];
  const tokens: Token[] = [];
  const put = (kind: TokenKind, text: string) => {
    const last = tokens[tokens.length - 1];
    if (last?.kind === kind) last.text += text;
    else if (text) tokens.push({ kind, text });
  };
  let done = 0;
  for (const match of line.matchAll(PART)) {
    put("plain", line.slice(done, match.index));
    const group = GROUPS.findIndex((_, k) => match[k + 1] !== undefined);
    put(group >= 0 ? (GROUPS[group] as TokenKind) : kindOfWord(match[0]), match[0]);
    done = match.index + match[0].length;
  }
  put("plain", line.slice(done));
  return tokens;
}
