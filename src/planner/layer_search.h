// The search for one layer's cut over time, given its cut over the mesh and the ways of its
// streams.
#pragma once
#include <compare>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/geometry.h"
#include "heddle/tiling/plan.h"
#include "mesh_cut.h"
#include "streams.h"

namespace heddle {

// What a mapping may take beside the device's own memory and limits.
struct SearchLimits {
  // Bytes of a memtile for weight records: one or more choices, largest first.
  std::vector<std::int64_t> stagings;
  bool ahead = true;           // second places for what comes next
  bool longCalls = true;       // of several rows, where a call costs cycles of its own
  std::size_t finalists = 18;  // of a layer and staging, that the closed form looks at
  // Per cent of the time of a layer's records on their DDR channel by which they may hold it up: a
  // channel fetches ahead while layers before compute. With all of it MobileNet v1 on 8x3 took 8 %
  // longer.
  std::int64_t heldUpByDdr = 50;
  // Per operand: its rows are on their way for so many times as long as on their wire; empty: once.
  // What comes out of DDR brings columns that a Slice leaves out.
  std::vector<std::int64_t> timesItsWire;
  friend auto operator<=>(const SearchLimits&, const SearchLimits&) = default;
};

struct FoundMapping {
  Mapping mapping;          // without cores and routes
  std::size_t streams = 0;  // of the menu
  friend bool operator==(const FoundMapping&, const FoundMapping&) = default;
};

// For each staging the fastest mappings by a first estimate, two for each way of the streams, best
// first: their buffers fit a core, their rings hold no more calls' rows than a lock can count, and
// two of their weight records fit the staging. None: `shortage` says what the smallest needs and
// there is not. `whole` gives one of them its cores and routes, of which few are asked for.
struct FoundMappings {
  std::vector<std::vector<FoundMapping>> ofStaging;
  std::function<Mapping(const FoundMapping&)> whole;
  std::string shortage;
};
// Ways of the streams with which no mapping can have a score below `worthless` are left out: one
// number for each staging. Needs: all that is given outlives the answer's `whole`.
FoundMappings searchMappings(const CanonicalGraph& graph, const CanonicalOp& op,
                             const Device& device, const BlockCounts& kept, const MeshCut& cut,
                             std::span<const Streams> menu, const SearchLimits& limits,
                             const std::vector<std::int64_t>& worthless);

// Whether a record of weights goes with each pass.
bool hasWeights(const CanonicalOp& op);

}  // namespace heddle
