// How the tracks of a timeline are grouped and called for the eye, in every format alike:
//
//   sequencer    wires > row0    column 1 > memtile > DDR in 0    column 1 > core 2 > send 0
#pragma once
#include <array>
#include <string>
#include <vector>

#include "heddle/emit/timeline_document.h"

namespace heddle {

struct TrackLane {
  std::size_t track = 0;                // in Timeline::tracks
  std::array<std::int64_t, 4> order{};  // group, column, tile, lane
  std::vector<std::string> groups;      // outermost first; none for the sequencer
  std::string name;
};

// Of all tracks, in the order in which they are to be shown.
std::vector<TrackLane> lanesOf(const TimelineDocument& document);

// "CONV conv1": mnemonic and layer.
std::string sliceName(const TimelineDocument& document, const SpanSlice& slice);

// "memtile 2 lock 5"
std::string lockName(const TimelineLock& lock);

// cycles as picoseconds (femtoseconds, ...), to the nearest, ties to even.
std::int64_t inUnits(std::int64_t cycles, Hertz clock, std::int64_t unitsPerSecond);

}  // namespace heddle
