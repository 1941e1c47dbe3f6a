#include "heddle/planner/plan_joined.h"

#include <gtest/gtest.h>

#include "../devices.h"
#include "../graphs.h"
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

TEST(PlanJoined, TakesTheJoinedWhereThatIsFasterByOnePerCent) {
  const CanonicalGraph graph = siblings(256, 32);
  const auto joined = joinSiblings(graph);
  ASSERT_TRUE(joined);
  const Device device = testing::paper(4, 4);
  const Result<JoinedPlan> plan = planJoined(graph, joined.get(), device, {}, true);
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
  const Result<JoinedPlan> plan = planJoined(graph, joined.get(), device, {}, true);
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
    const Result<JoinedPlan> plan = planJoined(graph, joined.get(), device, options, false);
    ASSERT_TRUE(plan) << plan.diagnostics();
    EXPECT_FALSE(plan->isJoined);
  }
}

TEST(PlanJoined, AtHigherEffortTheMachineJudgesPlansOfTheBetterNetwork) {
  const CanonicalGraph graph = siblings(256, 32);
  const auto joined = joinSiblings(graph);
  const Device device = testing::paper(4, 2);
  const Result<JoinedPlan> usual = planJoined(graph, joined.get(), device, {}, false),
                           judged = planJoined(graph, joined.get(), device, {.effort = 2}, true);
  ASSERT_TRUE(usual && judged);
  EXPECT_EQ(judged->isJoined, usual->isJoined);
  EXPECT_TRUE(judged->ordered.choices->timed);
  EXPECT_TRUE(judged->ordered.choices->join);
}

}  // namespace
}  // namespace heddle
