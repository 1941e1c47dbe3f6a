// Layers that are alike have the same mappings to choose from and, mapped alike, the same work.
#pragma once
#include <cstddef>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// Per operator of the graph the first that is like it: the same kind, window, shapes and size of
// weights. Itself where none before it is, where its weights leave blocks out, or where it is an
// Assemble.
std::vector<std::size_t> firstAlike(const CanonicalGraph& graph);

}  // namespace heddle
