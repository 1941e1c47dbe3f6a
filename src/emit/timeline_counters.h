// How much of each resource was in use, in equal steps of time: cycles that its engines were busy.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "heddle/machine/timeline.h"
#include "heddle/report/leaves.h"

namespace heddle {

struct CounterSeries {
  std::string_view name, unit;
  std::int64_t engines = 0;          // that serve it: step * engines is the most a value can be
  std::vector<std::int64_t> values;  // one a step
};

struct Counters {
  std::int64_t step = 1;  // cycles
  std::vector<CounterSeries> series;
};

// At most 1000 steps. A wire's cycles count for weights or inputs by what it carries; receiving
// channels are not counted beside their wires.
Counters countersOf(const Timeline& timeline, const std::vector<LeafFacts>& leaves);

}  // namespace heddle
