#!/usr/bin/env bash
# Looks at every view of the page in four sizes, light and dark: scripts/sights.sh [FOLDER, default build/sights]
# Two runs: ResNet-50 on 4x4 beside 8x8, and VGG16 on 3x3 with a sixteenth of DDR's rate, which spills. Says what stands beyond its box,
# lies on other words or cannot be read, and leaves a picture of each sight in FOLDER: four minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_deps.sh test
scripts/build.sh
scripts/make_models.py resnet50 vgg16 --keep -o build/models
out=$(realpath -m "${1:-build/sights}")
mkdir -p "$out/runs"
for mesh in 4x4 8x8; do build/heddle compile build/models/resnet50.onnx --mesh $mesh -q -o "$out/runs/resnet50-$mesh"; done
build/heddle view "$out/runs/resnet50-4x4" "$out/runs/resnet50-8x8" -q -o "$out/runs/resnet50.html"
build/heddle compile build/models/vgg16.onnx --mesh 3x3 --set links.ddr.read=250MB/s --set links.ddr.write=250MB/s --no-verify -q -o "$out/runs/vgg16-3x3"
cp "$out/runs/vgg16-3x3/timeline.html" "$out/runs/vgg16.html"
cd viewer
node node_modules/vite-node/vite-node.mjs tests/page/sights.ts "$out" "$out/runs/resnet50.html" "$out/runs/vgg16.html"
