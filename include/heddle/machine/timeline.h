// What happened when, on what: every executed instruction as a slice of its engine's track, and why
// it had to wait.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/program/program.h"

namespace heddle {

enum class WaitKind : std::uint8_t {
  None,      // started as soon as its engine was free
  Lock,      // a lock that it acquires; `cause` released it last
  Partner,   // the other queue of the transfer (wire or receiving channel) was not there yet;
             // `cause` ended last there
  Start,     // the sequencer's START; `cause` is that START
  DdrEntry,  // a WAIT of the sequencer; `cause` is the last transfer of the entry
};

struct SliceRef {
  std::int32_t track = -1, index = -1;
  friend bool operator==(const SliceRef&, const SliceRef&) = default;
};

struct SpanSlice {
  std::int64_t start = 0, end = 0;  // cycles, half-open
  std::int64_t ready = 0;           // when the engine reached it: the end of the slice before, or 0
  std::int32_t leaf = 0;            // QueueCursor::leafIndex: the line of asm
  LayerId layer;
  WaitKind wait = WaitKind::None;
  std::int32_t lock = -1;    // index in Program::locks, where wait == Lock
  std::int32_t record = -1;  // number of the weight record that it moves or reads
  SliceRef cause;            // what ended the wait
  friend bool operator==(const SpanSlice&, const SpanSlice&) = default;
};

struct Track {
  Engine engine;
  std::vector<SpanSlice> slices;  // in order of time
  friend bool operator==(const Track&, const Track&) = default;
};

struct Timeline {
  Cycles makespan;
  std::vector<Track> tracks;  // sorted by engine
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

}  // namespace heddle
