// What the Machine says of a plan: its program is generated and run without data. Bounded by
// counts, not by a clock, so that on any computer the same plans are timed.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct PlanTime {
  Cycles cycles;
  std::vector<Cycles> endOfSteps;  // per step of the schedule: when it and all before it are done
};

struct TimingBudget {
  std::int64_t plans = 0;
  std::int64_t instructions = 0;  // that all of them execute; the last may exceed it
};

class PlanTimer {
 public:
  // `progress`, where given, is told after each plan what part of `whole` is spent. Needs: graph
  // and device outlive it.
  PlanTimer(const CanonicalGraph& graph, const Device& device, const TimingBudget& whole,
            std::function<void(double)> progress)
      : graph_(graph),
        device_(device),
        whole_(whole),
        budget_(whole),
        progress_(std::move(progress)) {}
  PlanTimer(const CanonicalGraph& graph, const Device&& device, const TimingBudget& whole,
            std::function<void(double)> progress) = delete;

  // From here on so much of the whole may be spent, what was spent before included.
  void allow(const TimingBudget& budget) { budget_ = budget; }

  // None where the budget is spent, or the plan is not legal, finds no memory, or has a program
  // that exceeds a limit of the device or that the Machine refuses.
  std::optional<PlanTime> time(const Plan& plan);

  bool isSpent() const { return plans_ >= budget_.plans || instructions_ >= budget_.instructions; }
  std::int64_t plans() const { return plans_; }  // that were timed

 private:
  void tellProgress() const;

  const CanonicalGraph& graph_;
  const Device& device_;
  TimingBudget whole_, budget_;
  std::function<void(double)> progress_;
  std::int64_t plans_ = 0, instructions_ = 0;
};

}  // namespace heddle
