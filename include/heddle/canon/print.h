// A canonical network as text, for people and for --dump: one line a tensor and operator. Weights
// are counted, not listed.
//
//   %2 conv1_out 112x112x64 scale 0.0625 zero 0 = Conv 'conv1' (%0) kernel 7x7 stride 2x2 pads
//   3,3,3,3 weights 9408
#pragma once
#include <string>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

std::string print(const CanonicalGraph& graph);

}  // namespace heddle
