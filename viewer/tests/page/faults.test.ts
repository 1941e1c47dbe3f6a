// What was wrong once, or misled: each stays mended.
import { describe, expect, it } from "vitest";
import { open, pageOf, reportOf, settle, useBrowser } from "./tab";

useBrowser();

describe("what cores wait for", () => {
  it("is the same in the mesh, in the panel and in the report, until one asks for the neighbours", async () => {
    const report = reportOf("resnet50-4x4");
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=mesh&lower=none");
    const whole = report.time.cycles * report.device.rows * report.device.columns;
    const owed = (name: string) => report.layers.reduce((sum, layer) => sum + (layer["waitCoreCycles"] as Record<string, number>)[name]!, 0) / whole;
    const shown = () =>
      page.evaluate(() => {
        const { columns, rows } = window.heddlePage.viewOf("mesh").table();
        const cores = rows.filter(([name]) => /^core \d+,\d+$/.test(String(name)));
        const mean = (stall: string) => cores.reduce((sum, row) => sum + Number(row[columns.indexOf(`waits for ${stall} %`)]), 0) / cores.length / 100;
        return { input: mean("input"), weights: mean("weights"), DDR: mean("DDR") };
      });
    const root = await shown();
    expect(root.input).toBeCloseTo(owed("input wire"), 5);
    expect(root.weights).toBeCloseTo(owed("weights wire"), 5);
    expect(root.DDR).toBeCloseTo(owed("DDR read") + owed("DDR write"), 5);
    const said = (await page.innerText("#details")).replace(/\s+/g, " ");
    expect(said).toContain(`weights ${(100 * root.weights).toFixed(1)} %`);
    await page.click('.pane-upper button:has-text("Waits: followed back")');
    await settle(page);
    const direct = await shown();
    expect(direct.DDR).toBeLessThan(root.DDR);
    expect(direct.input).toBeGreaterThan(root.input);
    await page.keyboard.press("z");
    await settle(page);
    expect(await shown()).toEqual(root);
    expect(faults).toEqual([]);
    await page.close();
  });
});
