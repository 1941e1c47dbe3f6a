#include "heddle/report/explanation.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heddle {
namespace {

using Json = nlohmann::json;

MappingWords words(const std::string& name) {
  return {.split = name + " split",
          .cut = name + " cut",
          .streams = {name + " inputs", name + " weights"},
          .loops = name + " loops"};
}

// Every entry has a value of its own, so that one that is read as another shows.
Explanation whole() {
  Explanation e{.model = "net",
                .device = "paper",
                .rows = 2,
                .columns = 3,
                .clock = {1'000'000'000},
                .cycles = Cycles(1000),
                .frames = 3,
                .batch = 2,
                .closedForm = Cycles(990),
                .layerBoundSeconds = 7e-7,
                .mappingBoundSeconds = 8e-7,
                .whatIf = {{Resource::DdrRead, Cycles(900)}, {Resource::Compute, Cycles(910)}},
                .spills = {{"x", "conv", {"sum", "pool"}, Bytes(64), "no room"},
                           {"y", "", {"pool"}, Bytes(65), "no rows"}},
                .tiling = ExplainedTiling{.taken = true,
                                          .alone = Cycles(1200),
                                          .tiled = Cycles(1100),
                                          .why = "no room",
                                          .groups = {{.first = "conv",
                                                      .last = "concat",
                                                      .layers = 2,
                                                      .tiles = 5,
                                                      .alone = Cycles(120),
                                                      .tiled = std::nullopt,
                                                      .kept = Bytes(66),
                                                      .weightsAgain = Bytes(67)}}},
                .timed = ExplainedTiming{24, Cycles(1010), Cycles(1001)},
                .order = ExplainedOrder{true, 5, Cycles(1200), Cycles(1100)},
                .ends = ExplainedEnds{2, 3, Cycles(1200), std::nullopt, Cycles(1200), {"dw"}},
                .join = ExplainedJoin{true, 3, Cycles(1300), Cycles(1200)},
                .upright = ExplainedUpright{true, true, std::nullopt, Cycles(1150)},
                .layers = {}};
  ExplainedLayer layer;
  layer.name = "conv";
  layer.op = "Conv";
  layer.fused = "adds 'x' at its end";
  layer.mapping = words("own");
  layer.steps = 7;
  layer.cycles = Cycles(600);
  layer.start = Cycles(3);
  layer.end = Cycles(604);
  layer.closedForm = Cycles(-1);
  layer.boundSeconds = 5e-7;
  layer.mappingBound = Cycles(501);
  layer.boundBy = Resource::InputWire;
  layer.boundEngine = "wire(3)";
  layer.boundEngineBusy = Cycles(502);
  for (std::size_t r = 0; r < kResources; ++r)
    layer.busy[r] = Cycles(100 + static_cast<std::int64_t>(r));
  layer.terms = {{"compute", Cycles(400)}, {"column wires: inputs", Cycles(500)}};
  layer.tried = 19;
  layer.alternatives = {{words("other"), Cycles(640), Cycles(-5), Resource::WeightsWire}};
  layer.bytes = {{"weights over wires", Bytes(28), Bytes(2), {"14 times: rows cut in 14 bands"}}};
  ExplainedLayer free;
  free.name = "concat";
  free.noAlternatives = "it executes nothing";
  e.layers = {layer, free};
  return e;
}

std::string faultsOfExplanation(const Json& json) {
  const Result<Explanation> read = parseExplanation(json.dump(), "e.json");
  return read ? "" : toText(read.diagnostics());
}

TEST(ParseExplanation, ReadsBackWhatWasWritten) {
  const Result<Explanation> read = parseExplanation(explanationJson(whole()), "e.json");
  ASSERT_TRUE(read) << read.diagnostics();
  EXPECT_EQ(*read, whole());
  EXPECT_EQ(explanationJson(*read), explanationJson(whole()));
}

TEST(ParseExplanation, EveryEntryIsNeeded) {
  const Json json = Json::parse(explanationJson(whole()));
  for (const std::string path :
       {"/model", "/clockHz", "/layers", "/spills/0/why", "/spills/1/writtenBy",
        "/layers/0/mapping", "/layers/0/mapping/streams", "/layers/0/alternatives/0/losesCycles",
        "/layers/0/bytes/0/why", "/timed", "/timed/bestCycles", "/order", "/order/reorderedCycles",
        "/layers/0/terms/1/cycles", "/whatIf/0/free"}) {
    const Json::json_pointer at(path);
    Json less = json;
    less[at.parent_pointer()].erase(at.back());
    EXPECT_NE(faultsOfExplanation(less).find("error[EXPL003]"), std::string::npos) << path;
    Json wrong = json;
    wrong[at] = true;
    EXPECT_NE(faultsOfExplanation(wrong).find("error[EXPL003]"), std::string::npos) << path;
  }
}

TEST(ParseExplanation, SaysWhereAFaultIs) {
  Json json = Json::parse(explanationJson(whole()));
  json["layers"][0]["boundBy"] = "luck";
  EXPECT_EQ(faultsOfExplanation(json),
            "error[EXPL003] e.json, layers[0].boundBy: an entry of the explanation is not what it "
            "can be\n"
            "  what:  expected a resource or 'none', found 'luck'\n"
            "  mend:  take an explain.json that this heddle has written and nobody has edited\n");
}

TEST(ParseExplanation, OtherFilesAreNone) {
  EXPECT_EQ(parseExplanation("{", "e.json").diagnostics()[0].code, "EXPL001");
  EXPECT_EQ(parseExplanation("{\"format\": \"heddle.report/2\"}", "e.json").diagnostics()[0].code,
            "EXPL001");
  EXPECT_EQ(parseExplanation("{\"format\": \"heddle.explain/9\"}", "e.json").diagnostics()[0].code,
            "EXPL002");
}

}  // namespace
}  // namespace heddle
