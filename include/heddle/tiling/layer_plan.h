// How each layer is cut over the mesh and over time. First version: the paper's dataflow.
//
//   W over columns, COUT over rows, H streamed, weights kept in the core (H over columns where W is
//   smaller than the mesh). One layer on one core is the loop nest
//
//     for pass   (output channel blocks, blocksPerPass at a time)
//       for chunk  (output columns, where a row does not fit)
//         for band   (output rows, only where partial sums of all rows do not fit)
//           for part   (of the reduction: input channel blocks, kernel rows, where the weights do
//           not fit)
//             for y      one kernel call: one output row
//
// With 64 -> 256 channels on 4x4, blocksPerPass = 8: mesh row 1 computes blocks 8..15 in one pass.
// Source: paper 004, sections on subvolumes and on the mapping to the mesh.
#pragma once
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/support/result.h"

namespace heddle {

struct Interval {  // [first, first + count)
  std::int64_t first = 0, count = 0;
  std::int64_t end() const { return first + count; }
  bool empty() const { return count <= 0; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// `count` things in `parts` nearly equal intervals; the first ones are longer by one. Interval
// number `index`.
Interval evenPart(std::int64_t count, std::int64_t parts, std::int64_t index);

struct OutputBox {  // output pixels of one mesh column
  Interval y, x;
  bool empty() const { return y.empty() || x.empty(); }
  friend bool operator==(const OutputBox&, const OutputBox&) = default;
};

struct ReductionPart {
  Interval inputBlocks;  // of the input tensor (CONV); 0, 0 where channels are not reduced
  Interval kernelRows;
  friend bool operator==(const ReductionPart&, const ReductionPart&) = default;
};

struct RingPlan {  // the rows of one operand that a core holds
  std::int64_t length = 0, rowBytes = 0;
  friend bool operator==(const RingPlan&, const RingPlan&) = default;
};

struct LayerTiling {
  std::vector<OutputBox> columns;   // per mesh column; empty ones last
  std::vector<Interval> rowBlocks;  // per mesh row: its output channel blocks; empty ones last
  std::int64_t blocksPerPass = 1, passes = 1, chunks = 1, bands = 1;
  std::vector<ReductionPart> parts;
  bool resident = false;        // all input rows of the tile stay in the core over all passes
  std::vector<RingPlan> rings;  // per operand
  std::int64_t weightSlots = 0, weightBytes = 0;  // largest record of a pass
  std::int64_t outputSlots = 2, outputRowBytes = 0, accumulatorBytes = 0;
  std::int64_t coreBytes = 0;  // all of the above
  Cycles estimate;             // closed form
  std::string boundBy;         // the largest term of the estimate
  friend bool operator==(const LayerTiling&, const LayerTiling&) = default;

  std::int64_t activeColumns() const;
  std::int64_t activeRows() const;
  // Output blocks of mesh row `row` in pass `pass` (empty: the row sits this pass out).
  Interval passBlocks(std::int64_t row, std::int64_t pass) const;
};

struct LayerPlan {
  std::vector<LayerTiling> layers;  // per operator of the graph, in its order
  std::int64_t weightStagingPerRow =
      0;  // bytes of memtile set aside for the weights of one mesh row
  friend bool operator==(const LayerPlan&, const LayerPlan&) = default;
};

// Errors: PLAN001 a layer that no tiling brings into a core's memory (names what the smallest one
// needs).
Result<LayerPlan> makeLayerPlan(const CanonicalGraph& graph, const Device& device);

// Re-checks a layer plan the slow way, every output pixel, channel block and term of the reduction
// once: PLAN003.
Diagnostics verify(const LayerPlan& plan, const CanonicalGraph& graph, const Device& device);

// The pixels that each mesh column computes, and that its memtile keeps: W over columns where there
// are enough of them.
std::vector<OutputBox> evenBoxes(const Shape& shape, const Device& device);

// Memtile that holds the weights of a mesh row on their way.
std::int64_t weightMemtile(std::int64_t row, const Device& device);

std::string splitText(const LayerTiling& tiling);
std::string print(const LayerPlan& plan, const CanonicalGraph& graph);

}  // namespace heddle
