#include "heddle/sparsity/masks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "models.h"

namespace heddle {
namespace {

using testing::convModel;
using testing::Model;
using testing::modelOf;
using testing::number;
using testing::someWeights;

NpyArray arrayOf(Dims shape, const std::string& digits, NpyType type = NpyType::Bool) {
  NpyArray array{type, std::move(shape), {}};
  for (const char digit : digits) array.data.push_back(static_cast<std::byte>(digit - '0'));
  return array;
}

const std::string& weightName(const Model& model) {
  return model.graph[model.canonical.weights.at(0).value].name;
}

Diagnostics faultsOf(const Model& model, const NamedNpyArrays& arrays) {
  const auto masks = masksFrom(arrays, model.graph, model.canonical, "m.npz");
  return masks ? Diagnostics{} : masks.diagnostics();
}

TEST(Masks, OfRankTwoMaskBlocks) {
  const Model model = modelOf(convModel({16, 12, 3, 3}, someWeights(16 * 12 * 9)));
  const auto masks = masksFrom({{weightName(model), arrayOf({2, 2}, "1001")}}, model.graph,
                               model.canonical, "m.npz");
  ASSERT_TRUE(masks) << masks.diagnostics();
  ASSERT_EQ(masks->size(), 1U);
  for (std::int64_t i = 0; i < 16 * 9 * 12; ++i)
    EXPECT_EQ((*masks)[0].kept[i], (i / (9 * 12) < 8) == (i % 12 < 8));
}

TEST(Masks, OfTheWeightsShapeMaskElements) {
  const Model model = modelOf(convModel({2, 2, 1, 2}, someWeights(8)));
  const auto masks = masksFrom({{weightName(model), arrayOf({2, 2, 1, 2}, "10000000")}},
                               model.graph, model.canonical, "m.npz");
  ASSERT_TRUE(masks) << masks.diagnostics();
  EXPECT_TRUE((*masks)[0].kept[0]);
  EXPECT_EQ((*masks)[0].kept.count(), 1);
}

TEST(Masks, WhereBothShapesFitItIsElements) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 1}), 0.25F);
  m.output(m.requantized(m.op("MatMul", {x, m.weights({1, 1}, {5}, 0.5F)}), 2.F));
  const Model model = modelOf(m);
  const auto masks =
      masksFrom({{weightName(model), arrayOf({1, 1}, "0")}}, model.graph, model.canonical, "m.npz");
  ASSERT_TRUE(masks) << masks.diagnostics();
  EXPECT_EQ((*masks)[0].kept.count(), 0);
}

TEST(Masks, OfGroupedConvolutionsCountAllInputChannels) {
  const Model model = modelOf(convModel({16, 8, 1, 1}, someWeights(16 * 8), 2));
  const auto masks = masksFrom({{weightName(model), arrayOf({2, 2}, "0111")}}, model.graph,
                               model.canonical, "m.npz");
  ASSERT_TRUE(masks) << masks.diagnostics();
  const std::string bytes =
      maskedConstants(*masks, model.graph, model.canonical).at(weightName(model)).bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_EQ(bytes[i] == 0, i < 64) << i;  // the first group's 8 channels
}

TEST(Masks, WhatTheyDropIsWrittenAsItsChannelsZeroPoint) {
  ModelBuilder m;
  const std::string x = m.quantized(m.input("x", {1, 2, 4, 4}), 0.25F);
  const std::string w = m.constant({2, 2, 1, 1}, std::vector<std::uint8_t>{1, 2, 3, 4});
  m.output(m.op("QLinearConv",
                {x, m.scalar(0.25F), m.zero(), w, m.constant({2}, std::vector<float>{0.5F, 0.25F}),
                 m.constant({2}, std::vector<std::uint8_t>{130, 7}), m.scalar(2.F), m.zero()}));
  const Model model = modelOf(m);
  const auto masks =
      masksFrom({{w, arrayOf({2, 2, 1, 1}, "1001")}}, model.graph, model.canonical, "m.npz");
  ASSERT_TRUE(masks) << masks.diagnostics();
  EXPECT_EQ(maskedConstants(*masks, model.graph, model.canonical).at(w).bytes, "\x01\x82\x07\x04");
}

TEST(Masks, RefusesAWrongShape) {
  const Model model = modelOf(convModel({16, 12, 3, 3}, someWeights(16 * 12 * 9)));
  const Diagnostics faults = faultsOf(model, {{weightName(model), arrayOf({2, 3}, "111111")}});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "SPARSE002");
  EXPECT_EQ(faults[0].what, "its shape is 2x3; the weight is 16x12x3x3, its 8x8 blocks are 2x2");
}

TEST(Masks, RefusesOtherTypesAndValues) {
  const Model model = modelOf(convModel({8, 8, 1, 1}, someWeights(64)));
  NpyArray floats = arrayOf({1, 1}, "1000", NpyType::Float32);
  EXPECT_EQ(faultsOf(model, {{weightName(model), floats}}).at(0).what, "its type is float32");
  EXPECT_EQ(faultsOf(model, {{weightName(model), arrayOf({1, 1}, "2", NpyType::Uint8)}}).at(0).what,
            "it holds the value 2");
  EXPECT_EQ(faultsOf(model, {{weightName(model), arrayOf({1, 1}, "1", NpyType::Int8)}}),
            Diagnostics{});
}

TEST(Masks, RefusesAnUnknownTensorAndNamesTheNearest) {
  const Model model = modelOf(convModel({8, 8, 1, 1}, someWeights(64)));
  const Diagnostics faults = faultsOf(model, {{weightName(model) + "x", arrayOf({1, 1}, "1")}});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].code, "SPARSE001");
  EXPECT_EQ(faultsOf(model, {{"../../etc/passwd", arrayOf({1, 1}, "1")}}).at(0).code, "SPARSE001");
}

TEST(Masks, SaysWhichWeightsWouldBeDropped) {
  std::vector<std::int8_t> values = someWeights(16 * 8);
  std::fill_n(values.begin(), 60, std::int8_t{0});
  const Model model = modelOf(convModel({16, 8, 1, 1}, values));
  const auto dropped = [&](const std::string& digits) {
    const auto masks = masksFrom({{weightName(model), arrayOf({2, 1}, digits)}}, model.graph,
                                 model.canonical, "m.npz");
    return droppedWeights(*masks, model.graph, model.canonical, "m.npz");
  };
  EXPECT_EQ(dropped("11"), Diagnostics{});
  ASSERT_EQ(dropped("01").size(), 1U);
  EXPECT_EQ(dropped("01")[0].code, "SPARSE003");
  EXPECT_EQ(dropped("01")[0].what, "4 of 68 weights of 'Conv_4' that are not zero");
}

TEST(Masks, LimitsAreKnownBeforeTheWork) {
  const Model model = modelOf(convModel({8, 8, 1, 1}, someWeights(64)));
  EXPECT_EQ(mostMaskBytes(model.graph, model.canonical), 1 << 26);
}

RC_GTEST_PROP(Masks, ArraysRoundTrip, ()) {
  const std::int64_t out = number(1, 20), in = number(1, 20),
                     kernel = *rc::gen::element<std::int64_t>(1, 2);
  const Model model =
      modelOf(convModel({out, in, kernel, kernel}, someWeights(out * in * kernel * kernel)));
  const WeightExtents& extents = model.canonical.weights.at(0).extents;
  Bits kept(extents.elements());
  if (*rc::gen::arbitrary<bool>()) {
    Bits blocks(divideRoundUp(out, kBlock) * divideRoundUp(in, kBlock));
    for (std::int64_t i = 0; i < blocks.size(); ++i)
      if (*rc::gen::arbitrary<bool>()) blocks.set(i);
    kept = elementsOf(extents, blocks, kBlock, kBlock);
  } else {
    for (std::int64_t i = 0; i < kept.size(); ++i)
      if (*rc::gen::arbitrary<bool>()) kept.set(i);
  }
  const std::vector<WeightMask> masks{{model.canonical.weights[0].op, kept}};
  const Result<std::string> file = printNpz(arraysOf(masks, model.graph, model.canonical));
  const auto arrays = parseNpz(*file, "m.npz", 1 << 20);
  RC_ASSERT(static_cast<bool>(arrays));
  const auto again = masksFrom(*arrays, model.graph, model.canonical, "m.npz");
  RC_ASSERT(static_cast<bool>(again));
  RC_ASSERT(*again == masks);
  // What they drop in the constant, they drop in the operator.
  const CanonicalGraph zeroed = masked(model.canonical.graph, masks);
  RC_ASSERT(nonZeroWeights(zeroed, zeroed.ops[0]) == kept);
  Graph changed = model.graph;
  const WeightOrigin& origin = model.canonical.weights[0];
  changed[origin.value].constant =
      maskedConstants(masks, model.graph, model.canonical).at(weightName(model)).bytes;
  const auto canonical = canonicalize(changed);
  RC_ASSERT(static_cast<bool>(canonical));
  RC_ASSERT(nonZeroWeights(canonical->graph, canonical->graph.ops[0]) == kept);
}

}  // namespace
}  // namespace heddle
