// Packs the weight records that the cores read (layout: WeightImage in program.h).
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Appends the record of output blocks `blocks` for `part`; recordBytes() long, padded to 8.
void appendRecord(const CanonicalGraph& graph, const CanonicalOp& op, const Interval& blocks,
                  const ReductionPart& part, bool lastPart, std::vector<std::uint8_t>& image);

}  // namespace heddle
