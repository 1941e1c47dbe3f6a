#!/usr/bin/python3
"""What packing gains over first fit: in tables of buffers, and in networks beside an older build.

    scripts/bench/packing.py --heddle build/heddle --tables ../shared/benchmarks/minimalloc/*.csv
    scripts/bench/packing.py --heddle build/heddle --old ../before/build/heddle     networks on 4x4 and 5x5 (2 CPU minutes)
    scripts/bench/packing.py --heddle build/heddle --memory 256KiB 384KiB 512KiB    tensors at home as memtiles grow

A table's capacity is the number in its name. A tensor without a home in the memtiles spills to DDR.
Exit status 1 where a table is not packed, or a network keeps fewer tensors at home with more memory.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def tables(heddle, paths):
    """Whether all were packed."""
    print("| table | buffers | capacity | live at most | first fit | height | s |\n|---|--:|--:|--:|--:|--:|--:|")
    done = True
    for path in paths:
        capacity = path.name.split(".")[1]
        start = time.monotonic()
        out = subprocess.run([heddle, "allocate", path, "--capacity", capacity, "--json"], stdout=subprocess.PIPE, text=True).stdout
        seconds = time.monotonic() - start
        row = json.loads(out)
        done &= row["fits"]
        print(f"| {path.name} | {row['buffers']} | {capacity} | {row['mostLive']} | {row['firstFit']} | {row['height']} | {seconds:.2f} |", flush=True)
    return done


def compiled(heddle, model, mesh, settings=()):
    """Cycles, bytes through DDR, tensors at home in memtiles, and the fullest memtile's bytes, of one compilation."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = [heddle, "compile", model, "--mesh", mesh, "--no-verify", "--json", "-o", out]
        for setting in settings:
            command += ["--set", setting]
        report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        homes = len(re.findall(r"^\s*home \d", (out / "plan.txt").read_text(), re.MULTILINE))
    traffic = report["traffic"]["ddrReadBytes"] + report["traffic"]["ddrWriteBytes"]
    return report["time"]["cycles"], traffic, homes, report["memory"]["memtilePeakBytes"]


def beside(arguments):
    print("| network | mesh | cycles | | DDR bytes | | tensors at home | | fullest memtile | |\n|---|---|" + "--:|" * 8)
    for mesh in arguments.mesh:
        for name in arguments.model:
            model = arguments.folder / f"{name}.onnx"
            pairs = zip(compiled(arguments.old, model, mesh), compiled(arguments.heddle, model, mesh))
            print(f"| {name} | {mesh} | " + " | ".join(f"{old} | {new}" for old, new in pairs) + " |", flush=True)


def growing(arguments):
    """Whether more memory keeps at least as many tensors at home, everywhere."""
    print("| network | mesh | " + " | ".join(arguments.memory) + " |\n|---|---|" + "--:|" * len(arguments.memory))
    kept = True
    for mesh in arguments.mesh:
        for name in arguments.model:
            model = arguments.folder / f"{name}.onnx"
            homes = [compiled(arguments.heddle, model, mesh, [f"memtile.memory={memory}"])[2] for memory in arguments.memory]
            kept &= homes == sorted(homes)
            print(f"| {name} | {mesh} | " + " | ".join(map(str, homes)) + " |", flush=True)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--old", type=pathlib.Path, help="an executable from before, to compile the networks too")
    parser.add_argument("--tables", type=pathlib.Path, nargs="+", default=[], metavar="NAME.CAPACITY.csv")
    parser.add_argument("--memory", nargs="+", metavar="SIZE", help="sizes of a memtile, growing")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/models", help="where the networks lie")
    parser.add_argument("--mesh", nargs="+", default=["4x4", "5x5"], metavar="RxC")
    parser.add_argument("--model", nargs="+", default=["resnet50", "inception_v3", "mobilenet_v2"], metavar="NAME")
    arguments = parser.parse_args()
    done = tables(arguments.heddle, arguments.tables) if arguments.tables else True
    if arguments.old:
        beside(arguments)
    if arguments.memory:
        done &= growing(arguments)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
