// What one instruction of a Program is for: the resource that its time is counted on, its bytes and
// its MACs. Counts are the same for every iteration and every engine of a section, so one entry per
// instruction says all.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "heddle/cost/resource.h"
#include "heddle/program/program.h"

namespace heddle {

struct LeafFacts {
  Resource resource = Resource::Sequencer;
  EngineKind engine = EngineKind::Sequencer;
  std::string_view mnemonic;  // of the asm: "LOADFM", "CONV", ...
  LayerId layer;
  std::int64_t bytes = 0;      // moved by one iteration; a multicast counted once
  std::int64_t macs = 0;       // of one call, padding included
  std::int64_t macsDense = 0;  // the same if no weight block were left out
};

// Index = QueueCursor::leafIndex.
std::vector<LeafFacts> leafFacts(const Program& program);

}  // namespace heddle
