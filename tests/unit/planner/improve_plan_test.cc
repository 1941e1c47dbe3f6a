#include "../../../src/planner/improve_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../devices.h"
#include "../graphs.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::paper;
using testing::square;

// Layers that like different cuts, so that the planner errs with some.
CanonicalGraph mixedNet() {
  GraphBuilder b("net");
  const TensorId a = b.conv("a", b.input("x", {14, 14, 16}), 40, square(3, 1, 1));
  const TensorId c = b.conv("c", a, 136, square(1));
  const TensorId d = b.conv("d", b.maxPool("pool", c, square(2, 2)), 72, square(3, 1, 1));
  const TensorId e = b.conv("e", d, 72, square(1));
  return b.finish(b.conv("f", b.add("sum", d, e), 264, square(1)));
}

Cycles simulated(const CanonicalGraph& graph, const Device& device, const Plan& plan) {
  PlanTimer timer(graph, device, {.plans = 1, .instructions = 1}, {});
  const std::optional<PlanTime> time = timer.time(plan);
  EXPECT_TRUE(time);
  return time ? time->cycles : Cycles();
}

void expectNoSlowerAt(const std::vector<int>& efforts, const Device& device,
                      const CanonicalGraph& graph = mixedNet()) {
  Cycles below(INT64_MAX);
  for (const int effort : efforts) {
    const Result<Plan> plan = makePlan(graph, device, {.effort = effort});
    ASSERT_TRUE(plan) << plan.diagnostics();
    EXPECT_EQ(verify(*plan, graph, device), Diagnostics{});
    const Cycles cycles = simulated(graph, device, *plan);
    EXPECT_LE(cycles, below) << effort;
    below = cycles;
  }
}

TEST(ImprovePlan, NoEffortIsSlowerThanTheOneBelowIt) {
  expectNoSlowerAt({1, 2, 3}, paper(1, 2));
  expectNoSlowerAt({1, 2}, paper(3, 3, {{"links.ddr.read", "1 GB/s"}}));
}

CanonicalGraph mlp() {
  GraphBuilder b("mlp");
  const TensorId first = b.conv("fc1", b.input("x", {1, 1, 784}), 512, square(1));
  return b.finish(b.conv("fc3", b.conv("fc2", first, 512, square(1)), 10, square(1)));
}

// Of such a network effort 1 leaves cores out.
TEST(ImprovePlan, NorIsItWhereFewerCoresDivideTheLayersBetter) {
  expectNoSlowerAt({1, 2}, paper(6, 8), mlp());
  expectNoSlowerAt({1, 2}, paper(5, 4), mlp());
}

TEST(MakePlan, ARowOrAColumnMoreIsNoSlowerForASmallNetwork) {
  const CanonicalGraph graph = mlp();
  const auto cycles = [&](std::int64_t rows, std::int64_t columns) {
    const Device device = paper(rows, columns);
    return simulated(graph, device, *makePlan(graph, device)).raw();
  };
  for (const auto& [rows, columns] : {std::pair{6, 6}, {7, 7}, {4, 4}, {2, 4}, {5, 3}}) {
    const std::int64_t usual = cycles(rows, columns);
    EXPECT_LE(cycles(rows + 1, columns) * 100, usual * 103) << rows << "x" << columns;
    EXPECT_LE(cycles(rows, columns + 1) * 100, usual * 103) << rows << "x" << columns;
  }
}

TEST(ImprovePlan, NorIsItWhereTensorsSpill) {
  expectNoSlowerAt({1, 2}, paper(2, 2, {{"memtile.memory", "16 KiB"}}));
}

TEST(ImprovePlan, KeepsTheDevicesLimits) {
  expectNoSlowerAt({1, 2}, paper(2, 2, {{"limits.lockMaximum", "63"}}));
}

TEST(ImprovePlan, SaysWhatTheMachineTimed) {
  const CanonicalGraph graph = mixedNet();
  const Device device = paper(3, 3);
  const Plan usual = *makePlan(graph, device);
  const ChosenPlan chosen = *choosePlan(graph, device, {.effort = 2});
  ASSERT_TRUE(chosen.choices.timed);
  EXPECT_GT(chosen.choices.timed->plans, 1);
  EXPECT_EQ(chosen.choices.timed->first, simulated(graph, device, usual));
  EXPECT_EQ(chosen.choices.timed->best, simulated(graph, device, chosen.plan));
  EXPECT_FALSE(choosePlan(graph, device)->choices.timed);
}

TEST(ImprovePlan, IsThePlanOfMakePlanEachTime) {
  const CanonicalGraph graph = mixedNet();
  const Device device = paper(2, 3);
  const ChosenPlan chosen = *choosePlan(graph, device, {.effort = 2});
  EXPECT_EQ(chosen.plan, choosePlan(graph, device, {.effort = 2})->plan);
  EXPECT_EQ(chosen.plan, *makePlan(graph, device, {.effort = 2}));
}

TEST(ImprovePlan, TellsProgressThatNeverFalls) {
  std::vector<double> told{0};
  ASSERT_TRUE(
      makePlan(mixedNet(), paper(2, 2), {.effort = 2}, [&](double part) { told.push_back(part); }));
  EXPECT_GT(told.size(), 2u);
  EXPECT_TRUE(std::ranges::is_sorted(told));
  EXPECT_LE(told.back(), 1);
}

TEST(ImprovePlan, KeepsToGivenGroups) {
  GraphBuilder b("net");
  const TensorId a = b.conv("a", b.input("x", {40, 40, 16}), 32, square(3, 1, 1));
  const CanonicalGraph graph = b.finish(b.conv("c", a, 32, square(3, 1, 1)));
  const Result<Plan> plan = makePlan(graph, paper(2, 2),
                                     {.effort = 2,
                                      .tiling = PlanOptions::Tiling::Given,
                                      .groups = {{.first = "a", .last = "c", .tiles = 4}}});
  ASSERT_TRUE(plan) << plan.diagnostics();
  EXPECT_EQ(plan->schedule.size(), 8u);
}

TEST(PlanTimer, TimesNoMoreThanItsBudget) {
  const CanonicalGraph graph = mixedNet();
  const Device device = paper(2, 2);
  const Plan plan = *makePlan(graph, device);
  PlanTimer timer(graph, device, {.plans = 2, .instructions = INT64_MAX}, {});
  EXPECT_TRUE(timer.time(plan));
  EXPECT_FALSE(timer.isSpent());
  EXPECT_TRUE(timer.time(plan));
  EXPECT_TRUE(timer.isSpent());
  EXPECT_FALSE(timer.time(plan));
  EXPECT_EQ(timer.plans(), 2);
}

TEST(PlanTimer, TimesNoPlanThatIsNotLegal) {
  const CanonicalGraph graph = mixedNet();
  const Device device = paper(2, 2);
  Plan plan = *makePlan(graph, device);
  plan.schedule.pop_back();
  PlanTimer timer(graph, device, {.plans = 2, .instructions = INT64_MAX}, {});
  EXPECT_FALSE(timer.time(plan));
  EXPECT_EQ(timer.plans(), 0);
}

}  // namespace
}  // namespace heddle
