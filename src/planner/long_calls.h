// Kernel calls of several rows where nobody waits for the first of them.
//
//   14 rows, reduction in 8 parts, ring of 4 rows:   a core's calls 112, its transfers 112 rows
//   inner parts in one call, ring of 2 x 16 rows:     14 + 6 + 14, 14 + 6 + 14
#pragma once
#include <optional>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// A layer's mapping with calls in its inner iterations (LayerNest::isInner) as long as the core has
// room for what two of them need, and as the half of it that leaves room for the next layer, if the
// mapping keeps to that; none where they cannot be longer than the others, or where rows that come
// together would be late. `time`: of a step of the layer.
std::optional<Mapping> withLongInnerCalls(const CanonicalGraph& graph, const Device& device,
                                          const Plan& plan, LayerId layer, const StepTime& time);

}  // namespace heddle
