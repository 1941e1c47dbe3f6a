#include "signatures.h"

#include <algorithm>
#include <array>
#include <limits>

namespace heddle::onnx_import {

namespace {

constexpr TypeSet typeSet(std::initializer_list<DataType> types) {
  TypeSet made;
  for (const DataType type : types) made.bits |= 1U << static_cast<unsigned>(type);
  return made;
}
constexpr TypeSet operator|(TypeSet a, TypeSet b) { return {a.bits | b.bits}; }

constexpr TypeSet kFloat = typeSet({DataType::Float32});
constexpr TypeSet kReal = typeSet({DataType::Float32, DataType::Float64});
constexpr TypeSet kByte = typeSet({DataType::Int8, DataType::Uint8});
constexpr TypeSet kInt32 = typeSet({DataType::Int32});
constexpr TypeSet kInt64 = typeSet({DataType::Int64});
constexpr TypeSet kIndex = kInt32 | kInt64;
constexpr TypeSet kWide = kReal | kIndex;
constexpr TypeSet kSigned = kWide | typeSet({DataType::Int8});
constexpr TypeSet kNumber = kWide | kByte;
constexpr TypeSet kAll = kNumber | typeSet({DataType::Bool});

constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

Operand required(const char* name, TypeSet types, Size size = Size::Any, std::size_t of = 0) {
  return {.name = name, .types = types, .size = size, .of = of};
}
Operand optional(const char* name, TypeSet types, Size size = Size::Any, std::size_t of = 0) {
  return {.name = name, .types = types, .size = size, .of = of, .optional = true};
}
// A zero point of the type of input `of`.
Operand zeroPoint(const char* name, std::size_t of, Size size = Size::One) {
  return {.name = name, .types = kByte, .size = size, .of = of, .typeOf = of};
}
Operand maybe(Operand operand) {
  operand.optional = true;
  return operand;
}
Operand likeFirst(const char* name, TypeSet types, Size size = Size::Any) {
  return {.name = name, .types = types, .size = size, .typeOf = 0};
}

Signature unary(TypeSet types) { return {.inputs = {required("X", types)}}; }
Signature binary(TypeSet types) {
  return {.inputs = {required("A", types), likeFirst("B", types)}};
}
Signature anyNumber(TypeSet types) {
  return {.inputs = {required("data", types), maybe(likeFirst("data", types))}, .repeated = 1};
}
// Data, and what has become an attribute of older versions or the other way round.
Signature parametrized(TypeSet types, std::vector<Operand> parameters) {
  Signature made = unary(types);
  made.inputs.insert(made.inputs.end(), parameters.begin(), parameters.end());
  return made;
}

Signature quantizing(bool dequantizes) {
  Signature made{
      .inputs = {required("x", dequantizes ? kByte | kInt32 : kFloat | kInt32),
                 required(dequantizes ? "x_scale" : "y_scale", kFloat, Size::OneOrPerAxis, 0),
                 optional(dequantizes ? "x_zero_point" : "y_zero_point",
                          dequantizes ? kByte | kInt32 : kByte, Size::AsMany, 1)}};
  if (dequantizes) made.inputs[2].typeOf = 0;
  return made;
}

Signature batchNormalization() {
  Signature made = unary(kReal);
  for (const char* name : {"scale", "B", "mean", "var"})
    made.inputs.push_back(required(name, kReal, Size::PerChannel, 0));
  made.mostOutputs = 5;
  return made;
}

Signature qlinearConv() {
  return {.inputs = {required("x", kByte), required("x_scale", kFloat, Size::One),
                     zeroPoint("x_zero_point", 0), required("w", kByte),
                     required("w_scale", kFloat, Size::OneOrPerOutput, 3),
                     zeroPoint("w_zero_point", 3, Size::OneOrPerOutput),
                     required("y_scale", kFloat, Size::One),
                     required("y_zero_point", kByte, Size::One),
                     optional("B", kInt32, Size::PerOutput, 3)}};
}

Signature qlinearMatMul() {
  return {.inputs = {required("a", kByte), required("a_scale", kFloat, Size::OneOrPerRow, 0),
                     zeroPoint("a_zero_point", 0, Size::OneOrPerRow), required("b", kByte),
                     required("b_scale", kFloat, Size::OneOrPerColumn, 3),
                     zeroPoint("b_zero_point", 3, Size::OneOrPerColumn),
                     required("y_scale", kFloat, Size::One),
                     required("y_zero_point", kByte, Size::One)}};
}

Signature qgemm() {
  return {.inputs = {required("A", kByte), required("a_scale", kFloat, Size::One),
                     zeroPoint("a_zero_point", 0), required("B", kByte),
                     required("b_scale", kFloat, Size::OneOrPerColumn, 3),
                     zeroPoint("b_zero_point", 3, Size::OneOrPerColumn),
                     optional("C", kInt32, Size::BroadcastsToOutput),
                     optional("y_scale", kFloat, Size::One),
                     optional("y_zero_point", kByte, Size::One)}};
}

Signature qlinearBinary() {
  return {.inputs = {required("A", kByte), required("A_scale", kFloat, Size::One),
                     maybe(zeroPoint("A_zero_point", 0)), likeFirst("B", kByte),
                     required("B_scale", kFloat, Size::One), maybe(zeroPoint("B_zero_point", 0)),
                     required("C_scale", kFloat, Size::One), maybe(zeroPoint("C_zero_point", 0))}};
}

Signature qlinearUnary() {
  return {.inputs = {required("X", kByte), required("X_scale", kFloat, Size::One),
                     maybe(zeroPoint("X_zero_point", 0)), required("Y_scale", kFloat, Size::One),
                     maybe(zeroPoint("Y_zero_point", 0))}};
}

Signature qlinearConcat() {
  const Operand scale = required("scale", kFloat, Size::One);
  return {
      .inputs = {required("Y_scale", kFloat, Size::One), required("Y_zero_point", kByte, Size::One),
                 required("data", kByte), scale, zeroPoint("zero_point", 2)},
      .repeated = 3};
}

Signature signatureFor(NodeKind kind) {
  switch (kind) {
    case NodeKind::QuantizeLinear:
      return quantizing(false);
    case NodeKind::DequantizeLinear:
      return quantizing(true);
    case NodeKind::DynamicQuantizeLinear:
      return {.inputs = {required("x", kFloat)}, .mostOutputs = 3};
    case NodeKind::Conv:
      return {.inputs = {required("X", kReal),
                         likeFirst("W", kReal),
                         {.name = "B",
                          .types = kReal,
                          .size = Size::PerOutput,
                          .of = 1,
                          .typeOf = 0,
                          .optional = true}}};
    case NodeKind::ConvInteger:
      return {.inputs = {required("x", kByte), required("w", kByte),
                         maybe(zeroPoint("x_zero_point", 0)),
                         maybe(zeroPoint("w_zero_point", 1, Size::OneOrPerOutput))}};
    case NodeKind::QLinearConv:
      return qlinearConv();
    case NodeKind::Gemm:
      return {.inputs = {required("A", kWide), likeFirst("B", kWide),
                         maybe(likeFirst("C", kWide, Size::BroadcastsToOutput))}};
    case NodeKind::QGemm:
      return qgemm();
    case NodeKind::MatMul:
      return binary(kWide);
    case NodeKind::MatMulInteger:
      return {.inputs = {required("A", kByte), required("B", kByte),
                         maybe(zeroPoint("a_zero_point", 0, Size::OneOrPerRow)),
                         maybe(zeroPoint("b_zero_point", 1, Size::OneOrPerColumn))}};
    case NodeKind::QLinearMatMul:
      return qlinearMatMul();
    case NodeKind::MaxPool:
      return {.inputs = {required("X", kReal | kByte)}, .mostOutputs = 2};
    case NodeKind::AveragePool:
    case NodeKind::GlobalAveragePool:
    case NodeKind::GlobalMaxPool:
      return unary(kReal);
    case NodeKind::QLinearAveragePool:
    case NodeKind::QLinearLeakyRelu:
    case NodeKind::QLinearSigmoid:
      return qlinearUnary();
    case NodeKind::QLinearGlobalAveragePool: {
      Signature made = qlinearUnary();
      for (Operand& operand : made.inputs) operand.optional = false;
      return made;
    }
    case NodeKind::ReduceMean:
    case NodeKind::ReduceSum:
      return parametrized(kWide, {optional("axes", kInt64)});
    case NodeKind::ReduceMax:
    case NodeKind::ReduceMin:
      return parametrized(kAll, {optional("axes", kInt64)});
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Div:
      return binary(kNumber);
    case NodeKind::Pow:
      return {.inputs = {required("X", kWide), required("Y", kNumber)}};
    case NodeKind::Min:
    case NodeKind::Max:
      return anyNumber(kNumber);
    case NodeKind::QLinearAdd:
    case NodeKind::QLinearMul:
      return qlinearBinary();
    case NodeKind::Relu:
    case NodeKind::Neg:
      return unary(kSigned);
    case NodeKind::Clip:
      return parametrized(kNumber, {maybe(likeFirst("min", kNumber, Size::One)),
                                    maybe(likeFirst("max", kNumber, Size::One))});
    case NodeKind::PRelu:
      return {.inputs = {required("X", kWide), likeFirst("slope", kWide, Size::Broadcasts)}};
    case NodeKind::Abs:
    case NodeKind::Erf:
    case NodeKind::Sign:
      return unary(kNumber);
    case NodeKind::LeakyRelu:
    case NodeKind::Sigmoid:
    case NodeKind::HardSigmoid:
    case NodeKind::HardSwish:
    case NodeKind::Tanh:
    case NodeKind::Elu:
    case NodeKind::Selu:
    case NodeKind::Softplus:
    case NodeKind::Softsign:
    case NodeKind::Exp:
    case NodeKind::Log:
    case NodeKind::Sqrt:
    case NodeKind::Floor:
    case NodeKind::Ceil:
    case NodeKind::Round:
    case NodeKind::Reciprocal:
    case NodeKind::Mish:
    case NodeKind::Gelu:
    case NodeKind::Softmax:
    case NodeKind::LogSoftmax:
      return unary(kReal);
    case NodeKind::BatchNormalization:
      return batchNormalization();
    case NodeKind::Concat:
      return anyNumber(kAll);
    case NodeKind::QLinearConcat:
      return qlinearConcat();
    case NodeKind::Split: {
      Signature made = parametrized(kAll, {optional("split", kInt64)});
      made.mostOutputs = kAnyNumber;
      made.namesFirstOutput = false;
      return made;
    }
    case NodeKind::Slice:
      return parametrized(kAll, {required("starts", kIndex), required("ends", kIndex),
                                 optional("axes", kIndex), optional("steps", kIndex)});
    case NodeKind::Pad:
      return parametrized(
          kAll, {optional("pads", kInt64), maybe(likeFirst("constant_value", kAll, Size::One)),
                 optional("axes", kIndex)});
    case NodeKind::Resize:
      return parametrized(
          kAll, {optional("roi", kReal), optional("scales", kFloat), optional("sizes", kInt64)});
    case NodeKind::Transpose:
    case NodeKind::DepthToSpace:
    case NodeKind::SpaceToDepth:
    case NodeKind::Flatten:
    case NodeKind::Identity:
    case NodeKind::Cast:
    case NodeKind::Shape:
      return unary(kAll);
    case NodeKind::Expand:
    case NodeKind::Reshape:
      return parametrized(kAll, {required("shape", kInt64)});
    case NodeKind::Tile:
      return parametrized(kAll, {required("repeats", kInt64)});
    case NodeKind::Gather:
      return parametrized(kAll, {required("indices", kIndex)});
    case NodeKind::Squeeze:
    case NodeKind::Unsqueeze:
      return parametrized(kAll, {optional("axes", kInt64)});
    case NodeKind::Dropout: {
      Signature made =
          parametrized(kReal, {optional("ratio", kReal, Size::One),
                               optional("training_mode", typeSet({DataType::Bool}), Size::One)});
      made.mostOutputs = 2;
      return made;
    }
    case NodeKind::Range:
      return {.inputs = {required("start", kWide, Size::One), likeFirst("limit", kWide, Size::One),
                         likeFirst("delta", kWide, Size::One)}};
    case NodeKind::ConstantOfShape:
      return {.inputs = {required("input", kInt64)}};
    case NodeKind::Constant:
      return {};
    case NodeKind::ArgMax:
    case NodeKind::ArgMin:
      return unary(kNumber);
  }
  return {};
}

std::string count(std::size_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string textOf(const TypeSet& types) {
  std::string text;
  for (int i = 0; i <= static_cast<int>(DataType::Bool); ++i)
    if (types.contains(static_cast<DataType>(i)))
      text += (text.empty() ? "" : ", ") + std::string(toText(static_cast<DataType>(i)));
  return text;
}

// Operand and what `of` and `typeOf` add for input `i`: repeated ones count along.
struct Place {
  const Operand& operand;
  std::size_t shift;
};
Place placeOf(const Signature& signature, std::size_t i) {
  const std::size_t own = signature.inputs.size();
  if (i < own) return {signature.inputs[i], 0};
  const std::size_t rounds = (i - own) / signature.repeated + 1;
  return {signature.inputs[i - rounds * signature.repeated],
          signature.repeated > 1 ? rounds * signature.repeated : 0};
}

std::string label(std::size_t i, const Operand& operand) {
  return "input " + std::to_string(i) + " (" + operand.name + ")";
}

void checkCounts(const NodeReader& node, const Signature& signature) {
  const std::size_t given = node.inputs().size(), least = signature.leastInputs();
  const std::optional<std::size_t> most = signature.mostInputs();
  const std::string takes = most == least ? std::to_string(least)
                            : most        ? std::to_string(least) + " to " + std::to_string(*most)
                                          : std::to_string(least) + " or more";
  if (given < least || (most && given > *most))
    throw Fault("it has " + count(given, "input") + " where it takes " + takes);
  if (!most && (given - signature.inputs.size() + signature.repeated) % signature.repeated != 0 &&
      given > signature.inputs.size())
    throw Fault("it has " + count(given, "input") + ", the last ones not in groups of " +
                std::to_string(signature.repeated));
  const auto outputs = static_cast<std::size_t>(node.proto().output_size());
  if (outputs > signature.mostOutputs)
    throw Fault("it has " + count(outputs, "output") + " where it makes " +
                (signature.mostOutputs == 1 ? "" : "1 to ") +
                std::to_string(signature.mostOutputs));
  if (outputs > 0 && signature.namesFirstOutput && node.proto().output(0).empty())
    throw Fault("its first output has no name");
}

// What a size of Size::PerOutput ... OneOrPerColumn counts.
std::int64_t countedBy(Size size, const Dims& of, const NodeAttributes& attributes) {
  const auto extent = [&](std::size_t axis) { return axis < of.size() ? of[axis] : 1; };
  switch (size) {
    case Size::PerOutput:
    case Size::OneOrPerOutput:
      return extent(0);
    case Size::PerChannel:
      return extent(1);
    case Size::OneOrPerAxis:
      return extent(static_cast<std::size_t>(std::get<AxisAttributes>(attributes).axis));
    case Size::OneOrPerRow:
      return of.size() == 2 ? of[0] : 1;
    case Size::OneOrPerColumn: {
      const auto* gemm = std::get_if<GemmAttributes>(&attributes);
      if (of.size() < 2) return 1;
      return gemm && gemm->transB ? of[0] : of.back();
    }
    case Size::AsMany:
      return elementCount(of);
    case Size::Any:
    case Size::One:
    case Size::Broadcasts:
    case Size::BroadcastsToOutput:
      break;
  }
  return 1;
}

bool alsoOne(Size size) {
  return size == Size::One || size == Size::OneOrPerOutput || size == Size::OneOrPerAxis ||
         size == Size::OneOrPerRow || size == Size::OneOrPerColumn;
}

void checkSize(const std::string& who, const Value& value, Size size, const Dims& of,
               const NodeAttributes& attributes) {
  if (size == Size::Any) return;
  if (size == Size::Broadcasts || size == Size::BroadcastsToOutput) {
    if (broadcastShapes(value.shape, of) != of)
      throw Fault(who + " of " + toText(value.shape) + " does not broadcast to " + toText(of));
    return;
  }
  const std::int64_t holds = elementCount(value.shape), wanted = countedBy(size, of, attributes);
  const bool oneForAll = alsoOne(size);
  if (oneForAll ? holds == 1 || (holds == wanted && holds > 0) : holds == wanted) return;
  const std::string one = alsoOne(size) && wanted != 1 ? "1 or " : "";
  throw Fault(who + " holds " + std::to_string(holds) + " elements where it needs " + one +
              std::to_string(wanted));
}

// Constant indices of a Gather; those computed at run time are checked when it runs.
void checkIndices(const NodeReader& node, const Converted& converted) {
  const Value& indices = node.input(1);
  if (!indices.constant) return;
  const Dims& x = node.input(0).shape;
  const std::int64_t axis = std::get<AxisAttributes>(converted.attributes).axis;
  const std::int64_t extent = x[static_cast<std::size_t>(axis)];
  const std::optional<Dims> all = node.constantIntegers(1, "indices");
  for (const std::int64_t index : *all)
    if (index < -extent || index >= extent)
      throw Fault("index " + std::to_string(index) + " of " + toText(x) + " along axis " +
                  std::to_string(axis));
}

}  // namespace

std::size_t Signature::leastInputs() const {
  std::size_t least = inputs.size();
  while (least > 0 && inputs[least - 1].optional) --least;
  return least;
}

std::optional<std::size_t> Signature::mostInputs() const {
  if (repeated > 0) return std::nullopt;
  return inputs.size();
}

const Signature& signatureOf(NodeKind kind) {
  static const std::vector<Signature> table = [] {
    std::vector<Signature> made;
    for (int i = 0; i <= static_cast<int>(NodeKind::ArgMin); ++i)
      made.push_back(signatureFor(static_cast<NodeKind>(i)));
    return made;
  }();
  return table[static_cast<std::size_t>(kind)];
}

void checkOperands(const NodeReader& node, NodeKind kind) {
  const Signature& signature = signatureOf(kind);
  checkCounts(node, signature);
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const auto [operand, shift] = placeOf(signature, i);
    if (!node.has(i)) {
      const bool mayMiss = operand.optional && signature.repeated == 0;
      if (mayMiss) continue;
      throw Fault(label(i, operand) + " is missing");
    }
    const DataType type = node.input(i).type;
    if (!operand.types.contains(type))
      throw Fault(label(i, operand) + " is of " + toText(type) + ", not of " +
                  textOf(operand.types));
    if (!operand.typeOf) continue;
    const DataType other = node.input(*operand.typeOf + shift).type;
    if (type != other)
      throw Fault(label(i, operand) + " is of " + toText(type) + " beside input " +
                  std::to_string(*operand.typeOf + shift) + " of " + toText(other));
  }
}

void checkSizes(const NodeReader& node, const Converted& converted) {
  const Signature& signature = signatureOf(converted.kind);
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    if (!node.has(i)) continue;
    const auto [operand, shift] = placeOf(signature, i);
    const Dims& of = operand.size == Size::BroadcastsToOutput
                         ? converted.outputs.front().shape
                         : node.input(operand.of + shift).shape;
    checkSize(label(i, operand), node.input(i), operand.size, of, converted.attributes);
  }
  if (converted.kind == NodeKind::Gather) checkIndices(node, converted);
}

}  // namespace heddle::onnx_import
