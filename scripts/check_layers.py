#!/usr/bin/env python3
"""Names every include that points the wrong way between the layers of src/, or is missing, and types that are defined twice.

    scripts/check_layers.py [ROOT]

The edges are those of the heddle_layer(...) calls in src/*/CMakeLists.txt. A layer sees itself, what it DEPENDS on,
and what those see. A foreign library's headers may be included only by a layer that lists it as PRIVATE, and only in
src/. A layer may depend on earlier ones of HEDDLE_LAYERS alone, and its sources are exactly the files of its folder.
A type of namespace heddle has one definition: two of one name are undefined behaviour once both are linked ([basic.def.odr]),
of which neither compiler nor linker says a word. Types of unnamed namespaces and inner types are free.
What a file takes of namespace std it includes, itself or by headers of the project: in a build of several sources at once the others' headers
hide that one is missing.
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
# Headers of the standard library, and the names that a file includes each for; not those that several declare.
STANDARD = {
    "algorithm": "all_of|any_of|binary_search|clamp|copy|count|count_if|fill|find|find_if|lower_bound|max|max_element|min|min_element|none_of|partial_sort|remove_if|reverse|sort|stable_sort|transform|unique|upper_bound",
    "array": "array", "atomic": "atomic", "bitset": "bitset", "chrono": "chrono", "condition_variable": "condition_variable",
    "deque": "deque", "filesystem": "filesystem", "fstream": "ifstream|ofstream", "functional": "function", "iostream": "cerr|cin|cout",
    "limits": "numeric_limits", "map": "map|multimap", "memory": "make_shared|make_unique|shared_ptr|unique_ptr|weak_ptr",
    "mutex": "lock_guard|mutex|scoped_lock|unique_lock", "numeric": "accumulate|gcd|iota|lcm", "optional": "nullopt|optional",
    "queue": "priority_queue|queue", "set": "multiset|set", "span": "span", "sstream": "istringstream|ostringstream|stringstream",
    "string": "string|to_string", "string_view": "string_view", "thread": "thread", "tuple": "tie|tuple",
    "unordered_map": "unordered_map", "unordered_set": "unordered_set", "variant": "get_if|holds_alternative|variant|visit", "vector": "vector",
}
# Comments and literals, so that braces in them do not count, and code up to the next brace or semicolon.
TOKEN = re.compile(r"""(?P<skip>//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|^\s*\#(?:[^\n]*\\\n)*[^\n]*)"""
                   r"""|(?P<code>[{};]|[^{};"'/\#]+|.)""", re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*$")
TYPE = re.compile(r"^\s*(?:template\s*<[^{}]*>\s*)?(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:\[\[\w+\]\]\s*)?(\w+)\s*(?:final\s*)?(?::[^:].*)?$", re.DOTALL)
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


class Includes:
    """What files include, of the standard library, directly or by headers of the project."""

    def __init__(self, root):
        self.root, self.known = root, {}

    def of(self, path):
        if path not in self.known:
            self.known[path] = set()  # a header that includes itself adds nothing
            found = {match.group(1) for match in map(INCLUDE.match, path.read_text().splitlines()) if match}
            for header in list(found):
                for other in (path.parent / header, self.root / "include" / header):
                    if other.exists():
                        found |= self.of(other.resolve())
                        break
            self.known[path] = found
        return self.known[path]


def check_standard(path, shown, includes):
    code = TOKEN.sub(lambda token: token.group("code") or "\n" * token.group().count("\n"), path.read_text())
    for header, names in STANDARD.items():
        used = re.search(rf"\bstd::(?:ranges::)?({names})\b", code)
        if used and header not in includes.of(path):
            yield f"{shown}:{code.count(chr(10), 0, used.start()) + 1}: {used.group()} without <{header}>"


def types_of(path):
    """(line, name) of each class, struct and enum that a file defines at the level of a named namespace."""
    scope = []  # of each brace that stands open: a namespace's words, or None for any other
    before = ""
    for token in TOKEN.finditer(path.read_text()):
        word = token.group()
        if token.lastgroup != "code":
            continue
        if word == "{":
            namespace = NAMESPACE.search(before)
            named = TYPE.search(before)
            if named and all(scope):
                yield token.string.count("\n", 0, token.start()) + 1, "::".join([*scope, named.group(1)])
            scope.append((namespace.group(1) or None) if namespace else None)
        elif word == "}" and scope:
            scope.pop()
        before = "" if word in "{};" else before + word


def check_types(files):
    """Types of one name, of whatever layers; files: (path, how it is shown)."""
    seen = {}
    for path, shown in files:
        for number, name in types_of(path):
            if name in seen:
                yield f"{shown}:{number}: {name} is defined in {seen[name]} too"
            seen.setdefault(name, f"{shown}:{number}")


def check(root):
    layers = declared_layers(root)
    sees, faults = visible(layers)
    sees.update({program: {*layers, program} for program in PROGRAMS})
    everything, includes = [], Includes(root)
    for name in sees:
        layer = layers.get(name)
        folder = root / "src" / name
        sources = sorted([*folder.rglob("*.cc"), *folder.rglob("*.h")])
        headers = sorted((root / "include/heddle" / name).rglob("*.h"))
        everything += [(path, path.relative_to(root)) for path in headers + sources]
        for path in sources + headers:
            foreign = PROGRAMS[name] if layer is None else layer["PRIVATE"] if path in sources else []
            faults += check_file(path, path.relative_to(root), name, sees[name], foreign)
            faults += check_standard(path, path.relative_to(root), includes)
        if layer:
            listed = {folder / s for s in layer["SOURCES"]} | {root / "include/heddle" / h for h in layer["HEADERS"]}
            for path in sources + headers:
                if path not in listed and not (path.suffix == ".h" and path in sources):
                    faults.append(f"{path.relative_to(root)}:1: not listed in src/{name}/CMakeLists.txt")
    return faults + list(check_types(everything))


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
