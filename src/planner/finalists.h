// The mappings that each layer is to choose from: the best of all cuts over the mesh and ways of
// the streams by a first estimate.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/planner/count_work.h"
#include "heddle/support/result.h"
#include "heddle/tiling/plan.h"
#include "known_layers.h"
#include "layer_search.h"
#include "wires.h"

namespace heddle {

// Per layer; none for a layer in place. The mappings are those of KnownFinalists.
using Finalists = std::vector<std::vector<const Mapping*>>;

// With room for their weight records in one of the stagings. `menu` says whether beyond the paper's
// dataflow, which comes first. Searches for what is not known, and puts it there. Needs: `known` is
// of searches with this device, wires and menu alone.
// Errors: PLAN001 a layer that no tiling brings into a core's memory.
Result<Finalists> findFinalists(const CanonicalGraph& graph, const Device& device,
                                const DataflowWires& wires, const SearchLimits& limits, bool menu,
                                const WorkCounter& count, KnownFinalists& known);

// The same for layers that compute `rows` of their output at a time, by all cores: cuts of columns
// and channels alone, cut over time for so many rows, with room for their weight records in the
// only staging of `limits`. None for layers of 0 rows, and for those that no tiling of this kind
// brings into a core's memory.
Finalists findTileFinalists(const CanonicalGraph& graph, const Device& device,
                            const DataflowWires& wires, const SearchLimits& limits,
                            const std::vector<std::int64_t>& rows, const WorkCounter& count,
                            KnownFinalists& known);

// Those of which two records fit their part of the staging.
Finalists stagedIn(const Finalists& finalists, std::int64_t staging);

}  // namespace heddle
