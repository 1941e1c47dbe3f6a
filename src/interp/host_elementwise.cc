// Functions of one element, of two with broadcasting, and the quantization operators.
//
//   QuantizeLinear of 2.5 with scale 1 and zero 3: 2 + 3 = 5 (half to even)
#include <algorithm>
#include <cmath>

#include "heddle/support/check.h"
#include "host_kernels.h"

namespace heddle::host {
namespace {

FunctionAttributes functionOf(const Node& node) {
  const auto* own = std::get_if<FunctionAttributes>(&node.attributes);
  return own != nullptr ? *own : FunctionAttributes{};
}

// output = combine(output, input i broadcast to the output).
template <class Combine>
void combineWith(Call& call, std::size_t i, Combine combine) {
  const HostTensor& input = call.input(i);
  const Dims strides = broadcastStrides(input.shape, call.output.shape);
  forEachElement(call.output.shape, [&](std::size_t flat, const Dims& index) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) from += index[axis] * strides[axis];
    double& value = call.output.values[flat];
    value = combine(value, input.values[static_cast<std::size_t>(from)]);
  });
}

double binary(NodeKind kind, double a, double b) {
  if (kind == NodeKind::PRelu) return a < 0 ? a * b : a;
  const std::optional<double> value = evaluateBinary(kind, a, b);
  HEDDLE_CHECK(value.has_value()) << toText(kind);
  return *value;
}

void batchNormalization(Call& call) {
  const double epsilon = call.attributes<BatchNormalizationAttributes>().epsilon;
  const HostTensor& x = call.input(0);
  const AxisView channels = viewAlong(x.shape, 1);
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const auto c =
        i / static_cast<std::size_t>(channels.inner) % static_cast<std::size_t>(channels.extent);
    const double deviation = std::sqrt(call.input(4).values[c] + epsilon);
    call.output.values[i] =
        (x.values[i] - call.input(3).values[c]) / deviation * call.input(1).values[c] +
        call.input(2).values[c];
  }
}

bool isSigned(DataType type) { return type != DataType::Uint8 && type != DataType::Bool; }

// x / scale in float32, as the Runtime has it: a quotient near a tie must fall on the same side,
// and what is no number becomes the lowest.
double quantized(double x, double scale, double zero, DataType type) {
  const double rounded = std::nearbyint(static_cast<float>(x) / static_cast<float>(scale));
  const double low = isSigned(type) ? -128 : 0;
  if (std::isnan(rounded)) return low;
  return std::clamp(rounded + zero, low, low + 255);
}

}  // namespace

void elementwise(Call& call) {
  const Node& node = call.node;
  if (node.kind == NodeKind::BatchNormalization) return batchNormalization(call);
  const FunctionAttributes function = functionOf(node);
  if (node.inputs.size() == 1 && evaluateFunction(node.kind, function, 0)) {
    for (std::size_t i = 0; i < call.output.values.size(); ++i)
      call.output.values[i] = *evaluateFunction(node.kind, function, call.input(0).values[i]);
    return;
  }
  combineWith(call, 0, [](double, double x) { return x; });
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    combineWith(call, i, [&](double a, double b) { return binary(node.kind, a, b); });
}

void quantization(Call& call) {
  const HostTensor& x = call.input(0);
  if (call.node.kind == NodeKind::Cast) {
    call.output.values = x.values;
    return;
  }
  const HostTensor& scale = call.input(1);
  const auto* axis = std::get_if<AxisAttributes>(&call.node.attributes);
  const bool perAxis = scale.values.size() > 1;
  HEDDLE_CHECK(axis != nullptr || !perAxis) << call.node.name;
  const AxisView view = perAxis ? viewAlong(x.shape, axis->axis) : AxisView{};
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    const std::size_t s =
        perAxis ? i / static_cast<std::size_t>(view.inner) % static_cast<std::size_t>(view.extent)
                : 0;
    const double zero = call.has(2) ? call.input(2).values[s] : 0;
    call.output.values[i] = call.node.kind == NodeKind::QuantizeLinear
                                ? quantized(x.values[i], scale.values[s], zero, call.output.type)
                                : (x.values[i] - zero) * scale.values[s];
  }
}

}  // namespace heddle::host
