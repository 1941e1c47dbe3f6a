#!/usr/bin/env bash
# From a bare Debian 12 to a timeline of ResNet-50 on a 4x4 mesh: installs what is missing, builds, makes the
# models, compiles, and names the page to open; then the same network with half of its blocks of weights zero.
set -euo pipefail
cd "$(dirname "$0")/.."
began=$SECONDS
say() { printf '== %s\n' "$*"; }

say "packages"
scripts/install_deps.sh build
say "build"
scripts/build.sh
say "models"
scripts/make_models.py --all --keep -o build/models
say "ResNet-50 on 4x4"
build/heddle compile build/models/resnet50.onnx --device hw_configs/paper.yaml --mesh 4x4 -o out/resnet50-4x4
say "the same with half of its 8x8 blocks zero"
build/heddle prune build/models/resnet50.onnx --ratio 0.5 --keep first -o out/resnet50-50.onnx --quiet
build/heddle compile out/resnet50-50.onnx --device hw_configs/paper.yaml --mesh 4x4 -o out/resnet50-50-4x4
build/heddle view out/resnet50-4x4 out/resnet50-50-4x4 -o out/dense-and-sparse.html --quiet
say "done in $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s"
echo "Open in a browser: file://$PWD/out/resnet50-4x4/timeline.html"
echo "Dense and sparse:  file://$PWD/out/dense-and-sparse.html"
