#!/usr/bin/env bash
# How large and how fast the page is: sizes, time to open, time between frames while panning and zooming (software rendering).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_deps.sh test
scripts/build.sh
scripts/make_models.py resnet50 --keep -o build/models
out=$PWD/build/bench_viewer
mkdir -p "$out"
for mesh in 4x4 8x8; do
  build/heddle compile build/models/resnet50.onnx --mesh $mesh --no-verify -q -o "$out/resnet50-$mesh"
  cp "$out/resnet50-$mesh/timeline.html" "$out/resnet50-$mesh.html"
done
cd viewer
run() { node node_modules/vite-node/vite-node.mjs "$@"; }
run tests/bench/synthetic.ts "$out/synthetic.json"
../build/heddle view "$out/synthetic.json" -o "$out/synthetic-1M.html"
echo "empty page, gzip: $(gzip -9c ../build/src/emit/page/timeline/timeline.html | wc -c) bytes"
(cd "$out" && wc -c ./*.html | sed '$d')
run tests/bench/frames.ts "$out"/*.html
mkdir -p "$out/sweep"
run tests/bench/large_sweep.ts ../build/src/emit/page/sweep/sweep.html "$out/sweep/sweep.html"
run tests/bench/sweep.ts "$out/sweep/sweep.html"
