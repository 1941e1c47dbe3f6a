import { describe, expect, it } from "vitest";
import { rowsInPage } from "../../src/ui/base_view";

describe("the rows of a table that the page holds", () => {
  const rows = Array.from({ length: 10 }, (_, n) => [n]);
  it("are all where they fit", () => {
    expect(rowsInPage({ rows, before: { from: 2, to: 5 } }, 10)).toEqual({ shown: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], note: "" });
  });
  it("begin with the first where nothing lies before what is in sight", () => {
    expect(rowsInPage({ rows }, 3)).toEqual({ shown: [0, 1, 2], note: " Shown are rows 1 to 3 of 10; CSV has them all." });
  });
  it("leave out what lies before", () => {
    expect(rowsInPage({ rows, before: { from: 0, to: 5 } }, 3)).toEqual({ shown: [5, 6, 7], note: " Shown are rows 6 to 8 of 10; CSV has them all." });
    expect(rowsInPage({ rows, before: { from: 1, to: 5 } }, 3)).toEqual({ shown: [0, 5, 6], note: " Shown are rows 1 to 1 and 6 to 7 of 10; CSV has them all." });
  });
  it("fill the page at the end", () => {
    expect(rowsInPage({ rows, before: { from: 0, to: 9 } }, 4).shown).toEqual([6, 7, 8, 9]);
    expect(rowsInPage({ rows, before: { from: 5, to: 9 } }, 4).shown).toEqual([0, 1, 2, 3]);
  });
});
