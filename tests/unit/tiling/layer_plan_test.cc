#include "heddle/tiling/layer_plan.h"

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

LayerTiling tilingOf(const CanonicalGraph& graph, const Device& device) {
  const Result<LayerPlan> plan = makeLayerPlan(graph, device);
  EXPECT_TRUE(plan) << plan.diagnostics();
  EXPECT_EQ(verify(*plan, graph, device), Diagnostics{});
  return plan->layers[0];
}

TEST(MakeLayerPlan, CutsWidthOverColumnsAndChannelsOverRows) {
  const LayerTiling t = tilingOf(oneConv({56, 56, 64}, 256, square(1)), paper(4, 4));
  EXPECT_EQ(t.columns[2], (OutputBox{{0, 56}, {28, 14}}));
  EXPECT_EQ(t.rowBlocks[1], (Interval{8, 8}));
  EXPECT_EQ(t.activeColumns() * t.activeRows(), 16);
}

TEST(MakeLayerPlan, CutsHeightOverColumnsWhereWidthIsSmallerThanTheMesh) {
  const LayerTiling t = tilingOf(oneConv({49, 2, 8}, 64, square(1)), paper(2, 8));
  EXPECT_EQ(t.columns[0], (OutputBox{{0, 7}, {0, 2}}));
  EXPECT_EQ(t.activeColumns(), 8);
}

TEST(MakeLayerPlan, LeavesCoresIdleWhereThereIsNothingToCut) {
  const LayerTiling t = tilingOf(oneConv({1, 1, 64}, 16, square(1)), paper(4, 4));
  EXPECT_EQ(t.activeColumns(), 1);
  EXPECT_EQ(t.activeRows(), 2);
}

TEST(MakeLayerPlan, CutsTheReductionWhereWeightsOfEightChannelsDoNotFit) {
  const LayerTiling t = tilingOf(oneConv({7, 7, 2048}, 512, square(3, 1, 1)), paper(4, 4));
  EXPECT_GT(t.parts.size(), 1u);  // 2048 x 9 x 8 weights are 144 KiB
  EXPECT_GT(t.accumulatorBytes, 0);
}

TEST(MakeLayerPlan, CutsTheKernelWhereEvenEightByEightChannelsDoNotFit) {
  const LayerTiling t = tilingOf(oneConv({70, 70, 8}, 8, square(70)), paper(1, 1));
  EXPECT_LT(t.parts[0].kernelRows.count, 70);
}

TEST(MakeLayerPlan, CutsWidthOverTimeWhereARowDoesNotFit) {
  const LayerTiling t = tilingOf(oneConv({8, 4000, 8}, 8, square(3, 1, 1)), paper(1, 1));
  EXPECT_GT(t.chunks, 1);
}

TEST(MakeLayerPlan, SaysWhatALayerNeedsThatFitsNoCore) {
  const CanonicalGraph graph = oneConv({4, 4, 8}, 8, square(1));
  const Result<LayerPlan> plan = makeLayerPlan(graph, paper(1, 1, {{"core.memory", "128 B"}}));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].code, "PLAN001");
  EXPECT_EQ(plan.diagnostics()[0].where, "net, node 'conv' (Conv)");
  EXPECT_EQ(plan.diagnostics()[0].severity, Severity::DoesNotFit);
  // A record of 8 + 8 + 64 + 96 B, one input row of one pixel, two output rows of one.
  EXPECT_EQ(plan.diagnostics()[0].what,
            "the smallest subvolume needs 200 B of a core's 96 B for operands");
}

TEST(MakeLayerPlan, SaysSoWhereNoWeightRecordPassesTheMemtile) {
  const CanonicalGraph graph = oneConv({4, 4, 8}, 8, square(1));
  const Result<LayerPlan> plan = makeLayerPlan(graph, paper(1, 1, {{"memtile.memory", "1 KiB"}}));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].what,
            "two of its smallest weight records need 352 B of the 256 B that a memtile sets aside "
            "for the weights of a row");
}

TEST(VerifyLayerPlan, NoticesAChannelBlockThatNobodyComputes) {
  const CanonicalGraph graph = oneConv({8, 8, 8}, 32, square(1));
  const Device device = paper(2, 2);
  LayerPlan plan = *makeLayerPlan(graph, device);
  --plan.layers[0].rowBlocks[1].count;
  const Diagnostics faults = verify(plan, graph, device);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].what, "channel block 3 is computed 0 times");
}

}  // namespace
}  // namespace heddle
