// All iterations of one instruction on all engines of its section: the extremes of its numbers, and
// an exact look where extremes are too coarse.
#pragma once
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/program/visit.h"
#include "heddle/support/requantize.h"
#include "verify_checks.h"

namespace heddle {

struct Extremes {
  std::int64_t low = 0, high = 0;
};

class IterationSpace {
 public:
  IterationSpace() = default;
  // At least one engine.
  explicit IterationSpace(std::vector<CoreRange> engines) : engines_(std::move(engines)) {}

  void enter(std::int64_t count) { counts_[depth_++] = count; }
  void leave() { --depth_; }
  std::size_t depth() const { return depth_; }
  const std::vector<CoreRange>& engines() const { return engines_; }
  // The same iterations on one of the engines.
  IterationSpace of(std::int64_t row, std::int64_t column) const {
    IterationSpace one = *this;
    one.engines_ = {{row, column, 1, 1}};
    return one;
  }

  // Of these iterations those between which a number differs: counters and engines that it does not
  // use stay at their first value.
  IterationSpace along(const Affine& a) const {
    IterationSpace some = *this;
    if (a.row == 0 && a.column == 0) some.engines_.resize(1);
    for (CoreRange& r : some.engines_) {
      if (a.row == 0) r.rows = 1;
      if (a.column == 0) r.columns = 1;
    }
    for (std::size_t k = 0; k < depth_; ++k)
      if (a.loop[k] == 0) some.counts_[k] = 1;
    return some;
  }

  // Whether `a` uses counters of enclosing loops only, and no sum of its terms can overflow.
  bool usesKnownCounters(const Affine& a) const {
    return std::all_of(a.loop.begin() + static_cast<std::ptrdiff_t>(depth_), a.loop.end(),
                       [](std::int64_t k) { return k == 0; });
  }
  bool isBounded(const Affine& a) const {
    std::int64_t rows = 0, columns = 0;
    for (const CoreRange& r : engines_) {
      rows = std::max(rows, r.row + r.rows);
      columns = std::max(columns, r.column + r.columns);
    }
    Int128 sum = magnitude(a.base) + magnitude(a.row) * rows + magnitude(a.column) * columns;
    for (std::size_t k = 0; k < depth_; ++k) sum += magnitude(a.loop[k]) * counts_[k];
    return sum <= kMaxNumber;
  }

  // Of a bounded number.
  Extremes extremes(const Affine& a) const {
    Extremes all{INT64_MAX, INT64_MIN};
    for (const CoreRange& r : engines_) {
      Extremes e{a.base, a.base};
      add(e, a.row, r.row, r.row + r.rows - 1);
      add(e, a.column, r.column, r.column + r.columns - 1);
      all = {std::min(all.low, e.low), std::max(all.high, e.high)};
    }
    for (std::size_t k = 0; k < depth_; ++k) add(all, a.loop[k], 0, counts_[k] - 1);
    return all;
  }

  // The largest number of which all values of a bounded number are multiples; 0 where all are 0.
  std::int64_t finest(const Affine& a) const {
    std::int64_t finest = 0;
    for (const CoreRange& r : engines_) {
      finest = std::gcd(finest, a.base + a.row * r.row + a.column * r.column);
      if (r.rows > 1) finest = std::gcd(finest, a.row);
      if (r.columns > 1) finest = std::gcd(finest, a.column);
    }
    for (std::size_t k = 0; k < depth_; ++k)
      if (counts_[k] > 1) finest = std::gcd(finest, a.loop[k]);
    return finest;
  }

  // Calls f(counters, row, column) until it says false or `budget` calls are made; the iteration
  // where it did, for people, or nothing.
  template <class F>
  std::optional<std::string> findWhere(std::int64_t& budget, F&& fails) const {
    std::array<std::int64_t, kMaxLoopDepth> counters{};
    for (const CoreRange& r : engines_)
      for (std::int64_t row = r.row; row < r.row + r.rows; ++row)
        for (std::int64_t column = r.column; column < r.column + r.columns; ++column) {
          counters.fill(0);
          do {
            if (--budget < 0) return "more iterations than verify looks at";
            if (fails(std::span<const std::int64_t>(counters.data(), depth_), row, column))
              return describe(counters, row, column);
          } while (next(counters));
        }
    return std::nullopt;
  }

 private:
  static Int128 magnitude(std::int64_t n) { return n < 0 ? -Int128{n} : Int128{n}; }
  static void add(Extremes& e, std::int64_t coefficient, std::int64_t first, std::int64_t last) {
    e.low += coefficient * (coefficient < 0 ? last : first);
    e.high += coefficient * (coefficient < 0 ? first : last);
  }
  bool next(std::array<std::int64_t, kMaxLoopDepth>& counters) const {
    for (std::size_t k = depth_; k-- > 0;) {
      if (++counters[k] < counts_[k]) return true;
      counters[k] = 0;
    }
    return false;
  }
  std::string describe(const std::array<std::int64_t, kMaxLoopDepth>& counters, std::int64_t row,
                       std::int64_t column) const {
    std::string text = "at row " + std::to_string(row) + ", column " + std::to_string(column);
    for (std::size_t k = 0; k < depth_; ++k)
      text += ", i" + std::to_string(k) + " = " + std::to_string(counters[k]);
    return text;
  }

  std::vector<CoreRange> engines_;
  std::array<std::int64_t, kMaxLoopDepth> counts_{};
  std::size_t depth_ = 0;
};

}  // namespace heddle
