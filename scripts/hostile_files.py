"""Files below 1 MB that mean harm, made anew each time: small ones that ask for much, and wrong ones.

Each function with @makes(KIND) yields (name, bytes); KIND says which commands scripts/try_hostile.py gives them to.
"""
import io
import json
import pathlib
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SOURCE = pathlib.Path(__file__).resolve().parents[1]
CORPUS = SOURCE / "tests/fuzz/corpus"
MAKERS = []


def makes(kind):
    def register(function):
        MAKERS.append((kind, function))
        return function
    return register


# ---- device descriptions ----

@makes("device")
def descriptions():
    paper = (SOURCE / "hw_configs/paper.yaml").read_text()
    yield "equal_keys", b"a: 1\n" * 40_000
    yield "unknown_keys", "".join(f"k{i}: 1\n" for i in range(40_000)).encode()
    yield "long_keys", "".join(f"{'x' * 60}{i}: 1\n" for i in range(6_000)).encode()
    yield "many_sentences", (paper + "".join(f"  - 'sentence {i}'\n" for i in range(20_000))).encode()
    yield "wires", ("name: x\nwires:\n" + "  - {name: w, reach: any, feeders: any}\n" * 10_000).encode()
    yield "deep", b"a: " + b"[" * 200_000
    yield "one_line", b"name: " + b"x" * 500_000
    yield "blocks", b"? " * 100_000
    yield "quotes", b'a: "' + b"\\x41" * 100_000
    yield "escapes", b'"\\e[2J": "\\u202e"\n' * 10_000
    yield "anchors", b"".join(b"- &a%d x\n" % i for i in range(40_000))
    yield "large_mesh", paper.replace("rows: 4", "rows: 64").replace("columns: 4", "columns: 64").encode()


# ---- arrays ----

def array_file(shape, descr="<f4", order=False, data=b"", version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


@makes("npy")
def arrays():
    yield "huge", array_file("(1000000000, 1000000000)")
    yield "negative", array_file("(-1, 4)")
    yield "empty_axis", array_file("(0, 9223372036854775807)")
    yield "many_axes", array_file("(" + "1," * 100_000 + ")", version=2)
    yield "columns_first", array_file("(1, 3, 33, 29)", order=True, data=bytes(4 * 3 * 33 * 29))
    yield "nan", array_file("(1, 3, 33, 29)", data=np.full(3 * 33 * 29, np.nan, np.float32).tobytes())
    yield "infinite", array_file("(1, 3, 33, 29)", data=np.full(3 * 33 * 29, np.inf, np.float32).tobytes())
    yield "escapes", array_file("(1,)", descr="\x1b[2J")


def archive(method=zipfile.ZIP_DEFLATED, **entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as out:
        for name, content in entries.items():
            out.writestr(name, content)
    return file.getvalue()


@makes("npz")
def archives():
    weight = next(w for w in onnx.load(str(SOURCE / "models/tiny_mobile.onnx")).graph.initializer if len(w.dims) == 4)
    name, shape = f"{weight.name}.npy", f"({', '.join(map(str, weight.dims))})"
    yield "bomb", archive(**{name: array_file(f"({200 << 20},)", "|b1", data=bytes(200 << 20))})
    yield "small_bombs", archive(**{f"{i}.npy": array_file(f"({4 << 20},)", "|b1", data=bytes(4 << 20)) for i in range(60)})
    yield "many", archive(zipfile.ZIP_STORED, **{f"{i}.npy": b"" for i in range(7_000)})
    yield "many_arrays", archive(zipfile.ZIP_STORED, **{f"{i}.npy": array_file("()", "|b1", data=b"1") for i in range(3_000)})
    yield "long_name", archive(**{"x" * 60_000 + ".npy": array_file("()", "|b1", data=b"1")})
    yield "escapes", archive(**{"\x1b[2J\u202e.npy": array_file("()", "|b1", data=b"1")})
    yield "all", archive(**{name: array_file(shape, "|b1", data=bytes(int(np.prod(weight.dims))))})
    yield "columns_first", archive(**{name: array_file(shape, "|b1", order=True, data=bytes(int(np.prod(weight.dims))))})
    yield "values", archive(**{name: array_file(shape, "|u1", data=b"\xff" * int(np.prod(weight.dims)))})
    whole = archive(zipfile.ZIP_STORED, **{name: array_file(shape, "|b1", data=bytes(int(np.prod(weight.dims))))})
    random = np.random.default_rng(1)
    for i in range(20):  # one byte wrong somewhere in the lists
        broken = bytearray(whole)
        broken[-1 - int(random.integers(0, 22 + 46 + len(name)))] ^= int(random.integers(1, 256))
        yield f"broken_{i}", bytes(broken)


# ---- timelines ----

@makes("timeline")
def timelines():
    small = json.loads((CORPUS / "timeline/small.json").read_text())
    yield "deep", b"[" * 500_000
    yield "deep_key", b'{"format":"heddle.timeline/1","x":' + b"[" * 300_000
    yield "many_keys", ("{" + ",".join(f'"k{i}":0' for i in range(60_000)) + "}").encode()

    def with_column(column):
        changed = dict(small, columns=[column] * len(small["columns"]))
        return json.dumps(changed).encode()
    yield "bomb", with_column([[1 << 40, 1]])
    yield "nested_bomb", with_column([[1000, [1000, [1000, [1000, 1]]]]])
    yield "large_numbers", with_column([9223372036854775807] * 3)
    yield "makespan", json.dumps(dict(small, makespan=(1 << 62))).encode()
    yield "step", json.dumps(dict(small, counters={"step": 1, "series": [
        {"name": "compute", "unit": "busy cycles", "most": 1, "values": [[1 << 33, 1]]}]})).encode()
    yield "rows", json.dumps(dict(small, device=dict(small["device"], rows=1 << 31, columns=1 << 31))).encode()


# ---- reports ----

@makes("report")
def reports():
    whole = json.loads((CORPUS / "report/worked_conv.json").read_text())
    layer = whole["layers"][0]

    def with_layers(*layers):
        return json.dumps(dict(whole, layers=layers)).encode()
    yield "deep", b"[" * 500_000
    yield "deep_key", b'{"format":"heddle.report/2","layers":' + b"[" * 300_000
    yield "empty_layers", with_layers(*[{}] * 200_000)
    yield "large_cycles", with_layers(*[dict(layer, cycles=1 << 53)] * 500)
    yield "too_large", with_layers(dict(layer, macs=1 << 64, cycles=-(1 << 63), boundSeconds=1e300))
    yield "long_name", with_layers(dict(layer, name="x" * 300_000), *[dict(layer, cycles=0)] * 500)
    yield "long_words", with_layers(*[dict(layer, boundBy="y" * 1000)] * 400)


# ---- programs ----

@makes("asm")
def programs():
    text = (CORPUS / "asm/smallest.asm").read_text()
    yield "loop", text.replace("loop 3", "loop 4611686018427387904").encode()
    yield "loops", text.replace("loop 3 {", "loop 1000000 {", 1).encode()
    body, end = "loop 1000 {\n" * 8, "}\n" * 8
    yield "nested", text.replace("  loop 3 {\n", body, 1).replace("  }\n", end, 1).encode()
    yield "deep", text.replace("  loop 3 {\n", "loop 2 {\n" * 50_000, 1).encode()
    yield "ddr", text.replace("ddr size 192", "ddr size 1073741824").encode()
    yield "weights", text.replace("size 64", "size 1073741824").encode()
    yield "huge_weights", text.replace("size 64", "size 9223372036854775807").encode()
    yield "tensor", text.replace('"x" 1x1x8', '"x" 1048576x1048576x1048576').encode()
    yield "tensors", text.replace("layer 0", "".join(f'tensor %{i} "t" 1024x1024x1024 scale 1\n' for i in range(1, 5_000))
                                  + "layer 0").encode()
    yield "locks", text.replace("on ddr-in", "".join(
        f"lock L{i} in mem(0) = 0 from ddr-in(0).0 to ddr-out(0).0\n" for i in range(2, 4_000)) + "on ddr-in", 1).encode()
    yield "starts", text.replace("  START ddr-in(0).0\n", "  START ddr-in(0).0\n" * 20_000).encode()
    yield "loads", text.replace("[8 B]", "[1000000 by 1, 1000000 by 1, 8 B]").encode()
    yield "string", text.replace('"m"', '"' + "\\x1b" * 200_000 + '"').encode()
    yield "faults", (text + "nonsense\n" * 90_000).encode()
    yield "columns", text.replace("column 0 channel 0", "columns 0-2000000000 channel 0").encode()
    yield "rectangles", text.replace("column 0 channel 0", "column 0" + " and column 0" * 60_000 + " channel 0", 1).encode()


# ---- networks ----

def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def network(nodes, shape, weights=(), outputs=("y",), out_shape=None, opset=17, **inputs):
    graph = helper.make_graph(
        nodes, "hostile", [value("x", shape)] + [value(name, *what) for name, what in inputs.items()],
        [value(name, out_shape) for name in outputs], [numpy_helper.from_array(array, name) for name, array in weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model.SerializeToString()


SCALE = [("s", np.float32(0.0625)), ("z", np.int8(0))]


def around(nodes, shape, weights=(), first="d", last="r", **more):
    """x -> quantize, dequantize -> nodes, from `first` to `last` -> quantize, dequantize -> y."""
    begin = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
             helper.make_node("DequantizeLinear", ["q", "s", "z"], [first])]
    end = [helper.make_node("QuantizeLinear", [last, "s", "z"], ["rq"]),
           helper.make_node("DequantizeLinear", ["rq", "s", "z"], ["y"])]
    return network(begin + list(nodes) + end, shape, [*SCALE, *weights], **more)


def one(op, shape, *operands, weights=(), **attributes):
    return around([helper.make_node(op, ["d", *operands], ["r"], **attributes)], shape, weights)


def on_host(op, shape, *operands, weights=(), extra=(), **attributes):
    """The same behind the array, where the host computes it."""
    begin = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             helper.make_node("Relu", ["d"], ["e"]), helper.make_node("QuantizeLinear", ["e", "s", "z"], ["eq"]),
             helper.make_node("DequantizeLinear", ["eq", "s", "z"], ["f"]), helper.make_node("Softmax", ["f"], ["g"])]
    return network(begin + [helper.make_node(op, ["g", *operands], ["y"], **attributes), *extra], shape,
                   [*SCALE, *weights])


I64 = lambda *values: np.array(values, np.int64)
LEAST = -(1 << 63)


@makes("onnx")
def faulty_operators():
    for name, make in (("array", one), ("host", on_host)):
        shape = [1, 8, 8, 8]
        yield f"prelu_alone_{name}", make("PRelu", shape)
        yield f"add_alone_{name}", make("Add", shape)
        yield f"mul_alone_{name}", make("Mul", shape)
        yield f"sigmoid_of_two_{name}", make("Sigmoid", shape, "w", weights=[("w", np.zeros((2, 2, 2, 2, 2, 2), np.float32))])
        for count in (0, 1, 3):
            few = [(n, np.ones(count, np.float32)) for n in "abcv"]
            yield f"normalize_{count}_{name}", make("BatchNormalization", shape, *"abcv", weights=few)
            yield f"quantize_{count}_{name}", make("QuantizeLinear", shape, "a", weights=few)
        for mode in ("reflect", "edge", "wrap", "constant"):
            for pads in ((LEAST,) * 8, (0, 0, 9, 9, 0, 0, 9, 9), (0, 0, -8, 0, 0, 0, 0, 0), (0, 0, -4, 0, 0, 0, -5, 0)):
                yield f"pad_{mode}_{pads[0]}_{pads[2]}_{pads[6]}_{name}", make("Pad", shape, "p", weights=[("p", I64(*pads))],
                                                                             mode=mode)
        for index in (I64(8), I64(-9), I64(LEAST), np.float32([0]), np.float32([np.nan]), I64()):
            label = "_".join(map(str, [index.dtype, *index]))
            yield f"gather_{label}_{name}", make("Gather", shape, "i", weights=[("i", index)], axis=1)
        yield f"slice_empty_{name}", make("Slice", shape, "b", "e", weights=[("b", I64(0, 0, 9, 0)), ("e", I64(1, 8, 9, 8))])
    yield "opset", network([helper.make_node("Relu", ["x"], ["y"])], [1, 8], opset=-1)
    for scale in (1e-38, 1e38, 0.0, -1.0, np.nan, np.inf):
        yield f"average_{scale}", network(
            [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
             helper.make_node("GlobalAveragePool", ["d"], ["r"]), helper.make_node("QuantizeLinear", ["r", "t", "z"], ["rq"]),
             helper.make_node("DequantizeLinear", ["rq", "t", "z"], ["y"])], [1, 8, 8, 8], [*SCALE, ("t", np.float32(scale))])


@makes("onnx")
def large_networks():
    yield "transpose", one("Transpose", [1, 64, 64, 64], perm=[0, 2, 3, 1])
    yield "sigmoid_33", one("Sigmoid", [1, 8, 33, 33])
    yield "conv_33", one("Conv", [1, 8, 33, 33], "w", weights=[("w", np.zeros((8, 8, 3, 3), np.float32))], pads=[1] * 4)
    yield "rows_4194304", one("Relu", [1, 8, 1 << 22, 1])
    yield "columns_4194304", one("Relu", [1, 8, 1, 1 << 22])
    yield "channels_4194304", one("Relu", [1, 1 << 22, 1, 1])
    yield "pooled_4194304", one("MaxPool", [1, 8, 1 << 22, 1], kernel_shape=[2, 1], strides=[2, 1])
    yield "elements_2^40", one("Relu", [1, 1 << 20, 1 << 10, 1 << 10])
    yield "elements_2^62", one("Relu", [1, 1 << 31, 1 << 31, 1])
    yield "pad_4000", one("Pad", [1, 8, 8, 8], "p", weights=[("p", I64(0, 0, 4000, 4000, 0, 0, 4000, 4000))])
    yield "stride", one("MaxPool", [1, 8, 64, 64], kernel_shape=[1, 1], strides=[1 << 30, 1 << 30])
    yield "kernel", one("MaxPool", [1, 8, 64, 64], kernel_shape=[1 << 20] * 2, pads=[1 << 19] * 4)
    yield "dilation", one("MaxPool", [1, 8, 64, 64], kernel_shape=[2, 2], dilations=[1 << 40] * 2)
    yield "resize", one("Resize", [1, 8, 8, 8], "", "f", weights=[("f", np.float32([1, 1, 1000, 1000]))], mode="nearest")
    yield "resize_host", on_host("Resize", [1, 8, 8, 8], "", "f", weights=[("f", np.float32([1, 1, 4000, 4000]))], mode="linear")
    yield "tile", one("Tile", [1, 8, 8, 8], "t", weights=[("t", I64(1, 1, 1 << 15, 1 << 15))])
    yield "expand", one("Expand", [1, 8, 1, 1], "t", weights=[("t", I64(1, 8, 1 << 15, 1 << 15))])
    yield "expand_host", on_host("Expand", [1, 8, 1, 1], "t", weights=[("t", I64(1, 8, 1 << 14, 1 << 14))])
    fill = helper.make_node("ConstantOfShape", ["t"], ["c"])
    yield "constant", around([fill, helper.make_node("Add", ["d", "c"], ["r"])], [1, 8, 8, 8], [("t", I64(1 << 30, 1 << 30))])
    span = helper.make_node("Range", ["a", "b", "c"], ["t"])
    yield "range", around([span, helper.make_node("Reshape", ["d", "t"], ["r"])], [1, 8, 8, 8],
                          [("a", np.int64(0)), ("b", np.int64(1 << 62)), ("c", np.int64(1))])
    names = ["d"] + [f"c{i}" for i in range(40)] + ["r"]
    yield "doubling", around([helper.make_node("Concat", [a, a], [b], axis=1) for a, b in zip(names, names[1:])], [1, 8, 8, 8])
    yield "doubling_rows", around([helper.make_node("Concat", [a, a], [b], axis=2) for a, b in zip(names, names[1:])], [1, 8, 8, 8])
    yield "adding", around([helper.make_node("Add", [a, a], [b]) for a, b in zip(names, names[1:])], [1, 8, 8, 8])


def chain(count, name):
    names = ["d"] + [f"c{i}" for i in range(count - 1)] + ["r"]
    return [helper.make_node("Relu", [a], [b], name(i)) for i, (a, b) in enumerate(zip(names, names[1:]))]


@makes("onnx")
def long_networks():
    yield "same_names", around(chain(25_000, lambda i: "n"), [1, 8])
    yield "no_names", around(chain(25_000, lambda i: ""), [1, 8])
    yield "long_chain", around(chain(20_000, lambda i: f"n{i}"), [1, 8])
    yield "long_name", around(chain(1, lambda i: "n" * 900_000), [1, 8])
    yield "escapes", around(chain(3_000, lambda i: "\x1b[2J\u202e"), [1, 8])
    yield "unknown", around([helper.make_node(f"Magic{i}", ["d"], [f"m{i}"]) for i in range(15_000)], [1, 8], last="d")
    yield "undefined", around([helper.make_node("Relu", [f"u{i}"], [f"m{i}"]) for i in range(15_000)], [1, 8], last="d")
    yield "same_outputs", around([helper.make_node("Relu", ["d"], ["r"]) for _ in range(30_000)], [1, 8])
    yield "many_inputs", around([helper.make_node("Sum", ["d"] * 100_000, ["r"])], [1, 8])
    yield "many_joined", around([helper.make_node("Concat", ["d"] * 100_000, ["r"], axis=1)], [1, 8])
    yield "many_parts", around([helper.make_node("Split", ["d"], ["r"] + [f"p{i}" for i in range(50_000)], axis=1)], [1, 50_001])
    yield "weights", around([], [1, 8], [(f"w{i}", np.zeros(1, np.float32)) for i in range(20_000)], last="d")
    yield "same_weights", around([], [1, 8], [("w", np.zeros(1, np.float32))] * 20_000, last="d")
    yield "axes", one("Relu", [1] * 100_000)
    yield "outputs", network([helper.make_node("Relu", ["x"], ["y"])], [1, 8], outputs=["y"] * 50_000)
    yield "loop", network([helper.make_node("Relu", ["b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])] * 10_000, [1, 8])
    wide = [helper.make_node("Relu", ["d"], [f"c{i}"]) for i in range(5_000)]
    yield "wide", around([*wide, helper.make_node("Concat", [f"c{i}" for i in range(5_000)], ["r"], axis=1)], [1, 8, 1, 1])


@makes("onnx")
def external_data():
    """Twenty tensors that name one file of holes, 1 GiB, which scripts/try_hostile.py lays beside."""
    names = [f"w{i}" for i in range(20)]
    weights = []
    for name in names:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[1 << 28], data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="holes.bin")
        weights.append(tensor)
    nodes = [helper.make_node("Add", ["d" if i == 0 else f"c{i - 1}", name], [f"c{i}"]) for i, name in enumerate(names)]
    model = onnx.ModelProto.FromString(around(nodes, [1 << 28], last="c19"))
    model.graph.initializer.extend(weights)
    yield "external", model.SerializeToString()


def all_files():
    """(kind, name, bytes), each below 1 MB."""
    for kind, maker in MAKERS:
        for name, content in maker():
            assert len(content) < 1_000_000, (name, len(content))
            yield kind, name, content
