#!/usr/bin/python3
"""What packing gains over first fit: in tables of buffers, and in networks beside an older build.

    scripts/bench/packing.py --heddle build/heddle --tables ../shared/benchmarks/minimalloc/*.csv
    scripts/bench/packing.py --heddle build/heddle --old ../before/build/heddle     networks on 4x4 and 5x5 (2 CPU minutes)
    scripts/bench/packing.py --heddle build/heddle --memory 256KiB 384KiB 512KiB    tensors at home as memtiles grow
    scripts/bench/packing.py --heddle build/heddle --random 30                      of each style so many cuts of a rectangle (2 CPU minutes)

A table's capacity is the number in its name. A tensor without a home in the memtiles spills to DDR.
A cut of a rectangle, time x bytes, is a perfect packing; --slack says how much higher the capacity is, --buffers how many pieces there are,
--fray by how much each is then made smaller and shorter, so that few fit beside another without a gap.
Exit status 1 where a table or a cut is not packed, or a network keeps fewer tensors at home with more memory.
"""
import argparse
import json
import math
import pathlib
import random
import re
import resource
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


BYTES = 1 << 20  # of a cut rectangle; its time is either of
TIMES = (10000, 1000)
STYLES = ("mixed", "guillotine", "pinwheels", "stairs", "short lives", "long lives", "even")  # as tests/unit/packing/random_cuts.h draws them


def within(draw, low, high, style):
    """A number strictly between the two."""
    third = (high - low) // 3
    return min(max(low + third + draw.randint(0, third), low + 1), high - 1) if style == "even" else draw.randint(low + 1, high - 1)


def parts(draw, piece, style, room, cut):
    """What a piece (left, right, low, high) is cut into: at most `room`. `cut`: how many pieces there are."""
    left, right, low, high = piece
    wide, tall = right - left, high - low
    if min(wide, tall) >= 3 and room >= 5 and (style == "pinwheels" or style == "mixed" and draw.randrange(5) == 0):
        x1, x2 = sorted(draw.sample(range(left + 1, right), 2))
        y1, y2 = sorted(draw.sample(range(low + 1, high), 2))
        return [(left, x2, low, y1), (x2, right, low, y2), (x1, right, y2, high), (left, x1, y1, high), (x1, x2, y1, y2)]
    if min(wide, tall) >= 4 and room >= 5 and style == "stairs":
        steps = min(wide, tall, 8, cut + 1, room // 2)
        xs = [left] + sorted(draw.sample(range(left + 1, right), steps - 1))
        ys = [high] + sorted(draw.sample(range(low + 1, high), steps - 1), reverse=True) + [low]
        lying = [(x, right, ys[k + 1], ys[k]) for k, x in enumerate(xs)]
        return lying + [(x, xs[k + 1], low, ys[k + 1]) for k, x in enumerate(xs[:-1])]
    across = draw.randrange(10) < {"short lives": 9, "long lives": 1}.get(style, 5)
    if wide >= 2 and (tall < 2 or across):
        x = within(draw, left, right, style)
        return [(left, x, low, high), (x, right, low, high)]
    if tall < 2:
        return [piece]
    y = within(draw, low, high, style)
    return [(left, right, low, y), (left, right, y, high)]


def cuts(seed, count, style):
    """So many pieces of a rectangle, shuffled."""
    draw = random.Random(f"{style} {seed}")
    area = lambda p: (p[1] - p[0]) * (p[3] - p[2])
    pieces = [(0, TIMES[seed % 2], 0, BYTES)]
    while len(pieces) < count:
        if style == "even":
            piece = max(pieces, key=area)
        else:
            piece = max(draw.choices(pieces, k=5 if style.endswith("lives") else 1), key=area)
        pieces.remove(piece)
        pieces += parts(draw, piece, style, count - len(pieces), len(pieces) + 1)
    draw.shuffle(pieces)
    return pieces


def frayed(pieces, seed, most):
    """Each smaller and shorter by up to `most` of it, so that few have an edge that is the same."""
    draw = random.Random(seed)
    for left, right, low, high in pieces:
        high -= int((high - low) * most * draw.random())
        shorter = min(right - left - 1, int((right - left) * most * draw.random() + draw.random()))
        yield (left + shorter, right, low, high) if draw.random() < 0.5 else (left, right - shorter, low, high)


def childrenSeconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def randomly(arguments):
    """Whether all random cuts were packed."""
    capacity = math.ceil(BYTES * (1 + arguments.slack / 100))
    print(f"| {arguments.buffers} buffers, {arguments.slack:g} % to spare | packed | of | mean CPU s | most CPU s | not packed: seed, too high by |\n|---|--:|--:|--:|--:|---|")
    done = True
    for style in arguments.style:
        times, missed = [], []
        for seed in range(arguments.random):
            pieces = cuts(seed, arguments.buffers, style)
            if arguments.fray:
                pieces = frayed(pieces, seed, arguments.fray / 100)
            table = "id,lower,upper,size\n" + "".join(f"{k},{p[0]},{p[1]},{p[3] - p[2]}\n" for k, p in enumerate(pieces))
            with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
                file.write(table)
                file.flush()
                start = childrenSeconds()
                out = subprocess.run([arguments.heddle, "allocate", file.name, "--capacity", str(capacity), "--json"],
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
                times.append(childrenSeconds() - start)
            row = json.loads(out)
            if not row["fits"]:
                missed.append(f"{seed}, {100 * row['height'] / capacity - 100:.1f} %")
        done &= not missed
        print(f"| {style} | {len(times) - len(missed)} | {len(times)} | {sum(times) / len(times):.2f} | {max(times):.2f} | {'; '.join(missed)} |", flush=True)
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
    parser.add_argument("--random", type=int, default=0, metavar="N", help="cuts of each style, seeds 0 to N - 1")
    parser.add_argument("--buffers", type=int, default=450, metavar="N", help="pieces of each cut (450)")
    parser.add_argument("--slack", type=float, default=5, metavar="PERCENT", help="that the capacity is higher than a perfect packing (5)")
    parser.add_argument("--fray", type=float, default=0, metavar="PERCENT", help="by which pieces are smaller and shorter than cut, at most (0)")
    parser.add_argument("--style", nargs="+", choices=STYLES, default=STYLES, help="of the cuts (all)")
    parser.add_argument("--memory", nargs="+", metavar="SIZE", help="sizes of a memtile, growing")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/models", help="where the networks lie")
    parser.add_argument("--mesh", nargs="+", default=["4x4", "5x5"], metavar="RxC")
    parser.add_argument("--model", nargs="+", default=["resnet50", "inception_v3", "mobilenet_v2"], metavar="NAME")
    arguments = parser.parse_args()
    done = tables(arguments.heddle, arguments.tables) if arguments.tables else True
    if arguments.random:
        done &= randomly(arguments)
    if arguments.old:
        beside(arguments)
    if arguments.memory:
        done &= growing(arguments)
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main())
