// Operators along axes: ReduceMean/Sum/Max/Min, Softmax, LogSoftmax, ArgMax, ArgMin.
#include <algorithm>
#include <cmath>
#include <limits>

#include "host_kernels.h"

namespace heddle::host {
namespace {

void reduce(Call& call) {
  const HostTensor& x = call.input(0);
  const NodeKind kind = call.node.kind;
  const bool extreme = kind == NodeKind::ReduceMax || kind == NodeKind::ReduceMin;
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double>& values = call.output.values;
  if (extreme)
    std::fill(values.begin(), values.end(), kind == NodeKind::ReduceMax ? -infinity : infinity);

  // The output's strides over the input's axes: 0 along those that are reduced.
  Dims kept = x.shape;
  for (const std::int64_t axis : call.attributes<ReduceAttributes>().axes)
    kept[static_cast<std::size_t>(axis)] = 1;
  const Dims strides = broadcastStrides(kept, x.shape);
  forEachElement(x.shape, [&](std::size_t flat, const Dims& index) {
    std::int64_t to = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) to += index[axis] * strides[axis];
    double& value = values[static_cast<std::size_t>(to)];
    const double element = x.values[flat];
    value = !extreme || std::isnan(element) || std::isnan(value) ? value + element
            : kind == NodeKind::ReduceMax                        ? std::max(value, element)
                                                                 : std::min(value, element);
  });
  if (kind != NodeKind::ReduceMean) return;
  const auto count = static_cast<double>(x.values.size()) / static_cast<double>(values.size());
  for (double& value : values) value /= count;
}

void softmax(Call& call) {
  const auto& attributes = call.attributes<AxisAttributes>();
  const HostTensor& x = call.input(0);
  AxisView view = viewAlong(x.shape, attributes.axis);
  if (attributes.flattened) {
    view.extent *= view.inner;
    view.inner = 1;
  }
  for (std::int64_t outer = 0; outer < view.outer; ++outer)
    for (std::int64_t inner = 0; inner < view.inner; ++inner) {
      const auto at = [&](std::int64_t i) {
        return static_cast<std::size_t>((outer * view.extent + i) * view.inner + inner);
      };
      double largest = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::int64_t i = 0; i < view.extent; ++i) largest = std::max(largest, x.values[at(i)]);
      for (std::int64_t i = 0; i < view.extent; ++i) sum += std::exp(x.values[at(i)] - largest);
      for (std::int64_t i = 0; i < view.extent; ++i) {
        const double logarithm = x.values[at(i)] - largest - std::log(sum);
        call.output.values[at(i)] =
            call.node.kind == NodeKind::Softmax ? std::exp(logarithm) : logarithm;
      }
    }
}

void argExtreme(Call& call) {
  const auto& attributes = call.attributes<AxisAttributes>();
  const HostTensor& x = call.input(0);
  const AxisView view = viewAlong(x.shape, attributes.axis);
  const double sign = call.node.kind == NodeKind::ArgMax ? 1 : -1;
  for (std::int64_t outer = 0; outer < view.outer; ++outer)
    for (std::int64_t inner = 0; inner < view.inner; ++inner) {
      double best = -std::numeric_limits<double>::infinity();
      std::int64_t where = 0;
      for (std::int64_t i = 0; i < view.extent; ++i) {
        const auto at = static_cast<std::size_t>((outer * view.extent + i) * view.inner + inner);
        const double value = sign * x.values[at];
        if (value < best || (value == best && !attributes.selectLast)) continue;
        best = value;
        where = i;
      }
      call.output.values[static_cast<std::size_t>(outer * view.inner + inner)] =
          static_cast<double>(where);
    }
}

}  // namespace

void reduction(Call& call) {
  if (std::holds_alternative<ReduceAttributes>(call.node.attributes)) return reduce(call);
  const NodeKind kind = call.node.kind;
  if (kind == NodeKind::Softmax || kind == NodeKind::LogSoftmax) return softmax(call);
  argExtreme(call);
}

}  // namespace heddle::host
