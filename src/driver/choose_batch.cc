#include "heddle/driver/choose_batch.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "heddle/driver/compile.h"
#include "road.h"

namespace heddle {
namespace {

// Hundredths of an inference's time: what twice as many inferences a frame have to gain.
constexpr std::int64_t kWorthwhile = 3;

// Cycles of a frame in closed form.
Result<Cycles> timeOf(const Network& network, const Device& device, const PlanOptions& options,
                      Progress& progress) {
  CompileSettings settings{.plan = options, .explain = false, .last = Stage::MemoryPlan};
  settings.plan.effort = std::min(options.effort, kUsualPlanEffort);
  progress.begin("batch of " + std::to_string(network.batch));
  NoProgress quiet;
  const Result<Compilation> run = compile(network, device, settings, quiet);
  progress.end();
  if (!run) return run.diagnostics();
  Cycles whole;
  for (const StepTime& step : run->stepTimes) whole += step.cycles;
  return whole;
}

bool doesNotFit(const Diagnostics& faults) {
  return std::ranges::all_of(
      faults, [](const Diagnostic& fault) { return fault.severity == Severity::DoesNotFit; });
}

// The network in twice as many inferences a frame, where that gains; nothing where not, or where
// they do not fit.
Result<std::optional<Network>> inTwice(const Network& network, const Device& device,
                                       const PlanOptions& options, Progress& progress,
                                       Cycles& time) {
  Result<Network> next = inBatchesOf(network.batch * 2, network);
  if (!next && doesNotFit(next.diagnostics())) return std::optional<Network>();
  if (!next) return next.diagnostics();
  const Result<Cycles> whole = timeOf(*next, device, options, progress);
  if (!whole && !doesNotFit(whole.diagnostics())) return whole.diagnostics();
  if (!whole || whole->raw() * 100 > 2 * time.raw() * (100 - kWorthwhile))
    return std::optional<Network>();
  time = *whole;
  return std::optional(std::move(*next));
}

}  // namespace

Result<Network> inBestBatch(const Network& network, const Device& device,
                            const PlanOptions& options, Progress& progress) {
  double seconds = 0;
  std::optional<Network> best;
  {
    const Timed timed(seconds);
    HEDDLE_TRY(best, inBatchesOf(1, network));
    HEDDLE_TRY(Cycles time, timeOf(*best, device, options, progress));
    while (best->batch * 2 <= kMostChosenBatch) {
      HEDDLE_TRY(std::optional<Network> next, inTwice(*best, device, options, progress, time));
      if (!next) break;
      best = std::move(next);
    }
  }
  best->effort.compileSeconds = network.effort.compileSeconds + seconds;
  return std::move(*best);
}

}  // namespace heddle
