import { describe, expect, it } from "vitest";
import { lockWaits, search } from "../../src/ui/search";
import { runOf } from "./sample";

describe("search", () => {
  const slices = [{ start: 30, end: 40, lock: 0 }, { start: 50, end: 60, lock: 1 }, { start: 90, end: 95, lock: 2 }, { start: 100, end: 110, lock: 0 }];
  const each = (value: number) => [0, 0, 0, 0].map(() => value);
  const locks = { tileKinds: ["ddr", "memtile", "core"], tileKind: [2, 2, 1, 2], row: [0, 0, 0, 1], column: [0, 1, 0, 0], index: [3, 3, 3, 4], initial: each(0), producer: each(0), consumer: each(0) };
  const run = runOf([{ slices }], [0], [0], { locks });
  const found = (query: string) => search(run, query, 9).map(({ text }) => text);

  it("sums up what was waited for each lock", () => {
    expect([...lockWaits(run)]).toEqual([35, 10, 30, 0]);
  });
  it("finds locks by number, the longest waits first", () => {
    expect(found("lock 3")).toEqual(["lock 3 of core 0,0", "lock 3 of memtile 0", "lock 3 of core 0,1"]);
    expect(found("l3")).toEqual(found("lock 3"));
    expect(search(run, "lock 3", 9)[1]?.note).toBe("waited for 30 cycles");
    expect(search(run, "lock", 2)).toHaveLength(2);
  });
  it("puts the lock that is named in full first", () => {
    expect(found("lock 3 of core 0,1")[0]).toBe("lock 3 of core 0,1");
    expect(found("Lock 4 of core 1,0")).toEqual(["lock 4 of core 1,0"]);
    expect(found("lock 3 of memtile 0")).toEqual(["lock 3 of memtile 0"]);
  });
  it("finds nothing for nothing", () => {
    expect(found("  ")).toEqual([]);
    expect(found("lock 77")).toEqual([]);
  });
});
