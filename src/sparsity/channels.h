// The three directions of propagate(), each with one small rule per operator.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle::sparsity {

// By TensorId and channel.
using Constants = std::vector<std::vector<std::optional<std::int8_t>>>;
using ChannelSets = std::vector<std::vector<bool>>;

// Whether the clamp of an operator leaves one value only, so that its operands do not matter.
bool ignoresOperands(const CanonicalOp& op);

// How the weights of a Conv or DepthwiseConv read the channels of its input.
struct WeightRows {
  std::int64_t taps = 1, columns = 1;
  bool depthwise = false;
  std::int64_t length() const { return taps * columns; }
  std::int64_t inputOf(std::int64_t row, std::int64_t column) const {
    return depthwise ? row : column;
  }
};
WeightRows weightRows(const Conv& conv);
WeightRows weightRows(const DepthwiseConv& conv);

// Whether a row of weights is at its zero point.
template <class Convolution>
bool rowIsZero(const Convolution& conv, std::int64_t row) {
  const std::int64_t length = weightRows(conv).length();
  const std::int8_t* weights = conv.weights.data() + row * length;
  const std::int8_t zero = conv.weightZero[static_cast<std::size_t>(row)];
  std::int64_t i = 0;
  while (i < length && weights[i] == zero) ++i;
  return i == length;
}

// Sets a row of weights to its zero point; gives back how many were not.
template <class Convolution>
std::int64_t zeroRow(Convolution& conv, std::int64_t row) {
  const std::int64_t length = weightRows(conv).length();
  const std::int8_t zero = conv.weightZero[static_cast<std::size_t>(row)];
  std::int64_t changed = 0;
  if (rowIsZero(conv, row)) return changed;
  std::vector<std::int8_t>& weights = conv.weights.own();
  for (std::int64_t i = row * length; i < (row + 1) * length; ++i) {
    std::int8_t& weight = weights[static_cast<std::size_t>(i)];
    changed += weight != zero;
    weight = zero;
  }
  return changed;
}

// Calls visit(output channel, input channel) for every entry of a part's mapC.
template <class Visit>
void forEachChannel(const AssemblePart& part, Visit visit) {
  for (const AxisRun& run : part.mapC)
    for (std::int64_t i = 0; i < run.count; ++i)
      visit(run.to + i * run.toStep, run.from + i * run.fromStep);
}

// Forward: finds the constant channels and folds them into the biases of the convolutions that read
// them. Adds to `zeroed`, by OpId, how many weights that has set to their zero point.
Constants foldConstants(CanonicalGraph& graph, std::vector<std::int64_t>& zeroed);

// Whether it would find any.
bool hasConstants(const CanonicalGraph& graph);

// Backward: the channels that an output depends on, constants having been folded.
ChannelSets neededChannels(const CanonicalGraph& graph, const Constants& constants);

// The same; and sets the rows of weights that compute the others to their zero point.
ChannelSets dropUnneeded(CanonicalGraph& graph, const Constants& constants,
                         std::vector<std::int64_t>& zeroed);

// Takes channels out of the graph that nobody needs; gives back which.
ChannelSets removeChannels(CanonicalGraph& graph, const ChannelSets& needed);

}  // namespace heddle::sparsity
