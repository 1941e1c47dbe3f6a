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

// Makes room at the end of the image for all of them, so that it need not be copied as it grows:
// what is cut in many is longer by some bytes each, for which a little more is reserved.
void reserveRecords(const CanonicalGraph& graph, std::vector<std::uint8_t>& image);

}  // namespace heddle
