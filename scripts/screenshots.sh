#!/usr/bin/env bash
# Makes the pictures of README.md and docs/ anew: docs/pictures/*.png, from ResNet-50 on 4x4 and 8x8, and a sweep of three networks.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_deps.sh test
scripts/build.sh
scripts/make_models.py resnet50 inception_v3 vgg16 --keep -o build/models
for mesh in 4x4 8x8; do build/heddle compile build/models/resnet50.onnx --mesh $mesh -q -o build/pictures/resnet50-$mesh; done
build/heddle view build/pictures/resnet50-4x4 -q                       # with the keys that bind
build/heddle view build/pictures/resnet50-4x4 build/pictures/resnet50-8x8 -o build/pictures/compare.html
rm -rf build/pictures/mesh   # points of another planner have the same names
build/heddle sweep models/sweeps/mesh.yaml -q -o build/pictures/mesh
build/heddle view build/pictures/mesh -q
mkdir -p docs/pictures
out=$PWD
cd viewer
node node_modules/vite-node/vite-node.mjs tests/page/screenshots.ts \
  "$out/build/pictures/resnet50-4x4/timeline.html" "$out/build/pictures/compare.html" "$out/build/pictures/mesh/sweep.html" \
  "$out/docs/pictures"
