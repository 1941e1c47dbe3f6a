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
#include <vector>

#include "heddle/canon/block_orders.h"
#include "heddle/planner/make_plan.h"

namespace heddle {

// Orders in which the cores of this plan's mappings wait less for each other; none at all where no
// convolution leaves blocks out, or no trade of two blocks helps. Needs: a plan of this network or
// of one that differs only in which blocks are empty. Ensures: verify(orders, graph) is; the same
// on every machine. Time: ResNet-50 with half of its blocks 0.1 s.
BlockOrders balancedOrders(const CanonicalGraph& graph, const Plan& plan);

struct OrderedPlan {
  BlockOrders orders;  // of the network that the plan is of: inOrder(graph, orders)
  Plan plan;
  std::optional<PlanChoices> choices;  // where they were asked for
};

// The plan of makePlan, of the network as it is or in orders of its blocks: of which the closed
// form finds fastest. Which blocks meet in one core follows from a plan, and which plan is best
// from what cores have to do once its blocks are dealt out. So the orders are those that balance
// the plan of the network as it is (`begin`), one made as if all cores had equal work whatever they
// get, and the plans in these two orders, where they are near the best (`goOn`). Effort 0 and
// networks without empty blocks stay as they are.
class OrderSearch {
 public:
  // For the device of `known`. Needs: all that is given outlives it. `asked`: for the plan's
  // choices.
  OrderSearch(const CanonicalGraph& graph, KnownLayers& known, const PlanOptions& options,
              bool asked, const std::function<void(double)>& progress);

  // The end of the best plan so far, of the usual effort. First of all calls. Errors: those of
  // makePlan.
  Result<Cycles> begin();
  void goOn();
  // The best so far.
  const Plan& plan() const { return best_.plan; }
  const BlockOrders& orders() const { return orders_; }
  Result<OrderedPlan> finish();  // last of all calls

 private:
  bool isPlannedAgain() const;
  void tryOrders(BlockOrders orders);

  const CanonicalGraph& graph_;
  KnownLayers& known_;
  const PlanOptions& options_;
  PlanOptions usual_;
  bool asked_, reorders_;
  const std::function<void(double)>& progress_;
  struct Tried {
    BlockOrders orders;
    Plan plan;
    std::optional<Cycles> end;  // none: there is no plan in these orders
  };
  std::vector<Tried> tried_;
  ChosenPlan best_;
  BlockOrders orders_;         // of that
  CanonicalGraph reordered_;   // the network in them, where there are some
  Cycles asItIs_{0}, end_{0};  // in closed form
  std::optional<OrderChoice> choice_;
};

// All of that at once. Errors: those of makePlan.
Result<OrderedPlan> planInOrder(const CanonicalGraph& graph, const Device& device,
                                const PlanOptions& options, bool asked,
                                const std::function<void(double)>& progress = {});

}  // namespace heddle
