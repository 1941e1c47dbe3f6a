// Functions of one element become tables; two tensors meet in Add and Mul.
#include <algorithm>
#include <cmath>

#include "lowering.h"

namespace heddle::canon {

namespace {

std::vector<FloatTable> applied(std::vector<FloatTable> tables, const auto& function) {
  for (FloatTable& table : tables)
    for (float& value : table) value = static_cast<float>(function(double{value}));
  return tables;
}

// As many tables as channels, from one or as many.
std::vector<FloatTable> widened(std::vector<FloatTable> tables, std::size_t channels) {
  if (tables.size() == 1) tables.resize(channels, tables.front());
  return tables;
}

}  // namespace

void Lowering::lowerFunction(const Node& node) {
  const auto& function = std::get<FunctionAttributes>(node.attributes);
  const bool quantized =
      node.kind == NodeKind::QLinearSigmoid || node.kind == NodeKind::QLinearLeakyRelu;
  if (!quantized && source_[node.outputs[0]].type != DataType::Float32)
    throw Unsupported(std::string("a function of ") + toText(source_[node.outputs[0]].type));
  const RealRef ref =
      quantized ? dequantized(integerOf(node, 0),
                              quantizationOf(node, 1, 2, source_[node.inputs[0]].type), node)
                : realOf(node, 0);
  if (node.kind == NodeKind::Relu || node.kind == NodeKind::Clip) {
    const double low = node.kind == NodeKind::Relu ? 0 : function.low;
    const double high =
        node.kind == NodeKind::Relu ? std::numeric_limits<double>::infinity() : function.high;
    return setReal(node, 0, clipped(ref, low, high, node));
  }
  const Real& from = real(ref.id);
  const auto* sum = std::get_if<Accumulator>(&from.kind);
  if (sum && node.kind == NodeKind::LeakyRelu && std::isinf(from.low) && std::isinf(from.high) &&
      function.alpha >= 0) {
    Accumulator sloped = *sum;
    sloped.negativeSlope.resize(sum->scale.size(), 1);
    for (double& slope : sloped.negativeSlope) slope *= double{function.alpha};
    return setReal(node, 0, {addReal(fusedInto(from, node, std::move(sloped))), ref.view});
  }
  const RealRef read = mapped(ref);
  std::vector<FloatTable> tables =
      applied(tablesOf(std::get<Mapped>(real(read.id).kind)),
              [&](double x) { return *evaluateFunction(node.kind, function, x); });
  const RealRef result = withTables(read, std::move(tables), node);
  if (!quantized) return setReal(node, 0, result);
  setInteger(node, 0, result, quantizationOf(node, 3, 4, source_[node.outputs[0]].type));
}

// Elements of `constant` by channel of the tensor (or one for all), where it varies along C alone.
std::optional<std::vector<double>> Lowering::perChannel(const RealRef& ref,
                                                        const ConstantReal& constant) {
  const std::vector<double> elements = elementsOf(constant);
  if (elements.size() == 1) return elements;
  const Dims shape = ref.view.shape();
  if (constant.shape.size() > shape.size()) return std::nullopt;
  const std::size_t lead = shape.size() - constant.shape.size();
  const std::int64_t channels = real(ref.id).shape.channels;
  std::vector<std::int64_t> channelOf{0};  // of each element, in order
  for (std::size_t i = 0; i < constant.shape.size(); ++i) {
    if (constant.shape[i] == 1) continue;
    if (constant.shape[i] != shape[i + lead]) return std::nullopt;
    for (const Digit& digit : ref.view.dims[i + lead]) {
      if (digit.axis != Axis::C) return std::nullopt;
      std::vector<std::int64_t> next;
      for (const std::int64_t base : channelOf)
        for (std::int64_t k = 0; k < digit.extent; ++k) next.push_back(base + k * digit.stride);
      channelOf = std::move(next);
    }
  }
  if (static_cast<std::int64_t>(channelOf.size()) != channels ||
      channelOf.size() != elements.size())
    return std::nullopt;
  std::vector<double> out(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i)
    out[static_cast<std::size_t>(channelOf[i])] = elements[i];
  return out;
}

// factor * x + addend, each one for all channels or one for each.
RealRef Lowering::affine(const RealRef& ref, const std::vector<double>& factor,
                         const std::vector<double>& addend, const Node& node) {
  const auto at = [](const std::vector<double>& values, std::size_t c) {
    return values.size() == 1 ? values[0] : values[c];
  };
  const Real& from = real(ref.id);
  if (const auto* sum = std::get_if<Accumulator>(&from.kind)) {
    if (!std::isinf(from.low) || !std::isinf(from.high) || !sum->negativeSlope.empty())
      throw Unsupported("it follows a Relu of a product that no QuantizeLinear has rounded");
    Accumulator moved = *sum;
    for (std::size_t c = 0; c < moved.scale.size(); ++c) {
      moved.scale[c] *= at(factor, c);
      moved.offset[c] = moved.offset[c] * at(factor, c) + at(addend, c);
    }
    return {addReal(fresh(node, std::move(moved), from.shape)), ref.view};
  }
  const RealRef read = mapped(ref);
  const std::size_t channels = std::max(factor.size(), addend.size());
  std::vector<FloatTable> tables = tablesOf(std::get<Mapped>(real(read.id).kind));
  if (channels > 1) tables = widened(std::move(tables), channels);
  for (std::size_t c = 0; c < tables.size(); ++c)
    for (float& value : tables[c])
      value = value * static_cast<float>(at(factor, c)) + static_cast<float>(at(addend, c));
  return withTables(read, std::move(tables), node);
}

void Lowering::lowerBatchNormalization(const Node& node) {
  const float epsilon = std::get<BatchNormalizationAttributes>(node.attributes).epsilon;
  std::array<std::vector<double>, 4> parameters;  // gamma, beta, mean, variance
  for (std::size_t i = 0; i < 4; ++i) {
    if (i + 1 >= node.inputs.size() || !node.inputs[i + 1].valid())
      throw Unsupported("a parameter is missing");
    parameters[i] = elementsOf(constantReal(node.inputs[i + 1]));
  }
  const RealRef ref = realOf(node, 0);
  const Dims shape = ref.view.shape();
  ConstantReal factor{.bytes = nullptr,
                      .type = DataType::Float32,
                      .shape = Dims(shape.size(), 1),
                      .scales = {1},
                      .zeros = {0},
                      .axis = 0};
  if (shape.size() < 2) throw Unsupported("a value without channels");
  factor.shape[1] = shape[1];
  std::string factorBytes, addendBytes;
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape[1]); ++c) {
    for (const auto& values : parameters)
      if (values.size() != static_cast<std::size_t>(shape[1]))
        throw Unsupported("its parameters do not fit its channels");
    const float scale =
        static_cast<float>(parameters[0][c] / std::sqrt(parameters[3][c] + double{epsilon}));
    const float addend = static_cast<float>(parameters[1][c] - parameters[2][c] * double{scale});
    if (!std::isfinite(scale) || !std::isfinite(addend))
      throw Unsupported("its parameters are not finite", "CANON004");
    factorBytes.append(reinterpret_cast<const char*>(&scale), sizeof scale);
    addendBytes.append(reinterpret_cast<const char*>(&addend), sizeof addend);
  }
  ConstantReal addend = factor;
  factor.bytes = &factorBytes;
  addend.bytes = &addendBytes;
  const auto factors = perChannel(ref, factor), addends = perChannel(ref, addend);
  if (!factors || !addends) throw Unsupported("its channels do not lie along one axis");
  setReal(node, 0, affine(ref, *factors, *addends, node));
}

void Lowering::lowerPRelu(const Node& node) {
  const RealRef ref = realOf(node, 0);
  const auto slopes = perChannel(ref, constantReal(node.inputs[1]));
  if (!slopes) throw Unsupported("slopes that are not one for each channel");
  const Real& from = real(ref.id);
  const auto* sum = std::get_if<Accumulator>(&from.kind);
  const bool positive =
      std::ranges::all_of(*slopes, [](double s) { return s >= 0 && std::isfinite(s); });
  if (sum && positive && std::isinf(from.low) && std::isinf(from.high)) {
    Accumulator sloped = *sum;
    sloped.negativeSlope.resize(sum->scale.size(), 1);
    for (std::size_t c = 0; c < sum->scale.size(); ++c)
      sloped.negativeSlope[c] *= slopes->size() == 1 ? slopes->front() : (*slopes)[c];
    return setReal(node, 0, {addReal(fusedInto(from, node, std::move(sloped))), ref.view});
  }
  const RealRef read = mapped(ref);
  std::vector<FloatTable> tables = tablesOf(std::get<Mapped>(real(read.id).kind));
  if (slopes->size() > 1) tables = widened(std::move(tables), slopes->size());
  for (std::size_t c = 0; c < tables.size(); ++c) {
    const auto slope = static_cast<float>(slopes->size() == 1 ? slopes->front() : (*slopes)[c]);
    for (float& value : tables[c])
      if (value < 0) value *= slope;
  }
  setReal(node, 0, withTables(read, std::move(tables), node));
}

RealRef Lowering::withConstant(NodeKind kind, const RealRef& given, const ConstantReal& constant,
                               bool constantFirst, const Node& node) {
  RealRef ref = given;
  const Dims& outShape = source_[node.outputs[0]].shape;
  if (ref.view.shape() != outShape) {  // the constant is the larger one
    while (ref.view.dims.size() < outShape.size())
      ref.view.dims.insert(ref.view.dims.begin(), Digits{});
    ref = relaid(ref, layOut(outShape, standardAxes(outShape)), node);
  }
  const auto values = perChannel(ref, constant);
  if (!values) {
    const bool isByte = constant.type == DataType::Int8 || constant.type == DataType::Uint8;
    if (!isByte || constant.scales.size() != 1)
      throw Unsupported("a constant operand of " + toText(constant.shape) +
                        " that is not quantized with one scale");
    ref = mapped(ref);  // throws where nothing has laid it out: a float input
    const View view = normalized(ref.view);
    Real made = fresh(node, Mapped{}, tensorShape(view));
    const TensorId tensor = constantTensor(constant, outShape, view, made.name + "_constant");
    made.kind = Mapped{tensor, quantizations_[tensor.at()], {}};
    const RealRef other{addReal(std::move(made)), ref.view};
    return constantFirst ? combined(kind, other, ref, node) : combined(kind, ref, other, node);
  }
  for (const double value : *values)
    if (!std::isfinite(value) && kind != NodeKind::Min && kind != NodeKind::Max)
      throw Unsupported("a constant that is not finite", "CANON004");
  const bool isSum = std::holds_alternative<Accumulator>(real(ref.id).kind);
  const std::vector<double> one{1}, none{0};
  const auto each = [&](const auto& function) {
    std::vector<double> out;
    for (const double value : *values) out.push_back(function(value));
    return out;
  };
  if (isSum && kind == NodeKind::Add) return affine(ref, one, *values, node);
  if (isSum && kind == NodeKind::Mul) return affine(ref, *values, none, node);
  if (isSum && kind == NodeKind::Div && !constantFirst)
    return affine(ref, each([](double v) { return 1 / v; }), none, node);
  if (isSum && kind == NodeKind::Sub) {
    const std::vector<double> minus{-1};
    return constantFirst ? affine(ref, minus, *values, node)
                         : affine(ref, one, each([](double v) { return -v; }), node);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kind == NodeKind::Max && values->size() == 1)
    return clipped(ref, values->front(), kInfinity, node);
  if (kind == NodeKind::Min && values->size() == 1)
    return clipped(ref, -kInfinity, values->front(), node);
  const RealRef read = mapped(ref);
  std::vector<FloatTable> tables = tablesOf(std::get<Mapped>(real(read.id).kind));
  if (values->size() > 1) tables = widened(std::move(tables), values->size());
  for (std::size_t c = 0; c < tables.size(); ++c) {
    const double operand = values->size() == 1 ? values->front() : (*values)[c];
    for (float& value : tables[c])
      value = static_cast<float>(*(constantFirst ? evaluateBinary(kind, operand, double{value})
                                                 : evaluateBinary(kind, double{value}, operand)));
  }
  return withTables(read, std::move(tables), node);
}

// Whether it is a pixel of the channels of `whole`, which has several: all of these meet it.
bool Lowering::isOnePixelOf(const RealRef& ref, const View& whole) {
  const Shape shape = tensorShape(whole);
  if (shape.height * shape.width == 1 || real(ref.id).shape != Shape{1, 1, shape.channels})
    return false;
  const View own = normalized(ref.view);
  for (std::size_t i = 0; i < whole.dims.size(); ++i) {
    const Digits& digits = whole.dims[i];
    const auto channels = std::ranges::count(digits, Axis::C, &Digit::axis);
    if (channels > 0 && channels < std::ssize(digits)) return false;
    if (own.dims[i] != (channels > 0 ? digits : Digits{})) return false;
  }
  return true;
}

RealRef Lowering::combined(NodeKind kind, const RealRef& givenA, const RealRef& givenB,
                           const Node& node) {
  RealRef a = mapped(givenA), b = mapped(givenB);
  const Dims& shape = source_[node.outputs[0]].shape;
  // x, and what a Table has made of it, are functions of x.
  const Mapped left = throughTable(std::get<Mapped>(real(a.id).kind)),
               right = throughTable(std::get<Mapped>(real(b.id).kind));
  if (left.tensor == right.tensor && normalized(a.view) == normalized(b.view)) {
    // Two functions of one tensor are one function: x * Sigmoid(x), ...
    std::vector<FloatTable> tables = tablesOf(left), other = tablesOf(right);
    const std::size_t channels = std::max(tables.size(), other.size());
    tables = widened(std::move(tables), channels);
    other = widened(std::move(other), channels);
    for (std::size_t c = 0; c < channels; ++c)
      for (std::size_t i = 0; i < 256; ++i)
        tables[c][i] =
            static_cast<float>(*evaluateBinary(kind, double{tables[c][i]}, double{other[c][i]}));
    const RealId of = addReal(derived(real(a.id), left));
    return withTables({of, a.view}, std::move(tables), node);
  }
  if (kind != NodeKind::Add && kind != NodeKind::Sub && kind != NodeKind::Mul)
    throw Unsupported(std::string(toText(kind)) + " of two tensors");
  for (RealRef* ref : {&a, &b})
    while (ref->view.dims.size() < shape.size())
      ref->view.dims.insert(ref->view.dims.begin(), Digits{});
  const View target = a.view.shape() == shape   ? normalized(a.view)
                      : b.view.shape() == shape ? normalized(b.view)
                                                : layOut(shape, standardAxes(shape));
  // A difference is of b, wherever that is the one pixel.
  if (kind != NodeKind::Sub && isOnePixelOf(a, target)) std::swap(a, b);
  const auto [tensorA, quantizationA] = linear(relaid(a, target, node));
  const auto [tensorB, quantizationB] =
      linear(isOnePixelOf(b, target) ? b : relaid(b, target, node));
  RealKind result = Product{tensorA, tensorB, quantizationA, quantizationB};
  if (kind != NodeKind::Mul)
    result = Sum{tensorA, tensorB, quantizationA, quantizationB, kind == NodeKind::Sub ? -1 : 1};
  return {addReal(fresh(node, std::move(result), tensorShape(target))), target};
}

void Lowering::lowerBinary(const Node& node) {
  const bool quantized = node.kind == NodeKind::QLinearAdd || node.kind == NodeKind::QLinearMul;
  const NodeKind kind = node.kind == NodeKind::QLinearAdd   ? NodeKind::Add
                        : node.kind == NodeKind::QLinearMul ? NodeKind::Mul
                                                            : node.kind;
  if (node.inputs.size() == 1) return setReal(node, 0, realOf(node, 0));
  const std::size_t first = 0, second = quantized ? 3 : 1;
  if (!quantized && node.inputs.size() != 2) throw Unsupported("more than two operands");
  const auto constantOf = [&](std::size_t i) {
    if (!quantized) return constantReal(node.inputs[i]);
    return quantizedConstant(node.inputs[i], node.inputs[i + 1], node.inputs[i + 2], 0);
  };
  const auto realAt = [&](std::size_t i) {
    if (!quantized) return realOf(node, i);
    return dequantized(integerOf(node, i),
                       quantizationOf(node, i + 1, i + 2, source_[node.inputs[i]].type), node);
  };
  const bool constantA = isConstant(node.inputs[first]),
             constantB = isConstant(node.inputs[second]);
  RealRef result;
  if (constantA && constantB) throw Unsupported("both operands are constants");
  if (constantA)
    result = withConstant(kind, realAt(second), constantOf(first), true, node);
  else if (constantB)
    result = withConstant(kind, realAt(first), constantOf(second), false, node);
  else
    result = combined(kind, realAt(first), realAt(second), node);
  if (!quantized) return setReal(node, 0, result);
  setInteger(node, 0, result, quantizationOf(node, 6, 7, source_[node.outputs[0]].type));
}

}  // namespace heddle::canon
