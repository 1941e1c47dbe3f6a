#include "../../../src/planner/spare_memory.h"

#include <gtest/gtest.h>

#include <functional>

#include "../graphs.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// A 1x1 convolution of some rows on 2x2 cores, W/2 x C/2, reduction in three parts; a call needs
// one row of the input, and there are places for two. Of 1000 cycles of compute.
struct CutOverTime {
  CanonicalGraph graph;
  Device device;
  Plan plan;
  StepTime time;
  StepTerms terms;
  explicit CutOverTime(std::int64_t rows = 8) {
    GraphBuilder b("net");
    graph = b.finish(b.conv("conv", b.input("x", {rows, 8, 24}), 24, square(1)));
    device =
        *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 2}}, .settings = {}});
    plan = *makePlan(graph, device, {.effort = 0});
    Mapping& m = mapping();
    m.resident = false;
    m.parts = {{{0, 1}, {0, 1}}, {{1, 1}, {0, 1}}, {{2, 1}, {0, 1}}};
    m.accumulatorBytes = 8192;
    m.rings[0].length = 2;
    time.busy[static_cast<std::size_t>(Resource::Compute)] = Cycles(1000);
    terms.wires.resize(device.wires.size());
  }
  Mapping& mapping() { return plan.layers[0]; }
  StepTerms::Wire& rowsWire() { return terms.wires[0]; }
  std::vector<SpareWay> ways() { return spareWays(graph, device, plan, LayerId(0), time, terms); }
  // Beside the next layer's buffers, where its own leave room for these.
  Mapping spared() {
    std::vector<SpareWay> all = ways();
    if (all.back().use == SpareUse::AllTogether) all.pop_back();
    return all.back().mapping;
  }
  std::int64_t capacity() const { return device.core.operandMemory().raw(); }
  // Leaves so many bytes of all of the core's memory.
  void leave(std::int64_t bytes) {
    Mapping& m = mapping();
    m.accumulatorBytes += capacity() - m.coreBytes() - bytes;
  }
};

TEST(SpareMemory, InnerCallsAreAsLongAsTheirSweep) {
  CutOverTime p;
  p.rowsWire().inputs = Cycles(500);
  const Mapping longer = p.spared();
  EXPECT_EQ(longer.innerCallRows, 8);
  EXPECT_EQ(longer.rings[0].length, 16);  // for two of them
  EXPECT_EQ(longer.rings[0].together, 8);
}

TEST(SpareMemory, TheWaysGoFromWhatThereIsToRowsThatComeTogether) {
  CutOverTime p;
  const std::vector<SpareWay> ways = p.ways();
  ASSERT_EQ(ways.size(), 3U);
  EXPECT_EQ(ways[0].use, SpareUse::None);
  EXPECT_EQ(ways[0].mapping, p.mapping());
  EXPECT_EQ(ways[1].use, SpareUse::Rings);
  EXPECT_EQ(ways[2].use, SpareUse::Together);
  const Mapping& rings = ways[1].mapping;
  EXPECT_EQ(rings.innerCallRows, 1);
  EXPECT_EQ(rings.rings[0].together, 1);
  EXPECT_EQ(rings.rings[0].length, 16);
}

TEST(SpareMemory, WhereTwoSweepsFindNoRoomCallsAreAPartOfOne) {
  CutOverTime p;
  const std::int64_t row = p.mapping().rings[0].rowBytes;
  p.leave(6 * row);  // beside the two that there are
  Mapping longer = p.spared();
  EXPECT_EQ(longer.innerCallRows, 4);
  EXPECT_EQ(longer.rings[0], (RingPlan{8, row, 4}));
  p.leave(3 * row);
  longer = p.spared();
  EXPECT_EQ(longer.innerCallRows, 2);
  EXPECT_EQ(longer.rings[0], (RingPlan{4, row, 2}));  // no place is left that is of no use
  p.leave(0);
  EXPECT_EQ(p.ways().size(), 1U);
}

TEST(SpareMemory, WhereFourPartsOfASweepFindNoRoomCallsAreShorter) {
  CutOverTime p(16);
  const std::int64_t row = p.mapping().rings[0].rowBytes;
  p.leave(6 * row);  // four parts of 16 rows, for two calls
  EXPECT_EQ(p.spared().innerCallRows, 4);
  p.leave(5 * row);
  EXPECT_EQ(p.spared().innerCallRows, 3);
  EXPECT_EQ(p.spared().rings[0], (RingPlan{6, row, 3}));
  p.leave(2 * row);
  EXPECT_EQ(p.spared().innerCallRows, 2);
}

TEST(SpareMemory, TheBoldestTakesTheNextLayersRoom) {
  CutOverTime p;
  const std::int64_t row = p.mapping().rings[0].rowBytes;
  p.leave(p.capacity() / 2 + 6 * row);  // of its half
  const std::vector<SpareWay> ways = p.ways();
  ASSERT_EQ(ways.size(), 4U);
  EXPECT_EQ(ways[2].mapping.innerCallRows, 4);
  EXPECT_LE(ways[2].mapping.coreBytes(), p.capacity() / 2);
  EXPECT_EQ(ways[3].use, SpareUse::AllTogether);
  EXPECT_EQ(ways[3].mapping.innerCallRows, 8);
  EXPECT_GT(ways[3].mapping.coreBytes(), p.capacity() / 2);
}

TEST(SpareMemory, RowsOutOfDdrComeOneByOne) {
  CutOverTime p;
  p.plan.homes[p.graph.ops[0].inputs[0].at()].clear();
  EXPECT_EQ(p.spared().innerCallRows, 8);
  EXPECT_EQ(p.spared().rings[0].length, 16);
  EXPECT_EQ(p.spared().rings[0].together, 1);
}

TEST(SpareMemory, NoMoreRowsWaitThanALockCounts) {
  CutOverTime p;
  p.device.limits.lockMaximum = 9;
  EXPECT_EQ(p.spared().innerCallRows, 4);
  EXPECT_EQ(p.spared().rings[0].length, 8);
  p.device.limits.lockMaximum = 3;
  EXPECT_EQ(p.spared().innerCallRows, 1);
  EXPECT_EQ(p.spared().rings[0].length, 3);
}

TEST(SpareMemory, LanesShareASweepsRows) {
  CutOverTime p;
  for (Route& route : p.mapping().inputs[0]) route.lanes.push_back(route.lanes[0]);
  EXPECT_EQ(p.spared().rings[0].together, 4);
}

TEST(SpareMemory, RowsThatAWireBringsAllTheTimeComeInPairs) {
  CutOverTime p;
  p.rowsWire().inputs = Cycles(980);
  EXPECT_EQ(p.spared().innerCallRows, 2);
  EXPECT_EQ(p.spared().rings[0].together, 2);
  EXPECT_FALSE(p.spared().rings[0].onlyBetween);
}

TEST(SpareMemory, WhereEachPassWritesTheyComeOneByOne) {
  CutOverTime p;
  Mapping& m = p.mapping();
  m.parts = {{{0, 3}, {0, 1}}};
  m.accumulatorBytes = 0;
  m.passes = 4;
  p.rowsWire().inputs = Cycles(980);
  EXPECT_EQ(p.spared().innerCallRows, 1);
  EXPECT_EQ(p.spared().rings[0].together, 1);
}

TEST(SpareMemory, RowsBesideRecordsThatKeepAWireBusyComeInPairs) {
  CutOverTime p;
  p.rowsWire() = {.inputs = Cycles(300), .weights = Cycles(500)};
  EXPECT_EQ(p.spared().innerCallRows, 8);
  p.rowsWire() = {.inputs = Cycles(300), .weights = Cycles(700)};
  EXPECT_EQ(p.spared().innerCallRows, 2);
}

TEST(SpareMemory, FewRowsAmongRecordsComeTogetherWhereTheseHaveASecondPlace) {
  CutOverTime p;
  p.rowsWire() = {.inputs = Cycles(80), .weights = Cycles(900)};
  p.mapping().weightSlots = 2;
  EXPECT_EQ(p.spared().innerCallRows, 8);
  p.mapping().weightSlots = 1;
  EXPECT_EQ(p.spared().innerCallRows, 2);
}

TEST(SpareMemory, OneIterationOfFewIsTooMuchForAWireThatIsNearlyBusy) {
  CutOverTime p;
  p.rowsWire().inputs = Cycles(920);  // a third of them at once
  EXPECT_EQ(p.spared().innerCallRows, 2);
  p.rowsWire().inputs = Cycles(890);
  EXPECT_EQ(p.spared().innerCallRows, 8);
}

// Wires that bring rows all the time, for twice as long as the cores compute: only the last wait.
struct WiresAlone : CutOverTime {
  WiresAlone() {
    time.busy[static_cast<std::size_t>(Resource::Compute)] = Cycles(500);
    time.busy[static_cast<std::size_t>(Resource::InputWire)] = Cycles(1000);
    mapping().weightSlots = 2;
    rowsWire().inputs = Cycles(1000);
  }
};

TEST(SpareMemory, WhereWiresAloneAreBusyRowsComeTogetherButForTheLast) {
  WiresAlone p;
  const Mapping longer = p.spared();
  EXPECT_EQ(longer.innerCallRows, 8);
  EXPECT_EQ(longer.rings[0].length, 16);
  EXPECT_EQ(longer.rings[0].together, 8);
  EXPECT_TRUE(longer.rings[0].onlyBetween);
  p.rowsWire().inputs = Cycles(500);  // where they are not, to the end
  EXPECT_FALSE(p.spared().rings[0].onlyBetween);
}

TEST(SpareMemory, WhatKeepsCoresFromCatchingUpLeavesPairs) {
  const auto together = [](const std::function<void(WiresAlone&)>& change) {
    WiresAlone p;
    change(p);
    return p.spared().rings[0].together;
  };
  EXPECT_EQ(together([](WiresAlone&) {}), 8);
  EXPECT_EQ(together([](WiresAlone& p) {
              p.time.busy[static_cast<std::size_t>(Resource::Compute)] = Cycles(501);
            }),
            2);
  EXPECT_EQ(together([](WiresAlone& p) { p.mapping().weightSlots = 1; }), 2);
  EXPECT_EQ(together([](WiresAlone& p) { p.mapping().bands = 2; }), 1);
  EXPECT_EQ(together([](WiresAlone& p) {  // nothing lies between two parts
              p.mapping().parts = {{{0, 2}, {0, 1}}, {{2, 1}, {0, 1}}};
            }),
            2);
  EXPECT_EQ(together([](WiresAlone& p) {  // the second core's rows wait for those of the first
              std::vector<Route>& routes = p.mapping().inputs[0];
              routes.back().lanes = routes.front().lanes;
            }),
            2);
}

// A convolution of three passes over its input, which comes again in each.
TEST(SpareMemory, RowsOfLaterPassesComeAndLeaveTogether) {
  CutOverTime p;
  Mapping& m = p.mapping();
  m.parts = {{{0, 3}, {0, 1}}};
  m.passes = 3;
  m.blocksPerPass = 1;
  m.accumulatorBytes = 0;
  for (CoreShare& share : m.shares) share.blocks = {0, 3};
  Home& output = p.plan.homes[p.graph.ops[0].output.at()];
  output = {{0, {0, 8}, {0, 8}, {0, 3}}};
  const Mapping longer = p.spared();
  EXPECT_EQ(longer.innerCallRows, 8);
  EXPECT_EQ(longer.outputSlots, 16);
  EXPECT_EQ(longer.rings[0].together, 8);
  output.clear();  // its rows go to DDR
  EXPECT_EQ(p.spared().innerCallRows, 1);
  EXPECT_EQ(p.spared().outputSlots, m.outputSlots);
  EXPECT_EQ(p.spared().rings[0].together, 8);
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
