#!/usr/bin/env bash
# From a bare Debian 12 to a timeline of ResNet-50 on a 4x4 mesh: installs what is missing, builds, makes the
# models, compiles, and names the page to open.
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
say "done in $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s"
echo "Open in a browser: file://$PWD/out/resnet50-4x4/timeline.html"
