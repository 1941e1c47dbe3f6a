// Counts what the steps of a plan do, for cost/work.h to time: calls by kernel and size, transfers
// by engine and size, weight records, what a core waits for. Spilled tensors count as what they
// are: rows through the memtiles' DDR channels.
//
//   for (const StepTime& step : stepTimes(countWork(graph, plan, memory, device), device)) ...
#pragma once
#include <deque>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/cost/work.h"
#include "heddle/memory/allocate.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Per step of the schedule. Needs: both plans have passed verify.
std::vector<StepWork> countWork(const CanonicalGraph& graph, const Plan& plan,
                                const MemoryPlan& memory, const Device& device);

// Which steps write each root tensor, and which tensors come whole before a step or leave after it.
struct WholeTensors {
  WholeTensors(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory);
  std::vector<std::vector<std::int64_t>> writers;       // per tensor
  std::vector<std::vector<std::size_t>> loads, stores;  // per step
};

// The same step by step, so that a planner can ask for one with another mapping. Remembers what it
// counted: of layers that are alike, and of plans that place the same elsewhere, once.
class WorkCounter {
 public:
  // Needs: both outlive it.
  WorkCounter(const CanonicalGraph& graph, const Device& device);
  WorkCounter(const CanonicalGraph& graph, const Device&& device) = delete;
  // Needs: `whole` of a plan of the same schedule, views and homes.
  StepWork operator()(const Plan& plan, const MemoryPlan& memory, const WholeTensors& whole,
                      std::size_t step);

 private:
  struct Known {  // what a count depends on beside the layer, and the count
    Mapping mapping;
    Interval rows;
    std::vector<Home> homes;  // of inputs and output
    std::vector<std::int64_t> firstBlocks;
    StepWork work;
  };
  const StepWork& counted(const Plan& plan, std::size_t step);
  void addWholeTensors(StepWork& work, const MemoryPlan& memory, const WholeTensors& whole,
                       std::size_t step) const;

  const CanonicalGraph& graph_;
  const Device& device_;
  std::vector<std::size_t> alike_;
  std::vector<std::deque<Known>> known_;  // per layer that others are like
};

// The time of each layer in closed form: what its steps add to the whole.
std::vector<Cycles> layerCycles(const Plan& plan, const std::vector<StepTime>& steps);

}  // namespace heddle
