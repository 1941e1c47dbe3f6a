// Operators that only move elements: each says which input element an output element is.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "heddle/support/check.h"
#include "host_kernels.h"

namespace heddle::host {
namespace {

// output[index] = input[sum of source(axis, index) * stride].
template <class Source>
void gatherAxes(Call& call, Source source) {
  const HostTensor& x = call.input(0);
  const Dims strides = stridesOf(x.shape);
  forEachElement(call.output.shape, [&](std::size_t flat, const Dims& index) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < strides.size(); ++axis)
      from += source(axis, index) * strides[axis];
    call.output.values[flat] = x.values[static_cast<std::size_t>(from)];
  });
}

void concat(Call& call) {
  const std::int64_t axis = call.attributes<AxisAttributes>().axis;
  const AxisView to = viewAlong(call.output.shape, axis);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const AxisView from = viewAlong(call.input(i).shape, axis);
    const std::int64_t run = from.extent * from.inner;
    for (std::int64_t outer = 0; run > 0 && outer < from.outer; ++outer)
      std::copy_n(call.input(i).values.begin() + outer * run, run,
                  call.output.values.begin() + (outer * to.extent + first) * to.inner);
    first += from.extent;
  }
}

// The source of a padded position, or none where the constant stands.
std::optional<std::int64_t> paddedSource(PadMode mode, std::int64_t position, std::int64_t extent) {
  if (position >= 0 && position < extent) return position;
  switch (mode) {
    case PadMode::Constant:
      return {};
    case PadMode::Edge:
      return std::clamp<std::int64_t>(position, 0, extent - 1);
    case PadMode::Wrap:
      return (position % extent + extent) % extent;
    case PadMode::Reflect:
      break;
  }
  if (extent == 1) return 0;
  const std::int64_t period = 2 * (extent - 1);
  const std::int64_t folded = (position % period + period) % period;
  return std::min(folded, period - folded);
}

void pad(Call& call) {
  const auto& attributes = call.attributes<PadAttributes>();
  const HostTensor& x = call.input(0);
  const Dims strides = stridesOf(x.shape);
  forEachElement(call.output.shape, [&](std::size_t flat, const Dims& index) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      const auto source =
          paddedSource(attributes.mode, index[axis] - attributes.begins[axis], x.shape[axis]);
      if (!source) {
        call.output.values[flat] = attributes.value;
        return;
      }
      from += *source * strides[axis];
    }
    call.output.values[flat] = x.values[static_cast<std::size_t>(from)];
  });
}

void gather(Call& call) {
  const std::int64_t axis = call.attributes<AxisAttributes>().axis;
  const HostTensor &x = call.input(0), &indices = call.input(1);
  const AxisView view = viewAlong(x.shape, axis);
  std::size_t to = 0;
  for (std::int64_t outer = 0; outer < view.outer; ++outer)
    for (const double index : indices.values) {
      const auto wanted = integerFrom<std::int64_t>(index);
      const std::int64_t i = wanted < 0 ? wanted + view.extent : wanted;
      if (i < 0 || i >= view.extent)
        throw ValueFault("index " + std::to_string(wanted) + " of " + toText(x.shape) +
                         " along axis " + std::to_string(axis));
      for (std::int64_t inner = 0; inner < view.inner; ++inner)
        call.output.values[to++] =
            x.values[static_cast<std::size_t>((outer * view.extent + i) * view.inner + inner)];
    }
}

// N, C, H, W: the source of output (c, y, x) of DepthToSpace, and of SpaceToDepth as its inverse.
void depthToSpace(Call& call) {
  const auto& attributes = call.attributes<BlockAttributes>();
  const std::int64_t block = attributes.blockSize, depth = call.output.shape[1];
  gatherAxes(call, [&](std::size_t axis, const Dims& index) {
    if (axis >= 2) return index[axis] / block;
    if (axis == 0) return index[0];
    const std::int64_t position = index[2] % block * block + index[3] % block;
    return attributes.columnRowDepth ? index[1] * block * block + position
                                     : position * depth + index[1];
  });
}

void spaceToDepth(Call& call) {
  const std::int64_t block = call.attributes<BlockAttributes>().blockSize;
  const std::int64_t depth = call.input(0).shape[1];
  gatherAxes(call, [&](std::size_t axis, const Dims& index) {
    const std::int64_t position = index[1] / depth;
    if (axis == 0) return index[0];
    if (axis == 1) return index[1] % depth;
    return index[axis] * block + (axis == 2 ? position / block : position % block);
  });
}

void expand(Call& call) {
  const HostTensor& x = call.input(0);
  const Dims strides = broadcastStrides(x.shape, call.output.shape);
  forEachElement(call.output.shape, [&](std::size_t flat, const Dims& index) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) from += index[axis] * strides[axis];
    call.output.values[flat] = x.values[static_cast<std::size_t>(from)];
  });
}

void transpose(Call& call) {
  const Dims& permutation = call.attributes<TransposeAttributes>().permutation;
  Dims inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  gatherAxes(call, [&](std::size_t axis, const Dims& index) {
    return index[static_cast<std::size_t>(inverse[axis])];
  });
}

}  // namespace

void movement(Call& call) {
  switch (call.node.kind) {
    case NodeKind::Concat:
      return concat(call);
    case NodeKind::Pad:
      return pad(call);
    case NodeKind::Gather:
      return gather(call);
    case NodeKind::DepthToSpace:
      return depthToSpace(call);
    case NodeKind::SpaceToDepth:
      return spaceToDepth(call);
    case NodeKind::Expand:
      return expand(call);
    case NodeKind::Transpose:
      return transpose(call);
    case NodeKind::Slice: {
      const auto& slice = call.attributes<SliceAttributes>();
      return gatherAxes(call, [&](std::size_t axis, const Dims& index) {
        return slice.starts[axis] + index[axis] * slice.steps[axis];
      });
    }
    case NodeKind::Tile:
      return gatherAxes(call, [&](std::size_t axis, const Dims& index) {
        return index[axis] % call.input(0).shape[axis];
      });
    default:
      call.output.values = call.input(0).values;  // a view: the same elements, another shape
  }
}

void split(const Node& node, const HostTensor& input, std::span<HostTensor* const> outputs) {
  const auto& attributes = std::get<SplitAttributes>(node.attributes);
  const AxisView from = viewAlong(input.shape, attributes.axis);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::int64_t run = attributes.sizes[i] * from.inner;
    for (std::int64_t outer = 0; run > 0 && outputs[i] != nullptr && outer < from.outer; ++outer)
      std::copy_n(input.values.begin() + (outer * from.extent + first) * from.inner, run,
                  outputs[i]->values.begin() + outer * run);
    first += attributes.sizes[i];
  }
}

}  // namespace heddle::host
