#!/usr/bin/python3
"""Holds the cycles of a heddle, and the CPU seconds it compiles for, to a recorded table or to another build of heddle.

    scripts/compare_cycles.py                               build/heddle against tests/e2e/cycles.txt (3 CPU minutes)
    scripts/compare_cycles.py --old ../before/build/heddle  against another build (twice that)
    scripts/compare_cycles.py --only 'paper [23]x.*resnet'  cells whose line begins so: DEVICE MESH NETWORK
    scripts/compare_cycles.py --old OLD --models ../shared/models/real/*.onnx --meshes 1x1,4x4 --devices paper
    scripts/compare_cycles.py --bless                       write the table anew, all of it

The cells: the 21 of the paper's Table II (resnet50, inception_v3, vgg16 on 2x2 to 8x8) and all seven networks on 1x1, 3x5, 7x2
and 8x8, each on paper.yaml and switched.yaml. scripts/make_models.py --all -o build/models makes the networks.

A line says old and new cycles, new / old, new / old of the instructions executed, old and new CPU seconds, and how far the new one's closed form is off its cycles;
nothing is executed with data (scripts/grid.py does that). CPU seconds of the table are those of the machine that wrote it. Exit status 1 if a cell is slower by more than the
tolerance, fails only now or, with --exactly, differs at all (in instructions, too), or if a closed form is off by more than its own tolerance.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import networks

# What one compilation took: instructions that the array executed, CPU seconds, closed form / cycles - 1.
Cell = collections.namedtuple("Cell", "cycles instructions seconds error")
ROOT = pathlib.Path(__file__).resolve().parents[1]
DEVICES = ["paper", "switched"]
TABLE_II = [(mesh, name) for mesh in (f"{n}x{n}" for n in range(2, 9)) for name in ("resnet50", "inception_v3", "vgg16")]
OTHERS = [(mesh, name) for mesh in ("1x1", "3x5", "7x2", "8x8") for name in networks.LARGE]
HEADING = "# device mesh network cycles instructions CPU-seconds; scripts/compare_cycles.py --bless wrote this"


def measured(heddle, model, device, mesh):
    """One compilation; what it prints is None where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [heddle, "compile", model, "--device", ROOT / f"hw_configs/{device}.yaml", "--mesh", mesh, "--no-verify",
                   "--json", "-o", pathlib.Path(folder) / "out"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    report = json.loads(text) if process.returncode == 0 else {"time": {}, "work": {}}
    time = report["time"]
    error = time["closedFormSeconds"] / time["seconds"] - 1 if time.get("closedFormSeconds") else None
    return Cell(time.get("cycles"), report["work"].get("instructions"), usage.ru_utime + usage.ru_stime, error)


def best(runs, *what):
    results = [measured(*what) for _ in range(runs)]
    return results[0]._replace(seconds=min(one.seconds for one in results))


def cells_of(arguments):
    if arguments.models:
        places = [(mesh, model) for mesh in arguments.meshes or ["4x4"] for model in arguments.models]
    else:
        places = [(mesh, arguments.folder / f"{name}.onnx") for mesh, name in dict.fromkeys(TABLE_II + OTHERS)
                  if not arguments.meshes or mesh in arguments.meshes]
    cells = [(device, mesh, model) for device in arguments.devices for mesh, model in places]
    return [cell for cell in cells if re.match(arguments.only, key_of(*cell))]


def key_of(device, mesh, model):
    return f"{device} {mesh} {model.stem}"


def read_table(path):
    table = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            *key, cycles, instructions, seconds = line.split()
            table[" ".join(key)] = Cell(int(cycles) if cycles.isdigit() else None, int(instructions) if instructions.isdigit() else None,
                                        float(seconds), None)
    return table


def write_table(path, results):
    lines = [f"{key} {'failed' if new.cycles is None else new.cycles} {'failed' if new.instructions is None else new.instructions} "
             f"{new.seconds:.2f}" for key, _, new in results]
    path.write_text("\n".join([HEADING, *lines, ""]))


def ratio_of(old, new):
    """New over old cycles: infinite where only the new one failed, 0 where only the old one did."""
    if old.cycles is None:
        return 1.0 if new.cycles is None else 0.0
    return math.inf if new.cycles is None else new.cycles / old.cycles


def instructions_ratio(old, new):
    """New over old; nothing where one of the two has not told."""
    return new.instructions / old.instructions if old.instructions and new.instructions else None


def line(key, old, new):
    cycles = ("failed" if side.cycles is None else str(side.cycles) for side in (old, new))
    instructions = instructions_ratio(old, new)
    ratio = ratio_of(old, new)
    mark = "SLOWER" if ratio > 1 else "faster" if ratio < 1 else ""
    device, mesh, name = key.split(" ", 2)
    return (f"{device:8} {mesh:4} {name:14} {next(cycles):>11} {next(cycles):>11} {ratio:8.4f} "
            f"{'' if instructions is None else f'{instructions:.4f}':>8} {old.seconds:7.2f} {new.seconds:7.2f} s {percent(new.error)}  {mark}").rstrip()


def geometric_mean(ratios):
    ratios = list(ratios)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def percent(error):
    return "" if error is None else f"{100 * error:+5.1f} %"


def summary(results):
    """One line a device: the geometric mean of the ratios, how many cells moved, and all CPU seconds."""
    lines = []
    for device in dict.fromkeys(key.split()[0] for key, _, _ in results):
        cells = [(old, new) for key, old, new in results if key.split()[0] == device]
        here = [(ratio_of(old, new), old.seconds, new.seconds) for old, new in cells]
        mean = geometric_mean(ratio for ratio, _, _ in here if 0 < ratio < math.inf)
        told = [ratio for ratio in (instructions_ratio(old, new) for old, new in cells) if ratio]
        old, new = (sum(row[side] for row in here) for side in (1, 2))
        lines.append(f"{device:8} cycles x{mean:.4f}: {sum(r < 1 for r, _, _ in here)} faster, "
                     f"{sum(r == 1 for r, _, _ in here)} equal, {sum(r > 1 for r, _, _ in here)} slower; "
                     f"CPU {old:.1f} s, now {new:.1f} s")
        if told:
            lines.append(f"{device:8} instructions x{geometric_mean(told):.4f}, from x{min(told):.4f} to x{max(told):.4f}")
        errors = [new.error for _, new in cells if new.error is not None]
        if errors:
            lines.append(f"{device:8} closed form against the simulation: {percent(min(errors))} to {percent(max(errors))}, "
                         f"mean of magnitudes {percent(sum(map(abs, errors)) / len(errors))}")
    return lines


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle", help="the new one")
    against = parser.add_mutually_exclusive_group()
    against.add_argument("--old", type=pathlib.Path, help="another heddle, instead of the table")
    against.add_argument("--bless", action="store_true")
    parser.add_argument("--table", type=pathlib.Path, default=ROOT / "tests/e2e/cycles.txt")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/models", help="where the networks lie")
    parser.add_argument("--models", nargs="+", type=pathlib.Path, help="other models, on --meshes (default 4x4)")
    parser.add_argument("--meshes", type=lambda text: text.split(","), help="RxC,...")
    parser.add_argument("--devices", type=lambda text: text.split(","), default=DEVICES, help="names in hw_configs/")
    parser.add_argument("--only", metavar="REGEX", default="")
    parser.add_argument("--tolerance", type=float, default=0.0, help="how much slower is no fault: 0.01 is 1 %%")
    parser.add_argument("--estimate-tolerance", type=float, default=math.inf,
                        help="how far the closed form may be off the simulation: 0.05 is 5 %%")
    parser.add_argument("--exactly", action="store_true", help="faster is a fault too: the table is to be written anew")
    parser.add_argument("--runs", type=int, default=1, help="CPU seconds are the least of so many runs")
    parser.add_argument("--jobs", type=int, default=1, help="cells at the same time; CPU seconds grow a little")
    arguments = parser.parse_args()
    if arguments.models and not arguments.old:
        parser.error("--models needs --old: the table holds the seven networks")
    if arguments.bless and (arguments.only or arguments.meshes or arguments.devices != DEVICES):
        parser.error("--bless writes the whole table")
    return arguments


def main():
    arguments = parsed()
    cells = cells_of(arguments)
    table = {} if arguments.old or arguments.bless else read_table(arguments.table)
    missing = [model for _, _, model in cells if not model.exists()]
    if missing or not cells:
        sys.exit(f"compare_cycles: {f'no {missing[0]}' if missing else 'no such cell'}")

    def compare(cell):
        device, mesh, model = cell
        new = best(arguments.runs, arguments.heddle, model, device, mesh)
        if arguments.old:
            return key_of(*cell), best(arguments.runs, arguments.old, model, device, mesh), new
        return key_of(*cell), table[key_of(*cell)] if table else new, new

    results = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(compare, cells):
            results.append(result)
            print(line(*result), flush=True)
    print(*summary(results), sep="\n")
    if arguments.bless:
        write_table(arguments.table, results)
    ratios = [ratio_of(old, new) for _, old, new in results]
    errors = [new.error for _, _, new in results if new.error is not None]
    if any(abs(error) > arguments.estimate_tolerance for error in errors):
        print(f"the closed form is off by more than {percent(arguments.estimate_tolerance)}")
        return 1
    others = [f"{key}: {new.instructions} instructions for {old.instructions}" for key, old, new in results
              if arguments.exactly and instructions_ratio(old, new) not in (None, 1)]
    if others:
        print(*others, "not exactly as before; where that is meant, '--bless' writes the table", sep="\n")
        return 1
    return 1 if any(r > 1 + arguments.tolerance or (arguments.exactly and r != 1) for r in ratios) else 0


if __name__ == "__main__":
    sys.exit(main())
