#include "heddle/planner/count_work.h"

#include <gtest/gtest.h>

#include "../devices.h"
#include "../graphs.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::paper;
using testing::square;

struct Counted {
  Plan plan;
  std::vector<StepWork> steps;
};

Counted count(const CanonicalGraph& graph, std::int64_t rows, std::int64_t columns,
              std::vector<std::pair<std::string, std::string>> settings = {}) {
  const Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                 {.mesh = {{rows, columns}}, .settings = std::move(settings)});
  EXPECT_TRUE(device) << device.diagnostics();
  const Result<Plan> plan = makePlan(graph, *device, {.effort = 0});
  EXPECT_TRUE(plan) << plan.diagnostics();
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, *device);
  EXPECT_TRUE(memory) << memory.diagnostics();
  return {*plan, countWork(graph, *plan, *memory, *device)};
}

// 3x3 with border on 8x8x16, 16 channels out, on two columns: each core needs a column of its
// neighbour's pixels.
CanonicalGraph bordered() {
  GraphBuilder b("net");
  return b.finish(b.conv("conv", b.input("x", {8, 8, 16}), 16, square(3, 1, 1)));
}

TEST(CountWork, CountsCallsAndWhatMustComeBeforeThem) {
  const StepWork step = count(bordered(), 1, 2).steps.at(0);
  ASSERT_EQ(step.cores.size(), 2u);
  EXPECT_EQ(step.lastRows, 0);
  for (const CoreWork& core : step.cores) {
    EXPECT_EQ(core.cores, 1);
    ASSERT_EQ(core.rowWires.size(), 1u);
    ASSERT_EQ(core.rowWires[0].size(), 1u);
    EXPECT_NE(step.wires[static_cast<std::size_t>(core.rowWires[0][0])].activations, Transfers{});
    std::int64_t calls = 0;
    for (const CallWork& call : core.calls) {
      EXPECT_EQ(call.kernel, kernelWork(OpKind::Conv, 4, 9, 4));
      EXPECT_EQ(call.waited, RowTransfers{});  // the ring holds two windows
      EXPECT_EQ(call.out, (Transfers{{64_B, 1, 1}}));
      calls += call.times;
    }
    EXPECT_EQ(calls, 8);
    // Rows 0 and 1, each in two pieces out of two memtiles, which both wait to be written.
    EXPECT_EQ(core.first.ddr, Transfers{});
    EXPECT_EQ(core.first.wire.size(), 2u);
    for (const TransferCount& piece : core.first.wire) EXPECT_EQ(piece.times, 2);
  }
  EXPECT_EQ(step.cores[0].first.wire, (Transfers{{64_B, 2, 2}, {16_B, 2, 2}}));
}

TEST(CountWork, RowsAreWaitedForByTheFirstThatReadsThem) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 16}), first = b.conv("first", x, 16, square(3, 1, 1)),
                 second = b.conv("second", x, 16, square(3, 1, 1));
  const Counted counted = count(b.finish(b.add("sum", first, second)), 1, 2);
  for (const std::size_t step : {std::size_t{0}, std::size_t{1}})
    for (const ChannelWork& wire : counted.steps.at(step).wires)
      for (const TransferCount& piece : wire.activations)
        EXPECT_EQ(piece.acquires, step == 0 ? piece.times : 0);
}

TEST(CountWork, CountsCallsOfSeveralRows) {
  const CanonicalGraph graph = bordered();
  const Device device = paper(1, 2);
  Plan plan = count(graph, 1, 2).plan;
  Mapping& mapping = plan.layers[0];
  mapping.callRows = 3;
  mapping.outputSlots = 6;
  mapping.rings[0].length = 8;
  ASSERT_EQ(verify(plan, graph, device), Diagnostics{});
  for (const CoreWork& core : WorkCounter(graph, device).counts(plan, 0).cores) {
    std::int64_t calls = 0, rows = 0, written = 0;
    for (const CallWork& call : core.calls) {
      EXPECT_EQ(call.kernel.calls(), 1);
      calls += call.times;
      rows += call.times * call.kernel.rows;
      for (const TransferCount& out : call.out) written += call.times * out.times;
    }
    EXPECT_EQ(calls, 3);  // of 3, 3, 2
    EXPECT_EQ(rows, 8);
    EXPECT_EQ(written, 8);
    // Rows 0 to 3 before the first call.
    for (const TransferCount& piece : core.first.wire) EXPECT_EQ(piece.times, 4);
    EXPECT_EQ(core.rowsBefore, 3);
  }
}

// 3x3 of dilation 4 on 16 rows: a sweep begins with five rows, and its last four calls ask for
// none.
TEST(CountWork, FirstRowsOfASweepComeWhileTheLastCallsOfTheOneBeforeCompute) {
  GraphBuilder b("net");
  const Window dilated{3, 3, 1, 1, 4, 4, 4, 4, 4, 4};
  const CanonicalGraph graph = b.finish(b.conv("conv", b.input("x", {16, 8, 8}), 16, dilated));
  const Device device = paper(1, 1);
  Plan plan = count(graph, 1, 1).plan;
  Mapping& mapping = plan.layers[0];
  mapping.blocksPerPass = 1;
  mapping.passes = 2;
  mapping.resident = false;
  mapping.order = {NestLoop::Pass, NestLoop::Chunk, NestLoop::Band, NestLoop::Part};
  for (const std::int64_t places : {32, 8}) {
    mapping.rings[0].length = places;
    const StepCounts step = WorkCounter(graph, device).counts(plan, 0);
    ASSERT_EQ(step.cores.size(), 1u);
    std::int64_t calls = 0, ahead = 0, waited = 0;
    for (const CallWork& call : step.cores[0].calls) {
      calls += call.times;
      ahead += call.times * bytesOf(call.ahead.wire).raw();
      waited += call.times * bytesOf(call.waited.wire).raw();
      EXPECT_LE(bytesOf(call.ahead.wire).raw(), 64) << places;
    }
    EXPECT_EQ(calls, 32);
    // The first five come before the first call.
    EXPECT_EQ(ahead + waited + bytesOf(step.cores[0].first.wire).raw(), 2 * 16 * 64) << places;
    EXPECT_EQ(waited == 0, places == 32) << waited;
  }
  // The sweep before is that of another band, which still asks for rows in its last calls.
  mapping.rings[0].length = 32;
  mapping.bands = 2;
  const StepCounts inBands = WorkCounter(graph, device).counts(plan, 0);
  std::int64_t most = 0;
  for (const CallWork& call : inBands.cores.at(0).calls)
    most = std::max(most, bytesOf(call.ahead.wire).raw());
  EXPECT_EQ(most, 9 * 64);
}

// What a tile reads of rows that were there before its first row is read does not hold it up.
TEST(CountWork, RowsOfATileAreCountedFromTheEndOfTheOneBefore) {
  const CanonicalGraph graph = bordered();
  Plan plan = count(graph, 1, 2).plan;
  plan.schedule = {{LayerId(0), {0, 4}}, {LayerId(0), {4, 4}}};
  const Device device = paper(1, 2);
  const WorkCounter counter(graph, device);
  const StepCounts first = counter.counts(plan, 0), second = counter.counts(plan, 1);
  EXPECT_EQ(first.height, 8);
  EXPECT_EQ(second.height, 3);
  for (const CoreWork& core : first.cores) EXPECT_EQ(core.rowsBefore, 1);
  for (const CoreWork& core : second.cores) EXPECT_EQ(core.rowsBefore, 0);
}

// The rows of a depth-wise convolution at the end are those that the whole layer reads.
TEST(CountWork, RowsOfATileAreThoseOfBothWindows) {
  GraphBuilder b("net");
  const TensorId conv = b.conv("conv", b.input("x", {8, 8, 16}), 16, square(1));
  const CanonicalGraph apart = b.finish(b.depthwise("deep", conv, square(3, 1, 1)));
  const std::shared_ptr<const CanonicalGraph> graph = fuseOperators(apart);
  ASSERT_TRUE(graph);
  Plan plan = count(*graph, 1, 2).plan;
  plan.schedule = {{LayerId(0), {0, 4}}, {LayerId(0), {4, 4}}};
  const Device device = paper(1, 2);
  const StepCounts second = WorkCounter(*graph, device).counts(plan, 1);
  EXPECT_EQ(second.height, 3);
  for (const CoreWork& core : second.cores) EXPECT_EQ(core.rowsBefore, 0);
}

// Two tensors of 16 channels side by side, 16 channels for each row of cores: each reads another.
TEST(CountWork, CoresThatMoveOtherOperandsAreCountedApart) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 16}), y = b.conv("y", x, 16, square(1));
  const CanonicalGraph graph = b.finish(b.concat("both", {x, y}));
  const Counted counted = count(graph, 2, 1);
  const std::vector<CoreShare>& shares = counted.plan.layers.at(1).shares;
  ASSERT_EQ(shares.size(), 2u);
  ASSERT_EQ(shares[0].boxes, shares[1].boxes);
  EXPECT_EQ(counted.steps.at(1).cores.size(), 2u);
}

// Two cores of three blocks each, those of one in a part of its own, those of the other in two.
TEST(CountWork, CoresWhoseBlocksLieInSeveralPartsAreCountedApart) {
  GraphBuilder b("net");
  const TensorId a = b.conv("a", b.input("x", {8, 8, 16}), 48, square(1, 1, 0));
  const CanonicalGraph graph = b.finish(b.conv("b", a, 16, square(1, 1, 0)));
  Counted counted = count(graph, 2, 1);
  ASSERT_EQ(counted.steps.at(0).cores.size(), 1u);
  EXPECT_EQ(counted.steps[0].cores[0].cores, 2);
  counted.plan.homes[1] = {
      {0, {0, 8}, {0, 8}, {0, 3}}, {0, {0, 8}, {0, 8}, {3, 1}}, {0, {0, 8}, {0, 8}, {4, 2}}};
  const Device device = paper(2, 1);
  ASSERT_EQ(verify(counted.plan, graph, device), Diagnostics{});
  const Result<MemoryPlan> memory = allocateMemory(graph, counted.plan, device);
  ASSERT_TRUE(memory) << memory.diagnostics();
  const StepWork step = countWork(graph, counted.plan, *memory, device).at(0);
  ASSERT_EQ(step.cores.size(), 2u);
  const auto piecesOut = [](const CoreWork& core) {
    std::int64_t count = 0;
    for (const CallWork& call : core.calls)
      for (const TransferCount& out : call.out) count += call.times * out.times;
    return count;
  };
  EXPECT_EQ(piecesOut(step.cores[1]), 2 * piecesOut(step.cores[0]));
}

// Of a route whose records take two turns of three on one wire, the first is the first alone.
TEST(CountWork, TellsTheFirstRecordsOfRoutesFromThoseOfTurns) {
  const CanonicalGraph graph = bordered();
  Plan plan = count(graph, 1, 2).plan;
  Mapping& mapping = plan.layers[0];
  mapping.parts = {{{0, 1}, {0, 3}}, {{1, 1}, {0, 1}}, {{1, 1}, {1, 2}}};
  std::vector<Lane>& lanes = mapping.weights.at(0).lanes;
  ASSERT_EQ(lanes.size(), 1u);
  const Lane own = lanes[0], other{own.wire == 0 ? 1 : 0, own.channel};
  lanes = {own, own, other};
  const Device device = paper(1, 2);
  const StepCounts counts = WorkCounter(graph, device).counts(plan, 0);
  const auto records = [](const Transfers& of) {
    std::int64_t times = 0;
    for (const TransferCount& t : of) times += t.times;
    return times;
  };
  const ChannelWork &both = counts.wires.at(static_cast<std::size_t>(own.wire)),
                    &last = counts.wires.at(static_cast<std::size_t>(other.wire));
  EXPECT_EQ(records(both.firstWeights), 2);
  EXPECT_EQ(records(both.firstOfRoutes), 1);
  EXPECT_EQ(both.firstOfRoutes[0].size, both.firstWeights[0].size);
  EXPECT_EQ(records(last.firstWeights), 1);
  EXPECT_EQ(last.firstOfRoutes, Transfers{});
}

TEST(CountWork, SaysWhenOutputIsWritten) {
  const CanonicalGraph graph = bordered();
  const Device device = paper(1, 2);
  Plan plan = count(graph, 1, 2).plan;
  const auto writing = [&](const Mapping& mapping) {
    plan.layers[0] = mapping;
    return WorkCounter(graph, device).counts(plan, 0).writing;
  };
  Mapping mapping = plan.layers[0];
  EXPECT_EQ(writing(mapping), StepCounts::Writing{});
  mapping.blocksPerPass = 1;
  mapping.passes = 2;
  EXPECT_EQ(writing(mapping), (StepCounts::Writing{2, 0, 1, 2, 1}));
  mapping.resident = true;
  EXPECT_EQ(writing(mapping), (StepCounts::Writing{2, 0, 1, 2, 1}));
  EXPECT_EQ(WorkCounter(graph, device).counts(plan, 0).lastRows, 1);  // its rows stay
  mapping.resident = false;
  mapping.parts = {{{0, 1}, {0, 3}}, {{1, 1}, {0, 3}}};
  EXPECT_EQ(writing(mapping), (StepCounts::Writing{4, 1, 3, 2, 1}));
  EXPECT_EQ(WorkCounter(graph, device).counts(plan, 0).lastRows, 0);
  mapping.bands = 2;  // each band in both parts
  EXPECT_EQ(writing(mapping), (StepCounts::Writing{8, 1, 5, 4, 2}));
  mapping.order = {NestLoop::Chunk, NestLoop::Band, NestLoop::Pass, NestLoop::Part};
  EXPECT_EQ(writing(mapping), (StepCounts::Writing{8, 1, 1, 4, 4}));
  EXPECT_EQ(WorkCounter(graph, device).counts(plan, 0).lastRows, 4);
}

TEST(CountWork, CountsEveryTransferOfEveryEngine) {
  const Counted counted = count(bordered(), 1, 2);
  const StepWork& step = counted.steps.at(0);
  std::vector<Transfers> inputs, weights;
  for (const ChannelWork& wire : step.wires) {
    if (!wire.activations.empty()) inputs.push_back(wire.activations);
    if (!wire.weights.empty()) weights.push_back(wire.weights);
  }
  EXPECT_EQ(inputs,
            (std::vector<Transfers>{{{64_B, 8, 8}, {16_B, 8, 8}}, {{16_B, 8, 8}, {64_B, 8, 8}}}));
  ASSERT_EQ(weights.size(), 1u);
  EXPECT_EQ(weights[0], (Transfers{{step.record, 1, 1}}));
  EXPECT_GE(step.record, Bytes(16 * 16 * 9));
  EXPECT_EQ(step.ddrRead.at(0).activations, Transfers{});
  // x goes whole to its home: a half of its columns to each memtile.
  EXPECT_EQ(step.reads, (std::vector<StepPlace::Whole>{{0, {64_B, 8, 8}}, {2, {64_B, 8, 8}}}));
  EXPECT_EQ(step.ddrRead.at(1).weights, (Transfers{{step.record, 1, 1}}));
}

TEST(CountWork, CountsSpilledRowsThroughDdr) {
  GraphBuilder b("net");
  const TensorId x = b.conv("first", b.input("x", {32, 32, 16}), 16, square(1));
  const Counted spilled =
      count(b.finish(b.conv("second", x, 16, square(1))), 1, 1, {{"memtile.memory", "16 KiB"}});
  ASSERT_TRUE(spilled.plan.homes.at(x.at()).empty());
  EXPECT_EQ(spilled.steps.at(0).ddrWrite.at(0).activations, (Transfers{{512_B, 32, 32}}));
  EXPECT_EQ(spilled.steps.at(1).ddrRead.at(0).activations, (Transfers{{512_B, 32, 32}}));
  EXPECT_EQ(spilled.steps.at(1).producers, (std::vector<Producer>{{.step = 0, .whole = true}}));
}

TEST(CountWork, CyclesOfALayerAreThoseOfItsSteps) {
  Plan plan;
  plan.layers.resize(2);
  plan.schedule = {{LayerId(0), {0, 4}}, {LayerId(1), {0, 4}}, {LayerId(0), {4, 4}}};
  std::vector<StepTime> steps(3);
  steps[0].cycles = Cycles(5);
  steps[1].cycles = Cycles(7);
  steps[2].cycles = Cycles(11);
  EXPECT_EQ(layerCycles(plan, steps), (std::vector<Cycles>{Cycles(16), Cycles(7)}));
}

}  // namespace
}  // namespace heddle
