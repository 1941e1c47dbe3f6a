#include "heddle/sparsity/kept_blocks.h"

#include <gtest/gtest.h>

#include "../graphs.h"

namespace heddle {
namespace {

// 3x3, 20 channels to 12: blocks 2 x 3, those at the edges partial. Weights are 1, their zero point
// 0.
CanonicalGraph convOfPartialBlocks() {
  testing::GraphBuilder b("n");
  const TensorId x = b.input("x", {6, 6, 20});
  return b.finish(b.conv("conv", x, 12, {3, 3, 1, 1, 1, 1, 1, 1, 1, 1}));
}
Conv& convOf(CanonicalGraph& graph) { return std::get<Conv>(graph.ops[0].attributes); }

void empty(Conv& conv, std::int64_t b, std::int64_t a) {
  for (std::int64_t i = 0; i < std::ssize(conv.weights); ++i)
    if (i / (9 * 20) / 8 == b && i % 20 / 8 == a)
      conv.weights.own()[static_cast<std::size_t>(i)] =
          conv.weightZero[static_cast<std::size_t>(i / (9 * 20))];
}

TEST(FindKeptBlocks, ADenseNetworkStaysAsItIs) {
  const CanonicalGraph before = convOfPartialBlocks();
  CanonicalGraph graph = before;
  findKeptBlocks(graph);
  EXPECT_EQ(graph, before);
  EXPECT_EQ(keptBlocks(graph, graph.ops[0]), (BlockShare{6, 6}));
}

TEST(FindKeptBlocks, LeavesOutBlocksAtTheirZeroPoint) {
  CanonicalGraph graph = convOfPartialBlocks();
  Conv& conv = convOf(graph);
  conv.weightZero.assign(12, 5);
  conv.weightZero[9] = -3;
  empty(conv, 0, 1);
  empty(conv, 1, 2);  // the partial one in the corner
  findKeptBlocks(graph);
  Bits expected(6, true);
  expected.reset(1);
  expected.reset(5);
  EXPECT_EQ(conv.kept, expected);
  EXPECT_EQ(keptBlocks(graph, graph.ops[0]), (BlockShare{4, 6}));
}

TEST(FindKeptBlocks, OneWeightKeepsItsBlock) {
  CanonicalGraph graph = convOfPartialBlocks();
  Conv& conv = convOf(graph);
  for (const std::int64_t a : {0, 1, 2})
    for (const std::int64_t b : {0, 1}) empty(conv, b, a);
  conv.weights.own()[(11 * 9 + 8) * 20 + 19] = 1;  // the last of all
  findKeptBlocks(graph);
  EXPECT_EQ(conv.kept.count(), 1);
  EXPECT_TRUE(conv.kept[5]);
}

TEST(FindKeptBlocks, AllMayGo) {
  CanonicalGraph graph = convOfPartialBlocks();
  Conv& conv = convOf(graph);
  std::fill(conv.weights.own().begin(), conv.weights.own().end(), std::int8_t{0});
  findKeptBlocks(graph);
  EXPECT_EQ(conv.kept, Bits(6));
}

}  // namespace
}  // namespace heddle
