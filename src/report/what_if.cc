#include "heddle/report/what_if.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

#include "heddle/machine/machine.h"

namespace heddle {
namespace {

std::vector<Resource> resourcesOf(const std::vector<LeafFacts>& leaves) {
  std::vector<Resource> used;
  for (std::size_t r = 0; r < kResources; ++r) {
    const auto resource = static_cast<Resource>(r);
    const bool isUsed = resource != Resource::Sequencer &&
                        std::any_of(leaves.begin(), leaves.end(), [&](const LeafFacts& leaf) {
                          return leaf.resource == resource;
                        });
    if (isUsed) used.push_back(resource);
  }
  return used;
}

}  // namespace

Result<std::vector<WhatIf>> whatIf(const Program& program, const Device& device) {
  const std::vector<LeafFacts> leaves = leafFacts(program);
  const std::vector<Resource> resources = resourcesOf(leaves);
  // A question of time only: that a lock rises higher where an engine is so fast hinders nobody.
  Device patient = device;
  patient.limits.lockMaximum.reset();
  std::vector<std::optional<Result<SimulateResult>>> results(resources.size());
  std::vector<std::exception_ptr> broken(resources.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < resources.size(); i = next++) {
      SimulateOptions options{.recordTimeline = false, .maxCycles = {}, .oneCycle = {}};
      try {
        for (const LeafFacts& leaf : leaves)
          options.oneCycle.push_back(leaf.resource == resources[i]);
        results[i] = simulateTime(program, patient, options);
      } catch (...) {
        broken[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t threads =
        std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, resources.size() + 1);
    try {
      for (std::size_t t = 1; t < threads; ++t) helpers.emplace_back(work);
    } catch (const std::system_error&) {  // no more of them: those that are there do the work
    }
    work();
  }
  std::vector<WhatIf> out;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (broken[i]) std::rethrow_exception(broken[i]);
    if (!*results[i]) return results[i]->diagnostics();
    out.push_back({resources[i], (*results[i])->timeline.makespan});
  }
  return out;
}

}  // namespace heddle
