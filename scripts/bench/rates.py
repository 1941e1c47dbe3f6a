#!/usr/bin/python3
"""What it saves that a point which differs from another only in rates is timed again and not compiled again: a sweep over rates, and
the same points each in a process of its own, which has nothing to share.

    scripts/bench/rates.py --heddle build/heddle --folder build/models            two CPU minutes
    scripts/bench/rates.py --heddle build/heddle --folder build/models --verify   every program executed with data, too

Prints CPU seconds of both; exit status 1 where a point is not the same byte for byte.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

NETWORK, MESHES = "resnet50", "4x4,8x4"
RATES = ("4GB/s", "5GB/s", "6GB/s", "8GB/s", "12GB/s", "16GB/s")  # of DDR


def swept(options, out, *more):
    """CPU seconds of a sweep into a folder, with one thread."""
    command = [options.heddle, "sweep", "--model", options.folder / f"{NETWORK}.onnx", "--mesh", MESHES, "--threads", "1", "-q",
               *([] if options.verify else ["--no-verify"]), *more, "-o", out]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path, default=pathlib.Path("build/heddle"))
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/models"), help="where the networks lie")
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        together, alone = pathlib.Path(folder) / "together", pathlib.Path(folder) / "alone"
        key = "links.ddr.{read,write}"
        once = swept(options, together, "--vary", f"{key}={','.join(RATES)}")
        each = sum(swept(options, alone, "--vary", f"{key}={rate}") for rate in RATES)
        files = [{path.name: path.read_bytes() for path in (out / "points").iterdir()} for out in (together, alone)]
        print(f"{len(files[0])} points of {NETWORK}: {once:.1f} s of CPU together, {each:.1f} s each by itself; "
              f"{'the same bytes' if files[0] == files[1] else 'NOT THE SAME'}")
        return 0 if files[0] == files[1] else 1


if __name__ == "__main__":
    sys.exit(main())
