// propagate() where it must find something, and where it must not.
#include "heddle/sparsity/propagate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "../graphs.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// Never zero, and each unlike its neighbours.
std::int8_t weightAt(std::size_t i) {
  const int value = static_cast<int>(i * 37 % 120) - 60;
  return static_cast<std::int8_t>(value < 0 ? value : value + 1);
}

// What a sum of `terms` products is divided by, so that it fills a byte.
double stepOf(std::size_t terms) { return 53 * std::sqrt(static_cast<double>(terms)); }

// Every convolution of `graph` with telling weights, a bias of 5 and sums that fill a byte.
CanonicalGraph telling(CanonicalGraph graph) {
  const auto tell = [](auto& conv) {
    for (std::size_t i = 0; i < conv.weights.size(); ++i) conv.weights.own()[i] = weightAt(i);
    conv.bias.assign(conv.bias.size(), 5);
    conv.requantize.assign(conv.bias.size(),
                           makeMultiplier(1 / stepOf(conv.weights.size() / conv.bias.size())));
  };
  for (CanonicalOp& op : graph.ops) {
    if (auto* conv = std::get_if<Conv>(&op.attributes)) tell(*conv);
    if (auto* conv = std::get_if<DepthwiseConv>(&op.attributes)) tell(*conv);
  }
  return graph;
}

Conv& convOf(CanonicalGraph& graph, std::size_t op) {
  return std::get<Conv>(graph.ops[op].attributes);
}

// Output channel `row` computes nothing but its bias.
template <class Convolution>
void zeroRow(Convolution& conv, std::size_t row, std::int32_t bias) {
  const std::size_t length = conv.weights.size() / conv.bias.size();
  std::fill_n(conv.weights.own().begin() + static_cast<std::ptrdiff_t>(row * length), length,
              conv.weightZero[row]);
  conv.bias[row] = bias;
}

std::vector<TensorValue> someInputs(const CanonicalGraph& graph, std::size_t seed) {
  std::vector<TensorValue> inputs;
  for (const Port& port : graph.inputs) {
    TensorValue& value = inputs.emplace_back();
    const std::int64_t elements = graph.tensors[port.tensor.at()].shape.elements();
    for (std::int64_t i = 0; i < elements; ++i)
      value.push_back(static_cast<std::int8_t>(
          ((static_cast<std::size_t>(i) + seed) * 2654435761U >> 13) % 256 - 128));
  }
  return inputs;
}

// What propagate() makes of a graph, its promises checked.
Propagated checked(const CanonicalGraph& graph) {
  Propagated found = propagate(graph);
  EXPECT_EQ(toText(verify(found.graph)), "");
  EXPECT_EQ(found.graph.inputs, graph.inputs);
  EXPECT_EQ(found.graph.outputs, graph.outputs);
  for (std::size_t seed = 1; seed <= 3; ++seed) {
    const std::vector<TensorValue> inputs = someInputs(graph, seed),
                                   before = interpret(graph, inputs),
                                   after = interpret(found.graph, inputs);
    for (const Port& port : graph.outputs) {
      EXPECT_EQ(before[port.tensor.at()], after[port.tensor.at()]) << port.name;
      const std::set<std::int8_t> values(before[port.tensor.at()].begin(),
                                         before[port.tensor.at()].end());
      EXPECT_GT(values.size(), 3U) << "an output that says too little";
    }
  }
  return found;
}

std::int64_t channels(const CanonicalGraph& graph, TensorId tensor) {
  return graph.tensors[tensor.at()].shape.channels;
}

Table relu() {
  Table256 table{};
  for (std::size_t i = 128; i < 256; ++i) table[i] = static_cast<std::int8_t>(i - 128);
  return {{table}};
}

TEST(Propagate, APrunedChannelIsRemovedEndToEnd) {
  GraphBuilder builder("relu");
  const TensorId x = builder.input("x", {9, 9, 8}), a = builder.conv("a", x, 16, square(3, 1, 1)),
                 r = builder.op("relu", "Relu", {a}, {9, 9, 16}, relu());
  CanonicalGraph graph = telling(builder.finish(builder.conv("b", r, 8, square(3, 1, 1))));
  for (std::size_t row = 0; row < 16; row += 2)
    zeroRow(convOf(graph, 0), row, -static_cast<int>(20 * stepOf(72)));
  const Propagated found = checked(graph);
  EXPECT_EQ(channels(found.graph, a), 8);
  EXPECT_EQ(channels(found.graph, r), 8);
  EXPECT_EQ(found.removedChannels(), 16);
  EXPECT_EQ(found.tensors[a.at()].constant[2], -20);
}

TEST(Propagate, AConstantOtherThanTheBorderStaysWhereATapReadsTheBorder) {
  for (const bool border : {false, true}) {
    GraphBuilder builder("border");
    const TensorId x = builder.input("x", {9, 9, 8}), a = builder.conv("a", x, 8, {});
    CanonicalGraph graph =
        telling(builder.finish(builder.conv("b", a, 8, square(3, 1, border ? 1 : 0))));
    zeroRow(convOf(graph, 0), 3, static_cast<int>(11 * stepOf(8)));
    const Propagated found = checked(graph);
    EXPECT_EQ(found.tensors[a.at()].constant[3], 11);
    EXPECT_EQ(found.tensors[a.at()].needed[3], border);
    EXPECT_EQ(channels(found.graph, a), border ? 8 : 7);
    if (border) continue;
    std::int32_t sum = 0;
    for (std::size_t tap = 0; tap < 9; ++tap) sum += weightAt(2 * 72 + tap * 8 + 3) * 11;
    EXPECT_EQ(std::get<Conv>(found.graph.ops[1].attributes).bias[2], 5 + sum);
  }
}

// The taps at the rim of the kernel are zero: none that counts reads the border.
TEST(Propagate, OnlyTapsThatAreNotZeroCountAsOnTheBorder) {
  GraphBuilder builder("rim");
  const TensorId x = builder.input("x", {9, 9, 8}), a = builder.conv("a", x, 8, {});
  CanonicalGraph graph = telling(builder.finish(builder.conv("b", a, 8, square(3, 1, 1))));
  zeroRow(convOf(graph, 0), 3, static_cast<int>(11 * stepOf(8)));
  std::vector<std::int8_t>& weights = convOf(graph, 1).weights.own();
  for (std::size_t i = 3; i < weights.size(); i += 8)
    if (i / 8 % 9 != 4) weights[i] = 0;
  EXPECT_EQ(channels(checked(graph).graph, a), 7);
}

TEST(Propagate, AFoldedBiasWrapsAsTheSumDoes) {
  GraphBuilder builder("wrap");
  const TensorId x = builder.input("x", {5, 5, 8}), a = builder.conv("a", x, 8, {});
  CanonicalGraph graph = telling(builder.finish(builder.conv("b", a, 8, {})));
  zeroRow(convOf(graph, 0), 0, static_cast<int>(100 * stepOf(8)));
  convOf(graph, 1).bias.assign(8, INT32_MAX - 50);
  convOf(graph, 1).requantize.assign(8, makeMultiplier(std::exp2(-25)));
  const Propagated found = propagate(graph);
  const std::vector<TensorValue> inputs = someInputs(graph, 1);
  EXPECT_EQ(interpret(graph, inputs).back(), interpret(found.graph, inputs).back());
  EXPECT_EQ(channels(found.graph, a), 7);
  EXPECT_EQ(std::get<Conv>(found.graph.ops[1].attributes).bias[0],
            static_cast<std::int32_t>(INT32_MAX - 50U + static_cast<unsigned>(weightAt(0) * 100)));
}

// x -> a, x -> b, a + b -> c
struct Join {
  TensorId a, b, sum;
  CanonicalGraph graph;
};
Join join() {
  GraphBuilder builder("join");
  Join made;
  const TensorId x = builder.input("x", {6, 6, 8});
  made.a = builder.conv("a", x, 16, {});
  made.b = builder.conv("b", x, 16, square(3, 1, 1));
  made.sum = builder.add("sum", made.a, made.b);
  made.graph = telling(builder.finish(builder.conv("c", made.sum, 8, square(3, 1, 1))));
  return made;
}

TEST(Propagate, AResidualJoinLosesAChannelOnlyWhereBothSidesAgree) {
  Join one = join();
  for (std::size_t row = 0; row < 8; ++row) zeroRow(convOf(one.graph, 0), row, 0);
  EXPECT_EQ(checked(one.graph).removedChannels(), 0);
  Join both = join();
  for (std::size_t row = 0; row < 8; ++row) {
    zeroRow(convOf(both.graph, 0), row + 2, 0);
    zeroRow(convOf(both.graph, 1), row + 4, 0);
  }
  const Propagated found = checked(both.graph);
  for (const TensorId tensor : {both.a, both.b, both.sum}) {
    EXPECT_EQ(channels(found.graph, tensor), 10);
    for (std::size_t c = 0; c < 16; ++c)
      EXPECT_EQ(found.tensors[tensor.at()].removed[c], c >= 4 && c < 10) << c;
  }
}

TEST(Propagate, WhatNobodyReadsIsNotNeededEither) {
  Join made = join();
  std::vector<std::int8_t>& weights = convOf(made.graph, 3).weights.own();
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (i % 16 >= 8) weights[i] = 0;
  const Propagated found = checked(made.graph);
  for (const TensorId tensor : {made.a, made.b, made.sum}) {
    EXPECT_EQ(channels(found.graph, tensor), 8);
    EXPECT_FALSE(found.tensors[tensor.at()].constant[9]);
    EXPECT_FALSE(found.tensors[tensor.at()].needed[9]);
  }
  EXPECT_EQ(found.weightsZeroed[0], 8 * 8);
  EXPECT_EQ(found.weightsZeroed[1], 8 * 72);
}

TEST(Propagate, PartsOfAConcatStayOnTheirBlocks) {
  GraphBuilder builder("concat");
  const TensorId x = builder.input("x", {6, 6, 8}), a = builder.conv("a", x, 24, {}),
                 b = builder.conv("b", x, 16, {}), both = builder.concat("both", {a, b});
  CanonicalGraph graph = telling(builder.finish(builder.conv("c", both, 8, {})));
  for (std::size_t row = 1; row < 12; ++row) zeroRow(convOf(graph, 0), row, 0);
  for (std::size_t row = 0; row < 5; ++row) zeroRow(convOf(graph, 1), row * 3, 0);
  const Propagated found = checked(graph);
  EXPECT_EQ(channels(found.graph, a), 16);  // and not 13, behind which b would begin
  EXPECT_EQ(channels(found.graph, b), 11);
  EXPECT_EQ(channels(found.graph, both), 27);
  const Assemble& assemble = std::get<Assemble>(found.graph.ops[2].attributes);
  EXPECT_EQ(assemble.parts[0].mapC, (AxisMap{{0, 1, 0, 1, 16}}));
  EXPECT_EQ(assemble.parts[1].mapC, (AxisMap{{16, 1, 0, 1, 11}}));
}

TEST(Propagate, APartOfWhichNothingIsLeftGoes) {
  GraphBuilder builder("swap");
  const Shape shape{6, 6, 16};
  const TensorId x = builder.input("x", {6, 6, 8}), a = builder.conv("a", x, 16, {});
  const AxisMap all{{0, 1, 0, 1, 6}};
  const Assemble swap{{{all, all, {{0, 1, 8, 1, 8}}, {}}, {all, all, {{8, 1, 0, 1, 8}}, {}}}, 0};
  const TensorId swapped = builder.op("swap", "Gather", {a, a}, shape, swap);
  CanonicalGraph graph = telling(builder.finish(builder.conv("c", swapped, 8, {})));
  for (std::size_t row = 0; row < 8; ++row) zeroRow(convOf(graph, 0), row, 0);
  const Propagated found = checked(graph);
  EXPECT_EQ(channels(found.graph, a), 8);
  EXPECT_EQ(channels(found.graph, swapped), 8);
  const Assemble& left = std::get<Assemble>(found.graph.ops[1].attributes);
  ASSERT_EQ(left.parts.size(), 1U);
  EXPECT_EQ(left.parts[0].mapC, (AxisMap{{0, 1, 0, 1, 8}}));
  EXPECT_EQ(found.graph.ops[1].inputs, (std::vector{a}));
}

TEST(Propagate, NoTensorLosesItsLastChannel) {
  GraphBuilder builder("last");
  const TensorId x = builder.input("x", {6, 6, 8}), a = builder.conv("a", x, 8, square(3, 1, 1)),
                 b = builder.conv("b", a, 8, {}), both = builder.concat("both", {b, x});
  CanonicalGraph graph = telling(builder.finish(builder.conv("c", both, 8, {})));
  for (std::size_t row = 0; row < 8; ++row) zeroRow(convOf(graph, 1), row, 0);
  const Propagated found = checked(graph);
  EXPECT_EQ(channels(found.graph, a), 1);
  EXPECT_EQ(channels(found.graph, b), 8);  // so that x stays on its block
  EXPECT_EQ(channels(found.graph, both), 16);
}

// A table of one channel is one for all: of lines there is nothing left to tell apart.
TEST(Propagate, OfLinesForOneChannelATableIsLeft) {
  GraphBuilder builder("lines");
  const TensorId x = builder.input("x", {6, 6, 8}), a = builder.conv("a", x, 8, {});
  Table lines{std::vector<Table256>(8), std::vector<TableLine>(8, {1 << 10, 0, 10, {}})};
  for (Table256& table : lines.tables)
    for (std::size_t i = 0; i < 256; ++i)
      table[i] = static_cast<std::int8_t>(static_cast<int>(i) - 128);
  const TensorId bn = builder.op("bn", "BatchNormalization", {a}, {6, 6, 8}, lines);
  CanonicalGraph graph = telling(builder.finish(builder.conv("c", bn, 8, {})));
  std::vector<std::int8_t>& weights = convOf(graph, 2).weights.own();
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (i % 8 != 3) weights[i] = 0;
  const Propagated found = checked(graph);
  EXPECT_EQ(channels(found.graph, bn), 1);
  const auto& cut = std::get<Table>(found.graph.ops[1].attributes);
  EXPECT_EQ(cut.tables.size(), 1U);
  EXPECT_TRUE(cut.lines.empty());
  EXPECT_EQ(verify(found.graph), Diagnostics{});
}

// b loses one channel of each tensor; each of the weights' blocks that are zero would no longer be
// a block.
TEST(Propagate, BlocksOfZerosAreNotTornForAChannel) {
  for (const bool sparse : {false, true}) {
    GraphBuilder builder("blocks");
    const TensorId x = builder.input("x", {6, 6, 32}), a = builder.conv("a", x, 33, {});
    CanonicalGraph graph = telling(builder.finish(builder.conv("b", a, 32, {})));
    if (sparse) {  // block (i, j) stays where i + j is even
      std::vector<std::int8_t>& weights = convOf(graph, 1).weights.own();
      for (std::size_t i = 0; i < weights.size(); ++i)
        if ((i / 33 / 8 + i % 33 / 8) % 2 != 0) weights[i] = 0;
    }
    zeroRow(convOf(graph, 0), 0, 0);
    const Propagated found = checked(graph);
    EXPECT_EQ(channels(found.graph, a), sparse ? 33 : 32);
    EXPECT_FALSE(found.tensors[a.at()].needed[0]);
  }
}

// A channel of zeros decides a product alone; of two one must stay.
TEST(Propagate, OfTwoFactorsThatAreZeroOneIsNeeded) {
  GraphBuilder builder("product");
  const TensorId x = builder.input("x", {6, 6, 8}), a = builder.conv("a", x, 8, {}),
                 b = builder.conv("b", x, 8, {});
  CanonicalGraph graph = telling(builder.finish(
      builder.op("product", "Mul", {a, b}, {6, 6, 8}, Mul{makeMultiplier(1.0 / 64), {}})));
  for (const std::size_t row : {1, 2}) zeroRow(convOf(graph, 0), row, 0);
  for (const std::size_t row : {2, 3}) zeroRow(convOf(graph, 1), row, 0);
  const Propagated found = checked(graph);
  const auto needs = [&](TensorId tensor, std::size_t c) {
    return static_cast<bool>(found.tensors[tensor.at()].needed[c]);
  };
  EXPECT_TRUE(needs(a, 0) && needs(b, 0));
  EXPECT_TRUE(needs(a, 1) && !needs(b, 1));
  EXPECT_TRUE(needs(a, 2) != needs(b, 2));
  EXPECT_TRUE(!needs(a, 3) && needs(b, 3));
  EXPECT_EQ(found.weightsZeroed[0], 8);
  EXPECT_EQ(found.weightsZeroed[1], 8);
}

TEST(Propagate, ADepthwiseRowOfZerosNeedsNoInput) {
  GraphBuilder builder("depthwise");
  const TensorId x = builder.input("x", {6, 6, 8}), a = builder.conv("a", x, 8, {});
  DepthwiseConv depthwise{.window = square(3, 1, 1),
                          .weights = std::vector<std::int8_t>(8 * 9),
                          .weightZero = std::vector<std::int8_t>(8, 0),
                          .bias = std::vector<std::int32_t>(8, 0),
                          .requantize = std::vector<Multiplier>(8)};
  CanonicalGraph graph =
      telling(builder.finish(builder.op("d", "Conv", {a}, {6, 6, 8}, std::move(depthwise))));
  zeroRow(std::get<DepthwiseConv>(graph.ops[1].attributes), 6, 100);
  const Propagated found = checked(graph);
  EXPECT_FALSE(found.tensors[a.at()].needed[6]);
  EXPECT_TRUE(found.tensors[a.at()].needed[5]);
  EXPECT_EQ(found.weightsZeroed[0], 8);
  EXPECT_EQ(found.removedChannels(), 0);  // the channel that it fills is an output
}

// Only what a frame of fives puts around channels is needed, and these have another reader.
TEST(Propagate, AnAssembleKeepsAnOperand) {
  GraphBuilder builder("frame");
  const TensorId x = builder.input("x", {6, 6, 8}), a = builder.conv("a", x, 16, {});
  const AxisMap side{{0, 1, 0, 1, 6}};
  const Assemble frame{{{side, side, {{0, 1, 0, 1, 8}}, {}}}, 5};
  const TensorId framed = builder.op("frame", "Pad", {a}, {6, 6, 16}, frame),
                 b = builder.conv("b", framed, 8, square(3, 1, 1)), c = builder.conv("c", a, 8, {});
  CanonicalGraph graph = telling(builder.finish(builder.add("sum", b, c)));
  for (const std::size_t op : {2, 3}) {
    std::vector<std::int8_t>& weights = convOf(graph, op).weights.own();
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (i % 16 < 8) weights[i] = 0;
  }
  const Propagated found = checked(graph);
  EXPECT_FALSE(found.tensors[a.at()].needed[0]);
  EXPECT_EQ(std::get<Assemble>(found.graph.ops[1].attributes).parts.size(), 1U);
}

TEST(Propagate, PortsStayAsTheyAre) {
  GraphBuilder builder("ports");
  const TensorId x = builder.input("x", {6, 6, 16}), a = builder.conv("a", x, 16, {});
  CanonicalGraph graph = telling(builder.finish(a));
  zeroRow(convOf(graph, 0), 4, 640);
  for (std::size_t i = 0; i < convOf(graph, 0).weights.size(); i += 2)
    convOf(graph, 0).weights.own()[i] = 0;
  const Propagated found = checked(graph);
  EXPECT_TRUE(found.tensors[a.at()].constant[4]);
  EXPECT_FALSE(found.tensors[x.at()].needed[4]);
  EXPECT_FALSE(found.changed());
}

TEST(Propagate, ANetworkOfTooManyChannelsIsLeftAlone) {
  for (const std::int64_t more : {0, 1}) {
    const Shape shape{1, 1, kMostPropagatedChannels / 2 + more};
    GraphBuilder builder("wide");
    const TensorId x = builder.input("x", shape);
    const CanonicalGraph graph =
        builder.finish(builder.op("t", "Table", {x}, shape, Table{{Table256{}}}));
    const Propagated found = propagate(graph);
    EXPECT_EQ(found.graph, graph);
    EXPECT_EQ(found.constantChannels(), more ? 0 : shape.channels);
    EXPECT_EQ(nothingFollows(graph), more == 1);
  }
}

TEST(Propagate, WhatIsToldByChannelIsCut) {
  GraphBuilder builder("told");
  const Shape shape{6, 6, 12};
  const TensorId x = builder.input("x", {6, 6, 8}), a = builder.conv("a", x, 12, {});
  DepthwiseConv depthwise{.window = square(3, 1, 1),
                          .weights = std::vector<std::int8_t>(12 * 9, 1),
                          .weightZero = std::vector<std::int8_t>(12, 0),
                          .bias = std::vector<std::int32_t>(12, 0),
                          .requantize = std::vector<Multiplier>(12, makeMultiplier(0.1)),
                          .requantizeNegative = std::vector<Multiplier>(12, makeMultiplier(0.02))};
  const TensorId d = builder.op("d", "Conv", {a}, shape, depthwise);
  Table table{std::vector<Table256>(12, relu().tables[0])};
  for (std::size_t c = 0; c < 12; ++c) table.tables[c][200] = static_cast<std::int8_t>(c);
  const TensorId t = builder.op("t", "PRelu", {d}, shape, table);
  const TensorId given = builder.op("given", "", {}, shape, relu());
  const TensorId sum = builder.add("sum", t, given);
  CanonicalGraph graph = telling(builder.finish(builder.conv("c", sum, 8, {})));
  graph.ops.erase(graph.ops.begin() + 3);
  std::vector<std::int8_t>& constant = graph.tensors[given.at()].constant;
  for (std::size_t i = 0; i < 6 * 6 * 12; ++i) constant.push_back(weightAt(i));
  std::vector<std::int8_t>& weights = convOf(graph, 4).weights.own();
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (i % 12 == 2 || i % 12 == 7) weights[i] = 0;
  const Propagated found = checked(graph);
  EXPECT_EQ(found.removedChannels(), 5 * 2);
  const auto& cut = std::get<Table>(found.graph.ops[2].attributes);
  ASSERT_EQ(cut.tables.size(), 10U);
  EXPECT_EQ(cut.tables[2][200], 3);
  EXPECT_EQ(std::get<DepthwiseConv>(found.graph.ops[1].attributes).requantizeNegative.size(), 10U);
  EXPECT_EQ(found.graph.tensors[given.at()].constant.size(), 6 * 6 * 10U);
}

}  // namespace
}  // namespace heddle
