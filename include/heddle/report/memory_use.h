// When and by whom the blocks of memory are used, from the instructions that ran.
//
//   memtile 2  'conv1'   cycles 1204 .. 53310   written by layer 0, read by layers 1 and 4
//   cores 0-3  'weights' two halves in turn     cores 0: 310 .. 9120, cores 1: 314 .. 9120, ...
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/machine/timeline.h"
#include "heddle/program/program.h"
#include "heddle/report/memory_blocks.h"

namespace heddle {

// From the start of the first instruction that touches it to the end of the last; {-1, -1}: none
// does.
struct Stretch {
  std::int64_t start = -1, end = -1;  // cycles
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

struct MemoryUse {
  Stretch whole;                           // over all tiles of the block
  std::vector<Stretch> tiles;              // of each, row by row
  std::int64_t slots = 1;                  // equal parts used in turn: ping-pong halves, a ring
  std::vector<LayerId> writtenBy, readBy;  // rising
  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

// In the first frame of the run. One for each of `blocks`, which are memoryBlocks(program). What
// lives from the start (to the end) of the run starts at 0 (ends at the makespan).
std::vector<MemoryUse> memoryUse(const Program& program, const Timeline& timeline,
                                 const std::vector<MemoryBlock>& blocks);

}  // namespace heddle
