// The mappings that each layer is to choose from: the best of all cuts over the mesh and ways of
// the streams by a first estimate.
#pragma once
#include <cstdint>
#include <map>
#include <tuple>
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

// Of layers that are alike, with one staging, what was found for tiles of so many rows. For one
// graph, device, choice of wires and `ahead`.
struct TilePool {
  std::vector<std::size_t> alike;  // per layer the first like it
  std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, std::vector<Mapping>>
      mappings;  // per such layer, staging and rows
};

// The same for layers that compute `rows` of their output at a time, by all cores: cuts of columns
// and channels alone, cut over time for so many rows, with room for their weight records in the
// only staging of `limits`. None for layers of 0 rows, and for those that no tiling of this kind
// brings into a core's memory. Searches for what the pool does not hold, and puts it there.
Finalists findTileFinalists(const CanonicalGraph& graph, const Device& device,
                            const DataflowWires& wires, const SearchLimits& limits,
                            const std::vector<std::int64_t>& rows, const WorkCounter& count,
                            TilePool& pool);

// Those of which two records fit their part of the staging.
Finalists stagedIn(const Finalists& finalists, std::int64_t staging);

}  // namespace heddle
