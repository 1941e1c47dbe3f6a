#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "heddle/report/report.h"
#include "small_run.h"

namespace heddle {
namespace {

using Json = nlohmann::json;

// Every entry has a value of its own, so that one that is read as another shows.
Report wholeReport() {
  Report report =
      makeReport(testing::twoConvs(), testing::twoConvsProgram(), testing::reportedPaper(1, 2),
                 testing::twoConvsRun(), {Cycles(36), Cycles(14)});
  report.verification = {true, false, 3, 500, 1, {"y"}};
  report.effort = {0.25, 0.5, 0.75, 1.25, 1.5, 1 << 20};
  report.bounds = {.computeSeconds = 1e-9,
                   .ddrReadSeconds = 2e-9,
                   .ddrWriteSeconds = 3e-9,
                   .memtileToCoreSeconds = 4e-9,
                   .coreToMemtileSeconds = 5e-9,
                   .lowerBoundSeconds = 6e-9,
                   .fusedLowerBoundSeconds = 5e-9,
                   .layerBoundSeconds = 7e-9,
                   .paperBoundSeconds = 8e-9,
                   .layerSeconds = report.bounds.layerSeconds,
                   .mappingBoundSeconds = 9e-9};
  report.layerBoundPassedBy = {"overlap across layers"};
  report.traffic.ddrWrite = Bytes(11);
  report.propagation = {21, 22, 23};
  report.weightBytesPadded = 24;
  report.macsOnPaddedChannels = 25;
  report.instructions = 26;
  report.macs = 1001;
  report.denseMacs = 2002;
  report.weightBytes = 303;
  report.denseWeightBytes = 404;
  LayerReport& layer = report.layers[0];
  layer.denseMacs = 4096;
  layer.denseWeightBytes = 128;
  layer.density = 0.5;
  layer.imbalance = 1.25;
  layer.mappingBound = Cycles(26);
  layer.macsOnPaddedChannels = 27;
  layer.weightBytesPadded = Bytes(28);
  layer.traffic.ddrWrite = Bytes(12);
  layer.inputsToCores = Bytes(13);
  std::int64_t next = 100;
  for (std::size_t r = 0; r < kResources; ++r) {
    layer.busy[r] = Cycles(++next);
    layer.waits[r] = Cycles(++next);
  }
  report.layers[1].routes = {{Resource::InputWire, {{1, Bytes(29), Cycles(30)}}}};
  report.layers[1].boundBy.reset();
  report.layers[0].atStart = "mul";
  report.layers[0].atEnd = "dw";
  report.layers[0].tables = {"one", "two"};
  report.layers[1].tables = {"three"};
  report.layers[1].density.reset();
  report.layers[1].imbalance.reset();
  report.layers[1].mappingBound = Cycles(36);
  for (std::size_t i = 0; i < 2; ++i)
    report.layers[i].steps = {
        {static_cast<std::int64_t>(i), 31, 32, Cycles(33), Cycles(34), Cycles(35)}};
  report.eachFrame = {{Cycles(51), Cycles(52), {Cycles(53), Cycles(54)}}};
  report.whatIf = {{Resource::Compute, Cycles(61)}, {Resource::DdrRead, Cycles(62)}};
  report.groups = {{0, 1, 41, Cycles(42), Cycles(43), Cycles(44), Bytes(45), Bytes(46)}};
  return report;
}

std::string faultsOf(const Json& json) {
  const Result<Report> report = parseReport(json.dump(), "r.json");
  return report ? "" : toText(report.diagnostics());
}

TEST(ParseReport, ReadsBackWhatWasWritten) {
  const std::string text = reportJson(wholeReport());
  const Result<Report> report = parseReport(text, "r.json");
  ASSERT_TRUE(report) << report.diagnostics();
  EXPECT_EQ(reportJson(*report), text);
  EXPECT_EQ(report->closedForm, Cycles(50));
  EXPECT_EQ(report->layers[0].boundBy, Resource::DdrRead);
  EXPECT_EQ(report->bounds.layerSeconds, wholeReport().bounds.layerSeconds);
}

TEST(ParseReport, ARouteHasAsManyNumbersAsWires) {
  Json json = Json::parse(reportJson(wholeReport()));
  Json& route = json["layers"][0]["routes"][0];
  route["bytes"].push_back(7);
  EXPECT_TRUE(faultsOf(json).starts_with(
      "error[REPORT003] r.json, layers[0].routes[0]: entries of the report contradict each other\n"
      "  what:  1 wires, 2 numbers of bytes, 1 of cycles"))
      << faultsOf(json);
  route["bytes"].erase(1);
  route["stream"] = "rows";
  EXPECT_TRUE(faultsOf(json).starts_with("error[REPORT003] r.json, layers[0].routes[0].stream: "))
      << faultsOf(json);
}

std::string pointerTo(std::initializer_list<std::string> keys) {
  Json::json_pointer pointer;
  for (const std::string& key : keys) pointer /= key;
  return pointer.to_string();
}

// What follows from other entries is not read.
const std::set<std::string> kDerived = {pointerTo({"time", "seconds"}),
                                        pointerTo({"boundCycles", "compute"}),
                                        pointerTo({"boundCycles", "weights wire"}),
                                        pointerTo({"boundCycles", "input wire"}),
                                        pointerTo({"boundCycles", "output"}),
                                        pointerTo({"boundCycles", "DDR read"}),
                                        pointerTo({"boundCycles", "DDR write"}),
                                        pointerTo({"boundCycles", "sequencer"}),
                                        pointerTo({"time", "closedFormSeconds"}),
                                        pointerTo({"time", "coldSeconds"}),
                                        pointerTo({"time", "steadySeconds"}),
                                        pointerTo({"time", "closedFormWorstLayerError"}),
                                        pointerTo({"bounds", "efficiency"}),
                                        pointerTo({"work", "macsDense"}),
                                        pointerTo({"work", "macsPadded"}),
                                        pointerTo({"work", "macsTwice"}),
                                        pointerTo({"groups", "0", "first"}),
                                        pointerTo({"groups", "0", "last"}),
                                        pointerTo({"layers", "0", "closedFormError"}),
                                        pointerTo({"layers", "0", "efficiency"}),
                                        pointerTo({"layers", "1", "closedFormError"}),
                                        pointerTo({"layers", "1", "efficiency"})};

TEST(ParseReport, NamesTheEntryThatIsMissingOrWrong) {
  const Json whole = Json::parse(reportJson(wholeReport()));
  const auto placeOf = [](const std::string& pointer) {  // "/layers/0/cycles" -> "layers[0].cycles"
    std::string place;
    for (std::size_t from = 1, slash = 0; from <= pointer.size(); from = slash + 1) {
      slash = std::min(pointer.find('/', from), pointer.size());
      const std::string word = pointer.substr(from, slash - from);
      const bool index = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
      place += index ? "[" + word + "]" : (place.empty() ? "" : ".") + word;
    }
    return place;
  };
  int tried = 0;
  const Json flat = whole.flatten();
  for (const std::string& pointer : kDerived) EXPECT_TRUE(flat.contains(pointer)) << pointer;
  for (const auto& [pointer, value] : flat.items()) {
    if (kDerived.contains(pointer) || pointer == pointerTo({"format"})) continue;
    const std::string at = "error[REPORT003] r.json, " + placeOf(pointer) + ": ";
    const Json::json_pointer place(pointer);
    for (const Json& wrong :
         {Json(-1e18), Json(1e40), Json(1.5e-3 + 7), Json("?"), Json(true), Json::array({1}),
          Json::object({{"a", 1}}), Json(std::uint64_t{1} << 63), Json(std::int64_t{1} << 54)}) {
      if (wrong.type() == value.type() && !value.is_number()) continue;  // other words may do
      Json broken = whole;
      broken[place] = wrong;
      const std::string faults = faultsOf(broken);
      const bool real = value.is_number_float() || pointer.ends_with("mbalance") ||
                        pointer.ends_with("Seconds") || pointer.ends_with("steadyCycles") ||
                        pointer.starts_with("/device/keys/");
      const double number = wrong.is_number() ? wrong.get<double>() : -1;
      const bool possible = real && number >= 0 && number < 1e30 && !pointer.ends_with("density");
      EXPECT_TRUE(possible || faults.starts_with(at)) << pointer << wrong << '\n' << faults;
    }
    if (place.parent_pointer().to_string().ends_with("By") || value.is_structured() ||
        whole[place.parent_pointer()].is_array())
      continue;
    Json broken = whole;
    broken[place.parent_pointer()].erase(place.back());
    if (place.back() == "atStart" || place.back() == "atEnd" ||
        place.back() == "tables")  // added later: reports of before are read
      EXPECT_EQ(faultsOf(broken), "") << pointer;
    else
      EXPECT_EQ(faultsOf(broken).find(at + "an entry of the report is missing\n"), 0U) << pointer;
    ++tried;
  }
  EXPECT_GT(tried, 90);
}

TEST(ParseReport, ReadsReportsOfBeforeAnEntryWasAdded) {
  Json json = Json::parse(reportJson(wholeReport()));
  for (Json& layer : json["layers"])
    for (const char* added : {"atStart", "atEnd", "tables"}) ASSERT_EQ(layer.erase(added), 1U);
  const Result<Report> read = parseReport(json.dump(), "r.json");
  ASSERT_TRUE(read) << read.diagnostics();
  EXPECT_EQ(read->layers.at(0).atEnd, "");
  EXPECT_TRUE(read->layers.at(0).tables.empty());
}

TEST(ParseReport, TellsAllFaultsAtOnce) {
  Json json = Json::parse(reportJson(wholeReport()));
  json.erase("traffic");
  json["layers"][1]["boundBy"] = "love";
  json["layers"].push_back(7);
  EXPECT_EQ(faultsOf(json),
            "error[REPORT003] r.json, traffic: an entry of the report is missing\n"
            "  mend:  take a report.json that this heddle has written and nobody has edited\n"
            "error[REPORT003] r.json, layers[1].boundBy: an entry of the report is not what it can "
            "be\n"
            "  what:  expected a resource or 'none', found 'love'\n"
            "  mend:  take a report.json that this heddle has written and nobody has edited\n"
            "error[REPORT003] r.json, layers[2]: an entry of the report is of the wrong type\n"
            "  what:  expected an object, found 7\n"
            "  mend:  take a report.json that this heddle has written and nobody has edited\n");
}

TEST(ParseReport, LayersThatDoNotAddUpContradictTheRun) {
  Json json = Json::parse(reportJson(wholeReport()));
  json["layers"][0]["cycles"] = 47;
  EXPECT_EQ(
      faultsOf(json),
      "error[REPORT003] r.json, layers: the layers' cycles do not add up to those of the run\n"
      "  what:  61 cycles of layers; the run took 62\n"
      "  mend:  take a report.json that this heddle has written and nobody has edited\n");
}

TEST(ParseReport, OtherFilesAndOtherVersionsAreNamed) {
  const auto faults = [](const std::string& text) {
    const Result<Report> report = parseReport(text, "r.json");
    return report ? ""
                  : report.diagnostics().front().code + " " + report.diagnostics().front().what;
  };
  EXPECT_EQ(faults(R"({"format": "heddle.report/3"})"),
            "REPORT002 format 'heddle.report/3'; known: 'heddle.report/2'");
  EXPECT_EQ(faults(R"({"format": "heddle.re)"), "REPORT001 it ends in the middle, after 21 B");
  EXPECT_EQ(faults("report"), "REPORT001 not JSON at byte 1");
  EXPECT_EQ(faults("[1e999]"), "REPORT001 it holds a number that is too large");
  const std::string other = "REPORT001 expected a JSON object with \"format\": \"heddle.report/2\"";
  EXPECT_EQ(faults("[]"), other);
  EXPECT_EQ(faults(R"({"format": 1})"), other);
  EXPECT_EQ(faults(R"({"format": "heddle.timeline/1"})"), other);
  const std::string tooDeep = "REPORT001 it is nested more than 64 levels deep";
  EXPECT_EQ(faults(std::string(1 << 20, '[')), tooDeep);
  EXPECT_EQ(faults(std::string(65, '[') + std::string(65, ']')), tooDeep);
  EXPECT_EQ(faults(std::string(64, '[') + std::string(64, ']')), other);
}

}  // namespace
}  // namespace heddle
