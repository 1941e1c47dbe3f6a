#include "heddle/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heddle/report/memory_blocks.h"
#include "small_run.h"

namespace heddle {
namespace {

using testing::reportedPaper;
using testing::twoConvs;
using testing::twoConvsProgram;
using testing::twoConvsRun;

Report smallReport(const std::vector<Cycles>& closedForm = {}) {
  return makeReport(twoConvs(), twoConvsProgram(), reportedPaper(1, 2), twoConvsRun(), closedForm);
}

Cycles of(const PerResource<Cycles>& cycles, Resource resource) {
  return cycles[static_cast<std::size_t>(resource)];
}

TEST(MakeReport, LayerCyclesAreDifferencesOfCompletionAndAddUpToTheMakespan) {
  const Report report = smallReport();
  EXPECT_EQ(report.layers[0].cycles, Cycles(48));
  EXPECT_EQ(report.layers[1].cycles,
            Cycles(14));  // 60 - 48, and 2 cycles of the sequencer at the end
  EXPECT_EQ(report.layers[0].cycles + report.layers[1].cycles, report.cycles);
}

TEST(MakeReport, ALayerThatEndsBeforeAnEarlierOneTakesNoCyclesOfTheWhole) {
  SimulateResult run = twoConvsRun();
  run.stepEnd = {Cycles(62), Cycles(60)};
  const Report report = makeReport(twoConvs(), twoConvsProgram(), reportedPaper(1, 2), run);
  EXPECT_EQ(report.layers[0].cycles, Cycles(62));
  EXPECT_EQ(report.layers[1].cycles, Cycles(0));
}

TEST(MakeReport, CyclesOfALayerAreWhatItsStepsAdd) {
  Program program = twoConvsProgram();
  program.steps = {LayerId(0u), LayerId(1u), LayerId(0u), LayerId(1u)};
  SimulateResult run = twoConvsRun();
  run.stepEnd = {Cycles(20), Cycles(30), Cycles(25), Cycles(62)};
  const Report report = makeReport(twoConvs(), program, reportedPaper(1, 2), run);
  EXPECT_EQ(report.layers[0].cycles, Cycles(20));
  EXPECT_EQ(report.layers[0].end, Cycles(25));
  EXPECT_EQ(report.layers[1].cycles, Cycles(42));
  EXPECT_EQ(report.layers[1].end, Cycles(62));
}

TEST(MakeReport, FramesAddUpToTheMakespanAndNeedsAreOfAll) {
  Program program = twoConvsProgram();
  program.frames = 2;
  SimulateResult run = twoConvsRun();
  run.stepEnd = {Cycles(20), Cycles(30), Cycles(35), Cycles(60)};
  const Report report = makeReport(twoConvs(), program, reportedPaper(1, 2), run);
  const Report one = makeReport(twoConvs(), twoConvsProgram(), reportedPaper(1, 2), twoConvsRun());
  EXPECT_EQ(report.frameTimes.cold, Cycles(30));
  EXPECT_EQ(report.frameTimes.steady, 30);
  ASSERT_EQ(report.eachFrame.size(), 2u);
  EXPECT_EQ(report.eachFrame[0].stepCycles, (std::vector{Cycles(20), Cycles(10)}));
  EXPECT_EQ(report.eachFrame[1].stepCycles,
            (std::vector{Cycles(5), Cycles(27)}));  // with 2 cycles of the sequencer at the end
  EXPECT_EQ(report.eachFrame[1].end, Cycles(60));
  EXPECT_EQ(report.layers[0].cycles, Cycles(25));
  EXPECT_EQ(report.layers[1].cycles, Cycles(37));
  EXPECT_EQ(report.macs, 2 * one.macs);
  EXPECT_EQ(report.layers[1].weightBytes, 2 * one.layers[1].weightBytes);
  EXPECT_EQ(report.bounds, one.bounds);
  EXPECT_TRUE(one.eachFrame.empty());
  EXPECT_EQ(one.frameTimes.cold, Cycles(60));
}

TEST(MakeReport, LayersByTurnsAreAGroupWhoseTilesAreTold) {
  Program program = twoConvsProgram();
  program.steps = {LayerId(0u), LayerId(1u), LayerId(0u), LayerId(1u)};
  // Two of the rows of 'y' at a time.
  for (const std::size_t tile : {0u, 1u})
    program.buffers.push_back({"tensor y",
                               TileKind::Memtile,
                               {0, 0, 1, 1},
                               0,
                               64,
                               StepId(2 * tile),
                               StepId(2 * tile + 1),
                               TensorId(1u)});
  SimulateResult run = twoConvsRun();
  run.stepEnd = {Cycles(20), Cycles(30), Cycles(25), Cycles(60)};
  const Report report = makeReport(twoConvs(), program, reportedPaper(1, 2), run);
  ASSERT_EQ(report.groups.size(), 1u);
  const GroupReport& group = report.groups[0];
  EXPECT_EQ(group.tiles, 2);
  EXPECT_EQ(group.cycles, report.cycles);
  EXPECT_EQ(group.kept, Bytes(4 * 4 * 8));
  EXPECT_EQ(group.weightsAgain, Bytes(0));
  ASSERT_EQ(report.layers[1].steps.size(), 2u);
  EXPECT_EQ(report.layers[1].steps[0].cycles, Cycles(10));
  EXPECT_EQ(report.layers[1].steps[1].tile, 1);
  EXPECT_EQ(report.layers[1].steps[1].cycles, Cycles(30));
  EXPECT_EQ(report.layers[1].steps[1].end, Cycles(60));
  // Of the first layer's slices all are of its first step.
  EXPECT_EQ(report.layers[0].steps[0].start, report.layers[0].start);
}

TEST(MakeReport, LayerIsBoundByTheResourceWhoseBusiestEngineWorkedLongest) {
  const Report report = smallReport();
  EXPECT_EQ(report.layers[0].boundBy, Resource::DdrRead);  // 28 of 48 cycles; the core worked 16
  EXPECT_EQ(report.layers[1].boundBy, Resource::Compute);
  EXPECT_EQ(of(report.layers[0].busy, Resource::DdrRead), Cycles(28));
  EXPECT_EQ(of(report.layers[0].busy, Resource::Compute), Cycles(16));
}

TEST(MakeReport, WaitOfACoreIsSharedOutOverTheChainOfItsCauses) {
  const Report report = smallReport();
  // Cycles 28..32 the row wire moved weights; before that it waited for DDR, which loaded from
  // cycle 0 on.
  EXPECT_EQ(of(report.layers[0].waits, Resource::WeightsWire), Cycles(4));
  EXPECT_EQ(of(report.layers[0].waits, Resource::DdrRead), Cycles(28));
  EXPECT_EQ(of(report.layers[0].waits, Resource::InputWire), Cycles(0));
}

TEST(MakeReport, BytesAndMacsOfALayerAreThoseOfItsSlices) {
  const Report report = smallReport();
  EXPECT_EQ(report.layers[0].traffic.ddrRead, Bytes(192));
  EXPECT_EQ(report.layers[0].weightsToCores, Bytes(64));
  EXPECT_EQ(report.layers[0].inputsToCores, Bytes(128));
  EXPECT_EQ(report.layers[0].macsExecuted, 256);
  EXPECT_EQ(report.layers[0].macs, 4 * 4 * 64);
}

TEST(MakeReport, SaysWhichEngineBindsALayerAndOverWhichWiresItsStreamsGo) {
  const Report report = smallReport();
  EXPECT_EQ(report.layers[0].boundEngine, "ddr-in(0).0");
  EXPECT_EQ(report.layers[0].boundEngineBusy, Cycles(28));
  EXPECT_EQ(report.layers[1].boundEngine, "core(0,0)");
  EXPECT_EQ(report.layers[0].routes,
            (std::vector<RouteReport>{{Resource::WeightsWire, {{2, Bytes(64), Cycles(4)}}},
                                      {Resource::InputWire, {{0, Bytes(128), Cycles(10)}}}}));
  EXPECT_TRUE(report.layers[1].routes.empty());
}

TEST(MakeReport, PaddingIsOfChannelsWhereNothingIsComputedTwice) {
  CanonicalGraph graph = twoConvs();
  graph.tensors[1].shape.channels = 5;
  std::get<Conv>(graph.ops[0].attributes).weights.own().resize(5 * 8);
  const Report report = makeReport(graph, twoConvsProgram(), reportedPaper(1, 2), twoConvsRun());
  EXPECT_EQ(report.layers[0].macs, 16 * 5 * 8);
  EXPECT_EQ(report.layers[0].macsOnPaddedChannels, 16 * 3 * 8);
  EXPECT_EQ(report.layers[1].macsOnPaddedChannels, 0);
  EXPECT_EQ(report.macsOnPaddedChannels, 16 * 3 * 8);
}

TEST(MakeReport, TheMappingBoundIsTheBestMappingsSumOrWhatDdrNeeds) {
  Report report = smallReport();
  EXPECT_EQ(report.bounds.mappingBoundSeconds, std::nullopt);
  setMappingBound(report, {Cycles(30), Cycles(12)});
  EXPECT_EQ(report.layers[1].mappingBound, Cycles(12));
  EXPECT_DOUBLE_EQ(*report.bounds.mappingBoundSeconds, 42e-9);
  setMappingBound(report, {Cycles(0), Cycles(1)});
  EXPECT_DOUBLE_EQ(*report.bounds.mappingBoundSeconds, report.bounds.ddrReadSeconds);
  report.frames = 3;
  setMappingBound(report, {Cycles(30), Cycles(12)});
  EXPECT_EQ(report.layers[1].mappingBound, Cycles(36));
  EXPECT_DOUBLE_EQ(*report.bounds.mappingBoundSeconds, 42e-9);
}

TEST(MakeReport, DensityIsTheShareOfWeightBlocksThatAreKept) {
  CanonicalGraph graph = twoConvs();
  Bits& kept = std::get<Conv>(graph.ops[0].attributes).kept;
  kept = Bits(4);
  kept.set(2);
  graph.ops[1].attributes = MaxPool{};
  const Report report = makeReport(graph, twoConvsProgram(), reportedPaper(1, 2), twoConvsRun());
  EXPECT_EQ(report.layers[0].density, 0.25);
  EXPECT_EQ(report.layers[1].density, std::nullopt);
  EXPECT_EQ(smallReport().layers[0].density, 1.0);
  graph.ops[1].attributes = DepthwiseConv{};
  EXPECT_EQ(
      makeReport(graph, twoConvsProgram(), reportedPaper(1, 2), twoConvsRun()).layers[1].density,
      1.0);
}

TEST(MakeReport, ClosedFormIsHeldAgainstTheMeasuredCycles) {
  const Report report = smallReport({Cycles(36), Cycles(14)});
  EXPECT_EQ(report.closedForm, Cycles(50));
  EXPECT_DOUBLE_EQ(*report.closedFormWorstLayerError(), -0.25);
  EXPECT_FALSE(smallReport().closedFormWorstLayerError());
}

TEST(MemoryBlocks, SlicesLiveFromTheFirstToTheLastLayerThatTouchesTheirTensor) {
  const std::vector<MemoryBlock> blocks = memoryBlocks(twoConvsProgram());
  ASSERT_EQ(blocks.size(), 4u);  // two buffers, two slices
  EXPECT_EQ(blocks[2],
            (MemoryBlock{
                "x", TileKind::Memtile, {0, 0, 1, 1}, 0, 128, StepId(0), StepId(0), TensorId(0)}));
  EXPECT_EQ(
      blocks[3],
      (MemoryBlock{
          "y", TileKind::Memtile, {0, 0, 1, 1}, 128, 128, StepId(0), StepId(1), TensorId(1)}));
}

TEST(MemoryBlocks, PeakCountsLiveBytesOnceInTheFullestTile) {
  const std::vector<MemoryBlock> blocks = memoryBlocks(twoConvsProgram());
  EXPECT_EQ(memtileOccupancy(blocks, 0, 2), (std::vector<std::int64_t>{128 + 128 + 64, 128}));
  EXPECT_EQ(peakBytes(blocks, TileKind::Memtile, 2), 320);
  EXPECT_EQ(peakBytes(blocks, TileKind::Core, 2), 256);
  const std::vector<MemoryBlock> overlapping = {
      {"a", TileKind::Core, {}, 0, 100, StepId(0), StepId(0), {}},
      {"b", TileKind::Core, {}, 50, 100, StepId(0), StepId(0), {}}};
  EXPECT_EQ(peakBytes(overlapping, TileKind::Core, 1), 150);
}

TEST(MemoryBlocks, WeightRecordsThatNoBufferNamesTakeTheStretchTheyPassThrough) {
  Program program = twoConvsProgram();
  program.buffers.clear();
  Transfer<Affine>& load =
      std::get<Transfer<Affine>>(std::get<Instruction>(program.sections[0].items[1].as).as);
  load.destination.address = {.base = 2000, .slot = 0, .slotStride = 64, .slots = 3};
  const std::vector<MemoryBlock> blocks = memoryBlocks(program);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0],
            (MemoryBlock{
                "weights", TileKind::Memtile, {0, 0, 1, 1}, 2000, 192, StepId(0), StepId(0), {}}));
  EXPECT_EQ(peakBytes(blocks, TileKind::Memtile, 2), 192 + 256);
}

// Those that stay have a buffer, others pass through places elsewhere.
TEST(MemoryBlocks, RecordsThatStayAreNoStretchThatTheyPassThrough) {
  Program program = twoConvsProgram();
  Section& section = program.sections[0];
  const Item first = section.items[1];
  section.items.insert(section.items.begin() + 2, first);
  const auto load = [&](std::size_t item) -> Transfer<Affine>& {
    return std::get<Transfer<Affine>>(std::get<Instruction>(section.items[item].as).as);
  };
  load(1).destination.address = {.base = 1000, .slot = 0, .slotStride = 64, .slots = 1};
  load(2).destination.address = {.base = 2000, .slot = 0, .slotStride = 64, .slots = 1};
  program.buffers.assign(1, {"conv weights",
                             TileKind::Memtile,
                             {0, 0, 1, 1},
                             1000,
                             64,
                             StepId(0),
                             StepId(1),
                             TensorId()});
  const std::vector<MemoryBlock> blocks = memoryBlocks(program);
  ASSERT_EQ(blocks.size(), 4u);  // and two slices
  EXPECT_EQ(blocks[0].last, StepId(1));
  EXPECT_EQ(blocks[1],
            (MemoryBlock{
                "weights", TileKind::Memtile, {0, 0, 1, 1}, 2000, 64, StepId(0), StepId(0), {}}));
}

TEST(MemoryBlocks, ASliceThatABufferNamesIsNotCountedAgain) {
  Program program = twoConvsProgram();
  program.buffers.push_back(
      {"x.slice", TileKind::Memtile, {0, 0, 1, 1}, 0, 128, StepId(0), StepId(1), TensorId(0)});
  const std::vector<MemoryBlock> blocks = memoryBlocks(program);
  ASSERT_EQ(blocks.size(), 4u);
  EXPECT_EQ(blocks[2].name, "x.slice");
  EXPECT_EQ(blocks[3].name, "y");
}

TEST(MemoryBlocks, InDdrInputsAreThereFromTheStartAndOutputsStay) {
  Program program = twoConvsProgram();
  program.inputs = twoConvs().inputs;
  program.outputs = twoConvs().outputs;
  program.tensors[0].ddr = 0;
  program.tensors[1].ddr = 128;  // spilled
  program.tensors[2].ddr = 256;
  program.weightsAddress = 384;
  program.weightsBytes = 64;
  const std::vector<MemoryBlock> blocks = memoryBlocks(program);
  const auto ddr = [](std::string name, std::int64_t address, std::int64_t size, StepId first,
                      StepId last, TensorId tensor) {
    return MemoryBlock{std::move(name), TileKind::Ddr, {}, address, size, first, last, tensor};
  };
  const std::vector<MemoryBlock> expected = {
      ddr("x", 0, 128, StepId(), StepId(0), TensorId(0)),
      ddr("y", 128, 128, StepId(0), StepId(1), TensorId(1)),
      ddr("z", 256, 128, StepId(1), StepId(), TensorId(2)),
      ddr("weights", 384, 64, StepId(), StepId(), TensorId())};
  EXPECT_EQ(std::vector(blocks.end() - 4, blocks.end()), expected);
}

TEST(ReportJson, HasEveryEntryOfTheFormat) {
  Report report = smallReport({Cycles(36), Cycles(14)});
  report.verification = {true, true, 3, 384, 0, {}};
  const nlohmann::json json = nlohmann::json::parse(reportJson(report));
  EXPECT_EQ(json["format"], "heddle.report/2");
  EXPECT_EQ(json["time"]["cycles"], 62);
  EXPECT_DOUBLE_EQ(json["time"]["seconds"], 62e-9);
  EXPECT_DOUBLE_EQ(json["time"]["closedFormSeconds"], 50e-9);
  EXPECT_EQ(json["work"]["macsDense"], 2048);
  EXPECT_EQ(json["work"]["macsExecuted"], 512);
  EXPECT_EQ(json["memory"]["memtilePeakBytes"], 320);
  EXPECT_EQ(json["verification"]["bytesCompared"], 384);
  EXPECT_EQ(json["notModelled"][0], "fabric reprogramming");
  EXPECT_EQ(json["layers"][0]["boundBy"], "DDR read");
  EXPECT_EQ(json["layers"][0]["density"], 1.0);
  const std::vector<std::pair<std::string, std::vector<std::string>>> entries = {
      {"model", {"name", "sha256", "macs", "weightBytes"}},
      {"device", {"name", "rows", "columns", "clockHz", "macsPerCycle", "keys", "wires"}},
      {"time", {"cycles", "seconds", "closedFormSeconds", "closedFormWorstLayerError"}},
      {"bounds",
       {"computeSeconds", "ddrReadSeconds", "ddrWriteSeconds", "memtileToCoreSeconds",
        "coreToMemtileSeconds", "lowerBoundSeconds", "fusedLowerBoundSeconds", "layerBoundSeconds",
        "paperBoundSeconds", "mappingBoundSeconds", "efficiency"}},
      {"traffic", {"ddrReadBytes", "ddrWriteBytes", "memtileToCoreBytes", "coreToMemtileBytes"}},
      {"memory", {"memtilePeakBytes", "corePeakBytes"}},
      {"work",
       {"macsDense", "macsExecuted", "macsPadded", "macsOnPaddedChannels", "macsTwice",
        "weightBytesPadded", "instructions"}},
      {"verification", {"ran", "matches", "tensorsCompared", "bytesCompared", "mismatches"}},
      {"effort",
       {"importSeconds", "compileSeconds", "simulateSeconds", "whatIfSeconds", "verifySeconds",
        "peakBytes"}}};
  for (const auto& [object, keys] : entries)
    for (const std::string& key : keys)
      EXPECT_TRUE(json[object].contains(key)) << object << '.' << key;
  for (const char* key :
       {"name", "op", "split", "atStart", "atEnd", "tables", "cycles", "boundBy", "boundEngine",
        "routes", "mappingBoundCycles", "macsOnPaddedChannels", "weightBytesPadded"})
    EXPECT_TRUE(json["layers"][1].contains(key)) << key;
}

TEST(ReportJson, EffortIsAllThatDiffersBetweenRuns) {
  Report slow = smallReport();
  slow.effort.compileSeconds = 1.5;
  slow.effort.peakBytes = 1 << 20;
  nlohmann::ordered_json a = nlohmann::ordered_json::parse(reportJson(smallReport()));
  nlohmann::ordered_json b = nlohmann::ordered_json::parse(reportJson(slow));
  EXPECT_NE(a, b);
  a.erase("effort");
  b.erase("effort");
  EXPECT_EQ(a.dump(), b.dump());
}

TEST(ReportMarkdown, NamesOfTheModelCannotBecomeMarkup) {
  Report report = smallReport();
  report.layers[0].name = "a|b<script>\n# c";
  const std::string text = reportMarkdown(report);
  EXPECT_NE(text.find("a\\|b\\<script\\> # c"), std::string::npos) << text;
}

TEST(ReportJson, BoundCyclesAreThoseOfTheLayers) {
  Report report = smallReport();
  report.whatIf = {{Resource::DdrRead, Cycles(36)}};
  const nlohmann::json json = nlohmann::json::parse(reportJson(report));
  std::int64_t all = 0;
  for (const auto& cycles : json["boundCycles"]) all += cycles.get<std::int64_t>();
  EXPECT_EQ(all, json["time"]["cycles"]);
  EXPECT_EQ(json["boundCycles"]["DDR read"], json["layers"][0]["cycles"]);
  EXPECT_EQ(json["whatIf"], nlohmann::json::parse(R"([{"resource": "DDR read", "cycles": 36}])"));
}

TEST(ReportJson, ItsDeviceHasEveryKey) {
  const nlohmann::json device = nlohmann::json::parse(reportJson(smallReport()))["device"];
  EXPECT_EQ(device["keys"].size(), numbersOf({}).size());
  EXPECT_EQ(device["keys"]["memtile.memory"], 512.0);
  EXPECT_EQ(device["keys"]["links.ddr.read"], 4.0);
  EXPECT_TRUE(device["keys"]["links.ddr.readTotal"].is_null()) << "unlimited";
  EXPECT_EQ(device["wires"].size(), 3U);
  EXPECT_EQ(device["wires"][1]["name"], "column1");
  EXPECT_EQ(device["wires"][1]["reach"]["column"], 1);
}

// One name for a figure: what a column is called, report.json calls so too.
TEST(LayersCsv, ColumnsAreEntriesOfTheReport) {
  const std::string csv = layersCsv(smallReport());
  std::istringstream titles(csv.substr(0, csv.find("\r\n")));
  const nlohmann::json layer = nlohmann::json::parse(reportJson(smallReport()))["layers"][0];
  std::size_t known = 0, byResource = 0;
  for (std::string title; std::getline(titles, title, ',');) {
    if (layer.contains(title)) ++known;
    for (const char* of : {"busyCycles", "waitCoreCycles"})
      byResource += title.starts_with(of) ? 1 : 0;
    EXPECT_TRUE(std::ranges::all_of(title, [](unsigned char c) { return std::isalnum(c); }))
        << title;
  }
  EXPECT_EQ(known, layer.size() - 3) << "routes, busyCycles, waitCoreCycles";
  EXPECT_EQ(byResource, 2 * kResources);
  EXPECT_NE(csv.find(",busyCyclesDdrRead,"), std::string::npos);
}

TEST(LayersCsv, NamesAreQuotedAndNeverAFormula) {
  Report report = smallReport();
  report.layers[0].name = "=1+\"1\"";
  const std::string csv = layersCsv(report);
  EXPECT_NE(csv.find("\r\n\"'=1+\"\"1\"\"\",\"Conv\",\"W/2\",\"\",\"\",\"\",48,DDR "
                     "read,\"ddr-in(0).0\",28,0,48,"),
            std::string::npos)
      << csv;
}

}  // namespace
}  // namespace heddle
