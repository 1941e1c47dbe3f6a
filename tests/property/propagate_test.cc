// What propagate() says and does, on random graphs with random zeros.
#include "heddle/sparsity/propagate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/canon/canonicalize.h"
#include "heddle/interp/interpret.h"
#include "prove.h"
#include "random.h"
#include "random_graph.h"
#include "random_zeros.h"

namespace heddle::property {
namespace {

constexpr std::uint64_t kPropagatedSeeds = 2000;

CanonicalGraph graphOf(std::uint64_t seed) {
  Random random(seed ^ 0x7a65726f);
  return withRandomZeros(makeRandomGraph({.seed = seed,
                                          .ops = static_cast<int>(random.between(3, 16)),
                                          .maxExtent = 12,
                                          .maxChannels = 40,
                                          .maxElements = 2000,
                                          .maxMacs = 200'000}),
                         random);
}

std::vector<TensorValue> outputsOf(const CanonicalGraph& graph,
                                   const std::vector<TensorValue>& values) {
  std::vector<TensorValue> outputs;
  for (const Port& port : graph.outputs) outputs.push_back(values[port.tensor.at()]);
  return outputs;
}

// As interpret(), but a value that nobody is said to need is replaced by chance.
std::vector<TensorValue> interpretWithNoise(const CanonicalGraph& graph, const Propagated& found,
                                            const std::vector<TensorValue>& inputs,
                                            Random& random) {
  std::vector<TensorValue> values(graph.tensors.size());
  const auto disturb = [&](std::size_t t) {
    const ChannelFacts& facts = found.tensors[t];
    for (std::size_t i = 0; i < values[t].size(); ++i) {
      const std::size_t c = i % facts.needed.size();
      if (!facts.needed[c] && !facts.constant[c]) values[t][i] = random.int8();
    }
  };
  for (std::size_t t = 0; t < values.size(); ++t) values[t] = graph.tensors[t].constant;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i].tensor.at()] = inputs[i];
  for (std::size_t t = 0; t < values.size(); ++t) disturb(t);
  for (const CanonicalOp& op : graph.ops) {
    std::vector<const TensorValue*> operands;
    for (const TensorId id : op.inputs) operands.push_back(&values[id.at()]);
    values[op.output.at()] = interpretOp(graph, op, operands);
    disturb(op.output.at());
  }
  return values;
}

TEST(Propagate, KeepsEveryOutputAndItsPromises) {
  int changed = 0, cut = 0;
  for (std::uint64_t seed = 1; seed <= kPropagatedSeeds; ++seed) {
    const CanonicalGraph graph = graphOf(seed);
    const Propagated found = propagate(graph);
    EXPECT_EQ(toText(verify(found.graph)), "") << seed;
    changed += found.changed();
    cut += found.removedChannels() > 0;
    EXPECT_EQ(found.changed(), found.graph != graph) << seed;
    for (std::uint64_t again = 0; again < 2; ++again) {
      const std::vector<TensorValue> inputs = randomInputs(graph, seed + again * kPropagatedSeeds);
      EXPECT_EQ(outputsOf(graph, interpret(graph, inputs)),
                outputsOf(found.graph, interpret(found.graph, inputs)))
          << seed << "\n"
          << describe(graph) << describe(found.graph);
    }
  }
  EXPECT_GT(changed, 600);
  EXPECT_GT(cut, 400);
}

TEST(Propagate, WhatItCallsConstantIs) {
  int constants = 0;
  for (std::uint64_t seed = 1; seed <= kPropagatedSeeds; ++seed) {
    const CanonicalGraph graph = graphOf(seed);
    const Propagated found = propagate(graph);
    const std::vector<TensorValue> values = interpret(graph, randomInputs(graph, seed));
    for (std::size_t t = 0; t < values.size(); ++t) {
      const auto& constant = found.tensors[t].constant;
      for (std::size_t i = 0; i < values[t].size(); ++i)
        ASSERT_EQ(values[t][i], constant[i % constant.size()].value_or(values[t][i]))
            << seed << " " << graph.tensors[t].name << " " << i;
    }
    constants += static_cast<int>(found.constantChannels());
  }
  EXPECT_GT(constants, 5000);
}

TEST(Propagate, NoOutputDependsOnWhatItCallsUnneeded) {
  for (std::uint64_t seed = 1; seed <= kPropagatedSeeds; ++seed) {
    const CanonicalGraph graph = graphOf(seed);
    const Propagated found = propagate(graph);
    const std::vector<TensorValue> inputs = randomInputs(graph, seed);
    Random random(seed);
    EXPECT_EQ(outputsOf(graph, interpret(graph, inputs)),
              outputsOf(graph, interpretWithNoise(graph, found, inputs, random)))
        << seed << "\n"
        << describe(graph);
  }
}

// But that once in a while other blocks are the cheaper ones to take out.
TEST(Propagate, ASecondTimeFindsNothingMore) {
  int again = 0;
  for (std::uint64_t seed = 1; seed <= kPropagatedSeeds; ++seed) {
    const CanonicalGraph once = propagate(graphOf(seed)).graph;
    const Propagated twice = propagate(once);
    again += twice.changed();
    EXPECT_EQ(std::ranges::count(twice.weightsZeroed, 0), std::ssize(once.ops)) << seed;
  }
  EXPECT_LT(again, kPropagatedSeeds / 100);
}

TEST(Propagate, GraphsWithoutZerosStayAsTheyAre) {
  int dense = 0, same = 0, nothing = 0;
  for (std::uint64_t seed = 1; seed <= kPropagatedSeeds; ++seed) {
    const CanonicalGraph graph = makeRandomGraph({.seed = seed, .maxElements = 2000});
    const bool hasEmptyBlocks = std::ranges::any_of(graph.ops, [](const CanonicalOp& op) {
      const auto* conv = std::get_if<Conv>(&op.attributes);
      return conv && conv->kept.size() > 0;
    });
    if (hasEmptyBlocks) continue;
    ++dense;
    const Propagated found = propagate(graph);
    same += !found.changed();
    nothing += nothingFollows(graph);
    EXPECT_FALSE(nothingFollows(graph) && found.changed()) << seed;
    EXPECT_EQ(found.graph == graph, !found.changed()) << seed;
  }
  EXPECT_GT(dense, kPropagatedSeeds / 10);
  EXPECT_GT(same, dense * 8 / 10);
  EXPECT_GT(nothing, dense / 2);
}

TEST(Propagate, WhatIsLeftIsBitExactOnTheArray) {
  int ran = 0;
  for (std::uint64_t seed = 1; seed <= 260; ++seed) {
    const Propagated found = propagate(graphOf(seed));
    if (!found.changed()) continue;
    ++ran;
    const auto fault = disprove(found.graph, randomDevice(seed, 4), seed);
    EXPECT_FALSE(fault) << seed << " " << *fault << "\n" << describe(found.graph);
  }
  EXPECT_GT(ran, 100);
}

}  // namespace
}  // namespace heddle::property
