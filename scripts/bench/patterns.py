#!/usr/bin/python3
"""Masks of real pruned networks as layers: how many of their 8x8 blocks are empty, and that their programs are exact.

    scripts/bench/patterns.sh                             builds, then all of them
    scripts/bench/patterns.py --heddle build/ci/heddle    of another build

Reads ../shared/benchmarks/gpu/patterns/*.smtx (--folder names another place): "rows, cols, nonzeros", then row pointers, then column
indices. Each mask is a layer twice, on a 4x4 of paper.yaml with 14x14 pixels:

    1x1  rows x cols are COUT x CIN
    3x3  where the name says 3x3 its columns are CIN x 9, channel by channel as ONNX stores them; else each tap has the mask

Where nothing says in which order a file has its columns, the blocks that are empty in the other one, tap by tap, are told beside.
The weights that stay are seeded and never zero. Each program is executed with data and compared.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import qdq  # noqa: E402

BLOCK = 8
PIXELS = 14  # height and width of a layer


def read(path):
    """The mask of a file, rows x cols, bool."""
    head, pointers, indices = path.read_text().splitlines()[:3]
    rows, columns, nonzeros = map(int, head.split(","))
    pointers, indices = (np.array(line.split(), np.int64) for line in (pointers, indices))
    if len(pointers) != rows + 1 or pointers[-1] != nonzeros or len(indices) != nonzeros:
        sys.exit(f"patterns: {path} does not hold what its first line says")
    mask = np.zeros((rows, columns), bool)
    mask[np.repeat(np.arange(rows), np.diff(pointers)), indices] = True
    return mask


def blocks(mask):
    """(empty, all) 8x8 blocks of a COUT x CIN x taps mask."""
    through = mask.any(axis=2)
    padded = np.pad(through, [(0, -extent % BLOCK) for extent in through.shape])
    kept = padded.reshape(padded.shape[0] // BLOCK, BLOCK, -1, BLOCK).any(axis=(1, 3))
    return kept.size - np.count_nonzero(kept), kept.size


def layers_of(name, mask):
    """(kernel, COUT x CIN x taps mask, the same with columns tap by tap or None) of both layers."""
    rows, columns = mask.shape
    yield 1, mask.reshape(rows, columns, 1), None
    if "3x3" in name:
        yield 3, mask.reshape(rows, columns // 9, 9), mask.reshape(rows, 9, columns // 9).transpose(0, 2, 1)
    else:
        yield 3, np.repeat(mask[:, :, None], 9, axis=2), None


class MaskedNetwork(qdq.Network):
    """Its weights are never zero where the mask (COUT x CIN x taps) is set, and zero elsewhere."""

    def __init__(self, name, mask):
        super().__init__(name, qdq.Options())
        self.mask = mask

    def _weights(self, name, shape):
        weights = super()._weights(name, shape)
        weights[weights == 0] = 1
        return weights * self.mask.reshape(shape).astype(np.int8)


def model_of(name, kernel, mask):
    network = MaskedNetwork(name, mask)
    x = network.input("input", mask.shape[1], PIXELS, PIXELS)
    network.output("output", network.conv("conv", x, mask.shape[0], kernel))
    return network.model()


def proved(heddle, model, mesh):
    """The report of a program that was executed and found exact; else the message, and the script ends."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "layer.onnx"
        onnx.save(model, str(path))
        done = subprocess.run([heddle, "compile", path, "--device", ROOT / "hw_configs/paper.yaml", "--mesh", mesh, "-q",
                               "-o", pathlib.Path(folder) / "out"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"patterns: {model.graph.name}: status {done.returncode}\n{done.stderr}")
        report = json.loads((pathlib.Path(folder) / "out/report.json").read_text())
    if not (report["verification"]["ran"] and report["verification"]["matches"]):
        sys.exit(f"patterns: {model.graph.name} is not exact")
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT.parent / "shared/benchmarks/gpu/patterns")
    parser.add_argument("--mesh", default="4x4", metavar="RxC")
    parser.add_argument("--only", default="", metavar="WORD", help="files with this in their name")
    arguments = parser.parse_args()
    files = sorted(path for path in arguments.folder.glob("*.smtx") if arguments.only in path.name)
    if not files:
        print(f"patterns: skipped, {arguments.folder} holds no such masks")
        return 0
    print("| mask | layer | weights kept | empty 8x8 blocks | share | tap by tap | cycles | all blocks full | times as fast |\n"
          "|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for path in files:
        for kernel, mask, by_tap in layers_of(path.stem, read(path)):
            empty, whole = blocks(mask)
            name = f"{path.stem}-{kernel}x{kernel}"
            report = proved(arguments.heddle, model_of(name, kernel, mask), arguments.mesh)
            if abs(report["layers"][0]["density"] - (1 - empty / whole)) > 1e-9:
                sys.exit(f"patterns: {name}: heddle keeps {report['layers'][0]['density']:.2%} of the blocks")
            dense = proved(arguments.heddle, model_of(name, kernel, np.ones_like(mask)), arguments.mesh)
            cycles, full = report["time"]["cycles"], dense["time"]["cycles"]
            other = "{}".format(blocks(by_tap)[0]) if by_tap is not None else ""
            print(f"| {path.stem} | {kernel}x{kernel}, {mask.shape[1]} to {mask.shape[0]} | {mask.mean():.2%} | "
                  f"{empty} of {whole} | {empty / whole:.1%} | {other} | {cycles} | {full} | {full / cycles:.2f} |", flush=True)
    print(f"\n{2 * len(files)} layers and as many with no block empty, every program executed and exact")
    return 0


if __name__ == "__main__":
    sys.exit(main())
