// Each operator by hand: the expected numbers follow from the formula beside the case, never from a
// run.
#include "heddle/interp/interpret.h"

#include <gtest/gtest.h>

#include <cmath>

#include "../graphs.h"
#include "heddle/support/check.h"

namespace heddle {
namespace {

CanonicalTensor tensor(const char* name, Shape shape, std::int8_t zeroPoint = 0) {
  return {.name = name, .shape = shape, .zeroPoint = zeroPoint};
}

// The output of a graph of one operator.
TensorValue runOp(OpAttributes attributes, std::vector<CanonicalTensor> operands,
                  const std::vector<TensorValue>& values, CanonicalTensor output) {
  CanonicalGraph graph{.name = "one"};
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    ids.push_back(TensorId(i));
    graph.inputs.push_back(testing::portOf(operands[i].name, TensorId(i), operands[i].shape));
  }
  graph.tensors = std::move(operands);
  graph.tensors.push_back(std::move(output));
  graph.ops.push_back({.name = "op",
                       .inputs = ids,
                       .output = TensorId(graph.tensors.size() - 1),
                       .attributes = std::move(attributes)});
  return interpret(graph, values).back();
}

Conv conv(Window window, std::vector<std::int8_t> weights, std::vector<std::int32_t> bias,
          double scale = 1) {
  const std::size_t channels = bias.size();
  return {.window = window,
          .weights = std::move(weights),
          .weightZero = std::vector<std::int8_t>(channels, 0),
          .bias = std::move(bias),
          .requantize = std::vector<Multiplier>(channels, makeMultiplier(scale)),
          .clamp = {}};
}

TEST(Conv, IsTheDotProductOfWhatLiesAboveTheZeroPoints) {
  Conv op = conv({}, {2, 3, -1, 4}, {5, -6});  // 2 output channels of 2 input channels
  op.weightZero = {1, -1};
  // (7-1)*(2-1) + (-2-1)*(3-1) + 5 = 5,   (7-1)*(-1+1) + (-2-1)*(4+1) - 6 = -21;  plus the output's
  // 10
  EXPECT_EQ(runOp(op, {tensor("x", {1, 1, 2}, 1)}, {{7, -2}}, tensor("y", {1, 1, 2}, 10)),
            (TensorValue{15, -11}));
}

TEST(Conv, TheBorderIsTheZeroPointOfTheInput) {
  // 3x3 of ones over a 2x2 image of 4s with zero 3, pad 1: each output sees all four pixels, each 1
  // above zero.
  const Conv op =
      conv({.kernelY = 3, .kernelX = 3, .padTop = 1, .padLeft = 1}, TensorValue(9, 1), {0});
  EXPECT_EQ(runOp(op, {tensor("x", {2, 2, 1}, 3)}, {{4, 4, 4, 4}}, tensor("y", {2, 2, 1})),
            (TensorValue{4, 4, 4, 4}));
}

TEST(Conv, WeightsLieKernelRowKernelColumnInputChannel) {
  // 2x2 kernel on a 2x2 image of 2 channels, input values 1..8, weights the powers 1, 0, ... one
  // tap at a time.
  for (int tap = 0; tap < 8; ++tap) {
    TensorValue weights(8, 0);
    weights[static_cast<std::size_t>(tap)] = 1;
    EXPECT_EQ(runOp(conv({.kernelY = 2, .kernelX = 2}, weights, {0}), {tensor("x", {2, 2, 2})},
                    {{1, 2, 3, 4, 5, 6, 7, 8}}, tensor("y", {1, 1, 1})),
              TensorValue{static_cast<std::int8_t>(tap + 1)});
  }
}

TEST(Conv, StrideAndDilationPickTheTaps) {
  // Row 0 .. 8, kernel 1x2, dilation 3, stride 2, pad left 1: taps (2x-1) and (2x+2), 0 outside.
  const Conv op = conv({.kernelX = 2, .strideX = 2, .dilationX = 3, .padLeft = 1}, {1, 10}, {0});
  EXPECT_EQ(
      runOp(op, {tensor("x", {1, 9, 1})}, {{0, 1, 2, 3, 4, 5, 6, 7, 8}}, tensor("y", {1, 4, 1})),
      (TensorValue{20, 41, 63, 85}));
}

TEST(Conv, EachChannelHasItsScaleAndTiesGoToEven) {
  Conv op = conv({}, {1, 1, 1}, {0, 0, 0});
  op.requantize = {makeMultiplier(0.5), makeMultiplier(1.5), makeMultiplier(0.25)};
  // 5 / 2 = 2.5 -> 2,  7.5 -> 8,  1.25 -> 1;   -5: -2.5 -> -2, -7.5 -> -8, -1.25 -> -1
  EXPECT_EQ(runOp(op, {tensor("x", {1, 2, 1})}, {{5, -5}}, tensor("y", {1, 2, 3})),
            (TensorValue{2, 8, 1, -2, -8, -1}));
}

TEST(Conv, SaturatesThenClamps) {
  Conv op = conv({}, {100}, {0});
  EXPECT_EQ(runOp(op, {tensor("x", {1, 2, 1})}, {{2, -2}}, tensor("y", {1, 2, 1})),
            (TensorValue{127, -128}));
  op.clamp = {-7, 20};
  EXPECT_EQ(runOp(op, {tensor("x", {1, 2, 1})}, {{2, -2}}, tensor("y", {1, 2, 1})),
            (TensorValue{20, -7}));
}

TEST(Conv, ANegativeSumMayHaveAScaleOfItsOwn) {
  Conv op = conv({}, {1, 1}, {3, -3}, 2);
  op.requantizeNegative = {makeMultiplier(0.5), makeMultiplier(0.25)};
  // -8 + 3 = -5: -2.5 -> -2,  -8 - 3 = -11: -2.75 -> -3;   4 + 3: 14,  4 - 3: 2
  EXPECT_EQ(runOp(op, {tensor("x", {1, 2, 1})}, {{-8, 4}}, tensor("y", {1, 2, 2})),
            (TensorValue{-2, -3, 14, 2}));
}

TEST(Conv, TheSumWrapsAtThirtyTwoBits) {
  // 40000 products of 255 * 255 = 2601000000 = 2^32 - 1693967296; scale 2^-25 makes that -50.48.
  Conv op = conv({}, TensorValue(40000, 127), {0}, std::ldexp(1.0, -25));
  op.weightZero = {-128};
  EXPECT_EQ(runOp(op, {tensor("x", {1, 1, 40000}, -128)}, {TensorValue(40000, 127)},
                  tensor("y", {1, 1, 1})),
            TensorValue{-50});
}

TEST(Conv, BlocksOfPixelsDoNotShowInTheResult) {
  // 71 x 3 pixels are not a multiple of the interpreter's own blocks; y = 2x + 1.
  TensorValue input(71 * 3), expected(71 * 3);
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<std::int8_t>(static_cast<int>(i % 120) - 60);
    expected[i] = saturate(2 * input[i] + 1);
  }
  EXPECT_EQ(runOp(conv({}, {2}, {1}), {tensor("x", {71, 3, 1})}, {input}, tensor("y", {71, 3, 1})),
            expected);
}

TEST(DepthwiseConv, EachChannelSeesOnlyItself) {
  const DepthwiseConv op{.window = {.kernelX = 2},
                         .weights = {1, 10, 2, -3},  // channel 0: 1, 10; channel 1: 2, -3
                         .weightZero = {0, 1},
                         .bias = {1, 2},
                         .requantize = {makeMultiplier(1), makeMultiplier(0.5)},
                         .clamp = {}};
  // pixels (3, 6), (4, 8), zero 2: 1*1 + 2*10 + 1 = 22;  (4*1 + 6*-4 + 2) / 2 = -9;  plus the
  // output's -1
  EXPECT_EQ(runOp(op, {tensor("x", {1, 2, 2}, 2)}, {{3, 6, 4, 8}}, tensor("y", {1, 1, 2}, -1)),
            (TensorValue{21, -10}));
}

TEST(DepthwiseConv, TheBorderIsTheZeroPointOfTheInput) {
  const DepthwiseConv op{.window = {.kernelY = 3, .padTop = 1},
                         .weights = {1, 10, 100},
                         .weightZero = {0},
                         .bias = {0},
                         .requantize = {makeMultiplier(1)},
                         .clamp = {}};
  // 1 and 0 above the zero -5: row 0 sees (-, 1, 0), row 1 sees (1, 0, -)
  EXPECT_EQ(runOp(op, {tensor("x", {2, 1, 1}, -5)}, {{-4, -5}}, tensor("y", {2, 1, 1})),
            (TensorValue{10, 1}));
}

TEST(MaxPool, TheBorderNeverWins) {
  const MaxPool op{{.kernelY = 2, .kernelX = 2, .padTop = 1, .padLeft = 1}};
  EXPECT_EQ(
      runOp(op, {tensor("x", {2, 2, 1}, 5)}, {{-100, -90, -120, -128}}, tensor("y", {2, 2, 1}, 5)),
      (TensorValue{-100, -90, -100, -90}));
}

TEST(MaxPool, KeepsChannelsApart) {
  const MaxPool op{{.kernelX = 2, .strideX = 2}};
  EXPECT_EQ(runOp(op, {tensor("x", {1, 4, 2})}, {{1, 8, 2, 7, 3, 6, 4, 5}}, tensor("y", {1, 2, 2})),
            (TensorValue{2, 8, 4, 6}));
}

TEST(AveragePool, RoundsTheExactRationalHalfToEven) {
  const AveragePool pair{.window = {.kernelX = 2, .strideX = 2}, .rescale = {1, 0}};
  // 1.5 -> 2, 2.5 -> 2, -0.5 -> 0, -1.5 -> -2
  EXPECT_EQ(
      runOp(pair, {tensor("x", {1, 8, 1})}, {{1, 2, 2, 3, 0, -1, -1, -2}}, tensor("y", {1, 4, 1})),
      (TensorValue{2, 2, 0, -2}));
  const AveragePool six{.window = {.kernelX = 6}, .rescale = {1, 0}};
  // 15 / 6 = 2.5 -> 2, where a rounded 1/6 would give 3
  EXPECT_EQ(runOp(six, {tensor("x", {1, 6, 1})}, {{0, 1, 2, 3, 4, 5}}, tensor("y", {1, 1, 1})),
            TensorValue{2});
}

TEST(AveragePool, CountsThePaddingOnlyWhenTold) {
  AveragePool op{.window = {.kernelX = 4, .strideX = 2, .padLeft = 2, .padRight = 1},
                 .countIncludesPad = false,
                 .rescale = {1, 0}};
  // zero 10; windows over 2, 4, 6 above it: (-,-,2,4), (2,4,6,-)
  const TensorValue input{12, 14, 16};
  EXPECT_EQ(runOp(op, {tensor("x", {1, 3, 1}, 10)}, {input}, tensor("y", {1, 2, 1}, 1)),
            (TensorValue{4, 5}));
  op.countIncludesPad = true;  // 6 / 4 = 1.5 -> 2, 12 / 4 = 3
  EXPECT_EQ(runOp(op, {tensor("x", {1, 3, 1}, 10)}, {input}, tensor("y", {1, 2, 1}, 1)),
            (TensorValue{3, 4}));
  op.window.padRight = 0;  // the last tap of the second window is beyond even the padding: 12 / 3
  EXPECT_EQ(runOp(op, {tensor("x", {1, 3, 1}, 10)}, {input}, tensor("y", {1, 2, 1}, 1)),
            (TensorValue{3, 5}));
}

TEST(AveragePool, RescalesBeforeTheOneRounding) {
  const AveragePool op{
      .window = {.kernelX = 2, .strideX = 2}, .rescale = makeMultiplier(2), .clamp = {-2, 127}};
  // 2 * 1.5 = 3, 2 * -2.5 = -5 clamped to -2
  EXPECT_EQ(runOp(op, {tensor("x", {1, 4, 1})}, {{1, 2, -2, -3}}, tensor("y", {1, 2, 1})),
            (TensorValue{3, -2}));
}

TEST(Add, RoundsTheSumOnce) {
  const Add op{.multiplierA = 1, .multiplierB = 1, .shift = 1};
  // (1 + 2) / 2 = 1.5 -> 2, where rounding each half first would give 0 + 1
  EXPECT_EQ(runOp(op, {tensor("a", {1, 2, 1}), tensor("b", {1, 2, 1})}, {{1, 3}, {2, 2}},
                  tensor("y", {1, 2, 1})),
            (TensorValue{2, 2}));
}

TEST(Add, SubtractsWithANegativeMultiplierAndHonoursZeros) {
  const Add op{.multiplierA = 3, .multiplierB = -2, .shift = 0, .clamp = {-20, 100}};
  // 3 * (5-1) - 2 * (4+2) + 7 = 7;  3 * (-9-1) - 2 * (2+2) + 7 = -31 -> -20
  EXPECT_EQ(runOp(op, {tensor("a", {1, 2, 1}, 1), tensor("b", {1, 2, 1}, -2)}, {{5, -9}, {4, 2}},
                  tensor("y", {1, 2, 1}, 7)),
            (TensorValue{7, -20}));
}

TEST(Add, OnePixelMeetsAllOthersOfItsChannels) {
  const Add op{.multiplierA = 1, .multiplierB = -2, .shift = 0};
  EXPECT_EQ(runOp(op, {tensor("a", {2, 1, 2}), tensor("b", {1, 1, 2}, 1)}, {{1, 2, 3, 4}, {3, 0}},
                  tensor("y", {2, 1, 2})),
            (TensorValue{-3, 4, -1, 6}));
}

TEST(Add, SumsInSixtyFourBits) {
  // Both products are 255 * 2^45: their sum passes 2^53 and fits; shifted by 46 it is 255, less
  // 128.
  const Add op{
      .multiplierA = std::int64_t{1} << 45, .multiplierB = std::int64_t{1} << 45, .shift = 46};
  EXPECT_EQ(runOp(op, {tensor("a", {1, 1, 1}, -128), tensor("b", {1, 1, 1}, -128)}, {{127}, {127}},
                  tensor("y", {1, 1, 1}, -128)),
            TensorValue{127});
}

TEST(Mul, RequantizesTheProduct) {
  const Mul op{.requantize = makeMultiplier(0.125), .clamp = {-9, 127}};
  // 4 * 5 / 8 = 2.5 -> 2 plus 1;  -10 * 10 / 8 = -12.5 -> -12 plus 1, clamped to -9
  EXPECT_EQ(runOp(op, {tensor("a", {1, 2, 1}, 1), tensor("b", {1, 2, 1}, -1)}, {{5, -9}, {4, 9}},
                  tensor("y", {1, 2, 1}, 1)),
            (TensorValue{3, -9}));
}

TEST(Mul, OnePixelMeetsAllOthersOfItsChannels) {
  const Mul op{.requantize = makeMultiplier(1)};
  // Two pixels of three channels, by (3 - 1, 1 - 1, 0 - 1).
  EXPECT_EQ(runOp(op, {tensor("a", {1, 2, 3}), tensor("b", {1, 1, 3}, 1)},
                  {{1, 2, 3, 4, 5, 6}, {3, 1, 0}}, tensor("y", {1, 2, 3})),
            (TensorValue{2, 0, -3, 8, 0, -6}));
}

TEST(Mul, BeforeAConvolutionIsRoundedToItsOwnZeroPointAndClamped) {
  Conv op = conv({}, {2, 3}, {5});
  op.fusedMul = {.name = "mul", .mul = {makeMultiplier(0.5), {-20, 12}}, .zero = 4};
  // x - 1 by gate - 2: (5, 3) by (1, -3), halves to even, plus 4: (6, 0). Less 4 by (2, 3), plus 5.
  // (17, -20) by (1, -3), plus 4: (12, 34), both clamped to 12.
  EXPECT_EQ(runOp(op, {tensor("x", {1, 2, 2}, 1), tensor("gate", {1, 1, 2}, 2)},
                  {{6, 4, 18, -19}, {3, -1}}, tensor("y", {1, 2, 1}, 10)),
            (TensorValue{10 + 2 * 2 + 3 * -4 + 5, 10 + 2 * 8 + 3 * 8 + 5}));
}

TEST(Table, LooksUpTheStoredValuePlus128) {
  Table256 negate{}, half{};
  for (int x = -128; x < 128; ++x) {
    negate[static_cast<std::size_t>(x + 128)] = saturate(-x);
    half[static_cast<std::size_t>(x + 128)] = saturate(x / 2);
  }
  EXPECT_EQ(
      runOp(Table{{negate}}, {tensor("x", {1, 2, 2})}, {{-128, 127, 0, 5}}, tensor("y", {1, 2, 2})),
      (TensorValue{127, -127, 0, -5}));
  EXPECT_EQ(runOp(Table{{negate, half}}, {tensor("x", {1, 2, 2})}, {{-128, 127, 0, 5}},
                  tensor("y", {1, 2, 2})),
            (TensorValue{127, 63, 0, 2}));
}

TEST(Assemble, ConcatenatesAndRequantizesAPart) {
  Table256 plusOne{};
  for (int x = -128; x < 128; ++x) plusOne[static_cast<std::size_t>(x + 128)] = saturate(x + 1);
  const AxisMap one{{.count = 1}}, two{{.count = 2}};
  const Assemble op{.parts = {{one, two, {{.to = 0, .count = 1}}, {}},
                              {one, two, {{.to = 1, .count = 2}}, plusOne}}};
  EXPECT_EQ(runOp(op, {tensor("a", {1, 2, 1}), tensor("b", {1, 2, 2})}, {{1, 2}, {10, 20, 30, 40}},
                  tensor("y", {1, 2, 3})),
            (TensorValue{1, 11, 21, 2, 31, 41}));
}

TEST(Assemble, FillsWhatNoPartCovers) {
  // A 1x2 image in the middle of 3x3, border 7: Pad.
  const Assemble op{
      .parts = {{{{.to = 1, .count = 1}}, {{.to = 1, .count = 2}}, {{.count = 1}}, {}}}, .fill = 7};
  EXPECT_EQ(runOp(op, {tensor("x", {1, 2, 1})}, {{1, 2}}, tensor("y", {3, 3, 1})),
            (TensorValue{7, 7, 7, 7, 1, 2, 7, 7, 7}));
}

TEST(Assemble, RepeatsAndStepsAlongEachAxis) {
  // Resize nearest by 2 along X: both runs read the same pixels.
  const Assemble twice{
      .parts = {{{{.count = 1}},
                 {{.to = 0, .toStep = 2, .count = 2}, {.to = 1, .toStep = 2, .count = 2}},
                 {{.count = 1}},
                 {}}}};
  EXPECT_EQ(runOp(twice, {tensor("x", {1, 2, 1})}, {{1, 2}}, tensor("y", {1, 4, 1})),
            (TensorValue{1, 1, 2, 2}));
  // Channel shuffle of 2 groups of 2: 0 2 1 3.
  const Assemble shuffle{.parts = {{{{.count = 1}},
                                    {{.count = 1}},
                                    {{.to = 0, .toStep = 2, .count = 2},
                                     {.to = 1, .toStep = 2, .from = 2, .count = 2}},
                                    {}}}};
  EXPECT_EQ(runOp(shuffle, {tensor("x", {1, 1, 4})}, {{0, 1, 2, 3}}, tensor("y", {1, 1, 4})),
            (TensorValue{0, 2, 1, 3}));
  // Every second column, backwards: Slice with a negative step.
  const Assemble back{
      .parts = {{{{.count = 1}}, {{.from = 4, .fromStep = -2, .count = 3}}, {{.count = 1}}, {}}}};
  EXPECT_EQ(runOp(back, {tensor("x", {1, 5, 1})}, {{0, 1, 2, 3, 4}}, tensor("y", {1, 3, 1})),
            (TensorValue{4, 2, 0}));
}

TEST(Interpret, GivesEveryTensorAndReadsConstants) {
  CanonicalGraph graph{.name = "chain"};
  graph.tensors = {tensor("x", {1, 1, 2}), tensor("c", {1, 1, 2}), tensor("s", {1, 1, 2}),
                   tensor("y", {1, 1, 2})};
  graph.tensors[1].constant = {10, 20};
  graph.inputs = {testing::portOf("x", TensorId(0), graph.tensors[0].shape)};
  const Add add{.multiplierA = 1, .multiplierB = 1};
  graph.ops = {{"sum", "Add", {TensorId(0), TensorId(1)}, TensorId(2), add},
               {"twice", "Add", {TensorId(2), TensorId(2)}, TensorId(3), add}};
  EXPECT_EQ(interpret(graph, std::vector<TensorValue>{{1, 2}}),
            (std::vector<TensorValue>{{1, 2}, {10, 20}, {11, 22}, {22, 44}}));
}

TEST(Interpret, RefusesAnInputOfAnotherSize) {
  EXPECT_THROW(runOp(MaxPool{}, {tensor("x", {1, 1, 2})}, {{1}}, tensor("y", {1, 1, 2})),
               InternalError);
}

}  // namespace
}  // namespace heddle
