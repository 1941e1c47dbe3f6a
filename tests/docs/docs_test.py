#!/usr/bin/python3
"""Runs every command of README.md, CONTRIBUTING.md and docs/: each line of each block fenced as `sh`. What a page shows of a
command's output, as the indented block behind a comment like <!-- $ heddle explain out/tiny -->, is what it prints.

    tests/docs/docs_test.py --heddle build/ci/heddle --models build/ci/models
    tests/docs/docs_test.py --heddle build/heddle --models build/models --bless explain compare    # rewrite what these pages show

A file's blocks run in their order, in one folder that looks like a fresh clone after scripts/build.sh and
scripts/make_models.py, with `heddle` also on the PATH. Of scripts/quickstart.sh the commands run that make the models
and compile; packages and build are what the test itself stands on.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
STANDS_ON = {"scripts/test.sh", "scripts/build.sh"}  # they lead to this test
QUICKSTART = "scripts/quickstart.sh"
FENCE = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^<!-- \$ (.*) -->\n\n((?: {4}.*\n|\n(?= {4}))+)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
options = None


def pages():
    return [*(SOURCE / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")), *sorted((SOURCE / "docs").rglob("*.md"))]


def commands(text):
    """The command lines of a page, continued lines joined and comments dropped."""
    for block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            line = re.sub(r"\s+# .*|^#.*", "", line).strip()
            if line:
                yield line


def indented(output):
    return "".join(f"    {line}".rstrip() + "\n" for line in output.rstrip().splitlines())


def steps(command):
    """What to run here for a command of a page."""
    if command == QUICKSTART:
        lines = (SOURCE / QUICKSTART).read_text().splitlines()
        return [line for line in lines if line.startswith(("scripts/make_models.py", "build/heddle"))]
    return [] if command in STANDS_ON else [command]


def fresh_clone(folder):
    for path in SOURCE.iterdir():
        if path.name not in (".git", "build", "out"):
            (folder / path.name).symlink_to(path)
    (folder / "build").mkdir()
    (folder / "build/heddle").symlink_to(options.heddle)
    (folder / "build/models").symlink_to(options.models)


def run(command, folder):
    environment = {"PATH": f"{folder}/build:/usr/local/bin:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, text=True, capture_output=True, env=environment)


def bless(page):
    """Rewrites what a page shows as its commands print it now."""
    with tempfile.TemporaryDirectory() as folder:
        fresh_clone(pathlib.Path(folder))
        text = page.read_text()

        def printed(command):
            done = run(command, folder)
            if done.returncode or not done.stdout.strip():
                sys.exit(f"{page.name}: {command}: status {done.returncode}\n{done.stderr}{done.stdout}")
            return done.stdout

        for command in [step for c in commands(text) for step in steps(c)]:
            run(command, folder)
        page.write_text(SHOWN.sub(lambda shown: f"<!-- $ {shown[1]} -->\n\n{indented(printed(shown[1]))}", text))


class Docs(unittest.TestCase):
    def test_every_command_runs_and_prints_what_its_page_shows(self):
        for page in pages():
            with tempfile.TemporaryDirectory() as folder:
                fresh_clone(pathlib.Path(folder))
                for command in [step for c in commands(page.read_text()) for step in steps(c)]:
                    with self.subTest(page=page.name, command=command):
                        done = run(command, folder)
                        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
                shown = SHOWN.findall(page.read_text())
                self.assertEqual(len(shown), page.read_text().count("\n<!-- $ "), f"{page.name}: a command without its block")
                for command, block in shown:
                    with self.subTest(page=page.name, shown=command):
                        done = run(command, folder)
                        self.assertEqual((done.returncode, indented(done.stdout)), (0, block))

    def test_every_link_leads_somewhere(self):
        for page in pages():
            for target in LINK.findall(page.read_text()):
                if not target.startswith(("http:", "https:", "#")):
                    self.assertTrue((page.parent / target.split("#")[0]).exists(), f"{page.name}: {target}")

    def test_every_place_that_contributing_names_is_there(self):
        places = re.findall(r"(?<![\w/.])(?:scripts|tests|src|include|docs|hw_configs|models)/[\w./*-]*\w", (SOURCE / "CONTRIBUTING.md").read_text())
        self.assertGreater(len(places), 20)
        for place in places:
            self.assertTrue(list(SOURCE.glob(place)), place)

    def test_a_block_is_read_line_by_line(self):
        page = "text\n```sh\nheddle compile a.onnx \\\n  -o out   # comment\n\n# note\nls\n```\n```text\nnot this\n```\n"
        self.assertEqual(list(commands(page)), ["heddle compile a.onnx    -o out", "ls"])

    def test_a_shown_output_is_the_indented_block_behind_its_command(self):
        page = "a\n\n<!-- $ ls out -->\n\n    one\n\n      two\n\nb\n\n    of nothing\n"
        self.assertEqual(SHOWN.findall(page), [("ls out", "    one\n\n      two\n")])
        self.assertEqual(indented("one\n\n  two  \n\n"), "    one\n\n      two\n")

    def test_the_quickstart_makes_the_models_and_compiles(self):
        self.assertEqual([step.split()[:2] for step in steps(QUICKSTART)][1:],
                         [["build/heddle", word] for word in ("compile", "prune", "compile", "view")])
        self.assertEqual(steps(QUICKSTART)[0].split()[0], "scripts/make_models.py")

    def test_readme_names_the_two_commands(self):
        self.assertLessEqual({"scripts/quickstart.sh", "scripts/test.sh"},
                             set(commands((SOURCE / "README.md").read_text())))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--heddle", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--bless", nargs="+", metavar="PAGE")
    options, rest = parser.parse_known_args()
    if options.bless:
        for page in pages():
            if page.stem in options.bless:
                bless(page)
        sys.exit(0)
    unittest.main(argv=[sys.argv[0], *rest])
