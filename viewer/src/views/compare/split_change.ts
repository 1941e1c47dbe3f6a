// How a layer is split in both runs, in few words: what is the same stands once.
//
//   W/4 x C/4, 16 passes, reduction cut in 4  and  W/7 x C/8, 16 passes      W/4→7 x C/4→8, 16 passes, reduction cut in 4 (A)

const NUMBER = /\d+/g;
const kindOf = (part: string): string => part.replace(NUMBER, "#").replace(/\bpass(es)?\b/, "pass");

/** Of one kind: the numbers that differ with an arrow between them. */
function merged(a: string, b: string): string {
  const after = b.match(NUMBER) ?? [];
  let k = 0;
  // The longer one has the plural.
  return (a.length >= b.length ? a : a.replace(/\bpass\b/, "passes")).replace(NUMBER, (before) => {
    const now = after[k++];
    return now === undefined || now === before ? before : `${before}→${now}`;
  });
}

export function splitChange(a: string, b: string): string {
  if (a === b) return a;
  const [inA, inB] = [a.split(", "), b.split(", ")];
  const left = new Set(inB);
  const parts = inA.map((part) => {
    const twin = [...left].find((other) => kindOf(other) === kindOf(part));
    if (twin === undefined) return `${part} (A)`;
    left.delete(twin);
    return merged(part, twin);
  });
  return [...parts, ...[...left].map((part) => `${part} (B)`)].join(", ");
}
