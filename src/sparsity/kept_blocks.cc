#include "heddle/sparsity/kept_blocks.h"

#include <algorithm>

#include "heddle/sparsity/pattern.h"
#include "heddle/sparsity/sparse_graph.h"

namespace heddle {
namespace {

// Whether a block holds a weight. Most do, and show it in their first row.
bool holdsWeight(const Conv& conv, const WeightExtents& extents, std::int64_t b, std::int64_t a) {
  const std::int64_t rows = std::min(extents.rows, (b + 1) * kBlock);
  const std::int64_t first = a * kBlock, count = std::min(kBlock, extents.columns - first);
  for (std::int64_t row = b * kBlock; row < rows; ++row) {
    const std::int8_t zero = conv.weightZero[static_cast<std::size_t>(row)];
    for (std::int64_t tap = 0; tap < extents.taps; ++tap) {
      const std::int8_t* weights = &conv.weights[static_cast<std::size_t>(
          (row * extents.taps + tap) * extents.columns + first)];
      if (std::any_of(weights, weights + count, [&](std::int8_t w) { return w != zero; }))
        return true;
    }
  }
  return false;
}

}  // namespace

void findKeptBlocks(CanonicalGraph& graph) {
  for (CanonicalOp& op : graph.ops) {
    Conv* conv = std::get_if<Conv>(&op.attributes);
    if (!conv) continue;
    const WeightExtents extents = *weightExtents(graph, op);
    const std::int64_t outputs = divideRoundUp(extents.rows, kBlock),
                       inputs = divideRoundUp(extents.columns, kBlock);
    Bits kept(outputs * inputs, true);
    for (std::int64_t b = 0; b < outputs; ++b)
      for (std::int64_t a = 0; a < inputs; ++a)
        if (!holdsWeight(*conv, extents, b, a)) kept.reset(b * inputs + a);
    conv->kept = kept.count() < kept.size() ? std::move(kept) : Bits();
  }
}

BlockShare keptBlocks(const CanonicalGraph& graph, const CanonicalOp& op) {
  const std::int64_t all = blocksOf(graph.tensors[op.output.at()].shape) *
                           blocksOf(graph.tensors[op.inputs[0].at()].shape);
  const Bits& kept = std::get<Conv>(op.attributes).kept;
  return {kept.size() == 0 ? all : kept.count(), all};
}

}  // namespace heddle
