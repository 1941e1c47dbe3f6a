// Which weight records stay in the memtiles from their layer's first step to its last, so that they
// come out of DDR once where they would come again for each tile, band or chunk.
//
//   conv2_1, three tiles, records of 2 passes      without     at-home 2     at-home 1
//     out of DDR                                   01 01 01    01            01  1  1
//     in the memtile                               places      0 and 1       0, places
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Lets as many stay as homes leave room for, those first that come most often; none of layers that
// are not `asked` for, or whose records come once. Which layers' do. Needs: the plan finds memory.
std::vector<bool> letRecordsStay(const CanonicalGraph& graph, const Device& device,
                                 const std::vector<bool>& asked, Plan& plan);

}  // namespace heddle
