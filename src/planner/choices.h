// What a layer had to choose from, for people: the best mappings of other kinds than the one that
// it got.
#pragma once
#include <functional>
#include <vector>

#include "heddle/planner/make_plan.h"

namespace heddle {

struct MappingTime {
  Cycles cycles;  // that the layer would add to the whole
  Resource boundBy = Resource::Compute;
};

struct TriedMapping {
  const Mapping* mapping = nullptr;
  Cycles cycles;       // that the layer would add to the whole
  bool whole = false;  // else at least so many: it was left there, as too slow already
};

// Needs: `chosen` is one of `tried`; `timeOf` says of one what it takes.
LayerChoice choiceAmong(const std::vector<TriedMapping>& tried, const Mapping* chosen,
                        const std::function<MappingTime(const Mapping&)>& timeOf);

}  // namespace heddle
