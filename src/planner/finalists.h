// The mappings that each layer is to choose from: the best of all cuts over the mesh and ways of
// the streams by a first estimate.
#pragma once
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/planner/count_work.h"
#include "heddle/support/result.h"
#include "heddle/tiling/plan.h"
#include "layer_search.h"
#include "wires.h"

namespace heddle {

// Per layer; none for a layer in place. The mappings are a pool's.
using Finalists = std::vector<std::vector<const Mapping*>>;

struct FinalistPool {
  std::vector<std::vector<Mapping>> mappings;  // per layer that others are like
  Finalists ofLayer;
};

// With room for their weight records in one of the stagings. `menu` says whether beyond the paper's
// dataflow, which comes first.
// Errors: PLAN001 a layer that no tiling brings into a core's memory.
Result<FinalistPool> findFinalists(const CanonicalGraph& graph, const Device& device,
                                   const DataflowWires& wires, const SearchLimits& limits,
                                   bool menu, const WorkCounter& count);

// The same for layers that compute `rows` of their output at a time, by all cores: cuts of columns
// and channels alone, cut over time for so many rows. None for layers of 0 rows, and for those that
// no tiling of this kind brings into a core's memory.
FinalistPool findTileFinalists(const CanonicalGraph& graph, const Device& device,
                               const DataflowWires& wires, const SearchLimits& limits,
                               const std::vector<std::int64_t>& rows, const WorkCounter& count);

// Those of which two records fit their part of the staging.
Finalists stagedIn(const Finalists& finalists, std::int64_t staging);

}  // namespace heddle
