// What the tensors of a network have to hold as it is planned: with operators fused
// (fuse_operators.h), operands of Concats requantized early (requantize_early.h), strides sliced
// (slice_strides.h) and convolutions joined (join_siblings.h).
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// Per tensor of `planned` its values in order Y, X, C, by those of each tensor of the graph that it
// was made from, of one image. Tensors are known by their names; a joined one has the channels of
// several, a slice pixels of one.
std::vector<std::vector<std::int8_t>> valuesAsPlanned(const CanonicalGraph& planned,
                                                      const CanonicalGraph& graph,
                                                      std::vector<std::vector<std::int8_t>> values);

}  // namespace heddle
