// What every view shows, of each of five pages: it opens, is saved, and its figures are those of the report.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { close, coloursOf, open, pageOf, reportOf, settle, useBrowser, viewsOf } from "./tab";

useBrowser();

describe.each(["tiny-1x1", "tiny-2x2", "resnet50-4x4", "resnet50-8x8", "compare"])("%s", (name) => {
  it("opens every view, in both panes, without a fault, and saves it as PNG, SVG and CSV", async () => {
    const { page, faults } = await open(pageOf(name));
    for (const view of viewsOf(name)) {
      await page.click(`#tab-upper-${view}`);
      await settle(page);
      expect(await page.getAttribute(`#tab-upper-${view}`, "aria-selected")).toBe("true");
      const colours = await coloursOf(page, view);
      if (colours >= 0) expect(colours, view).toBeGreaterThan(3);
      else expect((await page.innerText(`#pane-upper .view-${view}`)).length, view).toBeGreaterThan(20);
      // Only what is looked at leaves the page: a listing has a hundred thousand rows.
      const table = await page.evaluate((id) => {
        const { rows, columns } = window.heddlePage.viewOf(id).table();
        return { rows: rows.length, columns: columns.length, uneven: rows.filter((row) => row.length !== columns.length).length };
      }, view);
      expect(table.rows, `${view}: the table twin`).toBeGreaterThan(0);
      expect(table.uneven, `${view}: rows that do not fit the columns`).toBe(0);
      for (const [kind, check] of Object.entries(FILES)) {
        await page.click(".pane-upper .menu summary");
        const [download] = await Promise.all([page.waitForEvent("download"), page.click(`.pane-upper .menu-items button:has-text("${kind}")`)]);
        check(readFileSync(await download.path()), `${view} ${kind}`);
      }
    }
    for (const view of viewsOf(name)) {
      await page.click(`#tab-lower-${view}`).catch(() => undefined);
      await settle(page);
    }
    expect(faults).toEqual([]);
    await close(page);
  });
});

const FILES: Record<string, (file: Buffer, what: string) => void> = {
  PNG: (file, what) => {
    expect(file.subarray(1, 4).toString(), what).toBe("PNG");
    expect(file.length, what).toBeGreaterThan(2000);
  },
  SVG: (file, what) => {
    const text = file.toString();
    expect(text.startsWith("<svg "), what).toBe(true);
    expect(text.match(/<text /g)?.length ?? 0, what).toBeGreaterThan(3);
    expect(text.match(/<g[ >]/g)?.length ?? 0, what).toBe(text.match(/<\/g>/g)?.length ?? 0);
    const drawn = text.replace(/href="data:[^"]*"/g, ""); // any three letters may stand in an image
    expect(drawn, what).not.toMatch(/NaN|undefined|Infinity/);
  },
  CSV: (file, what) => expect(file.toString().split("\r\n").length, what).toBeGreaterThan(2),
};

describe("figures", () => {
  it.each(["tiny-1x1", "resnet50-4x4", "resnet50-8x8"])("of %s are those of report.json", async (name) => {
    const report = reportOf(name);
    const { page } = await open(pageOf(name), "#view=layers&lower=none");
    const header = await page.innerText("header");
    expect(header).toContain(`${report.time.cycles.toLocaleString("en")} cycles`);
    expect(header).toContain(`${report.verification.tensorsCompared} tensors bit-exact`);
    const { columns, rows } = await page.evaluate(() => window.heddlePage.viewOf("layers").table());
    const sum = (column: string) => rows.filter((row) => typeof row[0] === "number").reduce((total, row) => total + Number(row[columns.indexOf(column)]), 0);
    expect(columns).toContain("cycles");
    expect(sum("cycles")).toBe(report.time.cycles);
    expect(await page.innerText(".view-layers tfoot")).toContain(report.time.cycles.toLocaleString("en"));
    const path = await page.evaluate(() => window.heddlePage.viewOf("path").table());
    const cycles = path.columns.indexOf("cycles");
    expect(cycles).toBeGreaterThanOrEqual(0);
    for (const kind of ["share of a resource", "share of a layer", "share of a tile", "step"]) {
      const own = path.rows.filter((row) => String(row[0]).startsWith(kind));
      expect(own.reduce((total, row) => total + Number(row[cycles]), 0), `${kind}: the critical path fills the run`).toBe(report.time.cycles);
    }
    await close(page);
  });
});
