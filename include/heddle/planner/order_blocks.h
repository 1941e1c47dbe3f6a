// Deals the channel blocks of a network out so that cores which wait for each other have equally
// many blocks of weights to multiply.
//
//   8 output blocks with 4 3 1 2 1 2 4 3 full input blocks, two rows of cores, two passes of two
//
//     as the model orders them          core row 0  7 | 3     heaviest 7 + 7 = 14
//                                       core row 1  3 | 7
//     1 and 4, 3 and 6 trade places     core row 0  5 | 5     heaviest 5 + 5 = 10
//                                       core row 1  5 | 5
//
// Rows of an input go to all cores of a column at once, so these keep step pass by pass, and within
// a pass part by part of the reduction: that is where the heaviest counts. The producer of a tensor
// writes its blocks in the new order, and all that read it have their weights in that order
// (canon/block_orders.h): nothing is moved for it. Source: paper 004, section on sparsity, names
// the imbalance; the search is ours.
#pragma once
#include <functional>
#include <optional>

#include "heddle/canon/block_orders.h"
#include "heddle/planner/make_plan.h"

namespace heddle {

// Orders in which the cores of this plan's mappings wait less for each other; none at all where no
// convolution leaves blocks out, or no trade of two blocks helps. Needs: verify(plan, graph, ...)
// is empty. Ensures: verify(orders, graph) is; the same on every machine.
// Time: ResNet-50 with half of its blocks 0.1 s.
BlockOrders balancedOrders(const CanonicalGraph& graph, const Plan& plan);

struct OrderedPlan {
  BlockOrders orders;  // of the network that the plan is of: inOrder(graph, orders)
  Plan plan;
  std::optional<PlanChoices> choices;  // where they were asked for
};

// The plan of makePlan, of the network as it is or in the orders that balance that plan: of which
// the closed form finds faster. Effort 0 and networks without empty blocks stay as they are.
// Errors: those of makePlan.
Result<OrderedPlan> planInOrder(const CanonicalGraph& graph, const Device& device,
                                const PlanOptions& options, bool asked,
                                const std::function<void(double)>& progress = {});

}  // namespace heddle
