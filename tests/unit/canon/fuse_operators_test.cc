#include "heddle/canon/fuse_operators.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../graphs.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/planned_values.h"
#include "heddle/canon/print.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::rampsOf;
using testing::square;

// Every tensor that stays, but for those that only cores see, has the values that it had.
void expectSameValues(const CanonicalGraph& graph, const CanonicalGraph& fused) {
  EXPECT_EQ(verify(fused), Diagnostics{});
  const std::vector<TensorValue> inputs = rampsOf(graph);
  const std::vector<TensorValue> before = interpret(graph, inputs),
                                 after = interpret(fused, inputs);
  const std::vector<TensorValue> expected = valuesAsPlanned(fused, graph, before);
  const auto staysInCores = [&](std::size_t t) {
    return std::ranges::any_of(fused.ops, [&](const CanonicalOp& op) {
      return fusedWindowOf(op) && fusedWindowOf(op)->before.at() == t;
    });
  };
  for (std::size_t t = 0; t < after.size(); ++t)
    EXPECT_EQ(after[t], staysInCores(t) ? TensorValue() : expected[t]) << fused.tensors[t].name;
}

// A convolution of its own numbers, so that order and zero points count.
void colour(CanonicalGraph& graph) {
  std::int8_t zero = 3;
  for (CanonicalTensor& tensor : graph.tensors)
    tensor.zeroPoint = zero = static_cast<std::int8_t>(-zero - 4);
  for (CanonicalOp& op : graph.ops) {
    if (Mul* mul = std::get_if<Mul>(&op.attributes)) *mul = {{1 << 30, 36}, {-90, 100}};
    if (Add* add = std::get_if<Add>(&op.attributes)) *add = {900'000, -300'000, 20, {-100, 90}};
    if (DepthwiseConv* depthwise = std::get_if<DepthwiseConv>(&op.attributes))
      for (std::size_t i = 0; i < depthwise->weights.size(); ++i)
        depthwise->weights.own()[i] = static_cast<std::int8_t>(i * 13 % 19 - 9);
    if (Table* table = std::get_if<Table>(&op.attributes))
      for (std::size_t i = 0; i < 256; ++i)
        table->tables[0][i] = static_cast<std::int8_t>(i * 7 % 101 + op.output.at());
    Conv* conv = std::get_if<Conv>(&op.attributes);
    if (!conv) continue;
    for (std::size_t i = 0; i < conv->weights.size(); ++i)
      conv->weights.own()[i] = static_cast<std::int8_t>(i * 11 % 17 - 8);
    conv->clamp = {-60, 110};
  }
}

TEST(FuseOperators, PutsAResidualAtTheEndOfTheConvolutionBeforeIt) {
  for (const bool second : {false, true}) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {5, 6, 8}), c = b.conv("conv", x, 8, square(3, 1, 1));
    CanonicalGraph graph = b.finish(second ? b.add("sum", x, c) : b.add("sum", c, x));
    colour(graph);
    const auto fused = fuseOperators(graph);
    ASSERT_TRUE(fused);
    ASSERT_EQ(fused->ops.size(), 1u);
    EXPECT_EQ(fused->ops[0].name, "conv");
    EXPECT_EQ(fused->ops[0].onnxOp, "Conv + Add");
    EXPECT_TRUE(isAddend(fused->ops[0], 1));
    EXPECT_FALSE(isAddend(fused->ops[0], 0));
    EXPECT_EQ(fusedAddOf(fused->ops[0])->add.multiplierA, second ? -300'000 : 900'000);
    EXPECT_EQ(fusedAddOf(fused->ops[0])->zero, graph.tensors[c.at()].zeroPoint);
    EXPECT_NE(print(*fused).find("then add 'sum' times"), std::string::npos);
    expectSameValues(graph, *fused);
  }
}

// One pixel that meets all others is added at the end of what computes those, not of what computes
// it.
TEST(FuseOperators, AddsOnePixelWhereAllOthersAreComputed) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {5, 6, 8}), pixel = b.input("pixel", {1, 1, 8}),
                 conv = b.conv("conv", x, 8, square(1));
  CanonicalGraph graph = b.finish(b.add("sum", conv, b.conv("gate", pixel, 8, square(1))));
  colour(graph);
  ASSERT_EQ(verify(graph), Diagnostics{});
  const auto fused = fuseOperators(graph);
  ASSERT_TRUE(fused);
  ASSERT_EQ(fused->ops.size(), 2u);
  EXPECT_EQ(fused->ops[0].name, "gate");
  EXPECT_EQ(fused->ops[1].name, "conv");
  EXPECT_TRUE(isAddend(fused->ops[1], 1));
  EXPECT_TRUE(isBroadcast(*fused, fused->ops[1], 1));
  expectSameValues(graph, *fused);
}

TEST(FuseOperators, TakesTheLaterOfTwoConvolutionsAndMovesItToTheSum) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {4, 4, 8}), first = b.conv("first", x, 16, square(1)),
                 later = b.conv("later", x, 16, square(3, 1, 1)),
                 between = b.maxPool("between", first, square(1));
  CanonicalGraph graph = b.finish(b.add("sum", between, b.conv("last", later, 16, square(1))));
  colour(graph);
  graph.tensors[between.at()].zeroPoint = graph.tensors[first.at()].zeroPoint;
  const auto fused = fuseOperators(graph);
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused->ops.back().name, "last");
  expectSameValues(graph, *fused);

  GraphBuilder two("two");
  const TensorId in = two.input("x", {4, 4, 8}), a = two.conv("a", in, 8, square(1)),
                 c = two.conv("c", in, 8, square(3, 1, 1)),
                 pooled = two.maxPool("pooled", in, square(1));
  CanonicalGraph joined = two.finish(two.add("outer", pooled, two.add("sum", c, a)));
  colour(joined);
  joined.tensors[pooled.at()].zeroPoint = joined.tensors[in.at()].zeroPoint;
  const auto both = fuseOperators(joined);
  ASSERT_TRUE(both);
  std::vector<std::string> names;
  for (const CanonicalOp& op : both->ops) names.push_back(op.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "pooled", "c", "outer"}));
  expectSameValues(joined, *both);
}

TEST(FuseOperators, LeavesWhatOthersReadToo) {
  GraphBuilder read("read");
  const TensorId x = read.input("x", {4, 4, 8}), c = read.conv("conv", x, 8, square(1)),
                 sum = read.add("sum", c, x);
  EXPECT_FALSE(fuseOperators(read.finish(read.add("again", sum, c))));

  GraphBuilder doubled("doubled");
  const TensorId y = doubled.conv("conv", doubled.input("x", {4, 4, 8}), 8, square(1));
  EXPECT_FALSE(fuseOperators(doubled.finish(doubled.add("sum", y, y))));

  GraphBuilder given("given");
  const TensorId in = given.input("x", {4, 4, 8}), out = given.conv("conv", in, 8, square(1)),
                 last = given.add("sum", out, in);
  static_cast<void>(last);
  EXPECT_FALSE(fuseOperators(given.finish(out)));  // the host reads it
}

TEST(FuseOperators, PutsATableAtTheEndOfTheConvolutionBeforeItAndThenTheRest) {
  const auto check = [](CanonicalGraph graph, const std::string& onnxOp, const std::string& end) {
    colour(graph);
    const auto fused = fuseOperators(graph);
    ASSERT_TRUE(fused);
    ASSERT_EQ(fused->ops.size(), 1u);
    const CanonicalOp& op = fused->ops[0];
    EXPECT_EQ(op.name, "conv");
    EXPECT_EQ(op.onnxOp, onnxOp);
    EXPECT_EQ(nameAtEnd(op), end);
    ASSERT_TRUE(fusedTableOf(op));
    EXPECT_EQ(tablesOf(op).at(0), "table");
    EXPECT_EQ(fusedTableOf(op)->zero, graph.tensors[graph.ops[0].output.at()].zeroPoint);
    EXPECT_NE(print(*fused).find("then table 'table'"), std::string::npos);
    expectSameValues(graph, *fused);
  };
  const auto conv = [](GraphBuilder& b, bool depthwise) {
    const TensorId x = b.input("x", {12, 12, 8});
    const TensorId y =
        depthwise ? b.depthwise("conv", x, square(3, 1, 1)) : b.conv("conv", x, 8, square(3, 1, 1));
    return std::pair(x, b.table("table", y));
  };
  for (const bool depthwise : {false, true}) {
    GraphBuilder b("alone");
    check(b.finish(conv(b, depthwise).second), "Conv + Table", "");
  }
  GraphBuilder sum("sum");
  const auto [x, y] = conv(sum, false);
  check(sum.finish(sum.add("sum", x, y)), "Conv + Table + Add", "sum");
  GraphBuilder deep("deep");
  const TensorId inner = deep.depthwise("deep", conv(deep, false).second, square(3, 2, 1));
  CanonicalGraph graph = deep.finish(deep.table("behind", inner));
  check(graph, "Conv + Table + depth-wise Conv + Table", "deep");
  const auto fused = fuseOperators(graph);
  EXPECT_EQ(tablesOf(fused->ops[0]), (std::vector<std::string>{"table", "behind"}));
  EXPECT_EQ(operandsAtEnd(fused->ops[0]), 1);
}

// Of an input, a pool, a convolution that others read too, and tables for each channel.
TEST(FuseOperators, LeavesTablesThatNoConvolutionCanLookUp) {
  GraphBuilder read("read");
  const TensorId x = read.input("x", {6, 6, 8}), c = read.conv("conv", x, 8, square(1));
  EXPECT_FALSE(fuseOperators(read.finish(read.concat("both", {read.table("table", c), c}))));

  GraphBuilder twice("twice");
  const TensorId first =
      twice.table("first", twice.conv("conv", twice.input("x", {6, 6, 8}), 8, square(1)));
  const auto fused = fuseOperators(twice.finish(twice.table("second", first)));
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused->ops.size(), 2u);

  GraphBuilder each("each");
  const TensorId in = each.conv("conv", each.input("x", {6, 6, 8}), 8, square(1));
  CanonicalGraph graph = each.finish(each.table("table", in));
  std::vector<Table256>& tables = std::get<Table>(graph.ops[1].attributes).tables;
  tables.resize(8, tables[0]);
  EXPECT_FALSE(fuseOperators(graph));

  GraphBuilder pool("pool");
  const TensorId pooled = pool.maxPool("pool", pool.input("x", {6, 6, 8}), square(2, 2));
  EXPECT_FALSE(fuseOperators(pool.finish(pool.table("table", pooled))));

  // Behind a pool that a convolution makes, or a sum.
  for (const bool adds : {false, true}) {
    GraphBuilder behind("behind");
    const TensorId y = behind.input("x", {6, 6, 8}), d = behind.conv("conv", y, 8, square(1)),
                   end = adds ? behind.add("sum", d, y) : behind.maxPool("pool", d, square(2, 2));
    const auto once = fuseOperators(behind.finish(behind.table("table", end)));
    ASSERT_TRUE(once);
    EXPECT_EQ(once->ops.size(), 2u);
    EXPECT_FALSE(fuseOperators(*once));
  }
}

// Where a record computes little beside it, its table is more than it spares.
TEST(FuseOperators, LeavesTheTablesOfFewPixelsAndFewWeights) {
  const auto fuses = [](const Shape& image) {
    GraphBuilder b("net");
    const auto fused = fuseOperators(
        b.finish(b.table("table", b.conv("conv", b.input("x", image), 16, square(1)))));
    return fused && fused->ops.size() == 1;
  };
  EXPECT_TRUE(fuses({4, 8, 8}));
  EXPECT_FALSE(fuses({1, 31, 504}));
  EXPECT_TRUE(fuses({1, 31, 512}));
}

TEST(FuseOperators, PutsAPoolAtTheEndOfTheConvolutionBeforeIt) {
  for (const Window& window : {square(2, 2), square(3, 2, 1), square(2, 3), square(2)}) {
    GraphBuilder b("net");
    const TensorId c = b.conv("conv", b.input("x", {9, 7, 8}), 16, square(3, 2, 1));
    CanonicalGraph graph = b.finish(b.maxPool("pool", c, window));
    colour(graph);
    graph.tensors.back().zeroPoint = graph.tensors[c.at()].zeroPoint;
    const auto fused = fuseOperators(graph);
    ASSERT_TRUE(fused);
    ASSERT_EQ(fused->ops.size(), 1u);
    EXPECT_EQ(fused->ops[0].name, "conv");
    EXPECT_EQ(fused->ops[0].onnxOp, "Conv + MaxPool");
    EXPECT_EQ(fusedWindowOf(fused->ops[0])->window(), window);
    EXPECT_EQ(fused->tensors[computedTensor(fused->ops[0]).at()].name, "conv_out");
    EXPECT_NE(print(*fused).find("' of %1"), std::string::npos);
    expectSameValues(graph, *fused);
  }
}

TEST(FuseOperators, PutsADepthwiseConvolutionAtTheEndOfTheConvolutionBeforeIt) {
  for (const Window& window : {square(3, 1, 1), square(3, 2, 1), square(5, 1, 2), square(1)}) {
    GraphBuilder b("net");
    const TensorId c = b.conv("conv", b.input("x", {9, 7, 8}), 16, square(3, 1, 1));
    CanonicalGraph graph = b.finish(b.depthwise("depthwise", c, window));
    colour(graph);
    const auto fused = fuseOperators(graph);
    ASSERT_TRUE(fused);
    ASSERT_EQ(fused->ops.size(), 1u);
    EXPECT_EQ(fused->ops[0].name, "conv");
    EXPECT_EQ(fused->ops[0].onnxOp, "Conv + depth-wise Conv");
    EXPECT_EQ(*fusedWindowOf(fused->ops[0])->depthwise(),
              std::get<DepthwiseConv>(graph.ops[1].attributes));
    EXPECT_NE(print(*fused).find("' of %1"), std::string::npos);
    expectSameValues(graph, *fused);

    EXPECT_EQ(optionallyApart(*fused), std::set<std::string>{"depthwise"});
    EXPECT_EQ(depthwiseAtEnds(*fused), optionallyApart(*fused));
    EXPECT_FALSE(fuseOperators(graph, optionallyApart(*fused)));
    CanonicalGraph wrong = *fused;
    std::get<DepthwiseConv>(std::get<Conv>(wrong.ops[0].attributes).fusedWindow->op)
        .weights.own()
        .pop_back();
    EXPECT_FALSE(verify(wrong).empty());
  }
}

TEST(FuseOperators, LeavesDepthwiseConvolutionsThatNoConvolutionCanMake) {
  Window dilated = square(3, 1, 1);
  dilated.dilationX = 2;
  for (const Window& window : {dilated, square(7, 1, 3)}) {
    GraphBuilder b("net");
    const TensorId c = b.conv("conv", b.input("x", {9, 9, 8}), 8, square(1));
    EXPECT_FALSE(fuseOperators(b.finish(b.depthwise("depthwise", c, window))));
  }
  GraphBuilder read("read");
  const TensorId c = read.conv("conv", read.input("x", {4, 4, 8}), 8, square(1)),
                 own = read.depthwise("depthwise", c, square(3, 1, 1));
  EXPECT_FALSE(fuseOperators(read.finish(read.concat("both", {c, own}))));
  GraphBuilder alone("alone");
  const TensorId first = alone.depthwise("first", alone.input("x", {8, 8, 8}), square(3, 1, 1));
  EXPECT_FALSE(fuseOperators(alone.finish(alone.depthwise("second", first, square(3, 1, 1)))));
}

TEST(FuseOperators, LeavesPoolsThatNoConvolutionCanMake) {
  Window dilated = square(2);
  dilated.dilationY = 2;
  GraphBuilder gaps("gaps");
  const TensorId x = gaps.input("x", {9, 9, 8});
  EXPECT_FALSE(fuseOperators(
      gaps.finish(gaps.maxPool("pool", gaps.conv("conv", x, 8, square(1)), dilated))));

  for (const Window& window : {square(3), square(5, 4), square(9)}) {
    GraphBuilder wide("wide");
    const TensorId in = wide.input("x", {9, 9, 8});
    EXPECT_FALSE(fuseOperators(
        wide.finish(wide.maxPool("pool", wide.conv("conv", in, 8, square(1)), window))));
  }

  GraphBuilder read("read");
  const TensorId c = read.conv("conv", read.input("x", {4, 4, 8}), 8, square(1)),
                 pooled = read.maxPool("pool", c, square(1));
  EXPECT_FALSE(fuseOperators(read.finish(read.concat("both", {c, pooled}))));

  GraphBuilder twice("twice");  // the second pool follows no convolution any more
  const TensorId first = twice.maxPool(
      "first", twice.conv("conv", twice.input("x", {8, 8, 8}), 8, square(1)), square(2, 2));
  const auto once = fuseOperators(twice.finish(twice.maxPool("second", first, square(2, 2))));
  ASSERT_TRUE(once);
  EXPECT_EQ(once->ops.size(), 2u);
}

TEST(FuseOperators, AWrongPoolIsAFault) {
  GraphBuilder b("net");
  const TensorId c = b.conv("conv", b.input("x", {8, 8, 8}), 8, square(1));
  const CanonicalGraph fused = *fuseOperators(b.finish(b.maxPool("pool", c, square(2, 2))));
  ASSERT_EQ(verify(fused), Diagnostics{});
  const auto withPool = [&](const FusedWindow& pool) {
    CanonicalGraph other = fused;
    std::get<Conv>(other.ops[0].attributes).fusedWindow = pool;
    return verify(other);
  };
  const TensorId before = computedTensor(fused.ops[0]);
  EXPECT_FALSE(withPool({"pool", MaxPool{square(2, 2)}, TensorId(99)}).empty());
  EXPECT_FALSE(withPool({"pool", MaxPool{square(2, 2)}, fused.ops[0].output}).empty());
  EXPECT_FALSE(withPool({"pool", MaxPool{square(2, 2)}, fused.ops[0].inputs[0]}).empty());
  EXPECT_FALSE(withPool({"pool", MaxPool{square(2, 2, 2)}, before})
                   .empty());  // its first window is all border
  EXPECT_FALSE(
      withPool({"pool", MaxPool{square(2, 4)}, before}).empty());  // its last one begins behind it
  CanonicalGraph recoloured = fused;
  recoloured.tensors[before.at()].zeroPoint = 5;
  EXPECT_FALSE(verify(recoloured).empty());
}

// x by one pixel, read by a convolution of `window`.
struct Gated {
  explicit Gated(const Window& window = {}) {
    x = b.input("x", {5, 6, 16});
    gate = b.input("gate", {1, 1, 16});
    product = b.op("mul", "Mul", {x, gate}, {5, 6, 16}, Mul{});
    conv = b.conv("conv", product, 8, window);
  }
  GraphBuilder b{"net"};
  TensorId x, gate, product, conv;
};

TEST(FuseOperators, MultipliesByAGateAtTheBeginningOfTheConvolutionBehind) {
  for (const bool adds : {false, true}) {
    Gated net;
    const TensorId addend = net.b.input("addend", {5, 6, 8});
    CanonicalGraph graph = net.b.finish(adds ? net.b.add("sum", net.conv, addend) : net.conv);
    colour(graph);
    const auto fused = fuseOperators(graph);
    ASSERT_TRUE(fused);
    ASSERT_EQ(fused->ops.size(), 1U);
    const CanonicalOp& op = fused->ops[0];
    EXPECT_EQ(op.name, "conv");
    EXPECT_EQ(op.onnxOp, adds ? "Mul + Conv + Add" : "Mul + Conv");
    ASSERT_EQ(op.inputs.size(), adds ? 3U : 2U);
    EXPECT_TRUE(isBroadcast(*fused, op, 1));
    EXPECT_FALSE(isAddend(op, 1));
    EXPECT_EQ(adds, isAddend(op, 2));
    EXPECT_EQ(zeroOfInput(*fused, op), graph.tensors[net.product.at()].zeroPoint);
    EXPECT_NE(print(*fused).find(" first mul 'mul' times "), std::string::npos);
    EXPECT_EQ(optionallyApart(*fused), std::set<std::string>{"mul"});
    EXPECT_EQ(fuseOperators(graph, {"mul"}) != nullptr, adds);
    expectSameValues(graph, *fused);
  }
}

// Lines for each of the channels.
Table linesOf(std::int64_t channels) {
  Table table;
  for (std::int64_t c = 0; c < channels; ++c) {
    table.lines.push_back({static_cast<std::int32_t>(900 + c), 77, 10, {-100, 110}});
    Table256& values = table.tables.emplace_back();
    for (std::size_t i = 0; i < 256; ++i)
      values[i] =
          valueOnLine(table.lines.back(), static_cast<std::int8_t>(static_cast<int>(i) - 128));
  }
  return table;
}

TEST(FuseOperators, LooksUpLinesAtTheBeginningOfTheConvolutionBehind) {
  for (const bool adds : {false, true}) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {5, 6, 12}), addend = b.input("addend", {5, 6, 8});
    const TensorId bn = b.op("bn", "Relu", {x}, {5, 6, 12}, linesOf(12)),
                   conv = b.conv("conv", bn, 8, {});
    CanonicalGraph graph = b.finish(adds ? b.add("sum", conv, addend) : conv);
    const Table lines = std::get<Table>(graph.ops[0].attributes);
    colour(graph);
    graph.ops[0].attributes = lines;
    const auto fused = fuseOperators(graph);
    ASSERT_TRUE(fused);
    ASSERT_EQ(fused->ops.size(), 1U);
    const CanonicalOp& op = fused->ops[0];
    EXPECT_EQ(op.onnxOp, adds ? "Relu + Conv + Add" : "Relu + Conv");
    EXPECT_EQ(op.inputs.size(), adds ? 2U : 1U);
    EXPECT_EQ(nameAtStart(op), "bn");
    EXPECT_EQ(zeroOfInput(*fused, op), graph.tensors[bn.at()].zeroPoint);
    EXPECT_NE(print(*fused).find(" first lines 'bn' zero "), std::string::npos);
    EXPECT_EQ(namesAtStarts(*fused), std::set<std::string>{"bn"});
    expectSameValues(graph, *fused);
    CanonicalGraph fewer = *fused;
    std::get<Conv>(fewer.ops[0].attributes).fusedLines->table.lines.pop_back();
    EXPECT_FALSE(verify(fewer).empty());
    Table tables = lines;  // which no convolution looks up first
    tables.lines.clear();
    graph.ops[0].attributes = tables;
    EXPECT_EQ(fuseOperators(graph) != nullptr, adds);
  }
}

TEST(FuseOperators, WhatIsNotMultipliedByAGateOnceStaysALayer) {
  const auto isFused = [](const CanonicalGraph& graph) {
    const auto fused = fuseOperators(graph);
    return fused && std::ranges::any_of(fused->ops, [](auto& op) { return fusedMulOf(op); });
  };
  Gated usual;
  EXPECT_TRUE(isFused(usual.b.finish(usual.conv)));
  for (const Window& window : {square(3, 1, 1), square(1, 2), square(1, 1, 1)}) {
    Gated other(window);
    EXPECT_FALSE(isFused(other.b.finish(other.conv)));
  }
  Gated twice;  // read by two
  EXPECT_FALSE(isFused(
      twice.b.finish(twice.b.add("sum", twice.conv, twice.b.conv("c", twice.product, 8, {})))));
  Gated pooled;
  EXPECT_FALSE(isFused(pooled.b.finish(pooled.b.maxPool("pool", pooled.conv, square(2, 2)))));
  GraphBuilder whole("net");  // by a tensor of the same shape
  const TensorId x = whole.input("x", {5, 6, 16}), y = whole.input("y", {5, 6, 16});
  EXPECT_FALSE(isFused(
      whole.finish(whole.conv("conv", whole.op("mul", "Mul", {x, y}, {5, 6, 16}, Mul{}), 8, {}))));
}

// Of two that come before a convolution the later one, however often the network is fused.
TEST(FuseOperators, WhatDoesSomethingFirstTakesNothingElse) {
  for (const bool gateFirst : {false, true})
    for (const bool gateSecond : {false, true}) {
      GraphBuilder b("net");
      const Shape shape{5, 6, 16};
      const TensorId x = b.input("x", shape), gate = b.input("gate", {1, 1, 16});
      const auto start = [&](const std::string& name, TensorId of, bool isGate) {
        return isGate ? b.op(name, "Mul", {of, gate}, shape, Mul{})
                      : b.op(name, "Relu", {of}, shape, linesOf(16));
      };
      const TensorId first = start("first", x, gateFirst),
                     second = start("second", first, gateSecond);
      CanonicalGraph graph = b.finish(b.conv("conv", second, 8, {}));
      const std::vector<CanonicalOp> plain = graph.ops;
      colour(graph);
      for (std::size_t i = 0; i < 2; ++i)
        if (plain[i].kind() == OpKind::Table) graph.ops[i].attributes = plain[i].attributes;
      const auto fused = fuseOperators(graph);
      ASSERT_TRUE(fused);
      EXPECT_EQ(namesAtStarts(*fused), std::set<std::string>{"second"});
      EXPECT_EQ(fuseOperators(*fused), nullptr);
      expectSameValues(graph, *fused);
    }
}

TEST(FuseOperators, AWrongGateIsAFault) {
  Gated net;
  const CanonicalGraph fused = *fuseOperators(net.b.finish(net.conv));
  ASSERT_EQ(verify(fused), Diagnostics{});
  CanonicalGraph lacking = fused;
  lacking.ops[0].inputs.pop_back();
  EXPECT_FALSE(verify(lacking).empty());
  CanonicalGraph whole = fused;
  whole.ops[0].inputs[1] = whole.ops[0].inputs[0];
  EXPECT_FALSE(verify(whole).empty());
  for (const auto wrong : {+[](Conv& conv) { conv.window.strideX = 2; },
                           +[](Conv& conv) {
                             conv.fusedMul->mul.clamp = {5, 4};
                           },
                           +[](Conv& conv) {
                             conv.fusedLines = {"bn", linesOf(16), 0};
                           }}) {
    CanonicalGraph other = fused;
    wrong(std::get<Conv>(other.ops[0].attributes));
    EXPECT_FALSE(verify(other).empty());
  }
}

TEST(FuseOperators, AWrongAddendIsAFault) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {5, 6, 8});
  CanonicalGraph fused = *fuseOperators(b.finish(b.add("sum", b.conv("conv", x, 8, square(1)), x)));
  CanonicalGraph lacking = fused;
  lacking.ops[0].inputs.pop_back();
  EXPECT_FALSE(verify(lacking).empty());
  std::get<Conv>(fused.ops[0].attributes).fusedAdd->add.shift = 63;
  EXPECT_FALSE(verify(fused).empty());
}

}  // namespace
}  // namespace heddle
