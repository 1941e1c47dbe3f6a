#include "../../../src/sweep/grid.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle {
namespace {

using Places = std::vector<std::int64_t>;

Argument word(const std::string& text) { return {text, "--x " + text}; }

std::vector<Mesh> meshes(const std::string& text) {
  const auto read = readMeshes(word(text));
  return read ? *read : std::vector<Mesh>{};
}

std::string designText(const DeviceOverrides& design) {
  std::string text =
      design.mesh ? std::to_string(design.mesh->first) + "x" + std::to_string(design.mesh->second)
                  : "-";
  for (const auto& [key, value] : design.settings)
    text.append(" ").append(key).append("=").append(value);
  return text;
}

TEST(Grid, ASingleXPartsRowsFromColumnsAndSeveralPartMeshes) {
  using Meshes = std::vector<Mesh>;
  EXPECT_EQ(meshes("4x4"), (Meshes{{4, 4}}));
  EXPECT_EQ(meshes("1..2x3..4"), (Meshes{{1, 3}, {1, 4}, {2, 3}, {2, 4}}));
  EXPECT_EQ(meshes("1,3x2"), (Meshes{{1, 2}, {3, 2}}));
  EXPECT_EQ(meshes("1,4..5x2"), (Meshes{{1, 2}, {4, 2}, {5, 2}}));
  EXPECT_EQ(meshes("4x4,8x1..2"), (Meshes{{4, 4}, {8, 1}, {8, 2}}));
}

TEST(Grid, WhatIsNoMeshIsAFault) {
  for (const char* text : {"", "4", "x", "4x", "x4", "4x4x4", "0x1", "1x65", "2..1x1", "1.2x1",
                           "1...2x1", "-1x1", "1x1,", ",1x1", "1 x1", "1x99999999999999999999"}) {
    const auto read = readMeshes(word(text));
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.diagnostics().front().code, "SWEEP001") << text;
    EXPECT_EQ(read.diagnostics().front().severity, Severity::Usage) << text;
  }
}

TEST(Grid, KeysInBracesVaryTogether) {
  const auto axis = readAxis(word("links.{wire,memtile.{read,write}}=4GB/s,8 GB/s"));
  EXPECT_FALSE(axis) << "braces do not nest";
  const auto flat = readAxis(word("links.{wire,memtile.read}=4GB/s,8 GB/s"));
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->keys, (std::vector<std::string>{"links.wire", "links.memtile.read"}));
  EXPECT_EQ(flat->values, (std::vector<std::string>{"4GB/s", "8 GB/s"}));
  const auto twice = readAxis(word("a{b,c}d{e,f}=1"));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->keys, (std::vector<std::string>{"abde", "abdf", "acde", "acdf"}));
}

TEST(Grid, WhatIsNoAxisIsAFault) {
  std::string many;
  for (int i = 0; i < 40; ++i) many += "{a,b}";
  for (const std::string& text : {std::string("a"), std::string("=1"), std::string("a="),
                                  std::string("a=1,"), std::string("{a=1"), std::string("a}=1"),
                                  std::string("{}=1"), std::string("{a,}=1"), many + "=1"}) {
    const auto read = readAxis(word(text));
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.diagnostics().front().code, "SWEEP002") << text;
  }
}

TEST(Grid, EveryMeshWithEveryCombinationTheLastAxisFastest) {
  SweepOptions options;
  options.models = {"a.onnx"};
  options.meshes = {word("1x1..2"), word("1x1")};
  options.settings = {word("core.banks=8")};
  options.varied = {word("a=1,2"), word("{b,c}=3,4")};
  const auto grid = Grid::read(options);
  ASSERT_TRUE(grid);
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < grid->size(); ++i) texts.push_back(designText(grid->overridesAt(i)));
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "1x1 core.banks=8 a=1 b=3 c=3", "1x1 core.banks=8 a=1 b=4 c=4",
                       "1x1 core.banks=8 a=2 b=3 c=3", "1x1 core.banks=8 a=2 b=4 c=4",
                       "1x2 core.banks=8 a=1 b=3 c=3", "1x2 core.banks=8 a=1 b=4 c=4",
                       "1x2 core.banks=8 a=2 b=3 c=3", "1x2 core.banks=8 a=2 b=4 c=4"}));
}

TEST(Grid, WithoutMeshItIsThatOfTheDescription) {
  SweepOptions options;
  options.models = {"a.onnx"};
  options.varied = {word("a=1,2")};
  const auto grid = Grid::read(options);
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->size(), 2);
  EXPECT_EQ(designText(grid->overridesAt(1)), "- a=2");
  EXPECT_EQ(grid->neighbours(0), (Places{1}));
}

TEST(Grid, AKeyOfTheFileGivesWayAndIsElsewhereGivenOnce) {
  const auto ofFile = [](const std::string& text) { return Argument{text, "study.yaml:1", true}; };
  SweepOptions options;
  options.models = {"a.onnx"};
  options.meshes = {word("2x2")};
  options.settings = {ofFile("a=1"), ofFile("rows=3"), word("c=7")};
  options.varied = {ofFile("{b,c}=1,2"), word("a=5,6")};
  const auto grid = Grid::read(options);
  ASSERT_TRUE(grid) << grid.diagnostics();
  EXPECT_EQ(designText(grid->overridesAt(0)), "2x2 c=7 a=5 b=1");
  EXPECT_EQ(designText(grid->overridesAt(grid->size() - 1)), "2x2 c=7 a=6 b=2");
  EXPECT_TRUE(grid->givenBy("b").ofFile);
  EXPECT_FALSE(grid->givenBy("a").ofFile);
  for (const std::vector<Argument>& again :
       {std::vector{word("a=1"), word("a=2")}, {ofFile("{b,b}=1")}, {word("columns=1")}}) {
    options.varied = again;
    options.settings.clear();
    const auto refused = Grid::read(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.diagnostics().front().code, "SWEEP002");
  }
}

TEST(Grid, TooManyPlacesAreRefusedHoweverTheyAreAskedFor) {
  SweepOptions options;
  options.models = {"a.onnx"};
  std::string values = "=1";
  for (int i = 0; i < 99; ++i) values += ",1";
  for (int i = 0; i < 40; ++i)
    options.varied.push_back(word("a" + std::to_string(i) + values));  // 10^80
  const auto grid = Grid::read(options);
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.diagnostics().front().code, "SWEEP003");
}

TEST(Grid, NeighboursAreOneStepAwayInOneDirection) {
  SweepOptions options;
  options.models = {"a.onnx"};
  options.meshes = {word("1,2,5x1..2")};  // 1x1 1x2 2x1 2x2 5x1 5x2
  options.varied = {word("a=1,2,3")};
  const auto grid = Grid::read(options, 2);
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->size(), 6 * 3 * 2);
  EXPECT_EQ(grid->masksAt(7), 1U);
  // 2x2, the second value, without masks.
  EXPECT_EQ(grid->neighbours((3 * 3 + 1) * 2),
            (Places{(1 * 3 + 1) * 2, (2 * 3 + 1) * 2, (3 * 3 + 0) * 2, (3 * 3 + 1) * 2 + 1,
                    (3 * 3 + 2) * 2, (5 * 3 + 1) * 2}));
  EXPECT_EQ(grid->neighbours(0), (Places{1, 2, 6, 12}));
  for (std::int64_t place = 0; place < grid->size(); ++place)
    for (const std::int64_t other : grid->neighbours(place))
      EXPECT_TRUE(std::ranges::count(grid->neighbours(other), place) == 1) << place << " " << other;
}

TEST(Grid, BatchesAreADimensionTheFastest) {
  const auto batches = readBatches(word("1,2,16"));
  ASSERT_TRUE(batches);
  EXPECT_EQ(*batches, (std::vector<std::int64_t>{1, 2, 16}));
  EXPECT_EQ(*readBatches(std::nullopt), std::vector<std::int64_t>{1});
  for (const char* wrong : {"", "0", "1,", "2;4", "65", "auto"}) {
    const auto refused = readBatches(word(wrong));
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.diagnostics().front().code, "SWEEP004") << wrong;
  }
  SweepOptions options;
  options.models = {"a.onnx"};
  options.meshes = {word("1x1,2x2")};
  const auto grid = Grid::read(options, 2, batches->size());
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->size(), 2 * 2 * 3);
  EXPECT_EQ((std::pair{grid->masksAt(5), grid->batchAt(5)}),
            (std::pair<std::size_t, std::size_t>{1, 2}));
  EXPECT_EQ(grid->neighbours(1), (Places{0, 2, 4, 7}));  // batches, masks, the mesh
}

TEST(Grid, SquareMeshesAreNeighboursInTheirOrder) {
  SweepOptions options;
  options.models = {"a.onnx"};
  options.meshes = {word("2..4x2..4")};
  options.square = true;
  const auto grid = Grid::read(options);
  ASSERT_TRUE(grid);
  EXPECT_EQ(grid->neighbours(0), (Places{1}));
  EXPECT_EQ(grid->neighbours(1), (Places{0, 2}));
}

TEST(Grid, Times) {
  EXPECT_EQ(readTime(word("90s"))->count(), 90);
  EXPECT_EQ(readTime(word("1.5m"))->count(), 90);
  EXPECT_EQ(readTime(word("2h"))->count(), 7200);
  for (const char* text : {"", "5", "m", "-1s", "0s", "5 m", "5min", "1e9h", "nans", "infs"})
    EXPECT_FALSE(readTime(word(text))) << text;
}

TEST(Grid, Shards) {
  EXPECT_EQ(*readShard(std::nullopt), (std::pair<std::int64_t, std::int64_t>{0, 1}));
  EXPECT_EQ(*readShard(word("2/3")), (std::pair<std::int64_t, std::int64_t>{1, 3}));
  for (const char* text : {"", "1", "/", "0/1", "2/1", "1/0", "-1/2", "1/2/3", "1/2x"})
    EXPECT_FALSE(readShard(word(text))) << text;
}

}  // namespace
}  // namespace heddle
