// Networks of one row, whose tensors are all one pixel high, may stand upright: one-dimensional
// convolutions, say. What is computed, moved and tiled goes row by row; of a single row
// nothing can be computed before all of it is there, and nothing leave before all is computed.
//
//   %1 = Conv(%0) 1x9 stride 1x2 : 1x1000x64   becomes   %1 = Conv(%0) 9x1 stride 2x1 : 1000x1x64
#pragma once
#include <memory>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

// The network with rows for columns in every tensor, window, part and port; the values of each
// tensor, in order Y, X, C, and the weights are the same bytes. Null where some tensor or kernel
// has several rows, where all have one column, too, and where some part reads columns in an order
// in which rows cannot be read. Needs: nothing is fused, one image.
std::shared_ptr<const CanonicalGraph> standUpright(const CanonicalGraph& graph);

}  // namespace heddle
