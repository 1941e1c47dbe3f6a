#include "heddle/report/groups.h"

#include <algorithm>

namespace heddle {
namespace {

// Fills in the steps [first, end) of one group.
void addGroup(const Program& program, std::size_t first, std::size_t end, LayerGroups& found) {
  LayerGroup group{SIZE_MAX, 0, 1};
  std::size_t before = 0;
  for (std::size_t s = first; s < end; ++s) {
    const std::size_t layer = program.layerOf(StepId(s)).at();
    if (s > first && layer <= before) ++group.tiles;
    before = layer;
    group.first = std::min(group.first, layer);
    group.last = std::max(group.last, layer);
    found.steps[s] = {found.groups.size(), group.tiles - 1};
  }
  found.groups.push_back(group);
}

}  // namespace

LayerGroups findGroups(const Program& program) {
  const std::size_t steps = program.stepCount();
  LayerGroups found{.groups = {}, .steps = std::vector<StepInGroup>(steps)};
  std::vector<std::size_t> lastOf(program.layers.size());
  for (std::size_t s = 0; s < steps; ++s) lastOf[program.layerOf(StepId(s)).at()] = s;
  for (std::size_t s = 0; s < steps;) {
    std::size_t end = s + 1;
    for (std::size_t t = s; t < end; ++t)
      end = std::max(end, lastOf[program.layerOf(StepId(t)).at()] + 1);
    if (end > s + 1) addGroup(program, s, end, found);
    s = end;
  }
  return found;
}

}  // namespace heddle
