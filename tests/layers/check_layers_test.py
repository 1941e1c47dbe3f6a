#!/usr/bin/python3
"""scripts/check_layers.py names each kind of fault, with file and line, in a small house of three layers."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_layers  # noqa: E402

HOUSE = {
    "CMakeLists.txt": "set(HEDDLE_LAYERS support graph emit)\n",
    "src/support/CMakeLists.txt": "heddle_layer(support HEADERS support/units.h SOURCES units.cc)\n",
    "src/support/units.cc": '#include "heddle/support/units.h"\n',
    "include/heddle/support/units.h": "#pragma once\n",
    "src/graph/CMakeLists.txt": "heddle_layer(graph SOURCES graph.cc DEPENDS support PRIVATE Boost::headers)\n",
    "src/graph/graph.cc": "#include <boost/graph/adjacency_list.hpp>\n#include <vector>\n",
    "src/emit/CMakeLists.txt": "heddle_layer(emit SOURCES asm.cc DEPENDS graph)  # sees support through graph\n",
    "src/emit/asm.cc": '#include "heddle/support/units.h"\n',
    "src/cli/main.cc": '#include <CLI/CLI.hpp>\n#include "heddle/emit/asm.h"\n',
}


class CheckLayers(unittest.TestCase):
    def faults(self, files=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {**HOUSE, **(files or {})}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return check_layers.check(root)

    def test_a_house_in_order_has_no_faults(self):
        self.assertEqual(self.faults(), [])

    def test_an_include_against_the_flow(self):
        found = self.faults(files={"src/graph/graph.cc": '\n#include "heddle/emit/asm.h"\n'})
        self.assertEqual(found, ["src/graph/graph.cc:2: layer graph must not see emit (heddle/emit/asm.h)"])

    def test_a_foreign_header_in_a_layer_without_the_library(self):
        found = self.faults(files={"src/emit/asm.cc": "#include <nlohmann/json.hpp>\n"})
        self.assertEqual(found, [
            "src/emit/asm.cc:1: layer emit does not list nlohmann_json as PRIVATE here (nlohmann/json.hpp)"])

    def test_a_foreign_header_in_a_public_header(self):
        files = {"include/heddle/graph/graph.h": "#include <boost/graph/adjacency_list.hpp>\n",
                 "src/graph/CMakeLists.txt": HOUSE["src/graph/CMakeLists.txt"].replace("graph.cc", "graph.cc HEADERS graph/graph.h")}
        self.assertEqual(self.faults(files=files), [
            "include/heddle/graph/graph.h:1: layer graph does not list Boost as PRIVATE here "
            "(boost/graph/adjacency_list.hpp)"])

    def test_an_edge_that_points_backwards(self):
        found = self.faults(files={"src/support/CMakeLists.txt": HOUSE["src/support/CMakeLists.txt"].replace(
            "units.cc", "units.cc DEPENDS emit")})
        self.assertEqual(found, ["src/support/CMakeLists.txt:1: support depends on emit, which does not come before it"])

    def test_a_source_that_no_list_names(self):
        self.assertEqual(self.faults(files={"src/emit/json.cc": ""}),
                         ["src/emit/json.cc:1: not listed in src/emit/CMakeLists.txt"])

    def test_a_type_that_two_layers_define(self):
        found = self.faults(files={
            "include/heddle/support/units.h": "#pragma once\nnamespace heddle {\n// struct Byte {\nenum class Unit : int { Byte };\n}\n",
            "src/graph/graph.cc": "namespace heddle {\nnamespace {\nstruct Node {};\n}\nstruct Outer {\n  struct Inner {};\n};\n}\n",
            "src/emit/asm.cc": "namespace heddle {\nstruct Unit;\nnamespace { struct Node {}; }\nstruct Inner {};\n"
                               "const char* brace = \"}\";\ntemplate <class T>\nstruct Unit final : T {};\n}\n"})
        self.assertEqual(found, ["src/emit/asm.cc:7: heddle::Unit is defined in include/heddle/support/units.h:4 too"])

    def test_a_standard_header_that_is_not_included(self):
        found = self.faults(files={
            "src/graph/graph.cc": '#include <vector>\n// a std::map\nconst char* text = "std::span";\nstd::vector<std::set<int>> sets;\n'})
        self.assertEqual(found, ["src/graph/graph.cc:4: std::set without <set>"])

    def test_a_standard_header_that_another_header_includes(self):
        files = {"include/heddle/support/units.h": '#pragma once\n#include "heddle/support/units.h"\n#include <set>\n',
                 "src/emit/asm.cc": '#include "heddle/support/units.h"\nstd::set<int> set;\n'}
        self.assertEqual(self.faults(files=files), [])


if __name__ == "__main__":
    unittest.main()
