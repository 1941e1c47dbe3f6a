#include "known_layers.h"

#include <algorithm>
#include <utility>

namespace heddle {

std::size_t KnownSteps::numberOf(std::size_t kind, StepPlaces places) {
  std::deque<AtPlaces>& known = ofKind_[kind];
  const auto same = std::ranges::find(known, places, &AtPlaces::places);
  const auto number = static_cast<std::size_t>(same - known.begin());
  if (same == known.end()) known.push_back({std::move(places), {}});
  return number;
}

const StepCycles* KnownSteps::find(std::size_t kind, std::size_t places,
                                   const Mapping& mapping) const {
  const std::deque<Known>& known = ofKind_.at(kind)[places].steps;
  const auto same = std::ranges::find_if(known, [&](const Known& step) {
    return step.mapping.score == mapping.score && step.mapping == mapping;
  });
  return same == known.end() ? nullptr : &same->cycles;
}

const StepCycles& KnownSteps::add(std::size_t kind, std::size_t places, const Mapping& mapping,
                                  StepCycles cycles) {
  std::deque<Known>& known = ofKind_.at(kind)[places].steps;
  known.push_back({mapping, std::move(cycles)});
  return known.back().cycles;
}

}  // namespace heddle
