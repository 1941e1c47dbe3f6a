// The page of a sweep as a user sees it: every view opens, filters hold everywhere, Back undoes, keys work, figures are the document's.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page as Tab } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../src/sweep_page/app";
import type { Page } from "../../src/sweep_page/page";
import { TITLES, VIEWS } from "../../src/sweep_page/state";
import type { SweepJson } from "../../src/sweep/document";
import { LARGE, sampleOf } from "../unit/sweep_sample";
import { writeSweep } from "./sweep_page";
import { addressed, close, coloursOf, open, settle, useBrowser } from "./tab";

const AXE = readFileSync(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const BUILT = process.env["HEDDLE_SWEEP_PAGE"] ?? "";
const folder = mkdtempSync(join(tmpdir(), "heddle-sweep-"));
const SMALL = join(folder, "small.html");
const sample = sampleOf();
const value = (name: string, point: number) => sample.data[name]?.[point] ?? null;
/** A point of the sample: network, rows, cols, DDR rate. */
const pointAt = (model: string, rows: number, cols: number, ddr: number) =>
  (sample.data["model"] ?? []).findIndex((name, k) => name === model && value("rows", k) === rows && value("cols", k) === cols && value("links.ddr.read", k) === ddr);

useBrowser();
beforeAll(() => writeSweep(BUILT, SMALL, JSON.stringify(sample)));
afterAll(() => rmSync(folder, { recursive: true }));

type Window2 = { heddle: App; heddlePage: Page };
const visible = (page: Tab) => page.evaluate(() => (window as unknown as Window2).heddle.visible.points.length);
const selection = (page: Tab) => page.evaluate(() => (window as unknown as Window2).heddle.selection);
const hashOf = (view: string, more = "") => `#view=${view}&lower=none${more}`;

describe("a sweep", () => {
  it("opens every view in both panes without a fault, and saves each", async () => {
    const { page, faults } = await open(SMALL, `#view=points&lower=chart&point=${value("point", 40)}&held=${value("point", 41)}`);
    for (const view of VIEWS) {
      await page.click(`#tab-lower-${view}`);
      await page.click(`#tab-upper-${view}`);
      await settle(page);
      const colours = await coloursOf(page, view);
      if (colours >= 0) expect(colours, view).toBeGreaterThan(3);
      else expect((await page.innerText(`#pane-upper .view-${view}`)).length, view).toBeGreaterThan(40);
      const { rows, columns, uneven } = await page.evaluate((id) => {
        const table = (window as unknown as Window2).heddlePage.viewOf(id).table();
        return { rows: table.rows.length, columns: table.columns.length, uneven: table.rows.filter((row) => row.length !== table.columns.length).length };
      }, view);
      expect([rows > 0, columns > 1, uneven], view).toEqual([true, true, 0]);
      await page.click(".pane-upper .menu:not(.columns-menu) summary");
      const [download] = await Promise.all([page.waitForEvent("download"), page.click('.pane-upper .menu-items button:has-text("SVG")')]);
      const svg = readFileSync(await download.path(), "utf8").replace(/href="data:[^"]*"/g, "");
      expect(svg.startsWith("<svg "), view).toBe(true);
      expect(svg.match(/<text /g)?.length ?? 0, view).toBeGreaterThan(3);
      expect(svg, view).not.toMatch(/NaN|undefined|Infinity/);
    }
    expect(faults).toEqual([]);
    await close(page);
  });

  it("gives the rows that are visible as CSV, with every column and figure of the document", async () => {
    const { page } = await open(SMALL, hashOf("points", "&f.model=resnet50&f.rows=2..3&sort=-ms"));
    await page.click(".pane-upper .menu:not(.columns-menu) summary");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click('.pane-upper .menu-items button:has-text("CSV")')]);
    const [head = "", ...rows] = readFileSync(await download.path(), "utf8").trimEnd().split("\r\n");
    expect(head.split(",")).toEqual(sample.columns.map(({ name }) => name));
    const points = (sample.data["model"] ?? []).flatMap((model, k) => (model === "resnet50" && [2, 3].includes(Number(value("rows", k))) ? [k] : []));
    const figures = rows.map((row) => row.split('"').filter((_, k) => k % 2 === 0).join("").split(",")); // reasons hold commas
    expect(figures.length).toBe(points.length);
    const ms = sample.columns.findIndex(({ name }) => name === "ms");
    const wanted = points.flatMap((k) => (value("ms", k) === null ? [] : [Number(value("ms", k))])).sort((a, b) => b - a);
    expect(figures.map((row) => row[ms]).filter((text) => text !== "").map(Number)).toEqual(wanted);
    await close(page);
  });

  it("is refused with a sentence where it is no sweep or a newer one, and shows hostile names as text", async () => {
    for (const [json, words] of [["{}", "not a sweep of heddle"], ['{"format":"heddle.sweep/2"}', "reads heddle.sweep/1"]] as const) {
      const file = join(folder, "bad.html");
      writeSweep(BUILT, file, json);
      const { page } = await open(file);
      expect(await page.innerText("#problem")).toContain(words);
      await close(page);
    }
    const evil = '<img src=x onerror="window.harmed=true"></script><script>window.harmed=true</script>';
    const hostile: SweepJson = { ...sample, title: evil, data: { ...sample.data, model: (sample.data["model"] ?? []).map(() => evil), reason: (sample.data["reason"] ?? []).map(() => evil) } };
    const file = join(folder, "hostile.html");
    writeSweep(BUILT, file, JSON.stringify(hostile));
    const { page, faults } = await open(file, "#view=points&lower=slower");
    await page.click(".view-points tbody tr.row");
    await settle(page);
    expect(await page.innerText("#details")).toContain("<img src=x");
    expect(await page.evaluate(() => window.harmed ?? false)).toBe(false);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("the panel of a point", () => {
  it("says what is left of each requirement, and how to come to its timeline", async () => {
    const kept = pointAt("mobilenetv2", 4, 4, 4);
    const missed = pointAt("inception", 1, 3, 2) >= 0 ? pointAt("inception", 1, 3, 2) : pointAt("resnet50", 1, 3, 2);
    const { page, faults } = await open(SMALL, hashOf("points", `&point=${value("point", kept)}`));
    const panel = async () => (await page.innerText("#details")).replace(/\s+/g, " ");
    const left = (point: number) => `${(100 * Number(value("slack(ms <= 2)", point))).toFixed(1)} %`;
    expect(await panel()).toContain(`ms <= 2 ${left(kept)}`);
    expect(await panel()).toContain(`heddle sweep --timeline ${value("point", kept)} -o ${folder}`);
    expect(left(missed).startsWith("-")).toBe(true);
    await page.evaluate((point) => (window as unknown as Window2).heddle.select(point), missed);
    await settle(page);
    expect(await panel()).toContain(`ms <= 2 ${left(missed)}`);
    expect(faults).toEqual([]);
  });
  it("links the timeline where there is one", async () => {
    const name = String(value("point", 5));
    const linked = join(folder, "linked.html");
    writeSweep(BUILT, linked, JSON.stringify({ ...sample, timelines: { [name]: `time lines/${name}/timeline.html` } }));
    const { page, faults } = await open(linked, hashOf("points", `&point=${name}`));
    expect(await page.getAttribute("#details a", "href")).toBe(`time%20lines/${name}/timeline.html`);
    expect(await page.innerText("#details")).not.toContain("--timeline");
    expect(faults).toEqual([]);
  });
});

describe("filters", () => {
  it("hold in every view, stand in the address, and Back undoes them", async () => {
    const { page, faults } = await open(SMALL, "#view=chart&lower=points");
    const all = sample.points;
    await page.fill('.points-table input[data-column="rows"]', "2..3");
    await settle(page);
    expect(await visible(page)).toBe(all / 2);
    await page.waitForTimeout(1200); // a new step
    await page.fill('.points-table input[data-column="model"]', "resnet50");
    await settle(page);
    expect(await visible(page)).toBe(all / 6);
    expect(await page.inputValue('.filter-chip input[data-column="model"]')).toBe("resnet50");
    await addressed(page);
    const { hash } = new URL(page.url());
    expect(new URLSearchParams(hash.slice(1)).get("f.rows")).toBe("2..3");
    const again = await open(SMALL, hash);
    expect(await visible(again.page)).toBe(all / 6);
    await close(again.page);
    await page.goBack();
    await settle(page);
    expect(await visible(page)).toBe(all / 2);
    expect(await page.inputValue('.points-table input[data-column="model"]')).toBe("");
    await page.fill('.points-table input[data-column="rows"]', "2..x");
    await settle(page);
    expect([await visible(page), await page.getAttribute('.points-table input[data-column="rows"]', "aria-invalid")]).toEqual([all, "true"]);
    await page.press('.points-table input[data-column="rows"]', "Escape");
    await page.click("#tab-upper-chart");
    await page.keyboard.press("x");
    await settle(page);
    expect([await visible(page), await page.locator(".filter-chip").count()]).toEqual([all, 0]);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("are drawn along an axis of Parallel, and let go by a click on it", async () => {
    const { page } = await open(SMALL, hashOf("parallel"));
    const box = (await page.locator(".view-parallel canvas").boundingBox())!;
    const x = await page.evaluate(() => {
      const view = (window as unknown as Window2).heddlePage.viewOf("parallel") as unknown as { layOut(): { axes: { column: { name: string }; x: number }[] } };
      return view.layOut().axes.find(({ column }) => column.name === "rows")!.x;
    });
    await page.mouse.move(box.x + x, box.y + 46);
    await page.mouse.down();
    await page.mouse.move(box.x + x, box.y + box.height / 2);
    await page.mouse.up();
    await settle(page);
    expect(await page.inputValue('.filter-chip input[data-column="rows"]')).toBe("3..4");
    expect(await visible(page)).toBe(sample.points / 2);
    await page.mouse.click(box.x + x, box.y + box.height / 2);
    await settle(page);
    expect(await visible(page)).toBe(sample.points);
    await close(page);
  });
});

describe("the keyboard", () => {
  it("sorts, walks the rows, selects, holds and compares", async () => {
    const { page, faults } = await open(SMALL, hashOf("points"));
    await page.focus('.points-table th[data-column="ms"] button');
    await page.keyboard.press("Enter");
    await settle(page);
    expect(await page.getAttribute('.points-table th[data-column="ms"]', "aria-sort")).toBe("ascending");
    await page.focus(".points-table tbody tr.row");
    await page.keyboard.press("ArrowDown");
    await settle(page);
    const ms = (sample.data["ms"] ?? []).map((x) => (x === null ? Infinity : Number(x)));
    const order = ms.map((_, k) => k).sort((a, b) => ms[a]! - ms[b]! || a - b);
    expect(await selection(page)).toBe(order[1]);
    await page.keyboard.press("h");
    await page.keyboard.press("End");
    await settle(page);
    await page.keyboard.press("c");
    await settle(page);
    expect(await page.innerText(".compare-names")).toContain("refused");
    expect(await page.innerText(".view-compare")).toContain("What differs");
    await addressed(page);
    expect(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("held")).toBe(value("point", order[1]!));
    await page.keyboard.press("?");
    expect(await page.innerText("#keys")).toContain("More is slower");
    expect(faults).toEqual([]);
    await close(page);
  });

  it("walks the cells of the map, and says what they hold or why they hold nothing", async () => {
    const { page } = await open(SMALL, hashOf("heat", "&o.heat.model=resnet50"));
    await page.focus(".view-heat canvas");
    await page.keyboard.press("ArrowRight");
    await settle(page);
    expect(await page.innerText(".view-heat .said")).toMatch(/^rows 1, cols 1; refused: PLAN004 resnet50 does not fit/);
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    await settle(page);
    const best = Math.min(...[2, 4].map((ddr) => Number(value("ms", pointAt("resnet50", 3, 3, ddr)))));
    expect(await page.innerText(".view-heat .said")).toContain(`rows 3, cols 3; ms: ${best.toPrecision(5).replace(/0+$/, "")} ms`);
    expect(value("ms", await selection(page))).toBe(best);
    await close(page);
  });

  it("goes along the front, and through the pairs in which more is slower", async () => {
    const { page } = await open(SMALL, hashOf("pareto"));
    await page.focus(".view-pareto .list tbody tr");
    await page.keyboard.press("ArrowDown");
    await settle(page);
    const chosen = await selection(page);
    expect(chosen).toBeGreaterThanOrEqual(0);
    expect(await page.getAttribute(".view-pareto .list tbody tr:nth-child(2)", "aria-selected")).toBe("true");
    await page.click("#tab-upper-slower");
    await settle(page);
    await page.click(".view-slower tbody tr");
    await settle(page);
    const [point, held] = await page.evaluate(() => [(window as unknown as Window2).heddle.selection, (window as unknown as Window2).heddle.held]);
    expect([value("rows", point!), value("cols", point!)]).toEqual([3, 3]);
    expect(Number(value("ms", point!))).toBeGreaterThan(1.01 * Number(value("ms", held!)));
    await close(page);
  });
});

describe("20480 points", () => {
  it("open, filter and keep only the rows in sight in the page", async () => {
    const file = join(folder, "large.html");
    writeSweep(BUILT, file, JSON.stringify(sampleOf(LARGE)));
    const { page, faults } = await open(file, "#view=parallel&lower=points");
    expect(await page.innerText("header")).toContain("20,480 of 20,480 points");
    expect(await page.locator(".points-table tbody tr.row").count()).toBeLessThan(80);
    await page.fill('.points-table input[data-column="cores"]', "64");
    await settle(page);
    expect(await visible(page)).toBe(5 * 64);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("accessibility", () => {
  it.each([["light", false], ["dark", true]] as const)("axe finds nothing, %s", async (_, dark) => {
    const { page } = await open(SMALL, `#view=points&lower=none&f.model=resnet&point=${value("point", 40)}&held=${value("point", 41)}`, { dark });
    await page.evaluate(AXE);
    // In the dark nothing but the colours differs.
    const rules = dark ? { runOnly: ["color-contrast"] } : {};
    for (const view of VIEWS) {
      await page.click(`#tab-upper-${view}`);
      await settle(page);
      const { violations } = await page.evaluate((only) => window.axe.run(document, { resultTypes: ["violations"], ...only }), rules);
      expect(violations.map((v) => `${TITLES[view]}: ${v.id} ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")}: ${n.failureSummary}`).join("; ")}`)).toEqual([]);
    }
    await close(page);
  });
});
