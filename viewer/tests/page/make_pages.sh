#!/usr/bin/env bash
# Compiles what the page tests look at: make_pages.sh HEDDLE MODELS FOLDER
set -euo pipefail
heddle=$1 models=$2 out=$3
here=$(cd "$(dirname "$0")/../../.." && pwd)
rm -rf "$out" && mkdir -p "$out"
compile() { "$heddle" compile "$1" --device "$here/hw_configs/$3.yaml" --mesh "$2" -q -o "$out/$4"; }
compile "$here/models/tiny_cnn.onnx" 1x1 paper tiny-1x1
compile "$here/models/tiny_inception.onnx" 2x2 switched tiny-2x2
"$heddle" compile "$here/models/tiny_cnn.onnx" --device "$here/hw_configs/paper.yaml" --mesh 2x2 --set memtile.memory=3KiB -q -o "$out/spilling"
"$heddle" compile "$here/models/tiny_cnn.onnx" --device "$here/hw_configs/paper.yaml" --mesh 2x2 --fuse conv1..b1_2:3 -q -o "$out/tiled"
# The same, whose weight records come out of DDR again with each tile.
sed 's/ at-home [0-9]*//' "$out/tiled/plan.txt" > "$out/again.txt"
"$heddle" compile "$here/models/tiny_cnn.onnx" --device "$here/hw_configs/paper.yaml" --mesh 2x2 --from plan "$out/again.txt" -q -o "$out/tiled-again"
"$heddle" compile "$here/models/tiny_cnn.onnx" --device "$here/hw_configs/paper.yaml" --mesh 2x2 --frames 3 -q -o "$out/frames"
"$heddle" compile "$here/models/tiny_cnn.onnx" --device "$here/hw_configs/paper.yaml" --mesh 2x2 --frames 40 -q -o "$out/many-frames"
"$heddle" compile "$here/models/tiny_cnn.onnx" --device "$here/hw_configs/paper.yaml" --mesh 2x2 --frames 2 --batch 3 -q -o "$out/batch"
compile "$models/resnet50.onnx" 4x4 paper resnet50-4x4
compile "$models/resnet50.onnx" 8x8 paper resnet50-8x8
# The same network with two branches in the other order: its steps are not the layers one after another.
awk '/^step layer 1 /{held = $0; next} {print} /^step layer 2 /{print held}' "$out/tiny-2x2/plan.txt" > "$out/steps.txt"
"$heddle" compile "$here/models/tiny_inception.onnx" --device "$here/hw_configs/switched.yaml" --mesh 2x2 -q --from plan "$out/steps.txt" -o "$out/steps"
"$heddle" view "$out/resnet50-4x4" "$out/resnet50-8x8" -o "$out/compare.html"
# A network and its pruned self: weight records of different lengths.
"$heddle" prune "$here/models/tiny_cnn.onnx" --ratio 0.5 --keep first -q -o "$out/tiny_cnn-50.onnx"
compile "$here/models/tiny_cnn.onnx" 2x2 paper dense
compile "$out/tiny_cnn-50.onnx" 2x2 paper sparse
"$heddle" view "$out/dense" "$out/sparse" -q -o "$out/dense-sparse.html"
# A network layer by layer, and tiled.
"$heddle" view "$out/dense" "$out/tiled" -q -o "$out/dense-tiled.html"
# One inference, and three; one after another and together.
"$heddle" view "$out/dense" "$out/frames" -q -o "$out/dense-frames.html"
"$heddle" view "$out/sparse" "$out/batch" -q -o "$out/sparse-batch.html"
"$heddle" compare "$out/sparse" "$out/batch" --json > "$out/sparse-batch.json"
"$heddle" compare "$out/dense" "$out/sparse" --json > "$out/dense-sparse.json"
# The keys of the device that bind, in the page itself.
cp -r "$out/dense" "$out/with-keys"
"$heddle" view "$out/with-keys" -q
"$heddle" explain "$out/with-keys" --json > "$out/keys.json"
