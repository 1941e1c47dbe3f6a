#!/usr/bin/python3
"""ResNet-50, Inception v3 and MobileNet v2 on 4x4, several inferences in one run: when the first frame ends, how long each further
inference takes, and how near that is to what the device allows, on both wirings; one inference a frame, and as many as --batch auto takes.

    scripts/bench/frames.py --heddle build/ci/heddle                   five CPU minutes
    scripts/bench/frames.py --heddle build/ci/heddle --verify          each frame of every run executed with data and compared
    scripts/bench/frames.py --heddle build/ci/heddle --inferences 8    fewer of them

"bound" is the least for one inference alone by the busiest resource (report.json's lowerBoundSeconds of a frame of one), "bound/steady"
that over `steadySeconds`; "asm" is the size of program.asm over that of a run of two frames. Ends with status 1 where bound/steady is below
0.85 for the batch that was chosen. The networks are those of scripts/make_models.py --all -o build/models.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOAL = 0.85  # of bound / steady


def run(arguments, network, device, frames, batch, verify):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run([arguments.heddle, "compile", arguments.models / f"{network}.onnx", "--device", ROOT / f"hw_configs/{device}.yaml", "--mesh", "4x4",
                        "--frames", str(frames), "--batch", str(batch), "-q", "-o", out, *([] if verify else ["--no-verify"])], check=True)
        return json.loads((out / "report.json").read_text()), (out / "program.asm").stat().st_size


def measure(arguments, network, device, asked, bound):
    """Prints a line; the bound of one inference alone."""
    two, size = run(arguments, network, device, 2, asked, False)
    batch = two["time"]["batch"]
    report, whole = run(arguments, network, device, max(2, arguments.inferences // batch), batch, arguments.verify)
    time, proof = report["time"], report["verification"]
    bound = bound or report["bounds"]["lowerBoundSeconds"]
    print(f"{network:13}  {device:8}  {batch:5}  {time['coldSeconds'] * 1e3:8.3f}  {time['steadySeconds'] * 1e3:9.3f}  {bound * 1e3:8.3f}  "
          f"{bound / time['steadySeconds']:12.3f}  {whole / size:5.3f}  {'equal' if proof['matches'] else 'DIFFERS' if proof['ran'] else 'not run'}", flush=True)
    return bound, bound / time["steadySeconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--inferences", type=int, default=32)
    parser.add_argument("--verify", action="store_true")
    arguments = parser.parse_args()
    print("network        device    batch   cold ms  steady ms  bound ms  bound/steady    asm  proof")
    missed = 0
    for device in ("paper", "switched"):
        for network in ("resnet50", "inception_v3", "mobilenet_v2"):
            bound, _ = measure(arguments, network, device, 1, None)
            missed += measure(arguments, network, device, "auto", bound)[1] < GOAL
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
