import { describe, expect, it } from "vitest";
import { boundsOf, largest } from "../../src/sweep/bounds";
import { type ColumnJson, refusal, type SweepJson } from "../../src/sweep/document";
import { hardwareOf, slowerWithMore } from "../../src/sweep/dominance";
import { cellValue, figure, placeName, titleOf, wantsMore } from "../../src/sweep/figures";
import { filterOfRange, filterOfWords, inOrder, isUnderstood, visible, wordsOf } from "../../src/sweep/filter";
import { gridOf } from "../../src/sweep/grid";
import { independents } from "../../src/sweep/independent";
import { front } from "../../src/sweep/pareto";
import { acrossOf, MESH, seriesOf } from "../../src/sweep/series";
import { type NumberColumn, Sweep } from "../../src/sweep/sweep";
import { sensitivities } from "../../src/sweep/tornado";
import { hashOf, parseHash, type State } from "../../src/sweep_page/state";
import { addressOf, folderOf } from "../../src/sweep_page/timeline_of";
import { densityOf } from "../../src/sweep_views/density";
import { LARGE, sampleOf } from "./sweep_sample";

type Values = (number | string | null)[];

/** A sweep from columns: "key model" is a text where its values are texts. */
function sweepOf(columns: Record<string, Values>): Sweep {
  const points = Object.values(columns)[0]?.length ?? 0;
  const about = Object.entries(columns).map(([title, values]): ColumnJson => {
    const [role = "key", name = "", unit = ""] = title.split(" ");
    return { name, unit, role: role as ColumnJson["role"], kind: values.some((value) => typeof value === "string") ? "text" : "number", help: "" };
  });
  const json: SweepJson = { format: "heddle.sweep/1", heddle: "1", title: "t", columns: about, points, data: Object.fromEntries(about.map(({ name }, k) => [name, Object.values(columns)[k] as Values])) };
  expect(refusal(json)).toBeNull();
  return new Sweep(json);
}

const all = (sweep: Sweep) => Array.from({ length: sweep.points }, (_, point) => point);
const numbers = (sweep: Sweep, name: string) => sweep.numbers(name) as NumberColumn;

describe("the document", () => {
  it("is refused with a sentence where it is another one, a newer one or uneven", () => {
    expect(refusal(null)).toMatch(/missing/);
    expect(refusal({ format: "heddle.timeline/1" })).toMatch(/should be heddle.sweep\/1, but is "heddle.timeline\/1"/);
    expect(refusal({ format: "heddle.sweep/2" })).toMatch(/reads heddle.sweep\/1/);
    const json = sampleOf({ networks: 1, rows: 1, cols: 1 });
    expect(refusal(json)).toBeNull();
    expect(refusal({ ...json, data: { ...json.data, ms: [1] } })).toBe("The column ms has 1 entries for 2 points.");
    expect(refusal({ ...json, data: {} })).toMatch(/no entries/);
  });
  it("tells figures that are missing from zeros and empty texts", () => {
    const sweep = sweepOf({ "result ms ms": [0, null, 2], "result reason": ["", null, "x"] });
    expect(all(sweep).map((point) => cellValue(numbers(sweep, "ms"), point))).toEqual([0, "", 2]);
    expect(sweep.texts("reason")?.distinct).toBe(2);
    expect(numbers(sweep, "ms").steps).toEqual([0, 2]);
  });
  it("orders texts by the numbers in them", () => {
    expect(sweepOf({ "key model": ["net10", "net9", "net1"] }).texts("model")?.words).toEqual(["net1", "net9", "net10"]);
  });
  it("names points by their hash, or by their number", () => {
    const named = sweepOf({ "key point": ["aa", "bb"] });
    expect([named.pointOf("bb"), named.pointOf("cc"), named.nameOf(1)]).toEqual([1, -1, "bb"]);
    const plain = sweepOf({ "key rows": [1, 2] });
    expect([plain.pointOf("1"), plain.pointOf("2"), plain.pointOf("x")]).toEqual([1, -1, -1]);
  });
});

describe("filters", () => {
  const sweep = sweepOf({ "key model": ["resnet50", "resnet50v2", "yolo", "a, b", null], "result ms ms": [1, 2.5, 3, null, -4] });
  const passes = (filters: Record<string, string>) => [...visible(sweep, filters).points];
  it.each([
    ["2..3", [1, 2]], ["2..", [1, 2]], ["..2.5", [0, 1, 4]], ["3", [2]], ["1, 3", [0, 2]], ["-5..0", [4]], ["", [0, 1, 2, 3, 4]], [" 1 .. 2.5 ", [0, 1]], ["1e0..2.6e0", [0, 1]], ["..", [0, 1, 2, 4]],
  ])("of numbers: %j", (text, points) => expect(passes({ ms: text })).toEqual(points));
  it.each([
    ["resnet50", [0]], ["resnet", [0, 1]], ["RESNET50v", [1]], ["yolo, resnet50", [0, 2]], ['"a, b"', [3]], ['""', [4]], ['"resnet"', []], ["nothing", []],
  ])("of texts: %j", (text, points) => expect(passes({ model: text })).toEqual(points));
  it("hold together", () => expect(passes({ model: "resnet", ms: "2.." })).toEqual([1]));
  it("say where they are no range, and let all through then", () => {
    const ms = numbers(sweep, "ms");
    for (const bad of ["x", "1..2..3", "1;2", "3.."+"a"]) {
      expect(isUnderstood(ms, bad), bad).toBe(false);
      expect(passes({ ms: bad }), bad).toHaveLength(5);
    }
    expect(isUnderstood(ms, "1..2")).toBe(true);
    expect(passes({ nowhere: "1" })).toHaveLength(5);
  });
  it("are written so that they let through what was chosen", () => {
    const words = ["a, b", "yolo", 'with "quotes"', "", " x"];
    expect(wordsOf(filterOfWords(words)).map(({ word }) => word)).toEqual(words);
    expect(passes({ model: filterOfWords(["a, b", "yolo"]) })).toEqual([2, 3]);
    expect(filterOfRange(-Infinity, 3)).toBe("..3");
  });
  it("leave an order in which what is missing comes last, both ways", () => {
    const points = all(sweep);
    expect(inOrder(sweep, points, "ms")).toEqual([4, 0, 1, 2, 3]);
    expect(inOrder(sweep, points, "-ms")).toEqual([2, 1, 0, 4, 3]);
    expect(inOrder(sweep, points, "model")).toEqual([3, 0, 1, 2, 4]);
    expect(inOrder(sweep, points, "")).toEqual(points);
  });
});

describe("the front", () => {
  const x = [1, 2, 2, 3, 4, 4, NaN, 1];
  const y = [9, 5, 6, 5, 2, 3, 0, 9];
  const points = x.map((_, k) => k);
  it("holds what none beats in both, twins too", () => expect(front(points, { values: x, more: false }, { values: y, more: false })).toEqual([0, 7, 1, 4]));
  it("turns with what is wanted", () => {
    expect(front(points, { values: x, more: true }, { values: y, more: false })).toEqual([4]);
    expect(front(points, { values: x, more: true }, { values: y, more: true })).toEqual([5, 3, 2, 0, 7]);
  });
  it("is that of a search through all pairs", () => {
    const sweep = new Sweep(sampleOf({ networks: 2, rows: 5, cols: 5 }));
    const [cores, ms] = [numbers(sweep, "cores").values, numbers(sweep, "ms").values];
    const beats = (a: number, b: number) => (cores[a]! <= cores[b]! && ms[a]! < ms[b]!) || (cores[a]! < cores[b]! && ms[a]! <= ms[b]!);
    const slow = all(sweep).filter((point) => !Number.isNaN(ms[point]) && !all(sweep).some((other) => beats(other, point)));
    expect(front(all(sweep), { values: cores, more: false }, { values: ms, more: false }).sort((a, b) => a - b)).toEqual(slow);
    expect(slow.length).toBeGreaterThan(3);
  });
});

describe("the keys that were varied", () => {
  const keysOf = (sweep: Sweep) => independents(sweep).map(({ column, twins }) => [column.name, ...twins.map(({ name }) => name)]);
  it("leave out what follows from others", () => {
    const sweep = new Sweep(sampleOf());
    // As many memtiles as columns, and a rate in two columns: they vary with the one that was set.
    expect(keysOf(sweep)).toEqual([["model"], ["rows"], ["cols", "memtiles"], ["links.ddr.read", "ddrReadGBps"]]);
  });
  it("hold a mesh whose sides go together as one key", () => {
    const sweep = sweepOf({ "key rows": [1, 2, 3], "key cols": [1, 2, 3], "key cores": [1, 4, 9] });
    expect(keysOf(sweep)).toEqual([["rows", "cols"]]);
  });
  it("find one that no list names", () => {
    const sweep = sweepOf({ "key rows": [1, 2, 1, 2], "key masks": ["none", "none", "half", "half"] });
    expect(keysOf(sweep)).toEqual([["rows"], ["masks"]]);
  });
});

describe("one at a time", () => {
  const sweep = sweepOf({ "key model": ["a", "a", "a", "a", "a", "b"], "key rows": [1, 2, 4, 1, 2, 1], "vary rate GB/s": [1, 1, 1, 2, 2, 1], "result ms ms": [10, 6, 5, 9, null, 3] });
  const of = (chosen: number) => sensitivities(independents(sweep), all(sweep), chosen, numbers(sweep, "ms")).map(({ key, others, least, most }) => [key.column.name, others, least, most]);
  it("takes the points that differ in one key, the network held", () => {
    expect(of(0)).toEqual([["rows", [1, 2], 5, 10], ["rate", [3], 9, 10]]);
    expect(of(2)).toEqual([["rows", [0, 1], 5, 10]]);
  });
  it("is empty around a point without the figure", () => expect(of(4)).toEqual([]));
  it("keeps to the points that are shown", () => expect(sensitivities(independents(sweep), [0, 3], 0, numbers(sweep, "ms")).map(({ others }) => others)).toEqual([[3]]));
});

describe("more hardware that is slower", () => {
  const slower = (sweep: Sweep) => slowerWithMore(sweep, all(sweep), numbers(sweep, "ms")).map(({ point, than, share }) => [point, than, Number(share.toFixed(3))]);
  it("lists each point with the fastest that has no more of anything", () => {
    expect(slower(sweepOf({ "key rows": [1, 2, 3, 1], "key cols": [1, 1, 1, 9], "result ms ms": [10, 8, 9, 7] }))).toEqual([[2, 1, 0.125]]);
  });
  it("lets 1 % pass, and points without a figure", () => {
    expect(slower(sweepOf({ "key rows": [1, 2, 3, 4], "result ms ms": [100, 100.9, 102, null] }))).toEqual([[2, 0, 0.02]]);
  });
  it("compares only points whose texts are equal", () => {
    expect(slower(sweepOf({ "key model": ["a", "b"], "key rows": [1, 2], "result ms ms": [1, 5] }))).toEqual([]);
  });
  it("does not take a setting of the compiler for hardware", () => {
    expect(slower(sweepOf({ "key rows": [1, 2], "key proved": [0, 1], "result ms ms": [5, 6] }))).toEqual([]);
    expect(slower(sweepOf({ "key rows": [1, 2], "key batch": [4, 1], "result ms ms": [5, 6] }))).toEqual([]);
    expect(slower(sweepOf({ "key rows": [1, 2, 1], "key proved": [1, 1, 0], "result ms ms": [5, 6, 4] }))).toEqual([[1, 0, 0.2]]);
  });
  it("takes a shorter latency for more hardware", () => {
    expect(slower(sweepOf({ "vary latency cycles": [100, 50], "result ms ms": [5, 6] }))).toEqual([[1, 0, 0.2]]);
    expect(slower(sweepOf({ "vary latency cycles": [50, 100], "result ms ms": [5, 6] }))).toEqual([]);
  });
  it("says nothing of points that are alike in all keys", () => expect(slower(sweepOf({ "key rows": [2, 2], "key cols": [1, 1], "result ms ms": [5, 6] }))).toEqual([]));
  const grid = new Sweep(sampleOf({ networks: 2, rows: 5, cols: 5 }));
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const column = (of: () => number) => Array.from({ length: 300 }, of);
  // So many different values that no grid holds them.
  const samples = sweepOf({ "key model": column(random).map((x) => (x < 0.5 ? "a" : "b")), "vary a GB/s": column(random), "vary b cycles": column(random), "vary c KiB": column(random), "result ms ms": column(random) });
  it.each([["a grid", grid], ["samples", samples]] as const)("is what a search through all pairs finds: %s", (_, sweep) => {
    const ms = numbers(sweep, "ms").values;
    const keys = hardwareOf(sweep).map(({ values, unit }) => values.map((value) => (unit === "cycles" ? -value : value)));
    const model = sweep.texts("model")!.codes;
    const slow = all(sweep).flatMap((point) => {
      const than = all(sweep).filter((other) => model[other] === model[point] && ms[point]! > 1.01 * ms[other]! && keys.every((key) => key[other]! <= key[point]!) && keys.some((key) => key[other]! < key[point]!));
      than.sort((a, b) => ms[a]! - ms[b]! || a - b);
      return than.length ? [[point, than[0]]] : [];
    });
    expect(slower(sweep).map(([point, than]) => [point, than]).sort((a, b) => a[0]! - b[0]!)).toEqual(slow);
    expect(slow.length).toBeGreaterThan(10);
  });
});

describe("the map", () => {
  const sweep = sweepOf({ "key rows": [1, 1, 2, 2, 1], "key cols": [1, 2, 1, 2, 1], "result ms ms": [8, 4, 5, null, 6] });
  const rows = sweep.column("rows")!;
  const cols = sweep.column("cols")!;
  it("shows the best point of each cell, and cells that have no figure", () => {
    const grid = gridOf(all(sweep), rows, cols, numbers(sweep, "ms"), false);
    expect(grid.cells).toEqual([{ points: [0, 4], best: 4 }, { points: [1], best: 1 }, { points: [2], best: 2 }, { points: [3], best: 3 }]);
    expect([grid.least, grid.most]).toEqual([4, 6]);
    expect(gridOf(all(sweep), rows, cols, numbers(sweep, "ms"), true).cells[0]?.best).toBe(0);
  });
  it("keeps a cell empty that no shown point fills", () => {
    expect(gridOf([0, 3], rows, cols, numbers(sweep, "ms"), false).cells.map(({ best }) => best)).toEqual([0, -1, -1, 3]);
  });
});

describe("the lines of the chart", () => {
  it("go through the best point of each mesh, the fewest cores first", () => {
    const sweep = sweepOf({ "key model": ["b", "a", "a", "a", "a"], "key rows": [1, 4, 2, 1, 2], "key cols": [1, 1, 1, 3, 1], "result ms ms": [1, 2, 9, 4, 7] });
    const mesh = acrossOf(sweep, MESH)!;
    expect(mesh.places).toEqual(["1x1", "2x1", "1x3", "4x1"]);
    const series = seriesOf(all(sweep), mesh, numbers(sweep, "ms"), false, sweep.column("model")!);
    expect(series.map(({ at, best, points }) => [at, best, points])).toEqual([[[1, 2, 3], [4, 3, 1], [1, 2, 3, 4]], [[0], [0], [0]]]);
    expect(acrossOf(sweep, "rows")?.places).toBeNull();
    expect(acrossOf(sweep, "nowhere")).toBeNull();
  });
});

describe("lines between two axes", () => {
  it("are drawn once for all points that take them, and count", () => {
    const density = densityOf([0, 0, 4, NaN], [0, 0, 4, 2], [0, 1, 2, 3], 3, 5);
    expect([...density.slice(0, 3)]).toEqual([2, 2, 2]);
    expect([...density.slice(12)]).toEqual([1, 1, 1]);
    expect(density.reduce((a, b) => a + b, 0)).toBe(9);
  });
  it("stay whole where they are steep", () => {
    const density = densityOf([0], [9], [0], 2, 10);
    for (let y = 0; y < 10; y++) expect(density[2 * y]! + density[2 * y + 1]!, String(y)).toBeGreaterThan(0);
  });
});

describe("figures", () => {
  it("are read with 5 digits, whole ones in full", () => {
    expect([1234567, 0.000123456, 2.5, NaN, 12345678.9, -3.14159265].map(figure)).toEqual(["1,234,567", "0.00012346", "2.5", "–", "12,345,679", "-3.1416"]);
  });
  it("name a place by its masks and effort where these differ", () => {
    const one = sweepOf({ "key model": ["n", "n"], "key rows": [2, 2], "key cols": [3, 3], "key masks": ["none", "half"], "key effort": [1, 1] });
    expect([placeName(one, 0), placeName(one, 1)]).toEqual(["2x3, masks none", "2x3, masks half"]);
  });
  it("want more to be left of a requirement", () => expect(wantsMore({ name: "slack(ms <= 2)", unit: "" })).toBe(true));
  it("say their unit once, and which way is better", () => {
    expect(titleOf({ name: "floorMs", unit: "ms" })).toBe("floorMs");
    expect(titleOf({ name: "wireGBps", unit: "GB/s" })).toBe("wireGBps");
    expect(titleOf({ name: "links.wire", unit: "GB/s" })).toBe("links.wire (GB/s)");
    expect([wantsMore({ name: "ips", unit: "1/s" }), wantsMore({ name: "efficiency", unit: "" }), wantsMore({ name: "ms", unit: "ms" })]).toEqual([true, true, false]);
  });
  it("name a point by what tells it apart", () => {
    expect(placeName(new Sweep(sampleOf()), 1)).toBe("1x1, ddr.read 4 GB/s");
  });
  it("find what limits a point", () => {
    const sweep = sweepOf({ "result boundCompute": [0.2, 0, null], "result boundDdrRead": [0.7, 0, null] });
    expect(all(sweep).map((point) => largest(boundsOf(sweep), point)?.name ?? null)).toEqual(["DDR read", null, null]);
  });
});

describe("the address of a sweep", () => {
  const sweep = new Sweep(sampleOf());
  const state: State = { view: "heat", lower: "", selection: 3, held: 5, filters: { "links.ddr.read": "2..4", model: 'a & b="c"' }, sort: "-ms", options: { "heat.figure": "ips" } };
  it("brings back every state", () => expect(parseHash(sweep, hashOf(sweep, state))).toEqual(state));
  it("falls back on the defaults where it cannot be read", () => {
    for (const hash of ["", "#", "#view=nonsense&lower=&point=zz&sort=nothing&f.nothing=3", "#%%%"])
      expect(parseHash(sweep, hash)).toEqual({ view: "chart", lower: "points", selection: -1, held: -1, filters: {}, sort: "", options: {} });
    expect(parseHash(sweep, "#view=heat&lower=heat").lower).toBe("");
  });
});

describe("a large sweep", () => {
  it("has 5 networks of 4096 points", { timeout: 60000 }, () => expect(sampleOf(LARGE).points).toBe(20480));
});

describe("the way to a timeline", () => {
  it("names the folder of the page as a shell takes it", () => {
    expect(folderOf("file:///data/out/study/sweep.html#view=heat")).toBe("/data/out/study");
    expect(folderOf("file:///data/it%27s%20mine/sweep.html")).toBe("'/data/it'\\''s mine'");
    expect(folderOf("file:///data/$(x)/sweep.html")).toBe("'/data/$(x)'");
    expect(folderOf("file:///sweep.html")).toBe("/");
    expect(folderOf("https://example.org/sweep.html")).toBe("DIR");
  });
  it("takes nothing in a folder's name for part of an address", () => {
    expect(addressOf("../a b/timelines/3f/timeline.html")).toBe("../a%20b/timelines/3f/timeline.html");
    expect(addressOf("javascript:alert(1)/timeline.html")).toBe("javascript%3Aalert(1)/timeline.html");
    expect(addressOf("a?b#c/t.html")).toBe("a%3Fb%23c/t.html");
  });
});
