#include "heddle/canon/slice_strides.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/canon/batch.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/join_siblings.h"
#include "heddle/canon/planned_values.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::rampsOf;
using testing::square;

void expectValuesAsPlanned(const CanonicalGraph& graph, const CanonicalGraph& sliced) {
  EXPECT_EQ(verify(sliced), Diagnostics{});
  const std::vector<TensorValue> inputs = rampsOf(graph);
  EXPECT_EQ(interpret(sliced, inputs), valuesAsPlanned(sliced, graph, interpret(graph, inputs)));
}

CanonicalGraph oneConv(const Shape& input, const Window& window) {
  GraphBuilder b("net");
  CanonicalGraph graph = b.finish(b.conv("conv", b.input("x", input), 9, window));
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  for (std::size_t i = 0; i < conv.weights.size(); ++i)
    conv.weights.own()[i] = static_cast<std::int8_t>(i * 11 % 17 - 8);
  return graph;
}

Window windowWith(std::int64_t kernelY, std::int64_t kernelX, std::int64_t strideY,
                  std::int64_t strideX) {
  return {.kernelY = kernelY, .kernelX = kernelX, .strideY = strideY, .strideX = strideX};
}

struct SliceCase {
  const char* what;
  Shape input;
  Window window;
  const char* slice;  // its name; none: the graph stays
  Shape sliced;
};

TEST(SliceStrides, TakesWhatAWindowOfOneRowOrColumnReads) {
  Window border = square(1, 2, 1), gaps = windowWith(1, 3, 2, 1);
  gaps.dilationY = 3;
  for (const SliceCase& c : {
           SliceCase{"both", {8, 6, 16}, square(1, 2), "x::2x2", {4, 3, 16}},
           SliceCase{"of odd extents", {7, 5, 16}, square(1, 2), "x::2x2", {4, 3, 16}},
           SliceCase{"leaves some over", {8, 9, 16}, square(1, 3), "x::3x3", {3, 3, 16}},
           SliceCase{"rows of a wide window", {7, 9, 8}, gaps, "x::2x1", {4, 9, 8}},
           SliceCase{
               "columns of a high one", {7, 9, 8}, windowWith(3, 1, 1, 2), "x::1x2", {7, 5, 8}},
           SliceCase{"of one row", {1, 6, 16}, square(1, 2), "x::1x2", {1, 3, 16}},
           SliceCase{"of one pixel", {1, 1, 16}, square(1, 2), nullptr, {}},
           SliceCase{"no stride", {8, 6, 16}, square(1), nullptr, {}},
           SliceCase{"a window of several", {8, 6, 16}, square(3, 2), nullptr, {}},
           SliceCase{"a border before", {8, 6, 16}, border, nullptr, {}},
       }) {
    SCOPED_TRACE(c.what);
    const CanonicalGraph graph = oneConv(c.input, c.window);
    ASSERT_EQ(verify(graph), Diagnostics{});
    const auto sliced = sliceStrides(graph);
    ASSERT_EQ(sliced != nullptr, c.slice != nullptr);
    if (!sliced) continue;
    ASSERT_EQ(sliced->ops.size(), 2u);
    const CanonicalOp &slice = sliced->ops[0], &conv = sliced->ops[1];
    EXPECT_EQ(slice.name, c.slice);
    EXPECT_EQ(slice.onnxOp, "Slice");
    EXPECT_EQ(sliced->tensors[slice.output.at()].name, c.slice);
    EXPECT_EQ(sliced->tensors[slice.output.at()].shape, c.sliced);
    EXPECT_EQ(conv.inputs[0], slice.output);
    expectValuesAsPlanned(graph, *sliced);
    EXPECT_FALSE(sliceStrides(*sliced));
  }
}

TEST(SliceStrides, IsOneForAllThatReadATensorAlike) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 8});
  const TensorId a = b.conv("a", x, 8, square(1, 2)), c = b.conv("c", x, 16, square(1, 2)),
                 d = b.conv("d", x, 8, square(1, 4));
  CanonicalGraph graph =
      b.finish(b.concat("both", {b.conv("e", d, 8, square(1)), b.conv("f", d, 8, square(1))}));
  graph.outputs.push_back(testing::portOf("a", a, {4, 4, 8}));
  graph.outputs.push_back(testing::portOf("c", c, {4, 4, 16}));
  const auto sliced = fuseOperators(graph);
  ASSERT_TRUE(sliced);
  ASSERT_EQ(sliced->ops.size(), graph.ops.size() + 2);
  EXPECT_EQ(sliced->ops[0].name, "x::2x2");
  EXPECT_EQ(sliced->ops[1].inputs, sliced->ops[2].inputs);
  EXPECT_EQ(sliced->ops[3].name, "x::4x4");
  expectValuesAsPlanned(graph, *sliced);
}

TEST(SliceStrides, LeavesSiblingsThatJoin) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 8});
  const TensorId left = b.conv("left", x, 8, square(1, 2)),
                 right = b.conv("right", x, 16, square(1, 2));
  const CanonicalGraph graph = b.finish(b.concat(
      "both", {b.conv("after", left, 8, square(3, 1, 1)), b.conv("behind", right, 8, square(1))}));
  const auto sliced = fuseOperators(graph), joined = joinSiblings(*sliced);
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->ops[1].inputs[0], joined->ops[0].output);
  expectValuesAsPlanned(graph, *joined);
}

TEST(SliceStrides, OfOneOfSeveralSiblingsLetsThemJoin) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 8}), left = b.conv("left", x, 16, square(1)),
                 right = b.conv("right", x, 16, square(1)),
                 few = b.conv("few", right, 8, square(1, 2));
  const CanonicalGraph graph =
      b.finish(b.concat("both", {few, b.conv("all", left, 8, square(2, 2))}));
  const auto joined = joinSiblings(*fuseOperators(graph));
  ASSERT_TRUE(joined);
  EXPECT_EQ(joined->ops[0].name, "left + right");
  expectValuesAsPlanned(graph, *joined);
}

TEST(SliceStrides, TakesNamesThatAreFree) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {4, 4, 8}), other = b.conv("x::2x2", x, 8, square(1));
  CanonicalGraph graph = b.finish(b.conv("conv", x, 8, square(1, 2)));
  graph.tensors[other.at()].name = "x::2x2";
  graph.outputs.push_back(testing::portOf("other", other, {4, 4, 8}));
  const auto sliced = sliceStrides(graph);
  ASSERT_TRUE(sliced);
  EXPECT_EQ(sliced->ops[1].name, "x::2x2_2");
  EXPECT_EQ(sliced->tensors[sliced->ops[1].output.at()].name, "x::2x2_2");
  expectValuesAsPlanned(graph, *sliced);
}

// What a fusion took out may have had the Slice's name.
TEST(SliceStrides, IsKnownByWhatItDoesNotByItsName) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {4, 4, 8}), inner = b.conv("inner", x, 8, square(1)),
                 sum = b.add("sum", inner, x);
  CanonicalGraph graph = b.finish(b.conv("conv", sum, 8, square(1, 2)));
  graph.tensors[inner.at()].name = "sum_out::2x2";
  const auto sliced = fuseOperators(graph);
  ASSERT_TRUE(sliced);
  ASSERT_EQ(sliced->ops.size(), 3u);
  EXPECT_EQ(sliced->tensors[sliced->ops[1].output.at()].name, "sum_out::2x2");
  expectValuesAsPlanned(graph, *sliced);
}

TEST(SliceStrides, IsAllThatAPoolOfOnePixelDoes) {
  GraphBuilder b("net");
  const TensorId pooled = b.maxPool("pool", b.input("x", {7, 7, 8}), square(1, 2));
  const CanonicalGraph graph = b.finish(b.conv("conv", pooled, 8, square(3, 1, 1)));
  const auto sliced = sliceStrides(graph);
  ASSERT_TRUE(sliced);
  ASSERT_EQ(sliced->ops.size(), 2u);
  EXPECT_EQ(sliced->ops[0].kind(), OpKind::Assemble);
  EXPECT_EQ(sliced->ops[0].name, "pool");
  expectValuesAsPlanned(graph, *sliced);
}

TEST(SliceStrides, LeavesAnImageWhoseColumnsAreFolded) {
  const CanonicalGraph graph = oneConv({6, 8, 3}, square(1, 4));
  const auto folded = fuseOperators(graph);
  ASSERT_TRUE(folded);
  const bool isFolded = std::get<Conv>(folded->ops.back().attributes).folded.has_value();
  EXPECT_EQ(folded->ops.size(), isFolded ? 1u : 2u);
  GraphBuilder b("net");
  const CanonicalGraph wide =
      b.finish(b.conv("conv", b.input("x", {6, 8, 3}), 8, windowWith(1, 4, 2, 4)));
  const auto both = fuseOperators(wide);
  ASSERT_TRUE(both);
  ASSERT_EQ(both->ops.size(), 1u);
  EXPECT_TRUE(std::get<Conv>(both->ops[0].attributes).folded);
  EXPECT_EQ(std::get<Conv>(both->ops[0].attributes).window.strideY, 2);
}

TEST(SliceStrides, HasItsValuesInABatchToo) {
  const CanonicalGraph graph = oneConv({7, 5, 8}, square(1, 2));
  const CanonicalGraph sliced = *sliceStrides(graph), two = withBatch(sliced, 2);
  EXPECT_EQ(verify(two), Diagnostics{});
  const std::vector<TensorValue> inputs{TensorValue(7 * 5 * 8, 3)},
      values = interpret(graph, inputs);
  EXPECT_EQ(valuesAsPlanned(two, graph, values), valuesAsPlanned(sliced, graph, values));
}

}  // namespace
}  // namespace heddle
