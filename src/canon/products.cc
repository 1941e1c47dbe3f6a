// Conv, Gemm, MatMul and their integer forms become accumulators.
#include <algorithm>
#include <cmath>

#include "heddle/support/check.h"
#include "lowering.h"

namespace heddle::canon {

struct ProductOperands {
  std::size_t x = 0, xScale = 0, xZero = 0;
  std::size_t w = 1, wScale = 0, wZero = 0;
  std::size_t yScale = 0, yZero = 0, bias = 2;
};

namespace {

ProductOperands operandsOf(NodeKind kind) {
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
  return indexed(ref, maps, shape, 0, node, node.name + "_border", axes);
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
      // One value for all channels still counts in units of each.
      const double scale = double{bias.scales.size() == 1 ? bias.scales[0] : bias.scales[o]};
      const std::int32_t zero = bias.zeros.size() == 1 ? bias.zeros[0] : bias.zeros[o];
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

// The activation of a product as real numbers.
RealRef Lowering::productOperand(const Node& node, const ProductOperands& at) {
  const DataType type = source_[node.inputs[at.x]].type;
  if (isQuantized(node.kind))
    return dequantized(integerOf(node, at.x), quantizationOf(node, at.xScale, at.xZero, type),
                       node);
  if (!isInteger(node.kind)) return realOf(node, at.x);
  const IntegerRef integer = integerOf(node, at.x);
  Quantization given = quantizations_[integer.tensor.at()];
  given.zero = type == DataType::Uint8 ? -128 : 0;
  if (at.xZero < node.inputs.size() && node.inputs[at.xZero].valid()) {
    const std::vector<double> zero = elementsOf(constantReal(node.inputs[at.xZero]));
    if (zero.size() != 1) throw Unsupported("an activation of several zero points");
    given.zero += static_cast<std::int32_t>(zero[0]);
  }
  return dequantized(integer, given, node);
}

// `axis` is that of the outputs, where scale and zero point are inputs of the node itself.
ConstantReal Lowering::productWeights(const Node& node, const ProductOperands& at,
                                      std::size_t axis) const {
  const ValueId weights = node.inputs[at.w];
  if (!isQuantized(node.kind) && !isInteger(node.kind)) return constantReal(weights);
  const ValueId scale = isInteger(node.kind) ? ValueId() : node.inputs[at.wScale],
                zero = at.wZero < node.inputs.size() ? node.inputs[at.wZero] : ValueId();
  return quantizedConstant(weights, scale, zero, axis);
}

// Absent where the node has none.
std::optional<ConstantReal> Lowering::productBias(const Node& node, const ProductOperands& at,
                                                  const Accumulator& sum) const {
  if (node.inputs.size() <= at.bias || !node.inputs[at.bias].valid()) return std::nullopt;
  ConstantReal bias = constantReal(node.inputs[at.bias]);
  if (isQuantized(node.kind)) {  // int32 in units of the sum, by definition
    bias.scales.clear();
    for (const double scale : sum.scale) bias.scales.push_back(static_cast<float>(scale));
    bias.zeros.assign(bias.scales.size(), 0);
  }
  return bias;
}

void Lowering::setProduct(const Node& node, const ProductOperands& at, const RealRef& result) {
  const bool rounds =
      isQuantized(node.kind) && at.yScale < node.inputs.size() && node.inputs[at.yScale].valid();
  if (!rounds) return setReal(node, 0, result);
  setInteger(node, 0, result,
             quantizationOf(node, at.yScale, at.yZero, source_[node.outputs[0]].type));
}

// --- convolutions

namespace {

// A convolution along one axis is one of a single row.
Window windowOf(const ConvAttributes& conv) {
  const bool image = conv.kernel.size() == 2;
  const auto rows = [&](const Dims& values, std::int64_t otherwise) {
    return image ? values[0] : otherwise;
  };
  const auto columns = [&](const Dims& values) { return values[image ? 1 : 0]; };
  return {.kernelY = rows(conv.kernel, 1),
          .kernelX = columns(conv.kernel),
          .strideY = rows(conv.strides, 1),
          .strideX = columns(conv.strides),
          .dilationY = rows(conv.dilations, 1),
          .dilationX = columns(conv.dilations),
          .padTop = rows(conv.pads, 0),
          .padLeft = columns(conv.pads),
          .padBottom = image ? conv.pads[2] : 0,
          .padRight = conv.pads[image ? 3 : 1]};
}

}  // namespace

// What the window slides over, and the window as it is then: it takes up a Pad before it, and gives
// its border away where that is more than a border.
ProductInput Lowering::windowInput(const RealRef& ref, Window& window,
                                   const std::vector<Axis>& axes, const Node& node) {
  if (!bordersWithinKernel(window)) {
    ProductInput input = linearInput(padded(ref, window, axes, node));
    window.padTop = window.padLeft = window.padBottom = window.padRight = 0;
    return input;
  }
  Window folded = window;
  ProductInput input = foldedPadding(ref, folded);
  if (!bordersWithinKernel(folded)) return linearInput(ref);
  window = folded;
  return input;
}

void Lowering::lowerConv(const Node& node) {
  const auto& conv = std::get<ConvAttributes>(node.attributes);
  const ProductOperands at = operandsOf(node.kind);
  const std::size_t spatial = conv.kernel.size();
  if (spatial > 2)
    throw Unsupported("a convolution of " + std::to_string(spatial) + " spatial axes");
  std::vector<Axis> axes{Axis::Y, Axis::C, Axis::X};
  if (spatial == 2) axes.insert(axes.begin() + 2, Axis::Y);
  const Dims& x = source_[node.inputs[at.x]].shape;
  if (x[0] != 1)
    throw Unsupported("a batch of " + std::to_string(x[0]) + " does not fold into rows",
                      "CANON002");
  Accumulator sum;
  sum.window = windowOf(conv);
  const RealRef ref = relaid(productOperand(node, at), layOut(x, axes), node);
  const ProductInput input = windowInput(ref, sum.window, axes, node);
  sum.input = input.tensor;
  const ConstantReal weights = productWeights(node, at, 0);
  if (weights.scales.size() != 1 && weights.axis != 0)
    throw Unsupported("weights with a scale for each input channel");
  readWeightScales(weights, weights.shape[0], isInteger(node.kind) ? 1.F : input.quantization.scale,
                   sum);
  sum.weights.group = conv.group;
  sum.weights.inputsPerGroup = weights.shape[1];
  if (const auto bias = productBias(node, at, sum)) addBias(sum, *bias, 1);
  const View view = layOut(source_[node.outputs[0]].shape, axes);
  setProduct(node, at, {addReal(fresh(node, std::move(sum), tensorShape(view))), view});
}

// --- matrices

namespace {

// A matrix of weights: `length` terms to the sum of each of `outputs`.
struct Matrix {
  ConstantReal constant;
  std::int64_t length = 0, outputs = 0;
  bool vector = false;  // its only output is no axis of the result
};

Matrix matrixOf(ConstantReal weights, bool transposed, bool scalesAreOfOutputs) {
  Matrix matrix;
  matrix.vector = weights.shape.size() == 1;
  while (weights.shape.size() > 2 && weights.shape.front() == 1) {
    weights.shape.erase(weights.shape.begin());
    if (weights.axis > 0) --weights.axis;
  }
  if (matrix.vector) weights.shape.push_back(1);
  if (weights.shape.size() != 2) throw Unsupported("weights of " + toText(weights.shape));
  matrix.length = weights.shape[transposed ? 1 : 0];
  matrix.outputs = weights.shape[transposed ? 0 : 1];
  const std::size_t outputAxis = transposed ? 0 : 1;
  if (weights.scales.size() != 1) {
    if (scalesAreOfOutputs) weights.axis = outputAxis;
    if (weights.axis != outputAxis ||
        static_cast<std::int64_t>(weights.scales.size()) != matrix.outputs)
      throw Unsupported("weights with a scale for each row of the sum");
  }
  matrix.constant = std::move(weights);
  return matrix;
}

// Which axes of a tensor the digits of a row span; absent where they span one in part, or the
// channels not at all.
std::optional<std::array<bool, 3>> wholeAxes(const Digits& row, const Shape& tensor) {
  std::array<std::int64_t, 3> inRow{1, 1, 1};
  for (const Digit& digit : row) inRow[static_cast<std::size_t>(digit.axis)] *= digit.extent;
  const std::array<std::int64_t, 3> extents{tensor.height, tensor.width, tensor.channels};
  std::array<bool, 3> whole{};
  for (std::size_t i = 0; i < 3; ++i) {
    if (inRow[i] != 1 && inRow[i] != extents[i]) return std::nullopt;
    whole[i] = inRow[i] == extents[i];
  }
  if (!whole[2]) return std::nullopt;
  return whole;
}

// Where term k of the sum stands in the kernel: KY, KX, CIN.
std::vector<std::int64_t> termPlaces(const Digits& row, std::int64_t kernelX,
                                     std::int64_t channels) {
  const std::array<std::int64_t, 3> step{kernelX * channels, channels, 1};
  std::vector<std::int64_t> places{0};
  for (const Digit& digit : row) {
    std::vector<std::int64_t> next;
    next.reserve(places.size() * static_cast<std::size_t>(digit.extent));
    for (const std::int64_t place : places)
      for (std::int64_t i = 0; i < digit.extent; ++i)
        next.push_back(place + i * digit.stride * step[static_cast<std::size_t>(digit.axis)]);
    places = std::move(next);
  }
  return places;
}

}  // namespace

// The operand of a matrix product in a layout where each row is whole axes; else its rows become
// pixels.
RealRef Lowering::matrixOperand(const Node& node, const ProductOperands& at, bool transposedA) {
  RealRef ref = productOperand(node, at);
  if (transposedA) ref.view = transposed(ref.view, {1, 0});
  if (!wholeAxes(ref.view.dims.back(), real(ref.id).shape)) {
    const Dims shape = ref.view.shape();
    std::vector<Axis> axes(shape.size(), Axis::Y);
    axes.back() = Axis::C;
    ref = relaid(ref, layOut(shape, axes), node);
  }
  return mapped(ref);
}

void Lowering::lowerMatrix(const Node& node) {
  const ProductOperands at = operandsOf(node.kind);
  const auto* given = std::get_if<GemmAttributes>(&node.attributes);
  const GemmAttributes gemm = given ? *given : GemmAttributes{};
  if (!isConstant(node.inputs[at.w]))
    throw Unsupported("both of its operands are computed at run time");
  const RealRef ref = matrixOperand(node, at, gemm.transA);
  const std::size_t rank = source_[node.inputs[at.w]].shape.size();
  const std::size_t outputAxis = rank < 2 ? 0 : gemm.transB ? rank - 2 : rank - 1;
  const Matrix matrix =
      matrixOf(productWeights(node, at, outputAxis), gemm.transB, isQuantized(node.kind));
  const Digits& row = ref.view.dims.back();
  const Shape& in = real(ref.id).shape;
  const auto whole = wholeAxes(row, in);
  HEDDLE_CHECK(whole.has_value()) << node.name;
  const auto [tensor, quantization] = linear(ref);
  Accumulator sum;
  sum.input = tensor;
  sum.window.kernelY = (*whole)[0] ? in.height : 1;
  sum.window.kernelX = (*whole)[1] ? in.width : 1;
  readWeightScales(matrix.constant, matrix.outputs, isInteger(node.kind) ? 1.F : quantization.scale,
                   sum);
  if (gemm.alpha != 1)
    for (double& scale : sum.scale) scale = double{static_cast<float>(scale) * gemm.alpha};
  sum.weights.matrix = true;
  sum.weights.stepK = gemm.transB ? 1 : matrix.outputs;
  sum.weights.stepN = gemm.transB ? matrix.length : 1;
  sum.weights.place = termPlaces(row, sum.window.kernelX, in.channels);
  if (node.kind != NodeKind::QLinearMatMul && node.kind != NodeKind::MatMul)
    if (const auto bias = productBias(node, at, sum)) {
      if (!bias->shape.empty() && bias->shape.back() != matrix.outputs &&
          elementCount(bias->shape) != 1)
        throw Unsupported("a bias of " + toText(bias->shape));
      addBias(sum, *bias, double{gemm.beta});
    }
  // Pixels keep their digits; the row is now the channels.
  View view;
  view.dims.assign(ref.view.dims.begin(), ref.view.dims.end() - 1);
  if (!matrix.vector)
    view.dims.push_back(matrix.outputs == 1 ? Digits{} : Digits{{matrix.outputs, Axis::C, 1}});
  const Shape shape{.height = (*whole)[0] ? 1 : in.height,
                    .width = (*whole)[1] ? 1 : in.width,
                    .channels = matrix.outputs};
  setProduct(node, at, {addReal(fresh(node, std::move(sum), shape)), view});
}

}  // namespace heddle::canon
