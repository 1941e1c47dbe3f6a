// node decode_check.js DECODE_JS TIMELINE_JSON: prints what the page makes of the file, one line a slice.
const fs = require("fs"), vm = require("vm");
vm.runInThisContext(fs.readFileSync(process.argv[2], "utf8"));
const model = vm.runInThisContext("decode")(JSON.parse(fs.readFileSync(process.argv[3], "utf8")));
const lines = [];
for (const t of model.tracks) {
  lines.push(`track ${t.engine} ${t.row} ${t.column} ${t.channel}`);
  for (let i = 0; i < t.size; i++) lines.push([t.ready[i], t.start[i], t.end[i], t.leaf[i], t.layer[i], model.waitKinds[t.wait[i]], t.lock[i], t.causeTrack[i], t.causeIndex[i]].join(" "));
}
fs.writeFileSync(1, lines.join("\n") + "\n");
