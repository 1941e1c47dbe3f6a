#!/usr/bin/python3
"""Table II of the paper beside ours: ResNet-50, Inception v3 and VGG16 on 2x2 to 8x8 of paper.yaml and switched.yaml, dense and sparse.

    scripts/bench/table2.sh                              builds, makes the networks, then all of it (8 CPU minutes)
    scripts/bench/table2.py --heddle build/ci/heddle     of another build
    scripts/bench/table2.py --mesh 4x4 --model vgg16     a part
    scripts/bench/table2.py --verify                     every program executed with data and compared (an hour)

Sparse is the paper's setting: the first convolution dense, of the others half of the 8x8 blocks of each layer; balanced the
same with equally many blocks in each of eight groups of output channels. The pruned networks go to build/bench, the reports of
all programs to build/bench/reports.

bound/t is the paper's layer bound (paperBoundSeconds) over the time, floor/t the lower bound over the time (docs/report.md). Exit status 1 where one of the
goals in the last lines is missed.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MESHES = tuple(f"{n}x{n}" for n in range(2, 9))
# The paper's Table II (execution time estimates), in seconds by mesh: dense and sparse. None: it failed there.
PAPER = {
    "resnet50": dict(zip(MESHES, (
        (2.492347e-02, 1.582626e-02), (1.269543e-02, 8.661490e-03), (1.077318e-02, 7.064918e-03), (None, 4.303485e-03),
        (5.712521e-03, 4.490127e-03), (4.205991e-03, 3.212234e-03), (6.376768e-03, 4.602027e-03)))),
    "inception_v3": dict(zip(MESHES, (
        (4.283837e-02, 2.440544e-02), (2.386600e-02, 1.422390e-02), (1.740967e-02, 1.012540e-02), (9.690552e-03, None),
        (1.063962e-02, 6.439692e-03), (8.727651e-03, None), (9.093276e-03, 5.666152e-03)))),
    "vgg16": dict(zip(MESHES, (
        (4.476212e-02, 2.608593e-02), (None, 1.002015e-02), (1.371000e-02, 8.852128e-03), (None, 4.336479e-03),
        (None, 5.770197e-03), (7.455440e-03, 5.288551e-03), (9.203393e-03, 6.502333e-03)))),
}
RATES = (256, 128)  # MAC a cycle
WEIGHTS = {"dense": None, "sparse": "none", "balanced": "cout:8"}  # the --balance of prune
PAPER_COLUMN = {"dense": 0, "sparse": 1}
RATIOS = ("bound/t", "floor/t")
DEVICES = ("paper", "switched")
# Of each cell, and their geometric mean: by device, ratio, rate and weights.
GOALS = {("paper", 0, 256, "sparse"): (0.60, 0.75), ("paper", 1, 256, "dense"): (0.57, 0.75), ("paper", 1, 256, "sparse"): (0.55, 0.70),
         ("switched", 1, 256, "dense"): (0.62, 0.80), ("switched", 1, 256, "sparse"): (0.60, 0.75)}
SLOWER_SWITCHED = 1.01  # than on paper.yaml no cell may be
LEAST_SPEED_UP = 1.7  # of a layer that compute bounds dense and sparse


@dataclasses.dataclass(frozen=True)
class Cell:
    model: str
    mesh: str
    weights: str
    rate: int
    device: str = "paper"

    def paper(self):
        column = PAPER_COLUMN.get(self.weights)
        return None if column is None else PAPER[self.model][self.mesh][column]

    def __str__(self):
        return f"{self.model}-{self.weights} {self.mesh} at {self.rate} on {self.device}"


def model_file(arguments, model, weights):
    return arguments.folder / f"{model}.onnx" if weights == "dense" else arguments.out / f"{model}-{weights}.onnx"


def prune(arguments, model, weights):
    subprocess.run([arguments.heddle, "prune", model_file(arguments, model, "dense"), "-o", model_file(arguments, model, weights),
                    "--ratio", "0.5", "--importance", "l2", "--scope", "layer", "--balance", WEIGHTS[weights],
                    "--keep", "first", "-q"], check=True)


def compiled(arguments, cell):
    """The report of a cell; None, and the message on stderr, where heddle refuses it or the program is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.heddle, "compile", model_file(arguments, cell.model, cell.weights), "--device",
                   ROOT / f"hw_configs/{cell.device}.yaml", "--mesh", cell.mesh, "--set", f"core.macsPerCycle={cell.rate}MAC/cycle",
                   "-q", "-o", pathlib.Path(folder) / "out", *([] if arguments.verify else ["--no-verify"])]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{cell}: status {done.returncode}\n{done.stderr}", file=sys.stderr, flush=True)
            return None
        text = (pathlib.Path(folder) / "out/report.json").read_text()
    (arguments.out / f"reports/{cell.model}-{cell.weights}-{cell.mesh}-{cell.rate}-{cell.device}.json").write_text(text)
    return json.loads(text)


def ratios(report):
    """Layer bound / time, floor / time."""
    seconds = report["time"]["seconds"]
    return report["bounds"]["paperBoundSeconds"] / seconds, report["bounds"]["lowerBoundSeconds"] / seconds


def milliseconds(seconds):
    return "failed" if seconds is None else f"{seconds * 1e3:.3f}"


def columns(cell, report):
    """Our time, bound/t, floor/t; where the paper has a figure for such weights, that and how much faster we are."""
    mine = ["refused", "", ""]
    if report:
        bound, floor = ratios(report)
        mine = [milliseconds(report["time"]["seconds"]), f"{bound:.2f}", f"{floor:.2f}"]
    if cell.weights not in PAPER_COLUMN:
        return mine
    faster = f"{cell.paper() / report['time']['seconds']:.2f}" if report and cell.paper() else ""
    return [*mine, milliseconds(cell.paper()), faster]


def print_table(device, rate, cells, reports):
    heads = {"dense": ["dense ms", "bound/t", "floor/t", "paper ms", "paper/ours"],
             "sparse": ["sparse ms", "bound/t", "floor/t", "paper ms", "paper/ours"], "balanced": ["balanced ms", "bound/t", "floor/t"]}
    rows = [["network", "mesh", *sum(heads.values(), [])]]
    for model, mesh in dict.fromkeys((cell.model, cell.mesh) for cell in cells):
        parts = (Cell(model, mesh, weights, rate, device) for weights in WEIGHTS)
        rows.append([model, mesh, *sum((columns(part, reports[part]) for part in parts), [])])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print(f"\n{device}.yaml, {rate} MAC a cycle\n")
    for number, row in enumerate(rows):
        aligned = (text.ljust(width) if i < 2 else text.rjust(width) for i, (text, width) in enumerate(zip(row, widths)))
        print("| " + " | ".join(aligned) + " |")
        if number == 0:
            print("|" + "|".join("---" if i < 2 else "--:" for i in range(len(row))) + "|")


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def summary(device, which, rate, weights, reports):
    """(worst, geometric mean) of layer bound / time (0) or floor / time (1), and one line that says them."""
    found = {cell: ratios(report)[which] for cell, report in reports.items()
             if report and (cell.device, cell.rate, cell.weights) == (device, rate, weights)}
    if not found:
        return None, f"{device}, {rate} MAC a cycle, {weights:8}: every cell refused"
    worst, mean = min(found, key=found.get), geometric_mean(list(found.values()))
    return (found[worst], mean), (f"{device}, {rate} MAC a cycle, {weights:8}: {RATIOS[which]} at least {found[worst]:.3f} ({worst.model} {worst.mesh}), "
                                  f"geometric mean {mean:.3f}")


@dataclasses.dataclass(frozen=True)
class SpeedUp:
    cell: Cell  # the sparse one
    layer: str
    factor: float  # dense / sparse cycles
    imbalance: float  # of the sparse layer: MACs of the core with most over the mean

    def __str__(self):
        return f"{self.factor:.2f} ({self.layer} of {self.cell}, imbalance {self.imbalance:.2f})"


def speed_ups_of(reports):
    """Of each layer that lost blocks and that compute bounds before and after."""
    found = []
    for cell, sparse in reports.items():
        dense = reports.get(dataclasses.replace(cell, weights="dense"))
        if cell.weights == "dense" or cell.device != "paper" or not sparse or not dense:
            continue
        before = {layer["name"]: layer for layer in dense["layers"]}
        for layer in sparse["layers"]:
            was = before.get(layer["name"])  # none: convolutions were joined in one of the two alone
            if was and (layer["density"] or 1) < 1 and layer["boundBy"] == was["boundBy"] == "compute" and layer["cycles"]:
                found.append(SpeedUp(cell, layer["name"], was["cycles"] / layer["cycles"], layer["imbalance"]))
    return found


def print_speed_ups(speed_ups, each_layer):
    """By network, or by network and layer: where it is bound by compute, how much faster it became."""
    groups = collections.defaultdict(list)
    for one in speed_ups:
        groups[one.cell.weights, one.cell.model, one.layer if each_layer else "all"].append(one)
    print("\nLayers that compute bounds dense and sparse, on paper.yaml: dense / sparse cycles\n")
    print(f"| weights | network | layer | cells | below {LEAST_SPEED_UP} | least | mean |\n|---|---|---|--:|--:|---|--:|")
    for key, group in groups.items():
        least = min(group, key=lambda one: one.factor)
        below = sum(one.factor < LEAST_SPEED_UP for one in group)
        mean = geometric_mean([one.factor for one in group])
        print(f"| {' | '.join(key)} | {len(group)} | {below} | {least} | {mean:.2f} |")


def compare_devices(reports):
    """Prints what switched wires gain over the paper's; returns the cells that are slower on them by more than is allowed."""
    ratios_of = collections.defaultdict(dict)
    for cell, report in reports.items():
        other = reports.get(dataclasses.replace(cell, device="paper"))
        if cell.device == "switched" and report and other:
            ratios_of[cell.rate, cell.weights][cell] = report["time"]["cycles"] / other["time"]["cycles"]
    for (rate, weights), of in ratios_of.items():
        worst, best = max(of, key=of.get), min(of, key=of.get)
        print(f"switched / paper, {rate} MAC a cycle, {weights:8}: cycles x{geometric_mean(list(of.values())):.3f}, from {of[best]:.3f} "
              f"({best.model} {best.mesh}) to {of[worst]:.3f} ({worst.model} {worst.mesh})")
    return [f"no slower on switched wires: {cell}, {ratio:.3f} times" for of in ratios_of.values() for cell, ratio in of.items()
            if ratio > SLOWER_SWITCHED and cell.rate == 256]


def closed_form(weights, reports):
    """A line: how far the closed form is off the simulation."""
    off = {cell: report["time"]["closedFormSeconds"] / report["time"]["seconds"] - 1 for cell, report in reports.items()
           if report and cell.weights == weights}
    worst = max(off, key=lambda cell: abs(off[cell]))
    mean = sum(map(abs, off.values())) / len(off)
    return f"closed form, {weights:8}: off by {100 * off[worst]:+.1f} % at most ({worst}), {100 * mean:.1f} % in the mean"


def summarize(reports):
    """Prints what the cells say in all; returns the goals that they miss, each in a line."""
    missed = []
    print()
    devices = dict.fromkeys(cell.device for cell in reports)
    for device, which, rate, weights in itertools.product(devices, range(len(RATIOS)), RATES, WEIGHTS):
        found, text = summary(device, which, rate, weights, reports)
        print(text)
        least, mean = GOALS.get((device, which, rate, weights), (0, 0))
        if found and found[0] < least:
            missed.append(f"{device}, {weights} {RATIOS[which]} of each cell at least {least}: {found[0]:.3f}")
        if found and found[1] < mean:
            missed.append(f"{device}, mean {weights} {RATIOS[which]} at least {mean}: {found[1]:.3f}")
    missed += compare_devices(reports)
    refused = [cell for cell, report in reports.items() if not report]
    compared = [cell for cell, report in reports.items() if report and cell.paper()]
    slower = [cell for cell in compared if reports[cell]["time"]["seconds"] >= cell.paper()]
    print(f"{len(reports)} cells, {len(refused)} refused; not faster than the paper's: {len(slower)} of {len(compared)}")
    missed += [f"no cell refused: {cell}" for cell in refused]
    missed += [f"faster than the paper's: {cell}" for cell in slower]
    for weights in dict.fromkeys(cell.weights for cell, report in reports.items() if report):
        print(closed_form(weights, reports))
    for weights in ("sparse", "balanced"):
        here = [one for one in speed_ups_of(reports) if one.cell.weights == weights]
        if not here:
            continue
        least = min(here, key=lambda one: one.factor)
        below = [one for one in here if one.factor < LEAST_SPEED_UP]
        print(f"{weights}: {len(here)} times a layer is bound by compute dense and sparse; it is at least {least} times as fast, "
              f"geometric mean {geometric_mean([one.factor for one in here]):.2f}")
        if weights == "sparse" and below:
            missed.append(f"{LEAST_SPEED_UP} times as fast where compute bounds: {len(below)} of {len(here)} are not")
    return missed


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/models", help="where the networks lie")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench", help="where the pruned networks go")
    parser.add_argument("--device", nargs="+", choices=DEVICES, default=DEVICES, metavar="NAME", help=", ".join(DEVICES))
    parser.add_argument("--mesh", nargs="+", choices=MESHES, default=MESHES, metavar="NxN", help="2x2 to 8x8")
    parser.add_argument("--model", nargs="+", choices=list(PAPER), default=list(PAPER), metavar="NAME", help=", ".join(PAPER))
    parser.add_argument("--verify", action="store_true", help="execute each program with data")
    parser.add_argument("--layers", action="store_true", help="the speed-up of each layer, not only of each network")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cells at the same time")
    return parser.parse_args()


def main():
    arguments = parsed()
    (arguments.out / "reports").mkdir(parents=True, exist_ok=True)
    for model in arguments.model:
        for weights in WEIGHTS:
            if weights != "dense":
                prune(arguments, model, weights)
    cells = [Cell(model, mesh, weights, rate, device) for device in arguments.device for rate in RATES for model in arguments.model
             for mesh in arguments.mesh for weights in WEIGHTS]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        reports = dict(zip(cells, pool.map(lambda cell: compiled(arguments, cell), cells)))
    for device, rate in itertools.product(arguments.device, RATES):
        print_table(device, rate, cells, reports)
    print_speed_ups(speed_ups_of(reports), arguments.layers)
    missed = summarize(reports)
    print("every program that was made was executed and is exact" if arguments.verify else "programs not executed with data (--verify does)")
    print(*(f"MISSED {goal}" for goal in missed), sep="\n", end="\n" if missed else "")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
