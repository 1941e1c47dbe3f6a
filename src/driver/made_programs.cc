#include "heddle/driver/made_programs.h"

#include <algorithm>

#include "heddle/canon/block_orders.h"
#include "heddle/device/keys.h"

namespace heddle {
namespace {

// The plan without what the planner thought of it, which follows from the rates.
Plan whatItDoes(Plan plan) {
  for (Mapping& mapping : plan.layers) {
    mapping.score = {};
    mapping.boundBy.clear();
  }
  return plan;
}

// The planner makes networks anew where it has another operator apart.
bool isSame(const std::shared_ptr<const CanonicalGraph>& a,
            const std::shared_ptr<const CanonicalGraph>& b) {
  return a == b || (a && b && *a == *b);
}

}  // namespace

VerifiedProgram MadePrograms::find(const Compilation& run) {
  const Plan plan = whatItDoes(*run.plan);
  const BlockOrders orders = ordersOf(run.network());
  const std::lock_guard held(mutex_);
  const auto found = std::ranges::find_if(made_, [&](const Made& made) {
    return made.canonical == run.canonical && made.propagated == run.propagated &&
           made.orders == orders && differOnlyInTimes(made.program.device(), *run.device) &&
           made.plan == plan && made.memoryPlan == *run.memoryPlan && isSame(made.fused, run.fused);
  });
  if (found == made_.end()) return {};
  made_.splice(made_.begin(), made_, found);
  return found->program.on(*run.device);
}

void MadePrograms::add(const Compilation& run) {
  const std::lock_guard held(mutex_);
  made_.push_front({.canonical = run.canonical,
                    .propagated = run.propagated,
                    .fused = run.fused,
                    .orders = ordersOf(run.network()),
                    .plan = whatItDoes(*run.plan),
                    .memoryPlan = *run.memoryPlan,
                    .program = run.program,
                    .proof = {}});
  if (made_.size() > most_) made_.pop_back();
}

MadePrograms::Made* MadePrograms::of(const Program& program) {
  const auto found =
      std::ranges::find_if(made_, [&](const Made& made) { return &*made.program == &program; });
  return found == made_.end() ? nullptr : &*found;
}

std::optional<Verification> MadePrograms::proofOf(const Program& program, std::uint64_t seed) {
  const std::lock_guard held(mutex_);
  const Made* made = of(program);
  return made != nullptr && made->seed == seed ? made->proof : std::nullopt;
}

void MadePrograms::addProof(const Program& program, std::uint64_t seed,
                            const Verification& verification) {
  const std::lock_guard held(mutex_);
  if (Made* made = of(program)) {
    made->seed = seed;
    made->proof = verification;
  }
}

}  // namespace heddle
