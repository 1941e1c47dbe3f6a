#include "heddle/planner/plan_joined.h"

#include <gtest/gtest.h>

#include "../devices.h"
#include "../graphs.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/join_siblings.h"
#include "heddle/planner/count_work.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// Four convolutions of one pixel that read the same `inputs` channels and write `outputs` each; a
// Concat begins with what one of them writes.
CanonicalGraph siblings(std::int64_t inputs, std::int64_t outputs) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {12, 12, 256});
  const TensorId s = b.conv("spread", x, inputs, {});
  std::vector<TensorId> ends{b.conv("first", s, outputs, {})};
  for (const char* name : {"a", "b", "c"})
    ends.push_back(
        b.conv(std::string(name) + "2", b.conv(name, s, outputs, {}), 32, square(3, 1, 1)));
  return b.finish(b.maxPool("pool", b.concat("all", ends), square(2, 2)));
}

TEST(PlanJoined, TakesTheJoinedWhereThatIsFasterByHalfAPerCent) {
  const CanonicalGraph graph = siblings(256, 32);
  const auto joined = joinSiblings(graph);
  ASSERT_TRUE(joined);
  const Device device = testing::paper(4, 4);
  const Result<JoinedPlan> plan = planJoined(graph, joined.get(), {}, device, {}, true);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->isJoined);
  EXPECT_EQ(verify(plan->ordered.plan, *joined, device), Diagnostics{});
  ASSERT_TRUE(plan->ordered.choices && plan->ordered.choices->join);
  const JoinChoice& choice = *plan->ordered.choices->join;
  EXPECT_EQ(choice.convolutions, 4);
  EXPECT_TRUE(choice.taken);
  EXPECT_EQ(*endInClosedForm(*joined, plan->ordered.plan, device), choice.joined);
  EXPECT_EQ(*endInClosedForm(graph, *makePlan(graph, device), device), choice.apart);
  EXPECT_LE(choice.joined.raw() * 1000, choice.apart.raw() * 990);
}

TEST(PlanJoined, FewInputsOfManyOutputsGainNothing) {
  const CanonicalGraph graph = siblings(8, 128);
  const auto joined = joinSiblings(graph);
  const Device device = testing::paper(1, 1);
  const Result<JoinedPlan> plan = planJoined(graph, joined.get(), {}, device, {}, true);
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->isJoined);
  EXPECT_FALSE(plan->ordered.choices->join->taken);
  EXPECT_EQ(plan->ordered.plan, *makePlan(graph, device));
}

TEST(PlanJoined, NotAtEffortZeroAndNotWhereGroupsAreNamed) {
  const CanonicalGraph graph = siblings(256, 32);
  const auto joined = joinSiblings(graph);
  const Device device = testing::paper(4, 4);
  for (const PlanOptions& options :
       {PlanOptions{.effort = 0},
        PlanOptions{.tiling = PlanOptions::Tiling::Given, .groups = {{"a", "a2", 2}}}}) {
    const Result<JoinedPlan> plan = planJoined(graph, joined.get(), {}, device, options, false);
    ASSERT_TRUE(plan) << plan.diagnostics();
    EXPECT_FALSE(plan->isJoined);
  }
}

TEST(PlanJoined, AtHigherEffortTheMachineJudgesPlansOfTheBetterNetwork) {
  const CanonicalGraph graph = siblings(256, 32);
  const auto joined = joinSiblings(graph);
  const Device device = testing::paper(4, 2);
  const Result<JoinedPlan> usual = planJoined(graph, joined.get(), {}, device, {}, false),
                           judged =
                               planJoined(graph, joined.get(), {}, device, {.effort = 2}, true);
  ASSERT_TRUE(usual && judged);
  EXPECT_EQ(judged->isJoined, usual->isJoined);
  EXPECT_TRUE(judged->ordered.choices->timed);
  EXPECT_TRUE(judged->ordered.choices->join);
}

struct Pair {  // a convolution of one pixel and a depth-wise one behind it
  std::int64_t channels, kernel;
};

CanonicalGraph pairs(std::int64_t inputs, const std::vector<Pair>& all) {
  GraphBuilder b("net");
  TensorId last = b.input("x", {28, 28, inputs});
  for (const Pair& pair : all) {
    const std::string name = "p" + std::to_string(&pair - all.data());
    last = b.depthwise(name + "_dw", b.conv(name, last, pair.channels, {}),
                       square(pair.kernel, 1, pair.kernel / 2));
  }
  return b.finish(last);
}

FusedNetworks networksOf(const CanonicalGraph& graph, const std::set<std::string>& apart) {
  auto fused = fuseOperators(graph, apart);
  if (!fused) fused = std::make_shared<const CanonicalGraph>(graph);
  return {fused, joinSiblings(*fused)};
}

// The names of the layers that the plan is of.
std::vector<std::string> layersOf(const CanonicalGraph& graph) {
  const CanonicalGraph fused = *fuseOperators(graph);
  const WithApart withApart = [&](const auto& names) { return networksOf(graph, names); };
  const Device device = testing::paper(4, 4);
  const Result<JoinedPlan> plan = planJoined(fused, nullptr, withApart, device, {}, false);
  if (!plan) return {toText(plan.diagnostics())};
  const CanonicalGraph& network = plan->network ? *plan->network : fused;
  EXPECT_EQ(verify(plan->ordered.plan, network, device), Diagnostics{});
  if (plan->network) {
    EXPECT_LT(*endInClosedForm(network, plan->ordered.plan, device),
              *endInClosedForm(fused, *makePlan(fused, device), device));
  }
  std::vector<std::string> names;
  for (const CanonicalOp& op : network.ops) names.push_back(op.name);
  return names;
}

TEST(PlanJoined, DepthwiseConvolutionsAreAtEndsWhereThatIsFaster) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(layersOf(pairs(16, {{96, 3}})), (Names{"p0"}));
  EXPECT_EQ(layersOf(pairs(256, {{256, 5}})), (Names{"p0", "p0_dw"}));
  EXPECT_EQ(layersOf(pairs(16, {{256, 3}, {256, 5}})), (Names{"p0", "p1", "p1_dw"}));
}

// A gate goes into the convolution behind, but where each of many cores would multiply all of it
// again.
TEST(PlanJoined, GatesAreInTheConvolutionBehindWhereThatIsFaster) {
  const auto gated = [](std::int64_t height, std::int64_t channels, std::int64_t outputs) {
    GraphBuilder b("net");
    const Shape shape{height, height, channels};
    const TensorId x = b.input("x", shape), gate = b.input("gate", {1, 1, channels});
    const TensorId product = b.op("mul", "Mul", {x, gate}, shape, Mul{{1 << 30, 36}, {}});
    return b.finish(b.conv("conv", product, outputs, {}));
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(layersOf(gated(28, 96, 24)), Names{"conv"});
  const CanonicalGraph slow = gated(2, 256, 1024);
  const CanonicalGraph fused = *fuseOperators(slow);
  const WithApart withApart = [&](const auto& names) { return networksOf(slow, names); };
  Device device = testing::paper(4, 4);
  device.core.vectorBytesPerCycle = 1;
  const Result<JoinedPlan> plan = planJoined(fused, nullptr, withApart, device, {}, true);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->network);
  EXPECT_EQ(plan->network->ops.size(), 2U);
  ASSERT_TRUE(plan->ordered.choices && plan->ordered.choices->ends);
  EXPECT_EQ(plan->ordered.choices->ends->starts, 1);
  EXPECT_EQ(plan->ordered.choices->ends->layers, std::vector<std::string>{"mul"});
}

// Eight convolutions that read one tensor, behind them one with a depth-wise one.
TEST(PlanJoined, JoinsWithDepthwiseConvolutionsWhereTheyAreFastestApart) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {28, 28, 256});
  std::vector<TensorId> ends;
  for (int i = 0; i < 8; ++i) {
    const std::string name = std::string("s") + std::to_string(i);
    ends.push_back(b.conv(name + "b", b.conv(name, x, 32, {}), 32, {}));
  }
  const TensorId last = b.conv("pw", b.concat("all", ends), 256, {});
  const CanonicalGraph graph = b.finish(b.depthwise("dw", last, square(5, 1, 2)));
  const FusedNetworks atEnds = networksOf(graph, {}), apart = networksOf(graph, {"dw"});
  ASSERT_TRUE(atEnds.joined && apart.joined);
  const WithApart withApart = [&](const auto& names) { return networksOf(graph, names); };
  const Device device = testing::paper(4, 4);
  const Result<JoinedPlan> plan =
      planJoined(*atEnds.apart, atEnds.joined.get(), withApart, device, {}, true);
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->isJoined && plan->network);
  EXPECT_EQ(*plan->network, *apart.joined);
  EXPECT_EQ(verify(plan->ordered.plan, *plan->network, device), Diagnostics{});
  ASSERT_TRUE(plan->ordered.choices && plan->ordered.choices->ends);
  EXPECT_EQ(plan->ordered.choices->ends->layers, std::vector<std::string>{"dw"});
  const Cycles taken = plan->ordered.choices->ends->taken;
  EXPECT_EQ(*endInClosedForm(*plan->network, plan->ordered.plan, device), taken);
  for (const CanonicalGraph* other : {&*atEnds.apart, &*atEnds.joined, &*apart.apart})
    EXPECT_LT(taken, *endInClosedForm(*other, *makePlan(*other, device), device));
}

}  // namespace
}  // namespace heddle
