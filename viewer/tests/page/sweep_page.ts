// Puts a sweep into the built page, as `heddle collect` does.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

/** `built`: the file sweep.html as vite wrote it. */
export function writeSweep(built: string, out: string, json: string): void {
  const carried = `<script type="application/octet-stream" class="sweep">${gzipSync(json).toString("base64")}</script>`;
  writeFileSync(out, readFileSync(built, "utf8").replace("@SWEEP@", () => carried));
}
