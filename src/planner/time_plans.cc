#include "time_plans.h"

#include <algorithm>

#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"

namespace heddle {

std::optional<PlanTime> PlanTimer::time(const Plan& plan) {
  if (isSpent() || !verify(plan, graph_, device_).empty()) return std::nullopt;
  const Result<MemoryPlan> memory = allocateMemory(graph_, plan, device_);
  if (!memory) return std::nullopt;
  Result<GeneratedProgram> generated = generateProgram(graph_, plan, *memory, device_);
  if (!generated) return std::nullopt;
  ++plans_;
  const Result<VerifiedProgram> program = verified(std::move(generated->program), device_);
  if (!program) return std::nullopt;
  const std::optional<std::int64_t>& mostOfALock = device_.limits.lockMaximum;
  const Result<SimulateResult> run =
      simulateTime(*program, {.recordTimeline = false, .locksOfAnyTimes = mostOfALock.has_value()});
  if (!run || (mostOfALock && run->highestLock > *mostOfALock)) return std::nullopt;
  instructions_ += run->instructions;
  tellProgress();
  PlanTime time{.cycles = run->timeline.makespan, .endOfSteps = run->stepEnd};
  for (std::size_t s = 1; s < time.endOfSteps.size(); ++s)
    time.endOfSteps[s] = std::max(time.endOfSteps[s], time.endOfSteps[s - 1]);
  return time;
}

void PlanTimer::tellProgress() const {
  if (!progress_) return;
  const auto part = [](std::int64_t spent, std::int64_t whole) {
    return static_cast<double>(spent) / static_cast<double>(whole);
  };
  progress_(std::min(
      1.0, std::max(part(plans_, whole_.plans), part(instructions_, whole_.instructions))));
}

}  // namespace heddle
