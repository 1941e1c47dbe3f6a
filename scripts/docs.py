#!/usr/bin/python3
"""Writes docs/diagnostics.md: every code with what it means, as the headers say it beside the functions that return it.

    scripts/docs.py            rewrite the page
    scripts/docs.py --check    exit 1 if the page is not what would be written, or a code in src/ has no meaning

Headers state codes as rows of a table (| DEV001 | when |), as entries of an array ({"MACH006", "when"}) or in a
sentence (Errors: ONNX001 no such file, ONNX002 not a model).
"""
import argparse
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PAGE = SOURCE / "docs/diagnostics.md"
CODE = r"[A-Z]{3,6}\d{3}"
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
ROW = re.compile(rf"\|\s*({CODE})\s*\|\s*(.*?)\s*\|")
ENTRY = re.compile(rf'\{{\s*"({CODE})",\s*((?:"[^"]*"\s*)+)\}}')
SENTENCE = re.compile(rf"\b({CODE}):?\s+([a-z(].*?)(?=[;,.]\s+(?:and\s+)?{CODE}\b|[.](?:\s|$)|$)")
RECHECK = re.compile(rf"Re-checks ([^:]*):\s+({CODE})\b")
AREAS = {
    "CLI": "the command line", "FILE": "files and folders", "ONNX": "reading a model", "GRAPH": "the graph as read",
    "CANON": "folding the quantization", "DEV": "device descriptions", "PLAN": "planning the layers",
    "MEM": "placing tensors", "PROG": "checking a program", "ASM": "reading asm", "MACH": "running a program",
    "VER": "the proof", "SIM": "a saved program", "TIME": "reading a timeline", "REPORT": "reading a report", "EXPL": "explaining a run", "NPY": "arrays", "HOST": "host operators",
    "SPARSE": "sparsity and masks", "PACK": "packing buffers", "SWEEP": "sweeps over devices",
    "BUG": "bugs of heddle",
}


def comment_blocks(text):
    """Each run of // lines as one string."""
    block = []
    for line in text.splitlines() + [""]:
        match = re.match(r"\s*//\s?(.*)", line)
        if match:
            block.append(match.group(1).strip())
        elif block:
            yield " ".join(block)
            block = []


def stated(paths):
    """{code: meaning}; a table's row is preferred to a sentence."""
    tables, sentences = {}, {}
    for path in paths:
        text = path.read_text()
        for code, strings in ENTRY.findall(text):
            tables[code] = "".join(re.findall(r'"([^"]*)"', strings))
        for block in comment_blocks(text):
            tables.update(dict(ROW.findall(block)))
            for code, meaning in SENTENCE.findall(block):
                sentences.setdefault(code, meaning.strip())
            for promise, code in RECHECK.findall(block):
                sentences.setdefault(code, "a broken promise of heddle's own: " + promise)
    return {**sentences, **tables}


def used(paths):
    """Codes that the sources return, alone in a string or as part of a message."""
    strings = (text for path in paths for text in STRING.findall(path.read_text()))
    return {code for text in strings for code in re.findall(rf"\b{CODE}\b", text)}


def page(meanings):
    lines = ["# Diagnostics", "",
             "Written by `scripts/docs.py` from the headers. A diagnostic reads", "",
             "    error[DEV003] d.yaml:8: unknown key 'memroy' of 'core'",
             "      what:  keys of 'core': memory, banks, ...",
             "      mend:  write 'memory'", "",
             "with the code, the place (file:line, or model and node), one sentence, the facts and what you can do. Codes keep",
             "their meaning. The exit status is 1 for bad input (a faulty program given to `simulate` and a full disk, too), 2",
             "for usage, 3 where a network does not fit the device, the memory or --max-cycles, 70 for a bug of heddle, 130 after",
             "Ctrl-C, SIGTERM, SIGQUIT or SIGHUP.", "",
             "With `--json` a failure is JSON as well: one line on standard output, of the format `heddle.failure/1`",
             "([schema](failure.schema.json)), with the exit `status` and the `faults`, each with `code`, `where`, `summary`, `what` and",
             "`mend`. It is the last line of `sweep` and the only one of other commands. `allocate` prints its figures also where the",
             "buffers do not fit: `fits` is false then. A command that is interrupted prints none.", ""]
    known = [area for area in AREAS if any(re.sub(r"\d", "", code) == area for code in meanings)]
    for area in known + sorted({re.sub(r"\d", "", code) for code in meanings} - set(AREAS)):
        lines += [f"## {area}: {AREAS.get(area, area)}", "", "| code | when |", "|---|---|"]
        lines += [f"| {code} | {meaning} |" for code, meaning in sorted(meanings.items())
                  if re.sub(r"\d", "", code) == area]
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    headers = sorted(SOURCE.glob("include/heddle/**/*.h")) + sorted(SOURCE.glob("src/**/*.h"))
    sources = headers + sorted(SOURCE.glob("src/**/*.cc"))
    codes = used(sources)
    meanings = {code: meaning for code, meaning in stated(headers).items() if code in codes}
    text = page(meanings)
    if not options.check:
        PAGE.write_text(text)
        return 0
    faults = [f"{code} is returned, and no header says when" for code in sorted(codes - set(meanings))]
    if not PAGE.exists() or PAGE.read_text() != text:
        faults.append("docs/diagnostics.md is out of date: run scripts/docs.py")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
