#include "heddle/canon/block_orders.h"

#include <gtest/gtest.h>

#include "heddle/canon/canonicalize.h"

namespace heddle {
namespace {

using Numbers = std::vector<std::size_t>;

CanonicalTensor tensor(const std::string& name, std::int64_t channels) {
  return {.name = name, .shape = {1, 1, channels}, .constant = {}, .blockOrder = {}};
}

CanonicalOp op(const std::string& name, std::vector<TensorId> inputs, TensorId output,
               OpAttributes attributes) {
  return {name, "", std::move(inputs), output, std::move(attributes)};
}

// Rows of weights that tell which they are.
Conv conv(std::int64_t outputs, std::int64_t inputs) {
  Conv c;
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t i = 0; i < inputs; ++i)
      c.weights.own().push_back(static_cast<std::int8_t>((o * 7 + i) % 100));
    c.weightZero.push_back(0);
    c.bias.push_back(static_cast<std::int32_t>(o));
    c.requantize.push_back({1 << 30, 30});
  }
  return c;
}

Port port(TensorId id, std::int64_t channels) {
  return {"port", id, ElementType::Int8, {1, channels}, {1, channels}, "NC"};
}

// x (8) -> a (32) -> b (8), with an Add of a constant between if wanted.
CanonicalGraph chain() {
  CanonicalGraph g{"chain", {tensor("x", 8), tensor("a", 32), tensor("b", 8)}, {}, {}, {}};
  g.ops.push_back(op("first", {TensorId(0)}, TensorId(1), conv(32, 8)));
  g.ops.push_back(op("second", {TensorId(1)}, TensorId(2), conv(8, 32)));
  g.inputs.push_back(port(TensorId(0), 8));
  g.outputs.push_back(port(TensorId(2), 8));
  return g;
}

AxisMap whole(std::int64_t to, std::int64_t count) { return {{to, 1, 0, 1, count}}; }

// a (16) and b (24) of two convolutions, side by side.
CanonicalGraph concat() {
  CanonicalGraph g{
      "concat",
      {tensor("x", 8), tensor("a", 16), tensor("b", 24), tensor("ab", 40), tensor("y", 8)},
      {},
      {},
      {}};
  g.ops.push_back(op("convA", {TensorId(0)}, TensorId(1), conv(16, 8)));
  g.ops.push_back(op("convB", {TensorId(0)}, TensorId(2), conv(24, 8)));
  Assemble side;
  side.parts.push_back({whole(0, 1), whole(0, 1), whole(0, 16), {}});
  side.parts.push_back({whole(0, 1), whole(0, 1), whole(16, 24), {}});
  g.ops.push_back(op("concat", {TensorId(1), TensorId(2)}, TensorId(3), side));
  g.ops.push_back(op("last", {TensorId(3)}, TensorId(4), conv(8, 40)));
  g.inputs.push_back(port(TensorId(0), 8));
  g.outputs.push_back(port(TensorId(4), 8));
  return g;
}

BlockOrders noOrders(const CanonicalGraph& g) { return BlockOrders(g.tensors.size()); }

TEST(BlockOrders, BlocksBetweenTwoConvolutionsMayTradePlaces) {
  const CanonicalGraph g = chain();
  ASSERT_TRUE(verify(g).empty());
  const SharedBlocks shared = sharedBlocks(g);
  ASSERT_EQ(shared.exchangeable.size(), 1);
  EXPECT_EQ(shared.exchangeable[0], shared.of[1]);
}

TEST(BlockOrders, WhatTheHostSeesAndBlocksThatAreNotFullStay) {
  CanonicalGraph g = chain();
  g.tensors[1].shape.channels = 28;
  g.ops[0].attributes = conv(28, 8);
  g.ops[1].attributes = conv(8, 28);
  ASSERT_TRUE(verify(g).empty());
  const SharedBlocks shared = sharedBlocks(g);
  ASSERT_EQ(shared.exchangeable.size(), 1);
  EXPECT_EQ(shared.exchangeable[0], (Numbers{shared.of[1][0], shared.of[1][1], shared.of[1][2]}));
  g.outputs.push_back(port(TensorId(1), 28));
  EXPECT_TRUE(sharedBlocks(g).exchangeable.empty());
}

TEST(BlockOrders, BlocksOfOnePartOfAConcatTradePlacesAmongThemselves) {
  const CanonicalGraph g = concat();
  ASSERT_TRUE(verify(g).empty());
  const SharedBlocks shared = sharedBlocks(g);
  ASSERT_EQ(shared.exchangeable.size(), 2);
  EXPECT_EQ(shared.exchangeable[0], shared.of[1]);
  EXPECT_EQ(shared.exchangeable[1], shared.of[2]);
  EXPECT_EQ(shared.of[3], (Numbers{shared.of[1][0], shared.of[1][1], shared.of[2][0],
                                   shared.of[2][1], shared.of[2][2]}));
}

TEST(BlockOrders, PartsThatOneTableRequantizesAndOthersNotDoNotTradePlaces) {
  CanonicalGraph g = chain();
  Assemble halves;
  halves.parts.push_back({whole(0, 1), whole(0, 1), {{0, 1, 0, 1, 16}}, Table256{}});
  halves.parts.push_back({whole(0, 1), whole(0, 1), {{16, 1, 16, 1, 16}}, {}});
  g.tensors.push_back(tensor("c", 32));
  g.ops.insert(g.ops.begin() + 1, op("halves", {TensorId(1), TensorId(1)}, TensorId(3), halves));
  g.ops[2].inputs = {TensorId(3)};
  ASSERT_TRUE(verify(g).empty());
  const SharedBlocks shared = sharedBlocks(g);
  ASSERT_EQ(shared.exchangeable.size(), 2);
  EXPECT_EQ(shared.exchangeable[0], (Numbers{shared.of[1][0], shared.of[1][1]}));
  BlockOrders orders = noOrders(g);
  orders[1] = orders[3] = {1, 0, 2, 3};
  EXPECT_TRUE(verify(orders, g).empty());
  orders[1] = orders[3] = {2, 1, 0, 3};
  EXPECT_FALSE(verify(orders, g).empty());
}

TEST(BlockOrders, ABlockThatAnAssembleCopiesToTwoPlacesStays) {
  CanonicalGraph g = chain();
  Assemble twice;
  twice.parts.push_back({whole(0, 1), whole(0, 1), whole(0, 32), {}});
  twice.parts.push_back({whole(0, 1), whole(0, 1), whole(32, 32), {}});
  g.tensors.push_back(tensor("aa", 64));
  g.ops.insert(g.ops.begin() + 1, op("twice", {TensorId(1), TensorId(1)}, TensorId(3), twice));
  g.ops[2] = op("second", {TensorId(3)}, TensorId(2), conv(8, 64));
  ASSERT_TRUE(verify(g).empty());
  EXPECT_TRUE(sharedBlocks(g).exchangeable.empty());
}

TEST(BlockOrders, RowsAndColumnsOfWeightsFollow) {
  CanonicalGraph g = chain();
  Conv& second = std::get<Conv>(g.ops[1].attributes);
  second.kept = Bits(4);
  second.kept.set(1);
  BlockOrders orders = noOrders(g);
  orders[1] = {2, 0, 3, 1};
  ASSERT_TRUE(verify(orders, g).empty());
  const CanonicalGraph other = inOrder(g, orders);
  EXPECT_TRUE(verify(other).empty());
  EXPECT_EQ(other.tensors[1].blockOrder, orders[1]);
  EXPECT_EQ(ordersOf(other), orders);
  const Conv& first = std::get<Conv>(other.ops[0].attributes);
  EXPECT_EQ(first.bias[0], 16);
  EXPECT_EQ(first.weights[0], (16 * 7) % 100);
  EXPECT_EQ(first.bias[31], 15);
  const Conv& after = std::get<Conv>(other.ops[1].attributes);
  EXPECT_EQ(after.weights[0], 16);       // the first row, at its 17th column
  EXPECT_EQ(after.weights[32], 7 + 16);  // the second row
  EXPECT_FALSE(after.kept[0]);
  EXPECT_TRUE(after.kept[3]);
  EXPECT_EQ(after.kept.count(), 1);
}

TEST(BlockOrders, AnOrderOnTopOfAnotherIsThatOfTheModel) {
  const CanonicalGraph g = chain();
  BlockOrders orders = noOrders(g);
  orders[1] = {1, 2, 3, 0};
  const CanonicalGraph once = inOrder(g, orders);
  EXPECT_EQ(inOrder(once, orders).tensors[1].blockOrder, (BlockOrder{2, 3, 0, 1}));
  orders[1] = {3, 0, 1, 2};
  EXPECT_EQ(inOrder(once, orders), g);
}

TEST(BlockOrders, OrdersThatChangeWhatIsComputedAreRefused) {
  const CanonicalGraph g = concat();
  const auto refused = [&](std::size_t tensor, BlockOrder order) {
    BlockOrders orders = noOrders(g);
    orders[tensor] = std::move(order);
    const Diagnostics faults = verify(orders, g);
    return !faults.empty() && faults[0].code == "CANON011";
  };
  EXPECT_TRUE(refused(1, {1, 0}));           // the Concat would move others
  EXPECT_TRUE(refused(3, {1, 0, 2, 3, 4}));  // so here
  EXPECT_TRUE(refused(1, {0, 0}));
  EXPECT_TRUE(refused(1, {0, 1, 2}));
  EXPECT_TRUE(refused(1, {0, 5}));
  EXPECT_TRUE(refused(1, {-1, 0}));
  BlockOrders both = noOrders(g);
  both[1] = {1, 0};
  both[3] = {1, 0, 2, 3, 4};
  EXPECT_TRUE(verify(both, g).empty());
  both.pop_back();
  EXPECT_FALSE(verify(both, g).empty());
  EXPECT_TRUE(verify(BlockOrders{}, g).empty());
}

TEST(BlockOrders, LinesThatAConvolutionLooksUpFollowWhatItReads) {
  CanonicalGraph g = chain();
  FusedLines& lines = std::get<Conv>(g.ops[1].attributes).fusedLines.emplace();
  for (std::int32_t c = 0; c < 32; ++c) {
    lines.table.lines.push_back({.slope = c});
    lines.table.tables.emplace_back().fill(static_cast<std::int8_t>(c));
  }
  ASSERT_TRUE(verify(g).empty());
  BlockOrders orders = noOrders(g);
  orders[1] = {2, 0, 3, 1};
  const CanonicalGraph other = inOrder(g, orders);
  const Table& moved = std::get<Conv>(other.ops[1].attributes).fusedLines->table;
  EXPECT_EQ(moved.lines[0].slope, 16);
  EXPECT_EQ(moved.lines[31].slope, 15);
  EXPECT_EQ(moved.tables[8][0], 0);
}

TEST(BlockOrders, AGateKeepsTheOrderOfWhatItMultiplies) {
  CanonicalGraph g = chain();
  g.tensors.push_back(tensor("gate", 32));
  g.ops.insert(g.ops.begin() + 1, op("gate", {TensorId(0)}, TensorId(3), conv(32, 8)));
  g.ops[2].inputs.push_back(TensorId(3));
  std::get<Conv>(g.ops[2].attributes).fusedMul.emplace();
  ASSERT_TRUE(verify(g).empty());
  const SharedBlocks shared = sharedBlocks(g);
  EXPECT_EQ(shared.of[3], shared.of[1]);
  ASSERT_EQ(shared.exchangeable.size(), 1);
  EXPECT_EQ(shared.exchangeable[0], shared.of[1]);
  BlockOrders orders = noOrders(g);
  orders[1] = {3, 0, 1, 2};
  EXPECT_FALSE(verify(orders, g).empty());
  orders[3] = orders[1];
  EXPECT_TRUE(verify(orders, g).empty());
}

TEST(BlockOrders, ThePortOfTheHostIsInOrder) {
  CanonicalGraph g = chain();
  g.outputs.push_back(port(TensorId(1), 32));
  BlockOrders orders = noOrders(g);
  orders[1] = {1, 0, 2, 3};
  EXPECT_FALSE(verify(orders, g).empty());
}

}  // namespace
}  // namespace heddle
