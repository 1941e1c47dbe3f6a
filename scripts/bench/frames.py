#!/usr/bin/python3
"""ResNet-50, Inception v3 and MobileNet v2 on 4x4, several inferences in one run: when the first ends, how long each further one
takes, and how near that is to what the device allows, on both wirings.

    scripts/bench/frames.py --heddle build/ci/heddle                   two CPU minutes
    scripts/bench/frames.py --heddle build/ci/heddle --verify          each frame of every run executed with data and compared
    scripts/bench/frames.py --heddle build/ci/heddle --frames 4        fewer inferences

"bound/steady" is the least for one inference by the busiest resource (report.json's lowerBoundSeconds) over `steadySeconds`; "asm"
is the size of program.asm over that of a run of two. The networks are those of scripts/make_models.py --all -o build/models.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(arguments, network, device, frames):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run([arguments.heddle, "compile", arguments.models / f"{network}.onnx", "--device", ROOT / f"hw_configs/{device}.yaml", "--mesh", "4x4",
                        "--frames", str(frames), "-q", "-o", out, *([] if arguments.verify else ["--no-verify"])], check=True)
        return json.loads((out / "report.json").read_text()), (out / "program.asm").stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=ROOT / "build/heddle")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models")
    parser.add_argument("--frames", type=int, default=32)
    parser.add_argument("--verify", action="store_true")
    arguments = parser.parse_args()
    print("network        device     cold ms  steady ms  bound ms  bound/steady    asm  proof")
    for device in ("paper", "switched"):
        for network in ("resnet50", "inception_v3", "mobilenet_v2"):
            _, two = run(argparse.Namespace(**{**vars(arguments), "verify": False}), network, device, 2)
            report, size = run(arguments, network, device, arguments.frames)
            time, bound, proof = report["time"], report["bounds"]["lowerBoundSeconds"], report["verification"]
            print(f"{network:13}  {device:8}  {time['coldSeconds'] * 1e3:8.3f}  {time['steadySeconds'] * 1e3:9.3f}  {bound * 1e3:8.3f}  "
                  f"{bound / time['steadySeconds']:12.3f}  {size / two:5.3f}  {'equal' if proof['matches'] else 'DIFFERS' if proof['ran'] else 'not run'}", flush=True)


if __name__ == "__main__":
    main()
