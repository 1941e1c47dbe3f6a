#include "model_writer.h"

#include <algorithm>
#include <cmath>

namespace heddle::property {
namespace {

std::int64_t randomOpset(Choices& choices) {
  return choices.pick(std::vector<std::int64_t>{13, 17, 10, 11, 12, 14, 16, 18, 19, 20, 21});
}

}  // namespace

ModelWriter::ModelWriter(Choices& source, bool forRuntime)
    : choices(source),
      opset(randomOpset(source)),
      asRuntime(forRuntime),
      m(opset),
      powersOfTwo_(choices.chance(50)),
      extreme_(choices.chance(2) && !forRuntime),
      unsigned_(choices.pick(std::vector<int>{0, 0, 100, 50})),
      open_(choices.pick(std::vector<int>{0, 10, 25})),
      faceInteger_(choices.pick(std::vector<int>{0, 30, 100})) {}

// --- values

std::string ModelWriter::real(const Tensor& tensor) {
  if (!tensor.real.empty() && !(chance(10) && !tensor.integer.empty())) return tensor.real;
  return m.op("DequantizeLinear", {tensor.integer, tensor.scaling.scale, tensor.scaling.zero});
}

Tensor ModelWriter::asInteger(const Tensor& tensor) {
  return tensor.integer.empty() ? quantized(tensor.real, tensor.shape) : tensor;
}

Face ModelWriter::face(const Tensor& tensor) {
  if (!tensor.integer.empty() && (tensor.real.empty() ? chance(70) : chance(faceInteger_)))
    return {tensor.integer, true};
  return {real(tensor), false};
}

Tensor ModelWriter::quantized(const std::string& real, const Dims& shape, double about) {
  const Scaling own = scaling(about);
  const std::string rounded = m.op("QuantizeLinear", {real, own.scale, own.zero});
  const std::string back = m.op("DequantizeLinear", {rounded, own.scale, own.zero});
  return {shape, back, rounded, own};
}

Tensor ModelWriter::result(const std::string& real, const Dims& shape, double about) {
  if (chance(open_)) return {shape, real, "", {}};
  return quantized(real, shape, about);
}

Tensor ModelWriter::moved(const Face& face, const Tensor& from, const std::string& name,
                          const Dims& shape) {
  if (face.isInteger) return integerResult(name, shape, from.scaling);
  if (from.integer.empty() || chance(50)) return result(name, shape);
  // As quantizers do: what only moves elements keeps their scale.
  const std::string rounded = m.op("QuantizeLinear", {name, from.scaling.scale, from.scaling.zero});
  return {shape, m.op("DequantizeLinear", {rounded, from.scaling.scale, from.scaling.zero}),
          rounded, from.scaling};
}

Tensor ModelWriter::integerResult(const std::string& name, const Dims& shape,
                                  const Scaling& scaling) {
  if (chance(50)) return {shape, "", name, scaling};
  return {shape, m.op("DequantizeLinear", {name, scaling.scale, scaling.zero}), name, scaling};
}

Tensor ModelWriter::partner(const Dims& shape) {
  std::vector<Tensor> fitting;
  for (const Tensor& tensor : pool)
    if (tensor.shape == shape) fitting.push_back(tensor);
  if (!fitting.empty() && !chance(25)) return choices.pick(fitting);
  const std::string name = m.input("p" + std::to_string(m.graph().node_size()), shape);
  auto& last = *m.graph().mutable_input(m.graph().input_size() - 1);
  last.mutable_type()->mutable_tensor_type()->mutable_shape();  // a scalar has one, too
  return quantized(name, shape);
}

// --- constants

float ModelWriter::scale(double about) {
  double value = about * std::exp2(choices.real(-1, 1));
  if (extreme_ && chance(15)) value *= std::exp2(choices.real(-60, 60));
  return static_cast<float>(powersOfTwo_ ? std::exp2(std::round(std::log2(value))) : value);
}

Scaling ModelWriter::scaling(double about) {
  Scaling made;
  made.isUnsigned = chance(unsigned_);
  made.step = scale(about);
  const std::int64_t low = made.isUnsigned ? 0 : -128, middle = low + 128;
  made.zeroPoint = choices.pick(
      std::vector<std::int64_t>{middle, low, middle + 5, low + 255, between(low, low + 255)});
  if (asRuntime) made.zeroPoint &= ~std::int64_t{1};
  made.scale = m.scalar(made.step);
  made.zero = made.isUnsigned
                  ? m.constant({}, std::vector{static_cast<std::uint8_t>(made.zeroPoint)})
                  : m.zero(static_cast<std::int8_t>(made.zeroPoint));
  return made;
}

std::string ModelWriter::bytes(const Dims& shape, bool isUnsigned, std::int64_t low,
                               std::int64_t high) {
  Choices own(choices.seed());
  const auto count = static_cast<std::size_t>(elementCount(shape));
  if (isUnsigned) {
    std::vector<std::uint8_t> values(count);
    for (auto& value : values) value = static_cast<std::uint8_t>(own.between(low, high) + 128);
    return m.constant(shape, values);
  }
  std::vector<std::int8_t> values(count);
  for (auto& value : values) value = static_cast<std::int8_t>(own.between(low, high));
  return m.constant(shape, values);
}

std::string ModelWriter::reals(const Dims& shape, double low, double high) {
  Choices own(choices.seed());
  std::vector<float> values(static_cast<std::size_t>(elementCount(shape)));
  for (float& value : values) value = static_cast<float>(own.real(low, high));
  return m.constant(shape, values);
}

Weights ModelWriter::weights(const Dims& shape, std::int64_t axis, std::int64_t fanIn,
                             bool perChannel) {
  perChannel = perChannel && (opset >= 13 || chance(20));  // some exporters were ahead of ONNX
  Weights made{.shape = shape, .integer = {}, .scale = {}, .zero = {}, .scales = {}, .axis = axis};
  const bool isUnsigned = chance(20), asymmetric = chance(20);
  made.integer = bytes(shape, isUnsigned, chance(5) ? -128 : -127, 127);
  const Dims many = perChannel   ? Dims{shape[static_cast<std::size_t>(axis)]}
                    : chance(90) ? Dims{}
                                 : Dims{1};
  const double about = 1 / std::sqrt(static_cast<double>(fanIn)) / 74;
  const auto count = static_cast<std::size_t>(elementCount(many));
  made.scales.push_back(scale(about));
  Choices own(choices.seed());
  while (made.scales.size() < count)
    made.scales.push_back(
        static_cast<float>(double{made.scales[0]} * (powersOfTwo_ ? std::exp2(own.between(-1, 1))
                                                                  : std::exp2(own.real(-1, 1)))));
  made.scale = m.floats(many, made.scales);
  made.zero = asymmetric ? bytes(many, isUnsigned, -20, 20) : bytes(many, isUnsigned, 0, 0);
  return made;
}

std::string ModelWriter::dequantized(const Weights& weights) {
  auto& node = m.node("DequantizeLinear", {weights.integer, weights.scale, weights.zero});
  if (weights.scales.size() > 1 && (weights.axis != 1 || chance(50)))
    ModelBuilder::set(node, "axis", weights.axis);
  return node.output(0);
}

std::string ModelWriter::integerBias(std::int64_t count) {
  Choices own(choices.seed());
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = static_cast<std::int32_t>(own.between(-9000, 9000));
  return m.constant({count}, values);
}

// In units of the sum behind a DequantizeLinear, as quantizers write it, or in float.
std::string ModelWriter::bias(const Weights& weights, std::int64_t count, float inputScale) {
  if (!asRuntime && chance(20)) return reals({count}, -1, 1);
  std::vector<float> scales;
  for (const float scale : weights.scales) scales.push_back(inputScale * scale);
  const std::string values = integerBias(count);
  const bool one = scales.size() == 1;
  const std::string scale =
      m.floats(one ? Dims{} : Dims{static_cast<std::int64_t>(scales.size())}, scales);
  auto& node = m.node("DequantizeLinear", {values, scale});
  if (!one) ModelBuilder::set(node, "axis", std::int64_t{0});
  return node.output(0);
}

std::string ModelWriter::shapeInput(const Dims& values) {
  if (!values.empty() && chance(10)) return arithmetic(values);
  return m.integers(values);
}

// The same integers by operators that the importer folds away.
std::string ModelWriter::arithmetic(const Dims& values) {
  const bool equal = std::ranges::all_of(values, [&](auto v) { return v == values[0]; });
  const auto count = static_cast<std::int64_t>(values.size());
  switch (between(0, 4)) {
    case 0: {
      if (!equal) break;
      auto& node = m.node("ConstantOfShape", {m.integers({count})});
      auto& value = *node.add_attribute();
      value.set_name("value");
      value.set_type(onnx::AttributeProto::TENSOR);
      value.mutable_t()->set_data_type(onnx::TensorProto::INT64);
      value.mutable_t()->add_dims(1);
      value.mutable_t()->add_int64_data(values[0]);
      return node.output(0);
    }
    case 1:
      if (count < 2 || values[1] == values[0]) break;
      for (std::int64_t i = 0, step = values[1] - values[0]; i < count; ++i)
        if (values[static_cast<std::size_t>(i)] != values[0] + i * step)
          return m.op("Identity", {m.integers(values)});
      return m.op("Range",
                  {m.integer(values[0]), m.integer(values[0] + count * (values[1] - values[0])),
                   m.integer(values[1] - values[0])});
    case 2: {
      const std::string x = pool.front().real.empty() ? pool.front().integer : pool.front().real;
      const std::string shape = m.op("Shape", {x});
      const std::string first =
          m.op("Gather", {shape, m.integers({0})}, "axis", std::int64_t{0});  // the extent 1, say
      const std::int64_t known = pool.front().shape[0];
      Dims rest = values;
      rest[0] -= known;
      std::string sum = m.op("Add", {first, m.integers({rest[0]})});
      if (count == 1) return sum;
      return m.op("Concat", {sum, m.integers(Dims(rest.begin() + 1, rest.end()))}, "axis",
                  std::int64_t{0});
    }
    case 3: {
      auto& node = m.node("Constant", {});
      auto& attribute = *node.add_attribute();
      if (opset >= 12 && chance(50)) {
        attribute.set_name("value_ints");
        attribute.set_type(onnx::AttributeProto::INTS);
        for (const std::int64_t value : values) attribute.add_ints(value);
      } else {
        attribute.set_name("value");
        attribute.set_type(onnx::AttributeProto::TENSOR);
        attribute.mutable_t()->set_data_type(onnx::TensorProto::INT64);
        attribute.mutable_t()->add_dims(count);
        for (const std::int64_t value : values) attribute.mutable_t()->add_int64_data(value);
      }
      return node.output(0);
    }
    default:
      break;
  }
  return m.op("Identity", {m.integers(values)});
}

// --- windows

RandomWindow randomWindow(ModelWriter& w, const Dims& extents, bool dilated, bool mayCeil) {
  Choices& choices = w.choices;
  RandomWindow window;
  const auto mode = choices.between(0, 99);
  if (mode >= 75) window.autoPad = mode >= 92 ? "VALID" : mode >= 83 ? "SAME_LOWER" : "SAME_UPPER";
  window.ceil = mayCeil && !window.autoPad && choices.chance(25);
  Dims ends;
  for (const std::int64_t extent : extents) {
    std::int64_t kernel = choices.pick(std::vector<std::int64_t>{1, 3, 2, 3, 5, 4});
    std::int64_t dilation = dilated ? choices.pick(std::vector<std::int64_t>{1, 1, 1, 2, 3}) : 1;
    const std::int64_t stride = choices.pick(std::vector<std::int64_t>{1, 1, 2, 3, 4});
    std::int64_t span = dilation * (kernel - 1) + 1;
    std::int64_t begin = choices.between(0, kernel - 1), end = choices.between(0, kernel - 1);
    const bool same = window.autoPad && window.autoPad[0] == 'S';
    if (same && w.asRuntime) kernel = std::max(kernel, stride), dilation = 1, span = kernel;
    if (window.autoPad) begin = end = 0;
    if (!same && extent + begin + end < span) kernel = span = dilation = 1, begin = end = 0;
    window.kernel.push_back(kernel);
    window.strides.push_back(stride);
    window.dilations.push_back(dilation);
    window.pads.push_back(begin);
    ends.push_back(end);
    const std::int64_t room = extent + begin + end - span;
    std::int64_t out = same ? (extent + stride - 1) / stride : room / stride + 1;
    // One more window for a rest, unless it would begin in the padding behind.
    if (!same && window.ceil && room % stride != 0 && out * stride < extent + begin) ++out;
    window.output.push_back(out);
  }
  window.pads.insert(window.pads.end(), ends.begin(), ends.end());
  return window;
}

void RandomWindow::setOn(onnx::NodeProto& node, bool kernelShape) const {
  const auto is = [](const Dims& dims, std::int64_t value) {
    return std::ranges::all_of(dims, [&](std::int64_t d) { return d == value; });
  };
  if (kernelShape) ModelBuilder::set(node, "kernel_shape", kernel);
  if (!is(strides, 1)) ModelBuilder::set(node, "strides", strides);
  if (!is(dilations, 1)) ModelBuilder::set(node, "dilations", dilations);
  if (!is(pads, 0) && !autoPad) ModelBuilder::set(node, "pads", pads);
  if (autoPad) ModelBuilder::set(node, "auto_pad", autoPad);
  if (ceil) ModelBuilder::set(node, "ceil_mode", std::int64_t{1});
}

}  // namespace heddle::property
