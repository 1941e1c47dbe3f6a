// Layers that are computed tile by tile: found, selected, seen above the timeline, and explained.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addressed, close, open, pageOf, PAGES, reportOf, settle, useBrowser } from "./tab";

useBrowser();

describe("tiles", () => {
  it("are found by search, say their rows and cycles, and F goes to them", async () => {
    const report = reportOf("tiled");
    const layer = report.layers.find(({ name }) => name === "b1_1")!;
    const step = layer.steps![1]!;
    const { page, faults } = await open(pageOf("tiled"));
    await page.keyboard.press("/");
    await page.keyboard.type("b1_1 tile 2");
    await page.keyboard.press("Enter");
    await settle(page);
    const said = (await page.innerText("#details")).replace(/\s+/g, " ");
    expect(said).toContain("b1_1, tile 2");
    expect(said).toContain(`rows ${step.firstRow}–${step.firstRow + step.rows - 1}`);
    expect(said).toContain(`${step.cycles.toLocaleString("en")} cycles`);
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press("f");
    await settle(page);
    const window_ = await page.evaluate(() => window.heddle.store.state.window);
    expect(window_.from).toBeLessThan(step.start);
    expect(window_.to).toBeGreaterThan(step.end);
    expect(window_.to - window_.from).toBeLessThan(2 * (step.end - step.start));
    // The address brings back the same selection.
    await addressed(page);
    expect(page.url()).toContain(encodeURIComponent("group:0:1:1"));
    expect(faults).toEqual([]);
    await close(page);
  });

  it("have a band each above the timeline; a click selects the step that runs there", async () => {
    const report = reportOf("tiled");
    const { page, faults } = await open(pageOf("tiled"), "#view=timeline&lower=none");
    const at = await page.evaluate(() => {
      const { run } = window.heddle;
      const canvas = document.querySelector(".view-timeline canvas")!.getBoundingClientRect();
      const bands = window.heddle.run.bands.filter(({ group, layer }) => group === 0 && layer === 1);
      const x = (cycle: number) => canvas.left + 176 + ((cycle - window.heddle.store.state.window.from) / (window.heddle.store.state.window.to - window.heddle.store.state.window.from)) * (canvas.width - 176);
      return { end: run.bands[run.bands.length - 1]!.to, x: x((bands[2]!.from + bands[2]!.to) / 2), top: canvas.top };
    });
    expect(at.end).toBe(report.time.cycles);
    for (let y = at.top + 40; y < at.top + 140; y += 6) {
      await page.mouse.click(at.x, y);
      await settle(page);
      if ((await page.evaluate(() => window.heddle.store.state.selection?.kind)) === "group") break;
    }
    expect(await page.evaluate(() => window.heddle.store.state.selection)).toEqual({ kind: "group", group: 0, tile: 2, layer: 1 });
    expect((await page.innerText("#details h2")).trim()).toBe("b1_1, tile 3");
    expect(faults).toEqual([]);
    await close(page);
  });

  it("light up their own slices alone", async () => {
    const { page, faults } = await open(pageOf("tiled"), "#view=timeline&lower=none");
    const brightness = (of: number) =>
      page.evaluate(async (tile) => {
        const { run } = window.heddle;
        const step = run.layers[1]!.steps![tile]!;
        const track = run.tracks.find(({ engine }) => engine === "core")!;
        let i = 0;
        while (track.layer(i) !== 1 || track.start(i) < (step.start + step.end) / 2) i++;
        const [start, end] = [track.start(i), track.end(i)];
        window.heddle.show(start - 20, end + 20);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const view = window.heddlePage.viewOf("timeline") as unknown as { lanes: { of(track: object): object; y(row: object): number }; scale: { x(cycle: number): number } };
        const canvas = document.querySelector<HTMLCanvasElement>(".view-timeline canvas")!;
        // Near its end, where no word stands.
        const { data } = canvas.getContext("2d")!.getImageData(view.scale.x(end) - 4, view.lanes.y(view.lanes.of(track)) + 3, 1, 1);
        return data.slice(0, 3).join();
      }, of);
    const plain = await brightness(1);
    await page.evaluate(() => window.heddle.selectInSight({ kind: "group", group: 0, tile: 1, layer: 1 }));
    expect(await brightness(1)).toBe(plain);
    expect(await brightness(0)).not.toBe(plain);
    await page.evaluate(() => window.heddle.selectInSight({ kind: "layer", layer: 1 }));
    expect(await brightness(0)).toBe(plain);
    expect(faults.filter((text) => !text.includes("willReadFrequently"))).toEqual([]);
    await close(page);
  });

  it("are counted in the table of layers, and stand in Compare where they ran", async () => {
    const { page, faults } = await open(join(PAGES, "dense-tiled.html"), "#view=compare&lower=none");
    const frames = () =>
      page.evaluate(() => {
        let times = 0;
        const nothing = () => {};
        window.heddlePage.viewOf("compare").picture().paint({ theme: window.heddle.theme, rect: nothing, frame: (_x: number, _y: number, _w: number, _h: number, colour: string) => void (times += Number(colour === window.heddle.theme.text)), line: nothing, polygon: nothing, circle: nothing, hatch: nothing,
          image: nothing, arc: nothing, text: nothing, shift: nothing, clip: (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw() } as never);
        return times;
      });
    await page.evaluate(() => window.heddle.select({ kind: "layer", layer: 1 }));
    await settle(page);
    expect(await frames(), "one in A, three in B").toBe(4);
    await page.selectOption("header select", "1");
    await page.click("#tab-upper-layers");
    await settle(page);
    const { columns, rows } = await page.evaluate(() => window.heddlePage.viewOf("layers").table());
    expect(rows.slice(0, 5).map((row) => row[columns.indexOf("tiles")])).toEqual([3, 3, 3, 1, 1]);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("stand in the panel of their layer, and the group's panel and the summary say why", async () => {
    const report = reportOf("tiled");
    const { page, faults } = await open(pageOf("tiled"));
    const said = async () => (await page.innerText("#details")).replace(/\s+/g, " ");
    expect(await said()).toContain("Computed tile by tile These groups were asked for");
    await page.evaluate(() => window.heddle.select({ kind: "layer", layer: 1 }));
    await settle(page);
    expect(await said()).toContain("in 3 tiles by turns with conv1, b1_2");
    expect(await said()).toContain("3 times: once for each tile");
    await page.click('#details button:has-text("in 3 tiles")');
    await settle(page);
    const group = report.groups![0]!;
    expect(await said()).toContain(`${group.cycles.toLocaleString("en")} cycles`);
    expect(await said()).not.toContain("read again");  // they stay in the memtiles
    expect(faults).toEqual([]);
    await close(page);
  });

  it("say what weights that come again with each of them cost", async () => {
    const { page, faults } = await open(pageOf("tiled-again"));
    await page.evaluate(() => window.heddle.select({ kind: "layer", layer: 1 }));
    await settle(page);
    await page.click('#details button:has-text("in 3 tiles")');
    await settle(page);
    const said = (await page.innerText("#details")).replace(/\s+/g, " ");
    expect(said).toMatch(/price \d.* of weights read again, for tiles after the first/);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("how a layer is mapped", () => {
  it("stands in its panel as heddle explain says it, with the next best and what they lose", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"));
    const explained = await page.evaluate(() => {
      const layers = window.heddle.run.explanation!.layers;
      const index = layers.findIndex(({ alternatives }) => alternatives.length === 3 && alternatives[0]!.losesCycles > 0);
      window.heddle.select({ kind: "layer", layer: index });
      return layers[index]!;
    });
    await settle(page);
    const said = (await page.innerText("#details")).replace(/\s+/g, " ");
    expect(said).toContain(`cut ${explained.mapping!.cut}`);
    for (const stream of explained.mapping!.streams) expect(said).toContain(stream);
    for (const other of explained.alternatives) {
      expect(said).toContain(other.mapping.split);
      expect(said).toContain(`${other.losesCycles < 0 ? "−" : "+"}${Math.abs(other.losesCycles).toLocaleString("en")}`);
    }
    expect(faults).toEqual([]);
    await close(page);
  });
});
