#!/usr/bin/env python3
"""Names every include that points the wrong way between the layers of src/.

    scripts/check_layers.py [ROOT]

The edges are those of the heddle_layer(...) calls in src/*/CMakeLists.txt. A layer sees itself, what it DEPENDS on,
and what those see. A foreign library's headers may be included only by a layer that lists it as PRIVATE, and only in
src/. A layer may depend on earlier ones of HEDDLE_LAYERS alone, and its sources are exactly the files of its folder.
Prints file:line: what is wrong; exit status 1 if anything is.
"""
import pathlib
import re
import sys

# The first words of a foreign library's headers, and what a layer must list as PRIVATE to include them.
FOREIGN = {
    "onnx/": "onnx", "google/protobuf/": "protobuf", "boost/": "Boost", "nlohmann/": "nlohmann_json",
    "yaml-cpp/": "yaml-cpp", "CLI/": "CLI11", "tao/": "pegtl", "zip.h": "libzip",
    "muParser": "muparser", "sqlite3.h": "SQLite", "pybind11/": "pybind11",
}
# What is no layer: each comes last, sees all of them, and has these foreign libraries.
PROGRAMS = {"cli": ["CLI11"], "python": ["pybind11"]}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


class Layer:
    def __init__(self, name, call):
        words = re.sub(r"#.*", "", call).split()
        keywords = ("HEADERS", "SOURCES", "DEPENDS", "PRIVATE")
        self.name, self.lists, current = name, {k: [] for k in keywords}, None
        for word in words:
            if word in keywords:
                current = word
            else:
                self.lists[current].append(word)

    def __getitem__(self, keyword):
        return self.lists[keyword]


def declared_layers(root):
    """The layers in the order of HEDDLE_LAYERS."""
    order = re.search(r"set\(HEDDLE_LAYERS\s+([^)]*)\)", (root / "CMakeLists.txt").read_text()).group(1).split()
    layers = {}
    for name in order:
        text = (root / "src" / name / "CMakeLists.txt").read_text()
        call = re.search(r"heddle_layer\(\s*(\w+)([^)]*)\)", text)
        layers[name] = Layer(name, call.group(2) if call else "")
    return layers


def visible(layers):
    """For each layer the set of layers that it sees, and faults in the order of the declarations."""
    sees, faults = {}, []
    for name, layer in layers.items():
        sees[name] = {name}
        for other in layer["DEPENDS"]:
            if other in sees and other != name:
                sees[name] |= sees[other]
            else:
                faults.append(f"src/{name}/CMakeLists.txt:1: {name} depends on {other}, which does not come before it")
    return sees, faults


def check_file(path, shown, layer, sees, foreign):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        if header.startswith("heddle/"):
            other = header.split("/")[1]
            if other not in sees:
                yield f"{shown}:{number}: layer {layer} must not see {other} ({header})"
        for prefix, library in FOREIGN.items():
            if header.startswith(prefix) and not any(library in word for word in foreign):
                yield f"{shown}:{number}: layer {layer} does not list {library} as PRIVATE here ({header})"


def check(root):
    layers = declared_layers(root)
    sees, faults = visible(layers)
    sees.update({program: {*layers, program} for program in PROGRAMS})
    for name in sees:
        layer = layers.get(name)
        folder = root / "src" / name
        sources = sorted([*folder.rglob("*.cc"), *folder.rglob("*.h")])
        headers = sorted((root / "include/heddle" / name).rglob("*.h"))
        for path in sources + headers:
            foreign = PROGRAMS[name] if layer is None else layer["PRIVATE"] if path in sources else []
            faults += check_file(path, path.relative_to(root), name, sees[name], foreign)
        if layer:
            listed = {folder / s for s in layer["SOURCES"]} | {root / "include/heddle" / h for h in layer["HEADERS"]}
            for path in sources + headers:
                if path not in listed and not (path.suffix == ".h" and path in sources):
                    faults.append(f"{path.relative_to(root)}:1: not listed in src/{name}/CMakeLists.txt")
    return faults


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
