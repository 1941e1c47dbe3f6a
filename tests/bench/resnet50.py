#!/usr/bin/python3
"""What ResNet-50 on a 4x4 mesh costs to compile and to simulate, on one core, beside its limits.

    tests/bench/resnet50.py [--heddle build/heddle] [--model build/models/resnet50.onnx] [--check]

Each figure is the best of three runs. --check ends with status 1 if one passes its limit.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 3


def run(*command):
    """Wall seconds and peak bytes of a command pinned to one core."""
    core = min(os.sched_getaffinity(0))
    began = time.monotonic()
    process = subprocess.Popen(["taskset", "-c", str(core), *map(str, command)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"bench: {' '.join(map(str, command))} failed")
    return time.monotonic() - began, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "build/models/resnet50.onnx")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    compiled, timed, with_data, peak = [], [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "resnet50"
        for _ in range(RUNS):
            used = run(arguments.heddle, "compile", arguments.model, "--device", ROOT / "hw_configs/paper.yaml",
                       "--mesh", "4x4", "--no-verify", "-q", "-o", out)
            effort = json.loads((out / "report.json").read_text())["effort"]
            compiled.append(effort["importSeconds"] + effort["compileSeconds"])
            quick = run(arguments.heddle, "simulate", out, "-q")
            timed.append(quick[0])
            full = run(arguments.heddle, "simulate", out, "--data", "-q")
            with_data.append(full[0])
            peak = max(peak, used[1], quick[1], full[1])
        whole = run(arguments.heddle, "compile", arguments.model, "--device", ROOT / "hw_configs/paper.yaml",
                    "--mesh", "4x4", "-q", "-o", out)
    rows = [
        ("import and compile, files written", min(compiled), 2, "s"),
        ("heddle simulate, time only, whole command", min(timed), 1, "s"),
        ("heddle simulate --data, whole command", min(with_data), 10, "s"),
        ("peak memory of any of these, verification too", max(peak, whole[1]) / 2**30, 2, "GiB"),
    ]
    print("ResNet-50, 4x4 of paper.yaml, one core")
    for name, value, limit, unit in rows:
        print(f"  {name:47} {value:7.3f} {unit:3} (limit {limit} {unit}){'' if value <= limit else '  OVER'}")
    print(f"  {'compile with verification, whole command':47} {whole[0]:7.3f} s")
    return 1 if arguments.check and any(value > limit for _, value, limit, _ in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
