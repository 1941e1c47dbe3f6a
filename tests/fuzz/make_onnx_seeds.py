#!/usr/bin/env python3
"""Writes the seeds of fuzz_onnx: one small model for each family of operators.

    /usr/bin/python3 tests/fuzz/make_onnx_seeds.py tests/fuzz/corpus/onnx    # needs python3-onnx
"""
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(1)


class Model:
    """Collects nodes and constants; quantized values are int8 with one scale."""

    def __init__(self, name, opset=13):
        self.name, self.opset, self.nodes, self.constants, self.count = name, opset, [], [], 0

    def constant(self, array):
        self.count += 1
        name = f"c{self.count}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        self.count += 1
        names = [f"{kind}{self.count}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def scale(self, value=0.25):
        return self.constant(np.float32(value)), self.constant(np.int8(0))

    def requantized(self, x, value=0.25):
        scale, zero = self.scale(value)
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, scale, zero), scale, zero)

    def weights(self, *shape):
        scale, zero = self.scale(0.0625)
        data = self.constant(random.integers(-9, 9, shape).astype(np.int8))
        return self.op("DequantizeLinear", data, scale, zero)

    def write(self, folder, output, shape=(1, 8, 6, 5), kind=TensorProto.FLOAT):
        graph = helper.make_graph(
            self.nodes, self.name, [helper.make_tensor_value_info("x", kind, list(shape))],
            [helper.make_tensor_value_info(output, kind, None)], self.constants)
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=7)
        with open(f"{folder}/{self.name}.onnx", "wb") as file:
            file.write(model.SerializeToString())


def conv(folder):
    m = Model("conv")
    x = m.requantized("x")
    x = m.op("Conv", x, m.weights(8, 8, 3, 3), pads=[1, 1, 1, 1], kernel_shape=[3, 3])
    x = m.requantized(m.op("LeakyRelu", x, alpha=0.125))
    x = m.requantized(m.op("Clip", m.op("Conv", x, m.weights(8, 1, 3, 3), group=8, auto_pad="SAME_UPPER",
                                        strides=[2, 2]), m.constant(np.float32(0)), m.constant(np.float32(6))))
    x = m.op("BatchNormalization", m.op("Conv", x, m.weights(4, 4, 1, 1), group=2),
             *[m.constant(np.abs(random.random(4)).astype(np.float32) + 0.5) for _ in range(4)])
    m.write(folder, m.requantized(m.op("PRelu", x, m.constant(np.ones((4, 1, 1), np.float32) * 0.5))))


def head(folder):
    m = Model("head")
    x = m.requantized(m.op("GlobalAveragePool", m.op("MaxPool", m.requantized("x"), kernel_shape=[2, 2],
                                                     strides=[2, 2], ceil_mode=1)))
    x = m.requantized(m.op("Gemm", m.op("Flatten", x), m.weights(10, 8), transB=1))
    m.write(folder, m.op("Softmax", x, axis=1))


def flat_gemm(folder):
    m = Model("flat_gemm")
    x = m.op("Transpose", m.requantized("x"), perm=[0, 2, 3, 1])
    x = m.op("Reshape", x, m.constant(np.array([1, -1])))
    m.write(folder, m.requantized(m.op("MatMul", x, m.weights(240, 3))))


def shuffle(folder):
    m = Model("shuffle", 12)
    x = m.requantized("x")
    x = m.op("Concat", x, m.requantized(m.op("Sigmoid", x), 0.0078125), axis=1)
    x = m.op("Reshape", x, m.constant(np.array([1, 2, 8, 6, 5])))
    x = m.op("Reshape", m.op("Transpose", x, perm=[0, 2, 1, 3, 4]), m.constant(np.array([1, 16, 6, 5])))
    a, b = m.op("Split", m.requantized(x), outputs=2, axis=1, split=[5, 11])
    b = m.op("Slice", b, *[m.constant(np.array(v)) for v in ([1, -1], [6, -9], [1, 2], [1, -1])])
    m.write(folder, m.requantized(m.op("Add", a, m.op("Expand", b, m.constant(np.array([1, 5, 6, 5]))))))


def resize(folder):
    m = Model("resize", 13)
    x = m.requantized("x")
    shape = m.op("Shape", x)
    part = m.op("Gather", shape, m.constant(np.array(2)), axis=0)
    two = m.op("Unsqueeze", m.op("Mul", part, m.constant(np.array(2))), m.constant(np.array([0])))
    sizes = m.op("Concat", m.op("Slice", shape, m.constant(np.array([0])), m.constant(np.array([2]))), two,
                 m.op("Cast", two, to=7), axis=0)
    y = m.op("Resize", x, "", "", sizes, mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric")
    y = m.op("Pad", y, m.constant(np.array([0, 0, 1, 0, 0, 0, 0, 2])))
    m.write(folder, m.requantized(m.op("DepthToSpace", y, blocksize=2)))


def elementwise(folder):
    m = Model("elementwise")
    x = m.requantized("x")
    gate = m.requantized(m.op("ReduceMean", x, axes=[2, 3], keepdims=1))
    y = m.requantized(m.op("Mul", x, m.op("HardSigmoid", m.requantized(gate))))
    y = m.requantized(m.op("Mul", x, m.op("Tanh", x)))
    y = m.requantized(m.op("Sub", y, m.requantized(m.op("Mul", x, m.requantized(m.op("HardSwish", gate))))))
    y = m.op("AveragePool", y, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    m.write(folder, m.requantized(m.op("Add", m.requantized(y), m.weights(1, 8, 6, 5))))


def operator_form(folder):
    m = Model("operator_form")
    s, z = m.scale()
    w = m.constant(random.integers(-9, 9, (4, 8, 1, 1)).astype(np.int8))
    q = m.op("QuantizeLinear", "x", s, z)
    q = m.op("QLinearConv", q, s, z, w, s, z, s, z, m.constant(np.arange(4, dtype=np.int32)))
    for kind in ("QLinearSigmoid", "QLinearLeakyRelu"):
        q = m.op(kind, q, s, z, s, z, domain="com.microsoft")
    q = m.op("QLinearConcat", s, z, q, s, z, q, s, z, axis=1, domain="com.microsoft")
    q = m.op("QLinearAdd", q, s, z, q, s, z, s, z, domain="com.microsoft")
    q = m.op("QLinearAveragePool", q, s, z, s, z, kernel_shape=[2, 2], domain="com.microsoft")
    q = m.op("QLinearGlobalAveragePool", q, s, z, s, z, channels_last=0, domain="com.microsoft")
    g = m.constant(random.integers(-9, 9, (8, 3)).astype(np.int8))
    q = m.op("QGemm", m.op("Flatten", q), s, z, g, s, z, "", s, z, domain="com.microsoft")
    m.write(folder, m.op("DequantizeLinear", q, s, z))


def integer_form(folder):
    m = Model("integer_form")
    s, z = m.scale()
    w = m.constant(random.integers(-9, 9, (4, 8, 3, 3)).astype(np.int8))
    y = m.op("Cast", m.op("ConvInteger", m.op("QuantizeLinear", "x", s, z), w, z), to=1)
    m.write(folder, m.requantized(m.op("Relu", m.op("Mul", y, m.constant(np.float32(0.125))))))


def anchors(folder):
    m = Model("anchors", 11)
    x = m.requantized("x")
    y = m.requantized(m.op("Conv", x, m.weights(8, 8, 2, 1), strides=[2, 5]))
    flat = [m.op("Reshape", m.op("Transpose", v, perm=[0, 2, 3, 1]), m.constant(np.array([1, -1, 4])))
            for v in (x, y)]
    m.write(folder, m.requantized(m.op("Concat", *flat, axis=1)))


def hostile(folder, name, kind, *shapes, domain="", constants=(), quantizes=True, **attributes):
    """A node with operands that no operator of its kind takes, behind a quantized input."""
    m = Model("hostile_" + name, opset=13)
    inputs = [m.requantized("x") if quantizes else "x"]
    inputs += [m.constant(np.full(shape, 0.5, np.float32)) for shape in shapes]
    inputs += [m.constant(array) for array in constants]
    y = m.op(kind, *inputs, domain=domain, **attributes)
    m.write(folder, m.requantized(y), (1, 8, 4, 4))


def hostile_operands(folder):
    lowest = np.iinfo(np.int64).min
    hostile(folder, "prelu_alone", "PRelu")
    hostile(folder, "relu_of_two", "Relu", (2, 1, 8, 4, 4))
    hostile(folder, "add_of_one", "Add")
    hostile(folder, "short_parameters", "BatchNormalization", (8,), (8,), (3,), (8,))
    hostile(folder, "empty_parameters", "BatchNormalization", (0,), (0,), (0,), (0,))
    hostile(folder, "short_scales", "QuantizeLinear", (3,), quantizes=False)
    hostile(folder, "float_indices", "Gather", (2,))
    hostile(folder, "index_out_of_range", "Gather", constants=[np.array([4])], axis=3)
    hostile(folder, "lowest_pads", "Pad", constants=[np.array([0, 0, lowest, 0, 0, 0, lowest, 0])])
    hostile(folder, "long_pads", "Pad", constants=[np.array([0, 0, 4000, 4000, 0, 0, 4000, 4000])])
    hostile(folder, "long_strides", "MaxPool", kernel_shape=[1, 1], strides=[1 << 21, 1])


def hostile_emptied(folder):
    for mode in ("reflect", "edge", "wrap"):
        m = Model("hostile_emptied_" + mode)
        none = m.op("Slice", m.requantized("x"), *[m.constant(np.array(v)) for v in ([0], [0], [3])])
        m.write(folder, m.op("Pad", none, m.constant(np.array([0, 0, 0, 1, 0, 0, 0, 1])), mode=mode))


def hostile_index(folder):
    """The host takes a row whose number is an element of the input, after the array's work."""
    m = Model("hostile_index_at_run_time")
    number = m.op("Cast", m.op("ReduceMax", "x", keepdims=0), to=TensorProto.INT64)
    rows = m.requantized(m.op("MatMul", m.requantized("x"), m.weights(3, 4)))
    m.write(folder, m.op("Gather", rows, number, axis=1), (2, 3))


def hostile_versions(folder):
    m = Model("hostile_opset", opset=-1)
    m.write(folder, m.requantized(m.op("Relu", m.requantized("x"))))


def hostile_shapes(folder):
    for name, shape in {"long_axis": (1, 8, 1 << 22, 1), "many_elements": (1, 8, 1 << 13, 1 << 13)}.items():
        m = Model("hostile_" + name)
        m.write(folder, m.requantized(m.op("Relu", m.requantized("x"))), shape)


if __name__ == "__main__":
    for make in (conv, head, flat_gemm, shuffle, resize, elementwise, operator_form, integer_form, anchors,
                 hostile_operands, hostile_emptied, hostile_index,
                 hostile_versions, hostile_shapes):
        make(sys.argv[1])
