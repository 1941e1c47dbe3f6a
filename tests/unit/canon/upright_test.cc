#include "heddle/canon/upright.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/canon/batch.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/planned_values.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::rampsOf;

Window along(bool isRow, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
             std::int64_t before, std::int64_t behind) {
  return isRow ? Window{.kernelX = kernel,
                        .strideX = stride,
                        .dilationX = dilation,
                        .padLeft = before,
                        .padRight = behind}
               : Window{.kernelY = kernel,
                        .strideY = stride,
                        .dilationY = dilation,
                        .padTop = before,
                        .padBottom = behind};
}

Shape ofLength(bool isRow, std::int64_t length, std::int64_t channels) {
  return isRow ? Shape{1, length, channels} : Shape{length, 1, channels};
}

// All kinds of windows and moves, on a row or on a column.
CanonicalGraph onALine(bool isRow) {
  GraphBuilder b("line");
  const TensorId x = b.input("x", ofLength(isRow, 24, 3)),
                 conv = b.conv("conv", x, 8, along(isRow, 3, 2, 1, 2, 1)),
                 wide = b.conv("wide", conv, 8, along(isRow, 3, 1, 1, 1, 1)),
                 pooled = b.maxPool("pooled", wide, along(isRow, 3, 1, 1, 1, 1)),
                 own = b.depthwise("own", pooled, along(isRow, 3, 1, 1, 0, 2)),
                 sum = b.add("sum", own, conv), both = b.concat("both", {sum, pooled});
  const GraphBuilder::Pixels taken{1, 2, 5}, one;
  const TensorId cut = b.slice("cut", both, isRow ? one : taken, isRow ? taken : one);
  const TensorId mean =
      b.op("mean", "AveragePool", {cut}, ofLength(isRow, 2, 16),
           AveragePool{
               .window = along(isRow, 3, 2, 1, 0, 0), .countIncludesPad = true, .rescale = {1, 0}});
  return b.finish(mean);
}

TEST(StandUpright, MakesOfARowTheNetworkOfAColumn) {
  const CanonicalGraph row = onALine(true), column = onALine(false);
  ASSERT_EQ(verify(row), Diagnostics{});
  const auto upright = standUpright(row);
  ASSERT_TRUE(upright);
  EXPECT_EQ(verify(*upright), Diagnostics{});
  EXPECT_EQ(upright->tensors, column.tensors);
  EXPECT_EQ(upright->ops, column.ops);
  for (const Port& port : {upright->inputs[0], upright->outputs[0]}) EXPECT_EQ(port.axes, "NCWH");
  EXPECT_EQ(upright->inputs[0].view, row.inputs[0].view);
  EXPECT_EQ(standUpright(column), nullptr);
}

TEST(StandUpright, KeepsTheValuesOfEachTensor) {
  const CanonicalGraph row = onALine(true);
  const std::vector<TensorValue> inputs = rampsOf(row);
  EXPECT_EQ(interpret(*standUpright(row), inputs), interpret(row, inputs));
}

TEST(StandUpright, HoldsWhatTheRowHolds) {
  const CanonicalGraph row = onALine(true);
  const CanonicalGraph upright = *standUpright(row);
  const std::vector<TensorValue> values =
      interpret(row, std::vector<TensorValue>{TensorValue(24 * 3, 7)});
  EXPECT_EQ(valuesAsPlanned(upright, row, values), values);
  EXPECT_EQ(valuesAsPlanned(withBatch(upright, 2), row, values), values);
}

TEST(StandUpright, LeavesWhatHasSeveralRows) {
  GraphBuilder image("image");
  const TensorId line = image.input("x", {1, 9, 8});
  image.input("y", {2, 9, 8});
  EXPECT_EQ(standUpright(image.finish(line)), nullptr);
  GraphBuilder kernel("kernel");
  EXPECT_EQ(standUpright(kernel.finish(
                kernel.conv("conv", kernel.input("x", {1, 9, 8}), 8, testing::square(3, 1, 1)))),
            nullptr);
}

TEST(StandUpright, LeavesColumnsThatAreReadBackwards) {
  GraphBuilder b("back");
  const TensorId x = b.input("x", {1, 9, 8});
  EXPECT_EQ(standUpright(b.finish(b.slice("slice", x, {}, {8, -1, 9}))), nullptr);
}

}  // namespace
}  // namespace heddle
