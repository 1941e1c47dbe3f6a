// Whether a canonical graph is within canon/limits.h.
#pragma once
#include "heddle/canon/canonical_graph.h"
#include "heddle/support/result.h"

namespace heddle::canon {

// CANON005 for the first of each kind of thing that is too large.
Diagnostics beyondLimits(const CanonicalGraph& graph);

}  // namespace heddle::canon
