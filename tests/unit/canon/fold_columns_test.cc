#include "heddle/canon/fold_columns.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/canon/batch.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/planned_values.h"
#include "heddle/canon/print.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::rampOf;
using testing::square;

// A convolution of the input, with numbers of its own, so that order, borders and zero points
// count.
CanonicalGraph imageAndConv(const Shape& image, const Window& window) {
  GraphBuilder b("net");
  CanonicalGraph graph = b.finish(b.conv("conv", b.input("x", image), 9, window));
  graph.tensors[0].zeroPoint = 5;
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  for (std::size_t i = 0; i < conv.weights.size(); ++i)
    conv.weights.own()[i] = static_cast<std::int8_t>(i * 11 % 17 - 8);
  for (std::size_t i = 0; i < conv.weightZero.size(); ++i)
    conv.weightZero[i] = static_cast<std::int8_t>(i % 3);
  return graph;
}

void expectValuesOfTheNetwork(const CanonicalGraph& graph, const CanonicalGraph& folded) {
  EXPECT_EQ(verify(folded), Diagnostics{});
  std::vector<TensorValue> inputs;
  for (const Port& port : graph.inputs) inputs.push_back(rampOf(portImage(port)));
  EXPECT_EQ(interpret(folded, inputs), valuesAsPlanned(folded, graph, interpret(graph, inputs)));
}

struct FoldCase {
  const char* what;
  Shape image;
  Window window;
  Shape held;            // by the input's tensor
  std::int64_t kernelX;  // then
};

TEST(FoldColumns, LeavesTheFewestTapsTimesBlocksOfChannels) {
  Window dilated = square(3, 2);
  dilated.dilationX = 2;
  Window rowsOnly = square(3, 1);
  rowsOnly.strideY = 2;
  Window wide{1, 5, 1, 4, 1, 1, 0, 1, 0, 3};
  for (const FoldCase& c : {
           FoldCase{"ResNet's first", {9, 10, 3}, square(7, 2, 3), {9, 5, 6}, 4},
           FoldCase{"its last column is half full", {9, 9, 3}, square(3, 2), {9, 5, 6}, 2},
           FoldCase{"a border of one", {8, 8, 3}, square(3, 2, 1), {8, 4, 6}, 2},
           FoldCase{"one column", {8, 1, 3}, square(1, 2), {8, 1, 3}, 1},
           FoldCase{"patches", {4, 16, 3}, square(4, 4), {4, 8, 6}, 2},
           FoldCase{"large patches", {16, 32, 3}, square(16, 16), {16, 4, 24}, 2},
           FoldCase{"of one channel", {16, 32, 1}, square(16, 16), {16, 4, 8}, 2},
           FoldCase{"unlike to the left and right", {4, 21, 2}, wide, {4, 6, 8}, 2},
           FoldCase{"channels that fill their block", {8, 8, 8}, square(3, 2), {8, 8, 8}, 3},
           FoldCase{"no stride", {8, 8, 3}, square(3), {8, 8, 3}, 3},
           FoldCase{"no stride along its rows", {8, 8, 3}, rowsOnly, {8, 8, 3}, 3},
           FoldCase{"gaps", {8, 8, 3}, dilated, {8, 8, 3}, 3},
       }) {
    SCOPED_TRACE(c.what);
    const CanonicalGraph graph = imageAndConv(c.image, c.window);
    ASSERT_EQ(verify(graph), Diagnostics{});
    const auto fused = fuseOperators(graph);
    const bool isFolded = fused && std::get<Conv>(fused->ops.back().attributes).folded.has_value();
    ASSERT_EQ(isFolded, c.held != c.image);
    if (!isFolded) continue;
    EXPECT_EQ(fused->tensors[0].shape, c.held);
    const Conv& conv = std::get<Conv>(fused->ops[0].attributes);
    EXPECT_EQ(conv.window.kernelX, c.kernelX);
    ASSERT_TRUE(conv.folded);
    EXPECT_EQ(conv.folded->columns * conv.window.strideX, c.window.strideX);
    EXPECT_NE(print(*fused).find(" columns folded"), std::string::npos);
    expectValuesOfTheNetwork(graph, *fused);
    EXPECT_FALSE(fuseOperators(*fused));
  }
}

TEST(FoldColumns, AndWhatFollowsAreFusedTogether) {
  GraphBuilder b("net");
  const TensorId c = b.conv("conv", b.input("x", {13, 14, 3}), 8, square(3, 2, 1));
  const CanonicalGraph graph = b.finish(b.maxPool("pool", c, square(3, 2, 1)));
  const auto fused = fuseOperators(graph);
  ASSERT_TRUE(fused);
  ASSERT_EQ(fused->ops.size(), 1u);
  EXPECT_TRUE(fusedWindowOf(fused->ops[0]));
  EXPECT_TRUE(std::get<Conv>(fused->ops[0].attributes).folded);
  EXPECT_EQ(verify(*fused), Diagnostics{});
  const std::vector<TensorValue> inputs{rampOf({13, 14, 3})};
  EXPECT_EQ(interpret(*fused, inputs).at(fused->ops[0].output.at()),
            interpret(graph, inputs).at(graph.ops[1].output.at()));
}

TEST(FoldColumns, LeavesAnImageAloneThatAnotherReads) {
  const Window w = square(1, 2);
  GraphBuilder twice("net");
  const TensorId x = twice.input("x", {8, 8, 3});
  EXPECT_TRUE(findColumnFolds(twice.finish(twice.add("sum", twice.conv("a", x, 4, w),
                                                     twice.conv("b", x, 4, w))))
                  .empty());
  GraphBuilder given("net");  // the host reads it
  const TensorId y = given.input("y", {8, 8, 3});
  CanonicalGraph graph = given.finish(given.conv("a", y, 4, square(3, 2)));
  ASSERT_EQ(findColumnFolds(graph).size(), 1u);
  graph.outputs.push_back(graph.inputs[0]);
  EXPECT_TRUE(findColumnFolds(graph).empty());
  GraphBuilder inner("net");  // a core wrote it
  const TensorId z = inner.conv("first", inner.input("z", {8, 8, 8}), 3, square(1));
  EXPECT_TRUE(findColumnFolds(inner.finish(inner.conv("second", z, 4, square(3, 2)))).empty());
}

TEST(FoldColumns, KeepsTheBlocksThatHoldAWeight) {
  CanonicalGraph graph = imageAndConv({16, 32, 3}, square(16, 16));
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  for (std::size_t o = 0; o < 9; ++o)  // but for the first 8 outputs' tap 0 and the last one's last
    for (std::size_t tap = 0; tap < 256; ++tap)
      for (std::size_t c = 0; c < 3; ++c)
        if (o < 8 ? tap > 0 : tap < 255)
          conv.weights.own()[(o * 256 + tap) * 3 + c] = conv.weightZero[o];
  conv.kept = Bits(2);
  conv.kept.set(0);
  conv.kept.set(1);
  const auto fused = fuseOperators(graph);
  ASSERT_TRUE(fused);
  const Bits& kept = std::get<Conv>(fused->ops[0].attributes).kept;  // of 2 x 6 blocks
  ASSERT_EQ(kept.size(), 12);
  for (std::int64_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i], i == 0 || i == 11) << i;
  expectValuesOfTheNetwork(graph, *fused);
}

// What a fold would put into one block with weights counts as needed: then it is left alone.
TEST(FoldColumns, NeedsNoWeightsThatWereLeftOut) {
  CanonicalGraph graph = imageAndConv({9, 12, 12}, square(7, 2, 3));
  ASSERT_TRUE(fuseOperators(graph));
  Conv& conv = std::get<Conv>(graph.ops[0].attributes);
  for (std::size_t i = 0; i < conv.weights.size(); ++i)  // nothing reads channels 8 to 11
    if (i % 12 >= 8) conv.weights.own()[i] = conv.weightZero[i / (49 * 12)];
  conv.kept = Bits(4);
  conv.kept.set(0);
  conv.kept.set(2);
  EXPECT_FALSE(fuseOperators(graph));
}

// 5 taps of stride 7 and 3 channels: the third block of the 21 channels holds no tap.
TEST(FoldColumns, LeavesOutBlocksOfTapsThatItPutIn) {
  const CanonicalGraph graph = imageAndConv({9, 28, 3}, {1, 5, 1, 7});
  const auto fused = fuseOperators(graph);
  ASSERT_TRUE(fused);
  const Bits& kept = std::get<Conv>(fused->ops[0].attributes).kept;
  ASSERT_EQ(kept.size(), 6);
  for (std::int64_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i], i % 3 < 2) << i;
  expectValuesOfTheNetwork(graph, *fused);
}

TEST(FoldColumns, ValuesAreThoseOfEachImageOfABatch) {
  const CanonicalGraph graph = imageAndConv({9, 9, 3}, square(3, 2));
  const CanonicalGraph folded = *fuseOperators(graph);
  const std::vector<TensorValue> values =
      interpret(graph, std::vector<TensorValue>{rampOf({9, 9, 3})});
  EXPECT_EQ(valuesAsPlanned(withBatch(folded, 2), graph, values),
            valuesAsPlanned(folded, graph, values));
}

// As where convolutions are joined of a network whose input was folded.
TEST(FoldColumns, ValuesOfAFoldedNetworkStayAsTheyAre) {
  const CanonicalGraph graph = imageAndConv({9, 21, 2}, {3, 4, 1, 2});
  const CanonicalGraph folded = *fuseOperators(graph);
  ASSERT_EQ(folded.tensors[0].shape, (Shape{9, 11, 4}));
  const std::vector<TensorValue> values =
      interpret(folded, std::vector<TensorValue>{rampOf({9, 21, 2})});
  EXPECT_EQ(valuesAsPlanned(folded, folded, values), values);
}

TEST(FoldColumns, VerifyKnowsTheWindowThatWasFolded) {
  const CanonicalGraph good = *fuseOperators(imageAndConv({9, 9, 3}, square(7, 2, 3)));
  ASSERT_EQ(verify(good), Diagnostics{});
  const auto faults = [&](auto&& change) {
    CanonicalGraph graph = good;
    change(graph, std::get<Conv>(graph.ops[0].attributes));
    return toText(verify(graph));
  };
  using Graph = CanonicalGraph;
  EXPECT_NE(
      faults([](Graph&, Conv& c) { c.weights.own()[0] = 77; }).find("folding its columns put in"),
      std::string::npos);
  const std::string window = "its folded window is not that of the network";
  EXPECT_NE(faults([](Graph&, Conv& c) { c.folded->columns = 1; }).find(window), std::string::npos);
  EXPECT_NE(faults([](Graph&, Conv& c) { c.folded->width = 10; }).find(window), std::string::npos);
  EXPECT_NE(faults([](Graph&, Conv& c) { c.folded->kernelX = 9; }).find(window), std::string::npos);
  EXPECT_NE(faults([](Graph&, Conv& c) { c.folded->padLeft = 9; }).find(window), std::string::npos);
  const std::string view = "its view does not fit its tensor";
  EXPECT_NE(faults([](Graph& g, Conv&) { g.inputs[0].view[3] = 7; }).find(view), std::string::npos);
  EXPECT_NE(faults([](Graph& g, Conv&) { g.inputs[0].view[2] = 8; }).find(view), std::string::npos);
  EXPECT_NE(faults([](Graph& g, Conv&) {  // only inputs
              g.outputs[0].view[1] = g.outputs[0].shape[1] = 3;
              g.outputs[0].view[3] = g.outputs[0].shape[3] *= 3;
            })
                .find(view),
            std::string::npos);
}

TEST(FoldColumns, AnImageIsHeldAsItIsOrFolded) {
  EXPECT_EQ(portImage({"x", TensorId(0), {}, {2, 3}, {1, 2, 3}, "NHC"}), (Shape{2, 1, 3}));
  const auto isOne = [](const Port& port, const Shape& tensor, bool mayBeFolded = true) {
    return isPortOf(port, tensor, mayBeFolded);
  };
  const Port port = testing::portOf("x", TensorId(0), {4, 5, 3});
  EXPECT_TRUE(isOne(port, {4, 5, 3}));
  EXPECT_TRUE(isOne(port, {4, 5, 3}, false));
  EXPECT_TRUE(isOne(port, {4, 3, 6}));
  EXPECT_FALSE(isOne(port, {4, 3, 6}, false));
  for (const Shape& other : {Shape{4, 2, 6}, Shape{4, 3, 7}, Shape{2, 3, 6}, Shape{4, 5, 0}})
    EXPECT_FALSE(isOne(port, other));
  const auto changed = [&](auto&& change) {
    Port other = port;
    change(other);
    return isOne(other, {4, 5, 3});
  };
  EXPECT_FALSE(changed([](Port& p) { p.axes = "NCH"; }));
  EXPECT_FALSE(changed([](Port& p) { p.axes = "NCHC"; }));
  EXPECT_FALSE(changed([](Port& p) { p.axes = "NCHZ"; }));
  EXPECT_FALSE(changed([](Port& p) { p.view[0] = p.shape[0] = 2; }));
  EXPECT_FALSE(changed([](Port& p) { p.view[1] = p.shape[1] = 0; }));
  EXPECT_FALSE(changed([](Port& p) { p.view[1] = INT64_MAX; }));
  EXPECT_FALSE(changed([](Port& p) { p.shape = {1, 3, 4, 6}; }));
  EXPECT_FALSE(changed([](Port& p) { p.shape[2] = INT64_MIN; }));
  EXPECT_TRUE(changed([](Port& p) { p.shape = {60}; }));
  const TensorValue two{1, 2, 3, 4, 5, 6};  // two images of 1x3x1
  EXPECT_EQ(asHeld(two, {1, 3, 1}, {2, 2, 2}, 9), (TensorValue{1, 2, 3, 9, 4, 5, 6, 9}));
  EXPECT_EQ(asHeld(two, {1, 3, 1}, {2, 3, 1}, 9), two);
}

}  // namespace
}  // namespace heddle
