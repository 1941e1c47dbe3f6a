// Random canonical graphs for property tests: every operator, branches, odd sizes, every kind of
// quantization; and the way from a failing graph to a small one.
//
//   const CanonicalGraph graph = makeRandomGraph({.seed = 42});
//   if (fails(graph)) std::cout << describe(shrink(graph, fails));
//
// The same options give the same graph on every machine. Graphs keep all promises of
// canon/canonical_graph.h.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/interp/interpret.h"

namespace heddle::property {

struct RandomGraphOptions {
  std::uint64_t seed = 1;
  int ops = 6;                        // operators asked for; a partner or two may be added
  std::int64_t maxExtent = 70;        // rows and columns of a tensor
  std::int64_t maxChannels = 100;     // of a tensor
  std::int64_t maxElements = 20'000;  // of a tensor: bounds the time of a test
  std::int64_t maxMacs = 2'000'000;   // of a convolution
  // Convolutions write whole blocks of channels, two at least where they may be so large, and most
  // have empty blocks of weights: so that blocks may trade places (canon/block_orders.h).
  bool wholeBlocks = false;
  // Some convolutions have others beside them that can be joined with them (canon/join_siblings.h).
  bool siblings = false;
  // In hundredths, how many convolutions of what one pixel multiplies are added to.
  int addedBehindMul = 25;
};

CanonicalGraph makeRandomGraph(const RandomGraphOptions& options);

// A value for each of graph.inputs, in the whole range of int8.
std::vector<TensorValue> randomInputs(const CanonicalGraph& graph, std::uint64_t seed);

// One line for each tensor and operator.
std::string describe(const CanonicalGraph& graph);

using Fails = std::function<bool(const CanonicalGraph&)>;

// A smaller graph that still fails: fewer operators (what they read becomes an input), fewer rows
// and columns, plainer numbers. Calls `fails` at most `maxTries` times; `fails` should answer
// false, not crash, for a graph that it cannot judge.
CanonicalGraph shrink(CanonicalGraph graph, const Fails& fails, int maxTries = 400);

}  // namespace heddle::property
