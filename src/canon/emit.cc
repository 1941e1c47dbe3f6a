// From descriptions to canonical operators, once the scale and zero point of the result are known.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "lowering.h"

namespace heddle::canon {

namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;
constexpr std::size_t kMostTables = 16;  // parts of one movement with a table of their own

std::string unique(UniqueNames& names, const std::string& base) {
  return names.take(base.empty() ? "value" : base);
}

Table256 requantizationTable(const FloatTable& values, const Quantization& quantization) {
  Table256 table;
  for (std::size_t i = 0; i < 256; ++i) table[i] = quantizeValue(values[i], quantization);
  return table;
}

bool isIdentity(const Table256& table) {
  for (int x = -128; x < 128; ++x)
    if (table[static_cast<std::size_t>(x + 128)] != x) return false;
  return true;
}

std::int8_t negated(std::int8_t w) { return static_cast<std::int8_t>(-1 - w); }

// COUT, CIN / group, KY, KX -> COUT, KY, KX, CIN; a group's weights stand among zeros (the zero
// point) elsewhere.
std::vector<std::int8_t> convWeights(const ProductWeights& w, const Window& window,
                                     bool depthwise) {
  const std::int64_t taps = window.kernelY * window.kernelX, in = w.inputsPerGroup;
  const std::int64_t channels = depthwise ? 1 : in * w.group, outputsPerGroup = w.outputs / w.group;
  std::vector<std::int8_t> out(static_cast<std::size_t>(w.outputs * taps * channels));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(w.bytes->data());
  const std::uint8_t flip = w.fromUint8 ? 0x80 : 0;
  for (std::int64_t o = 0; o < w.outputs; ++o) {
    std::int8_t* row = out.data() + o * taps * channels;
    if (!depthwise && w.group > 1)
      std::memset(row, w.zero[static_cast<std::size_t>(o)],
                  static_cast<std::size_t>(taps * channels));
    const std::int64_t first = depthwise ? 0 : o / outputsPerGroup * in;
    const std::uint8_t* source = bytes + o * in * taps;
    if (taps == 1) {  // in the order that they have: by vectors
      for (std::int64_t i = 0; i < in; ++i)
        row[first + i] = static_cast<std::int8_t>(source[i] ^ flip);
      continue;
    }
    for (std::int64_t i = 0; i < in; ++i)
      for (std::int64_t t = 0; t < taps; ++t)
        row[t * channels + first + i] = static_cast<std::int8_t>(source[i * taps + t] ^ flip);
  }
  return out;
}

std::vector<std::int8_t> matrixWeights(const ProductWeights& w) {
  const auto length = static_cast<std::int64_t>(w.place.size());
  std::vector<std::int8_t> out(static_cast<std::size_t>(w.outputs * length));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(w.bytes->data());
  const std::uint8_t flip = w.fromUint8 ? 0x80 : 0;
  constexpr std::int64_t kTile = 64;  // so that both sides stay in the cache
  for (std::int64_t n0 = 0; n0 < w.outputs; n0 += kTile)
    for (std::int64_t k0 = 0; k0 < length; k0 += kTile)
      for (std::int64_t n = n0; n < std::min(n0 + kTile, w.outputs); ++n)
        for (std::int64_t k = k0; k < std::min(k0 + kTile, length); ++k)
          out[static_cast<std::size_t>(n * length + w.place[static_cast<std::size_t>(k)])] =
              static_cast<std::int8_t>(bytes[k * w.stepK + n * w.stepN] ^ flip);
  return out;
}

// The quotient as ONNX Runtime rounds it: in float32 where the numerator is a float32 product of
// scales.
double requantizationScale(double scale, float outputScale) {
  const auto single = static_cast<float>(scale);
  if (double{single} == scale) return double{single / outputScale};
  return scale / double{outputScale};
}

Multiplier checkedMultiplier(double scale) {
  if (!std::isfinite(scale) || scale < 0)
    throw Unsupported("its scales have no finite quotient", "CANON004");
  return makeMultiplier(scale);
}

// Of an average, which is within 255 of 0 and, but for 0, at least 2^-40. Ratios beyond these
// bounds give 0 or saturate like the bounds themselves.
Multiplier averageMultiplier(double ratio) {
  if (ratio == 1) return {1, 0};
  constexpr double kLargest = 0x1p59, kSmallest = 0x1p-31;
  if (std::isfinite(ratio) && ratio >= 0 && ratio < kSmallest) return {};
  return checkedMultiplier(std::isfinite(ratio) ? std::min(ratio, kLargest) : ratio);
}

// Whether the products of a channel are too small to change what its offset rounds to.
bool offsetDecides(const Accumulator& sum, std::size_t o, std::span<const std::int8_t> weights,
                   std::int8_t zero, const Quantization& quantization) {
  double most = 0;
  for (const std::int8_t w : weights) most += std::abs(w - zero) * 255.0;
  const double reach = most * std::abs(sum.scale[o]);
  const double real = sum.offset[o] + sum.bias[o] * sum.scale[o];
  const auto rounded = [&](double x) { return quantizeValue(static_cast<float>(x), quantization); };
  const bool sloped = !sum.negativeSlope.empty() && real < 0;
  return !sloped && rounded(real - reach) == rounded(real + reach);
}

// A channel whose result is its offset: in units of the result, whatever the input.
void makeConstant(double offset, const Quantization& quantization, std::span<std::int8_t> weights,
                  std::int8_t zero, std::int32_t& bias, double& scale) {
  std::ranges::fill(weights, zero);
  scale = double{quantization.scale};
  bias = static_cast<std::int32_t>(std::clamp(std::nearbyint(offset / scale), -1e6, 1e6));
}

// Conv and DepthwiseConv differ only in the layout of their weights.
template <class Op>
Op product(const Accumulator& sum, const Quantization& quantization, bool depthwise, Clamp clamp) {
  Op op;
  op.window = sum.window;
  op.clamp = clamp;
  std::vector<std::int8_t> weights = sum.weights.matrix
                                         ? matrixWeights(sum.weights)
                                         : convWeights(sum.weights, sum.window, depthwise);
  op.weightZero = sum.weights.zero;
  op.bias = sum.bias;
  const std::size_t outputs = op.bias.size(),
                    row = weights.size() / std::max<std::size_t>(outputs, 1);
  for (std::size_t o = 0; o < outputs; ++o) {
    double scale = sum.scale[o];
    if (!std::isfinite(scale) || std::isnan(sum.offset[o]))
      throw Unsupported("the scale or the bias of a channel is not finite", "CANON004");
    const auto own = std::span(weights).subspan(o * row, row);
    const double exact = sum.offset[o] / scale, units = std::nearbyint(exact) + op.bias[o];
    const double lost = std::abs((exact - std::nearbyint(exact)) * scale);
    const bool isFine = lost <= 0.5 * double{quantization.scale};  // the result may be off by 1
    if (scale != 0 && std::abs(units) < 0x1p31 && isFine) {
      op.bias[o] = static_cast<std::int32_t>(units);
    } else if (scale == 0 || offsetDecides(sum, o, own, op.weightZero[o], quantization)) {
      makeConstant(sum.offset[o] + op.bias[o] * scale, quantization, own, op.weightZero[o],
                   op.bias[o], scale);
    } else {
      throw Unsupported("32 bits in units of its sum cannot hold its bias", "CANON004");
    }
    if (scale < 0) {
      // -(w - z) == (-1 - w) - (-1 - z), and -1 - w never leaves int8.
      for (std::int8_t& w : own) w = negated(w);
      op.weightZero[o] = negated(op.weightZero[o]);
      op.bias[o] = static_cast<std::int32_t>(0U - static_cast<std::uint32_t>(op.bias[o]));
      scale = -scale;
    }
    op.requantize.push_back(checkedMultiplier(requantizationScale(scale, quantization.scale)));
    if (!sum.negativeSlope.empty())
      op.requantizeNegative.push_back(
          checkedMultiplier(requantizationScale(scale, quantization.scale) * sum.negativeSlope[o]));
  }
  op.weights = std::move(weights);
  return op;
}

}  // namespace

TensorId Lowering::addTensor(const std::string& name, const Shape& shape,
                             const Quantization& quantization) {
  if (quantization.zero < -128 || quantization.zero > 127)
    throw Unsupported("a zero point outside of its type", "CANON004");
  std::int64_t elements = 1;
  for (const std::int64_t extent : {shape.height, shape.width, shape.channels}) {
    if (extent < 1 || extent > kMaxElements || elements > kMaxElements / extent)
      throw Unsupported("a tensor of " + std::to_string(shape.height) + "x" +
                            std::to_string(shape.width) + "x" + std::to_string(shape.channels) +
                            " elements",
                        "CANON005");
    elements *= extent;
  }
  CanonicalTensor tensor;
  tensor.name = unique(tensorNames_, name);
  tensor.shape = shape;
  tensor.scale = double{quantization.scale};
  tensor.zeroPoint = static_cast<std::int8_t>(quantization.zero);
  tensor.fromUint8 = quantization.fromUint8;
  graph_.tensors.push_back(std::move(tensor));
  quantizations_.push_back(quantization);
  provisional_.push_back(true);
  return TensorId(graph_.tensors.size() - 1);
}

void Lowering::addOp(const Real& real, std::vector<TensorId> inputs, TensorId output,
                     OpAttributes attributes) {
  graph_.ops.push_back({.name = unique(opNames_, real.node.empty() ? real.name : real.node),
                        .onnxOp = real.onnxOp,
                        .inputs = std::move(inputs),
                        .output = output,
                        .attributes = std::move(attributes)});
}

Clamp Lowering::clampOf(const Real& real, const Quantization& quantization) const {
  return {.low = quantizeValue(static_cast<float>(real.low), quantization),
          .high = quantizeValue(static_cast<float>(real.high), quantization)};
}

TensorId Lowering::emit(const Real& real, const Mapped& function, const Quantization& quantization,
                        const std::string& name) {
  if (function.linear == quantization && quantizations_[function.tensor.at()] == quantization)
    return function.tensor;
  Mapped whole = throughTable(function);
  // One table is shorter than one for each channel.
  if (whole.tables.size() > 1 && tablesOf(function).size() == 1) whole = function;
  Table op;
  for (const FloatTable& table : tablesOf(whole))
    op.tables.push_back(requantizationTable(table, quantization));
  const TensorId tensor = addTensor(name.empty() ? real.name : name, real.shape, quantization);
  provisional_[tensor.at()] = name.empty();
  tables_.emplace(tensor, TableOf{whole.tensor, op.tables});
  addOp(real, {whole.tensor}, tensor, std::move(op));
  return tensor;
}

TensorId Lowering::emit(const Real& real, const Accumulator& sum, const Quantization& quantization,
                        const std::string& name) {
  const ProductWeights& w = sum.weights;
  const bool depthwise = !w.matrix && w.group > 1 && w.inputsPerGroup == 1 && w.outputs == w.group;
  const std::int64_t row = w.matrix ? static_cast<std::int64_t>(w.place.size())
                                    : sum.window.kernelY * sum.window.kernelX *
                                          (depthwise ? 1 : w.inputsPerGroup * w.group);
  if (row > kMaxElements / std::max<std::int64_t>(w.outputs, 1))
    throw Unsupported("more than 2^31 weights", "CANON005");
  spend(row * w.outputs);
  const TensorId tensor = addTensor(name.empty() ? real.name : name, real.shape, quantization);
  provisional_[tensor.at()] = name.empty();
  const Clamp clamp = clampOf(real, quantization);
  if (depthwise)
    addOp(real, {sum.input}, tensor, product<DepthwiseConv>(sum, quantization, true, clamp));
  else
    addOp(real, {sum.input}, tensor, product<Conv>(sum, quantization, false, clamp));
  const std::int64_t taps = sum.window.kernelY * sum.window.kernelX;
  noteWeights(sum, {.rows = w.outputs, .taps = taps, .columns = row / taps});
  return tensor;
}

void Lowering::noteWeights(const Accumulator& sum, const WeightExtents& extents) {
  const ProductWeights& w = sum.weights;
  const auto constant = constants_.find(w.bytes);
  if (constant == constants_.end()) return;
  WeightOrigin origin{.op = {},
                      .value = constant->second,
                      .extents = extents,
                      .scales = sum.scale,
                      .zero = w.zero,
                      .group = w.group,
                      .matrix = w.matrix,
                      .termStep = w.stepK,
                      .rowStep = w.stepN,
                      .terms = std::vector<std::int64_t>(w.place.size())};
  const double input = double{quantizations_[sum.input.at()].scale};
  for (double& scale : origin.scales) scale = std::abs(scale) / input;
  for (std::size_t k = 0; k < w.place.size(); ++k)
    origin.terms[static_cast<std::size_t>(w.place[k])] = static_cast<std::int64_t>(k);
  weightOrigins_[graph_.ops.back().name] = std::move(origin);
}

TensorId Lowering::emit(const Real& real, const Sum& sum, const Quantization& quantization,
                        const std::string& name) {
  const double givenA = double{sum.quantizationA.scale} / double{quantization.scale};
  const double givenB = double{sum.quantizationB.scale} / double{quantization.scale};
  // One step of the larger operand saturates whatever the other is; beyond that it would only
  // crowd out the other's digits.
  constexpr double kDominates = 0x1p20;
  const double a = std::min(givenA, kDominates * std::max(givenB, 1.0)),
               b = std::min(givenB, kDominates * std::max(givenA, 1.0));
  // One common shift with the larger factor in [2^44, 2^45): exact wherever the scales are powers
  // of two.
  int exponent = 0;
  std::frexp(std::max(a, b), &exponent);
  const int shift = std::clamp(45 - exponent, 0, 62);
  Add op;
  op.shift = shift;
  if (!std::isfinite(givenA + givenB) || std::ldexp(std::max(a, b), shift) >= 70368744177664.0)
    throw Unsupported("its scales have no finite quotient", "CANON004");
  op.multiplierA = std::llrint(std::ldexp(a, shift));
  op.multiplierB = sum.signB * std::llrint(std::ldexp(b, shift));
  op.clamp = clampOf(real, quantization);
  const TensorId tensor = addTensor(name.empty() ? real.name : name, real.shape, quantization);
  provisional_[tensor.at()] = name.empty();
  addOp(real, {sum.a, sum.b}, tensor, op);
  return tensor;
}

TensorId Lowering::emit(const Real& real, const Product& product, const Quantization& quantization,
                        const std::string& name) {
  Mul op;
  op.requantize =
      checkedMultiplier(double{product.quantizationA.scale} * double{product.quantizationB.scale} /
                        double{quantization.scale});
  op.clamp = clampOf(real, quantization);
  const TensorId tensor = addTensor(name.empty() ? real.name : name, real.shape, quantization);
  provisional_[tensor.at()] = name.empty();
  addOp(real, {product.a, product.b}, tensor, op);
  return tensor;
}

TensorId Lowering::emit(const Real& real, const Average& average, const Quantization& quantization,
                        const std::string& name) {
  AveragePool op;
  op.window = average.window;
  op.countIncludesPad = average.countIncludesPad;
  const double ratio =
      double{average.quantization.scale} / double{quantization.scale} * average.factor;
  op.rescale = averageMultiplier(ratio);
  op.clamp = clampOf(real, quantization);
  const TensorId tensor = addTensor(name.empty() ? real.name : name, real.shape, quantization);
  provisional_[tensor.at()] = name.empty();
  addOp(real, {average.input}, tensor, op);
  return tensor;
}

TensorId Lowering::emit(const Real& real, const Maximum& maximum, const Quantization& quantization,
                        const std::string& name) {
  const TensorId source = quantize(maximum.source, quantization, "");
  const TensorId tensor = addTensor(name.empty() ? real.name : name, real.shape, quantization);
  provisional_[tensor.at()] = name.empty();
  addOp(real, {source}, tensor, MaxPool{maximum.window});
  return tensor;
}

TensorId Lowering::emit(const Real& real, const Moved& open, const Quantization& quantization,
                        const std::string& name) {
  (void)open;
  const Real whole = composed(real);
  const Moved& moved = std::get<Moved>(whole.kind);
  Assemble op;
  op.fill = quantizeValue(static_cast<float>(moved.fill), quantization);
  std::vector<TensorId> inputs;
  // A core holds the table of each part: of many pieces of one tensor the tensor gets it, once.
  const bool manyParts = moved.parts.size() > kMostTables;
  for (const MovedPart& part : moved.parts) {
    std::optional<Table256> table;
    TensorId source;
    const Real& from = this->real(part.source);
    const auto* function = std::get_if<Mapped>(&from.kind);
    if (function && !manyParts && (function->linear || function->tables.size() == 1)) {
      source = function->tensor;
      table = requantizationTable(tablesOf(*function).front(), quantization);
      if (isIdentity(*table)) table.reset();
    } else {
      source = quantize(part.source, quantization, "");
    }
    inputs.push_back(source);
    op.parts.push_back({part.mapY, part.mapX, part.mapC, table});
  }
  const TensorId tensor = addTensor(name.empty() ? real.name : name, real.shape, quantization);
  provisional_[tensor.at()] = name.empty();
  addOp(real, std::move(inputs), tensor, std::move(op));
  return tensor;
}

TensorId Lowering::emit(const Real& real, const Input& input, const Quantization&,
                        const std::string&) {
  throw Unsupported("'" + real.name + "' (" + source_[input.value].name +
                    ") is moved in float before a QuantizeLinear");
}

}  // namespace heddle::canon
