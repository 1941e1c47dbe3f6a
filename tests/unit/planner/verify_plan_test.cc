// Each rule of the two verifiers, and a plan that breaks it.
#include <gtest/gtest.h>

#include <functional>

#include "../graphs.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/canon/limits.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

//   x -> left, right
//   left, right -> both (in place) -> after, twin -> sum
CanonicalGraph joinedBranches() {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 16});
  const TensorId both =
      b.concat("both", {b.conv("left", x, 16, square(1)), b.conv("right", x, 24, square(3, 1, 1))});
  const TensorId after = b.conv("after", both, 32, square(3, 1, 1));
  return b.finish(b.add("sum", after, b.conv("twin", both, 32, square(1))));
}

// A convolution that pools at its end, and one that reads what it pools.
CanonicalGraph pooledConvolution() {
  GraphBuilder b("pooled");
  const TensorId x = b.input("x", {16, 16, 16}),
                 pooled = b.maxPool("pool", b.conv("conv", x, 32, square(3, 1, 1)), square(3, 2));
  return *fuseOperators(b.finish(b.conv("after", pooled, 16, square(1))));
}

// A convolution, and one that reads every second row and column of it.
CanonicalGraph slicedConvolution() {
  GraphBuilder b("sliced");
  const TensorId first = b.conv("first", b.input("x", {9, 8, 16}), 24, square(3, 1, 1));
  return *fuseOperators(b.finish(b.conv("second", first, 16, square(1, 2))));
}

struct PlannedNetwork {
  CanonicalGraph graph;
  Device device;
  Plan plan;
  MemoryPlan memory;
  explicit PlannedNetwork(CanonicalGraph given = joinedBranches()) : graph(std::move(given)) {
    const Result<Device> paper =
        readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 2}}, .settings = {}});
    EXPECT_TRUE(paper) << paper.diagnostics();
    device = *paper;
    plan = *makePlan(graph, device, {.effort = 0});
    memory = *allocateMemory(graph, plan, device);
  }
  Mapping& layer(const std::string& name) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      if (graph.ops[i].name == name) return plan.layers[i];
    ADD_FAILURE() << name;
    return plan.layers[0];
  }
  std::size_t tensor(const std::string& name) const {
    for (std::size_t i = 0; i < graph.tensors.size(); ++i)
      if (graph.tensors[i].name == name) return i;
    ADD_FAILURE() << name;
    return 0;
  }
};

struct Broken {
  const char* name;
  const char* code;
  const char* summary;
  std::function<void(PlannedNetwork&)> breakIt;
  friend void PrintTo(const Broken& b, std::ostream* out) { *out << b.name; }
};

void expectFault(const Diagnostics& faults, const Broken& broken) {
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults[0].code, broken.code) << faults;
  EXPECT_EQ(faults[0].summary, broken.summary) << faults;
  EXPECT_FALSE(faults[0].mend.empty());
}

class BrokenPlan : public ::testing::TestWithParam<Broken> {};

TEST(VerifyPlan, FindsNothingInThePlannersPlan) {
  const PlannedNetwork p;
  EXPECT_EQ(verify(p.plan, p.graph, p.device), Diagnostics{});
  EXPECT_EQ(verify(p.memory, p.graph, p.plan, p.device), Diagnostics{});
}

// Inner calls of four rows of the first layer: a ring of two sets of them is enough, one of two
// rows is not.
void expectInnerCallsNeedPlaces(PlannedNetwork& p) {
  Mapping& m = p.plan.layers[0];
  m.innerCallRows = 4;
  m.rings[0].length = 8;
  EXPECT_EQ(verify(p.plan, p.graph, p.device), Diagnostics{});
  m.rings[0].length = 2;
  const Diagnostics tooShort = verify(p.plan, p.graph, p.device);
  ASSERT_FALSE(tooShort.empty());
  EXPECT_EQ(tooShort[0].code, "PLAN005");
}

// What a convolution adds comes with the last part of its reduction alone.
TEST(VerifyPlan, WhatIsAddedNeedsNoPlacesForInnerCalls) {
  GraphBuilder b("adds");
  const TensorId x = b.input("x", {8, 8, 24});
  PlannedNetwork p(*fuseOperators(b.finish(b.add("sum", b.conv("conv", x, 24, square(1)), x))));
  ASSERT_EQ(p.graph.ops.size(), 1u);
  Mapping& m = p.plan.layers[0];
  m.resident = false;
  m.parts = {{{0, 1}, {0, 1}}, {{1, 1}, {0, 1}}, {{2, 1}, {0, 1}}};
  m.accumulatorBytes = 8192;
  m.rings[1].length = 2;
  expectInnerCallsNeedPlaces(p);
}

// In an inner call of a later pass, in which the first of cores with the same pixels has no blocks.
TEST(VerifyPlan, PlacesAreForAllCoresOfTheSamePixels) {
  GraphBuilder b("passes");
  PlannedNetwork p(b.finish(b.conv("conv", b.input("x", {8, 8, 24}), 24, square(1))));
  Mapping& m = p.plan.layers[0];
  ASSERT_EQ(m.shares[0].boxes, m.shares[1].boxes);
  std::swap(m.shares[0].blocks.count, m.shares[1].blocks.count);
  m.shares[1].blocks.first = m.shares[0].blocks.end();
  for (std::size_t row = 2; row < m.shares.size(); ++row)
    m.shares[row].blocks = m.shares[row - 2].blocks;
  ASSERT_EQ(m.shares[0].blocks.count, 1);
  m.resident = false;
  m.blocksPerPass = 1;
  m.passes = 2;
  m.parts = {{{0, 2}, {0, 1}}, {{2, 1}, {0, 1}}};
  m.accumulatorBytes = 4096;
  expectInnerCallsNeedPlaces(p);
}

TEST_P(BrokenPlan, IsNoticed) {
  PlannedNetwork p;
  GetParam().breakIt(p);
  expectFault(verify(p.plan, p.graph, p.device), GetParam());
}

const Broken kBrokenPlans[] = {
    {"OfAnotherNetwork", "PLAN003", "the plan is of another network",
     [](PlannedNetwork& p) { p.plan.layers.pop_back(); }},
    {"StagingOutsideTheMemtile", "PLAN005", "the memory set aside for weights is not in a memtile",
     [](PlannedNetwork& p) { p.plan.weightStaging = 1 << 20; }},
    {"BlocksThatNobodyComputes", "PLAN003", "the cores do not compute every output exactly once",
     [](PlannedNetwork& p) { --p.layer("after").shares[1].blocks.count; }},
    {"PixelsComputedTwice", "PLAN003", "the cores do not compute every output exactly once",
     [](PlannedNetwork& p) { ++p.layer("after").shares[0].boxes[0].x.count; }},
    {"SumsAcrossCores", "PLAN003", "the cores do not compute every output exactly once",
     [](PlannedNetwork& p) {
       p.layer("after").shares[1].blocks = p.layer("after").shares[0].blocks;
     }},
    {"CoreThatIsNotThere", "PLAN003", "a core is not in the array, or is named twice",
     [](PlannedNetwork& p) { p.layer("after").shares[0].core.row = 2; }},
    {"CoreNamedTwice", "PLAN003", "a core is not in the array, or is named twice",
     [](PlannedNetwork& p) { p.layer("after").shares[0].core = p.layer("after").shares[1].core; }},
    {"TooManyBoxes", "PLAN003", "a core has no box of pixels, or too many",
     [](PlannedNetwork& p) {
       CoreShare& s = p.layer("after").shares[0];
       const PixelBox b = s.boxes[0];
       s.boxes.clear();
       for (std::int64_t y = 0; y < b.y.count; ++y) s.boxes.push_back({{y, 1}, b.x});
     }},
    {"PassesThatEndEarly", "PLAN003", "a core's passes do not reach all of its blocks",
     [](PlannedNetwork& p) {
       p.layer("after").passes = 1;
       p.layer("after").blocksPerPass = 1;
     }},
    {"LoopNamedTwice", "PLAN004", "the order of the loops does not name each once",
     [](PlannedNetwork& p) { p.layer("after").order[0] = NestLoop::Part; }},
    {"LoopThatNeverRuns", "PLAN004", "a loop over time runs too often or never",
     [](PlannedNetwork& p) { p.layer("after").chunks = 0; }},
    {"CallsOfNoRows", "PLAN004", "a loop over time runs too often or never",
     [](PlannedNetwork& p) { p.layer("after").callRows = 0; }},
    {"CallsOfMoreRowsThanThereMayBe", "PLAN004", "a loop over time runs too often or never",
     [](PlannedNetwork& p) { p.layer("after").callRows = kMaxCallRows + 1; }},
    {"InnerCallsOfNoRows", "PLAN004", "a loop over time runs too often or never",
     [](PlannedNetwork& p) { p.layer("after").innerCallRows = 0; }},
    {"NoRowsTogether", "PLAN005", "more rows of a ring come together than it holds, or none",
     [](PlannedNetwork& p) { p.layer("left").rings[0].together = 0; }},
    {"MoreRowsTogetherThanPlaces", "PLAN005",
     "more rows of a ring come together than it holds, or none",
     [](PlannedNetwork& p) {
       p.layer("left").rings[0].together = p.layer("left").rings[0].length + 1;
     }},
    {"RowsOneByOneThatComeTogetherBetween", "PLAN005",
     "rows that come one by one are to come together in some iterations",
     [](PlannedNetwork& p) { p.layer("left").rings[0].onlyBetween = true; }},
    {"SumsThatBandsDoNotShare", "PLAN005",
     "the places of a buffer are none, or no multiples of 8 bytes",
     [](PlannedNetwork& p) {
       Mapping& m = p.layer("right");
       m.order = {NestLoop::Part, NestLoop::Pass, NestLoop::Chunk, NestLoop::Band};
       m.bands = 3;
       m.accumulatorBytes = 64;
     }},
    {"InnerCallsOfMoreRowsThanOutputPlaces", "PLAN005",
     "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) {
       Mapping& m = p.layer("right");
       m.passes = 3;
       m.blocksPerPass = 1;
       m.innerCallRows = 3;
       m.outputSlots = 2;
       m.rings[0].length = 16;
     }},
    {"CallsOfMoreRowsThanPlaces", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) {
       p.layer("left").callRows = 3;
       p.layer("left").outputSlots = 2;
       p.layer("left").rings[0].length = 16;
     }},
    {"RingTooShortForALongCall", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) {
       Mapping& m = p.layer("left");
       m.callRows = m.outputSlots = 3;
       m.rings[0].length = 2;
     }},
    {"RingsOfAnotherOperator", "PLAN004", "the mapping is of another operator",
     [](PlannedNetwork& p) { p.layer("after").rings.emplace_back(); }},
    {"ResidentSum", "PLAN004", "only the input of a convolution can stay over passes",
     [](PlannedNetwork& p) { p.layer("sum").resident = true; }},
    {"ReductionWithAHole", "PLAN004",
     "the parts of the reduction are not the whole of it, each once",
     [](PlannedNetwork& p) { --p.layer("after").parts[0].kernelRows.count; }},
    {"WeightsWithoutPlaces", "PLAN005",
     "weights have places but no routes, or routes but no places",
     [](PlannedNetwork& p) { p.layer("after").weightSlots = 0; }},
    {"RingTooShort", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) { p.layer("after").rings[0].length = 2; }},
    {"RingTooNarrow", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) { p.layer("sum").rings[0].rowBytes -= 8; }},
    {"RecordTooLarge", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) { p.layer("after").weightBytes -= 8; }},
    {"OutputRowTooNarrow", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) { p.layer("after").outputRowBytes -= 8; }},
    {"NoPlaceForSums", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) {
       Mapping& m = p.layer("after");
       m.parts = {{m.parts[0].inputBlocks, {0, 1}}, {m.parts[0].inputBlocks, {1, 2}}};
       m.accumulatorBytes = 0;
     }},
    {"RingWithMoreCallsThanALockCounts", "PLAN005", "more waits in a buffer than a lock can count",
     [](PlannedNetwork& p) { p.device.limits.lockMaximum = p.layer("left").rings[0].length - 1; }},
    {"MoreOutputRowsThanALockCounts", "PLAN005", "more waits in a buffer than a lock can count",
     [](PlannedNetwork& p) {
       p.device.limits.lockMaximum = 4;
       p.layer("left").outputSlots = 5;
     }},
    {"MoreRecordsThanALockCounts", "PLAN005", "more waits in a buffer than a lock can count",
     [](PlannedNetwork& p) {
       p.device.limits.lockMaximum = 4;
       p.layer("left").weightSlots = 5;
     }},
    {"MoreRecordsAtHomeThanThereAre", "PLAN005",
     "more weight records are to stay in the memtiles than there are",
     [](PlannedNetwork& p) {
       p.layer("left").recordsAtHome = differentRecords(p.layer("left")) + 1;
     }},
    {"RecordsAtHomeOfASum", "PLAN005",
     "more weight records are to stay in the memtiles than there are",
     [](PlannedNetwork& p) { p.layer("sum").recordsAtHome = 1; }},
    {"RecordsAtHomeOfALayerInPlace", "PLAN005",
     "more weight records are to stay in the memtiles than there are",
     [](PlannedNetwork& p) {
       Mapping& m = p.layer("both");
       ASSERT_TRUE(m.inPlace());
       m.recordsAtHome = 1;
       m.weights.resize(2);
       m.weightSlots = 1;
       m.weightBytes = 12;
     }},
    {"MoreRecordsAtHomeThanALockCounts", "PLAN005", "more waits in a buffer than a lock can count",
     [](PlannedNetwork& p) {
       Mapping& m = p.layer("after");
       m.blocksPerPass = 1;
       m.passes = m.recordsAtHome = 4;
       p.device.limits.lockMaximum = 3;
     }},
    {"NoOutputPlace", "PLAN005", "the places of a buffer are none, or no multiples of 8 bytes",
     [](PlannedNetwork& p) { p.layer("after").outputSlots = 0; }},
    {"RingOfOddRows", "PLAN005", "a ring's rows are no multiples of 8 bytes",
     [](PlannedNetwork& p) { p.layer("after").rings[0].rowBytes += 4; }},
    {"MoreThanACoreHolds", "PLAN005", "the buffers do not fit a core",
     [](PlannedNetwork& p) { p.layer("after").rings[0].length = 1000; }},
    {"CoreWithoutItsInput", "PLAN006", "a core is not on exactly one route of a stream",
     [](PlannedNetwork& p) { p.layer("after").inputs[0][0].cores.pop_back(); }},
    {"CoreWithTwoInputs", "PLAN006", "a core is not on exactly one route of a stream",
     [](PlannedNetwork& p) {
       p.layer("after").inputs[0].push_back(p.layer("after").inputs[0][0]);
     }},
    {"CoreWithoutItsWeights", "PLAN006", "a core is not on exactly one route of a stream",
     [](PlannedNetwork& p) { p.layer("after").weights[0].cores.pop_back(); }},
    {"RouteWithoutWire", "PLAN006",
     "a route names no core that computes, no wire, or what is not there",
     [](PlannedNetwork& p) { p.layer("after").inputs[0][0].lanes.clear(); }},
    {"RouteOfNegativeLead", "PLAN006",
     "a route names no core that computes, no wire, or what is not there",
     [](PlannedNetwork& p) { p.layer("after").weights[0].lead = -1; }},
    {"CoresThatNeedDifferentRows", "PLAN006", "cores of one route need different rows",
     [](PlannedNetwork& p) {
       std::vector<Route>& routes = p.layer("after").inputs[0];
       routes[0].cores.insert(routes[0].cores.end(), routes[1].cores.begin(),
                              routes[1].cores.end());
       routes.pop_back();
     }},
    {"CoresThatNeedDifferentWeights", "PLAN006", "cores of one route need different weights",
     [](PlannedNetwork& p) {
       std::swap(p.layer("after").weights[0].cores[0], p.layer("after").weights[1].cores[0]);
     }},
    {"WireThatIsNotThere", "PLAN006", "a route takes a wire or a channel that is not there",
     [](PlannedNetwork& p) { p.layer("after").inputs[0][0].lanes[0].wire = 99; }},
    {"ChannelThatIsNotThere", "PLAN006", "a route takes a wire or a channel that is not there",
     [](PlannedNetwork& p) { p.layer("after").inputs[0][0].lanes[0].channel = 2; }},
    {"WireThatDoesNotReach", "PLAN006", "a wire does not reach a core of its route",
     [](PlannedNetwork& p) { p.layer("after").inputs[0][0].lanes[0].wire = 1; }},
    {"MemtileThatCannotFeed", "PLAN006", "a memtile cannot feed the wire of a route",
     [](PlannedNetwork& p) { p.device.wires[0].feeders = {1}; }},
    {"WireOfTwoChannels", "PLAN006", "a wire leads to two receiving channels of a core",
     [](PlannedNetwork& p) {
       std::vector<Lane>& lanes = p.layer("after").inputs[0][0].lanes;
       lanes.push_back({lanes[0].wire, 1});
     }},
    {"OutputToNowhere", "PLAN006",
     "an output leaves through a channel or memtile that is not there",
     [](PlannedNetwork& p) { p.layer("after").shares[0].output.memtile = 2; }},
    {"HomeWithAHole", "PLAN007",
     "the parts of the tensor's home are not the whole of it, each once",
     [](PlannedNetwork& p) { p.plan.homes[p.tensor("after_out")].pop_back(); }},
    {"HomeInNoMemtile", "PLAN007", "a part of the tensor is at home in a memtile that is not there",
     [](PlannedNetwork& p) { p.plan.homes[p.tensor("after_out")][0].memtile = 7; }},
    {"HomeOfAView", "PLAN007", "a tensor that is channels of another has a home of its own",
     [](PlannedNetwork& p) {
       p.plan.homes[p.tensor("left_out")] = {{0, {0, 8}, {0, 8}, {0, 2}}};
     }},
    {"TurnsOverMoreDdrChannels", "PLAN006",
     "a route names no core that computes, no wire, or what is not there",
     [](PlannedNetwork& p) { p.layer("after").weights[0].ddrTurns = 3; }},
    {"StepBeforeItsOperands", "PLAN008", "the step reads what no earlier step has computed",
     [](PlannedNetwork& p) { std::swap(p.plan.schedule[0], p.plan.schedule[3]); }},
    {"StepTwice", "PLAN008", "the step computes what an earlier one has computed",
     [](PlannedNetwork& p) { p.plan.schedule.push_back(p.plan.schedule[0]); }},
    {"StepMissing", "PLAN008", "the schedule does not compute all of a layer",
     [](PlannedNetwork& p) { p.plan.schedule.pop_back(); }},
    {"StepOfRowsThatAreNotThere", "PLAN008",
     "the step is of no layer, or of rows that it does not have",
     [](PlannedNetwork& p) { p.plan.schedule[0].rows.count = 9; }},
    {"ViewElsewhere", "PLAN009", "an operator that computes has no core to do it",
     [](PlannedNetwork& p) { p.plan.views[p.tensor("left_out")].block = 1; }},
    {"ConvolutionWithoutCores", "PLAN009", "an operator that computes has no core to do it",
     [](PlannedNetwork& p) { p.layer("after").shares.clear(); }},
    {"ViewOfAViewsRoot", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) {
       p.plan.views[p.tensor("after_out")] = {TensorId(p.tensor("left_out")), 0};
     }},
    {"InputThatIsAView", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) {
       p.plan.views[p.tensor("x")] = {TensorId(p.tensor("both_out")), 0};
     }},
};
INSTANTIATE_TEST_SUITE_P(Rules, BrokenPlan, ::testing::ValuesIn(kBrokenPlans),
                         [](const auto& broken) { return broken.param.name; });

class BrokenPooledPlan : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenPooledPlan, IsNoticed) {
  PlannedNetwork p(pooledConvolution());
  ASSERT_EQ(verify(p.plan, p.graph, p.device), Diagnostics{});
  GetParam().breakIt(p);
  expectFault(verify(p.plan, p.graph, p.device), GetParam());
}

const Broken kBrokenPooledPlans[] = {
    {"CutByKernelRows", "PLAN004", "a layer with a window at its end is cut by kernel rows",
     [](PlannedNetwork& p) {
       std::vector<ReductionPart>& parts = p.layer("conv").parts;
       parts = {parts[0], parts[0]};
       parts[0].kernelRows = {0, 2};
       parts[1].kernelRows = {2, 3};
     }},
    {"FewerRowsThanAWindow", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) { --p.layer("conv").pooled.length; }},
    {"ShortRows", "PLAN005", "a buffer is too small for what passes through it",
     [](PlannedNetwork& p) { p.layer("conv").pooled.rowBytes -= kBlock; }},
    {"PlacesWithoutAPool", "PLAN005", "rows have places for a window at the end, and there is none",
     [](PlannedNetwork& p) {
       p.layer("after").pooled = {2, 64};
     }},
    {"HomeOfWhatOnlyCoresHold", "PLAN007", "a tensor that only cores hold has a home",
     [](PlannedNetwork& p) {
       p.plan.homes[p.tensor("conv_out")] = {{0, {0, 16}, {0, 16}, {0, 4}}};
     }},
    {"PartOfWhatOnlyCoresHold", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) {
       p.plan.views[p.tensor("x")] = {TensorId(p.tensor("conv_out")), 0};
     }},
};
INSTANTIATE_TEST_SUITE_P(Rules, BrokenPooledPlan, ::testing::ValuesIn(kBrokenPooledPlans),
                         [](const auto& broken) { return broken.param.name; });

class BrokenSlicedPlan : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenSlicedPlan, IsNoticed) {
  PlannedNetwork p(slicedConvolution());
  ASSERT_EQ(verify(p.plan, p.graph, p.device), Diagnostics{});
  ASSERT_EQ(verify(p.memory, p.graph, p.plan, p.device), Diagnostics{});
  GetParam().breakIt(p);
  expectFault(verify(p.plan, p.graph, p.device), GetParam());
}

Sampling& samplingOf(PlannedNetwork& p) {
  return *p.plan.views[p.tensor("first_out::2x2")].sampling;
}

const Broken kBrokenSlicedPlans[] = {
    {"OtherRows", "PLAN009", "an operator that computes has no core to do it",
     [](PlannedNetwork& p) {
       samplingOf(p).rows = {1, 1};
     }},
    {"OtherColumns", "PLAN009", "an operator that computes has no core to do it",
     [](PlannedNetwork& p) { samplingOf(p).columns.first = 1; }},
    {"RowsBehindTheLast", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) {
       samplingOf(p).rows = {1, 2};
     }},
    {"ColumnsBehindTheLast", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) { samplingOf(p).columns.step = 3; }},
    {"NoStep", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) { samplingOf(p).columns.step = 0; }},
    {"RowsBeforeTheFirst", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) { samplingOf(p).rows.first = -1; }},
    {"AllPixels", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) { p.plan.views[p.tensor("first_out::2x2")].sampling.reset(); }},
    {"PixelsOfItself", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) { p.plan.views[p.tensor("x")].sampling.emplace(); }},
    {"WrittenBetweenOthers", "PLAN009", "the tensor cannot be a part of another",
     [](PlannedNetwork& p) {
       p.plan.views[p.tensor("second_out")] = {TensorId(p.tensor("first_out")), 0,
                                               Sampling{{0, 2}, {0, 2}}};
     }},
    {"RowBeforeItIsComputed", "PLAN008", "the step reads what no earlier step has computed",
     [](PlannedNetwork& p) {
       const LayerId first(0u), second(2u);
       ASSERT_EQ(p.graph.ops[2].name, "second");
       // Row 2 of the second reads row 4 of the first.
       p.plan.schedule = {{first, {0, 4}}, {second, {0, 3}}, {first, {4, 5}}, {second, {3, 2}}};
     }},
};
INSTANTIATE_TEST_SUITE_P(Rules, BrokenSlicedPlan, ::testing::ValuesIn(kBrokenSlicedPlans),
                         [](const auto& broken) { return broken.param.name; });

class BrokenMemoryPlan : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenMemoryPlan, IsNoticed) {
  PlannedNetwork p;
  GetParam().breakIt(p);
  expectFault(verify(p.memory, p.graph, p.plan, p.device), GetParam());
}

const Broken kBrokenMemoryPlans[] = {
    {"OfAnotherPlan", "MEM004", "the memory plan is of another plan",
     [](PlannedNetwork& p) { p.memory.steps.pop_back(); }},
    {"OfAnotherLayer", "MEM004", "the memory plan is of another layer",
     [](PlannedNetwork& p) { p.memory.steps[0].inputs.pop_back(); }},
    {"SliceThatIsNoBoxOfTheHome", "MEM004", "the tensor's slices are not the boxes of its home",
     [](PlannedNetwork& p) { ++p.memory.tensors[p.tensor("after_out")].slices[0].x; }},
    {"SliceMissing", "MEM004", "the tensor's slices are not the boxes of its home",
     [](PlannedNetwork& p) { p.memory.tensors[p.tensor("after_out")].slices.pop_back(); }},
    {"LifeTooShort", "MEM004", "the tensor is used in steps in which it does not live",
     [](PlannedNetwork& p) { --p.memory.tensors[p.tensor("after_out")].life.last; }},
    {"NoPlaceForRecords", "MEM005", "the places of weight route 0 are too few or too small",
     [](PlannedNetwork& p) { p.memory.steps[0].weights[0].slots = 0; }},
    {"RecordsAtHomeMissing", "MEM004", "the places of records that stay are not the plan's",
     [](PlannedNetwork& p) { p.layer("left").recordsAtHome = 1; }},
    {"RecordsAtHomeOfNone", "MEM004", "the places of records that stay are not the plan's",
     [](PlannedNetwork& p) {
       StepMemory& step = p.memory.steps[0];
       step.recordHomes.assign(step.weights.size(), {0, 4096, 1});
     }},
    {"RecordsAtHomeTooFew", "MEM005",
     "the places of records that stay of weight route 0 are too few",
     [](PlannedNetwork& p) {
       p.layer("left").recordsAtHome = 1;
       p.memory = *allocateMemory(p.graph, p.plan, p.device);
       p.layer("left").recordsAtHome = 2;
     }},
    {"RecordsAtHomeTooSmall", "MEM005",
     "the places of records that stay of weight route 0 are too few or too small",
     [](PlannedNetwork& p) {
       p.layer("left").recordsAtHome = 1;
       p.memory = *allocateMemory(p.graph, p.plan, p.device);
       p.memory.steps[0].recordHomes[0].slotBytes -= 8;
     }},
    {"RecordsAtHomeAmongATensor", "MEM002",
     "tensor 'x' and the records of 'left' that stay meet in time and space",
     [](PlannedNetwork& p) {
       p.layer("left").recordsAtHome = 1;
       p.memory = *allocateMemory(p.graph, p.plan, p.device);
       p.memory.steps[0].recordHomes[0].address =
           p.memory.tensors[p.tensor("x")].slices[0].address + 8;
     }},
    {"RecordsAtHomeThatMeet", "MEM002",
     "the records of 'left' that stay and the records of 'left' that stay meet in time and space",
     [](PlannedNetwork& p) {
       Mapping& m = p.layer("left");
       m.recordsAtHome = 1;
       m.weights[1].memtile = m.weights[0].memtile;
       p.memory = *allocateMemory(p.graph, p.plan, p.device);
       p.memory.steps[0].recordHomes[1].address = p.memory.steps[0].recordHomes[0].address + 8;
     }},
    {"RecordsAtHomeWhereOthersPassLater", "MEM002",
     "the records of 'left' that stay and weight route 0 of step 1 meet in time and space",
     [](PlannedNetwork& p) {
       ASSERT_EQ(p.graph.ops[0].name, "left");
       ASSERT_EQ(p.graph.ops[1].name, "right");
       p.plan.schedule = {{LayerId(0u), {0, 4}}, {LayerId(1u), {0, 8}}, {LayerId(0u), {4, 4}},
                          {LayerId(2u), {0, 8}}, {LayerId(3u), {0, 8}}, {LayerId(4u), {0, 8}},
                          {LayerId(5u), {0, 8}}};
       p.layer("left").recordsAtHome = 1;
       p.memory = *allocateMemory(p.graph, p.plan, p.device);
       ASSERT_EQ(verify(p.memory, p.graph, p.plan, p.device), Diagnostics{});
       for (const std::size_t step : {0u, 2u})
         for (std::size_t r = 0; r < p.memory.steps[1].weights.size(); ++r)
           p.memory.steps[step].recordHomes[r].address = p.memory.steps[1].weights[r].address;
     }},
    {"RecordsAtHomeThatMove", "MEM004", "the places of records that stay are not the plan's",
     [](PlannedNetwork& p) {
       p.plan.schedule = {{LayerId(0u), {0, 4}}, {LayerId(1u), {0, 8}}, {LayerId(0u), {4, 4}},
                          {LayerId(2u), {0, 8}}, {LayerId(3u), {0, 8}}, {LayerId(4u), {0, 8}},
                          {LayerId(5u), {0, 8}}};
       p.layer("left").recordsAtHome = 1;
       p.memory = *allocateMemory(p.graph, p.plan, p.device);
       p.memory.steps[2].recordHomes[0].address += 8;
     }},
    {"NoPlaceForTheOutput", "MEM005", "the places of the output are too few or too small",
     [](PlannedNetwork& p) { p.memory.steps.back().output.reset(); }},
    {"CoreBuffersOutside", "MEM002", "the step's buffers lie outside core memory",
     [](PlannedNetwork& p) { p.memory.steps[0].coreBase = 60000; }},
    {"TensorOutsideItsMemtile", "MEM002", "tensor 'after_out' lies outside its memtile",
     [](PlannedNetwork& p) {
       p.memory.tensors[p.tensor("after_out")].slices[0].address = 1 << 19;
     }},
    {"TensorsThatMeet", "MEM002", "tensor 'both_out' and tensor 'after_out' meet in time and space",
     [](PlannedNetwork& p) {
       p.memory.tensors[p.tensor("after_out")].slices[0].address =
           p.memory.tensors[p.tensor("both_out")].slices[0].address + 8;
     }},
    {"MorePlacesThanALockCounts", "MEM005",
     "the places of weight route 0 are more than a lock can count",
     [](PlannedNetwork& p) { p.device.limits.lockMaximum = 7; }},
    {"OutputWithoutDdr", "MEM006", "the tensor has no place in DDR",
     [](PlannedNetwork& p) { p.memory.tensors[p.tensor("sum_out")].ddr.reset(); }},
    {"TensorAmongTheWeights", "MEM006", "the tensor lies on the wrong side of the weights in DDR",
     [](PlannedNetwork& p) { p.memory.tensors[p.tensor("x")].ddr = p.memory.weightsAddress; }},
    {"TensorsThatMeetInDdr", "MEM006", "tensors 'x' and 'sum_out' meet in DDR",
     [](PlannedNetwork& p) {
       p.memory.tensors[p.tensor("sum_out")].ddr = *p.memory.tensors[p.tensor("x")].ddr + 8;
     }},
};
INSTANTIATE_TEST_SUITE_P(Rules, BrokenMemoryPlan, ::testing::ValuesIn(kBrokenMemoryPlans),
                         [](const auto& broken) { return broken.param.name; });

// ---- text ---------------------------------------------------------------------------------------

TEST(PlanText, ReadsBackPlacesOfRowsThatArePooled) {
  const PlannedNetwork p(pooledConvolution());
  EXPECT_GT(p.plan.layers[0].pooled.length, 0);
  const Result<PlanText> again = parsePlan(print(p.plan, p.graph), "plan.txt", p.graph);
  ASSERT_TRUE(again) << again.diagnostics();
  EXPECT_EQ(again->plan, p.plan);
}

TEST(PlanText, ReadsBackToTheSamePlan) {
  const PlannedNetwork p;
  const Result<PlanText> again =
      parsePlan(print(p.plan, p.graph, {"ab", "cd"}), "plan.txt", p.graph);
  ASSERT_TRUE(again) << again.diagnostics();
  EXPECT_EQ(again->plan, p.plan);
  EXPECT_EQ(again->origin, (PlanOrigin{"ab", "cd"}));
}

TEST(PlanText, ReadsBackRecordsThatStay) {
  PlannedNetwork p;
  p.layer("right").recordsAtHome = 1;
  const Result<PlanText> again = parsePlan(print(p.plan, p.graph), "plan.txt", p.graph);
  ASSERT_TRUE(again) << again.diagnostics();
  EXPECT_EQ(again->plan, p.plan);
}

TEST(MemoryPlanText, ReadsBackRecordsThatStay) {
  PlannedNetwork p;
  p.layer("right").recordsAtHome = 1;
  const MemoryPlan memory = *allocateMemory(p.graph, p.plan, p.device);
  EXPECT_EQ(verify(memory, p.graph, p.plan, p.device), Diagnostics{});
  const Result<MemoryPlanText> again = parseMemoryPlan(print(memory, p.graph), "memory-plan.txt");
  ASSERT_TRUE(again) << again.diagnostics();
  EXPECT_EQ(again->memory, memory);
}

TEST(MemoryPlanText, ReadsBackToTheSamePlan) {
  const PlannedNetwork p;
  const Result<MemoryPlanText> again =
      parseMemoryPlan(print(p.memory, p.graph, {"ab", "cd"}), "memory-plan.txt");
  ASSERT_TRUE(again) << again.diagnostics();
  EXPECT_EQ(again->memory, p.memory);
  EXPECT_EQ(again->origin, (PlanOrigin{"ab", "cd"}));
}

TEST(PlanText, SaysWhereALineIsWrong) {
  const PlannedNetwork p;
  const Result<PlanText> read = parsePlan(
      "heddle.plan/2\nmodel \"\"\nhome 0\n  at memtile 0 y 0..8 x 8..0 blocks 0..2\nlayer 0 "
      "\"me\"\n"
      "core 0 0\nsteps\n",
      "plan.txt", p.graph);
  ASSERT_FALSE(read);
  ASSERT_EQ(read.diagnostics().size(), 4u) << read.diagnostics();
  EXPECT_EQ(read.diagnostics()[0].where, "plan.txt:4:30");
  EXPECT_EQ(read.diagnostics()[0].summary, "an interval runs backwards");
  EXPECT_EQ(read.diagnostics()[1].summary, "the layer has another name in the network: \"left\"");
  EXPECT_EQ(read.diagnostics()[2].summary, "expected 'blocks'");
  EXPECT_EQ(read.diagnostics()[3].code, "PLAN010");
}

TEST(PlanText, RefusesAPlanThatLacksALayer) {
  const PlannedNetwork p;
  std::string text = print(p.plan, p.graph);
  const std::size_t first = text.find("\nlayer 0 "), second = text.find("\nlayer 1 ");
  text.erase(first, second - first);
  const Result<PlanText> read = parsePlan(text, "plan.txt", p.graph);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.diagnostics()[0].summary, "the plan has no layer '" + p.graph.ops[0].name + "'");
}

TEST(PlanText, RefusesAnotherVersion) {
  const PlannedNetwork p;
  EXPECT_EQ(parsePlan("heddle.plan/0\n", "p", p.graph).diagnostics()[0].summary,
            "not a plan of this version");
  EXPECT_EQ(parsePlan("", "p", p.graph).diagnostics()[0].summary, "not a plan of this version");
  EXPECT_EQ(parseMemoryPlan("\x01", "p").diagnostics()[0].summary,
            "a character that begins no token");
}

}  // namespace
}  // namespace heddle
