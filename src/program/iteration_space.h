// All iterations of one instruction on all engines of its section: the extremes of its numbers, and
// an exact look where extremes are too coarse.
#pragma once
#include <algorithm>
#include <optional>
#include <string>

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
  explicit IterationSpace(const CoreRange& engines) : engines_(engines) {}

  void enter(std::int64_t count) { counts_[depth_++] = count; }
  void leave() { --depth_; }
  std::size_t depth() const { return depth_; }
  const CoreRange& engines() const { return engines_; }
  // The same iterations on one of the engines.
  IterationSpace of(std::int64_t row, std::int64_t column) const {
    IterationSpace one = *this;
    one.engines_ = {row, column, 1, 1};
    return one;
  }

  // Of these iterations those between which a number differs: counters and engines that it does not
  // use stay at their first value.
  IterationSpace along(const Affine& a) const {
    IterationSpace some = *this;
    if (a.row == 0) some.engines_.rows = 1;
    if (a.column == 0) some.engines_.columns = 1;
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
    Int128 sum = magnitude(a.base) + magnitude(a.row) * (engines_.row + engines_.rows) +
                 magnitude(a.column) * (engines_.column + engines_.columns);
    for (std::size_t k = 0; k < depth_; ++k) sum += magnitude(a.loop[k]) * counts_[k];
    return sum <= kMaxNumber;
  }

  // Of a bounded number.
  Extremes extremes(const Affine& a) const {
    Extremes e{a.base, a.base};
    add(e, a.row, engines_.row, engines_.row + engines_.rows - 1);
    add(e, a.column, engines_.column, engines_.column + engines_.columns - 1);
    for (std::size_t k = 0; k < depth_; ++k) add(e, a.loop[k], 0, counts_[k] - 1);
    return e;
  }

  // Calls f(counters, row, column) until it says false or `budget` calls are made; the iteration
  // where it did, for people, or nothing.
  template <class F>
  std::optional<std::string> findWhere(std::int64_t& budget, F&& fails) const {
    std::array<std::int64_t, kMaxLoopDepth> counters{};
    for (std::int64_t row = engines_.row; row < engines_.row + engines_.rows; ++row)
      for (std::int64_t column = engines_.column; column < engines_.column + engines_.columns;
           ++column) {
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

  CoreRange engines_;
  std::array<std::int64_t, kMaxLoopDepth> counts_{};
  std::size_t depth_ = 0;
};

}  // namespace heddle
