"""Builds quantized ONNX networks (QDQ form, NCHW, opset 13) layer by layer, running each layer as it is added.

    net = Network("tiny", Options())
    x = net.input("input", 3, 32, 32)
    x = net.conv("conv1", x, 16, 3, stride=2, act="relu")     # Conv, Relu, QuantizeLinear, DequantizeLinear
    net.output("logits", net.fc("fc", net.global_average("gap", x), 10))
    onnx.save(net.model(), "tiny.onnx")

Weights are integers of a bell shape with standard deviation 37 (He's, up to the scale). Their scale takes the layer's
output to a standard deviation of about 1 and the bias centres each channel, as batch normalization folded into
the convolution does; without that, channels of a deep random network die. The scale of an activation holds 99.9 % of what a
seeded input gives there. A layer that is mostly zero, mostly saturated or nearly constant stops the script.

Everything is exact integer arithmetic, or float64 done one element at a time, on a random stream that numpy keeps
stable; so the bytes of a model depend neither on the machine nor on its BLAS.
"""
import dataclasses
import hashlib
import math

import numpy as np
import onnx
from onnx import TensorProto, helper

WEIGHT_SPREAD = 37  # standard deviation of the integer weights
EXACT_FLOAT32 = 1 << 24  # sums of integers below this are exact in float32, in any order
KEPT = 0.999  # share of an activation's values that its scale must hold
JOINED_SCALE = 2.0**-5  # of the parts of a concatenation: values of deviation 1 up to 4, and no requantization


@dataclasses.dataclass(frozen=True)
class Options:
    float_scales: bool = False  # default: powers of two, zero points 0; else any float and any zero point
    per_channel: bool = False  # weight scales one a channel instead of one a tensor
    seed: int = 1


@dataclasses.dataclass(frozen=True)
class Activation:
    name: str  # of the dequantized tensor; the int8 one is name + "_q"
    values: np.ndarray  # int8, C x H x W
    scale: float
    zero: int
    flat: bool = False  # 1 x C in the file, else 1 x C x H x W

    def real(self):
        return (self.values.astype(np.float64) - self.zero) * self.scale


def random_bytes(count, *words):
    """`count` bytes of the stream that `words` name; numpy promises PCG64's raw stream for all versions."""
    digest = hashlib.sha256(repr(words).encode()).digest()
    generator = np.random.PCG64(np.random.SeedSequence(int.from_bytes(digest[:16], "little")))
    return generator.random_raw(-(-count // 8)).astype("<u8").view(np.uint8)[:count]


def bell(count, *words):
    """int8 in -126..126, symmetric, standard deviation 36.9: sums of four uniform draws."""
    out = np.empty(count, np.int8)
    step = 1 << 22
    for start in range(0, count, step):
        n = min(step, count - start)
        b = (random_bytes(4 * n, start, *words) & 63).view(np.int8)
        out[start : start + n] = b[0::4] + b[1::4] - b[2::4] - b[3::4]
    return out


def nearest_power_of_two(x):
    mantissa, exponent = math.frexp(x)  # x = mantissa * 2^exponent, mantissa in [0.5, 1)
    return math.ldexp(1.0, exponent if mantissa >= math.sqrt(0.5) else exponent - 1)


def power_of_two_above(x):
    mantissa, exponent = math.frexp(x)
    return math.ldexp(1.0, exponent - 1 if mantissa == 0.5 else exponent)


def float32(x):
    return float(np.float32(x))


def quantile(values, share):
    """The smallest of `values` (a sample, where they are many) that `share` of them do not pass."""
    flat = values.reshape(-1)
    flat = flat[:: max(1, flat.size // 250_000)]
    at = min(flat.size - 1, int(share * flat.size))
    return float(np.partition(flat, at)[at])


def quantize(real, scale, zero):
    return np.clip(np.rint(real / scale) + zero, -128, 127).astype(np.int8)


def exact_product(weights, columns):
    """weights (M x K, int8) times columns (K x N, int8) as int32, through float32 where that is exact."""
    largest = int(np.abs(columns.astype(np.int16)).max(initial=1))
    limit = max(1, EXACT_FLOAT32 // largest)
    total, start = None, 0
    while start < weights.shape[1]:
        sums = np.abs(weights[:, start:].astype(np.int32)).cumsum(axis=1).max(axis=0)
        end = start + max(1, int(np.searchsorted(sums, limit)))
        part = weights[:, start:end].astype(np.float32) @ columns[start:end].astype(np.float32)
        total = part.astype(np.int32) if total is None else total + part.astype(np.int32)
        start = end
    return total


def convolve(x, weights, stride, pads, group):
    """int32 sums of a convolution: x is C x H x W less its zero point (int16 at most 255 in size)."""
    cout, cin, kh, kw = weights.shape
    top, left, bottom, right = pads
    padded = np.pad(x, ((0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (kh, kw), (1, 2))[:, ::stride, ::stride]
    height, width = windows.shape[1:3]
    out = np.empty((cout, height, width), np.int32)
    if group == x.shape[0] == cout:  # depth-wise
        out[:] = 0
        for i in range(kh):
            for j in range(kw):
                out += weights[:, 0, i, j, None, None].astype(np.int32) * windows[..., i, j]
        return out
    matrix = weights.reshape(cout, -1)
    rows = max(1, (1 << 23) // (cin * kh * kw * width))  # output rows at a time: bounds the memory
    for y in range(0, height, rows):
        block = windows[:, y : y + rows].transpose(0, 3, 4, 1, 2).reshape(matrix.shape[1], -1)
        out[:, y : y + rows] = exact_product(matrix, block).reshape(cout, -1, width)
    return out


class Network:
    def __init__(self, name, options):
        self.name, self.options = name, options
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.macs = self.weight_bytes = 0

    # ---------------------------------------------------------------- layers
    def input(self, name, *shape):
        """`shape` is C, H, W of an image, or the length of a vector."""
        values = random_bytes(math.prod(shape), self.options.seed, "input").view(np.int8)
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, *shape)))
        scale, zero = (float32(0.0187), -5) if self.options.float_scales else (2.0**-6, 0)
        flat = len(shape) == 1
        values = values.reshape((*shape, 1, 1) if flat else shape)
        return self._quantized(name + "_0", name, values, scale, zero, flat)

    def conv(self, name, x, cout, kernel, stride=1, pads=None, group=1, act=None, joined=False, live=(1, 1), biased=False):
        """`pads`: one number for all sides, or (top, left, bottom, right); default half the kernel. `joined`: the
        output is part of a concatenation whose parts share one scale (with power-of-two scales). `live`: n of each m
        output channels; the others have weights of zero, and no bias but where they are `biased`."""
        kh, kw = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        pads = (kh // 2, kw // 2) * 2 if pads is None else (pads,) * 4 if isinstance(pads, int) else pads
        weights = self._weights(name, (cout, x.values.shape[0] // group, kh, kw))
        weights[np.arange(cout) % live[1] >= live[0]] = 0
        sums = convolve(x.values.astype(np.int16) - x.zero, weights, stride, pads, group)
        self.macs += sums.size * weights[0].size
        attributes = dict(kernel_shape=[kh, kw], strides=[stride] * 2, pads=list(pads), group=group)
        return self._weighted("Conv", name, x, weights, sums, attributes, act, joined, biased)

    def depthwise(self, name, x, kernel, stride=1, act=None):
        return self.conv(name, x, x.values.shape[0], kernel, stride, group=x.values.shape[0], act=act)

    def fc(self, name, x, cout, act=None):
        """A fully connected layer on all of `x`, flattened first where it is an image."""
        x = x if x.flat else self._flatten(x)
        weights = self._weights(name, (cout, x.values.size))
        sums = exact_product(weights, x.values.reshape(-1, 1).astype(np.int16) - x.zero).reshape(cout, 1, 1)
        self.macs += weights.size
        return self._weighted("Gemm", name, x, weights, sums, dict(transB=1), act, False)

    def add(self, name, a, b, act=None):
        real = self._op("Add", name, [a.name, b.name], a.real() + b.real(), {}, act)
        return self._calibrated(name, real)

    def max_pool(self, name, x, kernel, stride, pad=0):
        top = np.pad(x.values, ((0, 0), (pad, pad), (pad, pad)), constant_values=-128)
        windows = np.lib.stride_tricks.sliding_window_view(top, (kernel, kernel), (1, 2))
        values = windows[:, ::stride, ::stride].max(axis=(3, 4))
        attributes = dict(kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)
        self._node("MaxPool", name, [x.name], name + "_f", **attributes)
        return self._quantized(name, name + "_f", values, x.scale, x.zero)

    def average_pool(self, name, x, kernel, pad):
        """Stride 1; the border counts as zeros."""
        padded = np.pad(x.values.astype(np.int64) - x.zero, ((0, 0), (pad, pad), (pad, pad)))
        sums = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (1, 2)).sum(axis=(3, 4))
        attributes = dict(kernel_shape=[kernel] * 2, strides=[1, 1], pads=[pad] * 4, count_include_pad=1)
        real = self._op("AveragePool", name, [x.name], sums * x.scale / kernel**2, attributes, None)
        return self._calibrated(name, real)

    def global_average(self, name, x):
        sums = (x.values.astype(np.int64) - x.zero).sum(axis=(1, 2), keepdims=True)
        mean = sums * x.scale / (x.values.shape[1] * x.values.shape[2])
        return self._calibrated(name, self._op("GlobalAveragePool", name, [x.name], mean, {}, None))

    def concat(self, name, parts):
        real = np.concatenate([p.real() for p in parts])
        self._last = name + "_f"
        self._node("Concat", name, [p.name for p in parts], self._last, axis=1)
        scales = {(p.scale, p.zero) for p in parts}
        if len(scales) == 1:
            return self._quantized(name, self._last, np.concatenate([p.values for p in parts]), *scales.pop())
        return self._calibrated(name, real)

    def output(self, name, x):
        """Makes `x` the output `name` of the graph."""
        last = self.nodes[-1]
        assert last.output[0] == x.name
        last.output[0] = name
        shape = (1, x.values.size) if x.flat else (1, *x.values.shape)
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, producer_name="heddle make_models.py", ir_version=8,
                                  opset_imports=[helper.make_opsetid("", 13)])
        onnx.checker.check_model(model)
        return model

    # ------------------------------------------------------------ one layer's parts
    def _weights(self, name, shape):
        self.weight_bytes += math.prod(shape)
        return bell(math.prod(shape), self.options.seed, name).reshape(shape)

    def _weighted(self, op, name, x, weights, sums, attributes, act, joined, biased=False):
        """Chooses bias and weight scale for the layer whose integer sums are given, and emits the layer."""
        flat = sums.reshape(sums.shape[0], -1).astype(np.int64)
        mean = flat.sum(axis=1) // flat.shape[1] if flat.shape[1] > 1 else np.zeros(len(flat), np.int64)
        live = weights.reshape(len(weights), -1).any(axis=1)
        spread = max(1, int(quantile(np.abs(flat - mean[:, None])[live], 0.68)))
        shift = (random_bytes(len(flat), self.options.seed, name, "bias").astype(np.int64) - 128) * spread // 256
        bias = np.where(live | biased, shift - mean, 0)
        scales = self._weight_scales(x.scale, flat - mean[:, None], spread)
        sums = sums + bias[:, None, None]
        assert np.abs(sums).max() < 1 << 31 and np.abs(bias).max() < 1 << 31, name
        per_channel = dict(axis=0) if self.options.per_channel else {}
        self._constant(name + "_weight_q", weights, TensorProto.INT8)
        self._constant(name + "_weight_scale", scales, TensorProto.FLOAT)
        self._constant(name + "_weight_zero", np.zeros(scales.shape, np.int8), TensorProto.INT8)
        self._constant(name + "_bias_q", bias, TensorProto.INT32)
        # The product is taken in float32, as ONNX Runtime does to fold the layer.
        sum_scales = (np.float32(x.scale) * scales.astype(np.float32)).astype(np.float32)
        self._constant(name + "_bias_scale", sum_scales, TensorProto.FLOAT)
        suffixes = ("_q", "_scale", "_zero")
        self._node("DequantizeLinear", name + "_weight_dq", [name + "_weight" + s for s in suffixes],
                   name + "_weight", **per_channel)
        self._node("DequantizeLinear", name + "_bias_dq", [name + "_bias" + s for s in suffixes[:2]],
                   name + "_bias", **per_channel)
        real = sums * sum_scales.astype(np.float64).reshape(-1, 1, 1)
        real = self._op(op, name, [x.name, name + "_weight", name + "_bias"], real, attributes, None if act == "silu" else act)
        if act == "silu":
            return self._silu(name, self._calibrated(name + "_linear", real))
        if joined and not self.options.float_scales:
            return self._quantized(name, self._last, quantize(real, JOINED_SCALE, 0), JOINED_SCALE, 0)
        return self._calibrated(name, real, flat=op == "Gemm")

    def _weight_scales(self, input_scale, centred, spread):
        """float32 scales that take the layer's deviation to 1, exactly or to the nearest power of two."""
        spreads = [spread]
        if self.options.per_channel:
            spreads = [max(quantile(np.abs(channel), 0.68), spread / 8) for channel in centred]
        wanted = [1.0 / (s * input_scale) for s in spreads]
        if not self.options.float_scales:
            wanted = [nearest_power_of_two(w) for w in wanted]
        scales = np.array(wanted, np.float32)
        return scales if self.options.per_channel else scales.reshape(())

    def _op(self, op, name, inputs, real, attributes, act):
        """Emits the operator and its activation function; returns the activated values."""
        self._last = name + "_f"
        self._node(op, name, inputs, self._last, **attributes)
        if act is None:
            return real
        self._last = name + "_act"
        if act == "relu":
            self._node("Relu", name + "_relu", [name + "_f"], self._last)
            return np.maximum(real, 0)
        assert act == "relu6"
        for bound, value in (("zero", 0.0), ("six", 6.0)):
            if not any(i.name == bound for i in self.initializers):
                self._constant(bound, np.array(value), TensorProto.FLOAT)
        self._node("Clip", name + "_relu6", [name + "_f", "zero", "six"], self._last)
        return np.clip(real, 0, 6)

    def _silu(self, name, x):
        """x times its sigmoid, which is rounded as quantizers write it."""
        reals = (np.arange(-128, 128) - x.zero) * x.scale
        scale, zero = (float32(1 / 256), -128) if self.options.float_scales else (2.0**-7, 0)
        values = quantize(1 / (1 + np.exp(-reals)), scale, zero)[x.values.astype(np.int16) + 128]
        self._node("Sigmoid", name + "_sigmoid", [x.name], name + "_gate_f")
        gate = self._quantized(name + "_gate", name + "_gate_f", values, scale, zero)
        return self._calibrated(name, self._op("Mul", name + "_silu", [x.name, gate.name], x.real() * gate.real(), {}, None))

    def _calibrated(self, name, real, flat=False):
        low, high = min(0.0, -quantile(-real, KEPT)), max(0.0, quantile(real, KEPT))
        if self.options.float_scales:
            scale = float32((high - low) / 255)
            zero = int(np.rint(-128 - low / scale))
        else:
            scale, zero = power_of_two_above(max(high, -low) / 127), 0
        return self._quantized(name, self._last, quantize(real, scale, zero), scale, zero, flat)

    def _quantized(self, name, source, values, scale, zero, flat=False):
        """Emits the QuantizeLinear and DequantizeLinear that make `source` the activation `name`."""
        check_alive(self.name, name, values, zero)
        self._constant(name + "_scale", np.array(scale), TensorProto.FLOAT)
        self._constant(name + "_zero", np.array(zero), TensorProto.INT8)
        parameters = [name + "_scale", name + "_zero"]
        self._node("QuantizeLinear", name + "_quantize", [source, *parameters], name + "_q")
        self._node("DequantizeLinear", name + "_dequantize", [name + "_q", *parameters], name)
        return Activation(name, values, scale, zero, flat)

    def _flatten(self, x):
        name = x.name + "_flat"
        self._node("Flatten", name, [x.name], name + "_f", axis=1)
        return self._quantized(name, name + "_f", x.values.reshape(-1, 1, 1), x.scale, x.zero, True)

    def _node(self, op, name, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=name, **attributes))

    def _constant(self, name, values, kind):
        dtype = {TensorProto.INT8: "<i1", TensorProto.INT32: "<i4", TensorProto.FLOAT: "<f4"}[kind]
        raw = np.ascontiguousarray(values, dtype).tobytes()
        self.initializers.append(helper.make_tensor(name, kind, values.shape, raw, raw=True))


def check_alive(network, layer, values, zero):
    """A tensor that says little would hide errors of whatever computes it."""
    count = values.size
    quiet = np.count_nonzero(values == zero) / count
    clipped = np.count_nonzero((values == 127) | (values == -128) & (zero != -128)) / count
    different = np.unique(values).size
    if quiet > 0.95 or clipped > 0.25 or different < min(16, count // 2):
        raise SystemExit(f"make_models: {network}, layer {layer} is not alive: {quiet:.1%} zero, "
                         f"{clipped:.1%} saturated, {different} different values")
