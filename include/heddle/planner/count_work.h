// Counts what the steps of a plan do, for cost/work.h to time: calls by kernel and size, transfers
// by engine and size, weight records, what a core waits for. Spilled tensors count as what they
// are: rows through the memtiles' DDR channels.
//
//   for (const StepTime& step : timesInClosedForm(graph, plan, memory, device)) ...
#pragma once
#include <memory>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/cost/work.h"
#include "heddle/memory/allocate.h"
#include "heddle/support/result.h"
#include "heddle/tiling/geometry.h"
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

// Where a step stands in the schedule and in memory. Needs: `whole` of a plan of the same schedule,
// views and homes.
StepPlace placeOf(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
                  const WholeTensors& whole, const Device& device, std::size_t step);
// The same for another mapping of its layer, whose buffers begin at `coreBase` of the cores and
// which has `staged` places for each route's weight records.
void setBuffers(StepPlace& place, const Mapping& mapping, std::int64_t coreBase,
                std::int64_t staged);

class StepCounter;

// The counts of one step, a part at a time: who only asks whether a mapping can be fast need not
// count all of it.
class StepCounting {
 public:
  // Engines: wires, DDR channels and weight records, no core; then the first core; all others.
  enum class Part { Engines, FirstCore, AllCores };

  explicit StepCounting(std::unique_ptr<StepCounter> counter);  // none: of a layer in place
  StepCounting(StepCounting&&) noexcept;
  StepCounting& operator=(StepCounting&&) noexcept;
  ~StepCounting();
  // Counts what is missing of `part`. Ensures: the reference is valid as long as this lives.
  const StepCounts& upTo(Part part);

 private:
  std::unique_ptr<StepCounter> counter_;
};

struct KnownLayers;  // of one device: the planner's own

// Counts step by step, so that a planner can ask for one with another mapping. Remembers the cycles
// of what it counted: of layers that are alike, and of plans that place the same elsewhere, once.
class WorkCounter {
 public:
  // Needs: both outlive it.
  WorkCounter(const CanonicalGraph& graph, const Device& device);
  WorkCounter(const CanonicalGraph& graph, const Device&& device) = delete;
  // Remembers it there, and has what others remember. Needs: both outlive it.
  WorkCounter(const CanonicalGraph& graph, KnownLayers& known);
  ~WorkCounter();
  StepCounts counts(const Plan& plan, std::size_t step) const;
  // Needs: the plan and the counter outlive it, and the plan stays as it is.
  StepCounting begin(const Plan& plan, std::size_t step) const;
  // By weight route, what all of its records hold that come out of DDR.
  std::vector<Bytes> recordBytes(const Plan& plan, std::size_t step) const;
  // `begun`: counts of the step, where there are some. Ensures: the reference stays valid as long
  // as the counter.
  const StepCycles& cycles(const Plan& plan, std::size_t step, StepCounting* begun = nullptr);
  // Of a layer's weights, the blocks that it keeps.
  const BlockCounts& kept(std::size_t layer) const { return kept_[layer]; }
  // The number of its kind among what is known; of where a step's tensors are, among those of it.
  std::size_t kind(std::size_t layer) const { return kinds_[layer]; }
  std::size_t placesOf(const Plan& plan, std::size_t step);

 private:
  WorkCounter(const CanonicalGraph& graph, std::unique_ptr<KnownLayers> own);
  void setLayers();

  const CanonicalGraph& graph_;
  std::unique_ptr<KnownLayers> own_;
  KnownLayers& known_;
  const Device& device_;
  std::vector<std::size_t> kinds_;   // per layer
  std::vector<BlockCounts> kept_;    // per layer
  StepCycles nothing_{{}, device_};  // of a layer in place
};

// When each step of the schedule is done. Needs: both plans have passed verify.
std::vector<StepTime> timesInClosedForm(const CanonicalGraph& graph, const Plan& plan,
                                        const MemoryPlan& memory, const Device& device);
std::vector<StepTime> timesInClosedForm(const CanonicalGraph& graph, const Plan& plan,
                                        const MemoryPlan& memory, const Device& device,
                                        WorkCounter& count);
// When the last of them is, with memory allocated for it. Errors: those of allocateMemory.
Result<Cycles> endInClosedForm(const CanonicalGraph& graph, const Plan& plan, const Device& device);
Result<Cycles> endInClosedForm(const CanonicalGraph& graph, const Plan& plan, KnownLayers& known);

// The time of each layer in closed form: what its steps add to the whole.
std::vector<Cycles> layerCycles(const Plan& plan, const std::vector<StepTime>& steps);

}  // namespace heddle
