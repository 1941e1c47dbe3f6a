// A track's slices as columns of numbers that repeat where the program's loops repeat, and back.
//
//   gap         start - end of the slice before (or 0)
//   duration    end - start
//   idle        ready - end of the slice before (or 0)
//   leaf        this instruction's number - that of the slice before
//   layer       layer - layer of the instruction
//   wait, lock  as they are
//   causeTrack  0: none; k: the k-th track in causeTracks
//   causeStep   the cause's index - that of the last cause in the same track
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/machine/timeline.h"
#include "timeline_words.h"

namespace heddle {

using ColumnValues = std::vector<std::int64_t>;

struct TrackColumns {
  std::vector<std::int32_t> causeTracks;
  std::array<ColumnValues, timeline_words::kColumns.size()> columns;  // in the order of kColumns
};

// layerOfLeaf: of every instruction that the slices name, or shorter (then 0 stands for the rest).
TrackColumns toColumns(const Track& track, const std::vector<std::int32_t>& layerOfLeaf);

// Nothing where the columns contradict each other (lengths, words, numbers out of range).
std::optional<std::vector<SpanSlice>> fromColumns(const TrackColumns& columns,
                                                  const std::vector<std::int32_t>& layerOfLeaf);

}  // namespace heddle
