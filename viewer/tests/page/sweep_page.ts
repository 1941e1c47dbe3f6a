// Puts a sweep into the built page, as `heddle collect` does: vite-node tests/page/sweep_page.ts BUILT.html OUT.html [SWEEP.json, default: a large sample]
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { LARGE, sampleOf } from "../unit/sweep_sample";

/** `built`: the file sweep.html as vite wrote it. */
export function writeSweep(built: string, out: string, json: string): void {
  const carried = `<script type="application/octet-stream" class="sweep">${gzipSync(json).toString("base64")}</script>`;
  writeFileSync(out, readFileSync(built, "utf8").replace("@SWEEP@", () => carried));
}

const [script = "", built, out, given] = process.argv.slice(-4).filter((text) => /\.(ts|html|json)$/.test(text));
if (script.endsWith("sweep_page.ts") && built && out) writeSweep(built, out, given ? readFileSync(given, "utf8") : JSON.stringify(sampleOf(LARGE)));
