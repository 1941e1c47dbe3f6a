// A timeline.json, read back: all that an exporter needs, checked, so that whoever uses it may
// index without asking.
//
//   HEDDLE_TRY(const TimelineDocument document, parseTimelineJson(text, "out/timeline.json"));
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/machine/timeline.h"
#include "heddle/program/program.h"
#include "heddle/support/result.h"

namespace heddle {

struct TimelineInstruction {
  LayerId layer;
  std::size_t resource = 0, mnemonic = 0;  // in TimelineDocument::resources, mnemonics
  std::int64_t bytes = 0, macs = 0;        // of one iteration
  std::int64_t line = 0;                   // of the asm, from 0
  friend bool operator==(const TimelineInstruction&, const TimelineInstruction&) = default;
};

struct TimelineLock {
  Tile tile;
  std::int32_t index = 0;                     // within the tile
  std::int32_t producer = -1, consumer = -1;  // tracks
  friend bool operator==(const TimelineLock&, const TimelineLock&) = default;
};

struct TimelineCounter {
  std::string name, unit;
  std::int64_t most = 0;  // that a value can be
  std::vector<std::int64_t> values;
  friend bool operator==(const TimelineCounter&, const TimelineCounter&) = default;
};

// Of the timeline: slices are in order, none begins before the one before it ends or ends after the
// makespan; instructions, layers, locks and tracks that they name are there, and so is a cause
// whose index is not -1.
struct TimelineDocument {
  std::string model, device;
  std::int64_t rows = 0, columns = 0;
  Hertz clock;
  std::vector<std::string> wires, layers, mnemonics, resources;  // names
  std::vector<TimelineInstruction> instructions;
  std::vector<TimelineLock> locks;
  std::int64_t counterStep = 1;  // cycles that one value of a counter stands for
  std::vector<TimelineCounter> counters;
  Timeline timeline;
};

// What the Machine executes at most.
inline constexpr std::int64_t kMostTimelineSlices = std::int64_t{1} << 26;

// `name` stands for the file in messages. The text may come from anywhere; its loops unroll to
// `mostSlices` slices at most. Errors: TIME001 not JSON (a file that is cut, say) or not a
// timeline; TIME002 a newer major version; TIME003 entries that contradict each other.
Result<TimelineDocument> parseTimelineJson(const std::string& text, const std::string& name,
                                           std::int64_t mostSlices = kMostTimelineSlices);

}  // namespace heddle
