// Buffers of which a perfect packing is known: a rectangle of time and bytes, cut into pieces.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "heddle/packing/pack.h"

namespace heddle {

struct Cuts {
  std::vector<LiveBuffer> buffers;    // shuffled
  std::vector<std::int64_t> offsets;  // of the perfect packing
};

// `count` pieces of `time` x `bytes`. Most cuts part a piece in two; one in five, where there is
// room, puts four pieces around a fifth, which no such cuts can make.
//
//   +-----+---+
//   |     |   |
//   +-+---+   |
//   | |   |   |
//   | +---+---+
//   | |       |
//   +-+-------+
inline Cuts cutRectangle(std::uint64_t seed, std::size_t count, std::int64_t time,
                         std::int64_t bytes) {
  struct Piece {
    std::int64_t left, right, low, high;
  };
  std::mt19937_64 random(seed);  // its numbers are the standard's; its distributions' are not
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const auto inside = [&](std::int64_t low, std::int64_t high) {
    return low + 1 + below(high - low - 1);
  };
  std::vector<Piece> pieces{{0, time, 0, bytes}};
  while (pieces.size() < count) {
    const std::size_t at = below(std::ssize(pieces));
    const Piece p = pieces[at];
    const std::int64_t wide = p.right - p.left, tall = p.high - p.low;
    std::vector<Piece> parts;
    if (wide >= 3 && tall >= 3 && pieces.size() + 4 <= count && below(5) == 0) {
      const std::int64_t x1 = p.left + 1 + below(wide - 2), x2 = x1 + 1 + below(p.right - x1 - 1);
      const std::int64_t y1 = p.low + 1 + below(tall - 2), y2 = y1 + 1 + below(p.high - y1 - 1);
      parts = {{p.left, x2, p.low, y1},
               {x2, p.right, p.low, y2},
               {x1, p.right, y2, p.high},
               {p.left, x1, y1, p.high},
               {x1, x2, y1, y2}};
    } else if (wide >= 2 && (tall < 2 || below(2) == 0)) {
      const std::int64_t x = inside(p.left, p.right);
      parts = {{p.left, x, p.low, p.high}, {x, p.right, p.low, p.high}};
    } else if (tall >= 2) {
      const std::int64_t y = inside(p.low, p.high);
      parts = {{p.left, p.right, p.low, y}, {p.left, p.right, y, p.high}};
    } else {
      continue;
    }
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at));
    pieces.insert(pieces.end(), parts.begin(), parts.end());
  }
  for (std::size_t k = pieces.size(); k > 1; --k)
    std::swap(pieces[k - 1], pieces[below(static_cast<std::int64_t>(k))]);
  Cuts cuts;
  for (const Piece& p : pieces) {
    cuts.buffers.push_back({p.left, p.right, p.high - p.low});
    cuts.offsets.push_back(p.low);
  }
  return cuts;
}

}  // namespace heddle
