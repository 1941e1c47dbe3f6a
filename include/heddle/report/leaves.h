// What one instruction of a Program is for: the resource that its time is counted on, its bytes and
// its MACs. Counts are the same for every iteration and every engine of a section, so one entry per
// instruction says all, but for what differs with the weight record that a slice names.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "heddle/cost/resource.h"
#include "heddle/machine/timeline.h"
#include "heddle/program/program.h"

namespace heddle {

struct LeafFacts {
  Resource resource = Resource::Sequencer;
  EngineKind engine = EngineKind::Sequencer;
  std::string_view mnemonic;  // of the asm: "LOADFM", "CONV", ...
  LayerId layer;
  StepId step;                   // of the schedule
  std::int64_t bytes = 0;        // moved by one iteration; a multicast counted once
  std::int64_t macs = 0;         // of one call, padding included
  std::int64_t macsOfBlock = 0;  // CONV: `macs` for each block that its record keeps
  bool movesRecord = false;      // `bytes` are its record's
};

// Index = QueueCursor::leafIndex. Where a leaf's records differ, its bytes and MACs are those of
// the first.
std::vector<LeafFacts> leafFacts(const Program& program);

// Of one slice: its record's where it has one.
std::int64_t bytesOfSlice(const LeafFacts& leaf, const SpanSlice& slice, const Program& program);
std::int64_t macsOfSlice(const LeafFacts& leaf, const SpanSlice& slice, const Program& program);

}  // namespace heddle
