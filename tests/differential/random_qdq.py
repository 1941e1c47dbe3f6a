"""Random quantized networks in QDQ form: every operator that becomes an integer one, between QuantizeLinear nodes.

  random_qdq.network(seed) -> onnx.ModelProto

Real values keep a spread of about 1, so that scales near 1/40 use most of int8 and some values saturate.
"""
import math

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 13


class Network:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.powers_of_two = self.chance(0.5)
        self.unsigned = self.chance(0.3)
        self.nodes, self.constants = [], []
        self.count = 0

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, choices):
        return choices[self.random.integers(len(choices))]

    def between(self, low, high):
        return int(self.random.integers(low, high + 1))

    def constant(self, array):
        name = self.fresh("c")
        self.constants.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def node(self, op, inputs, outputs=1, **attributes):
        names = [self.fresh(op.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    # --- quantization

    def scale(self, about):
        value = about * 2.0 ** self.random.uniform(-0.7, 0.7)
        return numpy.float32(2.0 ** round(math.log2(value)) if self.powers_of_two else value)

    def quantize(self, name, about=1 / 40):
        """name -> QuantizeLinear -> DequantizeLinear."""
        low, high, kind = (0, 255, numpy.uint8) if self.unsigned else (-128, 127, numpy.int8)
        middle = (low + high + 1) // 2
        zero = self.pick([middle, middle, low, self.between(middle - 60, middle + 60)])
        parameters = [self.constant(self.scale(about)), self.constant(kind(zero))]
        quantized = self.node("QuantizeLinear", [name] + parameters)
        return self.node("DequantizeLinear", [quantized] + parameters)

    def weights(self, shape, fan_in, axis):
        """int8 weights of spread 1/sqrt(fan_in), with one scale or one for each output channel, and a bias."""
        channels = shape[axis]
        spread = 1 / math.sqrt(fan_in)
        scales = [self.scale(spread / 50) for _ in range(channels)]
        if self.chance(0.5):
            scales = scales[:1]
        per_channel = len(scales) > 1
        values = self.random.normal(0, 50, shape).clip(-127, 127).round().astype(numpy.int8)
        scale = numpy.array(scales if per_channel else scales[0], numpy.float32)
        zero = numpy.zeros(scale.shape, numpy.int8)
        inputs = [self.constant(values), self.constant(scale), self.constant(zero)]
        return self.node("DequantizeLinear", inputs, **({"axis": axis} if per_channel else {})), scale

    def bias(self, x_scale, weight_scale, channels):
        scale = numpy.float32(x_scale) * weight_scale
        steps = self.random.normal(0, 0.3, channels) / scale
        values = steps.round().clip(-2**30, 2**30).astype(numpy.int32)
        per_channel = scale.ndim == 1
        inputs = [self.constant(values), self.constant(numpy.asarray(scale, numpy.float32))]
        inputs.append(self.constant(numpy.zeros(scale.shape, numpy.int32)))
        return self.node("DequantizeLinear", inputs, **({"axis": 0} if per_channel else {}))

    def scale_of(self, dequantized):
        node = next(n for n in self.nodes if n.output[0] == dequantized)
        constant = next(c for c in self.constants if c.name == node.input[1])
        return numpy_helper.to_array(constant)

    # --- operators: (name, shape) -> (name, shape), all between quantize nodes

    def window(self, extent):
        kernel = self.pick([1, 2, 3, 3, 5])
        dilation = self.pick([1, 1, 1, 2])
        span = dilation * (kernel - 1) + 1
        before, after = self.between(0, kernel - 1), self.between(0, kernel - 1)
        if extent + before + after < span:
            kernel, dilation, span = 1, 1, 1
            before = after = 0
        stride = self.pick([1, 1, 2, 3])
        return kernel, dilation, before, after, stride, (extent + before + after - span) // stride + 1

    def windows(self, shape, dilate=True):
        rows, columns = self.window(shape[2]), self.window(shape[3])
        attributes = {"kernel_shape": [rows[0], columns[0]], "strides": [rows[4], columns[4]],
                      "pads": [rows[2], columns[2], rows[3], columns[3]]}
        dilations = [rows[1], columns[1]]
        if not dilate:
            rows, columns = [((n + b + a - k) // s + 1) for n, (k, _, b, a, s, _) in zip(shape[2:], (rows, columns))]
            return attributes, [rows, columns]
        return dict(attributes, dilations=dilations), [rows[5], columns[5]]

    def conv(self, x, shape):
        attributes, extents = self.windows(shape)
        cin = shape[1]
        group = self.pick([1, 1, cin] + [g for g in range(2, cin) if cin % g == 0])
        cout = cin if group == cin else group * self.between(1, max(1, 40 // group))
        kernel = attributes["kernel_shape"]
        weights, scale = self.weights([cout, cin // group] + kernel, cin // group * kernel[0] * kernel[1], 0)
        inputs = [x, weights]
        if self.chance(0.7):
            inputs.append(self.bias(self.scale_of(x), scale, cout))
        name = self.activation(self.node("Conv", inputs, group=group, **attributes))
        return self.quantize(name), [1, cout] + extents

    def activation(self, name):
        kind = self.pick([None, None, "Relu", "Clip", "LeakyRelu"])
        if kind is None:
            return name
        if kind == "Clip":
            return self.node("Clip", [name, self.constant(numpy.float32(0)), self.constant(numpy.float32(1.5))])
        return self.node(kind, [name], **({"alpha": 0.125} if kind == "LeakyRelu" else {}))

    def unary(self, x, shape):
        kind = self.pick(["Sigmoid", "HardSigmoid", "HardSwish", "Relu", "LeakyRelu", "Tanh", "PRelu"])
        if kind == "PRelu":
            slopes = self.random.uniform(0, 1, (shape[1], 1, 1)).astype(numpy.float32)
            return self.quantize(self.node("PRelu", [x, self.constant(slopes)])), shape
        if kind == "HardSwish":  # an operator of its own from opset 14 on
            gate = self.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)
            return self.quantize(self.node("Mul", [self.quantize(gate, 1 / 255), x])), shape
        return self.quantize(self.node(kind, [x])), shape

    def max_pool(self, x, shape):
        attributes, extents = self.windows(shape, dilate=False)
        parameters = next(n for n in self.nodes if n.output[0] == x).input[1:]
        name = self.node("MaxPool", [x], **attributes)
        quantized = self.node("QuantizeLinear", [name, *parameters])
        return self.node("DequantizeLinear", [quantized, *parameters]), shape[:2] + extents

    def average_pool(self, x, shape):
        if self.chance(0.2):
            return self.quantize(self.node("GlobalAveragePool", [x]), 1 / 100), shape[:2] + [1, 1]
        attributes, extents = self.windows(shape, dilate=False)
        name = self.node("AveragePool", [x], count_include_pad=int(self.chance(0.5)), **attributes)
        return self.quantize(name), shape[:2] + extents

    def binary(self, x, shape):
        other = x if self.chance(0.2) else self.unary(x, shape)[0]
        if self.chance(0.2):
            values = self.random.normal(0, 1, [1, shape[1], 1, 1]).astype(numpy.float32)
            other = self.quantize(self.constant(values))
        return self.quantize(self.node(self.pick(["Add", "Sub", "Mul"]), [x, other]), 1 / 30), shape

    def concat(self, x, shape):
        other, other_shape = self.unary(x, shape)
        return self.quantize(self.node("Concat", [x, other], axis=1)), [1, shape[1] + other_shape[1]] + shape[2:]

    def split(self, x, shape):
        if shape[1] < 2:
            return self.unary(x, shape)
        first = self.between(1, shape[1] - 1)
        sizes = self.constant(numpy.array([first, shape[1] - first], numpy.int64))
        a, b = self.node("Split", [x, sizes], outputs=2, axis=1)
        return self.quantize(self.node("Concat", [b, a], axis=1)), shape

    def pad(self, x, shape):
        pads = [0, 0] + [self.between(0, 2) for _ in range(2)] + [0, 0] + [self.between(0, 2) for _ in range(2)]
        name = self.node("Pad", [x, self.constant(numpy.array(pads, numpy.int64))])
        return self.quantize(name), [1, shape[1], shape[2] + pads[2] + pads[6], shape[3] + pads[3] + pads[7]]

    def resize(self, x, shape):
        factors = [self.between(1, 3), self.between(1, 3)]
        scales = self.constant(numpy.array([1, 1] + factors, numpy.float32))
        name = self.node("Resize", [x, "", scales], mode="nearest", coordinate_transformation_mode="asymmetric",
                         nearest_mode="floor")
        return self.quantize(name), [1, shape[1], shape[2] * factors[0], shape[3] * factors[1]]

    def shuffle(self, x, shape):
        group = self.pick([g for g in range(1, shape[1] + 1) if shape[1] % g == 0])
        split = self.constant(numpy.array([1, group, shape[1] // group] + shape[2:], numpy.int64))
        name = self.node("Transpose", [self.node("Reshape", [x, split])], perm=[0, 2, 1, 3, 4])
        return self.quantize(self.node("Reshape", [name, self.constant(numpy.array(shape, numpy.int64))])), shape

    def slice(self, x, shape):
        starts = [self.between(0, n // 2) for n in shape[1:]]
        ends = [self.between(s + 1, n) for s, n in zip(starts, shape[1:])]
        name = self.node("Slice", [x, self.constant(numpy.array(starts, numpy.int64)),
                                   self.constant(numpy.array(ends, numpy.int64)),
                                   self.constant(numpy.array([1, 2, 3], numpy.int64))])
        return self.quantize(name), [1] + [e - s for s, e in zip(starts, ends)]

    def gemm(self, x, shape):
        features = shape[1] * shape[2] * shape[3]
        flat = self.node("Flatten", [x])
        out = self.between(1, 30)
        weights, scale = self.weights([out, features], features, 0)
        inputs = [flat, weights]
        if self.chance(0.7):
            inputs.append(self.bias(self.scale_of(x), scale, out))
        name = self.activation(self.node("Gemm", inputs, transB=1))
        return self.quantize(name), [1, out]

    def model(self, size):
        shape = [1, self.between(1, 12), self.between(3, 17), self.between(3, 17)]
        x, first = self.quantize("x"), shape
        steps = [self.conv, self.conv, self.conv, self.unary, self.max_pool, self.average_pool, self.binary, self.concat,
                 self.split, self.pad, self.resize, self.shuffle, self.slice]
        for _ in range(size):
            following, next_shape = self.pick(steps)(x, shape)
            if numpy.prod(next_shape) <= 20000:
                x, shape = following, next_shape
        if self.chance(0.4):
            x, shape = self.gemm(x, shape)
        used = {name for node in self.nodes for name in node.input}
        outputs = [node.output[0] for node in self.nodes
                   if node.op_type == "DequantizeLinear" and node.output[0] not in used]
        graph = helper.make_graph(self.nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, first)],
                                  [onnx.ValueInfoProto(name=name) for name in outputs], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def network(seed, size=8):
    return Network(seed).model(size)
