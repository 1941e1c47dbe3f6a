// MACs that calls do on channels which pad a block to eight: nothing of the network needs them.
//
//   a layer of 3 -> 10 channels runs as 1 x 2 blocks of 8x8: of 128 MACs for each pixel and tap, 30
//   are needed, 98 padded
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/machine/timeline.h"
#include "heddle/program/program.h"
#include "heddle/report/leaves.h"

namespace heddle {

// Of each slice of a core's track; all 0 for other engines. LeafFacts::macs less these, added up
// over a layer's slices, are the MACs that the network needs (where no part is computed twice).
// Where weight blocks are left out, the padding is taken to be spread evenly over all blocks.
std::vector<std::int64_t> paddedMacs(const CanonicalGraph& graph, const Program& program,
                                     const std::vector<LeafFacts>& leaves, const Track& track);

}  // namespace heddle
