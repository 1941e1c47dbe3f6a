// Convolutions and matrix products, in float between dequantize and quantize and in their integer
// forms.
#include <algorithm>

#include "model_writer.h"

namespace heddle::property {
namespace {

constexpr std::int64_t kMostWeights = 20'000;

struct ConvPlan {
  RandomWindow window;
  std::int64_t group = 1, outputs = 1, fanIn = 1;
  Dims weights, output;
};

std::optional<ConvPlan> planConv(ModelWriter& w, const Dims& x) {
  if (x.size() < 3 || x.size() > 5) return std::nullopt;
  ConvPlan plan;
  plan.window = randomWindow(w, Dims(x.begin() + 2, x.end()), true, false);
  std::vector<std::int64_t> groups{1, 1, 1, x[1]};
  for (std::int64_t g = 2; g < x[1]; ++g)
    if (x[1] % g == 0) groups.push_back(g);
  plan.group = w.choices.pick(groups);
  const bool depthwise = plan.group == x[1];
  plan.outputs = depthwise ? x[1] * (w.chance(25) ? w.between(2, 3) : 1)
                           : plan.group * w.between(1, std::max<std::int64_t>(1, 20 / plan.group));
  plan.weights = {plan.outputs, x[1] / plan.group};
  plan.weights.insert(plan.weights.end(), plan.window.kernel.begin(), plan.window.kernel.end());
  plan.output = {x[0], plan.outputs};
  plan.output.insert(plan.output.end(), plan.window.output.begin(), plan.window.output.end());
  plan.fanIn = elementCount(plan.weights) / plan.outputs;
  if (elementCount(plan.weights) > kMostWeights) return std::nullopt;
  return plan;
}

void setConv(ModelWriter& w, onnx::NodeProto& node, const ConvPlan& plan) {
  plan.window.setOn(node, w.chance(70));
  if (plan.group != 1 || w.chance(20)) ModelBuilder::set(node, "group", plan.group);
}

float stepOf(const Tensor& x) { return x.integer.empty() ? 0.02F : x.scaling.step; }

std::optional<Tensor> conv(ModelWriter& w, const Tensor& x) {
  const auto plan = planConv(w, x.shape);
  if (!plan) return std::nullopt;
  const Weights weights = w.weights(plan->weights, 0, plan->fanIn, w.chance(50));
  const std::string filter = w.dequantized(weights);
  ModelBuilder::Names inputs{w.real(x), filter};
  switch (w.between(0, 9)) {
    case 0:
    case 1:
    case 2:
      break;
    case 3:
      inputs.emplace_back();
      break;
    default:
      inputs.push_back(w.bias(weights, plan->outputs, stepOf(x)));
  }
  const bool twice = w.chance(5);
  auto& node = w.m.node("Conv", inputs);
  setConv(w, node, *plan);
  const std::string first = node.output(0);
  if (twice) {  // two layers of the same weights
    const auto attributes = node.attribute();
    auto& second = w.m.node("Conv", {w.real(w.partner(x.shape)), filter});
    *second.mutable_attribute() = attributes;
    w.pool.push_back(w.quantized(second.output(0), plan->output));
  }
  return w.result(first, plan->output);
}

std::optional<Tensor> qlinearConv(ModelWriter& w, const Tensor& given) {
  const auto plan = planConv(w, given.shape);
  if (!plan) return std::nullopt;
  const Tensor x = w.asInteger(given);
  const Weights weights = w.weights(plan->weights, 0, plan->fanIn, w.chance(50));
  const Scaling out = w.scaling(1.0 / 40);
  ModelBuilder::Names inputs{x.integer,     x.scaling.scale, x.scaling.zero, weights.integer,
                             weights.scale, weights.zero,    out.scale,      out.zero};
  if (w.chance(60)) inputs.push_back(w.integerBias(plan->outputs));
  auto& node = w.m.node("QLinearConv", inputs);
  setConv(w, node, *plan);
  return w.integerResult(node.output(0), plan->output, out);
}

// The sum in float: cast, times both scales, plus a bias, rounded.
Tensor scaledSum(ModelWriter& w, const std::string& sum, const Weights& weights, const Tensor& x,
                 const Dims& shape, const Dims& channelShape) {
  auto& cast = w.m.node("Cast", {sum});
  ModelBuilder::set(cast, "to", std::int64_t{onnx::TensorProto::FLOAT});
  const std::string real = cast.output(0);
  std::vector<float> scales;
  for (const float scale : weights.scales) scales.push_back(stepOf(x) * scale);
  const std::string scale = w.m.floats(scales.size() == 1 ? Dims{} : channelShape, scales);
  std::string scaled = w.m.op("Mul", {real, scale});
  if (!w.asRuntime && w.chance(50)) scaled = w.m.op("Add", {scaled, w.reals(channelShape, -1, 1)});
  return w.result(scaled, shape);
}

std::optional<Tensor> convInteger(ModelWriter& w, const Tensor& given) {
  const auto plan = planConv(w, given.shape);
  if (!plan) return std::nullopt;
  const Tensor x = w.asInteger(given);
  const Weights weights = w.weights(plan->weights, 0, plan->fanIn, false);
  ModelBuilder::Names inputs{x.integer, weights.integer, x.scaling.zero};
  if (w.chance(70)) inputs.push_back(weights.zero);
  auto& node = w.m.node("ConvInteger", inputs);
  setConv(w, node, *plan);
  Dims channels(given.shape.size() - 1, 1);
  channels[0] = plan->outputs;
  return scaledSum(w, node.output(0), weights, x, plan->output, channels);
}

// --- matrices

std::optional<Tensor> gemm(ModelWriter& w, const Tensor& x) {
  if (x.shape.size() != 2) return std::nullopt;
  const bool transA = x.shape[0] != 1 && w.chance(30), transB = w.chance(50);
  const std::int64_t length = x.shape[transA ? 0 : 1], rows = x.shape[transA ? 1 : 0],
                     outputs = w.between(1, 20);
  if (length * outputs > kMostWeights) return std::nullopt;
  const Weights weights = w.weights(transB ? Dims{outputs, length} : Dims{length, outputs},
                                    transB ? 0 : 1, length, w.chance(40));
  ModelBuilder::Names inputs{w.real(x), w.dequantized(weights)};
  switch (w.between(0, 5)) {
    case 0:
      break;
    case 1:
      inputs.push_back(w.reals(w.chance(50) ? Dims{} : Dims{1}, -1, 1));
      break;
    case 2:
      inputs.push_back(w.reals({1, outputs}, -1, 1));
      break;
    default:
      inputs.push_back(w.bias(weights, outputs, stepOf(x)));
  }
  const float alpha = w.chance(20) ? static_cast<float>(w.choices.real(-2, 2)) : 1;
  const float beta = w.chance(20) ? static_cast<float>(w.choices.real(-2, 2)) : 1;
  auto& node = w.m.node("Gemm", inputs);
  if (transA) ModelBuilder::set(node, "transA", std::int64_t{1});
  if (transB) ModelBuilder::set(node, "transB", std::int64_t{1});
  if (alpha != 1) ModelBuilder::set(node, "alpha", alpha);
  if (beta != 1) ModelBuilder::set(node, "beta", beta);
  return w.result(node.output(0), {rows, outputs});
}

Dims productShape(const Dims& x, std::int64_t outputs, bool vector) {
  Dims shape(x.begin(), x.end() - 1);
  if (!vector) shape.push_back(outputs);
  return shape;
}

std::optional<Tensor> matMul(ModelWriter& w, const Tensor& x) {
  if (x.shape.empty()) return std::nullopt;
  const std::int64_t length = x.shape.back(), outputs = w.between(1, 20);
  if (length * outputs > kMostWeights) return std::nullopt;
  if (x.shape.size() > 1 && w.chance(5)) {
    const Weights vector = w.weights({length}, 0, length, false);
    return w.result(w.m.op("MatMul", {w.real(x), w.dequantized(vector)}),
                    productShape(x.shape, 1, true));
  }
  Weights weights = w.weights({length, outputs}, 1, length, w.chance(40));
  std::string matrix = w.dequantized(weights);
  if (weights.scales.size() == 1 && w.chance(15)) {  // the weights as a Gemm would have them
    weights = w.weights({outputs, length}, 0, length, false);
    matrix = w.m.op("Transpose", {w.dequantized(weights)}, "perm", Dims{1, 0});
  }
  std::string product = w.m.op("MatMul", {w.real(x), matrix});
  if (w.chance(50)) product = w.m.op("Add", {product, w.bias(weights, outputs, stepOf(x))});
  return w.result(product, productShape(x.shape, outputs, false));
}

std::optional<Tensor> qlinearMatMul(ModelWriter& w, const Tensor& given) {
  if (given.shape.size() < 2) return std::nullopt;
  const std::int64_t length = given.shape.back(), outputs = w.between(1, 20);
  if (length * outputs > kMostWeights) return std::nullopt;
  const Tensor x = w.asInteger(given);
  const Weights weights = w.weights({length, outputs}, 1, length, w.chance(40));
  const Scaling out = w.scaling(1.0 / 40);
  return w.integerResult(
      w.m.op("QLinearMatMul", {x.integer, x.scaling.scale, x.scaling.zero, weights.integer,
                               weights.scale, weights.zero, out.scale, out.zero}),
      productShape(x.shape, outputs, false), out);
}

std::optional<Tensor> matMulInteger(ModelWriter& w, const Tensor& given) {
  if (given.shape.size() < 2) return std::nullopt;
  const std::int64_t length = given.shape.back(), outputs = w.between(1, 20);
  if (length * outputs > kMostWeights) return std::nullopt;
  const Tensor x = w.asInteger(given);
  const Weights weights = w.weights({length, outputs}, 1, length, w.chance(30));
  ModelBuilder::Names inputs{x.integer, weights.integer, x.scaling.zero};
  if (w.chance(70)) inputs.push_back(weights.zero);
  return scaledSum(w, w.m.op("MatMulInteger", inputs), weights, x,
                   productShape(x.shape, outputs, false), {outputs});
}

std::optional<Tensor> qgemm(ModelWriter& w, const Tensor& given) {
  if (given.shape.size() != 2) return std::nullopt;
  const bool transB = w.chance(50);
  const std::int64_t length = given.shape[1], outputs = w.between(1, 20);
  if (length * outputs > kMostWeights) return std::nullopt;
  const Tensor x = w.asInteger(given);
  const Weights weights = w.weights(transB ? Dims{outputs, length} : Dims{length, outputs},
                                    transB ? 0 : 1, length, w.chance(40));
  const std::string bias = w.chance(50) ? w.integerBias(w.chance(25) ? 1 : outputs) : "";
  const Dims shape{given.shape[0], outputs};
  ModelBuilder::Names inputs{
      x.integer, x.scaling.scale, x.scaling.zero, weights.integer, weights.scale, weights.zero,
      bias};
  const bool rounds = !w.chance(20);
  Scaling out;
  if (rounds) {
    out = w.scaling(1.0 / 40);
    inputs.insert(inputs.end(), {out.scale, out.zero});
  }
  auto& node = w.m.node("QGemm", inputs);
  node.set_domain("com.microsoft");
  if (transB) ModelBuilder::set(node, "transB", std::int64_t{1});
  if (w.chance(25)) ModelBuilder::set(node, "alpha", 0.5F);
  const std::string name = node.output(0);
  return rounds ? w.integerResult(name, shape, out) : w.result(name, shape);
}

}  // namespace

std::vector<NamedMaker> productMakers() {
  return {{"Conv", conv, 12},
          {"QLinearConv", qlinearConv, 5},
          {"ConvInteger", convInteger, 2},
          {"Gemm", gemm, 6},
          {"MatMul", matMul, 3},
          {"QLinearMatMul", qlinearMatMul, 2},
          {"MatMulInteger", matMulInteger, 2},
          {"QGemm", qgemm, 4}};
}

}  // namespace heddle::property
