#include "choices.h"

#include <algorithm>
#include <cstdint>
#include <set>

namespace heddle {
namespace {

template <class T>
void addNew(std::vector<T>& to, const T& one) {
  if (std::ranges::find(to, one) == to.end()) to.push_back(one);
}

std::size_t wiresOf(const std::vector<Route>& routes) {
  std::set<std::int64_t> wires;
  for (const Route& route : routes)
    for (const Lane& lane : route.lanes) wires.insert(lane.wire);
  return wires.size();
}

// What mappings of one kind have in common. Which wires, or which cores, is not in it: on a mesh as
// high as wide, down the columns is as good as along the rows.
struct Kind {
  explicit Kind(const Mapping& mapping)
      : resident(mapping.resident), reductionCut(mapping.parts.size() > 1) {
    for (const CoreShare& share : mapping.shares) {
      addNew(pixels, share.boxes);
      addNew(channels, share.blocks);
    }
    std::ranges::sort(pixels);
    std::ranges::sort(channels);
    for (const std::vector<Route>& routes : mapping.inputs) wires.push_back(wiresOf(routes));
    wires.push_back(wiresOf(mapping.weights));
  }
  friend bool operator==(const Kind&, const Kind&) = default;

  std::vector<std::vector<PixelBox>> pixels;
  std::vector<Interval> channels;
  std::vector<std::size_t> wires;  // how many, for each stream
  bool resident, reductionCut;
};

// The best of `open`, best first, with the kinds that are not wanted; null: any is wanted. What is
// timed in part only may be slower than that: it is timed once it comes first. Of equals the first
// of the list.
std::vector<Alternative> bestOf(std::vector<TriedMapping> open, std::size_t most,
                                const std::function<MappingTime(const Mapping&)>& timeOf,
                                std::vector<Kind>* kinds) {
  std::vector<Alternative> best;
  while (!open.empty() && best.size() < most) {
    const auto next = std::ranges::min_element(open, {}, &TriedMapping::cycles);
    if (kinds && std::ranges::find(*kinds, Kind(*next->mapping)) != kinds->end()) {
      open.erase(next);
      continue;
    }
    const MappingTime time = timeOf(*next->mapping);
    if (!next->whole && time.cycles > next->cycles) {
      next->cycles = time.cycles;
      next->whole = true;
      continue;
    }
    if (kinds) kinds->emplace_back(*next->mapping);
    best.push_back({*next->mapping, time.cycles, time.boundBy});
    open.erase(next);
  }
  return best;
}

}  // namespace

LayerChoice choiceAmong(const std::vector<TriedMapping>& tried, const Mapping* chosen,
                        const std::function<MappingTime(const Mapping&)>& timeOf) {
  std::vector<Kind> kinds{Kind(*chosen)};
  return {.tried = std::ssize(tried),
          .cycles = std::ranges::find(tried, chosen, &TriedMapping::mapping)->cycles,
          .others = bestOf(tried, kMostAlternatives, timeOf, &kinds)};
}

MappingOptions optionsAmong(const std::vector<TriedMapping>& tried, const Mapping* chosen,
                            std::size_t most,
                            const std::function<MappingTime(const Mapping&)>& timeOf) {
  std::vector<TriedMapping> others = tried;
  std::erase_if(others, [&](const TriedMapping& one) { return one.mapping == chosen; });
  const MappingTime time = timeOf(*chosen);
  return {.taken = {*chosen, time.cycles, time.boundBy},
          .next = bestOf(std::move(others), most, timeOf, nullptr)};
}

void takeInstead(LayerChoice& choice, const Alternative& before, const Alternative& taken) {
  choice.cycles = taken.cycles;
  choice.others.push_back(before);
  std::ranges::stable_sort(choice.others, {}, &Alternative::cycles);
  std::vector<Kind> kinds{Kind(taken.mapping)};
  std::erase_if(choice.others, [&](const Alternative& other) {
    Kind kind(other.mapping);
    const bool isKnown = std::ranges::find(kinds, kind) != kinds.end();
    if (!isKnown) kinds.push_back(std::move(kind));
    return isKnown;
  });
  if (choice.others.size() > kMostAlternatives) choice.others.pop_back();
}

}  // namespace heddle
