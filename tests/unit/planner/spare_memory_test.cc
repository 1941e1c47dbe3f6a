#include "../../../src/planner/spare_memory.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// A 1x1 convolution of eight rows on 2x2 cores, W/2 x C/2, reduction in three parts; a call needs
// one row of the input, and there are places for two.
struct CutOverTime {
  CanonicalGraph graph;
  Device device;
  Plan plan;
  StepTime time;
  CutOverTime() {
    GraphBuilder b("net");
    graph = b.finish(b.conv("conv", b.input("x", {8, 8, 24}), 24, square(1)));
    device =
        *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 2}}, .settings = {}});
    plan = *makePlan(graph, device, {.effort = 0});
    Mapping& m = mapping();
    m.resident = false;
    m.parts = {{{0, 1}, {0, 1}}, {{1, 1}, {0, 1}}, {{2, 1}, {0, 1}}};
    m.accumulatorBytes = 8192;
    m.rings[0].length = 2;
    busy(Resource::Compute) = Cycles(1000);
  }
  Mapping& mapping() { return plan.layers[0]; }
  Cycles& busy(Resource resource) { return time.busy[static_cast<std::size_t>(resource)]; }
  Mapping spared() { return withSpareMemory(graph, device, plan, LayerId(0), time).value(); }
};

TEST(SpareMemory, InnerCallsAreAsLongAsTheirSweep) {
  CutOverTime p;
  p.busy(Resource::InputWire) = Cycles(960);
  const Mapping longer = p.spared();
  EXPECT_EQ(longer.innerCallRows, 8);
  EXPECT_EQ(longer.rings[0].length, 16);  // for two of them
}

TEST(SpareMemory, RowsThatAWireBringsAllTheTimeComeOneByOne) {
  CutOverTime p;
  p.busy(Resource::InputWire) = Cycles(980);
  EXPECT_EQ(p.spared().innerCallRows, 1);
}

TEST(SpareMemory, AWireThatBringsBothIsBusyWithBothWhereRecordsHaveOnePlace) {
  CutOverTime p;
  p.mapping().weightSlots = 1;
  p.busy(Resource::InputWire) = Cycles(500);
  p.busy(Resource::WeightsWire) = Cycles(480);
  EXPECT_EQ(p.spared().innerCallRows, 8);
  p.mapping().weights[0].lanes = p.mapping().inputs[0][0].lanes;
  EXPECT_EQ(p.spared().innerCallRows, 1);
  p.mapping().weightSlots = 2;
  EXPECT_EQ(p.spared().innerCallRows, 8);
  p.busy(Resource::WeightsWire) = Cycles(980);
  EXPECT_EQ(p.spared().innerCallRows, 1);
}

TEST(SpareMemory, RingsGrowToTwoSweepsWithinHalfOfACore) {
  CutOverTime p;
  Mapping m = p.mapping();
  useHalfForRows(p.graph, p.device, LayerId(0), {0, 8}, m);
  EXPECT_EQ(m.rings[0].length, 16);
  m = p.mapping();
  const std::int64_t half = p.device.core.operandMemory().raw() / 2;
  m.accumulatorBytes += half - m.coreBytes() - 3 * m.rings[0].rowBytes;
  useHalfForRows(p.graph, p.device, LayerId(0), {0, 8}, m);
  EXPECT_EQ(m.rings[0].length, 5);
}

}  // namespace
}  // namespace heddle
