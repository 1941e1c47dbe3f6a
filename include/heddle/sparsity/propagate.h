// What zeros in the weights of one layer mean for all others, and the smaller network that follows:
// its outputs are the same bytes for every input.
//
//   x --conv1--> a --Relu--> b --conv2--> y        row 5 of conv1 zero, its bias -7
//
//   forward    channel 5 of a and b is the constant clamp(zero(a) + requantized -7), here zero(b)
//   fold       column 5 of conv2 goes to its zero point, its biases take what it gave: nothing here
//   backward   nobody reads channel 5 of b, nobody needs that of a
//   remove     a and b lose channel 5, conv1 its row, conv2 its column
//
// Constants go forward once and needs go backward once: a weight that the second pass sets to zero
// is of a channel that nobody needs, so what it makes constant tells nobody anything.
// docs/sparsity.md has the rule of each operator.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// Of all tensors together. A network of more is left as it is, without a fact: those that mean
// something have tens of thousands.
inline constexpr std::int64_t kMostPropagatedChannels = std::int64_t{1} << 22;

struct ChannelFacts {  // of one tensor, for each of the channels that it had
  // The value that all its elements have for every input of the network; absent where they differ
  // or where that is not known.
  std::vector<std::optional<std::int8_t>> constant;
  std::vector<bool> needed;   // whether an output may depend on it, constants being folded
  std::vector<bool> removed;  // none that is needed
};

struct Propagated {
  // With the tensors, operators and ports of the network as it was, under the same ids. A tensor
  // may have fewer channels; where nobody needs one its values may be others. Where anything has
  // changed Conv::kept says of the weights as they are now.
  CanonicalGraph graph;
  std::vector<ChannelFacts> tensors;        // by TensorId
  std::vector<std::int64_t> weightsZeroed;  // by OpId: were not at their zero point, and are now

  std::int64_t constantChannels() const;
  std::int64_t unneededChannels() const;
  std::int64_t removedChannels() const;
  bool changed() const;  // whether the graph is another than it was
};

// Needs: a graph that verify(CanonicalGraph) finds nothing in. Ensures: it finds nothing in the
// result; ports and the tensors that they name keep their shapes.
Propagated propagate(CanonicalGraph graph);

// Whether no channel is constant and all are needed, or there are too many: then propagate() gives
// the graph back as it is, and need not be given a copy. Time: ResNet-50 1 ms.
bool nothingFollows(const CanonicalGraph& graph);

}  // namespace heddle
