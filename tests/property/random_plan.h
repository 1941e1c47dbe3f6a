// Random legal plans on random arrays: what no planner would make, but every later stage must get
// right. Cuts, loop orders, routes, homes, leads and orders of steps at random, then verify.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle::property {

// An array that no file describes: any wires with any feeders (each core is reached by one at
// least), any channels, memories and limits of size.
Device randomArray(std::uint64_t seed);

// How often each kind of choice stands in the plans that were accepted.
using PlanKinds = std::map<std::string, std::int64_t>;
// Every kind that randomPlan can make.
std::vector<std::string> planKindNames();

// A plan that passes verify, and what is special about it; nothing where the array has no room for
// what was drawn.
struct RandomPlan {
  Plan plan;
  PlanKinds kinds;
};
std::optional<RandomPlan> randomPlan(const CanonicalGraph& graph, const Device& device,
                                     std::uint64_t seed);

}  // namespace heddle::property
