// The host operators by family, and how they walk over arrays of any rank.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "heddle/interp/host.h"

namespace heddle::host {

// An operand's value that the operator does not take; becomes HOST002 in runHost.
class ValueFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// `value` as an element of an integer type: cut off, wrapped as integer arithmetic wraps; NaN is 0,
// and what no 64 bits hold is the nearest end.
template <class T>
T integerFrom(double value) {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (std::isnan(value)) return 0;
  if (value >= kEnd) return std::numeric_limits<T>::max();
  if (value < -kEnd) return std::numeric_limits<T>::min();
  return static_cast<T>(static_cast<std::int64_t>(value));
}

// The operands of a node (an absent optional one is null) and the value that it makes.
struct Call {
  const Node& node;
  std::vector<const HostTensor*> inputs;
  HostTensor& output;  // type and shape are set, values hold one 0 for each element

  const HostTensor& input(std::size_t i) const { return *inputs.at(i); }
  bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  template <class Attributes>
  const Attributes& attributes() const {
    return std::get<Attributes>(node.attributes);
  }
};

// Row-major strides: 2x3x4 -> 12, 4, 1.
Dims stridesOf(const Dims& shape);

// Strides with which an index of `shape` reads an array of shape `from` that is broadcast to it (0
// along what repeats).
Dims broadcastStrides(const Dims& from, const Dims& shape);

// An axis in the middle of an array: element (before, i, after) is values[(before * extent + i) *
// inner + after].
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
AxisView viewAlong(const Dims& shape, std::int64_t axis);

// Multiply-accumulates and moves of a node, about; at most 2^62.
std::int64_t operationsOf(const Graph& graph, const Node& node);
std::int64_t saturatingSum(std::int64_t a, std::int64_t b);

// Calls visit(flat, index) for every element of `shape` in row-major order.
template <class Visit>
void forEachElement(const Dims& shape, Visit visit) {
  const std::int64_t count = elementCount(shape);
  Dims index(shape.size(), 0);
  for (std::int64_t flat = 0; flat < count; ++flat) {
    visit(static_cast<std::size_t>(flat), std::as_const(index));
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// A Conv or pool over up to three spatial axes, as three (leading ones of extent 1).
struct SpatialWindow {
  std::int64_t input[3] = {1, 1, 1}, output[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  std::int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, before[3] = {}, after[3] = {};

  std::int64_t source(int axis, std::int64_t out, std::int64_t tap) const {
    return out * stride[axis] - before[axis] + tap * dilation[axis];
  }
  bool inside(int axis, std::int64_t position) const {
    return position >= 0 && position < input[axis];
  }
  std::int64_t inputs() const { return input[0] * input[1] * input[2]; }
  std::int64_t outputs() const { return output[0] * output[1] * output[2]; }
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

void elementwise(Call& call);   // functions of one and two operands, PRelu, BatchNormalization
void quantization(Call& call);  // QuantizeLinear, DequantizeLinear, Cast
void product(Call& call);       // Conv, Gemm, MatMul
void pool(Call& call);          // MaxPool, AveragePool and the global ones
void reduction(Call& call);     // ReduceMean/Sum/Max/Min, Softmax, LogSoftmax, ArgMax, ArgMin
void movement(
    Call& call);  // one output: Concat, Slice, Pad, Transpose, DepthToSpace, Expand, views, ...
void resize(Call& call);
void quantizedOperator(Call& call);  // QLinear*, QGemm, ConvInteger, MatMulInteger
void split(const Node& node, const HostTensor& input, std::span<HostTensor* const> outputs);

// The scale and the zero point are null where nobody reads them.
void dynamicQuantize(const HostTensor& x, HostTensor& y, HostTensor* scale, HostTensor* zero);

}  // namespace heddle::host
