// The twelve questions of docs/viewer.md, each answered by exactly the steps that stand there, in a page that is opened once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { close, open, type Opened, pageOf, PAGES, reportOf, settle, useBrowser } from "./tab";

useBrowser();

const report = () => reportOf("resnet50-4x4");
const thousands = (n: number) => Math.round(n).toLocaleString("en");

describe("docs/viewer.md", () => {
  it("asks the twelve questions that are walked through here", () => {
    const asked = [...readFileSync(new URL("../../../docs/viewer.md", import.meta.url), "utf8").matchAll(/^## (.*\?)$/gm)].map(([, question]) => question);
    expect(asked).toEqual(QUESTIONS);
  });
});

const QUESTIONS = [
  "Why is this layer slow?", "What limits the network?", "Where does memory peak?", "Who waits for whom?", "Which line of the program costs most?", "What did a change, or another mesh, gain?",
  "Which tensor spills, and what does it cost?", "Which cores idle, and why?", "Where would one more row of cores help?", "What is prefetched, and what comes late?", "Which lock is waited for longest?", "What does this line move?",
];

describe("of one run", () => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=layers");
  });
  afterAll(async () => {
    expect(opened.faults).toEqual([]);
    await close(opened.page);
  });
  /** As whoever opens the page finds it. */
  beforeEach(async () => {
    await opened.page.evaluate(() => window.heddle.store.set({ view: "timeline", lower: "layers", selection: null, measure: null, options: {}, window: { from: 0, to: window.heddle.run.makespan } }));
    await settle(opened.page);
    await opened.page.mouse.click(5, 5);
    await settle(opened.page);
  });
  const press = async (...keys: string[]) => {
    for (const key of keys) {
      await opened.page.keyboard.press(key);
      await settle(opened.page);
    }
  };
  const find = async (text: string) => {
    await press("/");
    await opened.page.keyboard.type(text);
    await press("Enter");
  };
  const said = async () => (await opened.page.innerText("#details")).replace(/\s+/g, " ");

  it("why this layer is slow: search it, and read what bounds it, what moved more than once and what it would gain", async () => {
    const layer = [...report().layers].sort((a, b) => b.cycles - a.cycles)[0]!;
    await find(layer.name);
    const text = await said();
    expect(text).toContain(`bound by ${layer.boundBy}`);
    const busy = (layer["busyCycles"] as Record<string, number>)[layer.boundBy!]!;
    expect(text).toContain(`${layer.boundBy} ${thousands(busy)}`);
    const times = Number(layer["weightsToCoresBytes"]) / layer.weightBytes;
    if (times >= 1.5) expect(text).toContain(`${times.toFixed(1)} times`);
    expect(text).toMatch(/weights by (column|row)\d/);
    await expect.poll(said, { timeout: 15000 }).toMatch(/were it free at most [\d,]+ cycles/);
    await press("f");
    const { from, to } = await opened.page.evaluate(() => window.heddle.store.state.window);
    expect(from).toBeLessThanOrEqual(layer.start);
    expect(to).toBeGreaterThanOrEqual(layer.end);
    // A pool has no MACs: nothing is said of them.
    await find(report().layers.find(({ macs }) => macs === 0)!.name);
    expect(await said()).not.toContain("MAC");
  });

  it("what limits the network: with nothing selected, the critical path's largest share and what freeing it would gain", async () => {
    await press("Escape");
    const free = await opened.page.evaluate(() => window.heddle.run.whatIf.map(({ resource, cycles }) => ({ resource, gain: 1 - cycles / window.heddle.run.makespan })));
    const rows = await opened.page.locator("#details .figures-table").first().locator("tbody tr").allInnerTexts();
    const [name, share, gain] = rows[0]!.split(/\t|\n/).map((cell) => cell.trim()).filter(Boolean);
    expect(gain).toBe(`${(100 * free.find(({ resource }) => resource === name)!.gain).toFixed(1)} %`);
    expect(Number(share!.replace(" %", ""))).toBeGreaterThan(25);
    await press("2");
    expect(await opened.page.evaluate(() => window.heddle.store.state.view)).toBe("path");
  });

  it("which keys of the device hold it back: the command that finds out, or what it found", async () => {
    await press("Escape");
    expect(await said()).toContain("Which keys of the device hold it back, and what doubling each would gain: heddle view FOLDER writes this page with them");
    const { page, faults } = await open(pageOf("with-keys"), "#view=timeline&lower=none");
    const { keys, cycles } = JSON.parse(readFileSync(join(PAGES, "keys.json"), "utf8")) as { cycles: number; keys: { raised: { key: string }[]; gainCycles: number }[] };
    const gaining = keys.filter(({ gainCycles }) => gainCycles >= 0.0005 * cycles).slice(0, 4);
    expect(gaining.length).toBeGreaterThan(0);
    expect(await page.locator("#keys dd").allInnerTexts()).toEqual(gaining.map(({ raised }) => raised.map(({ key }) => key).join(" and ")));
    expect((await page.locator("#keys dt").allInnerTexts()).map(parseFloat)[0]).toBeCloseTo((100 * gaining[0]!.gainCycles) / cycles, 1);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("where memory peaks: Memory, M, and the blocks that lie there", async () => {
    await press("3", "m");
    expect(await opened.page.innerText("#details h2")).toMatch(/^Memtile \d$/);
    const peak = (await opened.page.innerText(".memory-peak")).replace("Peak ", "");
    const text = await said();
    expect(text).toContain("peak from cycle");
    expect(text).toContain(peak);
    await opened.page.click("#details .figures-table .link");
    await settle(opened.page);
    expect(await said()).toMatch(/addresses 0x.* written by .*reserved from/);
  });

  it("who waits for whom: a click on a wait names what it was for, and C goes to who ended it", async () => {
    // Somewhere in the first core's lane, a wait long enough to be hit.
    const wait = await opened.page.evaluate(() => {
      const { run } = window.heddle;
      const track = run.tracks.find(({ engine }) => engine === "core")!;
      for (let i = track.size >> 2; i < track.size; i++)
        if (track.start(i) - track.ready(i) > 100 && run.causeOf({ track: track.index, index: i })) {
          window.heddle.show(track.ready(i) - 200, track.end(i) + 200);
          return { track: track.index, index: i, cause: run.causeOf({ track: track.index, index: i }) };
        }
      return null;
    });
    expect(wait).not.toBeNull();
    await settle(opened.page);
    const spot = await opened.page.evaluate(({ track, index }) => {
      const view = window.heddlePage.viewOf("timeline") as unknown as { lanes: { of(track: object): object; y(row: object): number; reveal(row: object): void }; scale: { x(cycle: number): number } };
      const at = window.heddle.run.tracks[track]!;
      const row = view.lanes.of(at);
      view.lanes.reveal(row);
      return { x: (view.scale.x(at.ready(index)) + view.scale.x(at.start(index))) / 2, y: view.lanes.y(row) + 5 };
    }, wait!);
    const box = (await opened.page.locator(".view-timeline canvas").boundingBox())!;
    await opened.page.mouse.click(box.x + spot.x, box.y + spot.y);
    await settle(opened.page);
    expect(await said()).toMatch(/waited [\d,]+ cycles.* for (input|weights|DDR|output|compute) .*let go by/);
    await press("c");
    expect(await opened.page.evaluate(() => window.heddle.focus.slice)).toEqual(wait!.cause);
    // Where the chain ends, the engine was busy: the panel says with what, and leads there.
    for (let k = 0; k < 50 && !(await said()).includes("the chain of waits (C) ends here"); k++) await press("c");
    const [since, before] = await opened.page.evaluate(() => {
      const { run, focus } = window.heddle;
      const track = run.tracks[focus.slice!.track]!;
      let first = focus.slice!.index;
      while (first > 0 && track.start(first) === track.end(first - 1)) first--;
      return [track.start(first), { track: focus.slice!.track, index: focus.slice!.index - 1 }] as const;
    });
    expect(await said()).toContain(`without a break since ${thousands(since)}`);
    await opened.page.click("#details p .link");
    await settle(opened.page);
    expect(await opened.page.evaluate(() => window.heddle.focus.slice)).toEqual(before);
  });

  it("which line costs most: Asm, J", async () => {
    await press("7", "j");
    const [line, best] = await opened.page.evaluate(() => {
      const { columns, rows, sums } = window.heddlePage.viewOf("asm").table();
      const cost = columns.indexOf("on the critical path");
      const most = rows.reduce((best, row, n) => (!sums!.has(n) && Number(row[cost]) > Number(rows[best]![cost] || 0) ? n : best), rows.findIndex((_, n) => !sums!.has(n)));
      return [window.heddle.focus.line, most];
    });
    expect(line).toBe(best);
    expect(await opened.page.textContent(".asm-said")).toContain("no. 1 of");
    const text = await said();
    expect(text).toMatch(/ran [\d,]+ times/);
    const shown = (await opened.page.evaluate(() => window.heddlePage.viewOf("asm").table().rows[window.heddle.focus.line]!))[6];
    expect(text).toContain(`on the path ${thousands(Number(shown))} cycles`);
    await expect.poll(said, { timeout: 15000 }).toMatch(/were it free at most [\d,]+ cycles/);
    // What only has nothing to send costs nothing, and the sequencer waits for other lines.
    expect(text).not.toMatch(/nothing to do|^(WAIT|START)/);
  });

  it("which tensor spills: with nothing selected, or searched for", async () => {
    const { page, faults } = await open(pageOf("spilling"), "#view=timeline&lower=layers");
    const said = async () => (await page.innerText("#details")).replace(/\s+/g, " ");
    const spilled = await page.evaluate(() => window.heddle.run.memory.filter((b) => b.kind === "ddr" && b.tensor >= 0 && b.writtenBy?.length && b.readBy?.length).map((b) => b.name));
    expect(spilled.length).toBeGreaterThan(0);
    expect(await said()).toContain(`Spilled to DDR ${spilled.length} tensor`);
    await page.keyboard.press("/");
    await page.keyboard.type("spill");
    await page.keyboard.press("Enter");
    await settle(page);
    expect(spilled).toContain(await page.innerText("#details h2"));
    const text = await said();
    expect(text).toMatch(/spilled ⇅ .* to DDR, .* back(: [\d.]+ times its size)? costs [\d,]+ cycles .*, [\d.]+ % of the critical path/);
    // What goes out is the spills and the network's output.
    const written = await page.evaluate(() => {
      const { run } = window.heddle;
      let bytes = 0;
      for (const track of run.tracks) if (track.engine === "ddrOut") for (let i = 0; i < track.size; i++) bytes += run.bytesOf(track, i);
      return bytes;
    });
    expect(written).toBe(reportOf("spilling").traffic["ddrWriteBytes"]);
    // Where nothing does, that is said.
    await press("/");
    await opened.page.keyboard.type("spill");
    expect(await opened.page.innerText("#hits")).toBe("Nothing spills in this run");
    await press("Escape");
    expect(faults).toEqual([]);
    await close(page);
  });

  it("which cores idle: Mesh, Idle, and a click on a core", async () => {
    await press("4");
    await opened.page.waitForFunction(() => document.querySelector(".mesh-modes") !== null);
    await opened.page.click('.mesh-modes button:has-text("Idle")');
    await settle(opened.page);
    const core = await opened.page.evaluate(() => {
      const { columns, rows } = window.heddlePage.viewOf("mesh").table();
      const idle = columns.indexOf("idle %");
      const cores = rows.filter(([name]) => /^core/.test(String(name)) && !/out/.test(String(name)));
      const best = cores.reduce((a, b) => (Number(b[idle]) > Number(a[idle]) ? b : a));
      const { geometry } = window.heddlePage.viewOf("mesh") as unknown as { geometry: { cores: { x: number; y: number; width: number; height: number }[] } };
      return { name: String(best[0]), idle: Number(best[idle]), box: geometry.cores[cores.indexOf(best)]! };
    });
    const box = (await opened.page.locator(".view-mesh canvas").boundingBox())!;
    await opened.page.mouse.click(box.x + core.box.x + core.box.width / 2, box.y + core.box.y + core.box.height / 2);
    await settle(opened.page);
    expect((await opened.page.innerText("#details h2")).toLowerCase()).toBe(core.name);
    const text = await said();
    expect(text).toContain(`idle ${core.idle.toFixed(1)} %`);
    expect(text).toMatch(/waits for (input|weights) [\d.]+ %/);
  });

  it("where one more row of cores would help: the layer table, sorted by that column", async () => {
    await press("5");
    await opened.page.click('.pane:has(.view-layers) .pane-bar button:has-text("Table")');
    await opened.page.click('.twin th button:has-text("one more row")');
    const names = await opened.page.locator(".twin thead th").allInnerTexts();
    const rows = await opened.page.locator(".twin tbody tr").evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")));
    const column = names.findIndex((name) => name.startsWith("one more row"));
    const gains = rows.map((row) => Number(row[column]!.replace(/,/g, "")));
    const layers = gains.slice(0, -1); // the last is their sum
    expect(layers[0]).toBeGreaterThan(0);
    expect(layers).toEqual([...layers].sort((a, b) => b - a));
    expect(layers.reduce((a, b) => a + b, 0)).toBe(gains.at(-1));
    expect(rows[0]![names.findIndex((name) => name.startsWith("bound by"))]).toBe("compute");
    // Which layers these are can be read where that column stands.
    const [pane, name, heading] = await Promise.all([".pane:has(.twin) .view.scrolls", ".twin tbody tr:first-child td.held", '.twin th:has-text("one more row")'].map(async (at) => (await opened.page.locator(at).boundingBox())!));
    expect(heading!.x + heading!.width).toBeLessThanOrEqual(pane!.x + pane!.width);
    expect(name!.x).toBeGreaterThanOrEqual(pane!.x - 1);
    expect(name!.x + name!.width).toBeLessThanOrEqual(heading!.x);
    await opened.page.click('.pane:has(.twin) .pane-bar button:has-text("Table")');
  });

  it("what is prefetched and what comes late: a layer's panel", async () => {
    const layer = report().layers.find(({ name }) => name === "s5b2_2")!;
    await find(layer.name);
    const text = await said();
    const parts = /prefetched ([\d.]+ \w+) \(([\d.]+) %\) came before its first core started, ([\d.,]+ \w+) later/.exec(text);
    expect(parts).not.toBeNull();
    const early = await opened.page.evaluate((index) => {
      const { run } = window.heddle;
      let began = Infinity;
      for (const track of run.tracks) if (track.engine === "core") for (let i = 0; i < track.size; i++) if (track.layer(i) === index) { began = Math.min(began, track.start(i)); break; }
      let [bytes, all] = [0, 0];
      for (const track of run.tracks)
        if (track.engine === "ddrIn")
          for (let i = 0; i < track.size; i++) {
            if (track.layer(i) !== index) continue;
            all += run.bytesOf(track, i);
            if (track.end(i) <= began) bytes += run.bytesOf(track, i);
          }
      return { bytes, all };
    }, report().layers.findIndex(({ name }) => name === layer.name));
    expect(early.all).toBe(layer.ddrReadBytes);
    expect(Number(parts![2])).toBeCloseTo((100 * early.bytes) / early.all, 1);
    expect(text).toMatch(/a core, on average cycles .*waits for weights/);
  });

  it("which lock is waited for longest: search lock, and F", async () => {
    const longest = await opened.page.evaluate(() => {
      const { run } = window.heddle;
      const waits = new Map<number, number>();
      for (const track of run.tracks) for (let i = 0; i < track.size; i++) {
        const lock = track.lock(i);
        const [producer, consumer] = [run.tracks[run.locks.producer[lock]!]?.engine, run.tracks[run.locks.consumer[lock]!]?.engine];
        const hadNothing = (track.engine === "ddrOut" && consumer === "ddrOut") || (track.engine === "coreOut" && producer === "core");
        if (lock >= 0 && !hadNothing) waits.set(lock, (waits.get(lock) ?? 0) + track.start(i) - track.ready(i));
      }
      return Math.max(...waits.values());
    });
    await find("lock");
    expect(await said()).toContain(`waited for ${thousands(longest)} cycles`);
    const marks = await opened.page.evaluate(() => {
      let frames = 0;
      const nothing = () => {};
      const { accent } = window.heddle.theme;
      window.heddlePage.viewOf("timeline").picture().paint({ theme: window.heddle.theme, rect: nothing, line: nothing, polygon: nothing, arc: nothing, circle: nothing, hatch: nothing, image: nothing, text: nothing, shift: nothing,
        frame: (_x: number, _y: number, _w: number, _h: number, colour: string) => void (frames += Number(colour === accent)), clip: (_x: number, _y: number, _w: number, _h: number, draw: () => void) => draw() } as never);
      return frames;
    });
    expect(marks, "it is marked on the whole run").toBeGreaterThan(1); // one frame is the overview's window
    await press("f");
    const { shown, slices } = await opened.page.evaluate(() => {
      const { run, focus, store } = window.heddle;
      const own: number[] = [];
      for (const track of run.tracks) for (let i = 0; i < track.size; i++) if (track.lock(i) === focus.lock) own.push(track.start(i));
      return { shown: store.state.window, slices: [Math.min(...own), Math.max(...own)] };
    });
    expect(shown.from).toBeLessThanOrEqual(slices[0]!);
    expect(shown.to).toBeGreaterThanOrEqual(slices[1]!);
  });

  it("what this line moves: Asm, a click on the line", async () => {
    await press("7");
    await opened.page.fill(".asm-find", "/LOADFM %/");
    await opened.page.press(".asm-find", "Enter");
    await opened.page.press(".asm-find", "Escape");
    await settle(opened.page);
    const spot = await opened.page.evaluate(() => {
      const { area, finder } = window.heddlePage.viewOf("asm") as unknown as { area: { offset: number; y: number }; finder: { line: number } };
      return { y: area.y + finder.line * 18 + 9 - area.offset, line: finder.line };
    });
    const box = (await opened.page.locator(".view-asm canvas").boundingBox())!;
    await opened.page.mouse.click(box.x + 20, box.y + spot.y);
    await settle(opened.page);
    const moved = await opened.page.evaluate(() => {
      const { run, focus } = window.heddle;
      let times = 0;
      for (const track of run.tracks) for (let i = 0; i < track.size; i++) times += Number(track.leaf(i) === focus.leaf);
      return { line: focus.line, times, bytes: run.instructions.bytes[focus.leaf]!, tensor: run.graph.tensors[Number(/%(\d+)/.exec(run.textOf(focus.leaf))![1])]!.name };
    });
    expect(moved.line).toBe(spot.line);
    const text = await said();
    expect(text).toContain(`moves ${moved.tensor}`);
    expect(text).toContain(`ran ${thousands(moved.times)} time`);
    expect(text).toMatch(/bytes .* each time, .* in all/);
    expect(text).toMatch(/ on (wire|core)/);
    await opened.page.fill(".asm-find", "");
  });
});

describe("of two runs", () => {
  it("what another mesh gained: Compare, by size", async () => {
    const [a, b] = [reportOf("resnet50-4x4"), reportOf("resnet50-8x8")];
    const { page, faults } = await open(pageOf("compare"));
    await page.click("#tab-upper-compare");
    await page.click('.pane-upper button:has-text("By size")');
    await settle(page);
    const { caption, rows } = await page.evaluate(() => {
      const { caption, rows } = window.heddlePage.viewOf("compare").table();
      return { caption, rows: rows.slice(0, 2) };
    });
    expect(caption).toContain(`${(a.time.cycles / b.time.cycles).toFixed(2)}×`);
    const largest = a.layers.map((layer, k) => layer.cycles - b.layers[k]!.cycles).reduce((most, gain) => Math.max(most, Math.abs(gain)), 0);
    expect(Math.abs(Number(rows[0]![4]))).toBe(largest);
    expect(await page.innerText(".compare-table tbody tr.row:first-child td:first-child")).toBe(rows[0]![0]);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("what sparsity gained: Compare, in the words of heddle compare", async () => {
    const said = JSON.parse(readFileSync(join(PAGES, "dense-sparse.json"), "utf8")) as { layers: { name: string; b: { density: number | null } }[]; sparsity: { sentences: string[] } };
    expect(said.sparsity.sentences.length).toBeGreaterThan(2);
    const { page, faults } = await open(join(PAGES, "dense-sparse.html"), "#view=compare&lower=none");
    const { caption, columns, rows } = await page.evaluate(() => {
      const { caption, columns, rows } = window.heddlePage.viewOf("compare").table();
      return { caption, columns, rows };
    });
    expect(caption.endsWith(said.sparsity.sentences.join(" "))).toBe(true);
    const density = columns.indexOf("density in B");
    for (const { name, b } of said.layers) expect(rows.find((row) => row[0] === name)![density], name).toBe(b.density ?? "");
    expect(await page.innerText(".compare-table thead tr")).toContain("sparsity");
    expect(await page.innerText(".compare-table table")).toMatch(/density 50\.0 %, imbalance [\d.]+, /);
    expect(faults).toEqual([]);
    await close(page);
  });

  it("bytes and MACs of slices whose weight records differ: each layer's add up to the report's", async () => {
    const { page, faults } = await open(pageOf("sparse"));
    const { moved, own } = await page.evaluate(() => {
      const { run } = window.heddle;
      const moved = run.layers.map(() => ({ ddrReadBytes: 0, memtileToCoreBytes: 0, macsExecuted: 0 }));
      let own = 0; // slices that are unlike their instruction
      for (const track of run.tracks)
        for (let i = 0; i < track.size; i++) {
          const of = moved[track.layer(i)]!;
          if (track.engine === "ddrIn") of.ddrReadBytes += run.bytesOf(track, i);
          if (track.engine === "wire") of.memtileToCoreBytes += run.bytesOf(track, i);
          if (track.engine === "core") of.macsExecuted += run.macsOf(track, i);
          own += Number(run.bytesOf(track, i) !== run.instructions.bytes[track.leaf(i)]);
        }
      return { moved, own };
    });
    expect(own).toBeGreaterThan(0);
    expect(moved).toEqual(reportOf("sparse").layers.map(({ ddrReadBytes, memtileToCoreBytes, macsExecuted }) => ({ ddrReadBytes, memtileToCoreBytes, macsExecuted })));
    expect(faults).toEqual([]);
    await close(page);
  });
});
