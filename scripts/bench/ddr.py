#!/usr/bin/python3
"""What networks read out of DDR and how long they take at several rates of its channels; with --old beside those of another build.

    scripts/bench/ddr.py --heddle build/ci/heddle                               2 CPU minutes
    scripts/bench/ddr.py --heddle build/ci/heddle --old ../before/build/heddle  twice that

A rate is that of each channel, to read and to write, in GB/s. "once" are the weights of the network. Nothing is executed with
data. The networks are those of scripts/make_models.py --all -o build/models. Exit status 1 if a cell is more than 1 % slower
than with --old.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORKS = ["resnet50", "inception_v3", "vgg16", "mobilenet_v2"]
MESHES = ["1x1", "2x2", "3x3", "4x4", "6x6", "8x8", "7x2"]
RATES = ["4", "1", "0.25"]
MOST_SLOWER = 1.01


def compiled(heddle, arguments, network, mesh, rate):
    """Bytes out of DDR, those of the weights once, and cycles."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([heddle, "compile", ROOT / f"build/models/{network}.onnx", "--device", arguments.device, "--mesh", mesh,
                        "--set", f"links.ddr.read={rate}GB/s", "--set", f"links.ddr.write={rate}GB/s", "--no-verify", "-q",
                        "-o", f"{folder}/out"], check=True)
        report = json.loads(pathlib.Path(folder, "out/report.json").read_text())
    return report["traffic"]["ddrReadBytes"], sum(layer["weightBytes"] for layer in report["layers"]), report["time"]["cycles"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--old", type=pathlib.Path)
    parser.add_argument("--device", type=pathlib.Path, default=ROOT / "hw_configs/paper.yaml")
    parser.add_argument("--network", nargs="+", default=NETWORKS)
    parser.add_argument("--mesh", nargs="+", default=MESHES)
    parser.add_argument("--rate", nargs="+", default=RATES)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    cells = [(rate, network, mesh) for rate in arguments.rate for network in arguments.network for mesh in arguments.mesh]
    heddles = [arguments.heddle, arguments.old] if arguments.old else [arguments.heddle]

    def measured(cell):
        rate, network, mesh = cell
        return [compiled(heddle, arguments, network, mesh, rate) for heddle in heddles]

    print("rate  network       mesh   once MB  out of DDR MB     cycles" + ("  DDR, old MB        cycles  less DDR   time"
                                                                            if arguments.old else ""))
    slower = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (rate, network, mesh), (new, *old) in zip(cells, pool.map(measured, cells)):
            line = f"{rate:5} {network:13} {mesh:5} {new[1] / 1e6:8.2f}  {new[0] / 1e6:13.2f}  {new[2]:9}"
            for of in old:
                slower += new[2] > of[2] * MOST_SLOWER
                line += f"  {of[0] / 1e6:11.2f}  {of[2]:12}  {1 - new[0] / of[0]:8.1%}  {1 - new[2] / of[2]:6.1%}"
            print(line, flush=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
