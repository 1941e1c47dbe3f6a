#include "heddle/driver/choose_batch.h"

#include <algorithm>
#include <utility>

#include "heddle/driver/compile.h"

namespace heddle {
namespace {

// Hundredths of an inference's time: what twice as many inferences a frame have to gain.
constexpr std::int64_t kWorthwhile = 3;

// Cycles of a frame in closed form.
Result<Cycles> timeOf(const Network& network, const Device& device, const PlanOptions& options,
                      Progress& progress) {
  CompileSettings settings{.plan = options, .explain = false, .last = Stage::MemoryPlan};
  settings.plan.effort = std::min(options.effort, kUsualPlanEffort);
  HEDDLE_TRY(const Compilation run, compile(network, device, settings, progress));
  Cycles whole;
  for (const StepTime& step : run.stepTimes) whole += step.cycles;
  return whole;
}

}  // namespace

Result<Network> inBestBatch(const Network& network, const Device& device,
                            const PlanOptions& options, Progress& progress) {
  Network best = inBatchesOf(1, network);
  HEDDLE_TRY(Cycles time, timeOf(best, device, options, progress));
  while (best.batch * 2 <= kMostChosenBatch) {
    Network next = inBatchesOf(best.batch * 2, best);
    const Result<Cycles> whole = timeOf(next, device, options, progress);
    if (!whole || whole->raw() * 100 > 2 * time.raw() * (100 - kWorthwhile)) break;
    best = std::move(next);
    time = *whole;
  }
  return best;
}

}  // namespace heddle
