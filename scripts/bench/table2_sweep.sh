#!/usr/bin/env bash
# Table II of the paper, dense and sparse, as one sweep with its tables and page: table2_sweep.sh [OUT [OPTIONS of sweep]]
# Installs and builds what is missing, makes the networks and the masks that models/sweeps/table2.yaml names.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/install_deps.sh build
scripts/build.sh
networks=(resnet50 inception_v3 vgg16)
scripts/make_models.py "${networks[@]}" --keep -o build/models
mkdir -p build/bench
for network in "${networks[@]}"; do
  [ -e build/bench/"$network"-sparse.masks.npz ] || build/heddle prune build/models/"$network".onnx -o build/bench/"$network"-sparse.onnx \
    --ratio 0.5 --importance l2 --scope layer --balance none --keep first -q
done
out=${1:-out/table2}
build/heddle sweep models/sweeps/table2.yaml -o "$out" "${@:2}"
build/heddle view "$out"
