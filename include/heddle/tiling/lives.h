// From when to when the rows of a plan's tensors must be in memory, by steps of its schedule.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct StepRange {  // both included; last < first: none
  std::int64_t first = 0, last = -1;
  bool empty() const { return last < first; }
  bool holds(std::int64_t step) const { return first <= step && step <= last; }
  // Grows to hold another too.
  void add(const StepRange& other);
  friend bool operator==(const StepRange&, const StepRange&) = default;
};

// Per tensor of the graph (empty for what is a part of another) and row: from the first step that
// writes a part of the row to the last that writes or reads one. An input or a constant comes whole
// before the first step that reads any of it; an output leaves whole after the last that writes.
// Steps of layers that have nothing to do touch nothing.
using RowLives = std::vector<std::vector<StepRange>>;
RowLives rowLives(const CanonicalGraph& graph, const Plan& plan);

// The same cells, cut into stretches of rows whose lives are alike, so that memory may be used
// again stretch by stretch.
Home cutByLife(const Home& home, const std::vector<StepRange>& lives);

}  // namespace heddle
