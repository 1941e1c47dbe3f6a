#!/usr/bin/python3
"""What tiling depth-wise gains: each network on each mesh with `--fuse auto` against `--fuse off`, in cycles of the simulation
and in CPU time of the compile. Cells in which the planner tiles nothing have one program either way and are counted alone.

    scripts/bench/tiling.py --heddle build/ci/heddle                                    the meshes of MESHES: 6 CPU minutes
    scripts/bench/tiling.py --heddle build/ci/heddle --mesh 4x4 --set memtile.memory=128KiB

The networks are those of scripts/make_models.py --all -o build/models. Exit status 1 if a cell is more than 1 % slower tiled.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ["resnet50", "inception_v3", "vgg16", "mobilenet_v1", "mobilenet_v2"]
MESHES = ["1x1", "2x2", "3x3", "4x4", "5x5", "6x6", "7x7", "8x8", "3x5", "7x2"]
MOST_SLOWER = 1.01


def compiled(arguments, network, mesh, fuse):
    """The report, and seconds of CPU."""
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.heddle, "compile", ROOT / f"build/models/{network}.onnx", "--device", arguments.device, "--mesh", mesh,
                   *(["--set", *arguments.set] if arguments.set else []), "--fuse", fuse, "--no-verify", "-q", "-o", f"{folder}/out"]
        before = os.times()
        subprocess.run(command, check=True)
        after = os.times()
        took = after.children_user + after.children_system - before.children_user - before.children_system
        return json.loads(pathlib.Path(folder, "out/report.json").read_text()), took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--device", type=pathlib.Path, default=ROOT / "hw_configs/paper.yaml")
    parser.add_argument("--mesh", nargs="+", default=MESHES)
    parser.add_argument("--network", nargs="+", default=NETWORKS, choices=NETWORKS)
    parser.add_argument("--set", nargs="+", metavar="KEY=VALUE")
    arguments = parser.parse_args()
    print("mesh   network        cycles off   cycles auto     gain  groups  CPU s off   auto")
    alike, slower, seconds = 0, 0, [0.0, 0.0]
    for mesh in arguments.mesh:
        for network in arguments.network:
            report, took = compiled(arguments, network, mesh, "auto")
            groups, cycles = report["groups"], report["time"]["cycles"]
            if not groups:
                alike += 1
                continue
            whole, took_whole = compiled(arguments, network, mesh, "off")
            off = whole["time"]["cycles"]
            slower += cycles > off * MOST_SLOWER
            seconds = [seconds[0] + took_whole, seconds[1] + took]
            print(f"{mesh:5}  {network:13}  {off:10}  {cycles:12}  {(off - cycles) / off:+7.1%}  {len(groups):6}  {took_whole:9.2f}"
                  f"  {took:5.2f}", flush=True)
    print(f"{alike} cells are not tiled; {slower} more than {MOST_SLOWER - 1:.0%} slower; CPU of the tiled ones {seconds[0]:.1f} s off, "
          f"{seconds[1]:.1f} s auto")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
