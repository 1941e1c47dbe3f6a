#!/usr/bin/python3
"""Gives every hostile file below 1 MB to the commands that read it: the corpus of the fuzzers, the cases of tests/errors, the
small models, and those that scripts/hostile_files.py makes. Each may end in done, bad input, usage or does not fit, with a
reason, for at most 2 GiB and 60 s of work; anything else is a fault of heddle, which is named, and the status is 1.

    scripts/try_hostile.py                          installs and builds what it needs, tries all
    scripts/try_hostile.py --heddle build/ci/heddle [--jobs N] [--keep FOLDER] [WORD...]

WORD...: only trials with one of these in their name. ctest tries all: ten seconds.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

SOURCE = pathlib.Path(__file__).resolve().parents[1]
MOST_BYTES, MOST_SECONDS = 2 << 30, 60
GUARD_BYTES = 3 * MOST_BYTES  # of address space, so that a greedy one hurts nobody; reached, it is a fault as well
MODEL = SOURCE / "models/tiny_mobile.onnx"


def as_model(path, folder):
    model = folder / "model.onnx"
    shutil.copy(path, model)
    with open(folder / "holes.bin", "wb") as holes:
        os.truncate(holes.fileno(), 1 << 30)
    return [["inspect", model], ["interpret", model, "--output", folder / "y.npy"],
            ["compile", model, "--mesh", "1x1", "-o", folder / "one"], ["compile", model, "--mesh", "2x2", "-o", folder / "four"],
            ["simulate", folder / "four", "--data"], ["prune", model, "--ratio", "0.5", "-o", folder / "pruned.onnx"]]


def as_device(path, folder):
    device = folder / "device.yaml"
    shutil.copy(path, device)
    return [["inspect", device], ["compile", MODEL, "--device", device, "--mesh", "2x2", "-o", folder / "out"]]


def as_array(path, folder):
    return [["interpret", MODEL, "--input", path, "--output", folder / "y.npy"]]


def as_masks(path, folder):
    return [["inspect", MODEL, "--masks", path],
            ["prune", MODEL, "--masks", path, "--apply-masks", "-o", folder / "pruned.onnx"]]


def as_timeline(path, folder):
    out = folder / "out.html"
    return [["view", path, "-o", out]] + [["export", path, "--format", name, "-o", folder / name]
                                          for name in ("chrome", "perfetto", "csv", "vcd")]


def as_program(path, folder):
    out = folder / "out"
    out.mkdir()
    shutil.copy(path, out / "program.asm")
    shutil.copy(SOURCE / "hw_configs/paper.yaml", out / "device.yaml")
    declared = re.search(rb"^weights @\S+ size (\d+)", path.read_bytes(), re.M)
    with open(out / "weights.bin", "wb") as weights:
        os.truncate(weights.fileno(), min(int(declared.group(1)) if declared else 0, 1 << 32))
    return [["simulate", out], ["simulate", out, "--data"]]


def as_report(path, folder):
    return [["compare", path, path, "--sort", "gain"], ["compare", path, path, "--json"]]


COMMANDS = {"onnx": as_model, "device": as_device, "npy": as_array, "npz": as_masks, "timeline": as_timeline, "report": as_report,
            "asm": as_program}


def trials(folder):
    """(name, kind or None for a case, path or command line)"""
    for path in sorted((SOURCE / "tests/fuzz/corpus").rglob("*")):
        if path.is_file() and path.parent.name in COMMANDS:
            yield f"corpus/{path.parent.name}/{path.name}", path.parent.name, path
    for path in sorted((SOURCE / "models").rglob("*.onnx")):
        yield f"corpus/models/{path.relative_to(SOURCE / 'models')}", "onnx", path
    sys.path.insert(0, str(SOURCE / "tests/errors"))
    import errors_test
    for path in sorted((SOURCE / "tests/errors").glob("*.case")):
        for number, case in enumerate(path.read_text().split(errors_test.SEPARATOR)):
            yield f"errors/{path.stem}/{number}", None, errors_test.parse(case)[:2]
    import hostile_files
    for kind, name, content in hostile_files.all_files():
        path = folder / f"{kind}-{name.replace('/', '_')}"
        path.write_bytes(content)
        yield f"{kind}/{name}", kind, path


class Trial:
    def __init__(self, heddle, name, kind, what):
        self.heddle, self.name, self.kind, self.what = heddle, name, kind, what
        self.faults, self.bytes, self.seconds = [], 0, 0.0

    def run(self):
        with tempfile.TemporaryDirectory(prefix="heddle-hostile-") as folder:
            folder = pathlib.Path(folder)
            if self.kind is None:
                self.run_case(folder)
            else:
                for command in COMMANDS[self.kind](self.what, folder):
                    if command[0] == "simulate" and not command[1].exists():
                        continue  # it did not compile
                    self.run_one([self.heddle, *command], folder)
        return self

    def run_case(self, folder):
        command, files = self.what
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        line = command.replace("$SOURCE", str(SOURCE))
        self.run_one(["bash", "-c", f"heddle() {{ {shlex.quote(str(self.heddle))} \"$@\"; }}; {line}"], folder)

    def run_one(self, command, folder):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (GUARD_BYTES, GUARD_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS + 1, MOST_SECONDS + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=folder,
                                       preexec_fn=limit)
            timer = threading.Timer(10 * MOST_SECONDS, process.kill)  # should it wait instead of work
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            self.judge(" ".join(map(str, command[1:])), process.returncode, said.read(1 << 20).decode(errors="replace"), usage)

    def judge(self, command, status, said, usage):
        used, seconds = usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime
        self.bytes, self.seconds = max(self.bytes, used), max(self.seconds, seconds)
        why = [f"status {status}"] if status not in (0, 1, 2, 3) else []
        why += ["no reason given"] if status in (1, 2, 3) and "error[" not in said else []
        why += ["out of memory"] if "error[CLI004]" in said else []
        why += [f"{used >> 20} MiB"] if used > MOST_BYTES else []
        why += [f"{seconds:.1f} s"] if seconds > MOST_SECONDS else []
        why += ["1 MiB of messages"] if len(said) >= 1 << 20 and status != 0 else []
        if why:
            self.faults.append(f"{self.name}: {', '.join(why)}\n    heddle {command[:300]}\n    {said[-300:].strip()}")


def built():
    """The executable of the default build, with what it needs."""
    subprocess.run([SOURCE / "scripts/install_deps.sh", "build"], check=True)
    subprocess.run([SOURCE / "scripts/build.sh", "release"], check=True)
    return SOURCE / "build/heddle"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--keep", type=pathlib.Path, help="where to leave the files that were made")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    heddle = (options.heddle or built()).resolve()
    with tempfile.TemporaryDirectory(prefix="heddle-hostile-files-") as made:
        folder = options.keep or pathlib.Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        chosen = [Trial(heddle, *trial) for trial in trials(folder)]
        if options.words:
            chosen = [trial for trial in chosen if any(word in trial.name for word in options.words)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            done = []
            for trial in pool.map(Trial.run, chosen):
                done.append(trial)
                print(*trial.faults, sep="\n", end="\n" if trial.faults else "", flush=True)
    faulty = [trial for trial in done if trial.faults]
    for what, most in (("slowest", lambda t: t.seconds), ("largest", lambda t: t.bytes)):
        top = sorted(done, key=most, reverse=True)[:5]
        print(f"{what}: " + ", ".join(f"{t.name} ({t.seconds:.1f} s, {t.bytes >> 20} MiB)" for t in top))
    print(f"{len(done)} files, {len(faulty)} that cost too much or end as none of theirs may")
    return 1 if faulty or not done else 0


if __name__ == "__main__":
    sys.exit(main())
