// Taking tensors out of a graph.
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// The graph whose operators read and write what `ops` say, without the tensors that are gone.
CanonicalGraph withoutTensors(const CanonicalGraph& graph, const std::vector<bool>& gone,
                              std::vector<CanonicalOp> ops);

}  // namespace heddle
