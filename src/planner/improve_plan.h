// Efforts 2 and 3: the Machine judges what the closed form proposed.
//
//   whole plans     each staging, tiled or not, fewer cores: those that the closed form finds not
//                   much slower than the first
//   layer by layer  the mappings that each was weighed against, of many layers at a time:
//
//     steps    0   1   2   3   4   5   6   7      two of eight layers get their next best mapping;
//     changed      *           *                  each is judged by what steps around it add:
//     judged   [---------)[---------)             what gains is kept, and timed together
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "choices.h"
#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/planner/make_plan.h"
#include "time_plans.h"

namespace heddle {

struct Proposal {
  ChosenPlan chosen;
  std::vector<MappingOptions> options;  // per layer; empty: the layers had no choice
  Cycles end;                           // in closed form
};

struct ImproveBounds {
  TimingBudget budget;
  std::int64_t proposals = 0;  // whole plans beside the first
  std::size_t options = 0;     // mappings of a layer beside the one that it has
  std::int64_t passes = 0;     // over all of these
  // In thousandths: what a whole plan, and what a layer's mapping, may lose in closed form and
  // still be timed.
  std::int64_t planLoses = 0, mappingLoses = 0;
};

// Of an effort above kUsualPlanEffort.
ImproveBounds improveBounds(int effort);

// Goes on from what the effort below found. Needs: the first proposal is the plan of the usual
// effort.
// Ensures: on the Machine the plan is no slower than that of a lower effort, nor than any proposal
// that was timed; the first where that cannot be timed.
ChosenPlan improvePlan(const CanonicalGraph& graph, const Device& device,
                       std::vector<Proposal> proposals, int effort,
                       const std::function<void(double)>& progress);

}  // namespace heddle
