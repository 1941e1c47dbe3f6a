// The pictures of README and docs: vite-node tests/page/screenshots.ts RUN_PAGE COMPARE_PAGE SWEEP_PAGE FOLDER
import { resolve } from "node:path";
import { launch } from "./browser";

interface Shot {
  name: string;
  hash: string;
  of?: "run" | "compare" | "sweep";
  /** Of the window; 1600x900 unless it says another. */
  size?: { width: number; height: number };
  /** The element that is taken; else all. */
  part?: string;
  dark?: boolean;
  /** Runs in the page before the picture is taken. */
  prepare?: string;
}

const SHOTS: Shot[] = [
  { name: "timeline", hash: "#view=timeline&lower=layers", prepare: "heddle.select({ kind: 'layer', layer: heddle.run.layers.findIndex((l) => l.name === 's3b2_2') }); heddle.showStretch(heddle.run.layers.find((l) => l.name === 's3b2_2'))" },
  { name: "slice", hash: "#view=timeline&lower=asm", dark: true, prepare: slicePicker() },
  { name: "path", hash: "#view=path&lower=none" },
  { name: "memory", hash: "#view=memory&lower=none" },
  { name: "mesh", hash: "#view=mesh&lower=none", prepare: "heddle.showStretch(heddle.run.layers.find((l) => l.name === 's5b2_2'))" },
  { name: "layers", hash: "#view=layers&lower=none&o.layers.show=both" },
  { name: "graph", hash: "#view=graph&lower=none", prepare: "heddle.select({ kind: 'layer', layer: heddle.run.layers.findIndex((l) => l.name === 's5b1_2') })" },
  { name: "compare", hash: "#view=compare&lower=none", of: "compare" },
  { name: "sweep", hash: "#view=chart&lower=none&o.chart.log=on", of: "sweep", size: { width: 1100, height: 600 }, part: ".view-chart", prepare: "document.getElementById('details').hidden = true" },
];

/** A core's slice that waited for weights, with what it waited for. */
function slicePicker(): string {
  return `(() => {
    const track = heddle.run.tracks.find((t) => t.engine === 'core' && t.row === 1 && t.column === 1);
    let best = track.firstAfter(heddle.run.makespan * 0.55);
    for (let i = best; i < track.size && track.start(i) < heddle.run.makespan * 0.57; i++)
      if (track.start(i) - track.ready(i) > track.start(best) - track.ready(best)) best = i;
    heddle.select({ kind: 'slice', track: track.index, index: best });
    heddle.show(track.ready(best) - 2500, track.end(best) + 1500);
  })()`;
}

const [run, compare, sweep, folder] = process.argv.slice(-4) as [string, string, string, string];
const pages = { run, compare, sweep };
const browser = await launch();
for (const shot of SHOTS) {
  const page = await browser.newPage({ viewport: shot.size ?? { width: 1600, height: 900 }, colorScheme: shot.dark ? "dark" : "light" });
  await page.goto(`file://${resolve(pages[shot.of ?? "run"])}${shot.hash}`);
  await page.waitForFunction(() => "heddle" in window);
  if (shot.prepare) await page.evaluate(shot.prepare);
  await page.waitForTimeout(shot.name === "path" || shot.name === "mesh" ? 6000 : 600); // what they show is computed while the page rests
  const taken = shot.part ? page.locator(shot.part) : page;
  await taken.screenshot({ path: resolve(folder, `${shot.name}.png`) });
  await page.close();
  console.log(resolve(folder, `${shot.name}.png`));
}
await browser.close();
