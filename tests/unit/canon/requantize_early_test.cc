#include "heddle/canon/requantize_early.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../graphs.h"
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

Table256 anyTable(int seed) {
  Table256 table;
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] =
        static_cast<std::int8_t>((static_cast<int>(i) * (2 * seed + 3) + 5 * seed) % 199 - 99);
  return table;
}

template <class Graph>
auto& concatOf(Graph& graph) {
  const auto isConcat = [](const CanonicalOp& op) { return op.name == "concat"; };
  return std::get<Assemble>(std::ranges::find_if(graph.ops, isConcat)->attributes);
}

// Each operand of 'concat' requantized, but for those that keep the scale.
void requantize(CanonicalGraph& graph, const std::vector<std::size_t>& kept = {}) {
  Assemble& concat = concatOf(graph);
  for (std::size_t i = 0; i < concat.parts.size(); ++i)
    if (std::ranges::find(kept, i) == kept.end())
      concat.parts[i].table = anyTable(static_cast<int>(i));
}

// Every pixel twice, along both axes.
TensorId resize(GraphBuilder& b, const std::string& name, TensorId from) {
  const Shape in = b.shapeOf(from);
  const auto twice = [](std::int64_t extent) {
    return AxisMap{{.toStep = 2, .count = extent}, {.to = 1, .toStep = 2, .count = extent}};
  };
  Assemble assemble;
  assemble.parts.push_back(
      {twice(in.height), twice(in.width), {{.count = in.channels}}, std::nullopt});
  return b.op(name, "Resize", {from}, {2 * in.height, 2 * in.width, in.channels}, assemble);
}

std::int64_t tablesLeft(const CanonicalGraph& graph) {
  return std::ranges::count_if(concatOf(graph).parts,
                               [](const AssemblePart& p) { return p.table.has_value(); });
}

std::vector<std::string> opsOf(const CanonicalGraph& graph) {
  std::vector<std::string> types;
  for (const CanonicalOp& op : graph.ops) types.push_back(op.onnxOp);
  return types;
}

void expectSameOutputs(const CanonicalGraph& graph, const CanonicalGraph& other) {
  EXPECT_EQ(verify(other), Diagnostics{});
  const std::vector<TensorValue> inputs = rampsOf(graph);
  const std::vector<TensorValue> before = interpret(graph, inputs),
                                 after = interpret(other, inputs);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    EXPECT_EQ(before[graph.outputs[i].tensor.at()], after[other.outputs[i].tensor.at()]);
}

TEST(RequantizeEarly, WhatConvolutionsWriteForAConcatGoesToTheirEnds) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 8}), conv = b.conv("conv", x, 16, square(1));
  CanonicalGraph graph =
      b.finish(b.concat("concat", {conv, b.depthwise("depthwise", x, square(3, 1, 1))}));
  requantize(graph);
  graph.tensors.back().scale = 0.5;
  const auto early = requantizeEarly(graph);
  ASSERT_TRUE(early);
  EXPECT_EQ(tablesLeft(*early), 0);
  EXPECT_EQ(opsOf(*early), (std::vector<std::string>{"Conv", "Conv", "QuantizeLinear",
                                                     "QuantizeLinear", "Concat"}));
  EXPECT_EQ(early->ops[2].name, "concat_requantize");
  EXPECT_EQ(early->ops[3].name, "concat_requantize_2");
  EXPECT_EQ(early->tensors[early->ops[2].output.at()].name, "conv_out_requantized");
  EXPECT_EQ(early->tensors[early->ops[2].output.at()].scale, 0.5);
  expectSameOutputs(graph, *early);
  const auto fused = fuseOperators(*early);
  ASSERT_TRUE(fused);
  EXPECT_EQ(opsOf(*fused),
            (std::vector<std::string>{"Conv + QuantizeLinear", "Conv + QuantizeLinear", "Concat"}));
  EXPECT_FALSE(requantizeEarly(*early));
}

TEST(RequantizeEarly, TablesAndResizesLookUpBoth) {
  for (const bool looksUp : {false, true}) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {8, 8, 8}), half = b.input("half", {4, 4, 16});
    CanonicalGraph graph =
        b.finish(b.concat("concat", {b.table("table", x), resize(b, "resize", half)}));
    requantize(graph);
    Assemble& resized = std::get<Assemble>(graph.ops[1].attributes);
    if (looksUp) resized.parts[0].table = anyTable(7);
    resized.fill = 9;
    const auto early = requantizeEarly(graph);
    ASSERT_TRUE(early);
    EXPECT_EQ(tablesLeft(*early), 0);
    EXPECT_EQ(opsOf(*early), (std::vector<std::string>{"Table", "Resize", "Concat"}));
    EXPECT_EQ(early->tensors.size(), graph.tensors.size());
    EXPECT_EQ(std::get<Assemble>(early->ops[1].attributes).fill, anyTable(1)[9 + 128]);
    expectSameOutputs(graph, *early);
  }
}

// One that others read, too, and one that a pool writes.
TEST(RequantizeEarly, OneOtherOperandIsCopied) {
  for (const bool pools : {false, true}) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {32, 32, 8}), first = b.conv("first", x, 8, square(1)),
                   other = pools ? b.maxPool("pool", first, square(3, 1, 1)) : first;
    const TensorId all = b.concat("concat", {b.conv("conv", first, 16, square(1)), other});
    CanonicalGraph graph = b.finish(b.conv("behind", all, 8, square(1)));
    requantize(graph);
    const auto early = requantizeEarly(graph);
    ASSERT_TRUE(early);
    EXPECT_EQ(tablesLeft(*early), 0);
    expectSameOutputs(graph, *early);
    const auto fused = fuseOperators(*early);
    EXPECT_EQ(opsOf(fused ? *fused : *early),
              pools ? (std::vector<std::string>{"Conv", "MaxPool", "Conv + QuantizeLinear",
                                                "QuantizeLinear", "Concat", "Conv"})
                    : (std::vector<std::string>{"Conv", "Conv + QuantizeLinear", "QuantizeLinear",
                                                "Concat", "Conv"}));
  }
}

// Three layers for one are too many where little is saved.
TEST(RequantizeEarly, ManyOthersAskForMuchThatIsNotCopied) {
  for (const std::int64_t side : {16, 32}) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {side, side, 16});
    std::vector<TensorId> operands{b.conv("conv", x, 32, square(1))};
    for (const char* name : {"a", "b", "c"})
      operands.push_back(b.maxPool(name, x, square(3, 1, 1)));
    CanonicalGraph graph = b.finish(b.conv("behind", b.concat("concat", operands), 8, square(1)));
    requantize(graph);
    const auto early = requantizeEarly(graph);
    EXPECT_EQ(early != nullptr, side == 32) << side;  // 32 KiB beside three that are copied
    if (early) expectSameOutputs(graph, *early);
  }
}

TEST(RequantizeEarly, WhatKeepsItsScaleLiesThereAlone) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 8}), a = b.conv("a", x, 8, square(1)),
                 c = b.conv("c", x, 8, square(1)), both = b.concat("both", {a, c});
  CanonicalGraph graph = b.finish(b.concat("concat", {b.conv("d", both, 8, square(1)), c}));
  requantize(graph, {1});
  EXPECT_FALSE(requantizeEarly(graph));  // c has a place in 'both' already
  GraphBuilder alone("alone");
  const TensorId y = alone.input("y", {8, 8, 8}), e = alone.conv("e", y, 8, square(1));
  CanonicalGraph other =
      alone.finish(alone.concat("concat", {alone.conv("f", y, 8, square(1)), e}));
  requantize(other, {1});
  const auto early = requantizeEarly(other);
  ASSERT_TRUE(early);
  expectSameOutputs(other, *early);
}

// The host's Concat goes to DDR as its operands are computed, but for one that others read.
TEST(RequantizeEarly, AnOutputAsksForOperandsOfItsOwn) {
  for (const bool isReadElsewhere : {false, true}) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {32, 32, 8}), a = b.conv("a", x, 8, square(1)),
                   c = b.conv("c", isReadElsewhere ? a : x, 8, square(1));
    CanonicalGraph graph = b.finish(b.concat("concat", {a, c}));
    requantize(graph);
    EXPECT_EQ(requantizeEarly(graph) == nullptr, isReadElsewhere);
  }
}

// Of any of the Concat's operands requantized, with siblings before it joined or not: each tensor
// holds what was to be expected of the network as it is, joined Concats and their parts included.
TEST(RequantizeEarly, OperandsHoldWhatTheConcatHoldsOfThem) {
  for (std::size_t which = 0; which < 8; ++which) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {8, 8, 8}), a = b.conv("a", x, 8, square(1)),
                   sibling = b.conv("sibling", x, 8, square(1)),
                   c = b.conv("c", x, 16, square(3, 1, 1)),
                   d = b.conv("d", b.maxPool("pool", x, square(3, 1, 1)), 8, square(1));
    const TensorId all = b.concat("concat", {a, c, d});
    CanonicalGraph graph = b.finish(
        b.add("sum", b.conv("behind", all, 8, square(1)), b.conv("beside", sibling, 8, square(1))));
    std::int64_t n = 0;
    for (CanonicalOp& op : graph.ops)
      if (Conv* conv = std::get_if<Conv>(&op.attributes))
        for (std::int8_t& weight : conv->weights.own())
          weight = static_cast<std::int8_t>(n++ * 11 % 17 - 8);
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < 3; ++i)
      if ((which >> i & 1) == 0) kept.push_back(i);
    requantize(graph, kept);
    const std::vector<TensorValue> inputs = rampsOf(graph), values = interpret(graph, inputs);
    for (const auto& planned : {fuseOperators(graph), fuseAndJoin(graph)}) {
      ASSERT_TRUE(planned);
      EXPECT_EQ(verify(*planned), Diagnostics{});
      EXPECT_EQ(interpret(*planned, inputs), valuesAsPlanned(*planned, graph, values)) << which;
    }
  }
}

TEST(RequantizeEarly, LeavesAConcatThatIsCopiedAnyway) {
  const auto concat = [](const Shape& input, std::int64_t first, bool twice) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", input), a = b.conv("a", x, first, square(1));
    CanonicalGraph graph =
        b.finish(b.concat("concat", {a, twice ? a : b.conv("c", x, 12, square(1))}));
    requantize(graph);
    return requantizeEarly(graph);
  };
  GraphBuilder single("single");  // of one operand: a Table by another name
  CanonicalGraph alone = single.finish(
      single.concat("concat", {single.conv("conv", single.input("x", {8, 8, 8}), 8, square(1))}));
  requantize(alone);
  EXPECT_FALSE(requantizeEarly(alone));
  EXPECT_TRUE(concat({8, 4, 8}, 8, false));    // 12 channels behind a whole block
  EXPECT_FALSE(concat({31, 1, 8}, 8, false));  // fewer pixels
  EXPECT_FALSE(concat({8, 4, 8}, 4, false));   // half a block
  EXPECT_FALSE(concat({8, 4, 8}, 8, true));    // one tensor has one place
}

}  // namespace
}  // namespace heddle
