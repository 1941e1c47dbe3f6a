#include "heddle/planner/make_plan.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "../../../src/planner/mesh_cut.h"
#include "../../../src/planner/streams.h"
#include "../devices.h"
#include "../graphs.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/device/built_in.h"
#include "heddle/planner/count_work.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::paper;
using testing::square;
using testing::switched;

CanonicalGraph oneConv(Shape shape, std::int64_t channels, Window window) {
  GraphBuilder b("net");
  return b.finish(b.conv("conv", b.input("x", shape), channels, window));
}

Mapping mappingOf(const CanonicalGraph& graph, const Device& device, int effort = 0) {
  const Result<Plan> plan = makePlan(graph, device, {.effort = effort});
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
  // A record of 8 + 64 + 72 B, one input row of one pixel, two output rows of one.
  EXPECT_EQ(plan.diagnostics()[0].what,
            "the smallest subvolume needs 168 B of a core's 96 B for operands");
}

TEST(MakePlan, NamesTheLockValueThatShortensTheRings) {
  const CanonicalGraph graph = oneConv({16, 16, 16}, 32, square(3, 1, 1));
  const Result<Plan> plan =
      makePlan(graph, paper(1, 1, {{"core.memory", "384 B"}, {"limits.lockMaximum", "1"}}));
  ASSERT_FALSE(plan);
  // A record of 8 + 3 x 64 + 72 B, sums of 32 B and one row of one pixel more than the output's.
  EXPECT_EQ(
      plan.diagnostics()[0].what,
      "the smallest subvolume needs 336 B of a core's 288 B for operands, with rings that let "
      "no more calls wait than 'limits.lockMaximum' of 1");
  EXPECT_NE(plan.diagnostics()[0].mend.find("'limits.lockMaximum'"), std::string::npos);
}

TEST(MakePlan, SaysSoWhereNoWeightRecordPassesTheMemtile) {
  const CanonicalGraph graph = oneConv({4, 4, 8}, 8, square(1));
  const Result<Plan> plan = makePlan(graph, paper(1, 1, {{"memtile.memory", "1 KiB"}}));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].what,
            "two of its smallest weight records need 288 B of the 256 B that a memtile sets aside "
            "for weights");
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

// Rows of the first layers fill the memtiles but for the small part that is set aside for records;
// behind them few pixels and many weights are left.
TEST(MakePlan, RecordsAreAsLargeAsHomesLeaveRoomFor) {
  GraphBuilder b("net");
  TensorId t = b.input("x", {64, 64, 16});
  for (const char* name : {"a", "b"}) t = b.conv(name, t, 32, square(3, 1, 1));
  for (const char* name : {"c", "d", "e"}) t = b.conv(name, t, 64, square(3, 2, 1));
  t = b.conv("f", t, 512, square(3, 1, 1));
  const CanonicalGraph graph = b.finish(b.conv("g", t, 512, square(3, 1, 1)));
  const Device device = paper(2, 2, {{"memtile.memory", "88 KiB"}});
  const Result<Plan> plan = makePlan(graph, device);
  ASSERT_TRUE(plan) << plan.diagnostics();
  const Result<Allocation> placed = placeInMemory(graph, *plan, device);
  ASSERT_TRUE(placed) << placed.diagnostics();
  ASSERT_EQ(plan->schedule.size(), graph.ops.size());
  int larger = 0;
  for (std::size_t s = 0; s < plan->layers.size(); ++s) {
    const Mapping& m = plan->layers[s];
    EXPECT_LE(m.weightBytes * 2, stagingPerRoute(placed->recordRooms[s].bytes(), m)) << s;
    larger += m.weightBytes * 2 > stagingPerRoute(plan->weightStaging, m);
  }
  EXPECT_GE(larger, 2);
}

TEST(MakePlan, StreamsAnInputOfWhichALayerReadsEverySecondRowAndColumn) {
  GraphBuilder b("sliced");
  const TensorId x = b.input("x", {96, 96, 16});
  const CanonicalGraph graph = *fuseOperators(b.finish(b.conv("conv", x, 16, square(1, 2))));
  const Result<Plan> plan = makePlan(graph, paper(2, 2));
  ASSERT_TRUE(plan) << plan.diagnostics();
  EXPECT_EQ(plan->views[graph.ops[0].output.at()].root, x);
  EXPECT_TRUE(plan->homes[x.at()].empty());
}

std::set<std::int64_t> wiresOf(const std::vector<Route>& routes) {
  std::set<std::int64_t> wires;
  for (const Route& route : routes)
    for (const Lane& lane : route.lanes) wires.insert(lane.wire);
  return wires;
}

TEST(MakePlan, SendsTheOperandsOfAnAddOverWiresOfBothKinds) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {32, 32, 64});
  const Mapping m = mappingOf(b.finish(b.add("sum", x, x)), paper(4, 4), 1);
  std::set<std::int64_t> wires = wiresOf(m.inputs[0]);
  wires.merge(wiresOf(m.inputs[1]));
  EXPECT_EQ(wires.size(), 8u);
}

TEST(MakePlan, GivesEachCoreItsOwnChannelsWhereWeightsAreMostOfTheTraffic) {
  const CanonicalGraph graph = oneConv({1, 1, 1024}, 1024, square(1));
  const Mapping m = mappingOf(graph, paper(4, 4), 1);
  EXPECT_EQ(splitText(m).substr(0, 12), "W/1 x C/16, ");
  EXPECT_EQ(wiresOf(m.weights).size(), 8u);  // columns and rows
}

TEST(MakePlan, CutsPixelsOverAllCoresWhereInputsAreMostOfTheTraffic) {
  GraphBuilder b("net");
  const TensorId wide = b.conv("wide", b.input("x", {28, 28, 64}), 512, square(1));
  const CanonicalGraph graph = b.finish(b.conv("narrow", wide, 64, square(1)));
  const Mapping m = makePlan(graph, paper(4, 4))->layers[1];
  EXPECT_NE(splitText(m).find("/16 x C/1, "), std::string::npos) << splitText(m);
  EXPECT_EQ(wiresOf(m.inputs[0]).size(), 8u);  // columns and rows by turns
}

TEST(MakePlan, KeepsToTheColumnsWhereMemtilesDoNotFeedAllRows) {
  Device device = paper(2, 2);
  for (std::size_t wire : {2, 3})
    device.wires[wire].feeders = {static_cast<std::int64_t>(wire) - 2};
  GraphBuilder b("net");
  const TensorId x = b.input("x", {32, 32, 64});
  const Mapping m = mappingOf(b.finish(b.add("sum", x, x)), device, 1);
  EXPECT_EQ(wiresOf(m.inputs[0]), wiresOf(m.inputs[1]));
}

// What the closed form says of the plan of an effort.
Cycles closedForm(const CanonicalGraph& graph, const Device& device, int effort) {
  const Plan plan = *makePlan(graph, device, {.effort = effort});
  const MemoryPlan memory = *allocateMemory(graph, plan, device);
  return timesInClosedForm(graph, plan, memory, device).back().end;
}

// A row or column more divides these layers worse.
TEST(MakePlan, ASmallNetworkIsNoSlowerOnMoreCores) {
  GraphBuilder b("mlp");
  const TensorId first = b.conv("fc1", b.input("x", {1, 1, 784}), 512, square(1));
  const CanonicalGraph graph =
      b.finish(b.conv("fc3", b.conv("fc2", first, 512, square(1)), 10, square(1)));
  const Cycles few = closedForm(graph, paper(4, 4), 1);
  for (const auto& [rows, columns] : {std::pair(5, 4), std::pair(4, 5), std::pair(6, 4)})
    EXPECT_LE(closedForm(graph, paper(rows, columns), 1).raw() * 100, few.raw() * 102)
        << rows << "x" << columns;
}

// What costs only time lets calls grow; where they cost nothing they are of one row each.
TEST(MakePlan, LongCallsSaveWhatACallCosts) {
  const CanonicalGraph graph = oneConv({28, 28, 32}, 64, square(3, 1, 1));
  const auto withCost = [](std::int64_t cycles) {
    Device device = paper(2, 2);
    device.core.callOverhead = Cycles(cycles);
    return device;
  };
  EXPECT_EQ(mappingOf(graph, withCost(0), 1).callRows, 1);
  Mapping m = mappingOf(graph, withCost(200), 1);
  EXPECT_GE(m.callRows, 4);
  Device latency = paper(2, 2);
  latency.lockAcquire = Cycles(200);
  EXPECT_GE(mappingOf(graph, latency, 1).callRows, 4);
  EXPECT_EQ(mappingOf(graph, withCost(200), 0).callRows, 1);  // as in the paper
}

TEST(MakePlan, IsNeverSlowerInClosedFormThanThePapersDataflow) {
  for (const Shape& shape :
       {Shape{56, 56, 64}, Shape{7, 7, 512}, Shape{3, 40, 24}, Shape{1, 1, 96}})
    for (const std::int64_t channels : {8, 72, 256})
      for (const std::int64_t rows : {1, 2, 5}) {
        const CanonicalGraph graph = oneConv(shape, channels, square(1));
        EXPECT_LE(closedForm(graph, paper(rows, 3), 1), closedForm(graph, paper(rows, 3), 0))
            << shape.height << "x" << shape.width << "x" << shape.channels << " -> " << channels
            << " on " << rows << "x3";
      }
}

TEST(ChoosePlan, IsThePlanOfMakePlanWithWhatItLost) {
  GraphBuilder b("net");
  const TensorId wide = b.conv("wide", b.input("x", {28, 28, 64}), 512, square(1));
  const CanonicalGraph graph = b.finish(b.conv("narrow", wide, 64, square(1)));
  const Device device = paper(4, 4);
  const Result<ChosenPlan> chosen = choosePlan(graph, device);
  ASSERT_TRUE(chosen) << chosen.diagnostics();
  EXPECT_EQ(chosen->plan, *makePlan(graph, device));
  ASSERT_EQ(chosen->choices.layers.size(), 2u);
  for (const LayerChoice& choice : chosen->choices.layers) {
    EXPECT_EQ(choice.others.size(), kMostAlternatives);
    EXPECT_GT(choice.tried, std::ssize(choice.others));
    EXPECT_TRUE(std::ranges::is_sorted(choice.others, {}, &Alternative::cycles));
  }
}

// The last layer's, so that nothing after it depends on the choice.
TEST(ChoosePlan, AnAlternativeTakesWhatThePlanWithItTakes) {
  const CanonicalGraph graph = oneConv({28, 28, 64}, 128, square(3, 1, 1));
  const Device device = paper(2, 2);
  const ChosenPlan chosen = *choosePlan(graph, device);
  const auto end = [&](const Mapping& mapping) {
    Plan plan = chosen.plan;
    plan.layers[0] = mapping;
    const MemoryPlan memory = *allocateMemory(graph, plan, device);
    return stepTimes(countWork(graph, plan, memory, device), device).back().end;
  };
  ASSERT_EQ(chosen.choices.layers.size(), 1u);
  const LayerChoice& choice = chosen.choices.layers[0];
  EXPECT_EQ(choice.cycles, end(chosen.plan.layers[0]));
  ASSERT_FALSE(choice.others.empty());
  for (const Alternative& other : choice.others) EXPECT_EQ(other.cycles, end(other.mapping));
}

TEST(ChoosePlan, AlternativesAreOfOtherKinds) {
  const CanonicalGraph graph = oneConv({56, 56, 64}, 256, square(1));
  const ChosenPlan chosen = *choosePlan(graph, paper(4, 4));
  const auto kind = [](const Mapping& m) {
    std::set<std::array<std::int64_t, 4>> pixels;
    std::set<std::int64_t> channels;
    for (const CoreShare& share : m.shares) {
      const PixelBox& box = share.boxes[0];
      pixels.insert({box.y.first, box.y.count, box.x.first, box.x.count});
      channels.insert(share.blocks.first);
    }
    return std::tuple(pixels, channels, wiresOf(m.inputs[0]).size(), wiresOf(m.weights).size(),
                      m.resident, m.parts.size() > 1);
  };
  ASSERT_EQ(chosen.choices.layers.size(), 1u);
  std::vector kinds{kind(chosen.plan.layers[0])};
  for (const Alternative& other : chosen.choices.layers[0].others) {
    EXPECT_EQ(std::ranges::find(kinds, kind(other.mapping)), kinds.end());
    kinds.push_back(kind(other.mapping));
  }
  EXPECT_EQ(kinds.size(), 1 + kMostAlternatives);
}

TEST(ChoosePlan, WithoutAMenuNothingIsWeighed) {
  const CanonicalGraph graph = oneConv({28, 28, 64}, 128, square(1));
  const ChosenPlan chosen = *choosePlan(graph, paper(2, 2), {.effort = 0});
  EXPECT_TRUE(chosen.choices.layers.empty());
  EXPECT_EQ(chosen.choices.proposed.size(), graph.tensors.size());
}

// Of 17x17 pixels four columns compute 85 where W is cut, 73 as they are numbered; 56 divide.
TEST(MeshCuts, NumberPixelsWhereThatSavesEnough) {
  const Device device = paper(3, 4);
  const auto numbered = [&](const Shape& shape) {
    std::vector<MeshCut> cuts = meshCuts(shape, device);
    std::erase_if(cuts, [](const MeshCut& cut) { return !cut.isNumbered(); });
    return cuts;
  };
  EXPECT_TRUE(numbered({56, 56, 768}).empty());
  const std::vector<MeshCut> cuts = numbered({17, 17, 768});
  ASSERT_FALSE(cuts.empty());
  ASSERT_EQ(cuts[0].pixels.size(), 4u);
  EXPECT_EQ(cuts[0].pixels[0], (std::vector<PixelBox>{{{0, 4}, {0, 17}}, {{4, 1}, {0, 5}}}));
  EXPECT_EQ(cuts[0].pixels[1],
            (std::vector<PixelBox>{{{4, 1}, {5, 12}}, {{5, 3}, {0, 17}}, {{8, 1}, {0, 9}}}));
  EXPECT_EQ(cuts[0].rows(), 5);
  EXPECT_EQ(cuts[0].columns(), 17);
}

// Of four cores no two share a wire.
TEST(MeshCuts, FewChannelBlocksAlsoLieOnADiagonal) {
  const auto onDiagonal = [](const MeshCut& cut) {
    return cut.shares.size() == 4 && std::ranges::all_of(cut.shares, [](const auto& share) {
             return share.core == CoreAt{static_cast<std::int64_t>(share.blocks),
                                         static_cast<std::int64_t>(share.blocks)};
           });
  };
  std::vector<MeshCut> cuts = meshCuts({1, 1, 32}, paper(4, 4));
  std::erase_if(cuts, [&](const MeshCut& cut) { return !onDiagonal(cut); });
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].pixels.size(), 1u);
  // The fifth of five begins the next.
  cuts = meshCuts({1, 1, 40}, paper(4, 4));
  EXPECT_TRUE(std::ranges::any_of(cuts, [](const MeshCut& cut) {
    return cut.blocks.size() == 5 && cut.shares[3].core == CoreAt{3, 3} &&
           cut.shares[4].core == CoreAt{0, 1};
  }));
}

// In each quarter of the mesh cores of the same pixels lie in a line, and those of the same
// channels in lines across: in the quarters beside it the other way.
TEST(MeshCuts, QuartersAreTurnedAgainstTheirNeighbours) {
  const Device device = paper(5, 4);
  std::vector<MeshCut> cuts = meshCuts({14, 14, 256}, device);
  std::erase_if(cuts, [](const MeshCut& cut) { return cut.family != MeshCut::Family::Quarters; });
  ASSERT_EQ(cuts.size(), 1u);
  const MeshCut& cut = cuts[0];
  EXPECT_EQ(cut.shares.size(), 20u);
  const auto quarter = [](const CoreAt& core) { return std::pair(core.row < 3, core.column < 2); };
  for (const MeshCut::Share& a : cut.shares) {
    const auto [upper, left] = quarter(a.core);
    EXPECT_EQ(a.turned, upper != left);
    for (const MeshCut::Share& b : cut.shares) {
      if (quarter(a.core) != quarter(b.core)) {
        EXPECT_NE(a.blocks, b.blocks);
        continue;
      }
      EXPECT_EQ(a.pixels == b.pixels,
                a.turned ? a.core.row == b.core.row : a.core.column == b.core.column);
      EXPECT_EQ(a.blocks == b.blocks,
                a.turned ? a.core.column == b.core.column : a.core.row == b.core.row);
    }
  }
  // Of 32 blocks 6 of 20 go to the first quarter.
  EXPECT_EQ(cut.blocks[cut.shares[0].blocks].count, 3);
}

// Lines of a band have the same channels, and each core of it pixels of its own.
TEST(MeshCuts, BandsShareChannelsOutByTheirLines) {
  const Device device = paper(5, 4);
  const Shape shape{35, 35, 160};  // 20 blocks
  std::vector<MeshCut> cuts = meshCuts(shape, device);
  std::erase_if(cuts, [](const MeshCut& cut) { return cut.family != MeshCut::Family::Bands; });
  ASSERT_EQ(cuts.size(), 5u);  // of rows 2, 3 and 4, of columns 2 and 3
  const MeshCut& cut = cuts[0];
  ASSERT_EQ(cut.blocks, (std::vector<Interval>{{0, 12}, {12, 8}}));
  EXPECT_EQ(cut.pixels[0], (std::vector<PixelBox>{{{0, 18}, {0, 9}}}));  // rows in two, fewer lines
  EXPECT_EQ(cut.pixels.size(), 8u + 12u);
  std::set<CoreAt> cores;
  for (const MeshCut::Share& share : cut.shares) {
    EXPECT_TRUE(cores.insert(share.core).second);
    EXPECT_EQ(share.blocks, share.core.row < 3 ? 0u : 1u);
    for (const MeshCut::Share& other : cut.shares)
      EXPECT_EQ(share.pixels == other.pixels, share.core == other.core);
  }
  EXPECT_EQ(cores.size(), 20u);
}

// As many bands as fit channels: a layer of two blocks has no third.
TEST(MeshCuts, EveryBandHasChannels) {
  const auto bands = [](const Shape& shape, const Device& device) {
    return std::ranges::count(meshCuts(shape, device), MeshCut::Family::Bands, &MeshCut::family);
  };
  EXPECT_EQ(bands({35, 35, 16}, paper(6, 1)), 1);
  EXPECT_EQ(bands({35, 35, 8}, paper(6, 6)), 0);
  EXPECT_EQ(bands({35, 35, 512}, paper(2, 2)), 0);
}

// Five blocks of 15 parts of the pixels are as much as three of ten, and less than two of five.
TEST(MeshCuts, BandsOfFewerPixelsGetMoreChannels) {
  std::vector<MeshCut> cuts = meshCuts({35, 35, 64}, paper(5, 5));
  std::erase_if(cuts, [](const MeshCut& cut) {
    return cut.family != MeshCut::Family::Bands || cut.blocks.size() != 2;
  });
  ASSERT_FALSE(cuts.empty());
  EXPECT_EQ(cuts[0].blocks, (std::vector<Interval>{{0, 5}, {5, 3}}));
  EXPECT_EQ(cuts[0].pixels.size(), 10u + 15u);
}

// Lines of bands alike take turns: neighbours have neighbouring channels of the same pixels, so
// that the program says of them what they do with numbers affine in the line.
TEST(MeshCuts, BandsOfOneSizeTakeTurns) {
  std::vector<MeshCut> cuts = meshCuts({36, 32, 96}, paper(8, 8));
  std::erase_if(cuts, [](const MeshCut& cut) {
    return cut.family != MeshCut::Family::Bands || cut.blocks.size() != 4;
  });
  ASSERT_EQ(cuts.size(), 2u);  // of rows, of columns
  for (const MeshCut::Share& share : cuts[0].shares) {
    EXPECT_EQ(cuts[0].blocks[share.blocks], (Interval{3 * (share.core.row % 4), 3}));
    EXPECT_EQ(cuts[0].pixels[share.pixels].front().y, (Interval{18 * (share.core.row / 4), 18}));
  }
  for (const MeshCut::Share& share : cuts[1].shares)
    EXPECT_EQ(cuts[1].blocks[share.blocks], (Interval{3 * (share.core.column % 4), 3}));
}

// A cut in bands is not for every layer: it must leave the others that have the same parts.
TEST(MeshCuts, BandsPushNoOtherCutOut) {
  const Device device = paper(4, 4);
  const auto has = [&](const Shape& shape, std::int64_t wires, MeshCut::Family family,
                       std::size_t parts, std::size_t groups) {
    return std::ranges::any_of(meshCuts(shape, device, wires), [&](const MeshCut& cut) {
      return cut.family == family && cut.pixels.size() == parts && cut.blocks.size() == groups;
    });
  };
  EXPECT_TRUE(has({128, 1, 512}, 8, MeshCut::Family::Anywhere, 8, 2));
  EXPECT_TRUE(has({128, 1, 512}, 8, MeshCut::Family::Bands, 8, 2));
  const std::vector<MeshCut> cuts = meshCuts({17, 17, 16}, device);
  EXPECT_TRUE(std::ranges::any_of(cuts, &MeshCut::isNumbered));
}

std::set<std::pair<std::int64_t, std::int64_t>> intervalsOf(const Plan& plan, std::size_t layer) {
  std::set<std::pair<std::int64_t, std::int64_t>> intervals;
  for (const CoreShare& share : plan.layers[layer].shares)
    intervals.emplace(share.blocks.first, share.blocks.end());
  return intervals;
}

// 8 blocks over six rows are 2 and 1; over two or three bands they are alike, or nearly so.
TEST(MakePlan, ALayerWhoseChannelsDontDivideByTheLinesIsCutInBands) {
  const auto intervals = [](std::int64_t channels, const Device& device) {
    GraphBuilder b("net");
    const TensorId x = b.input("x", {35, 35, 64});
    const CanonicalGraph graph = b.finish(b.conv("conv", x, channels, square(5, 1, 2)));
    return intervalsOf(*makePlan(graph, device), 0).size();
  };
  // Each core all channels, or as many groups as lines: no bands.
  EXPECT_NE(intervals(384, paper(6, 6)), 2U);
  const std::size_t ofBands = intervals(64, paper(6, 6));
  EXPECT_TRUE(ofBands == 2 || ofBands == 3) << ofBands;
}

TEST(MeshCuts, OnlyMeshesOfMoreThanOneCoreAQuarterAreQuartered) {
  const auto quartered = [](const Shape& shape, const Device& device) {
    return std::ranges::count(meshCuts(shape, device), MeshCut::Family::Quarters,
                              &MeshCut::family) > 0;
  };
  EXPECT_FALSE(quartered({14, 14, 256}, paper(2, 2)));
  EXPECT_FALSE(quartered({14, 14, 256}, paper(1, 8)));
  EXPECT_TRUE(quartered({14, 14, 256}, paper(3, 2)));
  EXPECT_FALSE(quartered({14, 14, 32}, paper(8, 8)));  // too few channels
  EXPECT_FALSE(quartered({3, 3, 512}, paper(8, 8)));   // too few pixels
}

// Records and rows of a quartered layer take both kinds of wire, and no core gets both over one.
TEST(MakePlan, ALayerOfManyWeightsIsCutInQuarters) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {14, 14, 256});
  const CanonicalGraph graph = b.finish(b.conv("conv", x, 256, square(3, 1, 1)));
  const Device device = paper(8, 8);
  const Result<Plan> plan = makePlan(graph, device);
  ASSERT_TRUE(plan);
  const Mapping& m = plan->layers[0];
  EXPECT_EQ(splitText(m).substr(0, 10), "W/4 x C/16");
  const auto wireTo = [](const CoreAt& core, const std::vector<Route>& routes) {
    const auto route = std::ranges::find_if(routes, [&](const Route& one) {
      return std::ranges::find(one.cores, core) != one.cores.end();
    });
    return route->lanes[0].wire;
  };
  std::set<std::int64_t> ofRecords, ofRows;
  for (const CoreShare& share : m.shares) {
    const std::int64_t records = wireTo(share.core, m.weights),
                       rows = wireTo(share.core, m.inputs[0]);
    EXPECT_NE(records, rows);
    ofRecords.insert(records);
    ofRows.insert(rows);
  }
  EXPECT_EQ(ofRecords.size(), device.wires.size());
  EXPECT_EQ(ofRows, ofRecords);
}

// Both give 4x4 of the same windows and shapes, but pool 7x7 and 8x8: a plan for one is none for
// the other.
TEST(MakePlan, LayersThatPoolTensorsOfOtherSizesAreNotAlike) {
  const auto chain = [](bool smaller) {
    GraphBuilder b("net");
    TensorId x = b.input("x", {8, 8, 8});
    Window conv = square(3, 1, 1), pool = square(2, 2);
    if (smaller) {
      conv.padBottom = conv.padRight = 0;
      pool.padBottom = pool.padRight = 1;
    }
    return *fuseOperators(b.finish(b.maxPool("pool", b.conv("conv", x, 8, conv), pool)));
  };
  CanonicalGraph both = chain(true);
  const CanonicalGraph larger = chain(false);
  // The second, behind the first, with an input of its own.
  const std::size_t shift = both.tensors.size();
  for (CanonicalTensor tensor : larger.tensors) {
    tensor.name += "_2";
    both.tensors.push_back(tensor);
  }
  const auto moved = [&](TensorId t) { return TensorId(t.at() + shift); };
  CanonicalOp op = larger.ops[0];
  op.name += "_2";
  op.inputs[0] = moved(op.inputs[0]);
  op.output = moved(op.output);
  FusedWindow& pool = *std::get<Conv>(op.attributes).fusedWindow;
  pool.before = moved(pool.before);
  both.ops.push_back(op);
  for (std::vector<Port>* ports : {&both.inputs, &both.outputs}) {
    const std::vector<Port>& from = ports == &both.inputs ? larger.inputs : larger.outputs;
    for (Port port : from) {
      port.name += "_2";
      port.tensor = moved(port.tensor);
      ports->push_back(port);
    }
  }
  ASSERT_EQ(verify(both), Diagnostics{});
  const Device device = paper(1, 1);
  const Result<Plan> plan = makePlan(both, device);
  ASSERT_TRUE(plan);
  EXPECT_EQ(verify(*plan, both, device), Diagnostics{});
  EXPECT_NE(plan->layers[0].pooled.rowBytes, plan->layers[1].pooled.rowBytes);
}

void expectWholeAndDifferent(const std::vector<MeshCut>& cuts, const Shape& shape) {
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    for (const std::vector<PixelBox>& part : cuts[i].pixels) {
      EXPECT_LE(part.size(), kMaxBoxes);
      EXPECT_TRUE(std::ranges::none_of(part, &PixelBox::empty));
      EXPECT_LE(pixelsOf(part), pixelsOf(cuts[i].pixels[0]));
    }
    for (const Interval& part : cuts[i].blocks) EXPECT_LE(part.count, cuts[i].blocks[0].count);
    std::int64_t cells = 0;
    std::set<CoreAt> cores;
    for (const MeshCut::Share& share : cuts[i].shares) {
      cells += pixelsOf(cuts[i].pixels[share.pixels]) * cuts[i].blocks[share.blocks].count;
      EXPECT_TRUE(cores.insert(share.core).second);
    }
    EXPECT_EQ(cells, shape.height * shape.width * blocksOf(shape));
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(cuts[i], cuts[j]);
  }
}

TEST(MeshCuts, AreWholeAndDiffer) {
  for (const Device& device : {paper(3, 4), paper(7, 1)})
    for (const Shape& shape : {Shape{56, 56, 64}, Shape{1, 1, 8}, Shape{2, 3, 8}, Shape{2, 9, 40},
                               Shape{30, 1, 200}, Shape{17, 17, 768}}) {
      expectWholeAndDifferent(meshCuts(shape, device), shape);
      expectWholeAndDifferent(meshCuts(shape, device, 7), shape);
    }
}

// Cores with a block more lie as evenly in the rows of the mesh as in its columns.
TEST(MeshCuts, BlocksThatAreLeftOverLieAlongDiagonals) {
  for (const auto& [rows, columns] : {std::pair{4, 4}, {3, 5}, {8, 5}, {6, 4}, {1, 7}})
    for (std::int64_t left = 0; left < rows * columns; ++left) {
      const Shape shape{1, 1, kBlock * (3 * rows * columns + left)};
      const std::vector<MeshCut> cuts = meshCuts(shape, paper(rows, columns));
      const auto ofChannels =
          std::ranges::find(cuts, static_cast<std::size_t>(rows * columns),
                            [](const MeshCut& cut) { return cut.shares.size(); });
      ASSERT_NE(ofChannels, cuts.end());
      std::map<std::int64_t, std::int64_t> inRow, inColumn;
      for (const MeshCut::Share& share : ofChannels->shares) {
        const std::int64_t more = ofChannels->blocks[share.blocks].count - 3;
        ASSERT_TRUE(more == 0 || more == 1);
        inRow[share.core.row] += more;
        inColumn[share.core.column] += more;
      }
      for (const auto& [line, count] : inRow)
        EXPECT_TRUE(count == left / rows || count == divideRoundUp(left, rows)) << left;
      for (const auto& [line, count] : inColumn)
        EXPECT_TRUE(count == left / columns || count == divideRoundUp(left, columns)) << left;
    }
}

// Where seven of eight wires bring records, seven parts of the channels load all alike.
TEST(MeshCuts, ScatteredOnesDivideByTheWires) {
  const Device device = switched(4, 4);
  const auto counts = [&](std::int64_t wires) {
    std::set<std::pair<std::size_t, std::size_t>> all;
    for (const MeshCut& cut : meshCuts({56, 56, 256}, device, wires))
      if (cut.family == MeshCut::Family::Anywhere)
        all.emplace(cut.pixels.size(), cut.blocks.size());
    return all;
  };
  EXPECT_TRUE(counts(0).empty());
  const auto scattered = counts(8);
  for (const auto& [pixels, blocks] : scattered) EXPECT_LE(pixels * blocks, 16u);
  EXPECT_TRUE(scattered.contains({2, 7}));
  EXPECT_TRUE(scattered.contains({8, 2}));
  EXPECT_TRUE(scattered.contains({5, 3}));
}

// Rows over some of the wires and records over the others, and each channel of a core behind one
// wire: what a convolution adds comes with its other rows.
TEST(StreamMenus, WiresThatReachAllCoresBringRowsOrRecords) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {14, 14, 64}), y = b.input("y", {14, 14, 448});
  const CanonicalGraph graph =
      *fuseOperators(b.finish(b.add("add", b.conv("conv", x, 448, square(1)), y)));
  const CanonicalOp& op = graph.ops[0];
  ASSERT_EQ(op.inputs.size(), 2u);
  const Device device = switched(4, 4);
  const DataflowWires wires = *chooseWires(device);
  EXPECT_EQ(wires.anywhere.size(), device.wires.size());
  EXPECT_TRUE(chooseWires(paper(4, 4))->anywhere.empty());
  std::vector<MeshCut> cuts = meshCuts({14, 14, 448}, device, 8);
  std::erase_if(cuts, [](const MeshCut& cut) {
    return cut.family != MeshCut::Family::Anywhere || cut.pixels.size() != 2 ||
           cut.blocks.size() != 7;
  });
  ASSERT_FALSE(cuts.empty());
  StreamMenus menus(wires, device);
  const std::vector<Streams>& menu = menus.of(op, true, cuts[0]);
  ASSERT_EQ(menu.size(), 2u);  // rows over one wire, or one for each of the parts
  for (const Streams& streams : menu) {
    EXPECT_TRUE(streams.anywhere);
    std::set<std::int64_t> ofRows, ofRecords;
    std::map<std::pair<CoreAt, std::int64_t>, std::set<std::int64_t>> behind;
    const auto look = [&](const std::vector<Route>& routes, std::set<std::int64_t>& to) {
      for (const Route& route : routes)
        for (const Lane& lane : route.lanes) {
          to.insert(lane.wire);
          for (const CoreAt& core : route.cores) behind[{core, lane.channel}].insert(lane.wire);
        }
    };
    for (const Routes& routes : streams.inputs) look(*routes, ofRows);
    look(*streams.weights, ofRecords);
    for (const std::int64_t wire : ofRows) EXPECT_FALSE(ofRecords.contains(wire));
    for (const auto& [channel, one] : behind) EXPECT_EQ(one.size(), 1u);
  }
  // Of the first: both parts of the pixels over one wire, each of seven wires a part of the
  // records.
  EXPECT_EQ(menu[0].wires[0].inputs, (std::vector<double>{2, 14}));
  EXPECT_EQ(menu[0].wires[1].weights, 1);
}

}  // namespace
}  // namespace heddle
