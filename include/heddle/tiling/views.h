// Concat and Split operators that need no instruction because their tensors can share memory block
// by block: whole blocks of channels, values unchanged.
//
//   both = Concat(a: 16 channels, b: 24 channels)     a = blocks 0-1 of both, b = blocks 2-4 of
//   both
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct Views {
  std::vector<View> tensors;  // per tensor
  std::vector<bool> inPlace;  // per operator: nothing to execute
};

Views findViews(const CanonicalGraph& graph);

// The same with nothing shared: every Concat and Split copies.
Views noViews(const CanonicalGraph& graph);

// The stretch of channels that a part copies, rows and columns whole and values unchanged; null
// where it does anything else.
const AxisRun* channelStretch(const AssemblePart& part, const Shape& shape);

}  // namespace heddle
