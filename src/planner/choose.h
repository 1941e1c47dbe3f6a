// Takes for each layer the mapping that the closed form finds fastest, where it stands in the
// schedule: after the steps before it, with the wires and channels as they left them.
#pragma once
#include <optional>
#include <vector>

#include "choices.h"
#include "finalists.h"
#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "heddle/planner/make_plan.h"
#include "heddle/tiling/plan.h"
#include "known_layers.h"

namespace heddle {

// The cycles of steps with one or another finalist, as far as they were asked for.
class FinalistCycles {
 public:
  // Needs: all outlive it, and `known` holds the finalists that it is asked for.
  FinalistCycles(const Device& device, WorkCounter& count, KnownFinalists& known)
      : device_(device), count_(count), known_(known) {}
  FinalistCycles(const Device&& device, WorkCounter& count, KnownFinalists& known) = delete;

  // Where a step's tensors are at home, as a number.
  std::size_t placesOf(const Plan& plan, std::size_t step) { return count_.placesOf(plan, step); }
  // One finalist in the place of its layer: the plan holds it as soon as its counts are asked for,
  // and keeps it meanwhile.
  class Trial {
   public:
    // With which the step ends no later: of its engines alone, or with its first core.
    const StepCycles& least(StepCounting::Part part);
    const StepCycles& whole();
    // What `least` would not count again.
    StepCounting::Part counted() const {
      return known_.whole ? StepCounting::Part::AllCores : known_.counted;
    }

   private:
    friend class FinalistCycles;
    Trial(const FinalistCycles& of, Plan& plan, std::size_t step,
          const KnownFinalists::Trial& asked, KnownFinalists::Cycles& known)
        : of_(of), plan_(plan), step_(step), asked_(asked), known_(known) {}
    void take();

    const FinalistCycles& of_;
    Plan& plan_;
    std::size_t step_;
    KnownFinalists::Trial asked_;
    KnownFinalists::Cycles& known_;
    std::optional<StepCounting> counting_;
  };
  // The plan holds some mapping of the layer afterwards.
  Trial trial(Plan& plan, std::size_t step, const KnownFinalists::Trial& asked) {
    return {*this, plan, step, asked, known_.cycles[asked]};
  }
  const StepCycles& of(Plan& plan, std::size_t step, const KnownFinalists::Trial& asked) {
    return trial(plan, step, asked).whole();
  }
  // Thousandths of a layer's time by which it has to gain with a finalist to take that.
  std::int64_t worthwhile(const Mapping& finalist);

 private:
  const Device& device_;
  WorkCounter& count_;
  KnownFinalists& known_;
};

// A layer of several steps is mapped as the first of them asks.
// Needs: plan.layers holds a mapping of each layer that has finalists; `memory` is the plan's.
// Ensures: plan.layers holds the chosen ones. What the memory plan says of streams and cores is no
// longer true. `weighed`, where given, gets what the layers had to choose from.
struct Weighed {
  std::vector<LayerChoice> choices;     // of as many layers as the graph has
  std::vector<MappingOptions> options;  // likewise, where a search wants them, else none
  std::size_t mostOptions = 0;          // of a layer
  bool alone = false;                   // whether LayerChoice::alone is wanted
};
void chooseMappings(const CanonicalGraph& graph, const Device& device, const Allocation& memory,
                    const Finalists& finalists, FinalistCycles& cycles, Plan& plan,
                    Weighed* weighed = nullptr);

// What the mappings of a plan's layers were chosen among, and where.
struct ChosenAmong {
  Plan before;  // without them
  Allocation memory;
  Finalists finalists;
};
// `wanted`: says how many options, and whether alone. Returns that with what each layer had to
// choose from.
Weighed weigh(const CanonicalGraph& graph, const Device& device, const ChosenAmong& among,
              FinalistCycles& cycles, Weighed wanted);

// Which DDR channels bring what, now that it is known which tensors live in DDR.
void setDdrChannels(const CanonicalGraph& graph, const Allocation& memory, const Device& device,
                    Plan& plan);

}  // namespace heddle
