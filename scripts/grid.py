#!/usr/bin/python3
"""Compiles every model for every mesh, with verification, and prints one line a run.

    scripts/grid.py                                    the seven networks on seven meshes of paper.yaml, and 4x4 of switched.yaml
    scripts/grid.py --models models/*.onnx --meshes 1x1,8x3
    scripts/grid.py --models ../shared/models/real/*.onnx --meshes 2x2,4x4 --devices paper
    scripts/grid.py --meshes 3x4,4x4 --set limits.lockMaximum=63      on a device with these keys

Takes hours for the whole grid. Each run's OUT goes to out/grid/DEVICE-MESH/MODEL (DEVICE-MESH-KEY=VALUE with --set), of which only the report is kept, so that an
interrupted grid goes on where it stopped (--again starts over). Exit status 1 if any run failed or did not match.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

import networks

ROOT = pathlib.Path(__file__).resolve().parents[1]
MESHES = ["1x1", "2x2", "3x3", "4x4", "5x3", "3x5", "8x8"]


def run(heddle, model, device, mesh, settings, out):
    """The report of a verified run, made now or kept from an earlier one; or the failure in one line."""
    kept = out / "report.json"
    if not kept.exists():
        shutil.rmtree(out, ignore_errors=True)
        command = [heddle, "compile", model, "--device", ROOT / f"hw_configs/{device}.yaml", "--mesh", mesh, "-q", "-o", out,
                   *(word for setting in settings for word in ("--set", setting))]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["no message"]
            return None, f"exit {done.returncode}: {lines[0]}"
        for file in out.iterdir():
            if file.name != "report.json":
                file.unlink()
    return json.loads(kept.read_text()), None


def line(report):
    verification, bounds = report["verification"], report["bounds"]
    state = "matches" if verification["ran"] and verification["matches"] else "DIFFERS"
    return (f"{report['time']['seconds'] * 1e3:9.3f} ms  efficiency {bounds['efficiency']:5.1%}  {state}: "
            f"{verification['tensorsCompared']} tensors, {verification['bytesCompared']} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", type=pathlib.Path,
                        default=[ROOT / f"build/models/{name}.onnx" for name in networks.LARGE])
    parser.add_argument("--meshes", type=lambda text: text.split(","), help="RxC,...")
    parser.add_argument("--devices", type=lambda text: text.split(","), help="names in hw_configs/")
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="as of compile")
    parser.add_argument("--again", action="store_true", help="forget the runs of an earlier grid")
    arguments = parser.parse_args()
    if arguments.meshes or arguments.devices:
        grid = [(d, m) for d in arguments.devices or ["paper"] for m in arguments.meshes or MESHES]
    else:
        grid = [("paper", mesh) for mesh in MESHES] + [("switched", "4x4")]
    folder = pathlib.Path("out/grid")
    if arguments.again:
        shutil.rmtree(folder, ignore_errors=True)
    failures = 0
    for device, mesh in grid:
        for model in arguments.models:
            began = time.monotonic()
            report, fault = run(arguments.heddle, model, device, mesh, arguments.set,
                                folder / "-".join([device, mesh, *arguments.set]) / model.stem)
            text = fault or line(report)
            failures += fault is not None or "DIFFERS" in text
            print(f"{device:8} {mesh} {model.stem:28} {text}  ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"{failures} of {len(grid) * len(arguments.models)} runs failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
