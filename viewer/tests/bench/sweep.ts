// How fast the page of a sweep is: vite-node tests/bench/sweep.ts SWEEP.html
//
// Prints how long it takes to open (navigation to the first whole picture) and, for each view, how long a filter takes: from the key that
// is typed to the frame that shows it, in headless Chromium with software rendering at 1600x900. Points stand below, as by default.
import { resolve } from "node:path";
import { launch } from "../page/browser";
import { type State, VIEWS } from "../../src/sweep_page/state";

const TIMES = 9;

interface Seen {
  store: { set(change: Partial<State>): void };
  setFilter(name: string, text: string): void;
  visible: { points: readonly number[] };
}

// Runs in the page. A frame's work is done when a task that was posted in the frame runs.
async function filtering(times: number): Promise<{ median: number; worst: number }> {
  const app = (window as unknown as { heddle: Seen }).heddle;
  const painted = () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => done(); port2.postMessage(0); })));
  const work = () => new Promise<number>((done) => { const from = performance.now(); requestAnimationFrame(() => requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => done(performance.now() - from); port2.postMessage(0); })); });
  await painted();
  const idle: number[] = [];
  for (let k = 0; k < times; k++) idle.push(await work());
  const base = idle.sort((a, b) => a - b)[times >> 1] as number;
  const taken: number[] = [];
  for (let k = 0; k < times; k++) {
    await painted();
    app.setFilter("ms", `..${1 + k}`);
    taken.push((await work()) - base);
    await painted();
  }
  app.setFilter("ms", "");
  await painted();
  taken.sort((a, b) => a - b);
  return { median: taken[times >> 1] as number, worst: taken[times - 1] as number };
}

const page = process.argv.find((name) => name.endsWith(".html")) ?? "";
const browser = await launch();
const opened: number[] = [];
for (let k = 0; k < 3; k++) {
  const tab = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  const from = performance.now();
  await tab.goto(`file://${resolve(page)}`);
  await tab.waitForFunction(() => "heddle" in window && new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))));
  opened.push(performance.now() - from);
  await tab.close();
}
console.log(`opens in ${opened.sort((a, b) => a - b)[1]?.toFixed(0)} ms`);
console.log("view       filter p50   most   (ms over an idle frame)");
for (const view of VIEWS) {
  const tab = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  await tab.goto(`file://${resolve(page)}#view=${view}&lower=${view === "points" ? "none" : "points"}`);
  await tab.waitForFunction(() => "heddle" in window);
  const { median, worst } = await tab.evaluate(filtering, TIMES);
  console.log(`${view.padEnd(10)} ${median.toFixed(1).padStart(10)} ${worst.toFixed(1).padStart(6)}`);
  await tab.close();
}
await browser.close();
