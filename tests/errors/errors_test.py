#!/usr/bin/python3
"""Runs every case of tests/errors/*.case and compares exit status and output with what the case says, word for word.

    tests/errors/errors_test.py --heddle build/dev/heddle [--bless] [CASE...]

A case is a command line, optionally the files that it finds in its empty working folder, and the exit status and
output (stdout and stderr) that it must have:

    $ heddle inspect bad.yaml
    --- bad.yaml
    name: x
    --- status 1
    error[...] ...

Several cases in one file are separated by a line of '='. $SOURCE stands for the root of the source tree.
--bless rewrites the expected part of each case; read the difference.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
SEPARATOR = "=" * 80 + "\n"


def parse(text):
    """Command, {file: content}, status, output."""
    parts = re.split(r"^--- (.*)\n", text, flags=re.M)
    command, status, output, files = parts[0].strip().removeprefix("$ "), 0, "", {}
    for head, body in zip(parts[1::2], parts[2::2]):
        if head.startswith("status "):
            status, output = int(head.split()[1]), body
        else:
            files[head] = body
    return command, files, status, output


def run(command, files, heddle):
    with tempfile.TemporaryDirectory(prefix="heddle-errors-") as folder:
        for name, content in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        line = command.replace("$SOURCE", str(SOURCE))
        done = subprocess.run(["bash", "-c", f'heddle() {{ "{heddle}" "$@"; }}; {line}'], cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        output = done.stdout.replace(str(SOURCE), "$SOURCE").replace(folder, "$FOLDER")
        left = sorted(str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*")
                      if p.is_file() and str(p.relative_to(folder)) not in files)
        return done.returncode, output + "".join(f"(left behind: {name})\n" for name in left)


def written(command, files, status, output):
    text = f"$ {command}\n"
    for name, content in files.items():
        text += f"--- {name}\n{content}"
    return text + f"--- status {status}\n{output}"


def check(path, heddle, bless):
    cases, failures = path.read_text().split(SEPARATOR), 0
    for number, case in enumerate(cases):
        command, files, status, output = parse(case)
        got = run(command, files, heddle)
        if got == (status, output):
            continue
        if bless:
            cases[number] = written(command, files, *got)
            continue
        failures += 1
        print(f"{path.name}: $ {command}\n  status {got[0]}, expected {status}")
        sys.stdout.writelines(difflib.unified_diff(output.splitlines(True), got[1].splitlines(True), "expected", "got"))
    if bless:
        path.write_text(SEPARATOR.join(cases))
    return failures, len(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heddle", required=True, type=pathlib.Path)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("cases", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    failures = total = 0
    for path in options.cases or sorted(HERE.glob("*.case")):
        failed, count = check(path, options.heddle.resolve(), options.bless)
        failures, total = failures + failed, total + count
    print(f"{total} cases, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
