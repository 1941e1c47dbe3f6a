#!/usr/bin/python3
"""Runs clang-format in check mode and clang-tidy (.clang-tidy) over the whole tree; prints what they find.

    scripts/tidy.py                      all of it: some 6 minutes on two cores
    scripts/tidy.py src/emit tests/unit  only what lies below these
    scripts/tidy.py --format             clang-format alone: seconds

Needs scripts/install_deps.sh test. Most of clang-tidy's time is that of parsing the same headers again, so the sources of a
folder that are compiled with the same options are checked as one that includes them; where their private names clash, one by
one. In a layer such a clash is a finding: for the sanitizers it is compiled as one source. What CMake or protoc made is not
checked. Exit status 1 if anything was found.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/ci"
UNITS = ROOT / "build/tidy"


def sources(below):
    """A machine that only builds need not have git."""
    folders = [ROOT / folder for folder in below or ("include", "src", "tests")]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in (".cc", ".h"))


def formatted(files):
    return subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT).returncode == 0


def options_of(entry):
    """The options of a compiler's command line, without the launcher, the compiler, the source and the output."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    at = words.index("-o")
    return [word for word in words[:at] + words[at + 2:] if word not in ("-c", entry["file"])]


def configured():
    """Makes the compile commands, and the one header that the build makes."""
    subprocess.run(["cmake", "--preset", "ci", "-Wno-dev", "--log-level=WARNING"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "ci", "--target", "src/emit/perfetto.pb.h"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    return json.loads((BUILD / "compile_commands.json").read_text())


def sources_of(entry):
    """The source, or those that CMake compiles as one."""
    file = pathlib.Path(entry["file"])
    return re.findall(r'^#include "(.*)"$', file.read_text(), re.MULTILINE) if file.parent.name == "Unity" else [entry["file"]]


def groups_of(commands, files):
    """Sources by their folder and options."""
    groups = {}
    for entry in commands:
        for source in sources_of(entry):
            if pathlib.Path(source) in files:
                groups.setdefault((pathlib.Path(source).parent, *options_of(entry)), []).append(source)
    return [(options, sources) for (_, *options), sources in groups.items()]


def run_tidy(source, options, in_tests):
    # The sizes in tests are small.
    fewer = ["--checks=-bugprone-implicit-widening-of-multiplication-result"] if in_tests else []
    command = ["clang-tidy", "--quiet", *fewer, str(source), "--", *options, "-Wno-unknown-warning-option"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def findings(options, sources):
    name = hashlib.sha256(" ".join(sources).encode()).hexdigest()[:16]
    unit = UNITS / f"{pathlib.Path(sources[0]).parent.name}-{name}.cc"
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    in_tests = pathlib.Path(sources[0]).is_relative_to(ROOT / "tests")
    done = run_tidy(unit, options, in_tests)
    if "[clang-diagnostic-error" not in done.stdout or len(sources) == 1:
        return done.stdout if done.returncode else ""
    each = [run_tidy(source, options, in_tests) for source in sources]
    alone = "".join(one.stdout for one in each if one.returncode)
    if alone or in_tests:  # a folder of tests may hold several programs
        return alone
    return "".join(line + "\n" for line in done.stdout.splitlines() if ": error: " in line)


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("below", nargs="*", default=["src", "include", "tests"], metavar="FOLDER")
    parser.add_argument("--format", action="store_true", help="no clang-tidy")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def main():
    arguments = parsed()
    files = sources(arguments.below)
    good = formatted(files)
    if not arguments.format:
        UNITS.mkdir(parents=True, exist_ok=True)
        groups = groups_of(configured(), set(files))
        # The longest first, so that no core is left with one of them at the end.
        largest_first = sorted(groups, key=lambda group: -len(group[1]))
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            found = set(filter(None, pool.map(lambda group: findings(*group), largest_first)))
        good = good and not found
        print("".join(sorted(found)), end="")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
