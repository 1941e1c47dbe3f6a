// What was wrong once, or misled: each stays mended.
import { readFileSync } from "node:fs";
import type { Page as Tab } from "playwright-core";
import { describe, expect, it } from "vitest";
import { close, open, pageOf, reportOf, settle, useBrowser } from "./tab";

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
    expect(direct.weights).not.toBeCloseTo(root.weights, 4);
    await page.keyboard.press("z");
    await settle(page);
    expect(await shown()).toEqual(root);
    expect(faults).toEqual([]);
    await close(page);
  });
});

/** What the canvas of a view writes, with where and how. */
const wordsOf = (page: Tab, view: string) =>
  page.evaluate((id) => {
    const at = window.heddlePage.viewOf(id as never).picture();
    const words: { x: number; y: number; text: string; size: number; turned: boolean }[] = [];
    const nothing = () => {};
    const theme = window.heddle.theme;
    const record = { theme, rect: nothing, frame: nothing, line: nothing, polygon: nothing, arc: nothing, circle: nothing, hatch: nothing, image: nothing,
      text: (x: number, y: number, text: string, style: { size?: number; turn?: number } = {}) => void words.push({ x, y, text, size: style.size ?? 11, turned: Boolean(style.turn) }),
      clip: (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw(), shift: (_x: number, _y: number, draw: () => void) => draw() };
    at.paint(record as never);
    return words;
  }, view);

describe("the timeline", () => {
  it("stays where it is when a wait is clicked, and says what there was nothing of", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=none&window=1500000-1600000");
    // An engine whose wait covers the whole window.
    const track = await page.evaluate(() => {
      const { run } = window.heddle;
      return run.tracks.findIndex((t) => {
        const i = t.engine === "ddrOut" ? t.firstAfter(1_500_000) : t.size;
        return i < t.size && t.ready(i) < 1_450_000 && t.start(i) > 1_700_000;
      });
    });
    expect(track).toBeGreaterThan(0);
    const spot = await page.evaluate((t) => {
      const view = window.heddlePage.viewOf("timeline") as unknown as { lanes: { of(track: object): object; y(row: object): number; reveal(row: object): void }; redraw(): void };
      const row = view.lanes.of(window.heddle.run.tracks[t]!);
      view.lanes.reveal(row);
      view.redraw();
      return view.lanes.y(row) + 12;
    }, track);
    const box = (await page.locator(".view-timeline canvas").boundingBox())!;
    const before = await page.evaluate(() => window.heddle.store.state.window);
    await page.mouse.click(box.x + 700, box.y + spot);
    await settle(page);
    expect(await page.evaluate(() => window.heddle.focus.track)).toBe(track);
    expect(await page.evaluate(() => window.heddle.store.state.window)).toEqual(before);
    const said = await page.innerText("#details");
    expect(said).toContain("a lock: there was no output yet");
    expect(said).not.toContain("output space");
    await page.mouse.move(box.x + 705, box.y + spot);
    expect(await page.innerText("#tip")).toMatch(/nothing to send yet, for/);
    // Nor does the sequencer hold up anybody: it has started all, and waits for the run's end.
    const words = (await wordsOf(page, "timeline")).map(({ text }) => text);
    expect(words).toContain(`waits ${(await page.evaluate(() => { const { tracks } = window.heddle.run; const t = tracks.find(({ engine }) => engine === "sequencer")!; const i = t.firstAfter(1_500_000); return t.start(i) - t.ready(i); })).toLocaleString("en")} cycles for the run's end`);
    // A memtile whose channels have nothing to send is idle, not stalled for output.
    const stalled = await page.evaluate(() => {
      const { columns, rows } = window.heddlePage.viewOf("mesh").table();
      return rows.filter(([name]) => /^memtile \d+ DDR out/.test(String(name))).map((row) => Number(row[columns.indexOf("waits %")]));
    });
    expect(Math.max(...stalled)).toBeLessThan(1);
    // From the first cycle on, and no axis begins with "-0".
    await page.evaluate(() => window.heddle.show(-20, 1900));
    await settle(page);
    expect((await wordsOf(page, "timeline")).map(({ text }) => text)).not.toContain("-0");
    // The table speaks in the unit that is chosen.
    await page.keyboard.press("u");
    await settle(page);
    const table = await page.evaluate(() => {
      const { columns, rows } = window.heddlePage.viewOf("timeline").table();
      return { columns, first: rows[0]!, clock: window.heddle.run.device.clockHz };
    });
    expect(table.columns).toContain("ran (µs)");
    expect(table.columns.join()).not.toContain("cycles");
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("menus and keys", () => {
  it("close by Esc before anything else does, and the sheet names the keys of all views", async () => {
    const { page, faults } = await open(pageOf("tiny-2x2"), "#view=timeline&lower=layers&select=layer:1");
    for (const menu of [".pane-upper .menu", ".columns-menu"]) {
      await page.click(`${menu} summary`);
      expect(await page.locator(menu).evaluate((node) => (node as HTMLDetailsElement).open)).toBe(true);
      await page.keyboard.press("Escape");
      expect(await page.locator(menu).evaluate((node) => (node as HTMLDetailsElement).open), menu).toBe(false);
      expect(await page.evaluate(() => window.heddle.focus.layer)).toBe(1);
    }
    await page.keyboard.press("?");
    const sheet = await page.innerText("#keys");
    const does = await page.evaluate(() => window.heddle.viewIds.flatMap((id) => window.heddlePage.viewOf(id).keys.map((key) => key.does)));
    for (const text of does) expect(sheet).toContain(text);
    await page.keyboard.press("Escape");
    expect(faults).toEqual([]);
    await close(page);
  });

  it("leave the total and what is selected in sight at 900 pixels", async () => {
    const { page } = await open(pageOf("tiny-2x2"), "#view=layers&lower=none", { width: 900, height: 700 });
    const cycles = reportOf("tiny-2x2").time.cycles.toLocaleString("en");
    expect(await page.locator(".figures", { hasText: `${cycles} cycles` }).isVisible()).toBe(true);
    await page.click(".view-layers tbody tr.row:nth-child(2)");
    await settle(page);
    expect(await page.isVisible("#details")).toBe(false);
    expect(await page.innerText("#brief")).toContain(await page.evaluate(() => window.heddle.run.layers[1]!.name));
    await page.click("#brief button");
    await settle(page);
    expect(await page.isVisible("#details")).toBe(true);
    await close(page);
  });
});

describe("asm", () => {
  it("goes from the costliest line to the next, and sorts its table", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=asm&lower=none");
    const costs = await page.evaluate(() => {
      const { columns, rows, sums } = window.heddlePage.viewOf("asm").table();
      const [line, busy, path, slices] = ["line", "busy cycles", "on the critical path", "slices"].map((name) => columns.indexOf(name));
      const lines = rows.flatMap((row, n) => (sums!.has(n) ? [] : [{ line: Number(row[line!]), busy: Number(row[busy!]), path: Number(row[path!]) }]));
      const best = (by: "busy" | "path") => [...lines].sort((a, b) => b[by] - a[by] || a.line - b.line).slice(0, 3).map((l) => l.line);
      return { text: columns.indexOf("text"), figures: slices!, busy: best("busy"), path: best("path") };
    });
    expect(costs.figures).toBeLessThan(costs.text);
    const selected = () => page.evaluate(() => window.heddle.focus.line + 1);
    for (const line of costs.path) {
      await page.keyboard.press("j");
      await settle(page);
      expect(await selected()).toBe(line);
    }
    expect(await page.textContent(".asm-said")).toMatch(/^no\. 3 of [\d,]+ lines by cycles on the critical path/);
    const title = (await wordsOf(page, "asm")).find(({ text }) => text === "busy cycles")!;
    const box = (await page.locator(".view-asm canvas").boundingBox())!;
    await page.mouse.click(box.x + title.x - 20, box.y + title.y);
    await settle(page);
    expect(await selected()).toBe(costs.busy[0]);
    await page.click('.pane-upper button:has-text("Table")');
    await page.click('.twin th button:has-text("busy cycles")');
    const first = await page.locator(".twin tbody tr:first-child td").allInnerTexts();
    expect(first[0]).toBe(costs.busy[0]!.toLocaleString("en"));
    expect(await page.getAttribute('.twin th:has-text("busy cycles")', "aria-sort")).toBe("descending");
    // The rare lines say something, too.
    expect(await page.evaluate(() => window.heddlePage.viewOf("asm").table().rows.some((row) => Number(row[8]) > 0 && Number(row[8]) < 0.001))).toBe(true);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("names the line that its strip points at", async () => {
    const { page } = await open(pageOf("resnet50-4x4"), "#view=asm&lower=none");
    const box = (await page.locator(".view-asm canvas").boundingBox())!;
    const { inner, top, height, lines } = await page.evaluate(() => {
      const { area } = window.heddlePage.viewOf("asm") as unknown as { area: { inner: number; y: number; height: number } };
      return { inner: area.inner, top: area.y, height: area.height, lines: window.heddle.run.asm.length };
    });
    await page.mouse.move(box.x + inner - 8, box.y + top + height * 0.5);
    await page.mouse.move(box.x + inner - 6, box.y + top + height * 0.5);
    const line = Number(/line ([\d,]+)/.exec(await page.innerText("#tip"))![1]!.replace(/,/g, ""));
    expect(Math.abs(line - lines / 2)).toBeLessThan(lines / 100);
    await close(page);
  });
});

describe("pictures", () => {
  it("keep the words of the two roofs apart", async () => {
    const { page } = await open(pageOf("resnet50-8x8"), "#view=layers&lower=none&o.layers.show=roofline&select=layer:3", { width: 1440 });
    for (const bytes of ["cores", "ddr"]) {
      // As on a device whose DDR is a little faster than its wires, and a little slower.
      for (const factor of [1.2, 0.83]) {
        const words = await page.evaluate(({ bytes, factor }) => {
          const { device } = window.heddle.run;
          const before = device.ddrReadBytesPerSecond!;
          device.ddrReadBytesPerSecond = before * factor;
          window.heddle.store.setOption("layers.bytes", bytes);
          const { roofline } = window.heddlePage.viewOf("layers") as unknown as { roofline: { paint(p: object): void } };
          const seen: { x: number; y: number; text: string }[] = [];
          const nothing = () => {};
          roofline.paint({ theme: window.heddle.theme, rect: nothing, frame: nothing, line: nothing, polygon: nothing, circle: nothing,
            text: (x: number, y: number, text: string, style: { turn?: number } = {}) => void (style.turn && /B\/cycle/.test(text) && seen.push({ x, y, text })), clip: (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw() });
          device.ddrReadBytesPerSecond = before;
          return seen;
        }, { bytes, factor });
        expect(words.length).toBe(2);
        const [a, b] = words as [(typeof words)[0], (typeof words)[0]];
        expect(Math.hypot(a.x - b.x, a.y - b.y), `${bytes} x${factor}`).toBeGreaterThan(18);
      }
    }
    await close(page);
  });

  it.each([["sparse", "cores"], ["spilling", "ddr"]])("keep the words of the roofs of %s clear of marks, by bytes of %s", async (name, bytes) => {
    const { page } = await open(pageOf(name), `#view=mesh&lower=layers&o.layers.bytes=${bytes}`, { width: 900, height: 700 });
    const covered = await page.evaluate(() => {
      const { roofline } = window.heddlePage.viewOf("layers") as unknown as { roofline: { paint(p: object): void; placed: { x: number; y: number; radius: number; point: { layer: { name: string } } }[] } };
      const words: { text: string; points: [number, number][] }[] = [];
      const nothing = () => {};
      roofline.paint({ theme: window.heddle.theme, rect: nothing, frame: nothing, line: nothing, polygon: nothing, circle: nothing,
        text: (x: number, y: number, text: string, { turn = 0, align = "left" }: { turn?: number; align?: string } = {}) => {
          if (!/B\/cycle|^\d.* MAC\/cycle$/.test(text)) return;
          const width = 5.4 * text.length; // at least
          const along = Array.from({ length: 21 }, (_, k) => (k / 20 - (align === "center" ? 0.5 : 0)) * width);
          words.push({ text, points: along.map((step) => [x + Math.cos(turn) * step, y + Math.sin(turn) * step]) });
        },
        clip: (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw() });
      if (words.length !== 3) return [`${words.length} words`];
      return words.flatMap(({ text, points }) => roofline.placed.filter((mark) => points.some(([x, y]) => Math.hypot(x - mark.x, y - mark.y) < mark.radius)).map(({ point }) => `${text}: ${point.layer.name}`));
    });
    expect(covered).toEqual([]);
    await close(page);
  });

  it("give the busiest DDR channel its figure where there is little room", async () => {
    const { page } = await open(pageOf("resnet50-8x8"), "#view=mesh&lower=layers", { width: 1440 });
    const busiest = await page.evaluate(() => {
      const { columns, rows } = window.heddlePage.viewOf("mesh").table();
      const busy = rows.filter(([name]) => /^memtile 0 DDR/.test(String(name))).map((row) => Number(row[columns.indexOf("busy %")]));
      return String(Math.round(Math.max(...busy)));
    });
    const words = await wordsOf(page, "mesh");
    expect(words.filter(({ y }) => y < 60).some(({ text }) => text.replace(/[^\d]/g, "") === busiest)).toBe(true);
    await close(page);
  });

  it("tell of the busiest links what they carry in a second", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=mesh&lower=none");
    const texts: string[] = [];
    await expect.poll(async () => texts.splice(0, Infinity, ...(await wordsOf(page, "mesh")).map(({ text }) => text)) && texts.includes("Busiest links"), { timeout: 30000 }).toBe(true); // sums come frame by frame
    const list = texts.slice(texts.indexOf("Busiest links") + 1);
    const carried = await page.evaluate(() => {
      const { run } = window.heddle;
      const rates: Record<string, number> = {};
      for (const track of run.tracks) {
        if (track.engine !== "wire") continue;
        let bytes = 0;
        for (let i = 0; i < track.size; i++) bytes += run.bytesOf(track, i);
        rates[`wire ${run.device.wires[track.column]!.name}`] = (bytes * run.device.clockHz) / run.makespan;
      }
      return rates;
    });
    const told = list.flatMap((text, k) => (carried[text] === undefined ? [] : [{ text, rate: list[k + 2]! }]));
    expect(told.length).toBeGreaterThan(2);
    for (const { text, rate } of told) {
      const [, number, unit] = /^([\d.]+) (MB|GB)\/s$/.exec(rate) ?? [];
      expect((Number(number) * (unit === "GB" ? 1e9 : 1e6)) / carried[text]!, `${text}: ${rate}`).toBeCloseTo(1, 2);
    }
    expect(faults).toEqual([]);
    await close(page);
  });

  it("sort Compare's table by a click on a heading, and the other way round by another", async () => {
    const { page, faults } = await open(pageOf("compare"), "#view=compare&lower=none");
    const column = async (k: number) => (await page.evaluate(() => window.heddlePage.viewOf("compare").table().rows.slice(0, -1))).map((row) => row[k]!);
    const shown = () => page.locator(".compare-scroll tbody tr.row:first-child td:first-child").innerText();
    const network = await column(0);
    for (const [title, k] of [["B", 3], ["difference", 4], ["A / B", 5], ["bound", 6]] as const) {
      const head = page.locator(".compare-scroll th", { has: page.getByText(title, { exact: true }) });
      await head.getByRole("button").click();
      await settle(page);
      const once = await column(k);
      const rising = (list: (string | number)[]) => [...list].sort((a, b) => (typeof a === "number" ? a - Number(b) : a.localeCompare(String(b))));
      expect(once, title).toEqual(k === 6 ? rising(once) : rising(once).reverse());
      expect(await head.getAttribute("aria-sort")).toBe(k === 6 ? "ascending" : "descending");
      expect(await shown()).toBe((await column(0))[0]);
      await page.keyboard.press("Enter"); // it has the focus still
      await settle(page);
      expect(await column(k), title).toEqual(k === 6 ? rising(once).reverse() : rising(once));
    }
    await page.locator(".compare-scroll th", { has: page.getByText("layer", { exact: true }) }).getByRole("button").click();
    await settle(page);
    expect(await column(0)).toEqual(network);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("write a change's figure at the end of its own bar in Compare", async () => {
    const { page, faults } = await open(pageOf("compare"), "#view=compare&lower=layers", { width: 1920, height: 1080 });
    const figures = (await wordsOf(page, "compare")).flatMap(({ text, y, size }) => (size === 10 && /^−[\d,]+$/.test(text) ? [{ size: Number(text.slice(1).replace(/,/g, "")), y }] : []));
    expect(figures.length).toBeGreaterThan(4);
    // All lead down from 0: the larger one ends the lower, but for the height of a figure.
    for (const a of figures) for (const b of figures) if (a.size < b.size) expect(a.y, `${a.size} and ${b.size}`).toBeLessThanOrEqual(b.y + 13);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("show all of Compare's table in windows of every size", async () => {
    const { page, faults } = await open(pageOf("compare"), "#view=compare&lower=none");
    for (const [width, height] of [[1366, 768], [1440, 900], [1600, 900], [1920, 1080]] as const) {
      await page.setViewportSize({ width, height });
      await settle(page);
      const cut = await page.evaluate(() => {
        const scroller = document.querySelector(".compare-scroll")!;
        const rows = [...scroller.querySelectorAll<HTMLElement>("tbody tr.row")];
        const cells = rows.flatMap((row) => [...row.querySelectorAll("td")]);
        const heights = new Set(rows.map((row) => row.offsetHeight));
        return { beyond: scroller.scrollWidth - scroller.clientWidth, cells: cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length, heights: heights.size, all: rows.length };
      });
      expect(cut.all).toBeGreaterThan(10);
      expect(cut, String(width)).toMatchObject({ beyond: 0, cells: 0, heights: 1 });
      await page.keyboard.press("Escape");
      await page.keyboard.press("ArrowUp"); // the first layer, then on to where the table has to scroll
      for (let k = 0; k < 45; k++) await page.keyboard.press("ArrowDown");
      await settle(page);
      const chosen = (await page.locator('.compare-scroll tr[aria-selected="true"]').boundingBox())!;
      const pane = (await page.locator(".compare-scroll").boundingBox())!;
      expect(chosen.y, String(width)).toBeGreaterThan(pane.y);
      expect(chosen.y + chosen.height, String(width)).toBeLessThanOrEqual(pane.y + pane.height);
    }
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("the browser's Back", () => {
  it("undoes a view, a selection and a zoom, one by one", async () => {
    const { page, faults } = await open(pageOf("tiny-2x2"), "#view=timeline&lower=layers");
    const seen = () => page.evaluate(() => ({ view: window.heddle.store.state.view, layer: window.heddle.focus.layer, from: Math.round(window.heddle.store.state.window.from) }));
    await page.waitForTimeout(300);
    const states = [await seen()];
    for (const act of [() => page.evaluate(() => window.heddle.select({ kind: "layer", layer: 2 })), () => page.keyboard.press("f"), () => page.keyboard.press("4")]) {
      await act();
      await page.waitForTimeout(300);
      states.push(await seen());
    }
    expect(states.map(({ view }) => view)).toEqual(["timeline", "timeline", "timeline", "mesh"]);
    for (let k = states.length - 2; k >= 0; k--) {
      await page.goBack();
      await settle(page);
      expect(await seen()).toEqual(states[k]);
    }
    await page.goForward();
    await settle(page);
    expect(await seen()).toEqual(states[1]);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("search", () => {
  it("finds tiles, engines, spills and the memory of an address, and starts anew each time", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=none");
    const found = async (text: string) => {
      await page.keyboard.press("/");
      await page.keyboard.type(text);
      const first = await page.innerText("#hits li:first-child");
      await page.keyboard.press("Enter");
      await settle(page);
      return { first, title: await page.innerText("#details h2") };
    };
    expect((await found("core 2,1")).title).toBe("Core 2,1");
    expect((await found("wire row0")).title).toBe("wire row0");
    expect((await found("memtile 2")).title).toBe("Memtile 2");
    const address = await page.evaluate(() => `0x${window.heddle.run.memory.find((b) => b.kind === "memtile" && b.tiles.columns > 1)!.address.toString(16)}`);
    expect((await found(address)).first).toMatch(/memtile \d/);
    expect(faults).toEqual([]);
    await close(page);

    const spilling = await open(pageOf("spilling"), "#view=timeline&lower=none");
    await spilling.page.keyboard.press("/");
    await spilling.page.keyboard.type("spill");
    await settle(spilling.page);
    expect(await spilling.page.innerText("#hits li:first-child")).toContain("cycles of the critical path");
    expect(spilling.faults).toEqual([]);
    await close(spilling.page);
  });
});

describe("files", () => {
  it("say of what run they are, and hold numbers", async () => {
    const { page, faults } = await open(pageOf("compare"), "#view=timeline&lower=none");
    const views = await page.evaluate(() => window.heddle.viewIds);
    for (const view of views) {
      await page.click(`#tab-upper-${view}`);
      await settle(page);
      const worded = await page.evaluate((id) => {
        const { columns, rows } = window.heddlePage.viewOf(id).table();
        const cells = rows.flatMap((row) => row.flatMap((cell, k) => (typeof cell === "string" && /^[<≤+−-]?[\d.,]+ ?(%|×|µs|ms|s|cycles)$/.test(cell) ? [`${columns[k]}: ${cell}`] : [])));
        return cells.slice(0, 3);
      }, view);
      expect(worded, view).toEqual([]);
    }
    await page.click("#tab-upper-layers");
    await page.click(".pane-upper .menu summary");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click('.pane-upper .menu-items button:has-text("SVG")')]);
    const svg = readFileSync(await download.path()).toString();
    const { model, device, makespan } = await page.evaluate(() => ({ model: window.heddle.run.model, device: window.heddle.run.device, makespan: window.heddle.run.makespan }));
    expect(svg).toContain(`${model} on ${device.name} ${device.rows}x${device.columns}, ${makespan.toLocaleString("en")} cycles`);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("rows of the timeline", () => {
  it("fill the pane, show more than one row of cores in a small window, and keep arrows when folded", async () => {
    const { page, faults } = await open(pageOf("resnet50-8x8"), "#view=timeline&lower=layers", { width: 1366, height: 768 });
    type Seen = { lanes: { parts: { top: number; height: number; rows: { kind: string; key: string; height: number }[] }[]; y(row: object): number }; bottom: number };
    const cores = await page.evaluate(() => {
      const { lanes, bottom } = window.heddlePage.viewOf("timeline") as unknown as Seen;
      return lanes.parts.flatMap(({ rows }) => rows).filter((row) => row.key.startsWith("core") && lanes.y(row) + row.height <= bottom).length;
    });
    expect(cores).toBeGreaterThan(3);
    await page.setViewportSize({ width: 1600, height: 1000 });
    await page.keyboard.press("x");
    await page.keyboard.press("b");
    await settle(page);
    await settle(page);
    const filled = await page.evaluate(() => {
      const { lanes } = window.heddlePage.viewOf("timeline") as unknown as Seen;
      const part = lanes.parts[0]!;
      return part.rows.reduce((sum, row) => sum + row.height, 0) / part.height;
    });
    expect(filled).toBeGreaterThan(0.9);
    // A received piece leads to its wire, though both are folded away.
    const arrows = await page.evaluate(async () => {
      const { run } = window.heddle;
      const track = run.tracks.findIndex((t) => t.engine === "coreIn" && t.size > 10);
      const i = run.tracks[track]!.size >> 1;
      const start = run.tracks[track]!.start(i);
      window.heddle.show(start - 300, start + 600);
      window.heddle.select({ kind: "slice", track, index: i });
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      let count = 0;
      const nothing = () => {};
      window.heddlePage.viewOf("timeline").picture().paint({ theme: window.heddle.theme, rect: nothing, frame: nothing, line: nothing, circle: nothing, hatch: nothing, image: nothing, text: nothing, shift: nothing,
        arc: () => void count++, polygon: (points: number[]) => void (count += Number(points.length === 6)), clip: (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw() } as never);
      return count;
    });
    expect(arrows).toBeGreaterThan(0);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("longest waits for a lock", () => {
  it("are told once each, with who waited, though all ends of a transfer wait for the same", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"));
    await page.keyboard.press("/");
    await page.keyboard.type("lock");
    await page.keyboard.press("Enter");
    await settle(page);
    const items = await page.locator("#details ol li").allInnerTexts();
    expect(items.length).toBeGreaterThan(1);
    const when = items.map((text) => /^[\d,]+ cycles at [\d,]+: (core|wire|memtile|sequencer) /.exec(text)?.[0] ?? `no engine in '${text}'`);
    expect(when.filter((text) => text.startsWith("no engine"))).toEqual([]);
    expect(new Set(when.map((text) => text.split(":")[0])).size).toBe(items.length);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("the peak of a memory", () => {
  it("has one time: the picture's is where the panel's begins", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=memory&lower=none");
    const told = await page.evaluate(() => /at cycle ([\d,]*\d)/.exec(window.heddlePage.viewOf("memory").table().caption)?.[1]);
    await page.keyboard.press("m");
    await settle(page);
    expect(told).toBeTruthy();
    expect(await page.innerText("#details dl")).toContain(`from cycle ${told}`);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("a program whose steps are not the layers in order", () => {
  it("opens in every view, with its sections under their layers", async () => {
    const { page, faults } = await open(pageOf("steps"), "#view=timeline&lower=layers");
    expect(await page.evaluate(() => window.heddle.run.asm.filter((line) => /^step \d+ layer/.test(line)).length)).toBeGreaterThan(2);
    for (const view of await page.evaluate(() => window.heddle.viewIds)) {
      await page.click(`#tab-upper-${view}`);
      await page.evaluate(() => window.heddle.select({ kind: "layer", layer: 2 }));
      await settle(page);
    }
    expect(await page.innerText("#details h2")).toBe(await page.evaluate(() => window.heddle.run.layers[2]!.name));
    const wrong = await page.evaluate(() => {
      const { columns, rows } = window.heddlePage.viewOf("asm").table();
      const layer = columns.indexOf("layer");
      return { sections: rows.filter((row) => /^on core/.test(String(row.at(-1)))).length, none: rows.filter((row) => /^on core/.test(String(row.at(-1))) && !row[layer]).length };
    });
    expect(wrong.sections).toBeGreaterThan(3);
    expect(wrong.none).toBe(0);
    expect(faults).toEqual([]);
    await close(page);
  });
});
