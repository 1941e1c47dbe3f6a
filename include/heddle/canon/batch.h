// Several images that go through a network together: in every tensor they lie one below the other,
// so that weights which are in the cores serve all of them.
//
//   %0 : 8x8x16               %0 : 24x8x16, rows 0..8 the first image's, 8..16 the second's, ...
//   %1 = Conv(%0) 3x3 pad 1   %1 = Conv(%0) 3x3 pad 1: row 8 sees border, rows 8 and 9, but not 7
#pragma once
#include <cstdint>

#include "heddle/canon/canonical_graph.h"
#include "heddle/support/result.h"

namespace heddle {

// The graph for `batch` images. Ports stay those of one: their arrays follow each other.
// Needs: graph.batch is 1, batch at least 1.
CanonicalGraph withBatch(CanonicalGraph graph, std::int64_t batch);

// What so many images of a network of one exceed of canon/limits.h: CANON005.
Diagnostics beyondLimits(const CanonicalGraph& one, std::int64_t batch);

// The shape of one image of a tensor.
Shape imageShape(const CanonicalGraph& graph, TensorId tensor);

}  // namespace heddle
