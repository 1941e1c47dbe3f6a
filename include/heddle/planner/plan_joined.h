// Plans a network fused in several ways, and takes the fastest: with each depth-wise convolution at
// the end of the one before it or as a layer of its own, and with convolutions joined that read one
// tensor alike (canon/join_siblings.h). Joined, their rows go over the wires once, but all of them
// are cut over the mesh in one way; at an end, what lies between never leaves the core, but both
// are cut alike.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "heddle/planner/order_blocks.h"

namespace heddle {

// A network fused in one way, and the same with siblings joined; null: there is nothing to join.
struct FusedNetworks {
  std::shared_ptr<const CanonicalGraph> apart, joined;
};
// With what these names are of as layers of their own (canon/fuse_operators.h).
using WithApart = std::function<FusedNetworks(const std::set<std::string>& names)>;

struct JoinedPlan {
  bool isJoined = false;
  // What the plan is of; null: the given network, or where isJoined the given joined one.
  std::shared_ptr<const CanonicalGraph> network;
  OrderedPlan ordered;
};

// The plan of planInOrder of the network as it is, or, where the closed form finds the first of its
// plans (OrderSearch::begin) half a per cent faster, of the network with all that its convolutions
// do first, and all depth-wise ones at ends, as layers of their own, or with those that take less
// time so. Then likewise of that network joined, or of the given one; that also where it is faster
// at all and only the other is tiled. What exceeds the device's limits is not taken where something
// else does not. Groups of layers that somebody named (options.groups) are of networks that are not
// joined. `joined`: null where there is nothing to join. Errors: those of makePlan for the network
// as it is, or, where that fits no core, for the one with these as layers of their own.
Result<JoinedPlan> planJoined(const CanonicalGraph& graph, const CanonicalGraph* joined,
                              const WithApart& withApart, const Device& device,
                              const PlanOptions& options, bool asked,
                              const std::function<void(double)>& progress = {});

// Whether the plan of the network upright is to be taken: it keeps the device's limits, or the one
// of the network as it lies exceeds them, too, and the closed form finds it half a per cent faster;
// or that has no plan (null).
UprightChoice weighUpright(const CanonicalGraph& lying, const Plan* planLying,
                           const CanonicalGraph& upright, const Plan& planUpright,
                           const Device& device);

}  // namespace heddle
