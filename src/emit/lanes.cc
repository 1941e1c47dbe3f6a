#include "lanes.h"

#include <algorithm>

#include "heddle/support/requantize.h"
#include "timeline_words.h"

namespace heddle {
namespace {

TrackLane laneOf(const TimelineDocument& document, std::size_t track) {
  const Engine& e = document.timeline.tracks[track].engine;
  const std::string column = "column " + std::to_string(e.column),
                    core = "core " + std::to_string(e.row),
                    channel = " " + std::to_string(e.channel);
  const std::int64_t row = 1 + e.row;  // above the memtile
  switch (e.kind) {
    case EngineKind::Sequencer:
      return {track, {0, 0, 0, 0}, {}, "sequencer"};
    case EngineKind::Wire:
      return {track,
              {1, e.column, 0, 0},
              {"wires"},
              document.wires[static_cast<std::size_t>(e.column)]};
    case EngineKind::DdrIn:
      return {track, {2, e.column, 0, e.channel}, {column, "memtile"}, "DDR in" + channel};
    case EngineKind::DdrOut:
      return {track, {2, e.column, 0, 1000 + e.channel}, {column, "memtile"}, "DDR out" + channel};
    case EngineKind::CoreIn:
      return {track, {2, e.column, row, e.channel}, {column, core}, "receive" + channel};
    case EngineKind::Core:
      return {track, {2, e.column, row, 1000}, {column, core}, "compute"};
    case EngineKind::CoreOut:
      return {track, {2, e.column, row, 2000 + e.channel}, {column, core}, "send" + channel};
  }
  return {};
}

}  // namespace

std::vector<TrackLane> lanesOf(const TimelineDocument& document) {
  std::vector<TrackLane> lanes;
  for (std::size_t t = 0; t < document.timeline.tracks.size(); ++t)
    lanes.push_back(laneOf(document, t));
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const TrackLane& a, const TrackLane& b) { return a.order < b.order; });
  return lanes;
}

std::string sliceName(const TimelineDocument& document, const SpanSlice& slice) {
  const TimelineInstruction& i = document.instructions[static_cast<std::size_t>(slice.leaf)];
  return document.mnemonics[i.mnemonic] + ' ' + document.layers[slice.layer.at()];
}

std::string lockName(const TimelineLock& lock) {
  const std::string tile =
      lock.tile.kind == TileKind::Core
          ? "core " + std::to_string(lock.tile.row) + "," + std::to_string(lock.tile.column)
          : std::string(timeline_words::word(lock.tile.kind)) + " " +
                std::to_string(lock.tile.column);
  return tile + " lock " + std::to_string(lock.index);
}

std::int64_t inUnits(std::int64_t cycles, Hertz clock, std::int64_t unitsPerSecond) {
  const Int128 whole = Int128{cycles / clock.raw} * unitsPerSecond;
  const std::int64_t rest =
      roundHalfEvenDivide(Int128{cycles % clock.raw} * unitsPerSecond, clock.raw);
  return static_cast<std::int64_t>(whole + rest);
}

}  // namespace heddle
