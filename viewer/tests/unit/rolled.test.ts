import { describe, expect, it } from "vitest";
import type { RolledJson } from "../../src/run/format";
import { Rolled, unrolled, unrolledWide } from "../../src/run/rolled";

// The slow way: everything written out.
function writtenOut(items: RolledJson, first = 0): number[] {
  return items.slice(first).flatMap((item) => {
    if (typeof item === "number") return [item];
    return Array.from({ length: item[0] as number }, () => writtenOut(item, 1)).flat();
  });
}

let seed = 7;
const random = (n: number) => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed % n;
};
function randomRolled(depth: number): RolledJson {
  return Array.from({ length: 1 + random(4) }, () => (depth > 0 && random(2) ? [1 + random(5), ...randomRolled(depth - 1)] : random(100) - 50));
}

describe("Rolled", () => {
  it("unrolls the example of the manual", () => {
    expect([...unrolled([3, [3, 1, 2], 9])]).toEqual([3, 1, 2, 1, 2, 1, 2, 9]);
  });

  it("reads any stretch of any nesting as if it were written out", () => {
    for (let n = 0; n < 200; n++) {
      const json = randomRolled(3);
      const all = writtenOut(json);
      const rolled = new Rolled(json);
      expect(rolled.length).toBe(all.length);
      for (let k = 0; k < 20; k++) {
        const from = random(all.length + 1);
        const count = random(all.length - from + 1);
        expect([...rolled.read(from, count, new Int32Array(count))]).toEqual(all.slice(from, from + count));
      }
    }
  });

  it("keeps numbers above 32 bits", () => {
    expect([...unrolledWide([2 ** 40, [2, 1, 2 ** 33]])]).toEqual([2 ** 40, 1, 2 ** 33, 1, 2 ** 33]);
  });

  it("does not unroll what nobody reads: a loop of 10^12 is free", () => {
    const rolled = new Rolled([[1e6, [1e6, 1, 2]], 5]);
    expect(rolled.length).toBe(2e12 + 1);
    expect([...rolled.read(2e12 - 1, 2, new Int32Array(2))]).toEqual([2, 5]);
  });

  it("says so where a column is too short or a loop has no count", () => {
    expect(() => new Rolled([1, 2]).read(1, 2, new Int32Array(2))).toThrow("shorter than its track");
    expect(() => new Rolled([[] as unknown as RolledJson])).toThrow("lacks its count");
  });
});
