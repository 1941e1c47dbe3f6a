#include "known_layers.h"

#include <algorithm>
#include <utility>

namespace heddle {

std::size_t KnownSteps::numberOf(std::size_t kind, StepPlaces places) {
  std::vector<std::size_t>& known = ofKind_[kind];
  const auto same = std::ranges::find_if(
      known, [&](std::size_t number) { return all_[number].places == places; });
  if (same != known.end()) return *same;
  known.push_back(all_.size());
  all_.push_back({std::move(places), {}});
  return known.back();
}

const StepCycles* KnownSteps::find(std::size_t number, const Mapping& mapping) const {
  const std::deque<Known>& known = all_[number].steps;
  const auto same = std::ranges::find_if(known, [&](const Known& step) {
    return step.mapping.score == mapping.score && step.mapping == mapping;
  });
  return same == known.end() ? nullptr : &same->cycles;
}

const StepCycles& KnownSteps::add(std::size_t number, const Mapping& mapping, StepCycles cycles) {
  std::deque<Known>& known = all_[number].steps;
  known.push_back({mapping, std::move(cycles)});
  return known.back().cycles;
}

}  // namespace heddle
