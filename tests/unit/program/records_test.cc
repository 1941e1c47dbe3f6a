#include "records.h"

#include <gtest/gtest.h>

#include <cstring>

#include "../graphs.h"

namespace heddle {
namespace {

std::int32_t int32At(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  std::int32_t value = 0;
  std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

// 1x1, 3 -> 2 channels, weights 10 * cout + cin, weight zero point 1 for channel 0.
CanonicalGraph small() {
  testing::GraphBuilder b("small");
  CanonicalGraph graph = b.finish(b.conv("conv", b.input("x", {4, 4, 3}), 2, testing::square(1)));
  graph.tensors[0].zeroPoint = 5;
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  conv.weights = {0, 1, 2, 10, 11, 12};
  conv.weightZero = {1, 0};
  conv.bias = {100, 200};
  return graph;
}

TEST(AppendRecord, LaysOutZerosGammaBlocksAndEpilogue) {
  const CanonicalGraph graph = small();
  std::vector<std::uint8_t> image;
  appendRecord(graph, graph.ops[0], {0, 1}, {{0, 1}, {0, 1}}, true, image);
  ASSERT_EQ(image.size(), 8u + 8 + 64 + 96);
  EXPECT_EQ(image[0], 1);                // zero point of channel 0's weights
  EXPECT_EQ(image[8], 1);                // gamma: the one block is kept
  EXPECT_EQ(image[16 + 1 * 8 + 1], 11);  // cin 1, cout 1
  EXPECT_EQ(image[16 + 3 * 8 + 0], 1);   // padding weighs the zero point, so nothing
  EXPECT_EQ(int32At(image, 80), 100 - 5 * (0 + 1 + 2 - 3));
  EXPECT_EQ(int32At(image, 84), 200 - 5 * (10 + 11 + 12));
}

TEST(AppendRecord, OnlyTheLastPartHasTheEpilogue) {
  const CanonicalGraph graph = small();
  std::vector<std::uint8_t> image;
  appendRecord(graph, graph.ops[0], {0, 1}, {{0, 1}, {0, 1}}, false, image);
  EXPECT_EQ(image.size(), 8u + 8 + 64);
}

}  // namespace
}  // namespace heddle
