// The search for one layer's cut by the paper's dataflow: pixels over mesh columns, output channels
// over mesh rows, input rows streamed, weights kept in the core.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct Tiling {
  std::vector<PixelBox> columns;    // per mesh column; empty ones last
  std::vector<Interval> rowBlocks;  // per mesh row: its output channel blocks; empty ones last
  Mapping mapping;                  // its cut over time and its buffers; no shares, no routes yet

  std::int64_t activeColumns() const;
  std::int64_t activeRows() const;
};

// The pixels that each mesh column computes, and that its memtile keeps: W over columns where there
// are enough of them.
std::vector<PixelBox> evenBoxes(const Shape& shape, const Device& device);

// What a tiling may take beside the device's own memory and limits.
struct SearchLimits {
  std::int64_t staging = 0;  // bytes of a memtile for the weights of a row
  bool ahead = true;         // second places for what comes next
};
// The fastest tiling whose buffers fit a core, whose rings hold no more calls' rows than a lock can
// count, and two of whose weight records fit the staging; else what the smallest one needs and
// there is not.
struct FoundTiling {
  std::optional<Tiling> tiling;
  std::string shortage;
};
FoundTiling searchTiling(const CanonicalGraph& graph, const CanonicalOp& op, const Device& device,
                         const SearchLimits& limits);

}  // namespace heddle
