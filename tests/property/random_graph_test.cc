// What the generator promises to the property tests that stand on it, and the interpreter's fast
// convolutions against the definition written out as loops.
#include "random_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "heddle/canon/join_siblings.h"
#include "heddle/canon/requantize_early.h"
#include "heddle/interp/interpret.h"
#include "heddle/support/check.h"

namespace heddle::property {
namespace {

constexpr std::uint64_t kSeeds = 300;

const CanonicalTensor& tensorOf(const CanonicalGraph& graph, TensorId id) {
  return graph.tensors[id.at()];
}

// y = clamp(zero + requantize(bias + sum (x - zero) * (w - zero))), tap by tap.
template <class Convolution>
TensorValue byDefinition(const Convolution& op, const CanonicalTensor& x, const TensorValue& input,
                         const CanonicalTensor& y) {
  const bool depthwise = std::is_same_v<Convolution, DepthwiseConv>;
  const Window& w = op.window;
  const std::int64_t depth = depthwise ? 1 : x.shape.channels;
  TensorValue result;
  for (std::int64_t row = 0; row < y.shape.height; ++row)
    for (std::int64_t column = 0; column < y.shape.width; ++column)
      for (std::int64_t c = 0; c < y.shape.channels; ++c) {
        const auto channel = static_cast<std::size_t>(c);
        std::int64_t sum = op.bias[channel];
        for (std::int64_t ky = 0; ky < w.kernelY; ++ky)
          for (std::int64_t kx = 0; kx < w.kernelX; ++kx)
            for (std::int64_t d = 0; d < depth; ++d) {
              const std::int64_t fromY = row * w.strideY - w.padTop + ky * w.dilationY;
              const std::int64_t fromX = column * w.strideX - w.padLeft + kx * w.dilationX;
              if (fromY < 0 || fromY >= x.shape.height || fromX < 0 || fromX >= x.shape.width)
                continue;
              const std::int64_t from =
                  (fromY * x.shape.width + fromX) * x.shape.channels + (depthwise ? c : d);
              const std::int64_t weight = ((c * w.kernelY + ky) * w.kernelX + kx) * depth + d;
              sum += (input[static_cast<std::size_t>(from)] - x.zeroPoint) *
                     (op.weights[static_cast<std::size_t>(weight)] - op.weightZero[channel]);
            }
        const auto wrapped = static_cast<std::int32_t>(sum);
        const bool negative = wrapped < 0 && !op.requantizeNegative.empty();
        const Multiplier scale = negative ? op.requantizeNegative[channel] : op.requantize[channel];
        result.push_back(
            saturate(y.zeroPoint + applyMultiplier(wrapped, scale), op.clamp.low, op.clamp.high));
      }
  return result;
}

TEST(RandomGraph, TheSameSeedGivesTheSameGraph) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(makeRandomGraph({.seed = seed}), makeRandomGraph({.seed = seed}));
  EXPECT_NE(makeRandomGraph({.seed = 1}), makeRandomGraph({.seed = 2}));
}

TEST(RandomGraph, StaysWithinItsBounds) {
  const RandomGraphOptions options{.maxExtent = 20, .maxChannels = 12, .maxElements = 500};
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RandomGraphOptions own = options;
    own.seed = seed;
    for (const CanonicalTensor& tensor : makeRandomGraph(own).tensors) {
      EXPECT_LE(tensor.shape.elements(), options.maxElements) << seed;
      EXPECT_LE(tensor.shape.channels, options.maxChannels) << seed;
      EXPECT_LE(std::max(tensor.shape.height, tensor.shape.width), options.maxExtent) << seed;
    }
  }
}

TEST(RandomGraph, MakesEveryOperatorBranchesAndOddSizes) {
  std::map<std::string, int> kinds, broadcasts;
  std::map<TensorId, int> readers;
  int branches = 0, oddChannels = 0, early = 0;
  for (std::uint64_t seed = 1; seed <= 2 * kSeeds; ++seed) {
    const CanonicalGraph graph = makeRandomGraph({.seed = seed});
    readers.clear();
    for (const CanonicalOp& op : graph.ops) {
      ++kinds[op.onnxOp];
      for (const TensorId id : std::set<TensorId>(op.inputs.begin(), op.inputs.end()))
        ++readers[id];
      broadcasts[op.onnxOp] += isBroadcast(graph, op, op.inputs.size() - 1) ? 1 : 0;
    }
    branches += std::any_of(readers.begin(), readers.end(), [](auto& r) { return r.second > 1; });
    early += requantizeEarly(graph) ? 1 : 0;
    oddChannels += tensorOf(graph, graph.inputs[0].tensor).shape.channels % 8 != 0;
  }
  for (const char* kind :
       {"Conv", "DepthwiseConv", "MaxPool", "AveragePool", "Add", "Mul", "Table", "Concat", "Slice",
        "Pad", "Resize", "Expand", "Transpose", "DepthToSpace", "SpaceToDepth"})
    EXPECT_GE(kinds[kind], 5) << kind;
  for (const char* kind : {"Add", "Mul"}) EXPECT_GE(broadcasts[kind], 5) << kind;
  EXPECT_GE(branches, 100);
  EXPECT_GE(oddChannels, 100);
  EXPECT_GE(early, 10);
}

TEST(RandomGraph, ManyHaveConvolutionsToJoinSomeBeforeAConcat) {
  int joined = 0, concats = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const CanonicalGraph graph = makeRandomGraph({.seed = seed, .siblings = true});
    const auto other = joinSiblings(graph);
    if (!other) continue;
    ++joined;
    for (const CanonicalOp& op : other->ops)
      concats += op.onnxOp == "Concat" && op.output.at() >= graph.tensors.size() ? 1 : 0;
  }
  EXPECT_GE(joined, 30);
  EXPECT_GE(concats, 5);
}

TEST(RandomGraph, TensorsAreWrittenOnceAndBeforeTheyAreRead) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const CanonicalGraph graph = makeRandomGraph({.seed = seed});
    std::set<TensorId> known;
    for (const Port& port : graph.inputs) EXPECT_TRUE(known.insert(port.tensor).second) << seed;
    for (std::size_t i = 0; i < graph.tensors.size(); ++i)
      if (!graph.tensors[i].constant.empty()) known.insert(TensorId(i));
    for (const CanonicalOp& op : graph.ops) {
      for (const TensorId id : op.inputs) EXPECT_TRUE(known.contains(id)) << seed << op.name;
      EXPECT_TRUE(known.insert(op.output).second) << seed << op.name;
    }
    EXPECT_FALSE(graph.outputs.empty());
  }
}

TEST(RandomGraph, MostTensorsAreAlive) {
  int alive = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const CanonicalGraph graph = makeRandomGraph({.seed = seed});
    for (const TensorValue& value : interpret(graph, randomInputs(graph, seed))) {
      if (value.size() < 64) continue;
      ++all;
      alive += std::set<std::int8_t>(value.begin(), value.end()).size() >= 8;
    }
  }
  EXPECT_GT(alive, all * 9 / 10) << "of " << all;
}

TEST(Interpret, ConvolutionsEqualTheDefinitionWrittenOut) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const CanonicalGraph graph =
        makeRandomGraph({.seed = seed, .maxElements = 2000, .maxMacs = 200'000});
    const std::vector<TensorValue> values = interpret(graph, randomInputs(graph, seed));
    for (const CanonicalOp& op : graph.ops) {
      const auto compare = [&](const auto& convolution) {
        const TensorId x = op.inputs[0];
        EXPECT_EQ(byDefinition(convolution, tensorOf(graph, x), values[x.at()],
                               tensorOf(graph, op.output)),
                  values[op.output.at()])
            << "seed " << seed << " " << op.name;
        ++compared;
      };
      if (const auto* conv = std::get_if<Conv>(&op.attributes)) compare(*conv);
      if (const auto* conv = std::get_if<DepthwiseConv>(&op.attributes)) compare(*conv);
    }
  }
  EXPECT_GT(compared, 300);
}

TEST(Shrink, FindsTheOneOperatorAndMakesItSmall) {
  // The "fault": a Conv of more than 2 output channels whose output is at least 3 rows high.
  const auto fails = [](const CanonicalGraph& graph) {
    return std::any_of(graph.ops.begin(), graph.ops.end(), [&](const CanonicalOp& op) {
      const Shape& shape = tensorOf(graph, op.output).shape;
      return op.kind() == OpKind::Conv && shape.channels > 2 && shape.height >= 3;
    });
  };
  int shrunk = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const CanonicalGraph graph = makeRandomGraph({.seed = seed});
    if (!fails(graph)) continue;
    ++shrunk;
    const CanonicalGraph small = shrink(graph, fails);
    ASSERT_EQ(small.ops.size(), 1u) << describe(small);
    const Shape& shape = tensorOf(small, small.ops[0].output).shape;
    EXPECT_EQ(shape, (Shape{3, 1, 3})) << describe(small);
    EXPECT_EQ(tensorOf(small, small.inputs[0].tensor).shape.channels, 1) << describe(small);
    EXPECT_EQ(std::get<Conv>(small.ops[0].attributes).clamp, Clamp{});
    EXPECT_EQ(interpret(small, randomInputs(small, 1)).size(), 2u);
  }
  EXPECT_GE(shrunk, 10);
}

TEST(Shrink, EveryStepIsAGraphThatCanBeInterpreted) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const CanonicalGraph graph = makeRandomGraph({.seed = seed, .maxElements = 1000});
    int tried = 0;
    // Fails at random, so that the search takes odd paths.
    shrink(
        graph,
        [&](const CanonicalGraph& candidate) {
          EXPECT_NO_THROW(interpret(candidate, randomInputs(candidate, seed)))
              << describe(candidate);
          EXPECT_EQ(candidate.outputs.empty(), false);
          return (seed + static_cast<std::uint64_t>(++tried)) % 3 == 0;
        },
        60);
    EXPECT_GT(tried, 0);
  }
}

}  // namespace
}  // namespace heddle::property
