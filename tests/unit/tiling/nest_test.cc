#include "heddle/tiling/nest.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/canon/batch.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// 3x3, stride 2, on 16x8x8: 8 rows of 4 pixels.
CanonicalGraph halvedRows() {
  GraphBuilder b("net");
  return b.finish(b.conv("conv", b.input("x", {16, 8, 8}), 8, square(3, 2, 1)));
}

Mapping callsOf(std::int64_t rows, std::vector<PixelBox> boxes) {
  Mapping mapping;
  mapping.shares.push_back({{}, std::move(boxes), {0, 1}, {}});
  mapping.parts = {{{0, 1}, {0, 3}}};
  mapping.callRows = rows;
  return mapping;
}

using Calls = std::vector<RowCall>;

TEST(LayerNest, CallsEndAtBoxesAndBands) {
  const CanonicalGraph graph = halvedRows();
  Mapping m = callsOf(3, {{{0, 4}, {0, 4}}, {{4, 2}, {0, 2}}});
  EXPECT_EQ(LayerNest(graph, OpId(0u), m).calls(m.shares[0], {0, 8}, {}),
            (Calls{{0, 3, {0, 4}, 0}, {3, 1, {0, 4}, 0}, {4, 2, {0, 2}, 1}}));
  m.bands = 2;  // of three rows each
  const LayerNest nest(graph, OpId(0u), m);
  EXPECT_EQ(nest.calls(m.shares[0], {0, 8}, {.band = 0}), (Calls{{0, 3, {0, 4}, 0}}));
  EXPECT_EQ(nest.calls(m.shares[0], {0, 8}, {.band = 1}),
            (Calls{{3, 1, {0, 4}, 0}, {4, 2, {0, 2}, 1}}));
}

TEST(LayerNest, CallsEndAtStepsAndImages) {
  const CanonicalGraph two = withBatch(halvedRows(), 2);
  const Mapping m = callsOf(5, {{{0, 16}, {0, 4}}});
  EXPECT_EQ(LayerNest(two, OpId(0u), m).calls(m.shares[0], {2, 11}, {}),
            (Calls{{2, 5, {0, 4}, 0}, {7, 1, {0, 4}, 0}, {8, 5, {0, 4}, 0}}));
}

TEST(LayerNest, CallsAreLongerWhereNobodyWaitsForTheirRows) {
  const CanonicalGraph graph = halvedRows();
  Mapping m = callsOf(2, {{{0, 8}, {0, 4}}});
  m.innerCallRows = 8;
  m.parts = {{{0, 1}, {0, 1}}, {{0, 1}, {1, 1}}, {{0, 1}, {2, 1}}};
  m.passes = 2;
  const auto rows = [&](std::int64_t pass, std::int64_t part) {
    const LayerNest nest(graph, OpId(0u), m);
    return nest.calls(m.shares[0], {0, 8}, {.pass = pass, .part = part})[0].rows;
  };
  EXPECT_EQ(rows(0, 0), 2);  // its rows come as they are computed
  EXPECT_EQ(rows(0, 1), 8);
  EXPECT_EQ(rows(0, 2), 2);  // its output is waited for
  EXPECT_EQ(rows(1, 0), 8);
  EXPECT_EQ(rows(1, 2), 2);
  m.innerCallRows = 1;
  EXPECT_EQ(rows(0, 1), 2);  // never shorter than the others
}

TEST(LayerNest, CallsOfPassesBetweenTheFirstAndTheLastAreLonger) {
  const CanonicalGraph graph = halvedRows();
  Mapping m = callsOf(1, {{{0, 8}, {0, 4}}});
  m.innerCallRows = 4;
  m.passes = 3;
  const LayerNest nest(graph, OpId(0u), m);
  const auto rows = [&](std::int64_t pass) {
    return nest.calls(m.shares[0], {0, 8}, {.pass = pass})[0].rows;
  };
  EXPECT_EQ(rows(0), 1);
  EXPECT_EQ(rows(1), 4);
  EXPECT_EQ(rows(2), 1);
  EXPECT_FALSE(LayerNest::isLater({.pass = 0}));
  EXPECT_TRUE(LayerNest::isLater({.pass = 2}));
}

TEST(LayerNest, ACallNeedsTheRowsOfAllItsWindows) {
  const CanonicalGraph graph = halvedRows();
  const Mapping m = callsOf(3, {{{0, 8}, {0, 4}}});
  const LayerNest nest(graph, OpId(0u), m);
  EXPECT_EQ(nest.rowsOf(0, {0, 3, {0, 4}, 0}, {0, 3}), (Interval{0, 6}));
  EXPECT_EQ(nest.rowsOf(0, {3, 3, {0, 4}, 0}, {0, 3}), (Interval{5, 7}));
  EXPECT_EQ(nest.rowsOf(0, {0, 1, {0, 4}, 0}, {0, 1}), Interval());  // border alone
  EXPECT_EQ(nest.rowsOf(0, {0, 2, {0, 4}, 0}, {0, 1}), (Interval{1, 1}));
}

}  // namespace
}  // namespace heddle
