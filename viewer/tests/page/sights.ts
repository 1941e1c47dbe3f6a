// Every view in every size, light and dark, looked at by rules and kept as pictures: vite-node tests/page/sights.ts FOLDER PAGE.html ...
//
// Prints what falls short, and ends with status 1 if anything does. A picture of each sight goes to FOLDER.
import { mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { launch, settle } from "./browser";
import { axeFaultsOf, faultsOf, noteWords } from "./sight";

const SIZES = [[1366, 768], [1440, 900], [1920, 1080], [900, 700]] as const;

/** Alone with nothing selected; beside another view with a layer selected. */
const STATES = ["whole", "split"] as const;

const PATIENCE = 300000; // milliseconds, where other work shares the machine

const [folder = "", ...pages] = process.argv.slice(2).filter((name) => !name.endsWith("sights.ts"));
mkdirSync(folder, { recursive: true });
const browser = await launch();
let sights = 0;
let bad = 0;
for (const file of pages) {
  const name = basename(file, ".html");
  for (const [width, height] of SIZES)
    for (const dark of [false, true]) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
      page.setDefaultTimeout(PATIENCE);
      const said: string[] = [];
      page.on("console", (message) => { if ((message.type() === "error" || message.type() === "warning") && !message.text().includes("willReadFrequently")) said.push(`console: ${message.text()}`); });
      page.on("pageerror", (error) => said.push(`error: ${error.message}`));
      await noteWords(page);
      await page.goto(`file://${resolve(file)}#view=timeline&lower=none`);
      await page.waitForFunction(() => "heddle" in window);
      for (const view of await page.evaluate(() => window.heddle.viewIds))
        for (const state of STATES) {
          await page.evaluate(([view, state]) => {
            const { run, store } = window.heddle;
            const longest = run.layers.reduce((best, layer) => (layer.cycles > best.cycles ? layer : best), run.layers[0]!);
            const split = state === "split";
            store.set({ view, lower: split ? (view === "layers" ? "timeline" : "layers") : "", selection: split ? { kind: "layer", layer: longest.index } : null, window: { from: 0, to: run.makespan } });
          }, [view, state] as const);
          await settle(page);
          await page.mouse.move(2, 2);
          const faults = [...(await faultsOf(page)), ...(state === "whole" || view === "timeline" ? await axeFaultsOf(page) : []), ...said.splice(0)];
          const sight = `${name}-${view}-${state}-${width}x${height}-${dark ? "dark" : "light"}`;
          await page.screenshot({ path: join(folder, `${sight}.png`) });
          sights++;
          bad += Number(faults.length > 0);
          for (const fault of new Set(faults)) console.log(`${sight}: ${fault}`);
        }
      await page.close();
    }
}
await browser.close();
console.log(`${sights} sights, ${bad} with faults`);
process.exitCode = bad ? 1 : 0;
