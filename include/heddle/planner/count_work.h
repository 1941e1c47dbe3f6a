// Counts what the steps of a plan do, for cost/work.h to time: calls by kernel and size, transfers
// by engine and size, weight records, what a core waits for. Spilled tensors count as what they
// are: rows through the memtiles' DDR channels.
//
//   for (const StepTime& step : stepTimes(countWork(graph, plan, memory, device), device)) ...
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/cost/work.h"
#include "heddle/memory/allocate.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Per step of the schedule. Needs: both plans have passed verify.
std::vector<StepWork> countWork(const CanonicalGraph& graph, const Plan& plan,
                                const MemoryPlan& memory, const Device& device);

// The time of each layer in closed form: what its steps add to the whole.
std::vector<Cycles> layerCycles(const Plan& plan, const std::vector<StepTime>& steps);

}  // namespace heddle
