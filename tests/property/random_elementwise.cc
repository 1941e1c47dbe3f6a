// Operators element by element, of one operand and of two.
#include <algorithm>

#include "model_writer.h"

namespace heddle::property {
namespace {

// An operator without attributes, from an operator set on.
NamedMaker plain(const char* kind, std::int64_t fromOpset = 0, const char* domain = "") {
  return {kind, [=](ModelWriter& w, const Tensor& x) -> std::optional<Tensor> {
            if (w.opset < fromOpset) return std::nullopt;
            auto& node = w.m.node(kind, {w.real(x)});
            node.set_domain(domain);
            return w.result(node.output(0), x.shape);
          }};
}

// One whose attributes alpha, beta or gamma may be given.
NamedMaker shaped(const char* kind, const std::vector<const char*>& attributes, int weight = 1) {
  return {kind,
          [=](ModelWriter& w, const Tensor& x) -> std::optional<Tensor> {
            auto& node = w.m.node(kind, {w.real(x)});
            for (const char* attribute : attributes)
              if (w.chance(60))
                ModelBuilder::set(node, attribute, static_cast<float>(w.choices.real(0.05, 1.2)));
            return w.result(node.output(0), x.shape);
          },
          weight};
}

std::optional<Tensor> clip(ModelWriter& w, const Tensor& x) {
  const double low = w.choices.pick(std::vector<double>{0, -1, -0.3, 0.1}),
               high = w.choices.pick(std::vector<double>{1, 1.5, 6, 0.5});
  const bool hasLow = w.chance(80), hasHigh = w.chance(80);
  if (w.opset < 11) {
    auto& node = w.m.node("Clip", {w.real(x)});
    if (hasLow) ModelBuilder::set(node, "min", static_cast<float>(low));
    if (hasHigh) ModelBuilder::set(node, "max", static_cast<float>(high));
    return w.result(node.output(0), x.shape);
  }
  ModelBuilder::Names inputs{w.real(x)};
  if (hasLow || hasHigh) inputs.push_back(hasLow ? w.m.scalar(static_cast<float>(low)) : "");
  if (hasHigh) inputs.push_back(w.m.scalar(static_cast<float>(high)));
  return w.result(w.m.op("Clip", inputs), x.shape);
}

// One number for each channel, or one for all.
Dims channelShape(ModelWriter& w, const Dims& shape) {
  if (shape.empty()) return {};
  if (shape.size() < 2 || w.chance(30)) return {1};
  Dims channels(shape.size() - 1, 1);
  channels[0] = shape[1];
  return channels;
}

std::optional<Tensor> pRelu(ModelWriter& w, const Tensor& x) {
  const std::string slopes = w.reals(channelShape(w, x.shape), w.chance(20) ? -0.5 : 0, 1);
  return w.result(w.m.op("PRelu", {w.real(x), slopes}), x.shape);
}

std::optional<Tensor> batchNormalization(ModelWriter& w, const Tensor& x) {
  if (x.shape.size() < 2) return std::nullopt;
  const Dims channels{x.shape[1]};
  const std::string gamma = w.reals(channels, -0.3, 1.5), beta = w.reals(channels, -1, 1),
                    mean = w.reals(channels, -0.5, 0.5), variance = w.reals(channels, 0.1, 2);
  auto& node = w.m.node("BatchNormalization", {w.real(x), gamma, beta, mean, variance});
  if (w.chance(50)) ModelBuilder::set(node, "epsilon", 1e-3F);
  return w.result(node.output(0), x.shape);
}

std::optional<Tensor> dropout(ModelWriter& w, const Tensor& x) {
  ModelBuilder::Names inputs{w.real(x)};
  if (w.opset >= 12 && w.chance(50)) inputs.push_back(w.m.scalar(0.5F));
  return w.result(w.m.node("Dropout", inputs, w.chance(30) ? 2 : 1).output(0), x.shape);
}

std::optional<Tensor> cast(ModelWriter& w, const Tensor& x) {
  auto& node = w.m.node("Cast", {w.real(x)});
  ModelBuilder::set(node, "to", std::int64_t{onnx::TensorProto::FLOAT});
  return w.result(node.output(0), x.shape);
}

// x * Sigmoid(x), x * HardSigmoid(x), the gate rounded or not: two functions of one tensor.
std::optional<Tensor> gate(ModelWriter& w, const Tensor& x) {
  const std::string read = w.real(x);
  std::string gated = w.m.op(w.chance(50) ? "Sigmoid" : "HardSigmoid", {read});
  if (w.chance(50)) gated = w.m.requantized(gated, 1.F / 256);
  return w.result(w.m.op("Mul", {read, gated}), x.shape);
}

// --- two operands

// The shape of an operand that broadcasts to `shape`.
Dims broadcastable(ModelWriter& w, const Dims& shape) {
  Dims out = shape;
  for (std::int64_t& extent : out)
    if (w.chance(40)) extent = 1;
  while (!out.empty() && out.front() == 1 && w.chance(50)) out.erase(out.begin());
  return out;
}

// The other operand's name; it broadcasts to x's shape, or grows `shape`.
std::string operand(ModelWriter& w, const Tensor& x, Dims& shape, double low, double high) {
  switch (w.between(0, 9)) {
    case 0:
    case 1:
    case 2:
      return w.real(w.partner(x.shape));
    case 3:
      return w.reals(w.chance(50) || x.shape.empty() ? Dims{} : Dims{1}, low, high);
    case 4:
    case 5:
      return w.reals(channelShape(w, x.shape), low, high);
    case 6: {  // a quantized constant
      const Dims whole = w.chance(50) ? x.shape : broadcastable(w, x.shape);
      return w.dequantized(w.weights(whole, 0, 1, false));
    }
    case 7:
      return w.real(w.partner(broadcastable(w, x.shape)));
    case 8: {  // one that x broadcasts to
      Dims larger = x.shape;
      for (std::size_t i = 1; i < larger.size(); ++i)
        if (larger[i] == 1 && w.chance(50)) larger[i] = w.between(1, 6);
      shape = larger;
      return w.real(w.partner(larger));
    }
    default:
      return w.real(x);
  }
}

NamedMaker binary(const char* kind, int weight) {
  return {kind,
          [=](ModelWriter& w, const Tensor& x) -> std::optional<Tensor> {
            const bool positive = kind[0] == 'D' || kind[0] == 'P';  // Div, Pow
            Dims shape = x.shape;
            const std::string other = operand(w, x, shape, positive ? 0.5 : -1, 2);
            const std::string own = w.real(x);
            const bool swapped = w.chance(25);
            return w.result(w.m.op(kind, {swapped ? other : own, swapped ? own : other}), shape,
                            1.0 / 30);
          },
          weight};
}

// Arithmetic on the integers themselves, which operator sets from 14 on allow: no canonical
// operator means that.
std::optional<Tensor> onIntegers(ModelWriter& w, const Tensor& x) {
  if (w.opset < 14 || x.integer.empty() || !w.chance(30)) return std::nullopt;
  const char* kind = w.choices.pick(
      std::vector<const char*>{"Add", "Max", "Relu", "Clip", "ReduceMax", "Mul", "Abs", "Sign"});
  const bool binary = kind[0] == 'M' || kind[1] == 'd';
  const bool isRelu = kind[0] == 'R' && kind[2] == 'l';
  if (isRelu && x.scaling.isUnsigned) return std::nullopt;
  ModelBuilder::Names inputs{x.integer};
  if (binary) inputs.push_back(w.chance(50) ? x.integer : x.scaling.zero);
  if (kind[0] == 'C') inputs.push_back(x.scaling.zero);
  return w.integerResult(w.m.op(kind, inputs),
                         kind[0] == 'R' && !isRelu ? Dims(x.shape.size(), 1) : x.shape, x.scaling);
}

}  // namespace

std::vector<NamedMaker> elementwiseMakers() {
  std::vector<NamedMaker> makers{plain("Relu"),
                                 plain("Sigmoid"),
                                 plain("HardSwish", 14),
                                 plain("Tanh"),
                                 plain("Softplus"),
                                 plain("Softsign"),
                                 plain("Exp"),
                                 plain("Log"),
                                 plain("Sqrt"),
                                 plain("Abs"),
                                 plain("Neg"),
                                 plain("Floor"),
                                 plain("Ceil"),
                                 plain("Round", 11),
                                 plain("Erf"),
                                 plain("Reciprocal"),
                                 plain("Sign"),
                                 plain("Mish", 18),
                                 plain("Gelu", 20),
                                 plain("Identity"),
                                 plain("Gelu", 0, "com.microsoft"),
                                 shaped("Elu", {"alpha"}),
                                 shaped("Selu", {"alpha", "gamma"}),
                                 shaped("HardSigmoid", {"alpha", "beta"}),
                                 shaped("LeakyRelu", {"alpha"}, 2),
                                 binary("Add", 6),
                                 binary("Sub", 2),
                                 binary("Mul", 4),
                                 binary("Div", 1),
                                 binary("Pow", 1),
                                 binary("Min", 1),
                                 binary("Max", 1),
                                 {"Clip", clip, 2},
                                 {"PRelu", pRelu, 2},
                                 {"BatchNormalization", batchNormalization, 2},
                                 {"Dropout", dropout},
                                 {"Cast", cast},
                                 {"Mul of a function", gate, 2},
                                 {"Arithmetic on integers", onIntegers, 1}};
  makers.front().weight = 5;
  return makers;
}

}  // namespace heddle::property
