// Where a part of a tensor lies.
#pragma once
#include <cstdint>

namespace heddle {

// The part of a tensor that lies in one memtile, laid out as rows x blocks x columns x 8 bytes.
struct Slice {
  std::int64_t memtile = 0, address = 0, y = 0, rows = 0, x = 0, columns = 0;
  std::int64_t block = 0, blocks = 0;  // channel blocks of 8
  std::int64_t rowBytes() const { return columns * blocks * 8; }
  std::int64_t bytes() const { return rows * rowBytes(); }
  friend bool operator==(const Slice&, const Slice&) = default;
};

// Indices of one axis at equal distances: first, first + step, ...
struct Steps {
  std::int64_t first = 0, step = 1;
  std::int64_t at(std::int64_t i) const { return first + i * step; }
  // Whether `count` of them, one or more, are indices of [0, size), whatever the numbers are.
  bool areInside(std::int64_t count, std::int64_t size) const {
    return count >= 1 && first >= 0 && first < size && step >= 1 && step <= size &&
           count - 1 <= (size - 1 - first) / step;
  }
  friend bool operator==(const Steps&, const Steps&) = default;
};

// Which rows, counted in an image, and columns of a tensor are those of another.
struct Sampling {
  Steps rows, columns;
  friend bool operator==(const Sampling&, const Sampling&) = default;
};

}  // namespace heddle
