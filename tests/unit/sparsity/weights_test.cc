// Where each weight of an operator lies in the constant of the ONNX graph.
#include "heddle/canon/weights.h"

#include <gtest/gtest.h>

#include "models.h"

namespace heddle {
namespace {

using testing::convModel;
using testing::Model;
using testing::modelOf;
using testing::someWeights;

// Each weight of the operator, or its zero where the constant has none.
void expectElementsFit(const Model& model) {
  ASSERT_EQ(model.canonical.weights.size(), 1U);
  const WeightOrigin& origin = model.canonical.weights[0];
  const CanonicalOp& op = model.canonical.graph.ops[origin.op.at()];
  const auto* conv = std::get_if<Conv>(&op.attributes);
  const SharedArray<std::int8_t>& weights =
      conv ? conv->weights : std::get<DepthwiseConv>(op.attributes).weights;
  const Value& constant = model.graph[origin.value];
  const int flip = constant.type == DataType::Uint8 ? 0x80 : 0;
  ASSERT_EQ(origin.extents.elements(), std::ssize(weights));
  std::int64_t i = 0, found = 0;
  for (std::int64_t r = 0; r < origin.extents.rows; ++r)
    for (std::int64_t t = 0; t < origin.extents.taps; ++t)
      for (std::int64_t c = 0; c < origin.extents.columns; ++c, ++i) {
        const std::int64_t element = origin.element(r, t, c);
        const int expected =
            element < 0 ? origin.zero[static_cast<std::size_t>(r)]
                        : static_cast<std::int8_t>(
                              constant.constant->at(static_cast<std::size_t>(element)) ^ flip);
        ASSERT_EQ(weights[static_cast<std::size_t>(i)], expected) << r << " " << t << " " << c;
        if (element >= 0) ++found;
      }
  EXPECT_EQ(found, elementCount(constant.shape));
}

TEST(WeightOrigin, OfConvolutions) {
  expectElementsFit(modelOf(convModel({5, 3, 3, 3}, someWeights(5 * 3 * 9))));
  expectElementsFit(modelOf(convModel({6, 2, 3, 3}, someWeights(6 * 2 * 9), 3)));
  expectElementsFit(modelOf(convModel({4, 1, 3, 3}, someWeights(4 * 9), 4)));
  expectElementsFit(modelOf(convModel({8, 1, 3, 3}, someWeights(8 * 9), 4)));
}

TEST(WeightOrigin, OfMatrices) {
  for (const bool transposed : {false, true}) {
    ModelBuilder m;
    const std::string x = m.requantized(m.input("x", {1, 6}), 0.25F);
    const Dims shape = transposed ? Dims{5, 6} : Dims{6, 5};
    auto& node = m.node("Gemm", {x, m.weights(shape, someWeights(30), 0.5F)});
    ModelBuilder::set(node, "transB", std::int64_t{transposed});
    m.output(m.requantized(node.output(0), 2.F));
    expectElementsFit(modelOf(m));
  }
}

TEST(WeightOrigin, OfAMatrixBehindAFlattenFollowsTheChannels) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 3, 2, 4}), 0.25F);
  const std::string y = m.requantized(m.op("MaxPool", {x}, "kernel_shape", Dims{1, 1}), 0.25F);
  const std::string flat = m.op("Flatten", {y}, "axis", std::int64_t{1});
  m.output(m.requantized(m.op("MatMul", {flat, m.weights({24, 5}, someWeights(120), 0.5F)}), 2.F));
  const Model model = modelOf(m);
  EXPECT_EQ(model.canonical.weights.at(0).extents, (WeightExtents{5, 8, 3}));
  expectElementsFit(model);
}

TEST(WeightOrigin, OfUint8WithZeroPoints) {
  ModelBuilder m;
  const std::string x = m.quantized(m.input("x", {1, 2, 4, 4}), 0.25F);
  const std::string w = m.constant({3, 2, 1, 1}, std::vector<std::uint8_t>{0, 9, 130, 255, 7, 8});
  m.output(m.op("QLinearConv",
                {x, m.scalar(0.25F), m.zero(), w, m.scalar(0.5F),
                 m.constant({}, std::vector<std::uint8_t>{130}), m.scalar(2.F), m.zero()}));
  const Model model = modelOf(m);
  EXPECT_EQ(model.canonical.weights.at(0).zero, (std::vector<std::int8_t>{2, 2, 2}));
  expectElementsFit(model);
}

TEST(WeightOrigin, IsAbsentWhereTheWeightsWereMoved) {
  ModelBuilder m;
  const std::string x = m.requantized(m.input("x", {1, 6}), 0.25F);
  const std::string w =
      m.op("Transpose", {m.weights({5, 6}, someWeights(30), 0.5F)}, "perm", Dims{1, 0});
  m.output(m.requantized(m.op("MatMul", {x, w}), 2.F));
  const Model model = modelOf(m);
  EXPECT_EQ(model.canonical.graph.ops.size(), 1U);
  EXPECT_TRUE(model.canonical.weights.empty());
}

}  // namespace
}  // namespace heddle
