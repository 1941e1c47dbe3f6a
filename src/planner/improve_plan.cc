#include "improve_plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "choose.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "records_at_home.h"
#include "share_memtiles.h"

namespace heddle {
namespace {

// Steps that a layer's mapping is judged by beside its own: its first records and rows come while
// those before run, and the next one's rows as it tells them.
constexpr std::size_t kStepsBefore = 1, kStepsBehind = 1;

struct Steps {  // of the schedule, [first, end)
  std::size_t first = 0, end = 0;
  bool meets(const Steps& other) const { return first < other.end && other.first < end; }
};

// A layer with one of its options.
struct Change {
  std::size_t layer = 0, option = 0;
  Steps judged;
  Cycles gains{};  // on the Machine, where it was tried
};

Cycles addedBy(const Steps& steps, const PlanTime& time) {
  if (steps.end == 0) return {};
  const Cycles before = steps.first > 0 ? time.endOfSteps[steps.first - 1] : Cycles();
  return time.endOfSteps[steps.end - 1] - before;
}

class Improvement {
 public:
  Improvement(const CanonicalGraph& graph, const Device& device, std::vector<Proposal> proposals,
              int effort, const std::function<void(double)>& progress)
      : graph_(graph),
        device_(device),
        effort_(effort),
        timer_(graph, device, improveBounds(effort).budget, progress),
        best_(std::move(proposals.at(0).chosen)),
        options_(std::move(proposals[0].options)),
        endOfFirst_(proposals[0].end),
        firstIsTiled_(isTiled(best_.plan, graph_)) {
    proposals.erase(proposals.begin());
    others_ = std::move(proposals);
    std::ranges::stable_sort(others_, {}, &Proposal::end);
  }

  ChosenPlan run() {
    if (const std::optional<PlanTime> first = timer_.time(best_.plan)) {
      time_ = *first;
      timedPlans_.push_back(best_.plan);
      for (int effort = kUsualPlanEffort + 1; effort <= effort_; ++effort) {
        bounds_ = improveBounds(effort);
        timer_.allow(bounds_.budget);
        search();
      }
      best_.choices.timed = {timer_.plans(), first->cycles, time_.cycles};
      if (best_.choices.tiling) best_.choices.tiling->byMachine = timedBoth_;
    }
    return std::move(best_);
  }

 private:
  void search() {
    takeFastest();
    shareMemtilesAnew();
    for (std::int64_t pass = 0; pass < bounds_.passes && tryLayers(); ++pass) {
    }
    shareMemtilesAnew();
    letRecordsStayAnew();
  }

  // ---- whole plans ------------------------------------------------------------------------------

  void takeFastest() {
    for (std::int64_t n = 0; n < bounds_.proposals && nextOther_ < others_.size();) {
      Proposal& other = others_[nextOther_];
      if (other.end.raw() * 1000 > endOfFirst_.raw() * (1000 + bounds_.planLoses)) return;
      ++nextOther_;
      if (std::ranges::find(timedPlans_, other.chosen.plan) != timedPlans_.end()) continue;
      timedPlans_.push_back(other.chosen.plan);
      ++n;
      std::optional<PlanTime> time = timer_.time(other.chosen.plan);
      if (!time) continue;
      timedBoth_ = timedBoth_ || isTiled(other.chosen.plan, graph_) != firstIsTiled_;
      if (time->cycles >= time_.cycles) continue;
      time_ = std::move(*time);
      best_ = std::move(other.chosen);
      options_ = std::move(other.options);
      tried_.clear();
    }
  }

  void shareMemtilesAnew() {
    Plan shared = best_.plan;
    shareMemtiles(device_, WorkCounter(graph_, device_), shared);
    if (shared.layers != best_.plan.layers) takeIfFaster(shared);
  }

  // Of layers that go another way by now, and of plans that were timed on the way to effort 1's.
  // They save traffic in any case.
  void letRecordsStayAnew() {
    Plan stay = best_.plan;
    letRecordsStay(graph_, device_, std::vector<bool>(stay.layers.size(), true), stay);
    if (stay.layers != best_.plan.layers) takeUpTo(time_.cycles, stay);
  }

  bool takeIfFaster(Plan& plan) { return takeUpTo(time_.cycles - Cycles(1), plan); }

  // If it takes no more than that by simulation.
  bool takeUpTo(Cycles most, Plan& plan) {
    if (!setDdrChannelsOf(plan)) return false;
    std::optional<PlanTime> time = timer_.time(plan);
    if (!time || time->cycles > most) return false;
    time_ = std::move(*time);
    best_.plan = std::move(plan);
    tried_.clear();
    return true;
  }

  // Whether it finds memory, if need be without records that stayed beside other mappings.
  bool setDdrChannelsOf(Plan& plan) const {
    Result<Allocation> placed = placeInMemory(graph_, plan, device_);
    if (placed && !placed->recordsWithoutPlace.empty()) {
      for (const LayerId layer : placed->recordsWithoutPlace)
        plan.layers[layer.at()].recordsAtHome = 0;
      placed = placeInMemory(graph_, plan, device_);
    }
    if (!placed || !placed->fitsAll()) return false;
    setDdrChannels(graph_, *placed, device_, plan);
    return true;
  }

  // ---- layer by layer ---------------------------------------------------------------------------

  // Each layer's options, one after another. Whether any was taken.
  bool tryLayers() {
    bool gained = false;
    for (std::size_t option = 0; option < bounds_.options && !timer_.isSpent(); ++option)
      gained = tryOption(option) || gained;
    return gained;
  }

  bool tryOption(std::size_t option) {
    std::vector<Change> open = changesTo(option), gaining;
    while (!open.empty() && !timer_.isSpent()) {
      std::vector<Change> apart = takeApart(open);
      for (const Change& change : apart) tried_.insert({change.layer, change.option});
      const std::optional<Plan> plan = planWith(apart);
      const std::optional<PlanTime> time = plan ? timer_.time(*plan) : std::nullopt;
      if (!time) continue;
      for (Change& change : apart) {
        change.gains = addedBy(change.judged, time_) - addedBy(change.judged, *time);
        if (change.gains > Cycles()) gaining.push_back(change);
      }
    }
    return takeWhatGains(std::move(gaining));
  }

  // What gains by itself may lose beside others: then the better half is tried alone.
  bool takeWhatGains(std::vector<Change> gaining) {
    std::ranges::stable_sort(gaining, std::ranges::greater(), &Change::gains);
    for (; !gaining.empty(); gaining.resize(gaining.size() / 2)) {
      std::optional<Plan> plan = planWith(gaining);
      if (!plan || !takeIfFaster(*plan)) continue;
      for (const Change& change : gaining) noteTaken(change);
      return true;
    }
    return false;
  }

  // Those that are legal, were not tried yet, and lose little in closed form of what the layer
  // takes.
  std::vector<Change> changesTo(std::size_t option) const {
    std::vector<Change> changes;
    for (std::size_t layer = 0; layer < options_.size(); ++layer) {
      const MappingOptions& options = options_[layer];
      if (options.next.size() <= option || tried_.contains({layer, option})) continue;
      const Change change{.layer = layer, .option = option, .judged = judgedBy(layer)};
      const Cycles takes = std::max(options.taken.cycles, addedBy(ownSteps(layer), time_));
      if (options.next[option].cycles.raw() * 1000 > takes.raw() * (1000 + bounds_.mappingLoses))
        continue;
      const std::optional<Plan> plan = planWith(std::span(&change, 1));
      if (plan && verify(*plan, graph_, device_).empty()) changes.push_back(change);
    }
    return changes;
  }

  // Takes the first, and all of whose steps none judges one before.
  static std::vector<Change> takeApart(std::vector<Change>& open) {
    std::vector<Change> apart, left;
    for (const Change& change : open) {
      const bool meets = std::ranges::any_of(
          apart, [&](const Change& taken) { return taken.judged.meets(change.judged); });
      (meets ? left : apart).push_back(change);
    }
    open = std::move(left);
    return apart;
  }

  // None where it finds no memory.
  std::optional<Plan> planWith(std::span<const Change> changes) const {
    Plan plan = best_.plan;
    for (const Change& change : changes)
      plan.layers[change.layer] = options_[change.layer].next[change.option].mapping;
    if (!setDdrChannelsOf(plan)) return std::nullopt;
    return plan;
  }

  // The mapping that it had becomes an option.
  void noteTaken(const Change& change) {
    MappingOptions& options = options_[change.layer];
    std::swap(options.taken, options.next[change.option]);
    if (!best_.choices.layers.empty())
      takeInstead(best_.choices.layers[change.layer], options.next[change.option], options.taken);
  }

  Steps ownSteps(std::size_t layer) const {
    Steps steps{best_.plan.schedule.size(), 0};
    for (std::size_t s = 0; s < best_.plan.schedule.size(); ++s) {
      if (best_.plan.schedule[s].layer.at() != layer) continue;
      steps.first = std::min(steps.first, s);
      steps.end = s + 1;
    }
    return steps;
  }

  // Its own, and as many that execute something before and behind as its mapping bears on.
  Steps judgedBy(std::size_t layer) const {
    Steps steps = ownSteps(layer);
    const auto executes = [&](std::size_t step) {
      return !best_.plan.layers[best_.plan.schedule[step].layer.at()].inPlace();
    };
    for (std::size_t n = 0; n < kStepsBefore && steps.first > 0;) n += executes(--steps.first);
    for (std::size_t n = 0; n < kStepsBehind && steps.end < best_.plan.schedule.size();)
      n += executes(steps.end++);
    return steps;
  }

  const CanonicalGraph& graph_;
  const Device& device_;
  int effort_;
  PlanTimer timer_;
  ImproveBounds bounds_;  // of the effort that the search is at
  ChosenPlan best_;
  std::vector<MappingOptions> options_;  // of its layers
  PlanTime time_;                        // of the best
  Cycles endOfFirst_;                    // in closed form
  std::vector<Proposal> others_;         // that which ends first, first
  std::size_t nextOther_ = 0;
  std::vector<Plan> timedPlans_;  // of the proposals
  bool firstIsTiled_;
  bool timedBoth_ = false;  // tiled plans and others
  // Layers and options that were timed with the rest of the best plan as it is.
  std::set<std::pair<std::size_t, std::size_t>> tried_;
};

}  // namespace

ImproveBounds improveBounds(int effort) {
  if (effort == 2)
    return {.budget = {.plans = 24, .instructions = 60'000'000},
            .proposals = 4,
            .options = 4,
            .passes = 1,
            .planLoses = 30,
            .mappingLoses = 50};
  return {.budget = {.plans = 400, .instructions = 1'000'000'000},
          .proposals = 64,
          .options = 12,
          .passes = 8,
          .planLoses = 100,
          .mappingLoses = 200};
}

ChosenPlan improvePlan(const CanonicalGraph& graph, const Device& device,
                       std::vector<Proposal> proposals, int effort,
                       const std::function<void(double)>& progress) {
  return Improvement(graph, device, std::move(proposals), effort, progress).run();
}

}  // namespace heddle
