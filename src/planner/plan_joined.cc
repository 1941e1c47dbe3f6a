#include "heddle/planner/plan_joined.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace heddle {
namespace {

// Thousandths of the network's time: what joining has to gain, as the closed form errs.
constexpr std::int64_t kJoinWorthwhile = 5;

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
  OrderSearch apart(graph, device, options, asked, progress);
  OrderSearch together(*joined, device, options, asked, progress);
  HEDDLE_TRY(const Cycles apartEnd, apart.begin());
  std::optional<JoinChoice> choice;
  if (const Result<Cycles> end = together.begin()) {
    // Of tiles it errs more than that: what it finds faster without is taken.
    const bool onlyApartIsTiled =
        isTiled(apart.best(), graph) && !isTiled(together.best(), *joined);
    const std::int64_t worthwhile = onlyApartIsTiled ? 0 : kJoinWorthwhile;
    best.isJoined = end->raw() * 1000 <= apartEnd.raw() * (1000 - worthwhile);
    choice = JoinChoice{joinedConvolutions(graph, *joined), apartEnd, *end, best.isJoined};
  }
  OrderSearch& better = best.isJoined ? together : apart;
  better.goOn();
  HEDDLE_TRY(best.ordered, better.finish());
  if (best.ordered.choices) best.ordered.choices->join = choice;
  return best;
}

}  // namespace heddle
