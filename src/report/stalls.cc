#include "stalls.h"

#include <algorithm>

namespace heddle {
namespace {

// Longer chains say nothing more to a reader; what is left of the wait goes to the resource where
// the walk stopped.
constexpr int kLongestChain = 64;

struct Waited {
  std::int64_t from, to;
  SliceRef cause;
};

}  // namespace

PerResource<Cycles> blame(const Timeline& timeline, const std::vector<LeafFacts>& leaves,
                          const SpanSlice& slice) {
  PerResource<Cycles> shares{};
  std::vector<Waited> open{{slice.ready, slice.start, slice.cause}};
  const auto charge = [&](Resource resource, std::int64_t from, std::int64_t to) {
    if (to > from) shares[static_cast<std::size_t>(resource)] += Cycles(to - from);
  };
  Resource last = Resource::Sequencer;
  for (int steps = 0; !open.empty(); ++steps) {
    const Waited s = open.back();
    open.pop_back();
    if (s.to <= s.from) continue;
    if (s.cause.track < 0 || s.cause.index < 0 || steps >= kLongestChain) {
      charge(last, s.from, s.to);
      continue;
    }
    const SpanSlice& cause = timeline.tracks[static_cast<std::size_t>(s.cause.track)]
                                 .slices[static_cast<std::size_t>(s.cause.index)];
    last = leaves[static_cast<std::size_t>(cause.leaf)].resource;
    const std::int64_t ran = std::clamp(cause.start, s.from, s.to);
    charge(last, ran, s.to);
    // Before it ran, the cause waited in turn; before that, its engine was busy with the slice in
    // front of it.
    const std::int64_t reached = std::clamp(cause.ready, s.from, ran);
    open.push_back({s.from, reached, {s.cause.track, s.cause.index - 1}});
    open.push_back({reached, ran, cause.cause});
  }
  return shares;
}

}  // namespace heddle
