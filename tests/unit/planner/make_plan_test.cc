#include "heddle/planner/make_plan.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/device/built_in.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

Device paper(std::int64_t rows, std::int64_t columns,
             std::vector<std::pair<std::string, std::string>> settings = {}) {
  const Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                 {.mesh = {{rows, columns}}, .settings = std::move(settings)});
  EXPECT_TRUE(device) << device.diagnostics();
  return *device;
}

CanonicalGraph oneConv(Shape shape, std::int64_t channels, Window window) {
  GraphBuilder b("net");
  return b.finish(b.conv("conv", b.input("x", shape), channels, window));
}

Mapping mappingOf(const CanonicalGraph& graph, const Device& device) {
  const Result<Plan> plan = makePlan(graph, device);
  EXPECT_TRUE(plan) << plan.diagnostics();
  EXPECT_EQ(verify(*plan, graph, device), Diagnostics{});
  return plan->layers[0];
}

TEST(MakePlan, CutsWidthOverColumnsAndChannelsOverRows) {
  const Mapping m = mappingOf(oneConv({56, 56, 64}, 256, square(1)), paper(4, 4));
  EXPECT_EQ(m.shares.size(), 16u);
  const CoreShare& share = *m.shareOf({1, 2});
  EXPECT_EQ(share.boxes, (std::vector<PixelBox>{{{0, 56}, {28, 14}}}));
  EXPECT_EQ(share.blocks, (Interval{8, 8}));
}

TEST(MakePlan, CutsHeightOverColumnsWhereWidthIsSmallerThanTheMesh) {
  const Mapping m = mappingOf(oneConv({49, 2, 8}, 64, square(1)), paper(2, 8));
  EXPECT_EQ(m.shareOf({0, 0})->boxes, (std::vector<PixelBox>{{{0, 7}, {0, 2}}}));
  EXPECT_EQ(m.shares.size(), 16u);
}

TEST(MakePlan, LeavesCoresIdleWhereThereIsNothingToCut) {
  const Mapping m = mappingOf(oneConv({1, 1, 64}, 16, square(1)), paper(4, 4));
  EXPECT_EQ(m.shares.size(), 2u);
}

TEST(MakePlan, CutsTheReductionWhereWeightsOfEightChannelsDoNotFit) {
  const Mapping m = mappingOf(oneConv({7, 7, 2048}, 512, square(3, 1, 1)), paper(4, 4));
  EXPECT_GT(m.parts.size(), 1u);  // 2048 x 9 x 8 weights are 144 KiB
  EXPECT_GT(m.accumulatorBytes, 0);
}

TEST(MakePlan, CutsTheKernelWhereEvenEightByEightChannelsDoNotFit) {
  const Mapping m = mappingOf(oneConv({70, 70, 8}, 8, square(70)), paper(1, 1));
  EXPECT_LT(m.parts[0].kernelRows.count, 70);
}

TEST(MakePlan, CutsWidthOverTimeWhereARowDoesNotFit) {
  const Mapping m = mappingOf(oneConv({8, 4000, 8}, 8, square(3, 1, 1)), paper(1, 1));
  EXPECT_GT(m.chunks, 1);
}

TEST(MakePlan, SaysWhatALayerNeedsThatFitsNoCore) {
  const CanonicalGraph graph = oneConv({4, 4, 8}, 8, square(1));
  const Result<Plan> plan = makePlan(graph, paper(1, 1, {{"core.memory", "128 B"}}));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].code, "PLAN001");
  EXPECT_EQ(plan.diagnostics()[0].where, "net, node 'conv' (Conv)");
  EXPECT_EQ(plan.diagnostics()[0].severity, Severity::DoesNotFit);
  // A record of 8 + 8 + 64 + 96 B, one input row of one pixel, two output rows of one.
  EXPECT_EQ(plan.diagnostics()[0].what,
            "the smallest subvolume needs 200 B of a core's 96 B for operands");
}

TEST(MakePlan, NamesTheLockValueThatShortensTheRings) {
  const CanonicalGraph graph = oneConv({16, 16, 16}, 32, square(3, 1, 1));
  const Result<Plan> plan =
      makePlan(graph, paper(1, 1, {{"core.memory", "448 B"}, {"limits.lockMaximum", "1"}}));
  ASSERT_FALSE(plan);
  // A record of 80 + 3 x 64 B, sums of 32 B and one row of one pixel more than the output's.
  EXPECT_EQ(
      plan.diagnostics()[0].what,
      "the smallest subvolume needs 368 B of a core's 336 B for operands, with rings that let "
      "no more calls wait than 'limits.lockMaximum' of 1");
  EXPECT_NE(plan.diagnostics()[0].mend.find("'limits.lockMaximum'"), std::string::npos);
}

TEST(MakePlan, SaysSoWhereNoWeightRecordPassesTheMemtile) {
  const CanonicalGraph graph = oneConv({4, 4, 8}, 8, square(1));
  const Result<Plan> plan = makePlan(graph, paper(1, 1, {{"memtile.memory", "1 KiB"}}));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].what,
            "two of its smallest weight records need 352 B of the 256 B that a memtile sets aside "
            "for the weights of a row");
}

TEST(MakePlan, RefusesADeviceWhoseWiresDoNotReachARow) {
  Device device = paper(2, 2);
  device.wires.resize(2);  // the columns' only
  const Result<Plan> plan = makePlan(oneConv({16, 16, 16}, 32, square(3, 1, 1)), device);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].code, "PLAN002");
  EXPECT_EQ(plan.diagnostics()[0].summary, "no wire reaches all cores of row 0");
}

TEST(MakePlan, RefusesADeviceWhoseMemtilesDoNotFeedAColumn) {
  Device device = paper(2, 2);
  device.wires[1].feeders = {1};
  const Result<Plan> plan = makePlan(oneConv({16, 16, 16}, 32, square(3, 1, 1)), device);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].code, "PLAN002");
  EXPECT_EQ(plan.diagnostics()[0].summary, "a memtile cannot feed the wire of column 1");
}

TEST(MakePlan, LeavesWhatDoesNotFitTheMemtilesWithoutAHome) {
  GraphBuilder b("chain");
  const TensorId x = b.input("x", {16, 16, 16});
  const TensorId a = b.conv("a", x, 16, square(1));
  const CanonicalGraph graph = b.finish(b.conv("b", a, 16, square(1)));
  EXPECT_FALSE(makePlan(graph, paper(2, 2))->homes[a.at()].empty());
  EXPECT_TRUE(makePlan(graph, paper(2, 2, {{"memtile.memory", "3 KiB"}}))->homes[a.at()].empty());
}

}  // namespace
}  // namespace heddle
