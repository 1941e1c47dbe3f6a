#!/usr/bin/python3
"""What the planner's higher efforts gain: cycles of the simulation at effort 1, 2 and, with --most, 3; how many plans were timed for
that, and CPU time of the compile.

    scripts/bench/effort.py --heddle build/ci/heddle                            the networks and meshes below: 5 CPU minutes
    scripts/bench/effort.py --network mobilenet_v2 --mesh 4x4 --most            one network, effort 3 too
    scripts/bench/effort.py --monotone --network mobilenet_v1 --mesh 3x3        that more hardware is no slower

--monotone raises one thing after another on each mesh: a row more, a column more, the rates and memory of RAISED. Exit status 1 where
that is slower by more than 3 % at effort 1, or 1 % at effort 2; without it, where a higher effort is slower than a lower one.
The networks are those of scripts/make_models.py --all -o build/models.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ["resnet50", "inception_v3", "vgg16", "mobilenet_v1", "mobilenet_v2", "mlp"]
MESHES = ["2x2", "4x4", "3x5"]
RAISED = ["links.ddr.read=5GB/s", "links.ddr.read=8GB/s", "links.wire=5GB/s", "links.wire=8GB/s", "memtile.memory=640KiB", "memtile.memory=1MiB"]
MOST_SLOWER = {1: 1.03, 2: 1.01, 3: 1.01}  # by effort


class Compiled:
    """Cycles, plans timed and seconds of CPU."""

    def __init__(self, arguments, network, mesh, effort, setting=None):
        with tempfile.TemporaryDirectory() as folder:
            command = [arguments.heddle, "compile", arguments.folder / f"{network}.onnx", "--device", arguments.device, "--mesh", mesh,
                       *(["--set", setting] if setting else []), "--effort", str(effort), "--no-verify", "-q", "-o", f"{folder}/out"]
            before = os.times()
            subprocess.run(command, check=True)
            after = os.times()
            self.seconds = after.children_user + after.children_system - before.children_user - before.children_system
            explanation = json.loads(pathlib.Path(folder, "out/explain.json").read_text())
            self.cycles = explanation["cycles"]
            self.plans = explanation["timed"]["plans"] if explanation["timed"] else 0


def gains(arguments):
    """Whether no effort is slower than the one below it."""
    efforts = [1, 2, 3] if arguments.most else [1, 2]
    print("mesh   network        effort      cycles    gain  plans  CPU s")
    slower = 0
    for mesh in arguments.mesh:
        for network in arguments.network:
            made = [Compiled(arguments, network, mesh, effort) for effort in efforts]
            for effort, one in zip(efforts, made):
                print(f"{mesh:5}  {network:13}  {effort:6}  {one.cycles:10}  {1 - one.cycles / made[0].cycles:6.1%}  {one.plans:5}"
                      f"  {one.seconds:5.1f}", flush=True)
            slower += sum(above.cycles > below.cycles for below, above in zip(made, made[1:]))
    return not slower


def neighbours(mesh):
    """Meshes and settings that are more than the mesh alone."""
    rows, columns = map(int, mesh.split("x"))
    return [(f"{rows + 1}x{columns}", None), (f"{rows}x{columns + 1}", None), *((mesh, setting) for setting in RAISED)]


def monotone(arguments):
    """Whether no neighbour is slower by more than the goal."""
    efforts = [1, 2, 3] if arguments.most else [1, 2]
    print("network        mesh   raised                  effort      cycles  raised to   slower")
    worst = {effort: (0.0, "") for effort in efforts}
    for network in arguments.network:
        for mesh in arguments.mesh:
            for effort in efforts:
                base = Compiled(arguments, network, mesh, effort).cycles
                for more, setting in neighbours(mesh):
                    cycles = Compiled(arguments, network, more, effort, setting).cycles
                    what = setting or more
                    worst[effort] = max(worst[effort], (cycles / base, f"{network} on {mesh}, {what}"))
                    if cycles > base:
                        print(f"{network:13}  {mesh:5}  {what:22}  {effort:6}  {base:10}  {cycles:9}  {cycles / base - 1:7.2%}", flush=True)
    for effort, (ratio, where) in worst.items():
        print(f"effort {effort}: at worst {max(ratio - 1, 0):.2%} slower, goal {MOST_SLOWER[effort] - 1:.0%}: {where}")
    return all(ratio <= MOST_SLOWER[effort] for effort, (ratio, _) in worst.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/models", help="where the networks lie")
    parser.add_argument("--device", type=pathlib.Path, default=ROOT / "hw_configs/paper.yaml")
    parser.add_argument("--network", nargs="+", default=NETWORKS, metavar="NAME")
    parser.add_argument("--mesh", nargs="+", default=MESHES, metavar="RxC")
    parser.add_argument("--most", action="store_true", help="effort 3, too")
    parser.add_argument("--monotone", action="store_true", help="more hardware beside less")
    arguments = parser.parse_args()
    return 0 if (monotone if arguments.monotone else gains)(arguments) else 1


if __name__ == "__main__":
    sys.exit(main())
