#include "heddle/report/bounds.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../command.h"
#include "../graphs.h"
#include "heddle/canon/fuse_operators.h"
#include "small_run.h"

namespace heddle {
namespace {

using testing::reportedPaper;

// The independent computation of the same limits; skipped where it is not at hand.
std::string rooflineScript() {
  const char* shared = std::getenv("HEDDLE_SHARED");
  const std::string folder = shared ? shared : HEDDLE_SOURCE_DIR "/../shared";
  return folder + "/benchmarks/roofline.py";
}

// One line a layer: op name inputs height width channels cin kh kw stride.
CanonicalGraph graphOf(const std::string& lines) {
  CanonicalGraph graph;
  std::map<std::string, TensorId> byName;
  std::istringstream in(lines);
  std::string op, name, inputs;
  Shape shape;
  std::int64_t cin = 0, kh = 0, kw = 0, stride = 0;
  while (in >> op >> name >> inputs >> shape.height >> shape.width >> shape.channels >> cin >> kh >>
         kw >> stride) {
    const TensorId output = byName[name] = TensorId(graph.tensors.size());
    graph.tensors.push_back({.name = name, .shape = shape});
    if (op == "input") {
      graph.inputs = {testing::portOf(name, output, shape)};
      continue;
    }
    CanonicalOp layer{name, op, {}, output, MaxPool{}};
    std::istringstream list(inputs);
    for (std::string input; std::getline(list, input, ',');)
      layer.inputs.push_back(byName.at(input));
    if (op == "conv" || op == "fc") {
      Conv conv;
      conv.weights.own().resize(static_cast<std::size_t>(shape.channels * kh * kw * cin));
      layer.attributes = conv;
    } else if (op == "add") {
      layer.attributes = Add{};
    } else if (op == "concat") {
      Assemble concat;
      std::int64_t to = 0;
      for (const TensorId input : layer.inputs) {
        const std::int64_t channels = graph.tensors[input.at()].shape.channels;
        concat.parts.push_back({{{.count = shape.height}},
                                {{.count = shape.width}},
                                {{.to = to, .count = channels}},
                                {}});
        to += channels;
      }
      layer.attributes = concat;
    }
    graph.ops.push_back(layer);
    graph.outputs = {{.name = name, .tensor = output}};
  }
  return graph;
}

// Every wire reaches every core.
Device switched(std::int64_t rows, std::int64_t columns) {
  Device device = reportedPaper(rows, columns);
  for (Wire& wire : device.wires) wire.reach = {0, 0, rows, columns};
  return device;
}

#define EXPECT_WITHIN_ONE_PERCENT(ours, theirs) \
  EXPECT_NEAR(ours, theirs, 0.01 * (theirs)) << network << ' ' << mesh

TEST(Bounds, AgreeWithTheRooflineComputedIndependently) {
  if (!std::filesystem::exists(rooflineScript())) GTEST_SKIP() << "no " << rooflineScript();
  const std::string python = "python3 '" + rooflineScript() + "' ";
  const std::vector<std::pair<std::string, std::string>> networks = {
      {"ResNet-50", "ResNet"}, {"Inception v3", "Inception"}, {"VGG16 (no FC)", "VGG16"}};
  std::vector<CanonicalGraph> graphs;
  for (const auto& [network, word] : networks)
    graphs.push_back(graphOf(testing::outputOf(python + "--layers " + word)));
  for (const std::string mesh :
       {"1x1", "2x2", "3x3", "4x4", "5x3", "3x5", "8x8", "8x1", "1x8", "8x4"}) {
    const nlohmann::json theirs =
        nlohmann::json::parse(testing::outputOf(python + "--mesh " + mesh + " --json"));
    const std::int64_t rows = mesh[0] - '0', columns = mesh[2] - '0';
    for (std::size_t n = 0; n < networks.size(); ++n) {
      const std::string& network = networks[n].first;
      const nlohmann::json& limit = theirs[network]["dense256"];
      const Bounds paper = computeBounds(graphs[n], reportedPaper(rows, columns));
      EXPECT_WITHIN_ONE_PERCENT(paper.computeSeconds, limit["compute"].get<double>());
      EXPECT_WITHIN_ONE_PERCENT(paper.ddrReadSeconds, limit["ddr_r"].get<double>());
      EXPECT_WITHIN_ONE_PERCENT(paper.ddrWriteSeconds, limit["ddr_out"].get<double>());
      EXPECT_WITHIN_ONE_PERCENT(paper.memtileToCoreSeconds, limit["mt"].get<double>());
      EXPECT_WITHIN_ONE_PERCENT(paper.coreToMemtileSeconds, limit["mt_out"].get<double>());
      EXPECT_WITHIN_ONE_PERCENT(paper.lowerBoundSeconds, limit["floor"].get<double>());
      EXPECT_WITHIN_ONE_PERCENT(paper.layerBoundSeconds, limit["layers"].get<double>());
      EXPECT_WITHIN_ONE_PERCENT(paper.paperBoundSeconds, limit["paper_layers"].get<double>());
      if (mesh == "1x1") continue;  // a switched device of one core is the paper's
      const Bounds any = computeBounds(graphs[n], switched(rows, columns));
      EXPECT_EQ(any.layerBoundSeconds, paper.layerBoundSeconds);
      EXPECT_EQ(any.paperBoundSeconds, any.layerBoundSeconds);
    }
  }
}

void expectThoseOfBothLayersButForTheLayerBound(const CanonicalGraph& graph) {
  for (const Device& device : {reportedPaper(3, 2), switched(2, 2)}) {
    const Bounds apart = computeBounds(graph, device),
                 fused = computeBounds(*fuseOperators(graph), device);
    EXPECT_DOUBLE_EQ(fused.computeSeconds, apart.computeSeconds);
    EXPECT_DOUBLE_EQ(fused.memtileToCoreSeconds, apart.memtileToCoreSeconds);
    EXPECT_DOUBLE_EQ(fused.coreToMemtileSeconds, apart.coreToMemtileSeconds);
    EXPECT_DOUBLE_EQ(fused.lowerBoundSeconds, apart.lowerBoundSeconds);
    EXPECT_DOUBLE_EQ(fused.paperBoundSeconds, apart.paperBoundSeconds);
    EXPECT_DOUBLE_EQ(fused.fusedLowerBoundSeconds, apart.fusedLowerBoundSeconds);
    EXPECT_LT(fused.layerBoundSeconds, apart.layerBoundSeconds);
    EXPECT_LE(fused.fusedLowerBoundSeconds, fused.layerBoundSeconds);
  }
}

TEST(Bounds, OfAFusedAddAreThoseOfBothLayersButForTheLayerBound) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {12, 20, 32}),
                 inner = b.conv("inner", x, 16, testing::square(3, 1, 1)),
                 outer = b.conv("outer", inner, 32, testing::square(1));
  const CanonicalGraph graph = b.finish(b.add("sum", outer, x));
  expectThoseOfBothLayersButForTheLayerBound(graph);
  for (const Device& device : {reportedPaper(3, 2), switched(2, 2)}) {
    const Bounds fused = computeBounds(*fuseOperators(graph), device);
    EXPECT_LT(fused.fusedLowerBoundSeconds, fused.layerBoundSeconds);
  }
}

TEST(Bounds, OfWhatAStrideLeavesAreThoseOfTheNetworkButForTheLayerBound) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {13, 20, 32});
  expectThoseOfBothLayersButForTheLayerBound(b.finish(
      b.conv("second", b.conv("first", x, 64, testing::square(1, 2)), 16, testing::square(1, 2))));
}

// Of an input that nobody reads whole: what the maps of a Slice take, whatever it is in place.
TEST(Bounds, CountWhatASliceTakesOfAnInput) {
  const auto wallOf = [](const testing::GraphBuilder::Pixels& rows) {
    testing::GraphBuilder b("net");
    const TensorId x = b.input("x", {64, 64, 16}), few = b.slice("few", x, rows, {0, 2, 8});
    return computeBounds(b.finish(b.conv("conv", few, 8, testing::square(1))), reportedPaper(2, 2))
        .fusedLowerBoundSeconds;
  };
  EXPECT_LT(2 * wallOf({0, 3, 8}), wallOf({0, 1, 32}));
}

TEST(Bounds, OfAFusedPoolAreThoseOfBothLayersButForTheLayerBound) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {12, 20, 32});
  expectThoseOfBothLayersButForTheLayerBound(b.finish(b.maxPool(
      "pool", b.conv("conv", x, 16, testing::square(3, 1, 1)), testing::square(3, 2, 1))));
}

TEST(Bounds, OfFusedTablesAreThoseOfAllLayersButForTheLayerBound) {
  for (const bool adds : {false, true}) {
    testing::GraphBuilder b("net");
    const TensorId x = b.input("x", {12, 20, 32}), y = b.conv("before", x, 32, testing::square(1)),
                   conv = b.table("first", b.conv("conv", y, 32, testing::square(1)));
    expectThoseOfBothLayersButForTheLayerBound(b.finish(
        adds ? b.add("sum", conv, x)
             : b.table("second", b.depthwise("depthwise", conv, testing::square(3, 1, 1)))));
  }
}

// Nor is what folding put in needed: no tap, no column.
TEST(Bounds, OfFoldedColumnsAreThoseOfTheImage) {
  for (const auto& [image, window] : {std::pair(Shape{14, 15, 3}, testing::square(7, 2, 3)),
                                      std::pair(Shape{16, 33, 3}, testing::square(16, 16)),
                                      std::pair(Shape{14, 15, 2}, testing::square(3, 2))})
    for (const bool sparse : {false, true}) {
      testing::GraphBuilder b("net");
      CanonicalGraph graph = b.finish(b.conv("conv", b.input("x", image), 12, window));
      if (sparse) {
        Bits& kept = std::get<Conv>(graph.ops[0].attributes).kept;
        kept = Bits(2);
        kept.set(0);
        kept.set(1);
      }
      const CanonicalGraph folded = *fuseOperators(graph);
      LayerNeeds before = layerNeeds(graph, graph.ops[0]),
                 after = layerNeeds(folded, folded.ops[0]);
      EXPECT_LT(after.blockMacs, before.blockMacs);
      before.blockMacs = after.blockMacs = 0;
      EXPECT_EQ(after, before);
      EXPECT_EQ(computeBounds(folded, reportedPaper(2, 2)),
                computeBounds(graph, reportedPaper(2, 2)));
    }
}

TEST(Bounds, OfADepthwiseEndAreThoseOfBothLayersButForTheLayerBound) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {12, 20, 32});
  const CanonicalGraph graph = b.finish(b.depthwise(
      "depthwise", b.conv("conv", x, 16, testing::square(1)), testing::square(3, 1, 1)));
  expectThoseOfBothLayersButForTheLayerBound(graph);
  const CanonicalGraph fused = *fuseOperators(graph);
  const LayerNeeds conv = layerNeeds(graph, graph.ops[0]), own = layerNeeds(graph, graph.ops[1]),
                   both = layerNeeds(fused, fused.ops[0]);
  EXPECT_EQ(both.macs, conv.macs + own.macs);
  EXPECT_EQ(both.denseMacs, conv.denseMacs + own.denseMacs);
  EXPECT_EQ(both.blockMacs, conv.blockMacs + own.blockMacs);
  EXPECT_EQ(both.weightBytes, conv.weightBytes + own.weightBytes);
  EXPECT_EQ(both.depthwiseMacs, own.macs);
  EXPECT_EQ(both.depthwiseWeightBytes, own.weightBytes);
}

// Windows of 2x2 see 14 of 15 rows and columns, those of 3x3 with a border all.
TEST(Bounds, ThePixelsThatAFusedPoolDoesNotSeeAreNotNeeded) {
  for (const auto& [window, pixels] :
       {std::pair(testing::square(2, 2), 14 * 14), std::pair(testing::square(3, 2, 1), 15 * 15)}) {
    testing::GraphBuilder b("net");
    const TensorId x = b.input("x", {15, 15, 8});
    const CanonicalGraph fused = *fuseOperators(
        b.finish(b.maxPool("pool", b.conv("conv", x, 12, testing::square(3, 1, 1)), window)));
    ASSERT_EQ(fused.ops.size(), 1u);
    const LayerNeeds needs = layerNeeds(fused, fused.ops[0]);
    EXPECT_EQ(needs.macs, pixels * 9 * 8 * 12);
    EXPECT_EQ(needs.blockMacs, pixels * 9 * 8 * 16);
  }
}

TEST(Bounds, DepthwiseMacsTakeTheRateOfTheirKernel) {
  CanonicalGraph graph;
  graph.tensors = {{.name = "x", .shape = {8, 8, 16}}, {.name = "y", .shape = {8, 8, 16}}};
  DepthwiseConv depthwise;
  depthwise.window = testing::square(3, 1, 1);
  depthwise.weights.own().resize(16 * 9);
  graph.ops = {{"dw", "Conv", {TensorId(0)}, TensorId(1), depthwise}};
  EXPECT_EQ(layerNeeds(graph, graph.ops[0]),
            (LayerNeeds{9216, 16 * 9, 1024, 1024, 9216, 16 * 9, 9216, false, 9216, 16 * 9}));
  EXPECT_DOUBLE_EQ(computeBounds(graph, reportedPaper(1, 1)).computeSeconds, 9216 / 64.0 * 1e-9);
}

TEST(Bounds, SharedDdrCapsTheChannels) {
  Device device = reportedPaper(1, 4);
  device.rates.ddrReadTotal = BytesPerSecond{8'000'000'000};
  const CanonicalGraph graph = testing::twoConvs();
  EXPECT_DOUBLE_EQ(computeBounds(graph, device).ddrReadSeconds, (128 + 128) / 8e9);
}

TEST(Bounds, CountWhatSeveralOutputsShowOnce) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {12, 20, 16}), left = b.conv("left", x, 16, testing::square(1)),
                 right = b.conv("right", x, 24, testing::square(1));
  CanonicalGraph graph = b.finish(b.concat("both", {left, right}));
  const Device device = reportedPaper(2, 2);
  const Bounds once = computeBounds(graph, device);
  // Each alone, the whole again under another name, and what the array never writes.
  for (const TensorId tensor : {left, right, graph.outputs[0].tensor, x})
    graph.outputs.push_back(testing::portOf("again", tensor, graph.tensors[tensor.at()].shape));
  const Bounds again = computeBounds(graph, device);
  EXPECT_EQ(again.ddrWriteSeconds, once.ddrWriteSeconds);
  EXPECT_EQ(again.fusedLowerBoundSeconds, once.fusedLowerBoundSeconds);
  graph.outputs.erase(graph.outputs.begin());
  graph.outputs.resize(1);
  EXPECT_DOUBLE_EQ(computeBounds(graph, device).ddrWriteSeconds * 40, once.ddrWriteSeconds * 16);
}

// Of 64 channels a Slice shows 24 as an output, and a second one 16 of these to a convolution.
TEST(Bounds, CountOfAnInputWhatIsReadBehindSlices) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {4, 6, 64});
  const auto channels = [&](const std::string& name, TensorId from, std::int64_t first,
                            std::int64_t count) {
    Assemble slice{{{{{.count = 4}}, {{.count = 6}}, {{.from = first, .count = count}}, {}}}, 0};
    return b.op(name, "Slice", {from}, {4, 6, count}, slice);
  };
  const TensorId some = channels("some", x, 8, 24), few = channels("few", some, 8, 16);
  CanonicalGraph graph = b.finish(b.conv("conv", few, 8, testing::square(1)));
  graph.outputs.push_back(testing::portOf("some", some, {4, 6, 24}));
  Device device = reportedPaper(1, 1);
  device.core.macsPerCycle = 1'000'000;
  const double bytes = 4 * 6 * 16 + 8 * 16;
  const Bounds bounds = computeBounds(graph, device);
  EXPECT_DOUBLE_EQ(bounds.ddrReadSeconds * bytes,
                   bounds.fusedLowerBoundSeconds * (4 * 6 * 64 + 8 * 16));
}

// Nor one that only goes from an input to an output, as it is or behind a Slice.
TEST(Bounds, CountNoInputThatNoLayerReads) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {4, 6, 64});
  CanonicalGraph graph = b.finish(b.conv("conv", x, 8, testing::square(1)));
  Device device = reportedPaper(1, 1);
  const Bounds without = computeBounds(graph, device);
  const TensorId passed(graph.tensors.size()), part(graph.tensors.size() + 1);
  graph.tensors.push_back({.name = "passed", .shape = {64, 64, 64}});
  graph.tensors.push_back({.name = "part", .shape = {64, 64, 32}});
  graph.inputs.push_back(testing::portOf("passed", passed, {64, 64, 64}));
  Assemble slice{{{{{.count = 64}}, {{.count = 64}}, {{.from = 8, .count = 32}}, {}}}, 0};
  graph.ops.push_back({"slice", "Slice", {passed}, part, slice});
  graph.outputs.push_back(testing::portOf("passed again", passed, {64, 64, 64}));
  graph.outputs.push_back(testing::portOf("part", part, {64, 64, 32}));
  const Bounds with = computeBounds(graph, device);
  EXPECT_EQ(with.ddrReadSeconds, without.ddrReadSeconds);
  EXPECT_EQ(with.lowerBoundSeconds, without.lowerBoundSeconds);
}

// Each Concat shows what the one before does twice over: 64 levels, and no time.
TEST(Bounds, OfManyConcatsOfSplitsAreCountedLevelByLevel) {
  testing::GraphBuilder b("deep");
  TensorId whole = b.conv("conv", b.input("x", {2, 2, 16}), 16, testing::square(1));
  for (int level = 0; level < 64; ++level) {
    std::vector<TensorId> halves;
    for (const std::int64_t first : {8, 0}) {
      Assemble half{{{{{.count = 2}}, {{.count = 2}}, {{.from = first, .count = 8}}, {}}}, 0};
      halves.push_back(
          b.op("half" + std::to_string(2 * level + first / 8), "Split", {whole}, {2, 2, 8}, half));
    }
    whole = b.concat("both" + std::to_string(level), halves);
  }
  const CanonicalGraph graph = b.finish(whole);
  EXPECT_GT(computeBounds(graph, reportedPaper(1, 1)).fusedLowerBoundSeconds, 0);
}

TEST(LayerNeeds, AConcatThatRequantizesIsWork) {
  CanonicalGraph graph;
  graph.tensors = {{.name = "a", .shape = {2, 2, 8}}, {.name = "b", .shape = {2, 2, 8}}};
  Assemble move{{{{{.count = 2}}, {{.count = 2}}, {{.count = 8}}, {}}}, 0};
  graph.ops = {{"concat", "Concat", {TensorId(0)}, TensorId(1), move}};
  EXPECT_TRUE(layerNeeds(graph, graph.ops[0]).free);
  move.parts[0].table.emplace();
  graph.ops[0].attributes = move;
  EXPECT_FALSE(layerNeeds(graph, graph.ops[0]).free);
}

TEST(LayerNeeds, ATensorThatIsSeveralOperandsIsReadOnce) {
  testing::GraphBuilder b("net");
  const TensorId x = b.input("x", {4, 6, 16}), y = b.add("twice", x, x);
  const CanonicalGraph graph = b.finish(y);
  EXPECT_EQ(layerNeeds(graph, graph.ops[0]).inputBytes, 4 * 6 * 16);
}

// Four parts turn the rows of 2x3x16 round and repeat half of its channels.
TEST(LayerNeeds, OfWhatIsMovedWhatIsTakenCountsOnce) {
  CanonicalGraph graph;
  graph.tensors = {{.name = "a", .shape = {2, 3, 16}}, {.name = "b", .shape = {2, 3, 16}}};
  Assemble turn;
  for (const std::int64_t row : {0, 1})
    for (const std::int64_t to : {0, 8})
      turn.parts.push_back({{{.to = row, .from = 1 - row, .count = 1}},
                            {{.count = 3}},
                            {{.to = to, .count = 8}},
                            {}});
  const TensorId a(0);
  graph.ops = {{"turn", "Transpose", {a, a, a, a}, TensorId(1), turn}};
  EXPECT_EQ(layerNeeds(graph, graph.ops[0]).inputBytes, 2 * 3 * 8);
}

TEST(LayerNeeds, ASliceIsFreeUnlessItTurnsColumnsRound) {
  CanonicalGraph graph;
  graph.tensors = {{.name = "a", .shape = {4, 2, 24}}, {.name = "b", .shape = {4, 2, 8}}};
  Assemble split{{{{{.count = 4}}, {{.count = 2}}, {{.from = 16, .count = 8}}, {}}}, 0};
  graph.ops = {{"split", "Split", {TensorId(0)}, TensorId(1), split}};
  EXPECT_TRUE(layerNeeds(graph, graph.ops[0]).free);
  graph.tensors[1].shape.height = 2;
  split.parts[0].mapY = {{.from = 2, .count = 2}};
  graph.ops[0].attributes = split;
  EXPECT_TRUE(layerNeeds(graph, graph.ops[0]).free);
  split.parts[0].mapX = {{.from = 1, .fromStep = -1, .count = 2}};
  graph.ops[0].attributes = split;
  EXPECT_FALSE(layerNeeds(graph, graph.ops[0]).free);
}

}  // namespace
}  // namespace heddle
