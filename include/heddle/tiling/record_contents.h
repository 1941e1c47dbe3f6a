// How long a weight record is, whoever asks: planner, verification or the Machine.
#pragma once
#include <cstdint>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

inline constexpr std::int64_t kTableBytes = 256;
inline constexpr std::int64_t kLineBytes =
    4 + 4 + 3 + 1;  // slope, offset, shift, low, high; nothing

// What a weight record holds (program/program.h, WeightImage): its length follows from that.
struct RecordContents {
  OpKind op = OpKind::Conv;
  std::int64_t outputBlocks = 1, inputBlocks = 1, taps = 1;
  std::int64_t kept = 0;       // CONV: 8x8 blocks
  bool finishes = true;        // CONV: bias and scales of the last part of the reduction
  bool negativeScale = false;  // scales of negative sums, too
  bool weightZeros = false;    // zero points of the weights
  std::int64_t lines = 0;      // TABLE, CONV: of kLineBytes each
  std::int64_t tables = 0;     // of kTableBytes each; of CONV, where it finishes
};
// 0 where the operator has no record.
std::int64_t recordBytes(const RecordContents& contents);

}  // namespace heddle
