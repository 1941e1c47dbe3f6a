// vite-node decode_check.ts TIMELINE_JSON: prints what the page makes of the file, one line a slice.
import { readFileSync } from "node:fs";
import { Run } from "../../src/run/run";

const run = new Run(JSON.parse(readFileSync(process.argv.at(-1) as string, "utf8")));
const lines: string[] = [];
for (const t of run.tracks) {
  lines.push(`track ${t.engine} ${t.row} ${t.column} ${t.channel}`);
  for (let i = 0; i < t.size; i++)
    lines.push([t.ready(i), t.start(i), t.end(i), t.leaf(i), t.layer(i), run.waitKinds[t.wait(i)], t.lock(i), t.causeTrack(i), t.causeIndex(i)].join(" "));
}
process.stdout.write(`${lines.join("\n")}\n`);
