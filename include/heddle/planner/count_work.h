// Counts what the steps of a plan do, for cost/work.h to time: calls by kernel and size, transfers
// by engine and size, weight records, what a core waits for. Spilled tensors count as what they
// are: rows through the memtiles' DDR channels.
//
//   for (const StepTime& step : stepTimes(countWork(graph, plan, memory, device), device)) ...
#pragma once
#include <memory>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/cost/work.h"
#include "heddle/memory/allocate.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Per step of the schedule. Needs: both plans have passed verify.
std::vector<StepWork> countWork(const CanonicalGraph& graph, const Plan& plan,
                                const MemoryPlan& memory, const Device& device);

// The same step by step, so that a planner can ask for one with another mapping.
class WorkCounter {
 public:
  // Needs: the graph outlives it. The schedule, views and homes stay as they are.
  WorkCounter(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory);
  ~WorkCounter();
  // Of a step whose layer `plan` maps and `memory` places, perhaps otherwise than at first.
  StepWork operator()(const Plan& plan, const MemoryPlan& memory, const Device& device,
                      std::size_t step) const;

 private:
  const CanonicalGraph& graph_;
  std::unique_ptr<const struct WholeTensors> whole_;
};

// The time of each layer in closed form: what its steps add to the whole.
std::vector<Cycles> layerCycles(const Plan& plan, const std::vector<StepTime>& steps);

}  // namespace heddle
