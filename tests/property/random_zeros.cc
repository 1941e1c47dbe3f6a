#include "random_zeros.h"

#include <algorithm>

#include "heddle/sparsity/kept_blocks.h"

namespace heddle::property {
namespace {

// Sets weights to their zero point where drop(row, column) says so.
template <class Convolution, class Drop>
void dropWeights(Convolution& conv, Drop drop) {
  const std::int64_t taps = conv.window.kernelY * conv.window.kernelX, rows = std::ssize(conv.bias),
                     columns = std::ssize(conv.weights) / (rows * taps);
  for (std::int64_t i = 0; i < std::ssize(conv.weights); ++i) {
    const std::int64_t row = i / (taps * columns);
    if (drop(row, i % columns))
      conv.weights.own()[static_cast<std::size_t>(i)] =
          conv.weightZero[static_cast<std::size_t>(row)];
  }
}

std::vector<bool> randomSet(std::int64_t size, int percent, Random& random) {
  std::vector<bool> set;
  for (std::int64_t i = 0; i < size; ++i) set.push_back(random.chance(percent));
  return set;
}

template <class Convolution>
void dropRows(Convolution& conv, Random& random) {
  const std::vector<bool> rows =
      randomSet(std::ssize(conv.bias), random.pick<int>({10, 50, 90, 100}), random);
  const bool noBias = random.chance(60);
  dropWeights(conv,
              [&](std::int64_t row, std::int64_t) { return rows[static_cast<std::size_t>(row)]; });
  for (std::size_t row = 0; noBias && row < rows.size(); ++row)
    if (rows[row]) conv.bias[row] = 0;
}

void dropColumns(Conv& conv, std::int64_t columns, Random& random) {
  const std::vector<bool> set = randomSet(columns, random.pick<int>({10, 50, 90, 100}), random);
  dropWeights(conv, [&](std::int64_t, std::int64_t column) {
    return set[static_cast<std::size_t>(column)];
  });
}

void dropBlocks(Conv& conv, std::int64_t columns, Random& random) {
  const std::int64_t across = divideRoundUp(columns, kBlock);
  const std::vector<bool> set =
      randomSet(across * divideRoundUp(std::ssize(conv.bias), kBlock), 50, random);
  dropWeights(conv, [&](std::int64_t row, std::int64_t column) {
    return set[static_cast<std::size_t>(row / kBlock * across + column / kBlock)];
  });
}

}  // namespace

CanonicalGraph withRandomZeros(CanonicalGraph graph, Random& random) {
  for (CanonicalOp& op : graph.ops) {
    if (auto* conv = std::get_if<Conv>(&op.attributes)) {
      const std::int64_t columns = graph.tensors[op.inputs[0].at()].shape.channels;
      if (random.chance(50)) dropRows(*conv, random);
      if (random.chance(30)) dropColumns(*conv, columns, random);
      if (random.chance(20)) dropBlocks(*conv, columns, random);
    } else if (auto* depthwise = std::get_if<DepthwiseConv>(&op.attributes)) {
      if (random.chance(50)) dropRows(*depthwise, random);
    }
  }
  for (CanonicalTensor& tensor : graph.tensors) {
    if (tensor.constant.empty()) continue;
    const auto channels = static_cast<std::size_t>(tensor.shape.channels);
    for (std::size_t c = 0; c < channels; ++c) {
      if (random.chance(50)) continue;
      const std::int8_t value = random.chance(50) ? tensor.zeroPoint : random.int8();
      for (std::size_t i = c; i < tensor.constant.size(); i += channels) tensor.constant[i] = value;
    }
  }
  findKeptBlocks(graph);
  return graph;
}

}  // namespace heddle::property
