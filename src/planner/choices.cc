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
    for (const std::vector<Route>& routes : mapping.inputs) wires.push_back(wiresOf(routes));
    wires.push_back(wiresOf(mapping.weights));
  }
  friend bool operator==(const Kind&, const Kind&) = default;

  std::vector<std::vector<PixelBox>> pixels;
  std::vector<Interval> channels;
  std::vector<std::size_t> wires;  // how many, for each stream
  bool resident, reductionCut;
};

}  // namespace

LayerChoice choiceAmong(const std::vector<TriedMapping>& tried, const Mapping* chosen,
                        const std::function<MappingTime(const Mapping&)>& timeOf) {
  LayerChoice choice{.tried = std::ssize(tried), .cycles = {}, .others = {}};
  std::vector<TriedMapping> open = tried;
  choice.cycles = std::ranges::find(open, chosen, &TriedMapping::mapping)->cycles;
  std::vector<Kind> kinds{Kind(*chosen)};
  // What is timed in part only may be slower than that: it is timed once it comes first. Of equals
  // the first of the list.
  while (!open.empty() && choice.others.size() < kMostAlternatives) {
    const auto next = std::ranges::min_element(open, {}, &TriedMapping::cycles);
    Kind kind(*next->mapping);
    if (std::ranges::find(kinds, kind) != kinds.end()) {
      open.erase(next);
      continue;
    }
    const MappingTime time = timeOf(*next->mapping);
    if (!next->whole && time.cycles > next->cycles) {
      next->cycles = time.cycles;
      next->whole = true;
      continue;
    }
    kinds.push_back(std::move(kind));
    choice.others.push_back({*next->mapping, time.cycles, time.boundBy});
    open.erase(next);
  }
  return choice;
}

}  // namespace heddle
