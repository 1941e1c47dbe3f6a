// What a core's spare memory is good for: rows that come ahead, and calls of whole sweeps where
// nobody waits for single rows.
//
//   14 rows of 3x3, reduction in 8 parts:     rings      calls of a core
//     two windows, row by row                   4 rows    8 x 14
//     two sweeps                               32 rows   14 + 6 + 14
#pragma once
#include <optional>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// A layer's mapping that uses it; none where there is nothing to gain. A mapping that leaves room
// for the next layer's beside it still does. `time`, `terms`: of a step of the layer; without terms
// rows come one by one, and calls are as long as they were.
std::optional<Mapping> withSpareMemory(const CanonicalGraph& graph, const Device& device,
                                       const Plan& plan, LayerId layer, const StepTime& time,
                                       const StepTerms* terms);

// The same of rings alone, up to half of a core's memory, before the layer is placed: it computes
// `rows` at a time.
void useHalfForRows(const CanonicalGraph& graph, const Device& device, LayerId layer,
                    const Interval& rows, Mapping& mapping);

}  // namespace heddle
