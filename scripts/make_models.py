#!/usr/bin/python3
"""Writes quantized networks with the exact shapes of the well-known ones and seeded random weights.

    scripts/make_models.py resnet50 mlp -o build/models
    scripts/make_models.py --all -o build/models
    scripts/make_models.py resnet50 --scales float --per-channel -o build/models/float

Needs only Debian's python3-onnx and python3-numpy, takes no network access and gives the same bytes every time; qdq.py says
how the numbers are chosen.
"""
import argparse
import os
import sys
import time

import networks
import qdq


def make(name, options, path):
    began = time.monotonic()
    network = networks.NETWORKS[name](options)
    data = network.model().SerializeToString(deterministic=True)
    with open(path + ".part", "wb") as file:
        file.write(data)
    os.replace(path + ".part", path)
    print(f"{path}: {network.macs / 1e6:.1f} M MACs, {network.weight_bytes} weights, "
          f"{time.monotonic() - began:.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(networks.NETWORKS))
    parser.add_argument("--all", action="store_true", help="the seven large networks")
    parser.add_argument("-o", "--out", default="build/models", help="folder (default %(default)s)")
    parser.add_argument("--scales", choices=["pow2", "float"], default="pow2",
                        help="powers of two and zero points 0, or any scale and any zero point")
    parser.add_argument("--per-channel", action="store_true", help="one weight scale for each output channel")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true",
                        help="leave alone files newer than these scripts (whatever options made them)")
    arguments = parser.parse_args()
    names = arguments.names + (list(networks.LARGE) if arguments.all else [])
    unknown = sorted(set(names) - set(networks.NETWORKS))
    if unknown or not names:
        parser.error(f"no network {', '.join(unknown)}" if unknown else "name a network, or --all")
    os.makedirs(arguments.out, exist_ok=True)
    options = qdq.Options(arguments.scales == "float", arguments.per_channel, arguments.seed)
    for name in names:
        path = os.path.join(arguments.out, name + ".onnx")
        if arguments.keep and os.path.exists(path) and os.path.getmtime(path) > newest_script():
            print(f"{path}: kept")
        else:
            make(name, options, path)


def newest_script():
    return max(os.path.getmtime(module.__file__) for module in (networks, qdq, sys.modules["__main__"]))


if __name__ == "__main__":
    main()
