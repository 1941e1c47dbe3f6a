// Depth-wise tiling: neighbouring layers compute some output rows each, by turns, so that what lies
// between them is never in the memtiles whole.
//
//   3x3, 3x3, pool 2x2 of 224 rows in 2 tiles    0 rows 0..116, 1 rows 0..113, 2 rows 0..56,
//                                                0 rows 116..224, 1 rows 113..224, 2 rows 56..112
//
// Nothing is computed twice: a tile computes the rows that its last layers need and no tile before
// has computed; what it needs of those is still there. Rows lie in the memtiles from the step that
// computes them to the last that reads them (tiling/lives.h). Source: paper 004, section on
// depth-wise tiling, whose tiles compute the overlap again.
#pragma once
#include <map>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/cost/work.h"
#include "heddle/device/device.h"
#include "heddle/planner/make_plan.h"
#include "heddle/support/result.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct TileGroup {
  std::size_t first = 0, end = 0;  // layers [first, end) of the graph
  std::int64_t tiles = 1;          // of each image of a batch: none lies in two
  friend auto operator<=>(const TileGroup&, const TileGroup&) = default;
};

// Those of all images of the batch together.
std::int64_t tilesOf(const CanonicalGraph& graph, const TileGroup& group);

// Errors: PLAN012 a name that no layer has, a group that ends before it begins, that meets another,
//         or of which each layer has one row.
Result<std::vector<TileGroup>> namedGroups(const CanonicalGraph& graph,
                                           const std::vector<PlanOptions::Group>& named);

// All layers in the graph's order, those of a group tile by tile. Needs: groups in order, which do
// not meet; a tensor that is channels of another is written in the same group as the others there,
// or by layers of none.
std::vector<ScheduleStep> tiledSchedule(const CanonicalGraph& graph, const Plan& plan,
                                        const std::vector<TileGroup>& groups);

// The most bytes of a memtile that groups keep while they run: of one plan, as far as asked.
using KeptBytes = std::map<TileGroup, std::int64_t>;

// The same groups; those of 0 tiles with as few as need that share of a memtile's memory beside the
// weights, or with as many as there are rows.
std::vector<TileGroup> withTiles(const CanonicalGraph& graph, const Device& device,
                                 const Plan& plan, std::vector<TileGroup> groups, double share,
                                 KeptBytes& kept);

// Larger numbers of tiles of a group, up to as few as leave room in the memtiles for all records of
// its layers beside its rows.
std::vector<std::int64_t> tilesBesideRecords(const CanonicalGraph& graph, const Device& device,
                                             const Plan& plan, const TileGroup& group);

// The same groups; those that write or read one of `tensors` in the next larger number of tiles, if
// they have so many rows.
std::vector<TileGroup> withMoreTiles(const CanonicalGraph& graph, const Plan& plan,
                                     std::vector<TileGroup> groups,
                                     const std::vector<TensorId>& tensors);

// Network inputs that only layers of one group read: out of DDR row by row they take no memory.
std::vector<bool> readInOneGroup(const CanonicalGraph& graph, const Plan& plan,
                                 const std::vector<TileGroup>& groups);

// What groups took, in cycles, that the closed form has timed.
using KnownGroups = std::map<TileGroup, std::int64_t>;

// By what the cost of a group is foretold: a sum over its layers.
struct Foretelling {
  const std::vector<StepTime>& alone;   // of each layer, in a plan without groups
  const std::vector<StepTime>& inside;  // of each layer, in a group: its cores and wires
  Cycles step;                          // what a further step costs before its first call
  double share = 1;  // of a memtile's memory beside the weights, what the group's rows may take
};

// Groups that promise to be faster than layer after layer: activations that spill stay in the
// memtiles, and weights come once for each tile. Those in `known` cost what they took, others so
// many times what is foretold as these did.
std::vector<TileGroup> promisingGroups(const CanonicalGraph& graph, const Device& device,
                                       const Plan& plan, const Foretelling& foretelling,
                                       const KnownGroups& known, KeptBytes& kept);

}  // namespace heddle
