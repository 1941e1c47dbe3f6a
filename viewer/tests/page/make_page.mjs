// Puts timelines into the built page, as `heddle view` does: node make_page.mjs PAGE OUT.html A.json [B.json]
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

export function pageOf(page, timelines) {
  const carried = timelines.map((json) => `<script type="application/octet-stream" class="timeline">${gzipSync(json).toString("base64")}</script>`);
  return page.replace("@TIMELINES@", () => carried.join("\n"));
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , page, out, ...files] = process.argv;
  writeFileSync(out, pageOf(readFileSync(page, "utf8"), files.map((file) => readFileSync(file))));
}
