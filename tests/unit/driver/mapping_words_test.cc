#include "../../../src/driver/mapping_words.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

struct PlannedConv {
  CanonicalGraph graph;
  Device device;
  Plan plan;
  MappingWords words() const { return wordsOf(graph, graph.ops[0], plan.layers[0], plan, device); }
};

PlannedConv planned(Shape input, std::int64_t channels, Window window, const std::string& memory,
                    std::int64_t columns = 2) {
  GraphBuilder b("net");
  CanonicalGraph graph = b.finish(b.conv("conv", b.input("x", input), channels, window));
  Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                              {.mesh = {{2, columns}}, .settings = {{"core.memory", memory}}});
  Plan plan = *makePlan(graph, device, {.effort = 0});
  return {std::move(graph), std::move(device), std::move(plan)};
}

TEST(MappingWords, SayThePapersDataflow) {
  const MappingWords words = planned({8, 8, 16}, 32, square(3, 1, 1), "64 KiB").words();
  EXPECT_EQ(words.split, "W/2 x C/2, 1 pass, input resident");
  EXPECT_EQ(words.cut,
            "W in 2 over mesh columns, channels in 2 over mesh rows; a core computes up to 8x4 "
            "pixels of 16 channels");
  EXPECT_EQ(words.streams,
            (std::vector<std::string>{"inputs over 2 column wires, each piece to 2 cores",
                                      "weights over 2 row wires, each piece to 2 cores"}));
  EXPECT_EQ(words.loops, "1 pass, the input stays in the core");
}

TEST(MappingWords, SayWhichRecordsStay) {
  PlannedConv p = planned({8, 8, 16}, 32, square(3, 1, 1), "64 KiB");
  Mapping& m = p.plan.layers[0];
  m.recordsAtHome = 1;
  EXPECT_EQ(
      p.words().loops,
      "1 pass, the input stays in the core, all weight records stay in the memtiles, and come "
      "out of DDR once");
  m.passes = 2;
  EXPECT_NE(p.words().loops.find("1 of 2 weight records stay in the memtiles"), std::string::npos)
      << p.words().loops;
}

TEST(MappingWords, SayLoopsAndRecordsThatGoAgain) {
  // 2048 x 9 x 8 weights do not fit the core: the reduction is cut, and rows in bands, for their
  // sums.
  PlannedConv p = planned({28, 28, 2048}, 32, square(3, 1, 1), "64 KiB");
  Mapping& m = p.plan.layers[0];
  ASSERT_GT(m.parts.size(), 1u);
  m.bands = 7;
  m.order = {NestLoop::Pass, NestLoop::Chunk, NestLoop::Band, NestLoop::Part};
  m.resident = false;
  m.passes = 2;
  m.blocksPerPass = 1;
  EXPECT_NE(p.words().loops.find("2 passes over the output channels, rows of inputs come again in "
                                 "each, "),
            std::string::npos)
      << p.words().loops;
  EXPECT_NE(p.words().loops.find("rows in 7 bands"), std::string::npos) << p.words().loops;
  EXPECT_EQ(p.words().loops.find("calls"), std::string::npos) << p.words().loops;
  m.innerCallRows = 4;
  EXPECT_NE(p.words().loops.find("calls of up to 4 rows between the first part and the last"),
            std::string::npos)
      << p.words().loops;
  m.callRows = 2;
  EXPECT_NE(p.words().loops.find("calls of up to 2 rows, of up to 4 rows between the first part"),
            std::string::npos)
      << p.words().loops;
  EXPECT_EQ(p.words().loops.find("at once"), std::string::npos) << p.words().loops;
  m.rings[0].together = 7;
  EXPECT_NE(p.words().loops.find("behind the first part up to 7 rows come at once"),
            std::string::npos)
      << p.words().loops;
  m.rings[0].onlyBetween = true;
  EXPECT_NE(p.words().loops.find("between the first part and the last up to 7 rows come at once"),
            std::string::npos)
      << p.words().loops;
  m.rings[0] = {.length = m.rings[0].length, .rowBytes = m.rings[0].rowBytes};
  m.callRows = m.innerCallRows = 1;
  const Repeats weights = weightRepeats(p.graph, OpId(0), m);
  EXPECT_EQ(weights.times, 7);
  EXPECT_EQ(weights.why, (std::vector<std::string>{
                             "7 times: each record again for 7 bands of rows, whose sums fill "
                             "the core"}));
  const Repeats inputs = inputRepeats(p.graph, OpId(0), m, 0);
  ASSERT_FALSE(inputs.why.empty());
  EXPECT_EQ(inputs.why[0], "2 times: in each of the passes, as the core does not hold them");
}

TEST(MappingWords, SayWiresOfBothKindsAndWhatIsSentTwice) {
  PlannedConv p = planned({8, 8, 16}, 32, square(3, 1, 1), "64 KiB");
  Mapping& m = p.plan.layers[0];
  // Each core's weights by turns down its column and along its row.
  m.weights.clear();
  for (std::int64_t row = 0; row < 2; ++row)
    for (std::int64_t column = 0; column < 2; ++column)
      m.weights.push_back({.cores = {{row, column}}, .lanes = {{column, 0}, {2 + row, 1}}});
  EXPECT_EQ(p.words().streams[1],
            "weights over 2 column and 2 row wires by turns, each piece to 1 core");
  const Repeats weights = weightRepeats(p.graph, OpId(0), m);
  EXPECT_EQ(weights.times, 2);
  EXPECT_EQ(weights.why,
            (std::vector<std::string>{"2 times: W cut in 2 over cores that one wire does not serve "
                                      "together"}));
  m.weights[0].lanes = {{0, 0}, {0, 0}, {2, 1}};
  EXPECT_EQ(p.words().streams[1],
            "weights over 2 column and 2 row wires by turns, 2 of 3 pieces over column, each "
            "piece to 1 core");
}

TEST(MappingWords, WiresAreNamedAfterTheirKind) {
  EXPECT_EQ(kindOfWire({.name = "column12", .reach = {}, .feeders = {}}), "column");
  EXPECT_EQ(kindOfWire({.name = "spine", .reach = {}, .feeders = {}}), "spine");
}

}  // namespace
}  // namespace heddle
