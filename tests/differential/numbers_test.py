#!/usr/bin/python3
"""Every test that docs/numbers.md names exists: Suite.Name in a .cc of tests/, oracle.NAME in this folder's CMakeLists.txt."""
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]


def main():
    page = (TESTS.parent / "docs" / "numbers.md").read_text()
    named = set(re.findall(r"`([A-Z]\w*\.[A-Z]\w*|oracle\.\w+)`", page))
    sources = "\n".join(path.read_text() for path in TESTS.rglob("*.cc"))
    existing = {".".join(pair) for pair in re.findall(r"TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", sources)}
    cmake = (TESTS / "differential" / "CMakeLists.txt").read_text()
    existing.update("oracle." + name for name in re.findall(r"heddle_oracle\((\w+)", cmake))
    missing = sorted(named - existing)
    for name in missing:
        print(f"docs/numbers.md names {name}, which does not exist")
    print(f"{len(named)} tests named")
    return 1 if missing or len(named) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
