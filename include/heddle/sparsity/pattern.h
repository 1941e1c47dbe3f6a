// Which elements of a tensor are kept, at the granularity that they have: a weight tensor half of
// whose 8x8 blocks are zero is 64 * taps times fewer bits than elements.
//
//   COUT 16, CIN 16, 3x3, the blocks (0, 1) and (1, 0) zero:
//
//            CIN 0..7  8..15
//   COUT 0..7    [1]    [0]          KeptBlocks 8x8, Γ = 1 0 0 1: 4 bits for 2304 elements
//       8..15    [0]    [1]
//
// A pattern may keep an element that it need not; it never drops one that it must not. Source of
// the attribute: SparTA (OSDI 2022), section 3.1.
#pragma once
#include <cstdint>
#include <string>
#include <variant>

#include "heddle/canon/weights.h"
#include "heddle/support/bits.h"

namespace heddle {

struct Everything {
  friend bool operator==(const Everything&, const Everything&) = default;
};
struct KeptChannels {  // an element is kept where its row and its column are
  Bits rows, columns;
  friend bool operator==(const KeptChannels&, const KeptChannels&) = default;
};
struct KeptBlocks {  // of size x size rows and columns, through all taps; those at the edge partial
  std::int64_t size = 8;
  Bits kept;  // in order block row, block column
  friend bool operator==(const KeptBlocks&, const KeptBlocks&) = default;
};
// At most n of each m columns that follow each other from a multiple of m on, in each row and tap.
struct KeptOfEach {
  std::int64_t n = 2, m = 4;
  Bits kept;  // elements in order row, tap, column
  friend bool operator==(const KeptOfEach&, const KeptOfEach&) = default;
};
struct KeptElements {
  Bits kept;  // in order row, tap, column
  friend bool operator==(const KeptElements&, const KeptElements&) = default;
};

// Of weights: COUT x KY*KX x CIN. Of an activation: one row, a tap for each pixel, a column for
// each channel.
struct SparsityPattern {
  WeightExtents extents;
  std::variant<Everything, KeptChannels, KeptBlocks, KeptOfEach, KeptElements> kept;

  bool keeps(std::int64_t row, std::int64_t tap, std::int64_t column) const;
  std::int64_t storedBits() const;
  friend bool operator==(const SparsityPattern&, const SparsityPattern&) = default;
};

std::string toText(const SparsityPattern& pattern);  // none, channel, block 16x16, 2:4, element

// Whether what is not kept was found to be zero, or somebody says that it goes.
enum class Drops { Found, Declared };

// The coarsest pattern that serves as well as the elements `kept` (in order row, tap, column)
// themselves: the first of none, channel, block 64, 32, 16, 8 and 4, n:4, n:8 (n at most half) and
// element
//   - that keeps no 8x8 block in which nothing is kept: the array skips these, and
//   - three quarters of whose elements, or more, are kept indeed: single weights that happen to be
//     zero, as in any trained layer, make no pattern. Where the drops are declared, all of them.
// Ensures: whatever `kept` keeps, the pattern keeps; of declared drops it keeps none.
SparsityPattern patternOf(const WeightExtents& extents, const Bits& kept,
                          Drops drops = Drops::Found);

// How much a list of kept elements leaves, at each granularity.
struct Density {
  std::int64_t rows = 0, rowsKept = 0;        // output channels
  std::int64_t columns = 0, columnsKept = 0;  // input channels
  std::int64_t blocks = 0, blocksKept = 0;    // 8x8, through all taps
  std::int64_t elements = 0, elementsKept = 0;
  friend bool operator==(const Density&, const Density&) = default;
};
Density densityOf(const WeightExtents& extents, const Bits& kept);

// Γ for blocks of blockRows x blockColumns: which of them keep an element, in order block row,
// block column.
Bits blocksKept(const WeightExtents& extents, const Bits& kept, std::int64_t blockRows,
                std::int64_t blockColumns);
// The elements of the blocks that `blocks` keeps.
Bits elementsOf(const WeightExtents& extents, const Bits& blocks, std::int64_t blockRows,
                std::int64_t blockColumns);

}  // namespace heddle
