// com.microsoft's operators on integers, and float operators that stay on the host.
#include <algorithm>

#include "model_writer.h"

namespace heddle::property {
namespace {

onnx::NodeProto& microsoft(ModelWriter& w, const char* kind, const ModelBuilder::Names& inputs) {
  auto& node = w.m.node(kind, inputs);
  node.set_domain("com.microsoft");
  return node;
}

// The result's type is the first operand's.
Scaling scalingAs(ModelWriter& w, const Tensor& x, double about = 1.0 / 40) {
  Scaling out = w.scaling(about);
  return out.isUnsigned == x.scaling.isUnsigned ? out : x.scaling;
}

NamedMaker binary(const char* kind) {
  return {kind,
          [=](ModelWriter& w, const Tensor& given) -> std::optional<Tensor> {
            const Tensor x = w.asInteger(given);
            ModelBuilder::Names inputs{x.integer, x.scaling.scale, x.scaling.zero};
            if (w.chance(30)) {
              const Scaling own = scalingAs(w, x);
              const Dims shape = w.chance(50) || x.shape.size() < 3
                                     ? Dims{}
                                     : Dims{x.shape[x.shape.size() - 3], 1, 1};
              const std::string constant = w.bytes(shape, own.isUnsigned, -128, 127);
              inputs.insert(inputs.end(), {constant, own.scale, own.zero});
            } else {
              Tensor other = w.asInteger(w.partner(x.shape));
              if (other.scaling.isUnsigned != x.scaling.isUnsigned) other = x;
              inputs.insert(inputs.end(), {other.integer, other.scaling.scale, other.scaling.zero});
            }
            const Scaling out = scalingAs(w, x, 1.0 / 30);
            inputs.insert(inputs.end(), {out.scale, out.zero});
            return w.integerResult(microsoft(w, kind, inputs).output(0), x.shape, out);
          },
          2};
}

std::optional<Tensor> qlinearConcat(ModelWriter& w, const Tensor& given) {
  const Tensor x = w.asInteger(given);
  if (x.shape.empty()) return std::nullopt;
  const std::int64_t axis = x.shape.size() > 1 ? 1 : 0;
  const Scaling out = scalingAs(w, x);
  ModelBuilder::Names inputs{out.scale, out.zero, x.integer, x.scaling.scale, x.scaling.zero};
  Dims shape = x.shape;
  for (std::int64_t n = w.between(0, 2); n > 0; --n) {
    const Tensor other = w.asInteger(w.partner(x.shape));
    if (other.scaling.isUnsigned != x.scaling.isUnsigned) continue;
    inputs.insert(inputs.end(), {other.integer, other.scaling.scale, other.scaling.zero});
    shape[static_cast<std::size_t>(axis)] += x.shape[static_cast<std::size_t>(axis)];
  }
  auto& node = microsoft(w, "QLinearConcat", inputs);
  ModelBuilder::set(node, "axis", axis);
  return w.integerResult(node.output(0), shape, out);
}

NamedMaker unary(const char* kind, const char* attribute) {
  return {kind,
          [=](ModelWriter& w, const Tensor& given) -> std::optional<Tensor> {
            const Tensor x = w.asInteger(given);
            const Scaling out = scalingAs(w, x, 1.0 / 100);
            auto& node = microsoft(
                w, kind, {x.integer, x.scaling.scale, x.scaling.zero, out.scale, out.zero});
            if (attribute)
              ModelBuilder::set(node, attribute, static_cast<float>(w.choices.real(0, 0.5)));
            return w.integerResult(node.output(0), x.shape, out);
          },
          2};
}

// --- on the host

NamedMaker alongAxis(const char* kind) {
  return {kind, [=](ModelWriter& w, const Tensor& x) -> std::optional<Tensor> {
            if (x.shape.empty()) return std::nullopt;
            const std::int64_t axis = w.between(0, std::ssize(x.shape) - 1);
            const bool index = kind[0] == 'A', keep = !index || w.chance(50);
            auto& node = w.m.node(kind, {w.real(x)});
            ModelBuilder::set(node, "axis", axis);
            if (!keep) ModelBuilder::set(node, "keepdims", std::int64_t{0});
            Dims shape = x.shape;
            if (index) shape[static_cast<std::size_t>(axis)] = 1;
            if (!keep) shape.erase(shape.begin() + axis);
            return Tensor{shape, node.output(0), "", {}};
          }};
}

std::optional<Tensor> gather(ModelWriter& w, const Tensor& x) {
  if (x.shape.empty()) return std::nullopt;
  const std::int64_t axis = w.between(0, std::ssize(x.shape) - 1);
  Dims indices;
  for (std::int64_t n = w.between(1, 4); n > 0; --n)
    indices.push_back(w.between(0, x.shape[static_cast<std::size_t>(axis)] - 1));
  Dims shape = x.shape;
  shape[static_cast<std::size_t>(axis)] = std::ssize(indices);
  const std::string name = w.m.op("Gather", {w.real(x), w.m.integers(indices)}, "axis", axis);
  return Tensor{shape, name, "", {}};
}

std::optional<Tensor> dynamicQuantize(ModelWriter& w, const Tensor& x) {
  auto& node = w.m.node("DynamicQuantizeLinear", {w.real(x)}, 3);
  const ModelBuilder::Names made(node.output().begin(), node.output().end());
  return Tensor{x.shape, w.m.op("DequantizeLinear", made), "", {}};
}

}  // namespace

std::vector<NamedMaker> integerMakers() {
  return {binary("QLinearAdd"),
          binary("QLinearMul"),
          {"QLinearConcat", qlinearConcat, 2},
          unary("QLinearSigmoid", nullptr),
          unary("QLinearLeakyRelu", "alpha")};
}

std::vector<NamedMaker> hostMakers() {
  return {alongAxis("Softmax"), alongAxis("LogSoftmax"),
          alongAxis("ArgMax"),  alongAxis("ArgMin"),
          {"Gather", gather},   {"DynamicQuantizeLinear", dynamicQuantize}};
}

}  // namespace heddle::property
