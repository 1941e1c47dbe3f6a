// What a user does: one selection holds everywhere, keys and panels do as they say, names are text, and nothing leaves the page.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { AXE } from "./sight";
import { addressed, close, open, pageOf, reportOf, settle, useBrowser, viewsOf } from "./tab";

const TITLES = ["Timeline", "Critical path", "Memory", "Mesh", "Layers", "Graph", "Asm", "Compare"];

useBrowser();

describe("one selection", () => {
  it("goes from the layer table to every view and into the address", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=layers");
    await page.click("#pane-lower tbody tr:nth-child(5)");
    await settle(page);
    const layer = await page.evaluate(() => window.heddle.focus.layer);
    expect(layer).toBeGreaterThanOrEqual(0);
    const name = await page.evaluate((i) => window.heddle.run.layers[i]!.name, layer);
    expect(await page.innerText("#details h2")).toBe(name);
    await addressed(page);
    expect(page.url()).toContain(`select=layer%3A${layer}`);
    for (const view of viewsOf("resnet50-4x4")) {
      await page.click(`#tab-upper-${view}`);
      await settle(page);
      expect(await page.evaluate(() => window.heddle.focus.layer), view).toBe(layer);
    }
    expect(faults).toEqual([]);
    await close(page);
  });

  it("goes from a slice in the timeline to its line of asm, and back by the address alone", async () => {
    const { page } = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=asm");
    for (let y = 330; y < 500 && !(await page.evaluate(() => window.heddle.focus.slice)); y += 8) {
      await page.mouse.click(400, y);
      await settle(page);
    }
    const before = await page.evaluate(() => window.heddle.focus);
    expect(before.slice).not.toBeNull();
    const text = await page.evaluate((leaf) => window.heddle.run.textOf(leaf), before.leaf);
    expect(await page.innerText("#details pre")).toBe(text);
    await page.evaluate(() => { window.heddle.zoom(0.1, 0); window.heddle.pan(window.heddle.run.makespan / 2); }); // away from the slice
    await addressed(page);
    const again = await open(pageOf("resnet50-4x4"), new URL(page.url()).hash);
    expect(await again.page.evaluate(() => window.heddle.focus)).toEqual(before);
    expect(await again.page.evaluate(() => window.heddle.store.state.window)).toEqual(await page.evaluate(() => window.heddle.store.state.window).then(({ from, to }) => ({ from: Math.round(from), to: Math.round(to) })));
    await close(page);
    await close(again.page);
  });

  it("is found by search: layer, tensor, address, lock", async () => {
    const { page, faults } = await open(pageOf("tiny-2x2"));
    const wanted = await page.evaluate(() => {
      const { layers, graph, memory } = window.heddle.run;
      return { layer: layers[1]!.name, tensor: graph.tensors[0]!.name, address: `0x${(memory.find((b) => b.kind === "memtile")?.address ?? 0).toString(16)}` };
    });
    for (const [query, kind] of [[wanted.layer, "layer"], [`tensor ${wanted.tensor}`, "tensor"], [wanted.address, "block"], ["lock 0", "lock"]] as const) {
      await page.fill("#search", query);
      await page.press("#search", "Enter");
      await settle(page);
      expect(await page.evaluate(() => window.heddle.store.state.selection?.kind), query).toBe(kind);
    }
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("the panel at the side", () => {
  it("says in short what limits the run while nothing is selected, and can be closed", async () => {
    const report = reportOf("resnet50-4x4");
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=none");
    const said = await page.innerText("#details");
    expect(said).toContain(report.time.cycles.toLocaleString("en"));
    expect(said).toContain(`${(report.bounds["layerBoundSeconds"]! * 1e3).toFixed(3)} ms layer after layer`);
    for (const effect of report.notModelled) expect(said).toContain(effect);
    const longest = [...report.layers].sort((a, b) => b.cycles - a.cycles)[0]!;
    await page.click(`#details button:has-text("${longest.name}")`);
    await settle(page);
    expect(await page.innerText("#details h2")).toBe(longest.name);
    await page.keyboard.press("q");
    await settle(page);
    expect(await page.isVisible("#details")).toBe(false);
    await addressed(page);
    const again = await open(pageOf("resnet50-4x4"), new URL(page.url()).hash);
    expect(await again.page.isVisible("#details")).toBe(false);
    expect(faults).toEqual([]);
    await close(page);
    await close(again.page);
  });

  it("shows the other run as whole as this one was", async () => {
    const { page } = await open(pageOf("compare"), "#view=timeline&lower=none");
    await page.selectOption('header select', "1");
    await settle(page);
    expect(await page.evaluate(() => window.heddle.store.state.window)).toEqual(await page.evaluate(() => ({ from: 0, to: window.heddle.runs[1]!.makespan })));
    expect(await page.innerText("#details h2")).toBe("Run B");
    await close(page);
  });

  it("shows a run that one comes back to as it was left", async () => {
    const { page, faults } = await open(pageOf("compare"), "#view=timeline&lower=none&window=200000-210000");
    await page.evaluate(() => window.heddle.select({ kind: "slice", track: 1, index: 3 }));
    await settle(page);
    const before = await page.evaluate(() => window.heddle.store.state);
    for (const run of ["1", "0", "1", "0"]) {
      await page.selectOption("header select", run);
      await settle(page);
    }
    expect(await page.evaluate(() => window.heddle.store.state)).toEqual(before);
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("the tip", () => {
  it("goes when a key, the wheel or a choice may have put something else under the pointer", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=none");
    const moves: [string, () => Promise<unknown>][] = [
      ["key", () => page.keyboard.press("x")],
      ["selection", () => page.evaluate(() => window.heddle.select({ kind: "layer", layer: 9 }))],
      ["window", () => page.evaluate(() => window.heddle.show(1000, 90000))],
      ["wheel", () => page.mouse.wheel(0, 50)],
      ["view", () => page.evaluate(() => window.heddle.open("mesh"))],
    ];
    for (const [what, move] of moves) {
      await page.mouse.move(880, 118);
      await page.mouse.move(900, 120);
      expect(await page.isVisible("#tip"), `before: ${what}`).toBe(true);
      await move();
      await settle(page);
      expect(await page.isVisible("#tip"), `after: ${what}`).toBe(false);
    }
    expect(faults).toEqual([]);
    await close(page);
  });
});

describe("the keyboard", () => {
  it("zooms to what was selected or measured last", async () => {
    const { page } = await open(pageOf("tiny-2x2"), "#view=timeline&lower=none&select=layer:1");
    const { makespan, layer } = await page.evaluate(() => ({ makespan: window.heddle.run.makespan, layer: window.heddle.run.layers[1]! }));
    const measure = { from: Math.round(makespan / 2), to: Math.round(makespan * 0.6) };
    const zoomed = async () => {
      await page.keyboard.press("f");
      await settle(page);
      return page.evaluate(() => window.heddle.store.state.window);
    };
    const middle = ({ from, to }: { from: number; to: number }) => (from + to) / 2;
    await page.evaluate((given) => window.heddle.store.set({ measure: given }), measure);
    await settle(page);
    expect(middle(await zoomed())).toBeCloseTo(middle(measure));
    await page.evaluate(() => window.heddle.select({ kind: "layer", layer: 1 }));
    await settle(page);
    const shown = await zoomed();
    expect(shown.from).toBeLessThanOrEqual(layer.start);
    expect(shown.to - shown.from).toBeGreaterThanOrEqual(layer.end - layer.start);
    await close(page);
  });

  it("is the page's again after a choice from a menu", async () => {
    const { page } = await open(pageOf("tiny-2x2"), "#view=memory&lower=none");
    const menu = page.locator(".pane-upper select").first();
    await menu.focus();
    await page.keyboard.press("ArrowDown");
    await settle(page);
    expect(await menu.evaluate((node) => node === document.activeElement), "who walks the menu stays in it").toBe(true);
    await menu.selectOption("ddr");
    await page.keyboard.press("Escape");
    await page.keyboard.press("4");
    await settle(page);
    expect(await page.evaluate(() => window.heddle.store.state.view)).toBe("mesh");
    await page.mouse.click(5, 5);
    await page.keyboard.press("3");
    await settle(page);
    await menu.focus();
    await menu.click();
    await menu.selectOption("all");
    await page.keyboard.press("4");
    await settle(page);
    expect(await page.evaluate(() => window.heddle.store.state.view)).toBe("mesh");
    await close(page);
  });

  it("moves, zooms, steps, opens views and shows its sheet", async () => {
    const { page, faults } = await open(pageOf("tiny-2x2"), "#view=timeline&lower=none");
    const window = () => page.evaluate(() => globalThis.window.heddle.store.state.window);
    const whole = await window();
    await page.keyboard.down("w");
    await page.waitForTimeout(300);
    await page.keyboard.up("w");
    const zoomed = await window();
    expect(zoomed.to - zoomed.from).toBeLessThan(0.9 * (whole.to - whole.from));
    await page.keyboard.down("d");
    await page.waitForTimeout(200);
    await page.keyboard.up("d");
    expect((await window()).from).toBeGreaterThan(zoomed.from);
    await page.keyboard.press("ArrowDown");
    await settle(page);
    const first = await page.evaluate(() => globalThis.window.heddle.focus.slice);
    expect(first).not.toBeNull();
    await page.keyboard.press(".");
    await settle(page);
    expect(await page.evaluate(() => globalThis.window.heddle.focus.slice)).toEqual({ track: first!.track, index: first!.index + 1 });
    await page.keyboard.press("0");
    await settle(page);
    expect(await window()).toMatchObject({ to: expect.any(Number) });
    await page.keyboard.press("u");
    await settle(page);
    await addressed(page);
    expect(page.url()).toContain("unit=time");
    await page.keyboard.press("?");
    expect(await page.isVisible("#keys")).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.isVisible("#keys")).toBe(false);
    for (const [i, title] of TITLES.slice(0, 7).entries()) {
      await page.keyboard.press(String(i + 1));
      await settle(page);
      expect(await page.innerText("#pane-upper-tabs [aria-selected=true], .pane-upper [aria-selected=true]")).toBe(title);
    }
    await page.keyboard.press("Escape");
    await settle(page);
    expect(await page.evaluate(() => globalThis.window.heddle.store.state.selection)).toBeNull();
    expect(faults).toEqual([]);
    await close(page);
  });

  it("reaches every control by Tab, with a name", async () => {
    const { page } = await open(pageOf("tiny-1x1"));
    const seen = new Set<string>();
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press("Tab");
      seen.add(await page.evaluate(() => {
        const at = document.activeElement as HTMLElement;
        return `${at.tagName} ${at.getAttribute("aria-label") ?? at.textContent?.slice(0, 20) ?? ""}`;
      }));
    }
    expect([...seen].some((text) => text.startsWith("CANVAS"))).toBe(true);
    expect([...seen].some((text) => text.includes("Table"))).toBe(true);
    await close(page);
  });
});

describe("accessibility", () => {
  it.each([["light", false], ["dark", true]] as const)("axe finds nothing, %s", async (_, dark) => {
    const { page } = await open(pageOf("compare"), "", { dark });
    await page.evaluate(AXE);
    // In the dark nothing but the colours differs.
    const rules = dark ? { runOnly: ["color-contrast"] } : {};
    let where = "body"; // at first; then the pane that is another one
    for (const view of viewsOf("compare")) {
      await page.click(`#tab-upper-${view}`);
      await settle(page);
      // Nor do tables differ but in their words.
      const twins = dark && view !== "layers" ? [false] : [false, true];
      for (const asTable of twins) {
        if (asTable) await page.click('.pane-upper button:has-text("Table")');
        // Rows of a table are made alike: a few stand for the thousand, which would take axe most of a minute.
        await page.evaluate(() => document.querySelectorAll(".twin tbody tr:nth-child(n + 13)").forEach((row) => row.remove()));
        const { violations } = await page.evaluate(([at, only]) => window.axe.run(at === "body" ? document : at, { resultTypes: ["violations"], ...only }), [where, rules] as const);
        where = ".pane-upper";
        expect(violations.map((v) => `${view}${asTable ? " as table" : ""}: ${v.id} ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")}: ${n.failureSummary}`).join("; ")}`)).toEqual([]);
      }
      if (twins.length > 1) await page.click('.pane-upper button:has-text("Table")');
    }
    await close(page);
  });

  it.each([["tiled", "group:0:1:2", false], ["frames", "frame:1", true], ["spilling", "tensor:1", false]] as const)("axe finds nothing in a run that is %s, with its own panel", async (name, selected, dark) => {
    const { page } = await open(pageOf(name), "#view=timeline&lower=layers", { dark });
    await page.evaluate(AXE);
    for (const select of ["", `&select=${encodeURIComponent(selected)}`]) {
      await page.evaluate((hash) => void (location.hash = hash), `#view=memory&lower=path${select}`);
      await settle(page);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      expect(violations.map((v) => `${v.id} ${v.nodes.slice(0, 3).map((n) => n.target.join(" ")).join("; ")}`), select).toEqual([]);
    }
    expect(await page.evaluate(() => window.heddle.store.state.selection?.kind)).toBe(selected.split(":")[0]);
    await close(page);
  });
});

describe("the listing and the path", () => {
  it("selects the locks that a line names, walks the line's slices and finds by expression and number", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=timeline&lower=asm");
    const selected = () => page.evaluate(() => window.heddle.store.state.selection);
    const said = () => page.textContent(".asm-said");
    // The code stands behind the figures; names are where the pointer is a hand and the tip speaks of a lock.
    await page.fill(".asm-find", "/LOADFM .*acquire L\\d+/");
    await page.press(".asm-find", "Enter");
    await settle(page);
    expect(await said()).toMatch(/^found 2 of [\d,]+ lines$/);
    const box = (await page.locator(".view-asm canvas").boundingBox())!;
    const line = await page.evaluate(() => window.heddle.run.asm.findIndex((text) => /LOADFM .*acquire L\d+/.test(text)));
    const rowOf = () => page.evaluate((at) => (window.heddlePage.viewOf("asm") as unknown as { area: { offset: number; y: number } }).area.y + at * 18 + 9 - (window.heddlePage.viewOf("asm") as unknown as { area: { offset: number } }).area.offset, line);
    let tip = "";
    for (let x = 400; x < box.width - 40 && !tip.startsWith("lock "); x += 4) {
      await page.mouse.move(box.x + x, box.y + (await rowOf()));
      tip = (await page.isVisible("#tip")) ? await page.innerText("#tip") : "";
      if (tip.startsWith("lock ")) await page.mouse.down().then(() => page.mouse.up());
    }
    await settle(page);
    expect(await selected()).toMatchObject({ kind: "lock" });
    expect(tip).toContain(await page.innerText("#details dd").then((text) => text.split(",")[0]!));
    await page.mouse.click(box.x + 20, box.y + (await rowOf()));
    await settle(page);
    expect(await selected()).toMatchObject({ kind: "instruction" });
    const leaf = await page.evaluate(() => window.heddle.focus.leaf);
    for (let k = 0; k < 3; k++) {
      await page.keyboard.press("n");
      await settle(page);
      expect(await page.evaluate(() => [window.heddle.focus.slice?.index !== undefined, window.heddle.focus.leaf])).toEqual([true, leaf]);
    }
    await page.keyboard.press("y");
    await expect.poll(said).toMatch(/^copied line/);
    await page.fill(".asm-find", "/(/");
    await expect.poll(said).toMatch(/^no regular expression: .*group/i);
    await page.fill(".asm-find", ":1");
    await settle(page);
    expect(await page.inputValue(".asm-parts")).toBe("0");
    expect(faults).toEqual([]);
    await close(page);
  });

  it("lists one resource alone, by a click on its share and from the address", async () => {
    const { page, faults } = await open(pageOf("resnet50-4x4"), "#view=path&lower=none");
    const only = () => page.evaluate(() => window.heddle.store.option("path.only", ""));
    const box = (await page.locator(".view-path canvas").boundingBox())!;
    let y = 150;
    for (; y < 400 && !(await only()); y += 10) {
      await page.mouse.click(box.x + 40, box.y + y);
      await settle(page);
    }
    expect(await only()).toMatch(/^resource:\d$/);
    await addressed(page);
    expect(page.url()).toContain("o.path.only=resource");
    await page.keyboard.press("i");
    await settle(page);
    expect(await only()).toBe("");
    expect(faults).toEqual([]);
    await close(page);
  });

  it("has no key that two of the views that are read together take for different steps", async () => {
    const { page } = await open(pageOf("resnet50-4x4"));
    const shared = await page.evaluate(() => {
      const owners = new Map<string, string[]>();
      for (const id of ["timeline", "path", "memory", "mesh", "asm"] as const) for (const { key } of window.heddlePage.viewOf(id).keys) owners.set(key, [...(owners.get(key) ?? []), id]);
      return [...owners].filter(([, ids]) => ids.length > 1 && (ids.includes("path") || ids.includes("asm"))).map(([key, ids]) => `${key}: ${ids.join(" ")}`);
    });
    // The arrows belong to the pane that was clicked last; N and P are slices of the same instruction in both.
    expect(shared.sort()).toEqual(["arrowdown: timeline asm", "arrowup: timeline asm", "n: timeline asm", "p: timeline asm"]);
    await close(page);
  });
});

describe("what it is given", () => {
  const folder = mkdtempSync(join(tmpdir(), "heddle-page-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  /** The page of tiny-1x1 with its timeline changed. */
  function changed(name: string, change: (json: string) => string): string {
    const html = readFileSync(pageOf("tiny-1x1"), "utf8");
    const data = /(<script[^>]*class="timeline"[^>]*>)([^<]*)/.exec(html)!;
    const json = change(gunzipSync(Buffer.from(data[2]!, "base64")).toString());
    const file = join(folder, `${name}.html`);
    writeFileSync(file, html.replace(data[0], () => data[1]! + gzipSync(json).toString("base64")));
    return file;
  }

  it("shows hostile names as text", async () => {
    const evil = `</script><img src=x onerror="window.harmed=true"><svg onload="window.harmed=true">\u202e"'&amp;😀`;
    const file = changed("hostile", (text) => {
      const json = JSON.parse(text);
      json.model = evil;
      for (const list of [json.report.layers, json.graph.tensors, json.graph.operators, json.memory]) for (const entry of list) entry.name = evil + "x".repeat(300);
      json.asm = json.asm.split("\n").map((line: string) => line + evil).join("\n");
      json.report.hostOperators = [evil];
      json.report.notModelled = [evil];
      json.device.name = evil;
      return JSON.stringify(json);
    });
    const { page, faults } = await open(file);
    for (const view of viewsOf("tiny-1x1")) {
      await page.click(`#tab-upper-${view}`);
      await page.evaluate(() => window.heddle.select({ kind: "layer", layer: 0 }));
      await settle(page);
      await page.click('.pane-upper button:has-text("Table")');
      await settle(page);
    }
    await page.fill("#search", "img");
    await settle(page);
    expect(await page.evaluate(() => window.harmed)).toBeUndefined();
    expect(await page.evaluate(() => document.querySelectorAll("img").length)).toBe(0);
    expect(await page.innerText("h1")).toContain("onerror");
    expect(faults).toEqual([]);
    await close(page);
  });

  it("runs no script but its own", async () => {
    const html = readFileSync(pageOf("tiny-1x1"), "utf8").replace("</body>", "<script>window.harmed = true</script></body>");
    const file = join(folder, "foreign.html");
    writeFileSync(file, html);
    const { page, faults } = await open(file);
    expect(await page.evaluate(() => window.harmed)).toBeUndefined();
    expect(faults.join()).toContain("Content Security Policy");
    await close(page);
  });

  it.each([
    ["newer", (text: string) => text.replace("heddle.timeline/1", "heddle.timeline/2"), "heddle.timeline/2; this page reads heddle.timeline/1"],
    ["foreign", () => '{"traceEvents": []}', "not a timeline of heddle"],
    ["cut", (text: string) => text.slice(0, 1000), "cannot show its timeline"],
    ["torn", (text: string) => text.replace(/"columns":\[\[/, '"columns":[[],['), "cannot show its timeline"],
  ])("says in a sentence why it cannot show what is %s", async (name, change, sentence) => {
    const { page } = await open(changed(name, change));
    expect(await page.innerText("#problem")).toContain(sentence);
    await close(page);
  });
});
