// What a core's spare memory is good for: rows that come ahead, and calls of whole sweeps where
// nobody waits for single rows.
//
//   14 rows of 3x3, reduction in 8 parts:     rings      calls of a core
//     two windows, row by row                   4 rows    8 x 14
//     two sweeps                               32 rows   14 + 6 + 14
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// What a layer's mapping does with it, bolder and bolder: nothing, longer rings, rows that come
// together, more of these together than leave room for the next layer's beside it.
enum class SpareUse { None, Rings, Together, AllTogether };

struct SpareWay {
  SpareUse use = SpareUse::None;
  Mapping mapping;
};

// A layer's mapping as it is, and in the bolder ways that differ from the one before. A mapping
// that leaves room for the next layer's still does, but for the boldest. `time`, `terms`: of a step
// of the layer.
std::vector<SpareWay> spareWays(const CanonicalGraph& graph, const Device& device, const Plan& plan,
                                LayerId layer, const StepTime& time, const StepTerms& terms);

// Longer rings, up to half of a core's memory, before the layer is placed: it computes
// `rows` at a time.
void useHalfForRows(const CanonicalGraph& graph, const Device& device, LayerId layer,
                    const Interval& rows, Mapping& mapping);

}  // namespace heddle
