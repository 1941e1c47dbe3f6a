#!/usr/bin/python3
"""How long a sweep takes: three networks on all 64 meshes up to 8x8, simulated and in closed form, beside the goals.

    scripts/bench/sweep.py --heddle build/heddle --folder build/models

Prints wall-clock and CPU seconds and the largest memory of each, and how far the closed form is from the simulation; the CPU
seconds say on a busy machine what the wall clock cannot. Exit status 1 where a goal is missed.
"""
import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import time

NETWORKS = ("resnet50", "inception_v3", "vgg16")
MOST_SECONDS, MOST_ESTIMATE_SECONDS = 150, 15  # on two cores
MOST_BYTES = 2 << 30
MOST_ERROR = 0.05  # of the closed form, at each point


def timed(command):
    """(wall seconds, CPU seconds, peak bytes) of a command."""
    begun = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return time.monotonic() - begun, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


def rows(heddle, folder):
    subprocess.run([heddle, "collect", folder, "-q"], check=True)
    with (folder / "results.csv").open() as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=pathlib.Path("build/heddle"))
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/models"), help="where the networks lie")
    parser.add_argument("--estimate", action="store_true", help="only in closed form")
    options = parser.parse_args()
    models = [word for name in NETWORKS for word in ("--model", options.folder / f"{name}.onnx")]
    goals = {"--estimate": MOST_ESTIMATE_SECONDS} | ({} if options.estimate else {"--no-verify": MOST_SECONDS})
    missed = False
    with tempfile.TemporaryDirectory() as out:
        for how, goal in goals.items():
            folder = pathlib.Path(out) / how
            wall, cpu, peak = timed([options.heddle, "sweep", *models, "--mesh", "1..8x1..8", how, "-q", "-o", folder])
            points = rows(options.heddle, folder)
            print(f"{how:12} {len(points)} points, {wall:6.1f} s of at most {goal} s ({cpu:.1f} s of CPU), {peak >> 20} MiB")
            missed |= wall > goal or peak > MOST_BYTES
            if how == "--no-verify":
                errors = [(float(p["estimateMs"]) / float(p["ms"]) - 1, f"{p['model']} {p['rows']}x{p['cols']}") for p in points if p["ms"]]
                off = sorted((e for e in errors if abs(e[0]) > MOST_ERROR), key=lambda e: -abs(e[0]))
                print(f"closed form  off by {sum(abs(e[0]) for e in errors) / len(errors):.1%} in the mean, by more than {MOST_ERROR:.0%} in "
                      f"{len(off)} of {len(errors)} points{': ' if off else ''}{', '.join(f'{name} {error:+.1%}' for error, name in off)}")
                missed |= bool(off)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
