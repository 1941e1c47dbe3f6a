// The page of a sweep of 5 networks x 4096 points: vite-node tests/bench/large_sweep.ts BUILT.html OUT.html
//
// BUILT is sweep.html as vite wrote it, without data.
import { writeSweep } from "../page/sweep_page";
import { LARGE, sampleOf } from "../unit/sweep_sample";

const [built = "", out = ""] = process.argv.filter((name) => name.endsWith(".html"));
writeSweep(built, out, JSON.stringify(sampleOf(LARGE)));
