// Another order of the channel blocks inside a network. Which of its rows of weights a convolution
// computes first is nobody's business but of those who read its output:
//
//   a = Conv(x)   blocks 0 1 2 3        a'   blocks 2 0 3 1      rows of weights in that order
//   b = Relu(a)   blocks 0 1 2 3   ->   b'   blocks 2 0 3 1
//   y = Conv(b)                         y    the same            columns of weights in that order
//
// So work can be dealt out more evenly where blocks of weights are empty
// (planner/order_blocks.h). Channels stay in their block of eight, and a block that the host
// sees, or that is not full, stays where it is. Source: the same freedom serves N:M sparsity in
// Pool and Yu, Channel Permutations for N:M Sparsity (NeurIPS 2021).
#pragma once
#include <cstdint>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/support/result.h"

namespace heddle {

using BlockOrders = std::vector<BlockOrder>;  // by TensorId; none at all: every tensor as it is

// Blocks of several tensors that hold the same channels at the same place, by number.
struct SharedBlocks {
  std::vector<std::vector<std::size_t>> of;  // by tensor and block: its number
  // Numbers that may trade places: all tensors that have one of them have the other, and every
  // operator does the same to both. Each at least two, in rising order.
  std::vector<std::vector<std::size_t>> exchangeable;
  std::size_t count = 0;
};
SharedBlocks sharedBlocks(const CanonicalGraph& graph);

// The orders in which `content[n]` stands where n stood. Needs: a permutation of the numbers that
// keeps to the exchangeable ones.
BlockOrders ordersOf(const SharedBlocks& shared, const std::vector<std::size_t>& content);

// Checked operator by operator. Errors: CANON011 an order of channel blocks changes what is
// computed, or does not name each of a tensor's blocks once.
Diagnostics verify(const BlockOrders& orders, const CanonicalGraph& graph);

// The network in these orders: its outputs are the same bytes for every input, and each tensor says
// what became of its order. Needs: verify finds nothing.
CanonicalGraph inOrder(CanonicalGraph graph, const BlockOrders& orders);

// A tensor's values (order Y, X, C) with its blocks in that order.
std::vector<std::int8_t> inOrder(const std::vector<std::int8_t>& values, const Shape& shape,
                                 const BlockOrder& order);

// How the network's tensors are ordered; none at all where none is.
BlockOrders ordersOf(const CanonicalGraph& graph);

}  // namespace heddle
