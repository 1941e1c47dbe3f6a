// How fast the page is: node_modules/.bin/vite-node tests/bench/frames.ts PAGE.html ...
//
// Prints, for each page, how long it takes to open (navigation to the first whole picture) and, while the timeline pans and zooms, the
// time between frames; of both, what they cost the page's main thread. In headless Chromium with software rendering at 1600x900. Where
// other work shares the machine only the costs say something. Pages are opened in turns, so that those of two builds can be compared.
import { basename, resolve } from "node:path";
import type { Page } from "playwright-core";
import { launch } from "../page/browser";

const FRAMES = 240;
const OPENINGS = 5; // of each page; the middle one counts

interface Sample {
  median: number; // milliseconds between frames
  worst: number; // of 19 in 20
  cost: number; // of a frame
}

// Runs in the page.
async function play([kind, frames]: ["pan" | "zoom", number]): Promise<number[]> {
  interface Seen {
    run: { makespan: number };
    show(from: number, to: number): void;
  }
  const app = (window as unknown as { heddle: Seen }).heddle;
  const { makespan } = app.run;
  const times: number[] = [];
  let before = await new Promise<number>(requestAnimationFrame);
  for (let i = 0; i < frames; i++) {
    const wave = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / frames);
    const span = kind === "pan" ? 0.1 * makespan : makespan * Math.exp(-wave * Math.log(makespan / 400));
    const from = kind === "pan" ? wave * 0.9 * makespan : 0.6 * (makespan - span);
    app.show(from, from + span);
    const now = await new Promise<number>(requestAnimationFrame);
    times.push(now - before);
    before = now;
  }
  return times.sort((a, b) => a - b);
}

/** Seconds that the page's main thread has worked. */
async function worked(tab: Page): Promise<() => Promise<number>> {
  const client = await tab.context().newCDPSession(tab);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => (await client.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
}

async function sampled(tab: Page, kind: "pan" | "zoom"): Promise<Sample> {
  const busy = await worked(tab);
  const before = await busy();
  const times = await tab.evaluate(play, [kind, FRAMES] as ["pan" | "zoom", number]);
  const quantile = (q: number) => times[Math.floor(q * (times.length - 1))] as number;
  return { median: quantile(0.5), worst: quantile(0.95), cost: (1000 * ((await busy()) - before)) / FRAMES };
}

interface Opened {
  wall: number; // milliseconds
  cost: number;
}

async function opened(page: string, then: (tab: Page) => Promise<void>): Promise<Opened> {
  const tab = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  const busy = await worked(tab);
  const before = await busy();
  const from = performance.now();
  await tab.goto(`file://${resolve(page)}#view=timeline&lower=none`);
  await tab.waitForFunction(() => "heddle" in window && new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))));
  const found = { wall: performance.now() - from, cost: 1000 * ((await busy()) - before) };
  await then(tab);
  await tab.close();
  return found;
}

const browser = await launch();
const pages = process.argv.slice(2).filter((name) => name.endsWith(".html"));
const openings = pages.map((): Opened[] => []);
for (let k = 0; k < OPENINGS; k++) for (const [n, page] of pages.entries()) openings[n]?.push(await opened(page, async () => {}));
const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1];
console.log("page                              opens  cost   pan p50   p95  cost   zoom p50   p95  cost   (ms)");
for (const [n, page] of pages.entries()) {
  const samples: Sample[] = [];
  await opened(page, async (tab) => {
    await tab.evaluate(play, ["pan", FRAMES] as ["pan" | "zoom", number]); // warm
    for (const kind of ["pan", "zoom"] as const) samples.push(await sampled(tab, kind));
  });
  const ms = (x: number | undefined, width: number) => (x ?? 0).toFixed(1).padStart(width);
  const columns = samples.map(({ median, worst, cost }) => `${ms(median, 10)} ${ms(worst, 5)} ${ms(cost, 5)}`).join(" ");
  const [wall, cost] = [middle(openings[n]!.map((o) => o.wall)), middle(openings[n]!.map((o) => o.cost))];
  console.log(`${basename(page).padEnd(32)} ${ms(wall, 6)} ${ms(cost, 5)}${columns}`);
}
await browser.close();
