#!/usr/bin/python3
"""How far the closed form is off for each layer alone: every convolution and fully connected layer of the networks that differs from
the others, as a network of its own, from an idle array with its input in DDR.

    scripts/bench/layers.py --heddle build/heddle                               all of them on the meshes below: ten CPU minutes
    scripts/bench/layers.py --network vgg16 --mesh 4x4 --device switched

A layer misses where the closed form is off by more than 10 % and by more than 500 cycles. Prints those, then a line for each mesh
and device; exit status 1 if there are any.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest.mock

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import networks  # noqa: E402
import qdq  # noqa: E402

NETWORKS = ["resnet50", "inception_v3", "vgg16", "mobilenet_v1", "mobilenet_v2", "mlp"]
MESHES = ["2x2", "4x4", "8x8", "3x5"]
SHARE, CYCLES = 0.10, 500


class Shapes(qdq.Network):
    """Goes through a network without numbers, and notes the layers: name -> how to make it, by what tells it from others."""

    def __init__(self, options):
        super().__init__("shapes", options)
        self.layers = {}

    def of(self, name, channels, height=1, width=1, flat=False):
        return qdq.Activation(name, np.broadcast_to(np.int8(0), (channels, height, width)), 1.0, 0, flat)

    def input(self, name, *shape):
        return self.of(name, *shape, flat=len(shape) == 1)

    def windows(self, name, x, channels, kernel, stride, pads):
        _, height, width = x.values.shape
        sides = [(size + sum(pad) - k) // stride + 1 for size, k, pad in zip((height, width), kernel, ((pads[0], pads[2]), (pads[1], pads[3])))]
        return self.of(name, channels, *sides)

    def conv(self, name, x, cout, kernel, stride=1, pads=None, group=1, act=None, joined=False, live=(1, 1), biased=False):
        size = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        sides = (size[0] // 2, size[1] // 2) * 2 if pads is None else (pads,) * 4 if isinstance(pads, int) else pads
        self.layers.setdefault((x.values.shape, cout, size, stride, sides, group), name)
        return self.windows(name, x, cout, size, stride, sides)

    def fc(self, name, x, cout, act=None):
        self.layers.setdefault((x.values.size, cout), name)
        return self.of(name, cout, flat=True)

    def add(self, name, a, b, act=None):
        return self.of(name, *a.values.shape)

    def max_pool(self, name, x, kernel, stride, pad=0):
        return self.windows(name, x, x.values.shape[0], (kernel, kernel), stride, (pad,) * 4)

    def average_pool(self, name, x, kernel, pad):
        return self.windows(name, x, x.values.shape[0], (kernel, kernel), 1, (pad,) * 4)

    def global_average(self, name, x):
        return self.of(name, x.values.shape[0])

    def concat(self, name, parts):
        _, height, width = parts[0].values.shape
        return self.of(name, sum(part.values.shape[0] for part in parts), height, width)

    def output(self, name, x):
        pass


def written(folder, network, what, name):
    """The ONNX file of one layer."""
    options = qdq.Options()
    net = qdq.Network(f"{network}-{name}", options)
    if len(what) == 2:
        net.output("out", net.fc(name, net.input("input", what[0]), what[1]))
    else:
        shape, cout, kernel, stride, pads, group = what
        net.output("out", net.conv(name, net.input("input", *shape), cout, kernel, stride, pads, group))
    path = folder / f"{net.name}.onnx"
    onnx.save(net.model(), path)
    return path


def errors_of(arguments, model, device, mesh):
    """Cycles, and those of the closed form."""
    command = [arguments.heddle, "compile", model, "--device", device, "--mesh", mesh, "--no-verify", "--json", "-q"]
    time = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["time"]
    return time["cycles"], round(time["closedFormSeconds"] * time["cycles"] / time["seconds"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--network", nargs="+", default=NETWORKS, metavar="NAME")
    parser.add_argument("--mesh", nargs="+", default=MESHES, metavar="RxC")
    parser.add_argument("--device", nargs="+", default=["paper", "switched"], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    layers = {}
    for network in arguments.network:
        shapes = Shapes(qdq.Options())
        with unittest.mock.patch.object(qdq, "Network", lambda *_: shapes):
            networks.NETWORKS[network](shapes.options)
        for what, name in shapes.layers.items():
            layers.setdefault(what, (network, name))
    missed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        models = [written(pathlib.Path(folder), network, what, name) for what, (network, name) in layers.items()]
        for device in arguments.device:
            for mesh in arguments.mesh:
                found = list(pool.map(lambda model: errors_of(arguments, model, device, mesh), models))
                worst = mean = 0.0
                misses = 0
                for model, (cycles, closed) in zip(models, found):
                    error = closed / cycles - 1
                    mean += abs(error) / len(found)
                    if abs(closed - cycles) <= max(SHARE * cycles, CYCLES):
                        continue
                    misses += 1
                    worst = max(worst, error, key=abs)
                    print(f"  {device:8} {mesh:4} {model.stem:28} {cycles:9} {closed:9} {error:+7.1%}", flush=True)
                missed += misses
                print(f"{device:8} {mesh:4} {misses} of {len(found)} layers miss, at worst {worst:+.1%}; mean of magnitudes {mean:.1%}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
