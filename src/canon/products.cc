// Conv, Gemm, MatMul and their integer forms become accumulators.
#include <algorithm>
#include <cmath>

#include "lowering.h"

namespace heddle::canon {

namespace {

// Which inputs of a node are what: x, its scale and zero point; weights, theirs; the result's; the
// bias.
struct Operands {
  std::size_t x = 0, xScale = 0, xZero = 0;
  std::size_t w = 1, wScale = 0, wZero = 0;
  std::size_t yScale = 0, yZero = 0, bias = 2;
};

Operands operandsOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::QLinearConv:
    case NodeKind::QLinearMatMul:
      return {.x = 0,
              .xScale = 1,
              .xZero = 2,
              .w = 3,
              .wScale = 4,
              .wZero = 5,
              .yScale = 6,
              .yZero = 7,
              .bias = 8};
    case NodeKind::QGemm:
      return {.x = 0,
              .xScale = 1,
              .xZero = 2,
              .w = 3,
              .wScale = 4,
              .wZero = 5,
              .yScale = 7,
              .yZero = 8,
              .bias = 6};
    case NodeKind::ConvInteger:
    case NodeKind::MatMulInteger:
      return {.x = 0, .xScale = 0, .xZero = 2, .w = 1, .wScale = 0, .wZero = 3, .bias = 99};
    default:
      return {};
  }
}

bool isInteger(NodeKind kind) {
  return kind == NodeKind::ConvInteger || kind == NodeKind::MatMulInteger;
}
bool isQuantized(NodeKind kind) {
  return kind == NodeKind::QLinearConv || kind == NodeKind::QLinearMatMul ||
         kind == NodeKind::QGemm;
}

// Per-channel scale and stored zero point of `outputs` channels.
void readWeightScales(const ConstantReal& constant, std::int64_t outputs, float inputScale,
                      Accumulator& sum) {
  if (constant.type != DataType::Int8 && constant.type != DataType::Uint8)
    throw Unsupported("its weights are not quantized");
  sum.weights.bytes = constant.bytes;
  sum.weights.fromUint8 = constant.type == DataType::Uint8;
  sum.weights.outputs = outputs;
  for (std::int64_t o = 0; o < outputs; ++o) {
    const std::size_t c = constant.scales.size() == 1 ? 0 : static_cast<std::size_t>(o);
    const std::int32_t zero = constant.zeros[c] - (sum.weights.fromUint8 ? 128 : 0);
    if (zero < -128 || zero > 127)
      throw Unsupported("a zero point outside of its type", "CANON004");
    sum.weights.zero.push_back(static_cast<std::int8_t>(zero));
    // One float32 product, as ONNX Runtime has it.
    sum.scale.push_back(double{inputScale * constant.scales[c]});
  }
  sum.offset.assign(static_cast<std::size_t>(outputs), 0);
  sum.bias.assign(static_cast<std::size_t>(outputs), 0);
}

}  // namespace

// Whether every window sees some of the tensor.
bool bordersWithinKernel(const Window& w) {
  const std::int64_t reachY = (w.kernelY - 1) * w.dilationY + 1;
  const std::int64_t reachX = (w.kernelX - 1) * w.dilationX + 1;
  return w.padTop < reachY && w.padBottom < reachY && w.padLeft < reachX && w.padRight < reachX;
}

// A Pad of real zeros before a convolution is the convolution's own border.
ProductInput Lowering::foldedPadding(const RealRef& ref, Window& window) {
  const auto* moved = std::get_if<Moved>(&real(ref.id).kind);
  const auto inOrder = [](const AxisMap& map, std::int64_t extent) {
    return map.size() == 1 && map[0].toStep == 1 && map[0].from == 0 && map[0].fromStep == 1 &&
           map[0].count == extent;
  };
  if (moved && moved->parts.size() == 1 && moved->fill == 0) {
    const MovedPart part = moved->parts[0];
    const Shape& from = real(part.source).shape;
    const Shape& to = real(ref.id).shape;
    if (inOrder(part.mapY, from.height) && inOrder(part.mapX, from.width) &&
        inOrder(part.mapC, from.channels) && from.channels == to.channels && part.mapC[0].to == 0) {
      const std::int64_t top = part.mapY[0].to, left = part.mapX[0].to;
      ProductInput inner =
          foldedPadding({part.source, layOut({1, from.channels, from.height, from.width},
                                             {Axis::Y, Axis::C, Axis::Y, Axis::X})},
                        window);
      window.padTop += top;
      window.padLeft += left;
      window.padBottom += to.height - from.height - top;
      window.padRight += to.width - from.width - left;
      return inner;
    }
  }
  return linearInput(ref);
}

ProductInput Lowering::linearInput(const RealRef& ref) {
  const RealRef function = mapped(ref);
  const auto [tensor, quantization] = linear(function);
  return {tensor, quantization, function.view};
}

// The window's border as a tensor of its own, where some window would see nothing else.
RealRef Lowering::padded(const RealRef& ref, const Window& window, const std::vector<Axis>& axes,
                         const Node& node) {
  Dims shape = ref.view.shape();
  std::vector<IndexPairs> maps(shape.size());
  for (std::size_t i = 2; i < shape.size(); ++i) {
    const bool rows = axes[i] == Axis::Y;
    const std::int64_t before = rows ? window.padTop : window.padLeft;
    spend(16 * shape[i]);
    for (std::int64_t at = 0; at < shape[i]; ++at) maps[i].emplace_back(before + at, at);
    shape[i] += before + (rows ? window.padBottom : window.padRight);
  }
  return indexed(ref, maps, shape, 0, node, node.name + "_border");
}

// Bias in real units; one of int32 whose scale is that of the sum goes in exactly.
void Lowering::addBias(Accumulator& sum, const ConstantReal& bias, double factor) const {
  const std::vector<double> values = elementsOf(bias);
  const std::size_t outputs = sum.scale.size();
  if (values.size() != 1 && values.size() != outputs)
    throw Unsupported("a bias of " + toText(bias.shape) + " for " + std::to_string(outputs) +
                      " channels");
  for (std::size_t o = 0; o < outputs; ++o) {
    const std::size_t i = values.size() == 1 ? 0 : o;
    if (bias.type == DataType::Int32) {
      const double scale = double{bias.scales.size() == 1 ? bias.scales[0] : bias.scales[i]};
      const std::int32_t zero = bias.zeros.size() == 1 ? bias.zeros[0] : bias.zeros[i];
      const auto raw = reinterpret_cast<const std::int32_t*>(bias.bytes->data())[i];
      if (zero == 0 && factor == 1 && std::abs(scale / sum.scale[o] - 1) < 1e-6) {
        sum.bias[o] = raw;
        continue;
      }
      sum.offset[o] += (double{static_cast<double>(raw)} - zero) * scale * factor;
    } else {
      sum.offset[o] += values[i] * factor;
    }
  }
}

void Lowering::lowerConv(const Node& node) {
  const auto& conv = std::get<ConvAttributes>(node.attributes);
  const Operands at = operandsOf(node.kind);
  const std::size_t spatial = conv.kernel.size();
  if (spatial > 2)
    throw Unsupported("a convolution of " + std::to_string(spatial) + " spatial axes");
  const auto axis = [&](const Dims& values, std::size_t i) {  // i: 0 rows, 1 columns
    return spatial == 2 ? values[i] : i == 1 ? values[0] : std::int64_t{1};
  };
  const auto pad = [&](std::size_t i, bool end) {
    if (spatial == 2) return conv.pads[i + (end ? 2 : 0)];
    return i == 1 ? conv.pads[end ? 1 : 0] : std::int64_t{0};
  };
  Accumulator sum;
  sum.window = {.kernelY = axis(conv.kernel, 0),
                .kernelX = axis(conv.kernel, 1),
                .strideY = axis(conv.strides, 0),
                .strideX = axis(conv.strides, 1),
                .dilationY = axis(conv.dilations, 0),
                .dilationX = axis(conv.dilations, 1),
                .padTop = pad(0, false),
                .padLeft = pad(1, false),
                .padBottom = pad(0, true),
                .padRight = pad(1, true)};
  const std::vector<Axis> axes = spatial == 2
                                     ? std::vector<Axis>{Axis::Y, Axis::C, Axis::Y, Axis::X}
                                     : std::vector<Axis>{Axis::Y, Axis::C, Axis::X};
  const Value& x = source_[node.inputs[at.x]];
  if (x.shape[0] != 1)
    throw Unsupported("a batch of " + std::to_string(x.shape[0]) + " does not fold into rows",
                      "CANON002");
  RealRef ref;
  Quantization given;
  if (isQuantized(node.kind)) {
    ref =
        dequantized(integerOf(node, at.x), quantizationOf(node, at.xScale, at.xZero, x.type), node);
  } else if (isInteger(node.kind)) {
    const IntegerRef integer = integerOf(node, at.x);
    given = quantizations_[integer.tensor.at()];
    const bool isUint8 = x.type == DataType::Uint8;
    given.zero = isUint8 ? -128 : 0;
    if (at.xZero < node.inputs.size() && node.inputs[at.xZero].valid()) {
      const std::vector<double> zero = elementsOf(constantReal(node.inputs[at.xZero]));
      if (zero.size() != 1) throw Unsupported("an activation with a zero point for each channel");
      given.zero += static_cast<std::int32_t>(zero[0]);
    }
    ref = dequantized(integer, given, node);
  } else {
    ref = realOf(node, at.x);
  }
  ref = relaid(ref, layOut(x.shape, axes), node);
  ProductInput input;
  if (Window folded = sum.window; bordersWithinKernel(folded)) {
    input = foldedPadding(ref, folded);
    if (bordersWithinKernel(folded))
      sum.window = folded;
    else
      input = linearInput(ref);
  } else {
    input = linearInput(padded(ref, sum.window, axes, node));
    sum.window.padTop = sum.window.padLeft = sum.window.padBottom = sum.window.padRight = 0;
  }
  sum.input = input.tensor;
  const ConstantReal weights =
      node.kind == NodeKind::Conv
          ? constantReal(node.inputs[at.w])
          : quantizedConstant(node.inputs[at.w],
                              isInteger(node.kind) ? ValueId() : node.inputs[at.wScale],
                              at.wZero < node.inputs.size() ? node.inputs[at.wZero] : ValueId(), 0);
  if (weights.scales.size() != 1 && weights.axis != 0)
    throw Unsupported("weights with a scale for each input channel");
  const Dims& w = weights.shape;
  readWeightScales(weights, w[0], isInteger(node.kind) ? 1.F : input.quantization.scale, sum);
  sum.weights.group = conv.group;
  sum.weights.inputsPerGroup = w[1];
  if (node.inputs.size() > at.bias && node.inputs[at.bias].valid()) {
    ConstantReal bias = constantReal(node.inputs[at.bias]);
    if (isQuantized(node.kind)) {  // int32 in units of the sum, by definition
      bias.scales.clear();
      for (const double scale : sum.scale) bias.scales.push_back(static_cast<float>(scale));
      bias.zeros.assign(bias.scales.size(), 0);
    }
    addBias(sum, bias, 1);
  }
  const Dims& y = source_[node.outputs[0]].shape;
  const View view = layOut(y, axes);
  const RealRef result{addReal(fresh(node, std::move(sum), tensorShape(view))), view};
  if (!isQuantized(node.kind)) return setReal(node, 0, result);
  setInteger(node, 0, result,
             quantizationOf(node, at.yScale, at.yZero, source_[node.outputs[0]].type));
}

void Lowering::lowerMatrix(const Node& node) {
  const Operands at = operandsOf(node.kind);
  const GemmAttributes gemm = std::holds_alternative<GemmAttributes>(node.attributes)
                                  ? std::get<GemmAttributes>(node.attributes)
                                  : GemmAttributes{};
  const Value& x = source_[node.inputs[at.x]];
  RealRef ref;
  if (isQuantized(node.kind)) {
    ref =
        dequantized(integerOf(node, at.x), quantizationOf(node, at.xScale, at.xZero, x.type), node);
  } else if (isInteger(node.kind)) {
    const IntegerRef integer = integerOf(node, at.x);
    Quantization given = quantizations_[integer.tensor.at()];
    given.zero = x.type == DataType::Uint8 ? -128 : 0;
    if (at.xZero < node.inputs.size() && node.inputs[at.xZero].valid()) {
      const std::vector<double> zero = elementsOf(constantReal(node.inputs[at.xZero]));
      if (zero.size() != 1) throw Unsupported("an activation with a zero point for each row");
      given.zero += static_cast<std::int32_t>(zero[0]);
    }
    ref = dequantized(integer, given, node);
  } else {
    ref = realOf(node, at.x);
  }
  if (gemm.transA) ref.view = transposed(ref.view, {1, 0});
  if (!isConstant(node.inputs[at.w]))
    throw Unsupported("both of its operands are computed at run time");
  ConstantReal weights =
      node.kind == NodeKind::Gemm || node.kind == NodeKind::MatMul
          ? constantReal(node.inputs[at.w])
          : quantizedConstant(node.inputs[at.w],
                              isInteger(node.kind) ? ValueId() : node.inputs[at.wScale],
                              at.wZero < node.inputs.size() ? node.inputs[at.wZero] : ValueId(),
                              source_[node.inputs[at.w]].shape.empty()
                                  ? 0
                                  : source_[node.inputs[at.w]].shape.size() - 1);
  const bool vector = weights.shape.size() == 1;
  while (weights.shape.size() > 2 && weights.shape.front() == 1) {
    weights.shape.erase(weights.shape.begin());
    if (weights.axis > 0) --weights.axis;
  }
  if (vector) weights.shape.push_back(1);
  if (weights.shape.size() != 2) throw Unsupported("weights of " + toText(weights.shape));
  const bool transB = gemm.transB;
  const std::int64_t length = weights.shape[transB ? 1 : 0],
                     outputs = weights.shape[transB ? 0 : 1];
  if (isQuantized(node.kind) && weights.scales.size() != 1) weights.axis = transB ? 0 : 1;
  if (weights.scales.size() != 1 && (weights.axis != (transB ? 0U : 1U) ||
                                     static_cast<std::int64_t>(weights.scales.size()) != outputs))
    throw Unsupported("weights with a scale for each row of the sum");

  // The row's digits on an axis are the whole axis or none of it; else the rows become pixels.
  const auto wholeAxis = [&](const RealRef& of) -> std::optional<std::array<bool, 3>> {
    std::array<std::int64_t, 3> inRow{1, 1, 1};
    for (const Digit& digit : of.view.dims.back()) {
      if (digit.axis == Axis::Flat)
        throw Unsupported("it reads '" + real(of.id).name +
                          "', a float that nothing has quantized");
      inRow[static_cast<std::size_t>(digit.axis)] *= digit.extent;
    }
    const Shape& s = real(of.id).shape;
    const std::array<std::int64_t, 3> extents{s.height, s.width, s.channels};
    std::array<bool, 3> whole{};
    for (std::size_t i = 0; i < 3; ++i) {
      if (inRow[i] != 1 && inRow[i] != extents[i]) return std::nullopt;
      whole[i] = inRow[i] == extents[i];
    }
    if (!whole[2]) return std::nullopt;
    return whole;
  };
  std::optional<std::array<bool, 3>> row = wholeAxis(ref);
  if (!row) {
    const Dims shape = ref.view.shape();
    std::vector<Axis> axes(shape.size(), Axis::Y);
    axes.back() = Axis::C;
    ref = relaid(ref, layOut(shape, axes), node);
    row = wholeAxis(ref);
  }
  ref = mapped(ref);
  const auto [tensor, quantization] = linear(ref);
  const Shape& in = real(ref.id).shape;
  Accumulator sum;
  sum.input = tensor;
  sum.window.kernelY = (*row)[0] ? in.height : 1;
  sum.window.kernelX = (*row)[1] ? in.width : 1;
  readWeightScales(weights, outputs, isInteger(node.kind) ? 1.F : quantization.scale, sum);
  if (gemm.alpha != 1)
    for (double& scale : sum.scale) scale = double{static_cast<float>(scale) * gemm.alpha};
  sum.weights.matrix = true;
  sum.weights.stepK = transB ? 1 : outputs;
  sum.weights.stepN = transB ? length : 1;
  const std::array<std::int64_t, 3> step{sum.window.kernelX * in.channels, in.channels, 1};
  sum.weights.place.assign(1, 0);
  for (const Digit& digit : ref.view.dims.back()) {
    std::vector<std::int64_t> next;
    next.reserve(sum.weights.place.size() * static_cast<std::size_t>(digit.extent));
    for (const std::int64_t place : sum.weights.place)
      for (std::int64_t i = 0; i < digit.extent; ++i)
        next.push_back(place + i * digit.stride * step[static_cast<std::size_t>(digit.axis)]);
    sum.weights.place = std::move(next);
  }
  if (node.inputs.size() > at.bias && node.inputs[at.bias].valid() &&
      node.kind != NodeKind::QLinearMatMul && node.kind != NodeKind::MatMul) {
    ConstantReal bias = constantReal(node.inputs[at.bias]);
    if (isQuantized(node.kind)) {
      bias.scales.clear();
      for (const double scale : sum.scale) bias.scales.push_back(static_cast<float>(scale));
      bias.zeros.assign(bias.scales.size(), 0);
    }
    if (!bias.shape.empty() && bias.shape.back() != outputs && elementCount(bias.shape) != 1)
      throw Unsupported("a bias of " + toText(bias.shape));
    addBias(sum, bias, double{gemm.beta});
  }
  // Pixels keep their digits; the row is now the channels.
  View view;
  view.dims.assign(ref.view.dims.begin(), ref.view.dims.end() - 1);
  if (!vector) view.dims.push_back(outputs == 1 ? Digits{} : Digits{{outputs, Axis::C, 1}});
  const Shape shape{
      .height = (*row)[0] ? 1 : in.height, .width = (*row)[1] ? 1 : in.width, .channels = outputs};
  const RealRef result{addReal(fresh(node, std::move(sum), shape)), view};
  const bool rounds =
      isQuantized(node.kind) && at.yScale < node.inputs.size() && node.inputs[at.yScale].valid();
  if (!rounds) return setReal(node, 0, result);
  setInteger(node, 0, result,
             quantizationOf(node, at.yScale, at.yZero, source_[node.outputs[0]].type));
}

}  // namespace heddle::canon
