// The instructions of a Program in one list, and the stretch of memory that an operand may touch.
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/program/program.h"

namespace heddle {

struct LeafPlace {
  const Instruction* instruction = nullptr;
  const Section* section = nullptr;
  std::vector<std::int64_t> counts;  // of the enclosing loops, outermost first
};

// Index = QueueCursor::leafIndex. Refers to `program`.
std::vector<LeafPlace> leafPlaces(const Program& program);

struct Extent {
  std::int64_t first = 0, end = 0;  // bytes, half-open
};

// Lowest and highest value over all iterations, for the engine at (row, column).
Extent extentOf(const Affine& value, const std::vector<std::int64_t>& counts, std::int64_t row,
                std::int64_t column);
// All slots of the address, `bytes` from each on.
Extent extentOf(const Address<Affine>& address, std::int64_t bytes,
                const std::vector<std::int64_t>& counts, std::int64_t row, std::int64_t column);
Extent extentOf(const End<Affine>& end, const std::vector<std::int64_t>& counts, std::int64_t row,
                std::int64_t column);
// Bytes of the longest weight record between the first and the last that a number names over all
// iterations; of very many only the first thousands are looked at.
std::int64_t longestRecord(const Program& program, const Affine& number,
                           const std::vector<std::int64_t>& counts, std::int64_t row,
                           std::int64_t column);
// The records between these.
struct RecordRange {
  std::int64_t first = 0, end = 0;  // half-open
};
RecordRange recordsOf(const Program& program, const Affine& number,
                      const std::vector<std::int64_t>& counts, std::int64_t row,
                      std::int64_t column);
// All that an end of a transfer of `part` touches.
Extent extentOf(const Program& program, const End<Affine>& end, const Part<Affine>& part,
                const std::vector<std::int64_t>& counts, std::int64_t row, std::int64_t column);

}  // namespace heddle
