#!/usr/bin/python3
"""Runs clang-format in check mode and clang-tidy (.clang-tidy) over the whole tree; prints what they find.

    scripts/tidy.py                      all of it: some 6 minutes of processor time
    scripts/tidy.py src/emit tests/unit  only what lies below these
    scripts/tidy.py --format             clang-format alone: seconds

Needs scripts/install_deps.sh checks. Most of clang-tidy's time is that of parsing the same headers again, so the sources of a
layer that are compiled with the same options are checked as one that includes them, and so are all tests of a kind (tests/unit);
where their private names clash, folder by folder and then one by one. In a layer such a clash is a finding: for the sanitizers
it is compiled as one source. What CMake or protoc made is not checked. Exit status 1 if anything was found.
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
TESTS = ROOT / "tests"


def sources(below):
    """A machine that only builds need not have git."""
    folders = [ROOT / folder for folder in below or ("include", "src", "tests")]
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in (".cc", ".h"))


def formatted(files):
    return subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT).returncode == 0


def options_of(entry):
    """The options of a compiler's command line, one word each, without the launcher, the compiler, the source and the output."""
    words = shlex.split(entry["command"].replace(" -isystem ", " -isystem"))
    words = words[next(i for i, word in enumerate(words) if word.startswith("-")):]
    at = words.index("-o")
    return tuple(word for word in words[:at] + words[at + 2:] if word not in ("-c", entry["file"]))


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


def is_test(source):
    return pathlib.Path(source).is_relative_to(TESTS)


def units_of(commands, files):
    """What is checked at once: groups of a folder's sources with the same options, one of a layer or all of a kind of tests.
    Those of tests may differ in where they look for headers and in what they define."""
    units = {}
    for entry in commands:
        options = options_of(entry)
        for source in sources_of(entry):
            folder = pathlib.Path(source).parent
            if pathlib.Path(source) not in files:
                continue
            unit = (folder, options)
            if is_test(source):
                unit = (folder.relative_to(TESTS).parts[0], *(word for word in options if not word.startswith(("-I", "-isystem", "-D"))))
            units.setdefault(unit, {}).setdefault((folder, options), []).append(source)
    return [[(options, sources) for (_, options), sources in groups.items()] for groups in units.values()]


def one_of(sources):
    """A source that includes them. Programs, and fuzz targets, have a function of the same name each; a `main` in a namespace
    is one to clang-tidy, too."""
    if len(sources) == 1:
        return sources[0]
    text = ""
    for number, source in enumerate(sources):
        own = (f"namespace program_{number} {{ int main(); int main(int, char**); }}\n#define main program_{number}::main\n"
               f"#define LLVMFuzzerTestOneInput fuzz_{number}\n")
        include = f'#include "{source}"\n'
        text += own + include + "#undef main\n#undef LLVMFuzzerTestOneInput\n" if is_test(source) else include
    name = hashlib.sha256(" ".join(sources).encode()).hexdigest()[:16]
    unit = UNITS / f"{pathlib.Path(sources[0]).parent.name}-{name}.cc"
    unit.write_text(text)
    return unit


def findings(groups):
    """Of groups, a group or a source: as one, or where names clash, of each of its parts."""
    options = dict.fromkeys(option for options, _ in groups for option in options)
    sources = [source for _, sources in groups for source in sources]
    # The sizes in tests are small.
    fewer = ["--checks=-bugprone-implicit-widening-of-multiplication-result"] if is_test(sources[0]) else []
    command = ["clang-tidy", "--quiet", *fewer, one_of(sources), "--", *options, "-Wno-unknown-warning-option"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    # Names of tests may clash in other ways, too: one hides another.
    clash = "[clang-diagnostic-" if is_test(sources[0]) else "[clang-diagnostic-error"
    if not done.returncode or clash not in done.stdout or len(sources) == 1:
        return done.stdout if done.returncode else ""
    parts = [[group] for group in groups] if len(groups) > 1 else [[(options, [source])] for source in sources]
    alone = "".join(map(findings, parts))
    if alone or is_test(sources[0]):  # a kind of tests may hold several programs
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
        units = units_of(configured(), set(files))
        # The longest first, so that no core is left with one of them at the end.
        largest_first = sorted(units, key=lambda groups: -sum(len(sources) for _, sources in groups))
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            found = set(filter(None, pool.map(findings, largest_first)))
        good = good and not found
        print("".join(sorted(found)), end="")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
