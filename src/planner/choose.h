// Takes for each layer the mapping that the closed form finds fastest, where it stands in the
// schedule: after the steps before it, with the wires and channels as they left them.
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Per layer, of which plan.layers holds one; none for a layer in place.
using Finalists = std::vector<std::vector<Mapping>>;

// A layer of several steps is mapped as its first one asks. Needs: `memory` is the plan's.
// Ensures: plan.layers holds the chosen ones. What the memory plan says of streams and cores is no
// longer true.
void chooseMappings(const CanonicalGraph& graph, const Device& device, const MemoryPlan& memory,
                    const Finalists& finalists, WorkCounter& count, Plan& plan);

// Which DDR channels bring what, now that it is known which tensors live in DDR.
void setDdrChannels(const CanonicalGraph& graph, const Device& device, Plan& plan);

// What a plan's steps do and when, in closed form.
struct PlannedTimes {
  std::vector<StepWork> work;
  std::vector<StepTime> times;
};
PlannedTimes closedForm(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
                        const Device& device, WorkCounter& count);

// When its last byte is written.
Cycles closedFormEnd(const CanonicalGraph& graph, const Plan& plan, const MemoryPlan& memory,
                     const Device& device, WorkCounter& count);

}  // namespace heddle
