// Runs of several inferences: each is named, found, selected and zoomed to, and the figures are those of the report.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { addressed, close, open, pageOf, PAGES, reportOf, settle, useBrowser } from "./tab";

useBrowser();

describe("frames", () => {
  it("count together in the figures of a layer and of a line, and the page says so", async () => {
    const report = reportOf("frames");
    const { page, faults } = await open(pageOf("frames"), "#view=layers&lower=none");
    const said = async () => (await page.innerText("#details")).replace(/\s+/g, " ");
    expect(await page.innerText(".view-layers")).toContain(`${report.layers.length} layers, 3 frames together`);
    const of = report.layers.findIndex(({ weightBytes, cycles }) => weightBytes > 0 && cycles > 0);
    const layer = report.layers[of]!;
    await page.evaluate((layer) => window.heddle.select({ kind: "layer", layer }), of);
    await settle(page);
    expect(await said()).toContain(`counted in all 3 frames together, as all that follows; ${Math.round(layer.cycles / 3).toLocaleString("en")}`);
    expect(await said()).toMatch(/came before its first core started on their frame/);
    // What is needed is needed in each frame, so that nothing goes more often than in a run of one.
    const bytes = JSON.parse(readFileSync(join(PAGES, "frames", "explain.json"), "utf8")) as { layers: { bytes: { what: string; movedBytes: number; neededBytes: number; why: string[] }[] }[] };
    const alone = JSON.parse(readFileSync(join(PAGES, "dense", "explain.json"), "utf8")) as typeof bytes;
    const three = (all: typeof bytes) => all.layers.map((layer) => layer.bytes.map((b) => ({ ...b, movedBytes: 3 * b.movedBytes, neededBytes: 3 * b.neededBytes })));
    expect(bytes.layers.map((layer) => layer.bytes)).toEqual(three(alone));
    // Bars are of the cycles that it has in all frames, not of the time from the first frame to the last.
    const busiest = Math.max(...Object.values(layer["busyCycles"] as Record<string, number>));
    const bar = await page.evaluate(() => parseFloat(document.querySelector<HTMLElement>("#details .figures-table .bar")!.style.width));
    expect(bar).toBeCloseTo((100 * busiest) / Math.max(busiest, layer.cycles), 1);
    const inputs = bytes.layers[of]!.bytes.find(({ what }) => what === "inputs over wires")!;
    const text = await page.evaluate(() => [...document.querySelectorAll("#details dt")].find((term) => term.textContent === "inputs")?.nextElementSibling?.textContent ?? "");
    const times = inputs.movedBytes / inputs.neededBytes;
    expect(/([\d.]+) times/.exec(text)?.[1] ?? "").toBe(times >= 1.5 ? times.toFixed(1) : "");
    const ran = await page.evaluate(() => {
      const { run } = window.heddle;
      const core = run.tracks.find(({ engine }) => engine === "core")!;
      const leaf = core.leaf(0);
      let times = 0;
      for (const track of run.tracks) for (let i = 0; i < track.size; i++) times += Number(track.leaf(i) === leaf);
      window.heddle.select({ kind: "instruction", leaf });
      return times;
    });
    await settle(page);
    expect(await said()).toContain(`ran ${ran.toLocaleString("en")} times in all 3 frames`);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("are compared one with one, though the runs have different numbers of them", async () => {
    const [one, three] = [reportOf("dense"), reportOf("frames")];
    const { page, faults } = await open(join(PAGES, "dense-frames.html"), "#view=compare&lower=none");
    const { caption, columns, rows } = await page.evaluate(() => {
      const { caption, columns, rows } = window.heddlePage.viewOf("compare").table();
      return { caption, columns, rows };
    });
    expect(caption).toMatch(/By inference, (B is .* faster than A|A and B take the same time): /);
    expect(caption).toContain("A runs 1 in ");
    // Nothing is sparse: a run of three only has three times the MACs.
    expect(caption).not.toContain("MACs");
    expect(columns).not.toContain("density in B");
    const whole = rows.find(([name]) => name === "whole run")!;
    expect(whole.slice(2, 4)).toEqual([one.time.cycles, three.time.cycles / 3]);
    rows.slice(0, one.layers.length).forEach((row, k) => expect(row.slice(2, 4), String(row[0])).toEqual([one.layers[k]!.cycles, three.layers[k]!.cycles / 3]));
    expect(faults).toEqual([]);
    await close(page);
  });

  it("of several inferences say so, and are compared by inference with one", async () => {
    const report = reportOf("batch");
    const { page, faults } = await open(pageOf("batch"), "#view=timeline&lower=none&select=layer:0");
    await page.keyboard.press("Escape");
    await settle(page);
    const said = async () => (await page.innerText("#details")).replace(/\s+/g, " ");
    expect(await said()).toContain(`That is 2 frames of 3 inferences: the first ends after ${report.time.coldCycles!.toLocaleString("en")} cycles`);
    await page.evaluate(() => window.heddle.select({ kind: "layer", layer: 0 }));
    await settle(page);
    expect(await said()).toContain("in all 6 inferences together");
    await page.evaluate(() => window.heddle.select({ kind: "tensor", tensor: 0 }));
    await settle(page);
    expect(await said()).toContain("3 images, one below the other, of 35 x 16 x 6");
    expect(faults).toEqual([]);
    await close(page);
    const one = reportOf("sparse");
    const compared = JSON.parse(readFileSync(join(PAGES, "sparse-batch.json"), "utf8")) as { sparsity: { sentences: string[] } };
    const { page: both } = await open(join(PAGES, "sparse-batch.html"), "#view=compare&lower=none");
    const { caption, rows } = await both.evaluate(() => {
      const { caption, rows } = window.heddlePage.viewOf("compare").table();
      return { caption, rows };
    });
    for (const sentence of compared.sparsity.sentences) expect(caption).toContain(sentence);
    expect(compared.sparsity.sentences.at(-1)).toMatch(/^Not told apart: frames of 1 inference in A and of 3 in B/);
    expect(rows.find(([name]) => name === "whole run")!.slice(2, 4)).toEqual([one.time.cycles, report.time.cycles / 6]);
    await close(both);
  });

  it("do not fill the list of a lock's longest waits with the same one", async () => {
    const { page, faults } = await open(pageOf("many-frames"), "#view=timeline&lower=none");
    await page.keyboard.press("/");
    await page.keyboard.type("lock");
    await page.keyboard.press("Enter");
    await settle(page);
    const items = await page.locator("#details ol li").allInnerTexts();
    expect(items.length).toBeGreaterThan(1);
    const repeated = await page.evaluate(() => {
      // Cycles and places of the waits for it in one frame; each should stand there once.
      const { run, focus } = window.heddle;
      const places = new Set<string>();
      for (const track of run.tracks) {
        const each = Math.floor(track.size / run.frames.length);
        for (let i = 0; i < track.size; i++) if (track.lock(i) === focus.lock && track.start(i) > track.ready(i)) places.add(`${track.start(i) - track.ready(i)} ${track.index} ${i % each}`);
      }
      return places.size;
    });
    expect(items.length).toBeLessThanOrEqual(repeated);
    // Of equal words each is another instruction of the frame.
    const places = await page.evaluate((starts) => {
      const { run, focus } = window.heddle;
      return starts.map((start) => run.tracks.flatMap((track) => {
        const each = Math.floor(track.size / run.frames.length);
        return Array.from({ length: track.size }, (_, i) => i).filter((i) => track.lock(i) === focus.lock && track.start(i) === start).map((i) => `${track.index} ${i % each}`);
      }).join());
    }, items.map((text) => Number(/ at ([\d,]+):/.exec(text)![1]!.replaceAll(",", ""))));
    expect(places.every((place) => place !== "")).toBe(true);
    expect(new Set(items.map((text, k) => text.replace(/ at [\d,]+:/, "") + places[k])).size).toBe(items.length);
    expect(items.join()).toMatch(/and likewise in \d+ frames after this one/);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("are shown in memory as the first one, which is said where the others run, and M goes there", async () => {
    const { page, faults } = await open(pageOf("many-frames"), "#view=memory&lower=none");
    const words = () =>
      page.evaluate(() => {
        const texts: string[] = [];
        const nothing = () => {};
        window.heddlePage.viewOf("memory").picture().paint({ theme: window.heddle.theme, rect: nothing, frame: nothing, line: nothing, polygon: nothing, arc: nothing, circle: nothing, hatch: nothing, image: nothing,
          text: (_x: number, _y: number, text: string) => void texts.push(text), shift: (_x: number, _y: number, draw: () => void) => draw(), clip: (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw() } as never);
        return texts;
      });
    expect(await words()).toContain("frames 2 to 40 lie in the same places as frame 1");
    const box = (await page.locator(".view-memory canvas").boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 130);
    await page.mouse.move(box.x + box.width / 2 + 2, box.y + 130);
    expect(await page.innerText("#tip")).toContain("As in frame 1");
    await page.mouse.click(box.x + 5, box.y + 5);
    await page.keyboard.press("m");
    await settle(page);
    const { from, to } = await page.evaluate(() => window.heddle.store.state.window);
    const [first] = reportOf("many-frames").frames!;
    expect(to - from).toBeLessThan(3 * (first!.end - first!.start));
    expect(from).toBeLessThan(first!.end);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("that are many have links for the first ones and the last", async () => {
    const { page, faults } = await open(pageOf("many-frames"), "#view=timeline&lower=none");
    expect((await page.innerText("#frames")).replace(/\s+/g, " ")).toBe("Frames 1 2 3 4 5 6 7 8 9 10 11 … 40 (/ finds the others: frame 100)");
    await page.click('#frames button:has-text("40")');
    await settle(page);
    const last = reportOf("many-frames").frames![39]!;
    expect((await page.innerText("#details")).replace(/\s+/g, " ")).toContain(`frame 40 of 40 runs from ${last.start.toLocaleString("en")} to ${last.end.toLocaleString("en")}`);
    // Those that are alike are kept once; each is counted all the same.
    const { times, bytes } = await page.evaluate(() => {
      const { run } = window.heddle;
      let bytes = 0;
      for (const track of run.tracks) if (track.engine === "ddrIn") for (let i = 0; i < track.size; i++) bytes += run.bytesOf(track, i);
      return { times: run.repeat?.times ?? 0, bytes };
    });
    expect(times).toBeGreaterThan(30);
    expect(bytes).toBe(reportOf("many-frames").traffic["ddrReadBytes"]);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("stand in the summary with their time; a click selects one, F goes to it, the address brings it back", async () => {
    const report = reportOf("frames");
    const frames = report.frames!;
    expect(frames.length).toBe(3);
    const { page, faults } = await open(pageOf("frames"), "#view=timeline&lower=none");
    const said = async () => (await page.innerText("#details")).replace(/\s+/g, " ");
    const cycles = (n: number) => `${n.toLocaleString("en")} cycles`;
    expect(await said()).toContain(`3 inferences: the first ends after ${cycles(report.time.coldCycles!)} `);
    expect(await said()).toContain(`then one every ${cycles(report.time.steadyCycles!)} `);
    await page.click('#frames button:has-text("2")');
    await settle(page);
    const { start, end } = frames[1]!;
    expect(await said()).toContain(`from ${start.toLocaleString("en")} to ${end.toLocaleString("en")}`);
    expect(await said()).toMatch(new RegExp(`${cycles(end - frames[0]!.end)} .* after the one before`));
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press("f");
    await settle(page);
    const { from, to } = await page.evaluate(() => window.heddle.store.state.window);
    expect(from).toBeLessThanOrEqual(start);
    expect(to).toBeGreaterThanOrEqual(end);
    expect(to - from).toBeLessThan(2 * (end - start));
    await addressed(page);
    expect(page.url()).toContain(encodeURIComponent("frame:1"));
    await page.keyboard.press("/");
    await page.keyboard.type("frame 3");
    await page.keyboard.press("Enter");
    await settle(page);
    expect((await page.innerText("#details h2")).trim()).toBe("frame 3 of 3");
    expect(faults).toEqual([]);
    await close(page);
  });

  it("have bands that end where the report says, and light up their own slices alone", async () => {
    const report = reportOf("frames");
    const { page, faults } = await open(pageOf("frames"), "#view=timeline&lower=none");
    const ends = await page.evaluate(() => [0, 1, 2].map((frame) => Math.max(...window.heddle.run.bands.filter((band) => band.frame === frame).map(({ to }) => to))));
    expect(ends).toEqual(report.frames!.map(({ end }) => end));
    const colour = (frame: number) =>
      page.evaluate(async (of) => {
        const { run } = window.heddle;
        const track = run.tracks.find(({ engine, size }) => engine === "core" && size > 0)!;
        const i = (track.size / 3) * of + 1;
        window.heddle.show(track.start(i) - 5, track.end(i) + 5);
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const view = window.heddlePage.viewOf("timeline") as unknown as { lanes: { of(track: object): object; y(row: object): number }; scale: { x(cycle: number): number } };
        const canvas = document.querySelector<HTMLCanvasElement>(".view-timeline canvas")!;
        const { data } = canvas.getContext("2d")!.getImageData(view.scale.x(track.end(i)) - 4, view.lanes.y(view.lanes.of(track)) + 3, 1, 1);
        return data.slice(0, 3).join();
      }, frame);
    const plain = await colour(0);
    await page.evaluate(() => window.heddle.selectInSight({ kind: "frame", frame: 1 }));
    expect(await colour(1)).toBe(plain);
    expect(await colour(0)).not.toBe(plain);
    expect(await colour(2)).not.toBe(plain);
    expect(faults.filter((text) => !text.includes("willReadFrequently"))).toEqual([]);
    await close(page);
  });
});
