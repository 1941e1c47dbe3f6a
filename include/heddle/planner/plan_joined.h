// Plans a network as it is and with convolutions joined that read one tensor alike
// (canon/join_siblings.h), and takes the faster: joined, their rows go over the wires once, but all
// of them are cut over the mesh in one way.
#pragma once
#include <functional>

#include "heddle/planner/order_blocks.h"

namespace heddle {

struct JoinedPlan {
  bool isJoined = false;
  OrderedPlan ordered;  // of `graph`, or where isJoined of `joined`
};

// The plan of planInOrder, of the network as it is or joined, where the closed form finds the first
// of these plans (OrderSearch::begin) half a per cent faster, or faster at all where only the
// network as it is is tiled. Groups of layers that somebody named (options.groups) are of the
// network as it is. `joined`: null where there is nothing to join. Errors: those of makePlan for
// the network as it is; where that fits no core, joined is not tried.
Result<JoinedPlan> planJoined(const CanonicalGraph& graph, const CanonicalGraph* joined,
                              const Device& device, const PlanOptions& options, bool asked,
                              const std::function<void(double)>& progress = {});

}  // namespace heddle
