#include "timeline_columns.h"

#include <limits>
#include <map>

namespace heddle {
namespace {

std::int32_t layerOf(const std::vector<std::int32_t>& layerOfLeaf, std::int64_t leaf) {
  return leaf >= 0 && leaf < std::ssize(layerOfLeaf) ? layerOfLeaf[static_cast<std::size_t>(leaf)]
                                                     : 0;
}

bool fits(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

TrackColumns toColumns(const Track& track, const std::vector<std::int32_t>& layerOfLeaf) {
  TrackColumns out;
  for (ColumnValues& column : out.columns) column.reserve(track.slices.size());
  auto& [gap, duration, idle, leaf, layer, wait, lock, causeTrack, causeStep] = out.columns;
  std::map<std::int32_t, std::int64_t> placeOf;  // of a cause's track in causeTracks, from 1
  std::vector<std::int64_t> lastIndex{-1};       // by place; place 0 is "none", whose index is -1
  std::int64_t end = 0, lastLeaf = 0;
  for (const SpanSlice& s : track.slices) {
    gap.push_back(s.start - end);
    duration.push_back(s.end - s.start);
    idle.push_back(s.ready - end);
    leaf.push_back(s.leaf - lastLeaf);
    layer.push_back(s.layer.index - layerOf(layerOfLeaf, s.leaf));
    wait.push_back(static_cast<std::int64_t>(s.wait));
    lock.push_back(s.lock);
    std::int64_t place = 0;
    if (s.cause.track >= 0) {
      const auto [at, isNew] = placeOf.try_emplace(s.cause.track, std::ssize(lastIndex));
      place = at->second;
      if (isNew) {
        out.causeTracks.push_back(s.cause.track);
        lastIndex.push_back(0);
      }
    }
    causeTrack.push_back(place);
    std::int64_t& last = lastIndex[static_cast<std::size_t>(place)];
    causeStep.push_back(s.cause.index - last);
    last = s.cause.index;
    end = s.end;
    lastLeaf = s.leaf;
  }
  return out;
}

std::optional<std::vector<SpanSlice>> fromColumns(const TrackColumns& in,
                                                  const std::vector<std::int32_t>& layerOfLeaf) {
  const auto& [gap, duration, idle, leaf, layer, wait, lock, causeTrack, causeStep] = in.columns;
  for (const ColumnValues& column : in.columns)
    if (column.size() != gap.size()) return std::nullopt;
  std::vector<SpanSlice> slices(gap.size());
  std::vector<std::int64_t> lastIndex(in.causeTracks.size() + 1);
  lastIndex[0] = -1;
  std::int64_t end = 0, lastLeaf = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::int64_t place = causeTrack[i];
    if (place < 0 || place >= std::ssize(lastIndex)) return std::nullopt;
    if (wait[i] < 0 || wait[i] >= std::ssize(timeline_words::kWaits)) return std::nullopt;
    std::int64_t& index = lastIndex[static_cast<std::size_t>(place)];
    SpanSlice& s = slices[i];
    std::int64_t layerIndex = 0;
    // Sums of untrusted numbers: out of range is an answer, not an overflow.
    if (__builtin_add_overflow(end, gap[i], &s.start) ||
        __builtin_add_overflow(end, idle[i], &s.ready) ||
        __builtin_add_overflow(s.start, duration[i], &s.end) ||
        __builtin_add_overflow(lastLeaf, leaf[i], &lastLeaf) ||
        __builtin_add_overflow(layerOf(layerOfLeaf, lastLeaf), layer[i], &layerIndex) ||
        __builtin_add_overflow(index, causeStep[i], &index))
      return std::nullopt;
    if (!fits(lastLeaf) || !fits(layerIndex) || !fits(index) || !fits(lock[i])) return std::nullopt;
    s.leaf = static_cast<std::int32_t>(lastLeaf);
    s.layer.index = static_cast<std::int32_t>(layerIndex);
    s.wait = static_cast<WaitKind>(wait[i]);
    s.lock = static_cast<std::int32_t>(lock[i]);
    s.cause = {place == 0 ? -1 : in.causeTracks[static_cast<std::size_t>(place - 1)],
               static_cast<std::int32_t>(index)};
    end = s.end;
  }
  return slices;
}

}  // namespace heddle
