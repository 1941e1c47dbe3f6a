#include "timeline_counters.h"

#include <algorithm>

#include "heddle/support/units.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostSteps = 1000;

void spread(const SpanSlice& slice, std::int64_t step, std::vector<std::int64_t>& values) {
  for (std::int64_t from = std::max<std::int64_t>(0, slice.start); from < slice.end;) {
    const std::int64_t place = from / step;
    if (place >= std::ssize(values)) return;
    const std::int64_t to = std::min(slice.end, (place + 1) * step);
    values[static_cast<std::size_t>(place)] += to - from;
    from = to;
  }
}

}  // namespace

Counters countersOf(const Timeline& timeline, const std::vector<LeafFacts>& leaves) {
  Counters counters;
  counters.step = std::max<std::int64_t>(1, divideRoundUp(timeline.makespan.raw(), kMostSteps));
  const auto steps =
      static_cast<std::size_t>(divideRoundUp(timeline.makespan.raw(), counters.step));
  for (std::size_t r = 0; r < kResources; ++r)
    counters.series.push_back(
        {name(static_cast<Resource>(r)), "busy cycles", 0, std::vector<std::int64_t>(steps)});
  for (const Track& track : timeline.tracks) {
    if (track.engine.kind == EngineKind::CoreIn || track.engine.kind == EngineKind::Sequencer)
      continue;
    std::vector<bool> serves(kResources);
    for (const SpanSlice& slice : track.slices) {
      const auto r =
          static_cast<std::size_t>(leaves[static_cast<std::size_t>(slice.leaf)].resource);
      serves[r] = true;
      spread(slice, counters.step, counters.series[r].values);
    }
    for (std::size_t r = 0; r < kResources; ++r) counters.series[r].engines += serves[r];
  }
  std::erase_if(counters.series, [](const CounterSeries& s) { return s.engines == 0; });
  return counters;
}

}  // namespace heddle
