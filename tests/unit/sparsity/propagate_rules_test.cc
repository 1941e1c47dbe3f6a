// The rule of each operator against brute force: channels that never change over many inputs, and
// channels that may be anything without an output changing. What propagate() says must be true, and
// it must say nearly all there is to say: saturation and rounding hide a little more.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "../../property/random.h"
#include "../graphs.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/interp/interpret.h"
#include "heddle/sparsity/propagate.h"

namespace heddle {
namespace {

using property::Random;
using testing::GraphBuilder;

constexpr std::int64_t kChannels = 6, kSide = 5;
constexpr Shape kShape{kSide, kSide, kChannels};

// Weights of which whole rows and columns are zero, and sums that fill a byte.
template <class Convolution>
Convolution randomConvolution(Random& random, const Window& window, std::int64_t rows,
                              std::int64_t columns) {
  Convolution conv;
  conv.window = window;
  const std::int64_t taps = window.kernelY * window.kernelX;
  std::vector<bool> columnDead, rowDead;
  for (std::int64_t c = 0; c < columns; ++c) columnDead.push_back(random.chance(30));
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool dead = random.chance(30);
    const std::int8_t zero = random.int8(-3, 3);
    const double step = 50 * std::sqrt(static_cast<double>(taps * columns));
    conv.weightZero.push_back(zero);
    conv.bias.push_back(random.chance(50) ? 0
                                          : static_cast<std::int32_t>(random.real(-40, 40) * step));
    conv.requantize.push_back(makeMultiplier(1 / step));
    for (std::int64_t i = 0; i < taps * columns; ++i)
      conv.weights.own().push_back(
          dead || (columns > 1 && columnDead[static_cast<std::size_t>(i % columns)])
              ? zero
              : random.int8());
  }
  return conv;
}

Window randomWindow(Random& random) {
  Window w;
  w.kernelY = random.between(1, 3);
  w.kernelX = random.between(1, 3);
  w.strideY = random.between(1, 2);
  w.padTop = random.between(0, w.kernelY - 1);
  w.padRight = random.between(0, w.kernelX - 1);
  return w;
}

Shape windowed(const Window& w, std::int64_t channels) {
  return {(kSide + w.padTop + w.padBottom - w.kernelY) / w.strideY + 1,
          (kSide + w.padLeft + w.padRight - w.kernelX) / w.strideX + 1, channels};
}

AxisMap whole(std::int64_t count, std::int64_t to = 0, std::int64_t from = 0) {
  return {{to, 1, from, 1, count}};
}

// Adds the operator under test, which reads a and perhaps b.
using AddOperator = std::function<TensorId(GraphBuilder&, Random&, TensorId a, TensorId b)>;

struct Case {
  std::string name;
  AddOperator add;
};

TensorId addPool(GraphBuilder& builder, Random& random, TensorId a, bool average) {
  const Window w = randomWindow(random);
  if (!average) return builder.op("op", "MaxPool", {a}, windowed(w, kChannels), MaxPool{w});
  const AveragePool pool{
      w, random.chance(50), random.chance(50) ? Multiplier{1, 0} : makeMultiplier(0.9), {}};
  return builder.op("op", "AveragePool", {a}, windowed(w, kChannels), pool);
}

TensorId addTable(GraphBuilder& builder, Random& random, TensorId a) {
  Table table;
  const std::int64_t tables = random.chance(50) ? 1 : kChannels;
  for (std::int64_t t = 0; t < tables; ++t) {
    Table256 entries{};
    const bool constant = random.chance(20);
    for (std::int8_t& entry : entries) entry = constant ? std::int8_t{9} : random.int8();
    table.tables.push_back(entries);
  }
  return builder.op("op", "Table", {a}, kShape, table);
}

// A and B beside each other, on top of each other, A in a frame, or its channels backwards.
TensorId addAssemble(GraphBuilder& builder, Random& random, TensorId a, TensorId b) {
  const AxisMap side = whole(kSide), all = whole(kChannels);
  std::optional<Table256> table;
  if (random.chance(50)) {
    table.emplace();
    for (std::size_t i = 0; i < 256; ++i)
      (*table)[i] = static_cast<std::int8_t>(static_cast<int>(i / 2) - 64);
  }
  Assemble assemble{{{side, side, all, table}}, random.chance(50) ? std::int8_t{0} : random.int8()};
  switch (random.between(0, 3)) {
    case 0:
      assemble.parts.push_back({side, side, whole(kChannels, kChannels), {}});
      return builder.op("op", "Concat", {a, b}, {kSide, kSide, 2 * kChannels}, assemble);
    case 1:
      assemble.parts.push_back({whole(kSide, kSide), side, all, {}});
      return builder.op("op", "Concat", {a, b}, {2 * kSide, kSide, kChannels}, assemble);
    case 2:
      assemble.parts[0].mapC.clear();
      for (std::int64_t c = 0; c < kChannels; ++c)
        assemble.parts[0].mapC.push_back({kChannels - 1 - c, 1, c, 1, 1});
      return builder.op("op", "Gather", {a}, kShape, assemble);
    default:
      assemble.parts[0].mapX = whole(kSide, 1);
      assemble.parts[0].mapC = {{0, 1, kChannels - 1, -1, kChannels - 1}};
      return builder.op("op", "Pad", {a}, {kSide, kSide + 2, kChannels}, assemble);
  }
}

std::vector<Case> cases() {
  return {
      {"Conv",
       [](GraphBuilder& builder, Random& random, TensorId a, TensorId) {
         const Window w = randomWindow(random);
         return builder.op("op", "Conv", {a}, windowed(w, kChannels),
                           randomConvolution<Conv>(random, w, kChannels, kChannels));
       }},
      {"DepthwiseConv",
       [](GraphBuilder& builder, Random& random, TensorId a, TensorId) {
         const Window w = randomWindow(random);
         return builder.op("op", "Conv", {a}, windowed(w, kChannels),
                           randomConvolution<DepthwiseConv>(random, w, kChannels, 1));
       }},
      {"MaxPool", [](GraphBuilder& builder, Random& random, TensorId a,
                     TensorId) { return addPool(builder, random, a, false); }},
      {"AveragePool", [](GraphBuilder& builder, Random& random, TensorId a,
                         TensorId) { return addPool(builder, random, a, true); }},
      {"Add",
       [](GraphBuilder& builder, Random&, TensorId a, TensorId b) {
         return builder.op("op", "Add", {a, b}, kShape, Add{3 << 18, -1 << 19, 20, {}});
       }},
      {"Mul",
       [](GraphBuilder& builder, Random&, TensorId a, TensorId b) {
         return builder.op("op", "Mul", {a, b}, kShape, Mul{makeMultiplier(1.0 / 64), {}});
       }},
      {"Table", [](GraphBuilder& builder, Random& random, TensorId a,
                   TensorId) { return addTable(builder, random, a); }},
      {"Assemble", addAssemble},
      {"Clamp",  // that leaves one value
       [](GraphBuilder& builder, Random&, TensorId a, TensorId b) {
         return builder.op("op", "Add", {a, b}, kShape, Add{1, 1, 0, {5, 5}});
       }},
  };
}

class PropagateRule : public ::testing::TestWithParam<Case> {
 protected:
  // x -> a, b -> the operator -> y, with dead channels everywhere.
  static CanonicalGraph graphOf(const AddOperator& add, Random& random) {
    GraphBuilder builder("rule");
    const TensorId x = builder.input("x", kShape);
    const auto source = [&](const std::string& name) {
      return builder.op(name, "Conv", {x}, kShape,
                        randomConvolution<Conv>(random, {}, kChannels, kChannels));
    };
    const TensorId a = source("a"), b = source("b"), made = add(builder, random, a, b);
    Shape shape = builder.shapeOf(made);
    Conv last = randomConvolution<Conv>(random, {}, 3, shape.channels);
    shape.channels = 3;
    CanonicalGraph graph = builder.finish(builder.op("y", "Conv", {made}, shape, std::move(last)));
    for (const TensorId tensor : {a, b, made})
      graph.tensors[tensor.at()].zeroPoint =
          random.chance(50) ? std::int8_t{0} : random.int8(-9, 9);
    if (graph.ops[2].kind() == OpKind::MaxPool)
      graph.tensors[made.at()].zeroPoint = graph.tensors[a.at()].zeroPoint;
    return graph;
  }

  static std::vector<TensorValue> inputsOf(const CanonicalGraph& graph, Random& random) {
    TensorValue value;
    for (std::int64_t i = 0; i < graph.tensors[0].shape.elements(); ++i)
      value.push_back(random.int8());
    return {value};
  }

  // The output once channel `c` of a tensor is something else.
  static TensorValue disturbed(const CanonicalGraph& graph, std::vector<TensorValue> values,
                               std::size_t tensor, std::size_t c, Random& random) {
    const auto channels = static_cast<std::size_t>(graph.tensors[tensor].shape.channels);
    for (std::size_t i = c; i < values[tensor].size(); i += channels)
      values[tensor][i] = random.int8();
    for (const CanonicalOp& op : graph.ops) {
      if (op.output.at() <= tensor) continue;  // tensors are numbered in their order
      std::vector<const TensorValue*> operands;
      for (const TensorId id : op.inputs) operands.push_back(&values[id.at()]);
      values[op.output.at()] = interpretOp(graph, op, operands);
    }
    return values.back();
  }
};

// How often something was seen, and how much of that propagate() said.
struct Tally {
  int seen = 0, told = 0;
  void add(bool sees, bool tells, const std::string& what) {
    EXPECT_TRUE(sees || !tells) << what;
    seen += sees;
    told += sees && tells;
  }
};

// Of a channel, over all pixels and runs.
std::set<std::int8_t> valuesOf(const std::vector<std::vector<TensorValue>>& runs,
                               std::size_t tensor, std::size_t channel, std::size_t channels) {
  std::set<std::int8_t> values;
  for (const std::vector<TensorValue>& run : runs)
    for (std::size_t i = channel; i < run[tensor].size(); i += channels)
      values.insert(run[tensor][i]);
  return values;
}

TEST_P(PropagateRule, SaysWhichChannelsNeverChange) {
  Random random(1);
  Tally tally;
  for (int round = 0; round < 60; ++round) {
    const CanonicalGraph graph = graphOf(GetParam().add, random);
    const Propagated found = propagate(graph);
    std::vector<std::vector<TensorValue>> runs;
    for (int run = 0; run < 8; ++run) runs.push_back(interpret(graph, inputsOf(graph, random)));
    for (std::size_t t = 1; t < graph.tensors.size(); ++t) {
      const auto& constant = found.tensors[t].constant;
      for (std::size_t c = 0; c < constant.size(); ++c) {
        const std::set<std::int8_t> values = valuesOf(runs, t, c, constant.size());
        EXPECT_TRUE(!constant[c] || values == std::set{*constant[c]})
            << round << " " << graph.tensors[t].name << " " << c;
        tally.add(values.size() == 1, constant[c].has_value(), graph.tensors[t].name);
      }
    }
  }
  EXPECT_GT(tally.seen, 100);
  EXPECT_GT(tally.told, tally.seen * 95 / 100) << tally.seen;
}

TEST_P(PropagateRule, SaysOnWhichChannelsNoOutputDepends) {
  Random random(2);
  Tally tally;
  for (int round = 0; round < 60; ++round) {
    const CanonicalGraph graph = graphOf(GetParam().add, random);
    const Propagated found = propagate(graph);
    const std::vector<TensorValue> values = interpret(graph, inputsOf(graph, random));
    for (std::size_t t = 0; t + 1 < graph.tensors.size(); ++t)
      for (std::size_t c = 0; c < found.tensors[t].needed.size(); ++c) {
        if (found.tensors[t].constant[c]) continue;  // what it gives others may be in their biases
        bool same = true;
        for (int trial = 0; trial < 4; ++trial)
          same &= disturbed(graph, values, t, c, random) == values.back();
        tally.add(same, !found.tensors[t].needed[c], graph.tensors[t].name);
      }
  }
  EXPECT_GT(tally.seen, 100);
  EXPECT_GT(tally.told, tally.seen * 95 / 100) << tally.seen;
}

TEST_P(PropagateRule, KeepsTheOutput) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const CanonicalGraph graph = graphOf(GetParam().add, random), found = propagate(graph).graph;
    EXPECT_EQ(toText(verify(found)), "") << round;
    for (int run = 0; run < 3; ++run) {
      const std::vector<TensorValue> inputs = inputsOf(graph, random);
      EXPECT_EQ(interpret(graph, inputs).back(), interpret(found, inputs).back()) << round;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, PropagateRule, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace heddle
