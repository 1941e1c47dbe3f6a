#include "heddle/planner/plan_joined.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "heddle/planner/count_work.h"

namespace heddle {
namespace {

// Thousandths of the network's time: what joining has to gain, as the closed form errs.
constexpr std::int64_t kJoinWorthwhile = 5;

Result<Cycles> endOf(const CanonicalGraph& graph, const OrderedPlan& of, const Device& device) {
  return endInClosedForm(inOrder(graph, of.orders), of.plan, device);
}

// Where a convolution was joined, a Split writes what it wrote.
std::int64_t joinedConvolutions(const CanonicalGraph& graph, const CanonicalGraph& joined) {
  std::set<TensorId> written;
  for (const CanonicalOp& op : graph.ops)
    if (op.kind() == OpKind::Conv) written.insert(op.output);
  return std::ranges::count_if(joined.ops, [&](const CanonicalOp& op) {
    return op.kind() == OpKind::Assemble && written.contains(op.output);
  });
}

}  // namespace

Result<JoinedPlan> planJoined(const CanonicalGraph& graph, const CanonicalGraph* joined,
                              const Device& device, const PlanOptions& options, bool asked,
                              const std::function<void(double)>& progress) {
  JoinedPlan best;
  if (!joined || options.effort == 0 || options.tiling == PlanOptions::Tiling::Given) {
    HEDDLE_TRY(best.ordered, planInOrder(graph, device, options, asked, progress));
    return best;
  }
  // What the Machine would say of more plans is asked once, of the network that is better.
  const bool judgedByMachine = options.effort > kUsualPlanEffort;
  PlanOptions usual = options;
  usual.effort = kUsualPlanEffort;
  const bool askNow = asked && !judgedByMachine;
  HEDDLE_TRY(best.ordered, planInOrder(graph, device, usual, askNow, progress));
  std::optional<JoinChoice> choice;
  if (Result<OrderedPlan> other = planInOrder(*joined, device, usual, askNow, progress)) {
    const Result<Cycles> apart = endOf(graph, best.ordered, device);
    const Result<Cycles> together = endOf(*joined, *other, device);
    // Of tiles it errs more than that: what it finds faster without is taken.
    const bool onlyApartIsTiled =
        isTiled(best.ordered.plan, graph) && !isTiled(other->plan, *joined);
    const std::int64_t worthwhile = onlyApartIsTiled ? 0 : kJoinWorthwhile;
    if (apart && together)
      choice = JoinChoice{joinedConvolutions(graph, *joined), *apart, *together,
                          together->raw() * 1000 <= apart->raw() * (1000 - worthwhile)};
    if (choice && choice->taken) best = {true, std::move(*other)};
  }
  if (judgedByMachine) {
    const CanonicalGraph& better = best.isJoined ? *joined : graph;
    HEDDLE_TRY(best.ordered, planInOrder(better, device, options, asked, progress));
  }
  if (best.ordered.choices) best.ordered.choices->join = choice;
  return best;
}

}  // namespace heddle
