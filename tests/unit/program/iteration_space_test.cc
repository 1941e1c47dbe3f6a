#include "iteration_space.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace heddle {
namespace {

// What the space says of a number, and what all of its values say.
TEST(IterationSpace, KnowsTheValuesOfANumberOverRectanglesAndLoops) {
  std::mt19937_64 random(1);
  const auto small = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(to - from + 1));
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<CoreRange> engines;
    for (std::int64_t n = small(1, 3); n > 0; --n)
      engines.push_back({small(0, 4), small(0, 4), small(1, 3), small(1, 3)});
    IterationSpace space(engines);
    const std::int64_t count = small(1, 3);
    space.enter(count);
    Affine a(small(-20, 20));
    a.row = small(-4, 4);
    a.column = small(-4, 4);
    a.loop[0] = small(-6, 6);

    std::set<std::int64_t> values, seen, along;
    std::int64_t finest = 0;
    for (const CoreRange& r : engines)
      for (std::int64_t row = r.row; row < r.row + r.rows; ++row)
        for (std::int64_t column = r.column; column < r.column + r.columns; ++column)
          for (std::int64_t i = 0; i < count; ++i)
            values.insert(a.base + a.row * row + a.column * column + a.loop[0] * i);
    for (const std::int64_t value : values) finest = std::gcd(finest, value);
    const auto into = [&](std::set<std::int64_t>& set) {
      return [&](std::span<const std::int64_t> counters, std::int64_t row, std::int64_t column) {
        set.insert(evaluate(a, counters, row, column));
        return false;
      };
    };
    std::int64_t budget = 1 << 20;
    space.findWhere(budget, into(seen));
    space.along(a).findWhere(budget, into(along));
    EXPECT_EQ(space.extremes(a).low, *values.begin()) << round;
    EXPECT_EQ(space.extremes(a).high, *values.rbegin()) << round;
    EXPECT_EQ(space.finest(a), finest) << round;
    EXPECT_EQ(seen, values) << round;
    EXPECT_EQ(along, values) << round;
    EXPECT_TRUE(space.isBounded(a));
  }
}

TEST(IterationSpace, BoundsANumberOnItsFarthestEngine) {
  Affine a;
  a.row = kMaxNumber / 8;
  EXPECT_TRUE(IterationSpace({{0, 0, 2, 1}, {4, 0, 4, 1}}).isBounded(a));
  EXPECT_FALSE(IterationSpace({{0, 0, 2, 1}, {8, 0, 2, 1}}).isBounded(a));
}

}  // namespace
}  // namespace heddle
