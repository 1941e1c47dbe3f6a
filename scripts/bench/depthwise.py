#!/usr/bin/python3
"""VGG16 on 3x3 with a sixteenth of the DDR bandwidth, layer by layer and tiled depth-wise, dense and sparse, beside the paper's
figures for it (section on depth-wise tiling; of the layers whose tensors spill only).

    scripts/bench/depthwise.py --heddle build/ci/heddle            half a CPU minute
    scripts/bench/depthwise.py --heddle build/ci/heddle --verify   every program executed with data and compared

"part" is the time at which the last row of pool3 is written: the layers up to it are those whose tensors do not fit the memtiles
of 3x3. "activations" are the bytes that go to or come from DDR beside weights. Sparse as in scripts/bench/table2.py. The
networks are those of scripts/make_models.py --all -o build/models; the pruned one goes to build/bench. Exit status 1 where a
goal is missed.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLOW_DDR = ["--set", "links.ddr.read=0.25GB/s", "--set", "links.ddr.write=0.25GB/s"]
# In ms: layer by layer, tiled in 2 (in 3: 24), sparse layer by layer, sparse and tiled.
PAPER = {("dense", "off"): 25, ("dense", "auto"): 22, ("sparse", "off"): 21, ("sparse", "auto"): 14}
GOALS = {("dense", "auto"): 14, ("sparse", "auto"): 8}  # in ms, of the whole network
LAST_OF_PART = ("conv3_3", "pool3")  # the pool is made by the convolution, or is a layer of its own


def compiled(arguments, model, fuse):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = [arguments.heddle, "compile", model, "--device", ROOT / "hw_configs/paper.yaml", "--mesh", "3x3", *SLOW_DDR,
                   "--fuse", fuse, "-q", "-o", out, *([] if arguments.verify else ["--no-verify"])]
        subprocess.run(command, check=True)
        report = json.loads((out / "report.json").read_text())
        with open(out / "layers.csv", encoding="utf-8") as file:
            end = max(int(line["end"]) for line in csv.DictReader(file) if line["name"] in LAST_OF_PART)
        return report, end


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "build/models/vgg16.onnx")
    parser.add_argument("--sparse", type=pathlib.Path, default=ROOT / "build/bench/vgg16-sparse.onnx", help="where the pruned one goes")
    parser.add_argument("--verify", action="store_true")
    arguments = parser.parse_args()
    sparse = arguments.sparse
    sparse.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([arguments.heddle, "prune", arguments.model, "-o", sparse, "--ratio", "0.5", "--importance", "l2", "--scope",
                    "layer", "--balance", "none", "--keep", "first", "-q"], check=True)
    print("weights  tiled   paper ms   part ms   whole ms   DDR read MB   DDR written MB   floor ms")
    missed = 0
    for weights, model in (("dense", arguments.model), ("sparse", sparse)):
        for fuse in ("off", "auto"):
            report, end = compiled(arguments, model, fuse)
            traffic, seconds = report["traffic"], report["time"]["seconds"]
            print(f"{weights:7}  {fuse:5}  {PAPER[weights, fuse]:9}  {end / report['time']['cycles'] * seconds * 1e3:8.2f}  "
                  f"{seconds * 1e3:9.2f}  {traffic['ddrReadBytes'] / 1e6:12.2f}  {traffic['ddrWriteBytes'] / 1e6:15.2f}  "
                  f"{report['bounds']['lowerBoundSeconds'] * 1e3:9.2f}", flush=True)
            if seconds * 1e3 > GOALS.get((weights, fuse), float("inf")):
                print(f"MISSED {weights}, tiled: at most {GOALS[weights, fuse]} ms")
                missed = 1
    return missed


if __name__ == "__main__":
    sys.exit(main())
