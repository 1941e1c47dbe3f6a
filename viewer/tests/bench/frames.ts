// How fast the page is: node_modules/.bin/vite-node tests/bench/frames.ts PAGE.html ...
//
// Prints, for each page, how long it takes to open (navigation to the first whole picture) and the time between frames while
// the timeline pans and zooms, in headless Chromium with software rendering at 1600x900.
import { basename, resolve } from "node:path";
import { launch } from "../page/browser";

const FRAMES = 240;

interface Sample {
  panMedian: number;
  panWorst: number;
  zoomMedian: number;
  zoomWorst: number;
}

// Runs in the page.
async function measure(frames: number): Promise<Sample> {
  interface Seen {
    run: { makespan: number };
    show(from: number, to: number): void;
    store: { set(change: object): void };
  }
  const app = (window as unknown as { heddle: Seen }).heddle;
  const { makespan } = app.run;
  const quantile = (times: number[], q: number) => times.sort((a, b) => a - b)[Math.floor(q * (times.length - 1))] as number;
  const play = async (place: (share: number) => [number, number]) => {
    const times: number[] = [];
    let before = await new Promise<number>(requestAnimationFrame);
    for (let i = 0; i < frames; i++) {
      app.show(...place(i / frames));
      const now = await new Promise<number>(requestAnimationFrame);
      times.push(now - before);
      before = now;
    }
    return { median: quantile(times, 0.5), worst: quantile(times, 0.95) };
  };
  const wave = (share: number) => 0.5 - 0.5 * Math.cos(2 * Math.PI * share);
  await play((share) => [wave(share) * 0.9 * makespan, (wave(share) * 0.9 + 0.1) * makespan]); // warm
  const pan = await play((share) => [wave(share) * 0.9 * makespan, (wave(share) * 0.9 + 0.1) * makespan]);
  const zoom = await play((share) => {
    const span = makespan * Math.exp(-wave(share) * Math.log(makespan / 400));
    return [0.6 * (makespan - span), 0.6 * (makespan - span) + span];
  });
  return { panMedian: pan.median, panWorst: pan.worst, zoomMedian: zoom.median, zoomWorst: zoom.worst };
}

const browser = await launch();
console.log("page                              opens   pan p50   p95   zoom p50   p95   (ms)");
for (const page of process.argv.slice(2).filter((name) => name.endsWith(".html"))) {
  const opened: number[] = [];
  let sample: Sample | null = null;
  for (let k = 0; k < 3; k++) {
    const tab = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    const from = performance.now();
    await tab.goto(`file://${resolve(page)}#view=timeline&lower=none`);
    await tab.waitForFunction(() => "heddle" in window && new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))));
    opened.push(performance.now() - from);
    if (k === 2) sample = await tab.evaluate(measure, FRAMES);
    await tab.close();
  }
  const ms = (x: number | undefined, width: number) => (x ?? 0).toFixed(1).padStart(width);
  console.log(`${basename(page).padEnd(32)} ${ms(opened.sort((a, b) => a - b)[1], 6)} ${ms(sample?.panMedian, 9)} ${ms(sample?.panWorst, 5)} ${ms(sample?.zoomMedian, 10)} ${ms(sample?.zoomWorst, 5)}`);
}
await browser.close();
