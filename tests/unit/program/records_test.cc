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
CanonicalGraph pointwiseConv() {
  testing::GraphBuilder b("pointwise");
  CanonicalGraph graph = b.finish(b.conv("conv", b.input("x", {4, 4, 3}), 2, testing::square(1)));
  graph.tensors[0].zeroPoint = 5;
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  conv.weights = {0, 1, 2, 10, 11, 12};
  conv.weightZero = {1, 0};
  conv.bias = {100, 200};
  return graph;
}

TEST(AppendRecord, LaysOutZerosGammaBlocksAndEpilogue) {
  const CanonicalGraph graph = pointwiseConv();
  std::vector<std::uint8_t> image;
  appendRecord(graph, graph.ops[0], {0, 1}, {{0, 1}, {0, 1}}, true, image);
  ASSERT_EQ(image.size(), 8u + 8 + 64 + 72);
  EXPECT_EQ(image[0], 1);                // zero point of channel 0's weights
  EXPECT_EQ(image[8], 1);                // gamma: the one block is kept
  EXPECT_EQ(image[16 + 1 * 8 + 1], 11);  // cin 1, cout 1
  EXPECT_EQ(image[16 + 3 * 8 + 0], 1);   // padding weighs the zero point, so nothing
  EXPECT_EQ(int32At(image, 80), 100 - 5 * (0 + 1 + 2 - 3));
  EXPECT_EQ(int32At(image, 84), 200 - 5 * (10 + 11 + 12));
}

TEST(AppendRecord, OnlyTheLastPartHasTheEpilogue) {
  const CanonicalGraph graph = pointwiseConv();
  std::vector<std::uint8_t> image;
  appendRecord(graph, graph.ops[0], {0, 1}, {{0, 1}, {0, 1}}, false, image);
  EXPECT_EQ(image.size(), 8u + 8 + 64);
}

// 16x16 weights, w = 16 * cout + cin, of which the blocks (0, 1) and (1, 0) are left out.
TEST(AppendRecord, HoldsTheKeptBlocksOnly) {
  testing::GraphBuilder b("sparse");
  CanonicalGraph graph =
      b.finish(b.conv("conv", b.input("x", {2, 2, 16}), 16, {1, 1, 1, 1, 1, 1, 0, 0, 0, 0}));
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  for (std::size_t i = 0; i < 256; ++i) conv.weights.own()[i] = static_cast<std::int8_t>(i);
  conv.kept = Bits(4, true);
  conv.kept.reset(1);
  conv.kept.reset(2);
  std::vector<std::uint8_t> image;
  appendRecord(graph, graph.ops[0], {0, 2}, {{0, 2}, {0, 1}}, false, image);
  ASSERT_EQ(image.size(), 8u + 2 * 64);            // no zero points, as all are 0
  EXPECT_EQ(image[0], 0b1001);                     // gamma
  EXPECT_EQ(image[8 + 3 * 8 + 2], 16 * 2 + 3);     // block (0, 0): cin 3, cout 2
  EXPECT_EQ(image[72 + 3 * 8 + 2], 16 * 10 + 11);  // block (1, 1): cin 11, cout 10
  image.clear();
  appendRecord(graph, graph.ops[0], {1, 1}, {{0, 1}, {0, 1}}, false, image);
  ASSERT_EQ(image.size(), 8u);  // nothing of it is kept
  EXPECT_EQ(image[0], 0);
}

// Behind the multipliers of a block's channels their shifts, a byte each. What is beyond the bits
// of a sum's product shifts all of it out.
TEST(AppendRecord, HoldsAByteForAShift) {
  CanonicalGraph graph = pointwiseConv();
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  conv.requantize = {{1 << 30, 200}, {1 << 30, -20}};
  std::vector<std::uint8_t> image;
  appendRecord(graph, graph.ops[0], {0, 1}, {{0, 1}, {0, 1}}, true, image);
  const std::size_t scales = 8 + 8 + 64 + 32;
  EXPECT_EQ(int32At(image, scales + 4), 1 << 30);
  EXPECT_EQ(image[scales + 32], 64);
  EXPECT_EQ(image[scales + 33], 0xff);  // -1: all of it in
  for (const std::int32_t sum : {INT32_MIN, -1, 0, 1, INT32_MAX}) {
    EXPECT_EQ(applyMultiplier(sum, {INT32_MAX, 64}), applyMultiplier(sum, {INT32_MAX, 200}));
    EXPECT_EQ(applyMultiplier(sum, {INT32_MAX, -1}), applyMultiplier(sum, {INT32_MAX, -20}));
  }
}

}  // namespace
}  // namespace heddle
