// Numbers of program.asm: "0x1200 + (i0 mod 4)*576", "4 + 2*row - column". docs/asm.md has the grammar.

/** What the names in an expression stand for: row, column, i0 to i5. */
export type Values = Readonly<Record<string, number>>;

/** A number and where its text ends. */
export interface Evaluated {
  value: number;
  end: number;
}

const TOKEN = /\s*(0x[0-9a-f]+|\d+|[a-z]\w*|-(?!>)|[+*()])/iy; // "->" is no minus

/** The longest expression that begins at `from`; null where none does, or a name in it has no value. */
export function evaluate(text: string, from: number, values: Values): Evaluated | null {
  let end = from;
  const peek = (): string => {
    TOKEN.lastIndex = end;
    return TOKEN.exec(text)?.[1] ?? "";
  };
  const take = (token: string): boolean => {
    if (peek() !== token) return false;
    end = TOKEN.lastIndex;
    return true;
  };
  const factor = (): number => {
    if (take("-")) return -factor();
    if (take("(")) {
      const value = sum();
      return take(")") ? value : NaN;
    }
    const token = peek();
    if (/^\d/.test(token)) {
      end = TOKEN.lastIndex;
      return Number(token);
    }
    if (values[token] === undefined) return NaN;
    end = TOKEN.lastIndex;
    return values[token];
  };
  const product = (): number => {
    let value = factor();
    for (;;) {
      if (take("*")) value *= factor();
      else if (take("mod")) value %= factor();
      else return value;
    }
  };
  const sum = (): number => {
    let value = product();
    for (;;) {
      if (take("+")) value += product();
      else if (take("-")) value -= product();
      else return value;
    }
  };
  const value = sum();
  return Number.isFinite(value) ? { value, end } : null;
}
