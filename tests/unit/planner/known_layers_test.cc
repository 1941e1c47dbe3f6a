#include "../../../src/planner/known_layers.h"

#include <gtest/gtest.h>

#include "../devices.h"
#include "../graphs.h"
#include "heddle/canon/batch.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/join_siblings.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// A block of two branches, whose tensors some readers share, and a depth-wise convolution.
CanonicalGraph branches(std::int64_t channels) {
  GraphBuilder b("branches");
  const TensorId x = b.conv("stem", b.input("x", {28, 28, 3}), channels, square(3, 1, 1));
  const TensorId left = b.conv("left", x, channels, {});
  const TensorId deep = b.depthwise("dw", b.conv("right", x, channels, {}), square(3, 1, 1));
  const TensorId sum = b.add("sum", b.conv("back", deep, channels, {}), left);
  return b.finish(b.maxPool("pool", b.conv("again", sum, channels, {}), square(2, 2)));
}

// The same with half of the blocks of one convolution left out, here or there.
CanonicalGraph sparse(CanonicalGraph graph, std::int64_t first) {
  for (CanonicalOp& op : graph.ops)
    if (op.name == "again") {
      Conv& conv = std::get<Conv>(op.attributes);
      conv.kept = Bits(blocksOf(graph.tensors[op.inputs[0].at()].shape) *
                       blocksOf(graph.tensors[op.output.at()].shape));
      for (std::int64_t b = first; b < conv.kept.size(); b += 2) conv.kept.set(b);
    }
  return graph;
}

// The like of its layers, but one reads every second pixel of a tensor of which others read all.
CanonicalGraph strided(std::int64_t channels) {
  GraphBuilder b("strided");
  const TensorId x = b.conv("stem", b.input("x", {28, 28, 3}), channels, square(3, 1, 1));
  const TensorId some = b.slice("some", x, {0, 2, 14}, {0, 2, 14});
  const TensorId small = b.conv("small", some, channels, {});
  const TensorId same = b.conv("same", b.conv("all", x, channels, square(2, 2)), channels, {});
  return b.finish(b.add("sum", small, same));
}

// Layers of other networks that are alike, or nearly so, are all that a plan could be misled by.
TEST(KnownLayers, PlansAreThoseThatNothingIsKnownFor) {
  std::vector<CanonicalGraph> graphs;
  const CanonicalGraph graph = branches(32);
  graphs.push_back(graph);
  graphs.push_back(*fuseOperators(graph));
  graphs.push_back(*fuseOperators(graph, depthwiseAtEnds(graphs.back())));
  if (const auto joined = joinSiblings(graphs.back())) graphs.push_back(*joined);
  graphs.push_back(sparse(graph, 0));
  graphs.push_back(sparse(graph, 1));
  graphs.push_back(strided(32));
  graphs.push_back(withBatch(graph, 2));
  // Where acquiring a lock takes time, it counts who reads a tensor first; where little fits the
  // memtiles, layers are tiled.
  for (const Device& device :
       {testing::switched(2, 2, {{"locks.acquire", "20 cycles"}}),
        testing::paper(2, 3, {{"limits.lockMaximum", "7"}}),
        testing::paper(2, 2, {{"memtile.memory", "32KiB"}, {"links.ddr.read", "500MB/s"}})}) {
    KnownLayers known(device);
    for (const CanonicalGraph& one : graphs) {
      SCOPED_TRACE(device.name + " " + std::to_string(&one - graphs.data()));
      const Result<ChosenPlan> fresh = choosePlan(one, device);
      ASSERT_TRUE(fresh);
      for (int round = 0; round < 2; ++round) {
        Result<ChosenPlan> more = choosePlan(one, known, {}, true, {});
        ASSERT_TRUE(more);
        weighLayers(one, known, *more);
        EXPECT_EQ(more->plan, fresh->plan);
        EXPECT_EQ(more->choices, fresh->choices);
        EXPECT_EQ(*endInClosedForm(one, more->plan, known),
                  *endInClosedForm(one, more->plan, device));
      }
    }
    EXPECT_FALSE(known.finalists.found.empty());
  }
}

// What is known of a mapping at some places is not what is known of another kind's there.
TEST(KnownSteps, NoTwoKindsHaveANumberInCommon) {
  KnownSteps steps;
  const StepPlaces above{{0, 4}, {}, {}, {true}}, below{{4, 4}, {}, {}, {true}};
  const std::size_t one = steps.numberOf(0, above), other = steps.numberOf(1, above);
  EXPECT_NE(one, other);
  EXPECT_NE(steps.numberOf(0, below), other);
  EXPECT_EQ(steps.numberOf(0, above), one);
  EXPECT_EQ(steps.numberOf(1, above), other);
}

TEST(KnownLayers, KindsAreOfAllThatTheWorkDependsOn) {
  LayerKinds kinds;
  const CanonicalGraph graph = branches(32);
  const std::vector<std::size_t> of = kinds.of(graph);
  const auto kindOf = [&](const CanonicalGraph& g, const std::vector<std::size_t>& all,
                          const char* name) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (g.ops[i].name == name) return all[i];
    return SIZE_MAX;
  };
  EXPECT_EQ(kindOf(graph, of, "left"), kindOf(graph, of, "right"));
  EXPECT_NE(kindOf(graph, of, "left"), kindOf(graph, of, "stem"));
  EXPECT_EQ(kinds.of(graph), of);
  const CanonicalGraph one = sparse(graph, 0), other = sparse(graph, 1);
  EXPECT_NE(kindOf(one, kinds.of(one), "again"), kindOf(graph, of, "again"));
  EXPECT_NE(kindOf(one, kinds.of(one), "again"), kindOf(other, kinds.of(other), "again"));
  EXPECT_EQ(kindOf(one, kinds.of(one), "left"), kindOf(graph, of, "left"));
}

}  // namespace
}  // namespace heddle
