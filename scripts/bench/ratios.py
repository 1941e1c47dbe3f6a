#!/usr/bin/python3
"""Cycles of networks as more and more of their 8x8 blocks go: more zeros must not take longer.

    scripts/bench/ratios.py --heddle build/ci/heddle      ResNet-50, Inception v3 and VGG16 on 4x4 and 3x5 (2 CPU minutes)
    scripts/bench/ratios.py --mesh 8x8 --model vgg16      another mesh, a part

The networks (scripts/make_models.py) are pruned by l2, layer by layer, the first convolution dense, to growing ratios; so each keeps a
subset of the blocks of the one before. Exit status 1 where one takes over 3 % more cycles than one that keeps more.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RATIOS = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1)
MOST = 1.03  # times the cycles of any that keeps more


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/models", help="where the networks lie")
    parser.add_argument("--mesh", nargs="+", default=["4x4", "3x5"], metavar="RxC")
    parser.add_argument("--model", nargs="+", default=["resnet50", "inception_v3", "vgg16"], metavar="NAME")
    arguments = parser.parse_args()
    print("| network | mesh | " + " | ".join(f"{ratio:.0%}" for ratio in RATIOS) + " | most over one with more blocks |")
    print("|---|---|" + "--:|" * (len(RATIOS) + 1))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        out, pruned = pathlib.Path(folder) / "out", pathlib.Path(folder) / "pruned.onnx"
        for model in arguments.model:
            cycles = {mesh: [] for mesh in arguments.mesh}
            for ratio in RATIOS:
                run(arguments.heddle, "prune", arguments.folder / f"{model}.onnx", "-o", pruned, "--ratio", str(ratio), "--keep", "first", "-q")
                for mesh in arguments.mesh:
                    report = json.loads(run(arguments.heddle, "compile", pruned, "--device", ROOT / "hw_configs/paper.yaml", "--mesh", mesh,
                                            "--no-verify", "--json", "-o", out))
                    cycles[mesh].append(report["time"]["cycles"])
            for mesh, row in cycles.items():
                over = max(row[i] / min(row[:i]) for i in range(1, len(row)))
                worst = max(worst, over)
                print(f"| {model} | {mesh} | {' | '.join(map(str, row))} | {over:.3f} |", flush=True)
    return 1 if worst > MOST else 0


if __name__ == "__main__":
    sys.exit(main())
