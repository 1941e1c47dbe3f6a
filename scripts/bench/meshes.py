#!/usr/bin/python3
"""All meshes up to 8x8 on both wirings: that a mesh with a row or a column more is no slower, that tiling depth-wise costs nothing
(`--fuse auto` beside `--fuse off`), how far the closed form is off, and that no point is refused.

    scripts/bench/meshes.py --heddle build/heddle                                    five networks, two devices
    scripts/bench/meshes.py --device paper --network vgg16 --set memtile.memory=128KiB
    scripts/bench/meshes.py --device paper --network mobilenet_v2 --no-fuse          without the sweep with `--fuse off`
    scripts/bench/meshes.py --verify                                                 every program executed with data and compared

Writes its sweeps to --out, where a run that was interrupted goes on. The networks are those of scripts/make_models.py --all -o build/models.
Exit status 1 where a goal is missed.
"""
import argparse
import csv
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ["resnet50", "inception_v3", "vgg16", "mobilenet_v1", "mobilenet_v2"]
SIDE = 8
MOST_SLOWER = 0.03  # with a row or a column more
MOST_SLOWER_TILED = 0.01  # than with --fuse off
MOST_ERROR = 0.05  # of the closed form


def swept(arguments, device, fuse):
    """{(network, rows, columns): point} of a sweep."""
    folder = arguments.out / f"{device}-{fuse}{''.join('-' + s for s in arguments.set or [])}"
    models = [word for name in arguments.network for word in ("--model", arguments.folder / f"{name}.onnx")]
    settings = [word for setting in arguments.set or [] for word in ("--set", setting)]
    proof = [] if arguments.verify else ["--no-verify"]
    # What is refused is a point like any other, and counted below.
    subprocess.run([arguments.heddle, "sweep", *models, "--device", device, "--mesh", f"1..{SIDE}x1..{SIDE}", "--fuse", fuse, *settings,
                    *proof, "-q", "-o", folder], check=False)
    subprocess.run([arguments.heddle, "collect", folder, "-q"], check=True)
    with (folder / "results.csv").open() as file:
        # The folder may have networks of runs before.
        return {(p["model"], int(p["rows"]), int(p["cols"])): p for p in csv.DictReader(file) if p["model"] in arguments.network}


def named(point):
    network, rows, columns = point
    return f"{network} {rows}x{columns}"


def refusals(points):
    """Whether each point has a time."""
    missing = [f"{named(at)} ({p['status']})" for at, p in points.items() if p["status"] != "ok"]
    print(f"  {len(points)} points, {len(missing)} without a time{': ' if missing else ''}{', '.join(missing)}")
    return not missing and bool(points)


def larger_meshes(cycles):
    """Whether none is slower than one with a row or a column less."""
    pairs = [(cycles[n, r + dr, c + dc] / least - 1, f"{n} {r}x{c} to {r + dr}x{c + dc}")
             for (n, r, c), least in cycles.items() for dr, dc in ((1, 0), (0, 1)) if (n, r + dr, c + dc) in cycles]
    slower = sorted((pair for pair in pairs if pair[0] > 0), reverse=True)
    print(f"  a row or column more: {len(slower)} of {len(pairs)} pairs are slower on the larger mesh, goal at most {MOST_SLOWER:.0%}"
          f"{': ' if slower else ''}{', '.join(f'{name} {by:.1%}' for by, name in slower[:5])}")
    return all(by <= MOST_SLOWER for by, _ in slower)


def closed_form(points):
    """Whether it is nowhere off by more than the goal."""
    errors = {named(at): float(p["estimateMs"]) / float(p["ms"]) - 1 for at, p in points.items() if p["ms"]}
    worst = sorted(errors, key=lambda name: -abs(errors[name]))
    over = sum(abs(error) > MOST_ERROR for error in errors.values())
    print(f"  closed form: off by {abs(errors[worst[0]]):.1%} at most, goal {MOST_ERROR:.0%} ({over} over it: "
          f"{', '.join(f'{name} {errors[name]:+.1%}' for name in worst[:max(5, over)])}), {sum(map(abs, errors.values())) / len(errors):.1%} in the mean")
    return over == 0


def tiling(arguments, auto, off):
    """Whether tiling makes none slower than the goal. One program either way is no point that is tiled."""
    fine = True
    for network in arguments.network:
        gains = sorted((1 - cycles / off[at], named(at)) for at, cycles in auto.items() if at[0] == network and at in off and cycles != off[at])
        if gains:
            worse = ", ".join(f"{name} {-gain:.1%} slower" for gain, name in gains if gain < 0)
            print(f"  tiled depth-wise: {network} on {len(gains)} meshes, gains from {gains[0][0]:.1%} ({gains[0][1]}) to {gains[-1][0]:.1%} "
                  f"({gains[-1][1]}), median {gains[len(gains) // 2][0]:.1%}{'; ' if worse else ''}{worse}")
            fine = fine and gains[0][0] >= -MOST_SLOWER_TILED
        else:
            print(f"  tiled depth-wise: {network} on no mesh")
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/models", help="where the networks lie")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/bench/meshes")
    parser.add_argument("--device", nargs="+", default=["paper", "switched"])
    parser.add_argument("--network", nargs="+", default=NETWORKS, metavar="NAME")
    parser.add_argument("--set", nargs="+", metavar="KEY=VALUE")
    parser.add_argument("--no-fuse", action="store_true", help="no sweep with --fuse off")
    parser.add_argument("--verify", action="store_true")
    arguments = parser.parse_args()
    fine = True
    for device in arguments.device:
        print(f"{device}{''.join(', ' + s for s in arguments.set or [])}", flush=True)
        points = swept(arguments, device, "auto")
        cycles = {at: int(p["cycles"]) for at, p in points.items() if p["cycles"]}
        fine = all([fine, refusals(points), larger_meshes(cycles), closed_form(points)])
        if not arguments.no_fuse:
            off = swept(arguments, device, "off")
            fine = tiling(arguments, cycles, {at: int(p["cycles"]) for at, p in off.items() if p["cycles"]}) and fine
        sys.stdout.flush()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
