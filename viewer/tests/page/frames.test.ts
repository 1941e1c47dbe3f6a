// Runs of several inferences: each is named, found, selected and zoomed to, and the figures are those of the report.
import { describe, expect, it } from "vitest";
import { addressed, close, open, pageOf, reportOf, settle, useBrowser } from "./tab";

useBrowser();

describe("frames", () => {
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
