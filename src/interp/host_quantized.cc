// Operators on quantized tensors that no integer operator stands for (a MatMulInteger whose sums
// are wanted as they are, a negative scale): dequantize, the operator in double precision,
// quantize.
//
//   QLinearAdd of 3 (scale 0.5, zero 1) and 4 (scale 2, zero 0) to scale 1, zero -1: (1 + 8) / 1 -
//   1 = 8
#include <algorithm>
#include <cmath>

#include "heddle/support/check.h"
#include "host_kernels.h"

namespace heddle::host {
namespace {

// Where the scale of a vector of scales changes.
enum class ScaleAxis { First, Last };

double zeroOf(const Call& call, std::size_t i, std::size_t channel) {
  if (!call.has(i)) return 0;
  const std::vector<double>& zeros = call.input(i).values;
  return zeros[zeros.size() == 1 ? 0 : channel];
}

// Input `i` as real numbers; `scale` and `zero` are input numbers, the scale 1 where `scale` is
// absent.
HostTensor dequantized(const Call& call, std::size_t i, std::optional<std::size_t> scale,
                       std::size_t zero, ScaleAxis axis = ScaleAxis::First) {
  HostTensor tensor{DataType::Float64, call.input(i).shape, call.input(i).values};
  const auto rank = static_cast<std::int64_t>(tensor.shape.size());
  const AxisView view = viewAlong(tensor.shape, axis == ScaleAxis::First ? 0 : rank - 1);
  for (std::size_t e = 0; e < tensor.values.size(); ++e) {
    const std::size_t channel =
        e / static_cast<std::size_t>(view.inner) % static_cast<std::size_t>(view.extent);
    tensor.values[e] -= zeroOf(call, zero, channel);
    if (!scale) continue;
    const std::vector<double>& scales = call.input(*scale).values;
    tensor.values[e] *= scales[scales.size() == 1 ? 0 : channel];
  }
  return tensor;
}

void quantizeInto(Call& call, const HostTensor& real, std::size_t scale, std::size_t zero) {
  const double low = call.output.type == DataType::Uint8 ? 0 : -128;
  for (std::size_t i = 0; i < real.values.size(); ++i) {
    const double rounded = std::nearbyint(real.values[i] / call.input(scale).values[0]);
    call.output.values[i] = std::clamp(rounded + zeroOf(call, zero, 0), low, low + 255);
  }
}

// `family` as an operator of `kind` on real operands, with the attributes of the node.
HostTensor realResult(const Call& call, NodeKind kind, void (*family)(Call&),
                      const std::vector<HostTensor>& operands) {
  Node node = call.node;
  node.kind = kind;
  node.inputs.resize(operands.size());
  HostTensor output{DataType::Float64, call.output.shape,
                    std::vector<double>(call.output.values.size())};
  Call real{node, {}, output};
  for (const HostTensor& operand : operands) real.inputs.push_back(&operand);
  family(real);
  return output;
}

// Input i, an int32 bias, counts in units of alpha and the operands' scales (inputs 1 and 4); one
// value for all columns in units of each.
HostTensor bias(const Call& call, std::size_t i, float alpha = 1) {
  const HostTensor& given = call.input(i);
  const std::vector<double>& scales = call.input(4).values;
  const std::size_t columns = scales.size();
  const bool spread = columns > 1 && (given.shape.empty() || given.shape.back() == 1);
  HostTensor tensor{DataType::Float64, given.shape, {}};
  if (spread && tensor.shape.empty()) tensor.shape.push_back(1);
  if (spread) tensor.shape.back() = static_cast<std::int64_t>(columns);
  for (const double value : given.values)
    for (std::size_t n = 0; n < (spread ? columns : 1); ++n)
      tensor.values.push_back(value * double{alpha} * call.input(1).values[0] *
                              scales[tensor.values.size() % columns]);
  return tensor;
}

void integerProduct(Call& call, NodeKind kind) {
  // The zero points of a MatMulInteger's left operand go by rows, of its right one by columns.
  const ScaleAxis right = kind == NodeKind::MatMul ? ScaleAxis::Last : ScaleAxis::First;
  call.output.values = realResult(call, kind, product,
                                  {dequantized(call, 0, {}, 2), dequantized(call, 1, {}, 3, right)})
                           .values;
}

void qgemm(Call& call) {
  const GemmAttributes& gemm = call.attributes<GemmAttributes>();
  const ScaleAxis axis = gemm.transB ? ScaleAxis::First : ScaleAxis::Last;
  std::vector<HostTensor> operands{dequantized(call, 0, 1, 2), dequantized(call, 3, 4, 5, axis)};
  if (call.has(6)) operands.push_back(bias(call, 6, gemm.alpha));
  const HostTensor real = realResult(call, NodeKind::Gemm, product, operands);
  if (call.has(7)) return quantizeInto(call, real, 7, 8);
  call.output.values = real.values;
}

void qlinearConcat(Call& call) {
  std::vector<HostTensor> operands;
  for (std::size_t i = 2; i < call.inputs.size(); i += 3)
    operands.push_back(dequantized(call, i, i + 1, i + 2));
  quantizeInto(call, realResult(call, NodeKind::Concat, movement, operands), 0, 1);
}

}  // namespace

void quantizedOperator(Call& call) {
  const auto unary = [&](NodeKind kind, void (*family)(Call&)) {
    quantizeInto(call, realResult(call, kind, family, {dequantized(call, 0, 1, 2)}), 3, 4);
  };
  const auto binary = [&](NodeKind kind, void (*family)(Call&), ScaleAxis right) {
    quantizeInto(call,
                 realResult(call, kind, family,
                            {dequantized(call, 0, 1, 2), dequantized(call, 3, 4, 5, right)}),
                 6, 7);
  };
  switch (call.node.kind) {
    case NodeKind::ConvInteger:
      return integerProduct(call, NodeKind::Conv);
    case NodeKind::MatMulInteger:
      return integerProduct(call, NodeKind::MatMul);
    case NodeKind::QGemm:
      return qgemm(call);
    case NodeKind::QLinearConcat:
      return qlinearConcat(call);
    case NodeKind::QLinearMatMul:
      return binary(NodeKind::MatMul, product, ScaleAxis::Last);
    case NodeKind::QLinearAdd:
      return binary(NodeKind::Add, elementwise, ScaleAxis::First);
    case NodeKind::QLinearMul:
      return binary(NodeKind::Mul, elementwise, ScaleAxis::First);
    case NodeKind::QLinearAveragePool:
      return unary(NodeKind::AveragePool, pool);
    case NodeKind::QLinearGlobalAveragePool:
      return unary(NodeKind::GlobalAveragePool, pool);
    case NodeKind::QLinearLeakyRelu:
      return unary(NodeKind::LeakyRelu, elementwise);
    case NodeKind::QLinearSigmoid:
      return unary(NodeKind::Sigmoid, elementwise);
    case NodeKind::QLinearConv: {
      std::vector<HostTensor> operands{dequantized(call, 0, 1, 2), dequantized(call, 3, 4, 5)};
      if (call.has(8)) operands.push_back(bias(call, 8));
      return quantizeInto(call, realResult(call, NodeKind::Conv, product, operands), 6, 7);
    }
    default:
      HEDDLE_CHECK(false) << toText(call.node.kind);
  }
}

// ONNX: scale and zero point from the range of x with 0 in it, in float32.
void dynamicQuantize(const HostTensor& x, HostTensor& y, HostTensor* scale, HostTensor* zero) {
  float low = 0, high = 0;
  for (const double value : x.values) {
    low = std::min(low, static_cast<float>(value));
    high = std::max(high, static_cast<float>(value));
  }
  const float step = high == low ? 1.0F : (high - low) / 255.0F;
  const double offset = std::clamp(std::nearbyint(-low / step), 0.0F, 255.0F);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    y.values[i] =
        std::clamp(std::nearbyint(static_cast<float>(x.values[i]) / step) + offset, 0.0, 255.0);
  if (scale != nullptr) scale->values[0] = step;
  if (zero != nullptr) zero->values[0] = offset;
}

}  // namespace heddle::host
