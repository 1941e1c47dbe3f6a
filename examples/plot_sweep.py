#!/usr/bin/python3
"""Draws the time of networks over the cores of every mesh, beside the bound below which no plan gets.

    examples/plot_sweep.py models/tiny_cnn.onnx models/tiny_mobile.onnx --mesh 1..4x1..4 -o sweep.png

Needs the module heddle (docs/python.md) and matplotlib (Debian: python3-matplotlib).
"""
import argparse
import collections
import sys

import heddle

try:
    import matplotlib
except ImportError:
    sys.exit("plot_sweep: there is no matplotlib here; on Debian: apt-get install python3-matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402


def points_of(asked):
    """{network: [(cores, ms, the layers' bound in ms)]}; those that have a time."""
    points = collections.defaultdict(list)
    for point in heddle.sweep(model=asked.model, mesh=asked.mesh, estimate=not asked.simulate, verify=False, out=asked.folder):
        figures = point["figures"]
        if figures["ms"] is None:
            print(f"{figures['model']} on {figures['rows']:.0f}x{figures['cols']:.0f}: {figures['reason']}", file=sys.stderr)
        else:
            points[figures["model"]].append((figures["cores"], figures["ms"], figures["layerBoundMs"]))
    return points


def draw(points, file):
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for name, of in sorted(points.items()):
        cores, times, _ = zip(*of)
        dots = axes.scatter(cores, times, s=14, label=name)
        best = {}  # of all meshes with as many cores
        for count, _, bound in of:
            best[count] = min(bound, best.get(count, bound))
        axes.plot(*zip(*sorted(best.items())), color=dots.get_facecolor()[0], linewidth=1, alpha=0.6)
    axes.set(xscale="log", yscale="log", xlabel="cores", ylabel="time of one inference, ms",
             title="A dot a mesh; the lines are the layers' bounds")
    axes.legend()
    figure.savefig(file)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+", metavar="FILE.onnx")
    parser.add_argument("--mesh", default="1..4x1..4", help="as of heddle sweep")
    parser.add_argument("--simulate", action="store_true", help="exact cycles instead of the closed form")
    parser.add_argument("--folder", help="of the sweep, to go on with later")
    parser.add_argument("-o", "--out", default="sweep.png", help="the picture; its ending says the format")
    return parser.parse_args()


if __name__ == "__main__":
    options = parsed()
    try:
        draw(points_of(options), options.out)
    except heddle.Error as error:
        sys.exit(str(error))
    print(options.out)
