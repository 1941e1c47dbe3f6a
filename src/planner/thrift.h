// What a plan gives up to keep within the limits of a device: locks and descriptors of a tile,
// locks of one descriptor, the highest value of a lock.
//
// How many of these a plan takes follows from its program alone. So the planner asks the generator,
// as it asks the allocator what fits; only where the device has limits.
#pragma once
#include <compare>
#include <optional>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct Thrift {
  std::int64_t rows = 1, columns = 1;  // of cores that compute, from core(0, 0) on
  Bytes memory;  // of a memtile, of which parts are set aside for weight records
  // Pieces that may wait in one buffer, where limits.lockMaximum is given: it, or less where one
  // lock counts those of several.
  std::optional<std::int64_t> waiting;
  bool longCalls = true;    // calls of several rows, rings for rows of whole sweeps
  bool tiles = true;        // layers may be tiled depth-wise
  bool recordsStay = true;  // in the memtiles from tile to tile, band to band
  bool arranges = true;     // homes are cut as fewest instructions move them
  bool menu = true;         // any mapping; else the paper's dataflow alone
  bool homes = true;        // tensors may live in memtiles; else all come out of DDR and go there
  bool ahead = true;  // a core holds the next record, window and output row beside those in use
  bool ownChannel = true;  // weights do not share the receiving channel of the inputs
  friend bool operator==(const Thrift&, const Thrift&) = default;
};

Thrift noThrift(const Device& device);
// The same with one more thing given up, in the order in which to try it, those together that cost
// about as little; `arranges` first, and with each of the others; not the cores.
std::vector<std::vector<Thrift>> thriftierThan(const Thrift& thrift);
// The same on half of the mesh, cut along its longer side; nothing of one core.
std::optional<Thrift> onFewerCores(Thrift thrift);

// The same, a row or a column of cores less, and with less memory: more of these may be slower,
// where cores don't divide a layer as well, or larger records are not better ones.
std::vector<Thrift> slightlyLess(const Thrift& thrift);

// By how much a plan exceeds the device's limits; less is better, and none where it keeps them.
struct Excess {
  std::int64_t limits = 0;    // that do not suffice
  std::int64_t permille = 0;  // needed of there, of the worst of them
  friend auto operator<=>(const Excess&, const Excess&) = default;
};
Excess excessOf(const CanonicalGraph& graph, const Plan& plan, const Device& device);

}  // namespace heddle
