#include "heddle/canon/join_siblings.h"

#include <gtest/gtest.h>

#include <functional>

#include "../graphs.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/planned_values.h"
#include "heddle/interp/interpret.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::rampsOf;
using testing::square;

// Convolutions of numbers of their own.
void tellApart(CanonicalGraph& graph) {
  std::int64_t n = 0;
  for (CanonicalOp& op : graph.ops) {
    Conv* conv = std::get_if<Conv>(&op.attributes);
    if (!conv) continue;
    for (std::int8_t& weight : conv->weights.own())
      weight = static_cast<std::int8_t>(n++ * 11 % 17 - 8);
    for (std::int32_t& bias : conv->bias) bias = static_cast<std::int32_t>(n++ * 97 % 5000);
    conv->clamp = {-60, 110};
  }
}

// What a joined graph's tensors hold is what was to be expected of the graph before.
void expectJoinedValues(const CanonicalGraph& graph, const CanonicalGraph& joined) {
  EXPECT_EQ(verify(joined), Diagnostics{});
  const std::vector<TensorValue> inputs = rampsOf(graph);
  EXPECT_EQ(interpret(joined, inputs), valuesAsPlanned(joined, graph, interpret(graph, inputs)));
}

// A block of Inception: three convolutions read x, the first goes to the Concat.
CanonicalGraph block() {
  GraphBuilder b("block");
  const TensorId x = b.input("x", {6, 6, 16});
  const TensorId one = b.conv("one", x, 8, {}), five = b.conv("five", x, 24, {}),
                 three = b.conv("three", x, 16, {});
  const TensorId both = b.concat("both", {one, b.conv("five_b", five, 8, square(5, 1, 2)),
                                          b.conv("three_b", three, 16, square(3, 1, 1))});
  CanonicalGraph graph = b.finish(b.maxPool("pool", both, square(2, 2)));
  tellApart(graph);
  return graph;
}

TEST(JoinSiblings, PutsWhatGoesToAConcatLastAndTheOthersBehindIt) {
  const CanonicalGraph graph = block();
  const auto joined = joinSiblings(graph);
  ASSERT_TRUE(joined);
  expectJoinedValues(graph, *joined);
  std::vector<std::string> names;
  for (const CanonicalOp& op : joined->ops) names.push_back(op.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"five + three + one", "five part", "three part", "one part",
                                      "five_b", "three_b", "both", "both part", "pool"}));
  EXPECT_EQ(joined->tensors[joined->ops[0].output.at()].shape, (Shape{6, 6, 48}));
  EXPECT_EQ(joined->ops[6].inputs[0], joined->ops[0].output);
  EXPECT_EQ(joined->tensors[joined->ops[6].output.at()].shape, (Shape{6, 6, 72}));
  EXPECT_FALSE(joinSiblings(*joined));
}

TEST(JoinSiblings, KeepsWhichBlocksOfWeightsThereAre) {
  CanonicalGraph graph = block();
  for (CanonicalOp& op : graph.ops)
    if (Conv* conv = std::get_if<Conv>(&op.attributes); conv && op.inputs[0].at() == 0) {
      conv->kept = Bits(std::ssize(conv->bias) / kBlock * 2, true);
      conv->kept.reset(0);
    }
  const auto joined = joinSiblings(graph);
  ASSERT_TRUE(joined);
  const Bits& kept = std::get<Conv>(joined->ops[0].attributes).kept;
  ASSERT_EQ(kept.size(), 6 * 2);
  for (std::int64_t i = 0; i < kept.size(); ++i)  // each one's first block
    EXPECT_EQ(kept[i], i != 0 && i != 3 * 2 && i != 5 * 2) << i;
}

// Where two could be joined, what they compute is not looked up by each at its end.
TEST(JoinSiblings, LeaveTheirTablesToLayersOfTheirOwn) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {6, 6, 16}),
                 left = b.table("left table", b.conv("left", x, 8, {})),
                 right = b.table("right table", b.conv("right", x, 24, {})),
                 both = b.concat("both", {left, right});
  CanonicalGraph graph = b.finish(b.table("last table", b.conv("last", both, 8, {})));
  tellApart(graph);
  const auto fused = fuseOperators(graph);
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused->ops.size(), 4u);
  EXPECT_FALSE(joinSiblings(*fused));
  const auto joined = fuseAndJoin(graph);
  ASSERT_TRUE(joined);
  EXPECT_EQ(verify(*joined), Diagnostics{});
  EXPECT_EQ(optionallyApart(*joined), std::set<std::string>{"last table"});
  std::vector<std::string> names;
  for (const CanonicalOp& op : joined->ops) names.push_back(op.name);
  EXPECT_EQ(names, (std::vector<std::string>{"left + right", "left part", "right part",
                                             "left table", "right table", "both", "last"}));
  const auto outputOf = [&](const CanonicalGraph& g) {
    return interpret(g, rampsOf(graph)).at(g.outputs[0].tensor.at());
  };
  EXPECT_EQ(outputOf(*joined), outputOf(graph));
  // Named, both tables are layers in either case.
  EXPECT_EQ(*fuseAndJoin(graph, {"left table", "last table"}),
            *fuseAndJoin(graph, {"left table", "right table", "last table"}));
}

// What must be as it is in block() for "three" to be joined with "five".
struct Reason {
  const char* name;
  std::function<void(CanonicalGraph&, CanonicalOp& three, Conv&)> change;
};

class NotJoined : public ::testing::TestWithParam<Reason> {};

TEST_P(NotJoined, WhereItDiffers) {
  CanonicalGraph graph = block();
  CanonicalOp& three = graph.ops[2];
  GetParam().change(graph, three, std::get<Conv>(three.attributes));
  const auto joined = joinSiblings(graph);
  ASSERT_TRUE(joined);  // the two others are
  EXPECT_EQ(joined->ops[0].name, "five + one");
}

INSTANTIATE_TEST_SUITE_P(
    Siblings, NotJoined,
    ::testing::
        Values(
            Reason{"Clamp", [](CanonicalGraph&, CanonicalOp&, Conv& conv) { conv.clamp.low = 0; }},
            Reason{"Window",
                   [](CanonicalGraph&, CanonicalOp&, Conv& conv) { conv.window.strideX = 2; }},
            Reason{"NegativeScale", [](CanonicalGraph&, CanonicalOp&,
                                       Conv& conv) { conv.requantizeNegative = conv.requantize; }},
            Reason{"KnownBlocks",
                   [](CanonicalGraph&, CanonicalOp&, Conv& conv) { conv.kept = Bits(4, true); }},
            Reason{"Gate",
                   [](CanonicalGraph&, CanonicalOp&, Conv& conv) { conv.fusedMul.emplace(); }},
            Reason{"Lines",
                   [](CanonicalGraph&, CanonicalOp&, Conv& conv) { conv.fusedLines.emplace(); }},
            Reason{"Sum",
                   [](CanonicalGraph&, CanonicalOp&, Conv& conv) { conv.fusedAdd.emplace(); }},
            Reason{"Pool",
                   [](CanonicalGraph&, CanonicalOp&, Conv& conv) { conv.fusedWindow.emplace(); }},
            Reason{"ZeroPoint", [](CanonicalGraph& graph, CanonicalOp& op,
                                   Conv&) { graph.tensors[op.output.at()].zeroPoint = 5; }},
            Reason{"PartOfABlock",
                   [](CanonicalGraph& graph, CanonicalOp& op, Conv&) {
                     graph.tensors[op.output.at()].shape.channels = 12;
                   }},
            Reason{"Operand", [](CanonicalGraph& graph, CanonicalOp& op,
                                 Conv&) { op.inputs[0] = graph.ops[0].output; }},
            Reason{
                "Output",
                [](CanonicalGraph& graph, CanonicalOp& op, Conv&) {
                  graph.outputs.push_back(graph.outputs[0]);
                  graph.outputs.back().tensor = op.output;
                }},
            Reason{"LaterInAConcat", [](CanonicalGraph& graph, CanonicalOp& op,
                                        Conv&) { graph.ops[5].inputs[2] = op.output; }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(JoinSiblings, LeavesAConcatThatIsAnOutputOrAPartOfAnother) {
  for (const bool isOutput : {false, true}) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {6, 6, 16});
    const TensorId one = b.conv("one", x, 8, {}), two = b.conv("two", x, 16, {});
    const TensorId other = b.conv("other", two, 8, square(3, 1, 1));
    TensorId both = b.concat("both", {one, other});
    if (!isOutput) both = b.concat("all", {b.conv("more", two, 8, square(3, 1, 1)), both});
    EXPECT_FALSE(joinSiblings(b.finish(both))) << isOutput;
  }
}

}  // namespace
}  // namespace heddle
