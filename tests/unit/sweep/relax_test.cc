#include "../../../src/sweep/relax.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

std::vector<std::size_t> keys(const std::vector<JudgedPlace>& places, std::size_t nearest) {
  std::vector<std::size_t> all;
  for (const Relaxation& one : keysToRelax(places, nearest)) all.push_back(one.key);
  return all;
}
using Keys = std::vector<std::size_t>;

//               key 1: 1      2      3
//   key 0: 2           90 %   60 %   50 %
//   key 0: 4           80 %   30 %   40 %
std::vector<JudgedPlace> grid() {
  return {{{2, 1}, "", 0.9}, {{2, 2}, "", 0.6}, {{2, 3}, "", 0.5},
          {{4, 1}, "", 0.8}, {{4, 2}, "", 0.3}, {{4, 3}, "", 0.4}};
}

TEST(KeysToRelax, AreThoseThatEndWhereItIsNearest) {
  // Key 1 has a value beyond 2, which is worse.
  EXPECT_EQ(keys(grid(), 4), (Keys{0}));
  const Relaxation only = keysToRelax(grid(), 4).front();
  EXPECT_EQ(only.before, 2);
  EXPECT_EQ(only.last, 4);
  EXPECT_EQ(only.missedBefore, 0.6);
  EXPECT_EQ(only.missedLast, 0.3);
}

TEST(KeysToRelax, TheMostUsefulFirst) {
  auto places = grid();
  places[5].missed = 0.2;  // 4, 3: from 0.5 by key 0, from 0.3 by key 1
  EXPECT_EQ(keys(places, 5), (Keys{0, 1}));
  places[4].missed = 0.7;
  EXPECT_EQ(keys(places, 5), (Keys{1, 0}));
}

TEST(KeysToRelax, DownwardsTooAndUnlimitedIsTheMost) {
  EXPECT_EQ(keys({{{1}, "", 0.1}, {{2}, "", 0.2}}, 0), (Keys{0}));
  EXPECT_EQ(keys({{{1}, "", 0.2}, {{std::nullopt}, "", 0.1}}, 1), (Keys{0}));
}

TEST(KeysToRelax, OnlyWhatDiffersInOneKeyAloneSaysAnything) {
  EXPECT_EQ(keys({{{1, 1}, "", 0.2}, {{2, 2}, "", 0.1}}, 1), Keys{});
  EXPECT_EQ(keys({{{1}, "masks half", 0.2}, {{2}, "", 0.1}}, 1), Keys{});
  EXPECT_EQ(keys({{{1}, "", 0.1}, {{2}, "", 0.1}}, 1), Keys{});
}

}  // namespace
}  // namespace heddle
