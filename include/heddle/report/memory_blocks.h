// What lies where and for how long: the named buffers of a Program and the slices of its tensors,
// as blocks of address x life. The report's peaks and the timeline's memory map both read these.
//
//   memtile 2   [0, 100352)  'conv1'  steps 0..1         two memtiles, one tensor:
//   memtile 3   [0, 100352)  'conv1'  steps 0..1         two blocks
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/program/program.h"

namespace heddle {

struct MemoryBlock {
  std::string name;
  TileKind kind = TileKind::Memtile;
  CoreRange tiles;                     // memtile: columns of row 0; cores: a rectangle
  std::int64_t address = 0, size = 0;  // bytes
  StepId first, last;  // of its life, both included; not valid: from the start, to the end
  TensorId tensor;     // not valid where several tensors share it
  friend bool operator==(const MemoryBlock&, const MemoryBlock&) = default;
};

// Buffers as the Program names them; then, where no buffer covers them, the stretches of memtiles
// that each step's weight records pass through, and the memtile slices of root tensors. A slice
// lives from the first to the last step whose instructions move or read its tensor. Last, what
// lies in DDR: inputs, outputs, constants, spilled tensors, and the weight records as one block.
std::vector<MemoryBlock> memoryBlocks(const Program& program);

// Most bytes that live at once in any one tile of the kind, over all steps; bytes shared by two
// blocks count once.
std::int64_t peakBytes(const std::vector<MemoryBlock>& blocks, TileKind kind, std::size_t steps);

// Bytes that live in memtile `column` while each step runs.
std::vector<std::int64_t> memtileOccupancy(const std::vector<MemoryBlock>& blocks,
                                           std::int64_t column, std::size_t steps);

}  // namespace heddle
