// Other orders of channel blocks, on random graphs: those that sharedBlocks() allows, and those
// that verify() lets pass of any.
#include "heddle/canon/block_orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "heddle/canon/canonicalize.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/interp/interpret.h"
#include "prove.h"
#include "random.h"
#include "random_graph.h"

namespace heddle::property {
namespace {

constexpr std::uint64_t kOrderedSeeds = 5000;

CanonicalGraph graphOf(std::uint64_t seed) {
  Random random(seed ^ 0x6f726472);
  const CanonicalGraph graph = makeRandomGraph({.seed = seed,
                                                .ops = static_cast<int>(random.between(3, 16)),
                                                .maxExtent = 8,
                                                .maxChannels = 64,
                                                .maxElements = 4000,
                                                .maxMacs = 400'000,
                                                .wholeBlocks = true});
  const auto fused = random.chance(50) ? fuseOperators(graph) : nullptr;
  return fused ? *fused : graph;
}

// What differs where the network is interpreted in these orders; every tensor counts.
std::string difference(const CanonicalGraph& graph, const BlockOrders& orders, std::uint64_t seed) {
  const CanonicalGraph other = inOrder(graph, orders);
  if (const Diagnostics faults = verify(other); !faults.empty()) return toText(faults);
  const std::vector<TensorValue> inputs = randomInputs(graph, seed);
  const std::vector<TensorValue> values = interpret(graph, inputs),
                                 again = interpret(other, inputs);
  for (std::size_t t = 0; t < values.size(); ++t)
    if (again[t] != inOrder(values[t], graph.tensors[t].shape, orders[t]))
      return "tensor " + graph.tensors[t].name + "\n" + describe(graph) + describe(other);
  return {};
}

void shuffle(std::vector<std::size_t>& places, std::vector<std::size_t>& content, Random& random) {
  for (std::size_t i = places.size(); i > 1; --i)
    std::swap(content[places[i - 1]], content[places[static_cast<std::size_t>(
                                          random.between(0, static_cast<std::int64_t>(i) - 1))]]);
}

TEST(BlockOrders, TradesOfExchangeableBlocksKeepEveryValue) {
  int ordered = 0, through = 0;
  for (std::uint64_t seed = 1; seed <= kOrderedSeeds; ++seed) {
    const CanonicalGraph graph = graphOf(seed);
    SharedBlocks shared = sharedBlocks(graph);
    Random random(seed);
    std::vector<std::size_t> content(shared.count);
    std::iota(content.begin(), content.end(), 0);
    for (std::vector<std::size_t>& numbers : shared.exchangeable) shuffle(numbers, content, random);
    const BlockOrders orders = ordersOf(shared, content);
    EXPECT_EQ(toText(verify(orders, graph)), "") << seed << "\n" << describe(graph);
    EXPECT_EQ(difference(graph, orders, seed), "") << seed;
    ordered += std::ranges::any_of(orders, [](const BlockOrder& o) { return !o.empty(); });
    for (const CanonicalOp& op : graph.ops)
      through += op.kind() == OpKind::Assemble && !orders[op.output.at()].empty();
  }
  EXPECT_GT(ordered, 800);
  EXPECT_GT(through, 80);
}

TEST(BlockOrders, WhatVerifyLetsPassKeepsEveryValue) {
  int passed = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= kOrderedSeeds; ++seed) {
    const CanonicalGraph graph = graphOf(seed);
    Random random(seed);
    for (int attempt = 0; attempt < 6; ++attempt) {
      BlockOrders orders(graph.tensors.size());
      // The same two blocks of one tensor, or of all that have as many.
      const auto drawn = static_cast<std::size_t>(random.between(0, std::ssize(graph.tensors) - 1));
      const std::int64_t blocks = blocksOf(graph.tensors[drawn].shape);
      if (blocks < 2) continue;
      BlockOrder order(static_cast<std::size_t>(blocks));
      std::iota(order.begin(), order.end(), 0);
      std::swap(order[static_cast<std::size_t>(random.between(0, blocks - 1))],
                order[static_cast<std::size_t>(random.between(0, blocks - 1))]);
      const bool all = random.chance(50);
      for (std::size_t t = 0; t < orders.size(); ++t)
        if (t == drawn || (all && blocksOf(graph.tensors[t].shape) == blocks && random.chance(80)))
          orders[t] = order;
      if (!verify(orders, graph).empty()) {
        ++refused;
        continue;
      }
      passed += !std::ranges::is_sorted(order);
      EXPECT_EQ(difference(graph, orders, seed), "") << seed;
    }
  }
  EXPECT_GT(passed, 200);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace heddle::property
