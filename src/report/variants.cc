#include "variants.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

namespace heddle {

Result<std::vector<Cycles>> runVariants(const VerifiedProgram& program,
                                        const std::vector<Variant>& variants) {
  std::vector<std::optional<Result<SimulateResult>>> results(variants.size());
  std::vector<std::exception_ptr> broken(variants.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < variants.size(); i = next++) {
      try {
        Device patient = variants[i].device;
        patient.limits.lockMaximum.reset();
        results[i] = simulateTime(
            program.on(std::move(patient)),
            {.recordTimeline = false, .maxCycles = {}, .oneCycle = variants[i].oneCycle});
      } catch (...) {
        broken[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t threads =
        std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, variants.size() + 1);
    try {
      for (std::size_t t = 1; t < threads; ++t) helpers.emplace_back(work);
    } catch (const std::system_error&) {  // no more of them: those that are there do the work
    }
    work();
  }
  std::vector<Cycles> cycles;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (broken[i]) std::rethrow_exception(broken[i]);
    if (!*results[i]) return results[i]->diagnostics();
    cycles.push_back((*results[i])->timeline.makespan);
  }
  return cycles;
}

}  // namespace heddle
