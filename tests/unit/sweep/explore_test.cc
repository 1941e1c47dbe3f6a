#include "../../../src/sweep/explore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace heddle {
namespace {

std::vector<std::int64_t> drawn(std::int64_t size, std::uint64_t seed, std::size_t count) {
  Shuffled order(size, seed);
  std::vector<std::int64_t> all;
  while (all.size() < count) {
    const auto one = order.next();
    if (!one) break;
    all.push_back(*one);
  }
  return all;
}

TEST(Shuffled, EveryNumberOnceAndTheSeedAloneSaysInWhichOrder) {
  const auto all = drawn(100, 7, 1000);
  EXPECT_EQ(all.size(), 100U);
  EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), 100U);
  EXPECT_EQ(std::ranges::min(all), 0);
  EXPECT_EQ(std::ranges::max(all), 99);
  EXPECT_EQ(drawn(100, 7, 10), std::vector(all.begin(), all.begin() + 10));
  EXPECT_NE(drawn(100, 8, 10), drawn(100, 7, 10));
}

// 120 times in expectation, with a standard deviation of 11.
TEST(Shuffled, EveryOrderIsAsLikely) {
  std::map<std::vector<std::int64_t>, int> times;
  for (std::uint64_t seed = 0; seed < 24 * 120; ++seed) ++times[drawn(4, seed, 4)];
  EXPECT_EQ(times.size(), 24U);
  for (const auto& [order, count] : times) EXPECT_NEAR(count, 120, 5 * 11);
}

TEST(Shuffled, OfAnySizeForTheRoomOfWhatIsDrawn) {
  const auto all = drawn(std::int64_t{1} << 53, 1, 10'000);
  EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), 10'000U);
  EXPECT_LT(std::ranges::min(all), std::int64_t{1} << 43);
  EXPECT_GT(std::ranges::max(all), (std::int64_t{1} << 53) - (std::int64_t{1} << 43));
}

struct Measured {
  double cores, ms;
};

std::vector<std::size_t> chosen(const SweepOptions& options, const std::vector<Measured>& all) {
  const auto questions = Questions::read(options, {"net"});
  EXPECT_TRUE(questions);
  std::vector<Point> points(all.size());
  std::vector<Design> designs(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    points[i].values = {{"cores", all[i].cores}, {"ms", all[i].ms}};
    designs[i].points = {&points[i]};
  }
  return promising(*questions, designs);
}

using Chosen = std::vector<std::size_t>;
Argument argumentOf(const std::string& text) { return {text, "--x " + text}; }

TEST(Promising, WithoutAGoalThoseThatNoneBeatsInTimeAndCores) {
  EXPECT_EQ(chosen({}, {{4, 3}, {4, 2}, {8, 2}, {8, 1}, {2, 9}, {16, 1}}), (Chosen{1, 3, 4}));
  EXPECT_EQ(chosen({}, {{4, 2}, {4, 2}}), (Chosen{0, 1}));
}

TEST(Promising, ByTheGoalTheBestFive) {
  SweepOptions options;
  options.minimized = argumentOf("cores*ms");
  EXPECT_EQ(chosen(options, {{1, 9}, {1, 8}, {1, 7}, {1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 5}}),
            (Chosen{3, 4, 5, 6, 7}));
  options.required = {argumentOf("ms >= 5")};
  EXPECT_EQ(chosen(options, {{1, 9}, {1, 4}, {1, 5}}), (Chosen{0, 2}));
}

TEST(Promising, WhereNoneKeepsWhatIsRequiredTheNearest) {
  SweepOptions options;
  options.required = {argumentOf("ms <= 1")};
  EXPECT_EQ(chosen(options, {{1, 9}, {1, 8}, {1, 7}, {1, 6}, {1, 5}, {1, 4}}),
            (Chosen{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace heddle
