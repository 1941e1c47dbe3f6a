// Sights by rules: words that are whole, apart and legible. scripts/sights.sh has all views, sizes and themes; here are those that fell short.
import type { Page as Tab } from "playwright-core";
import { describe, expect, it } from "vitest";
import { faultsOf, noteWords } from "./sight";
import { close, open, pageOf, settle, useBrowser } from "./tab";

useBrowser();

const SLOW = 300000; // milliseconds: pictures are read back many times
const noted = { prepare: noteWords };

/** The longest layer that DDR bounds, or the longest of all. */
const selectLayer = (page: Tab) =>
  page.evaluate(() => {
    const { layers } = window.heddle.run;
    const most = (all: typeof layers) => all.reduce((best, layer) => (layer.cycles > best.cycles ? layer : best), all[0]!);
    const bound = layers.filter(({ boundBy }) => boundBy === "DDR read");
    window.heddle.select({ kind: "layer", layer: most(bound.length ? bound : layers).index });
  });

describe("words are whole, apart and legible", () => {
  it.each([
    ["compare", 1366, 768, false, ["timeline", "compare"]], ["compare", 900, 700, true, ["memory", "mesh", "layers", "asm"]], ["spilling", 1440, 900, true, ["timeline", "path", "graph"]],
    ["frames", 1366, 768, false, ["timeline", "memory", "layers"]],
    ["tiled", 1366, 768, true, ["timeline", "memory", "asm"]],
  ] as const)("of %s at %s x %s, dark: %s, in %s", async (name, width, height, dark, views) => {
    const { page, faults } = await open(pageOf(name), "#view=timeline&lower=none", { width, height, dark, ...noted });
    await selectLayer(page);
    for (const view of views) {
      await page.evaluate((id) => window.heddle.store.set({ view: id, lower: id === "layers" ? "timeline" : "layers" }), view);
      await settle(page);
      expect(await faultsOf(page), view).toEqual([]);
    }
    expect(faults.filter((text) => !text.includes("willReadFrequently"))).toEqual([]);
    await close(page);
  }, SLOW);

  it.each([false, true])("of a network in each of its colours, dark: %s", async (dark) => {
    const { page } = await open(pageOf("tiny-2x2"), "#view=graph&lower=none", { dark, width: 1366, height: 768, ...noted });
    for (const colour of ["time", "bound", "efficiency"]) {
      await page.evaluate((by) => window.heddle.store.setOption("graph.colour", by), colour);
      await settle(page);
      expect(await faultsOf(page), colour).toEqual([]);
    }
    await close(page);
  }, SLOW);

  it("of a roofline whose wires are as fast as few cores", async () => {
    const { page } = await open(pageOf("tiny-2x2"), "#view=mesh&lower=layers", { width: 1440, ...noted });
    for (const factor of [0.02, 0.1]) {
      await page.evaluate((by) => {
        const { device } = window.heddle.run;
        device.wireBytesPerSecond = device.wireBytesPerSecond! * by;
        device.ddrReadBytesPerSecond = device.ddrReadBytesPerSecond! * by;
      }, factor);
      expect(await faultsOf(page), `x${factor}`).toEqual([]);
    }
    await close(page);
  }, SLOW);

  it("and rules find what is wrong", async () => {
    const { page } = await open(pageOf("tiny-2x2"), "#view=timeline&lower=none", noted);
    await page.evaluate(() => {
      const style = document.querySelector<HTMLElement>("h1")!.style;
      Object.assign(style, { maxWidth: "40px", textOverflow: "clip" });
      document.querySelector<HTMLElement>("#search")!.style.cssText = "width: 60px; text-overflow: clip";
      document.querySelector<HTMLElement>("#details p")!.style.marginTop = "-20px";
      Object.assign(window.heddle.theme, { fainter: window.heddle.theme.raised, faint: window.heddle.theme.line });
    });
    const found = (await faultsOf(page)).join("\n");
    expect(found).toMatch(/is cut by <h1/);
    expect(found).toContain("the field's");
    expect(found).toMatch(/lies on "The run"|"The run" lies on/);
    expect(found).toMatch(/timeline: ".*" at .* has a contrast of/);
    await close(page);
  });
});

describe("the selected layer's row", () => {
  it("stays in sight where the line at the foot takes room from the table", async () => {
    const { page } = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=layers", { width: 900, height: 700 });
    for (const layer of [20, 4, 30]) {
      await page.evaluate((index) => window.heddle.select({ kind: "layer", layer: index }), layer);
      await settle(page);
      await settle(page);
      const { row, head, foot } = await page.evaluate(() => {
        const of = (selector: string) => document.querySelector(`.layers-table ${selector}`)!.getBoundingClientRect();
        return { row: of('tr[aria-selected="true"]').toJSON(), head: of("thead th").toJSON(), foot: of("tfoot td").toJSON() } as Record<string, DOMRect>;
      });
      expect(row!.top, String(layer)).toBeGreaterThanOrEqual(head!.bottom - 1);
      expect(row!.bottom, String(layer)).toBeLessThanOrEqual(foot!.top + 1);
      await page.evaluate(() => window.heddle.select(null));
      await settle(page);
    }
    await close(page);
  });
});
