// What lies where and when: tensors in memtiles or in DDR, the ways in and out of DDR, and each
// layer's core memory.
//
//   step      0    1    2    3         a step is a layer of the plan
//   offset 0  [ a      ][ c     ]      a and c never meet, so they share the floor;
//   64 KiB         [ b     ]           b meets both and sits above
//
// A tensor is at home in the memtiles (each memtile keeps the pixels that its column computed, all
// at one address) or, where it does not fit, in DDR; then every use streams it through a small ring
// of places in the memtile.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/layer_plan.h"
#include "heddle/tiling/slice.h"

namespace heddle {

// Places in a memtile through which rows pass, one after another.
struct StreamPlan {
  std::int64_t address = 0, slotBytes = 0, slots = 0;
  friend bool operator==(const StreamPlan&, const StreamPlan&) = default;
};

struct TensorPlan {
  TensorId root;  // itself, or the tensor that it is channels of, from block rootBlock on
  std::int64_t rootBlock = 0;
  std::vector<Slice> slices;         // at home in the memtiles; empty: only in DDR (roots only)
  std::optional<std::int64_t> ddr;   // address in DDR (roots only)
  std::int64_t first = 0, last = 0;  // layers of its life, both included
  friend bool operator==(const TensorPlan&, const TensorPlan&) = default;
};

struct LayerMemory {
  bool inPlace = false;       // a Concat or Split whose tensors share memory: nothing to execute
  std::int64_t coreBase = 0;  // the layer's buffers in core memory begin here
  std::vector<StreamPlan>
      inputs;  // per operand; no slots where the operand is at home in the memtiles
  std::optional<StreamPlan> output;  // of mesh row 0; row r's is slots * slotBytes * r further
  friend bool operator==(const LayerMemory&, const LayerMemory&) = default;
};

struct MemoryPlan {
  std::vector<TensorPlan> tensors;  // per tensor of the graph
  std::vector<LayerMemory> layers;  // per operator
  std::int64_t weightStaging = 0;   // address in every memtile
  std::int64_t weightsAddress = 0;  // of the WeightImage in DDR, behind all tensors
  std::int64_t memtilePeak = 0;
  friend bool operator==(const MemoryPlan&, const MemoryPlan&) = default;
};

// Ensures: memory that meets in time does not meet in space; addresses are multiples of 8 bytes.
// Errors: MEM001 a layer's streams alone do not fit a memtile (names layer, bytes needed and
// there).
Result<MemoryPlan> allocateMemory(const CanonicalGraph& graph, const LayerPlan& plan,
                                  const Device& device);

// Re-checks a memory plan the slow way, sharing no code with the allocator: MEM002.
Diagnostics verify(const MemoryPlan& memory, const CanonicalGraph& graph, const LayerPlan& plan,
                   const Device& device);

std::string print(const MemoryPlan& memory, const CanonicalGraph& graph);

}  // namespace heddle
