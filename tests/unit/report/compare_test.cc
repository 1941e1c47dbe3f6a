#include "heddle/report/compare.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

Report runOf(std::vector<LayerReport> layers, std::int64_t clock = 1'000'000'000) {
  Report report;
  report.clock = {clock};
  for (LayerReport& layer : layers) {
    report.cycles += layer.cycles;
    report.layers.push_back(std::move(layer));
  }
  return report;
}

LayerReport layer(const std::string& name, std::int64_t cycles, std::int64_t macs,
                  Resource boundBy = Resource::Compute) {
  LayerReport l;
  l.name = name;
  l.cycles = Cycles(cycles);
  l.macs = macs;
  l.boundBy = boundBy;
  l.imbalance = 1;
  l.weightsToCores = Bytes(macs);
  l.traffic.ddrRead = Bytes(macs);
  return l;
}

// Of a layer of 100 cycles and 80 MACs in A.
std::optional<Obstacle> obstacleOf(const LayerReport& inB) {
  const Report a = runOf({layer("l", 100, 80)}), b = runOf({inB});
  const SparsityGain gain = sparsityGain(a, b, matchLayers(a, b));
  EXPECT_EQ(gain.layers.size(), 1U);
  return gain.layers.at(0).obstacle;
}

TEST(MatchLayers, ByNameAndTheFirstOfNamesakesWithTheFirst) {
  const Report a = runOf({layer("x", 1, 1), layer("s", 1, 1), layer("s", 1, 1), layer("y", 1, 1)});
  const Report b = runOf(
      {layer("s", 1, 1), layer("y", 1, 1), layer("z", 1, 1), layer("s", 1, 1), layer("s", 1, 1)});
  const LayerMatch match = matchLayers(a, b);
  EXPECT_EQ(match.both, (std::vector<LayerPair>{{1, 0}, {2, 3}, {3, 1}}));
  EXPECT_EQ(match.onlyA, std::vector<std::size_t>{0});
  EXPECT_EQ(match.onlyB, (std::vector<std::size_t>{2, 4}));
}

TEST(TellAlike, ALayerThatIsAtAnEndInTheOtherRunIsToldThere) {
  LayerReport end = layer("dw", 30, 6, Resource::InputWire);
  end.imbalance = 1.5;
  Report a = runOf({layer("x", 10, 4), layer("pw", 20, 40), end, layer("y", 5, 1)});
  a.layers[1].closedForm = Cycles(19);
  a.layers[2].closedForm = Cycles(31);
  Report b = runOf({layer("x", 10, 4), layer("pw", 35, 46), layer("y", 5, 1)});
  b.layers[1].atEnd = "dw";
  tellAlike(a, b);
  ASSERT_EQ(b.layers.size(), 3U);
  EXPECT_EQ(b.layers[1].cycles, Cycles(35));
  ASSERT_EQ(a.layers.size(), 3U);
  const LayerReport& one = a.layers[1];
  EXPECT_EQ(one.name, "pw");
  EXPECT_EQ(one.atEnd, "dw");
  EXPECT_EQ(one.cycles, Cycles(50));
  EXPECT_EQ(one.macs, 46);
  EXPECT_EQ(one.closedForm, Cycles(50));
  EXPECT_EQ(one.traffic.ddrRead, Bytes(46));
  EXPECT_EQ(one.boundBy, Resource::InputWire) << "of the part that takes longer";
  EXPECT_EQ(one.imbalance, 1.5);
  EXPECT_TRUE(matchLayers(a, b).onlyA.empty());
  EXPECT_TRUE(matchLayers(b, a).onlyB.empty());
}

// The tables of both convolutions, whose layers go before or after the second goes to the end.
TEST(TellAlike, TablesThatAreLookedUpInTheOtherRunAreToldThere) {
  Report b = runOf({layer("pw", 100, 10)});
  b.layers[0].atEnd = "dw";
  b.layers[0].tables = {"pw table", "dw table"};
  const LayerReport pw = layer("pw", 20, 4), dw = layer("dw", 30, 6),
                    first = layer("pw table", 7, 0), second = layer("dw table", 8, 0);
  LayerReport dwOnly = dw;
  dwOnly.tables = {"dw table"};
  for (const Report& apart : {runOf({pw, first, dw, second}), runOf({pw, first, dwOnly})}) {
    Report a = apart, other = b;
    tellAlike(a, other);
    ASSERT_EQ(a.layers.size(), 1U);
    EXPECT_EQ(a.layers[0].atEnd, "dw");
    EXPECT_EQ(std::set(a.layers[0].tables.begin(), a.layers[0].tables.end()),
              (std::set<std::string>{"pw table", "dw table"}));
    EXPECT_EQ(a.layers[0].cycles, Cycles(apart.layers.size() == 4 ? 65 : 57));
    EXPECT_EQ(other.layers[0].cycles, Cycles(100));
  }
}

// The first has a depth-wise convolution at an end and its table as a layer, the second the table
// at the end of the depth-wise convolution, a layer.
TEST(TellAlike, ATableOfWhatIsAtAnEndIsToldThere) {
  Report a = runOf({layer("pw", 40, 4), layer("table", 9, 0)});
  a.layers[0].atEnd = "dw";
  Report b = runOf({layer("pw", 20, 4), layer("dw", 30, 6)});
  b.layers[1].tables = {"table"};
  for (const bool swapped : {false, true}) {
    Report one = swapped ? b : a, other = swapped ? a : b;
    tellAlike(one, other);
    ASSERT_EQ(one.layers.size(), 1U);
    ASSERT_EQ(other.layers.size(), 1U);
    EXPECT_EQ(one.layers[0].cycles, Cycles(swapped ? 50 : 49));
    EXPECT_EQ(other.layers[0].cycles, Cycles(swapped ? 49 : 50));
    EXPECT_EQ(one.layers[0].tables, std::vector<std::string>{"table"});
  }
}

TEST(TellAlike, WhatTheOtherRunDoesFirstInALayerIsToldThere) {
  Report a = runOf({layer("mul", 7, 0), layer("pw", 20, 4)}), b = runOf({layer("pw", 22, 4)});
  a.layers[1].atEnd = b.layers[0].atEnd = "sum";
  b.layers[0].atStart = "mul";
  tellAlike(a, b);
  ASSERT_EQ(a.layers.size(), 1U);
  EXPECT_EQ(a.layers[0].name, "pw");
  EXPECT_EQ(a.layers[0].atStart, "mul");
  EXPECT_EQ(a.layers[0].atEnd, "sum");
  EXPECT_EQ(a.layers[0].cycles, Cycles(27));
  EXPECT_EQ(b.layers[0].cycles, Cycles(22));
}

TEST(TellAlike, WhatNeitherOrBothHaveAtAnEndStays) {
  Report a = runOf({layer("pw", 20, 40), layer("dw", 30, 6)}), b = a;
  tellAlike(a, b);
  EXPECT_EQ(a.layers.size(), 2U);
  Report c = runOf({layer("pw", 40, 46)});
  c.layers[0].atEnd = "dw";
  Report d = c;
  tellAlike(c, d);
  EXPECT_EQ(c.layers.at(0).cycles, Cycles(40));
}

TEST(SpeedUp, IsOfSecondsNotOfCycles) {
  const Report a = runOf({}), fast = runOf({}, 2'000'000'000);
  EXPECT_EQ(speedUp(a, Cycles(100), a, Cycles(50)), 2.0);
  EXPECT_EQ(speedUp(a, Cycles(100), fast, Cycles(100)), 2.0);
  EXPECT_EQ(speedUp(a, Cycles(100), a, Cycles(0)), std::nullopt);
  EXPECT_EQ(speedUp(a, Cycles(0), a, Cycles(1)), std::nullopt);
}

TEST(MeanInference, DividesWhatIsOfAllInferences) {
  Report run = runOf({layer("x", 301, 3 * 80)});
  run.frames = 3;
  run.macs = run.weightBytes = 3 * 80;
  run.traffic = {Bytes(30), Bytes(60), Bytes(90), Bytes(12)};
  run.memtilePeakBytes = 7;
  run.layers[0].busy[0] = Cycles(299);
  run.layers[0].boundSeconds = 1.5;
  const Report one = meanInference(run);
  EXPECT_EQ(one.inferences(), 1);
  EXPECT_EQ(one.cycles, Cycles(100));
  EXPECT_EQ(one.macs, 80);
  EXPECT_EQ(one.weightBytes, 80);
  EXPECT_EQ(one.traffic, (Traffic{Bytes(10), Bytes(20), Bytes(30), Bytes(4)}));
  EXPECT_EQ(one.memtilePeakBytes, 7);
  EXPECT_EQ(one.layers[0].cycles, Cycles(100));
  EXPECT_EQ(one.layers[0].macs, 80);
  EXPECT_EQ(one.layers[0].weightsToCores, Bytes(80));
  EXPECT_EQ(one.layers[0].busy[0], Cycles(100));
  EXPECT_DOUBLE_EQ(one.layers[0].boundSeconds, 0.5);
  EXPECT_EQ(one.layers[0].imbalance, 1);
}

TEST(MeanInference, OfABatchDividesAllButTheWeightsThatItNeedsOnce) {
  Report run = runOf({layer("x", 600, 6 * 80)});
  run.frames = 2;
  run.batch = 3;
  run.macs = 6 * 80;
  run.weightBytes = run.layers[0].weightBytes = 2 * 80;
  const Report one = meanInference(run);
  EXPECT_EQ(one.inferences(), 1);
  EXPECT_EQ(one.cycles, Cycles(100));
  EXPECT_EQ(one.macs, 80);
  EXPECT_EQ(one.weightBytes, 80);
  EXPECT_EQ(one.layers[0].weightBytes, 80);
  EXPECT_EQ(one.layers[0].macs, 80);
}

TEST(SparsityGain, ALayerThatGainsWhatItsMacsAllowIsNotHeldBack) {
  EXPECT_EQ(obstacleOf(layer("l", 50, 40)), std::nullopt);
  EXPECT_EQ(obstacleOf(layer("l", 55, 40)), std::nullopt);  // 91 % of what they allow
  EXPECT_EQ(obstacleOf(layer("l", 0, 0)), std::nullopt);
  EXPECT_NE(obstacleOf(layer("l", 56, 40)), std::nullopt);
  EXPECT_NE(obstacleOf(layer("l", 1, 0)), std::nullopt);
}

TEST(SparsityGain, NamesWhatHoldsBack) {
  for (const Resource other :
       {Resource::InputWire, Resource::Output, Resource::DdrWrite, Resource::Sequencer})
    EXPECT_EQ(obstacleOf(layer("l", 90, 40, other)), Obstacle::OtherResource);
  EXPECT_EQ(obstacleOf(layer("l", 90, 40)), Obstacle::Idle);
  for (const Resource wire : {Resource::WeightsWire, Resource::DdrRead}) {
    LayerReport slow = layer("l", 90, 40, wire);
    EXPECT_EQ(obstacleOf(slow), Obstacle::Idle);
    (wire == Resource::DdrRead ? slow.traffic.ddrRead : slow.weightsToCores) = Bytes(80);
    EXPECT_EQ(obstacleOf(slow), Obstacle::MoreBytes);
  }
  LayerReport uneven = layer("l", 90, 40);
  uneven.imbalance = 1.3;
  EXPECT_EQ(obstacleOf(uneven), Obstacle::Imbalance);
  uneven.imbalance = 1.04;
  EXPECT_EQ(obstacleOf(uneven), Obstacle::Idle);
}

TEST(SparsityGain, AddsUpTheTimeOfLayersThatNeedFewerMacs) {
  const Report a = runOf({layer("a", 100, 80), layer("b", 300, 10), layer("c", 60, 8)});
  const Report b = runOf({layer("a", 60, 40), layer("b", 300, 10), layer("c", 50, 2)});
  const SparsityGain gain = sparsityGain(a, b, matchLayers(a, b));
  EXPECT_EQ(gain.layers.size(), 2U);
  EXPECT_EQ(gain.moreMacs, 0U);
  EXPECT_DOUBLE_EQ(*gain.speedUp, 160.0 / 110);
  EXPECT_DOUBLE_EQ(*gain.allowed, 160.0 / (50 + 15));
  const SparsityGain back = sparsityGain(b, a, matchLayers(b, a));
  EXPECT_TRUE(back.layers.empty());
  EXPECT_EQ(back.moreMacs, 2U);
  EXPECT_EQ(back.speedUp, std::nullopt);
}

}  // namespace
}  // namespace heddle
