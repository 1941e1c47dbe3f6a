// What a layer had to choose from: for people the best mappings of other kinds than the one that it
// got, for a search the next best of any kind.
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

// A layer's mapping, and those that it may get instead, best first.
struct MappingOptions {
  Alternative taken;
  std::vector<Alternative> next;
};

// At most `most`, of any kind. Needs: the same.
MappingOptions optionsAmong(const std::vector<TriedMapping>& tried, const Mapping* chosen,
                            std::size_t most,
                            const std::function<MappingTime(const Mapping&)>& timeOf);

// The layer gets `taken`, and might have got `before`.
void takeInstead(LayerChoice& choice, const Alternative& before, const Alternative& taken);

}  // namespace heddle
