#include "../../../src/planner/tile_groups.h"

#include <gtest/gtest.h>

#include "../devices.h"
#include "../graphs.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "heddle/tiling/views.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::paper;
using testing::square;
using testing::twoConvsAndPool;

Plan planOf(const CanonicalGraph& graph, const Device& device, const PlanOptions& options = {}) {
  const Result<Plan> plan = makePlan(graph, device, options);
  EXPECT_TRUE(plan) << plan.diagnostics();
  EXPECT_EQ(verify(*plan, graph, device), Diagnostics{});
  return *plan;
}

using Steps = std::vector<ScheduleStep>;

TEST(TileGroups, FollowRowsBackThroughKernelsAndPools) {
  const CanonicalGraph graph = twoConvsAndPool({16, 16, 16});
  const Plan plan = planOf(graph, paper(2, 2));
  const LayerId first(0), second(1), pool(2);
  EXPECT_EQ(tiledSchedule(graph, plan, {{0, 3, 2}}), (Steps{{first, {0, 9}},
                                                            {second, {0, 8}},
                                                            {pool, {0, 4}},
                                                            {first, {9, 7}},
                                                            {second, {8, 8}},
                                                            {pool, {4, 4}}}));
}

TEST(TileGroups, LeaveOtherLayersInTheirOrder) {
  const CanonicalGraph graph = twoConvsAndPool({16, 16, 16});
  const Plan plan = planOf(graph, paper(2, 2));
  const LayerId first(0), second(1), pool(2);
  EXPECT_EQ(
      tiledSchedule(graph, plan, {{1, 3, 2}}),
      (Steps{
          {first, {0, 16}}, {second, {0, 8}}, {pool, {0, 4}}, {second, {8, 8}}, {pool, {4, 4}}}));
}

// More tiles than rows need, as long as each leaves more room for records.
TEST(TileGroups, AsManyTilesAsLeaveRoomForRecords) {
  const CanonicalGraph graph = twoConvsAndPool({64, 32, 16});
  Device device = paper(2, 2);
  const Plan plan = planOf(graph, device, {.effort = 0});
  EXPECT_TRUE(tilesBesideRecords(graph, device, plan, {0, 3, 2}).empty());  // there is room in two
  std::int64_t records = 0;
  for (const Mapping& mapping : plan.layers)
    if (!mapping.weights.empty()) records += recordBytes(mapping, differentRecords(mapping));
  std::size_t most = 0;
  for (std::int64_t rows = 2048; rows < 65536; rows += 2048) {
    device.memtile.memory = Bytes(plan.weightStaging + records + rows);
    const std::vector<std::int64_t> tiles = tilesBesideRecords(graph, device, plan, {0, 3, 2});
    EXPECT_TRUE(std::ranges::is_sorted(tiles));
    if (!tiles.empty()) {
      EXPECT_EQ(tiles[0], 3);
    }
    most = std::max(most, tiles.size());
  }
  EXPECT_GT(most, 2u);
}

// Memtiles that hold some rows of each tensor, and a slow DDR.
Device smallMemtiles() {
  return paper(2, 2,
               {{"memtile.memory", "8 KiB"},
                {"memtile.ddrChannelsIn", "1"},
                {"links.ddr.read", "0.1 GB/s"},
                {"links.ddr.write", "0.1 GB/s"}});
}

CanonicalGraph wide() {
  GraphBuilder b("wide");
  const TensorId first = b.conv("first", b.input("x", {64, 32, 8}), 8, square(3, 1, 1));
  const TensorId second = b.conv("second", first, 8, square(3, 1, 1));
  const TensorId sum = b.add("sum", b.conv("third", second, 8, square(3, 1, 1)), first);
  return b.finish(b.maxPool("pool", sum, square(2, 2)));
}

std::int64_t cyclesOf(const CanonicalGraph& graph, const Plan& plan, const Device& device) {
  const Result<MemoryPlan> memory = allocateMemory(graph, plan, device);
  EXPECT_TRUE(memory) << memory.diagnostics();
  return timesInClosedForm(graph, plan, *memory, device).back().end.raw();
}

TEST(MakePlan, TilesLayersDepthWiseWhereTheirTensorsSpill) {
  const CanonicalGraph graph = wide();
  const Device device = smallMemtiles();
  const Plan tiled = planOf(graph, device);
  const Plan whole = planOf(graph, device, {.tiling = PlanOptions::Tiling::Off});
  EXPECT_EQ(whole.schedule.size(), graph.ops.size());
  EXPECT_GT(tiled.schedule.size(), graph.ops.size());
  for (const std::size_t op : {0u, 1u, 2u}) {
    const Home& home = tiled.homes[graph.ops[op].output.at()];
    EXPECT_GT(home.size(), 2u) << graph.ops[op].name;  // in stretches of rows
  }
  EXPECT_LT(cyclesOf(graph, tiled, device) * 2, cyclesOf(graph, whole, device));
}

// With a DDR as fast as that, what spills is back at once.
TEST(MakePlan, TriesNoTilesWhereSpillingHardlyCostsTime) {
  const CanonicalGraph graph = wide();
  const auto tilingOf = [&](const std::string& rate) {
    const Device device = paper(2, 2,
                                {{"memtile.memory", "8 KiB"},
                                 {"links.ddr.read", rate + " GB/s"},
                                 {"links.ddr.write", rate + " GB/s"}});
    return choosePlan(graph, device)->choices.tiling.value();
  };
  EXPECT_FALSE(tilingOf("0.1").spillsLittle);
  EXPECT_FALSE(tilingOf("0.1").groups.empty());
  EXPECT_TRUE(tilingOf("1000").spillsLittle);
  EXPECT_TRUE(tilingOf("1000").groups.empty());
}

TEST(MakePlan, TilesNothingThatDoesNotSpill) {
  const CanonicalGraph graph = wide();
  EXPECT_EQ(planOf(graph, paper(2, 2)).schedule.size(), graph.ops.size());
}

TEST(MakePlan, TilesTheGroupsThatAreNamed) {
  const CanonicalGraph graph = wide();
  const Plan plan = planOf(graph, paper(2, 2),
                           {.tiling = PlanOptions::Tiling::Given,
                            .groups = {{.first = "second", .last = "pool", .tiles = 3}}});
  EXPECT_EQ(plan.schedule.size(), 1 + 3 * 4u);
  EXPECT_EQ(plan.schedule[0], (ScheduleStep{LayerId(0u), {0, 64}}));
}

TEST(MakePlan, TilesNoMoreThanThereAreRows) {
  const CanonicalGraph graph = wide();
  const Plan plan = planOf(graph, paper(2, 2),
                           {.tiling = PlanOptions::Tiling::Given,
                            .groups = {{.first = "pool", .last = "pool", .tiles = INT64_MAX}}});
  EXPECT_EQ(plan.schedule.size(), 4 + 32u);
}

TEST(MakePlan, SaysSoWhereNamedGroupsCannotBeTiled) {
  const Result<Plan> plan = makePlan(wide(), paper(2, 2),
                                     {.effort = 0,
                                      .tiling = PlanOptions::Tiling::Given,
                                      .groups = {{.first = "first", .last = "pool", .tiles = 4}}});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].code, "PLAN012");
  EXPECT_EQ(plan.diagnostics()[0].summary, "the named groups cannot be tiled");
}

TEST(MakePlan, RefusesToTileOneRow) {
  GraphBuilder b("row");
  const CanonicalGraph graph =
      b.finish(b.conv("conv", b.input("x", {1, 20, 16}), 16, testing::square(1)));
  for (const std::int64_t tiles : {0, 5}) {  // 0: as many as it takes
    const Result<Plan> plan =
        makePlan(graph, paper(2, 2),
                 {.tiling = PlanOptions::Tiling::Given,
                  .groups = {{.first = "conv", .last = "conv", .tiles = tiles}}});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.diagnostics()[0].code, "PLAN012");
    EXPECT_EQ(plan.diagnostics()[0].what, "each of its layers has one row");
  }
}

struct BadGroups {
  const char* name;
  std::vector<PlanOptions::Group> groups;
  const char* summary;
};
class RefusedGroups : public ::testing::TestWithParam<BadGroups> {};

TEST_P(RefusedGroups, AreNamed) {
  const Result<Plan> plan = makePlan(
      wide(), paper(2, 2), {.tiling = PlanOptions::Tiling::Given, .groups = GetParam().groups});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].code, "PLAN012");
  EXPECT_EQ(plan.diagnostics()[0].summary, GetParam().summary);
}

INSTANTIATE_TEST_SUITE_P(
    Groups, RefusedGroups,
    ::testing::Values(
        BadGroups{"Unknown", {{"first", "secnd"}}, "no layer has the name 'secnd'"},
        BadGroups{"Backwards", {{"pool", "first"}}, "the group ends before it begins"},
        BadGroups{
            "Meeting", {{"first", "third"}, {"second", "pool"}}, "two groups hold the same layer"}),
    [](const auto& bad) { return bad.param.name; });

}  // namespace
}  // namespace heddle
