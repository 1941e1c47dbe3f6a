#!/usr/bin/python3
"""What calls of several rows save: networks on a mesh for several `core.callOverhead`, as planned, and the same plan with calls and transfers
of one row each.

    scripts/bench/calls.py --heddle build/heddle --folder build/models            three minutes
    scripts/bench/calls.py --heddle build/heddle --folder build/models --verify   every program executed with data, too

Prints a table; exit status 1 where calls of several rows make a program slower by more than 0.5 %.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NETWORKS = ("resnet50", "inception_v3", "vgg16", "mobilenet_v2")
OVERHEADS = (0, 20, 50, 100, 200)


def compiled(options, network, out, *more):
    command = [options.heddle, "compile", options.folder / f"{network}.onnx", "--mesh", options.mesh, *more, "-q",
               *([] if options.verify else ["--no-verify"]), "-o", out]
    subprocess.run(command, check=True)
    return json.loads((out / "report.json").read_text())["time"]["cycles"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=pathlib.Path("build/heddle"))
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/models"), help="where the networks lie")
    parser.add_argument("--mesh", default="4x4")
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    slower = 0
    print("| network | cycles of a call | one row a call | as planned | less | layers of long calls |")
    print("|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for network in NETWORKS:
            for overhead in OVERHEADS:
                costs = ("--set", f"core.callOverhead={overhead}cycles")
                planned = compiled(options, network, folder / "out", *costs)
                plan = (folder / "out/plan.txt").read_text()
                layers = len(re.findall(r"^  loops .* (?:rows|inner) \d+$", plan, flags=re.MULTILINE))
                short = re.sub(r"^(  loops .*?)(?: rows \d+)?(?: inner \d+)?$", r"\1", plan, flags=re.MULTILINE)
                (folder / "short.txt").write_text(short)
                alone = compiled(options, network, folder / "short", *costs, "--from", "plan", folder / "short.txt")
                print(f"| {network} | {overhead} | {alone} | {planned} | {100 * (alone - planned) / alone:.1f} % | {layers} |", flush=True)
                slower += planned > 1.005 * alone
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
