#!/usr/bin/python3
"""On a bare machine every script installs what it needs: no build of a preset before the packages for it."""
import json
import pathlib
import re
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = re.compile(r"^\s*(?:scripts/build\.sh(?: (\w+))?|cmake --preset (\w+))", re.MULTILINE)


def without_tests():
    presets = json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]
    return {preset["name"] for preset in presets if preset.get("cacheVariables", {}).get("HEDDLE_TESTS") == "OFF"}


def missing(text, light):
    """The presets that a script builds without having installed what they need."""
    found = []
    for build in BUILD.finditer(text):
        preset = build[1] or build[2] or "release"
        packages = "build|ci|checks|test" if preset in light else "checks|test" if preset == "asan" else "ci|checks|test"
        # In the background only where it is waited for.
        if not re.search(rf"^scripts/install_deps\.sh ({packages})($|.* &$[\s\S]*^wait )", text[:build.start()], re.MULTILINE):
            found.append(preset)
    return found


class Scripts(unittest.TestCase):
    def test_each_installs_what_it_builds_with(self):
        scripts = [path for path in (SOURCE / "scripts").rglob("*.sh") if path.name != "build.sh"]
        builders = [path for path in scripts if BUILD.search(path.read_text())]
        self.assertGreaterEqual(len(builders), 4)
        for path in builders:
            self.assertEqual(missing(path.read_text(), without_tests()), [], path.name)

    def test_a_preset_with_tests_needs_the_packages_of_tests(self):
        self.assertEqual(without_tests(), {"release"})
        self.assertEqual(missing("scripts/install_deps.sh build\nscripts/build.sh dev x\n", {"release"}), ["dev"])
        self.assertEqual(missing("scripts/build.sh\nscripts/install_deps.sh build\n", {"release"}), ["release"])
        self.assertEqual(missing("scripts/install_deps.sh test\nscripts/build.sh\nscripts/build.sh ci\n", {"release"}), [])
        self.assertEqual(missing("scripts/install_deps.sh ci\nscripts/build.sh ci\nscripts/build.sh asan\n", set()), ["asan"])

    def test_packages_in_the_background_are_waited_for(self):
        text = "scripts/install_deps.sh checks >log 2>&1 &\njob=$!\n{}scripts/build.sh asan\n"
        self.assertEqual(missing(text.format(""), set()), ["asan"])
        self.assertEqual(missing(text.format("wait $job\n"), set()), [])


if __name__ == "__main__":
    unittest.main()
