// Tensors that live in DDR although a later layer reads them, and why no memtile keeps them.
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/memory/allocate.h"
#include "heddle/report/explanation.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// `proposed`: the home that each tensor was to have; empty where nobody knows.
std::vector<ExplainedSpill> spillsOf(const CanonicalGraph& graph, const Plan& plan,
                                     const MemoryPlan& memory, const Device& device,
                                     const std::vector<Home>& proposed);

}  // namespace heddle
