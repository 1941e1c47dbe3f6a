// viewer/tests/unit/sparsity.test.ts has the same layers and expects the same sentences.
#include "../../../src/driver/compare_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heddle {
namespace {

struct Of {
  std::string name;
  std::int64_t cycles = 0, macs = 0;
  Resource boundBy = Resource::Compute;
  double imbalance = 1;
  std::int64_t busy = 0, toCores = 0;
};

ComparedRun runOf(const std::vector<Of>& layers) {
  ComparedRun run{.path = "out"};
  run.report.model = "net";
  run.report.device = "paper";
  run.report.rows = run.report.columns = 2;
  run.report.clock = {1'000'000'000};
  for (const Of& of : layers) {
    LayerReport& layer = run.report.layers.emplace_back();
    layer.name = of.name;
    layer.op = "Conv";
    layer.cycles = Cycles(of.cycles);
    layer.boundBy = of.boundBy;
    layer.macs = layer.macsExecuted = layer.weightBytes = of.macs;
    layer.denseMacs = layer.denseWeightBytes = std::max<std::int64_t>(of.macs, 80);
    if (of.name == "pool" || of.name == "cut") layer.denseMacs = layer.denseWeightBytes = of.macs;
    layer.imbalance = of.imbalance;
    layer.busy[static_cast<std::size_t>(of.boundBy)] = Cycles(of.busy);
    layer.weightsToCores = Bytes(of.toCores);
    run.report.cycles += layer.cycles;
  }
  return run;
}

RunComparison comparisonOf(const std::vector<Of>& a, const std::vector<Of>& b) {
  RunComparison c{.a = runOf(a), .b = runOf(b)};
  c.match = matchLayers(c.a.report, c.b.report);
  c.gain = sparsityGain(c.a.report, c.b.report, c.match);
  return c;
}

const std::vector<Of> kDense = {{"stem", 100, 80},
                                {"in1", 100, 80, Resource::InputWire},
                                {"in2", 100, 80},
                                {"in3", 100, 80},
                                {"twice", 100, 80, Resource::Compute, 1, 0, 1000},
                                {"uneven", 100, 80, Resource::Compute, 1.02},
                                {"idle", 100, 80},
                                {"half", 100, 80},
                                {"pool", 60, 0}};
const std::vector<Of> kSparse = {{"stem", 100, 80},
                                 {"in1", 100, 40, Resource::InputWire},
                                 {"in2", 90, 40, Resource::InputWire},
                                 {"in3", 80, 40, Resource::InputWire},
                                 {"twice", 70, 40, Resource::WeightsWire, 1, 69, 1039},
                                 {"uneven", 65, 40, Resource::Compute, 1.305},
                                 {"idle", 80, 40, Resource::Compute, 1.02, 50},
                                 {"half", 50, 40},
                                 {"pool", 60, 0}};

TEST(SparsitySentences, SayWhatWasGainedAndWhatHeldBack) {
  std::string said;
  for (const std::string& sentence : sparsitySentences(comparisonOf(kDense, kSparse)))
    said += sentence + "\n";
  EXPECT_EQ(
      said,
      "Gained: B needs 56.3 % of A's MACs and 56.3 % of its weight bytes. 7 layers need fewer, and "
      "are 1.31 times as fast, of 2.00 that the MACs allow.\n"
      "Held back: 2 layers (in2, in3) are bound by input wire, in A by compute: fewer weights "
      "change nothing there.\n"
      "Held back: 1 layer (in1) is bound by input wire, as in A: fewer weights change nothing "
      "there.\n"
      "Held back: 1 layer (twice) is bound by weights wire, which carries 103.9 % of A's bytes.\n"
      "Held back: 1 layer (uneven) waits for the heaviest core, which does up to 1.31 times the "
      "mean, in A 1.02.\n"
      "Held back: 1 layer (idle) keeps even the busiest engine at work for only 62.5 % of the "
      "time.\n"
      "Nothing to gain: 1 layer keeps all blocks of weights and takes 14.4 % of B's time; 1 layer "
      "has no weights and takes 8.6 %.\n");
}

TEST(SparsitySentences, SayWhereBNeedsMoreAndNothingWhereBothNeedTheSame) {
  EXPECT_EQ(sparsitySentences(comparisonOf(kSparse, kDense)),
            std::vector<std::string>{"The other way: 7 layers need more MACs in B than in A."});
  EXPECT_TRUE(sparsitySentences(comparisonOf(kSparse, kSparse)).empty());
}

TEST(SparsitySentences, CountChannelsThatAreGoneAsLeftOut) {
  EXPECT_EQ(sparsitySentences(comparisonOf({{"cut", 100, 80}}, {{"cut", 50, 40}})),
            std::vector<std::string>{
                "Gained: B needs 50.0 % of A's MACs and 50.0 % of its weight bytes. 1 layer needs "
                "fewer, and is 2.00 times as fast, of 2.00 that the MACs allow."});
}

TEST(ComparisonText, HasTheRunTheLayersAndThoseOfOneRunOnly) {
  RunComparison c = comparisonOf({{"one", 30, 80}, {"gone", 10, 0, Resource::DdrRead}},
                                 {{"one", 20, 80, Resource::Output}});
  c.b.path = "sparse";
  EXPECT_EQ(comparisonText(c),
            "A         net on paper 2x2 at 1 GHz: out\n"
            "B         net on paper 2x2 at 1 GHz: sparse\n"
            "time      0.000 ms in A, 0.000 ms in B: 2.00 times as fast\n"
            "                             A   B  B of A\n"
            "  cycles                    40  20  50.0 %\n"
            "  bytes, DDR to memtiles     0   0       -\n"
            "  bytes, memtiles to DDR     0   0       -\n"
            "  bytes, memtiles to cores   0   0       -\n"
            "  bytes, cores to memtiles   0   0       -\n"
            "  weight bytes needed        0   0       -\n"
            "  MACs needed                0   0       -\n"
            "  MACs executed              0   0       -\n"
            "  layer  cycles A  cycles B  speed-up  dense MACs  executed A  executed B  weights A  "
            "weights B  density B  imbalance B  bound in A  bound in B\n"
            "  one          30        20      1.50          80          80          80         80  "
            "       80          -         1.00     compute      output\n"
            "only in A: 1 layer, with cycles and bound\n"
            "  gone  10  DDR read\n"
            "sparsity\n"
            "  Every layer needs the same MACs in A and in B.\n");
}

TEST(ComparisonText, SaysWhereFiguresAreOfOneInference) {
  RunComparison c = comparisonOf({{"one", 30, 80}}, {{"one", 20, 80}});
  c.a.frames = c.b.frames = 8;
  EXPECT_EQ(comparisonText(c).find("frames"), std::string::npos);
  c.a.frames = 1;
  EXPECT_NE(comparisonText(c).find(
                "frames    1 in A, 8 in B: all figures are of one inference, on average\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(comparisonJson(c));
  EXPECT_EQ(json["perInference"], true);
  EXPECT_EQ(json["b"]["frames"], 8);
}

TEST(ComparisonText, CutsLongNamesBetweenCharacters) {
  std::string name(56, 'x');
  for (int i = 0; i < 40; ++i) name += "\u00f6";  // two bytes each
  const std::string text = comparisonText(comparisonOf({{name, 30, 80}}, {{name, 20, 80}}));
  EXPECT_NE(text.find("  " + std::string(56, 'x') + "...  "), std::string::npos) << text;
}

TEST(ComparisonJson, HasTheSameAndWhatHeldEachLayerBack) {
  const auto json = nlohmann::json::parse(comparisonJson(comparisonOf(kDense, kSparse)));
  EXPECT_EQ(json["schema"], "heddle.comparison/1");
  EXPECT_EQ(json["a"]["cycles"], 860);
  EXPECT_EQ(json["b"]["cycles"], 695);
  EXPECT_EQ(json["layers"][4]["heldBackBy"], "more bytes");
  EXPECT_EQ(json["layers"][7]["heldBackBy"], nullptr);
  EXPECT_EQ(json["layers"][7]["speedUp"], 2);
  EXPECT_EQ(json["sparsity"]["layersWithFewerMacs"], 7);
  EXPECT_EQ(json["sparsity"]["sentences"].size(), 7U);
  EXPECT_TRUE(json["deviceDifferences"].is_null());
}

}  // namespace
}  // namespace heddle
