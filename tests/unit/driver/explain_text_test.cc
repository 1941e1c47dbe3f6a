#include "../../../src/driver/explain_text.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

Explanation smallExplanation() {
  Explanation e{
      .model = "net",
      .device = "paper",
      .rows = 2,
      .columns = 3,
      .clock = {1'000'000'000},
      .cycles = Cycles(100'000),
      .closedForm = Cycles(98'000),
      .layerBoundSeconds = 7e-5,
      .mappingBoundSeconds = 8e-5,
      .whatIf = {{Resource::Compute, Cycles(100'000)}, {Resource::DdrRead, Cycles(60'000)}},
      .spills = {},
      .layers = {}};
  ExplainedLayer layer;
  layer.name = "conv";
  layer.op = "Conv";
  layer.mapping = MappingWords{"W/2 x C/2, 1 pass", "W in 2", {"inputs over 2 wires"}, "1 pass"};
  layer.cycles = Cycles(80'000);
  layer.end = Cycles(80'000);
  layer.closedForm = Cycles(80'800);
  layer.boundSeconds = 6e-5;
  layer.mappingBound = Cycles(66'000);
  layer.boundBy = Resource::DdrRead;
  layer.boundEngine = "ddr-in(1).0";
  layer.boundEngineBusy = Cycles(70'001);
  layer.busy[static_cast<std::size_t>(Resource::DdrRead)] = Cycles(70'000);
  layer.terms = {{"compute", Cycles(400)}, {"DDR read: weights", Cycles(70'000)}};
  layer.tried = 19;
  layer.alternatives = {{{"", "H in 2", {"weights over 1 wire"}, "2 passes"},
                         Cycles(80'396),
                         Cycles(-404),
                         Resource::Output},
                        {{"", "H in 4", {"weights over 1 wire"}, "3 passes"},
                         Cycles(88'880),
                         Cycles(8'080),
                         Resource::Compute}};
  layer.bytes = {{"weights over wires", Bytes(28), Bytes(2), {"14 times: rows cut in 14 bands"}},
                 {"output to memtiles", Bytes(8), Bytes(8), {}}};
  e.layers = {layer};
  return e;
}

const std::vector<RaisedKeys> kKeys{
    {{{"links.ddr.read", "4 GB/s", "8 GB/s"}, {"links.memtile.write", "4 GB/s", "8 GB/s"}},
     Cycles(70'000),
     {}},
    {{{"core.macsPerCycle", "256 MAC/cycle", "512 MAC/cycle"}}, Cycles(99'000), {}},
    {{{"links.ddr.read", "4 GB/s", "8 GB/s"}}, Cycles(100'000), {"links.memtile.write"}},
    {{{"links.memtile.write", "4 GB/s", "8 GB/s"}},
     Cycles(100'000),
     {"links.ddr.read", "links.core.write"}},
    {{{"links.core.write", "4 GB/s", "8 GB/s"}}, Cycles(100'000), {"links.memtile.write"}},
    {{{"links.ddr.write", "2 GB/s", "4 GB/s"}}, Cycles(100'000), {}}};

TEST(ExplainText, OfTheRunNamesTheKeysThatBind) {
  Explanation e = smallExplanation();
  EXPECT_EQ(
      explanationText(e, kKeys),
      "net on paper 2x3\n"
      "time          0.100 ms (100000 cycles); closed form 98000, 2.0 % less; layer bound "
      "0.070 ms, mapping bound 0.080 ms\n"
      "binds         links.ddr.read and links.memtile.write 4 GB/s -> 8 GB/s: 70000 cycles, 30.0 % "
      "less; either alone: nothing\n"
      "then          core.macsPerCycle 256 MAC/cycle -> 512 MAC/cycle: 99000 cycles, 1.0 % less\n"
      "nothing       links.ddr.write\n"
      "alone nothing links.core.write (held by links.memtile.write)\n"
      "for nothing   DDR read 40.0 % less\n"
      "spills        none\n"
      "\n"
      "layers that lie furthest above their bounds: 1 of 1\n"
      "  layer  cycles  of run  closed form  bound  bound by  next best              split\n"
      "  conv    80000  80.0 %        80800  60000  DDR read       -404  W/2 x C/2, 1 pass\n");
}

TEST(ExplainText, OfTheRunNamesSpills) {
  Explanation e = smallExplanation();
  for (const char* tensor : {"a", "b", "c", "d", "e", "f"})
    e.spills.push_back({tensor, "conv", {"next"}, Bytes(64), "no room"});
  const std::string text = explanationText(e, std::vector<RaisedKeys>());
  EXPECT_NE(text.find("binds         no key: none gains anything where it is doubled\n"),
            std::string::npos);
  EXPECT_NE(text.find("spills        'a', 64 B: no room\n"
                      "              'b', 64 B: no room\n"),
            std::string::npos);
  EXPECT_NE(text.find("              'd', 64 B: no room\n"
                      "              and 2 more\n"),
            std::string::npos);
}

TEST(ExplainText, AnInputOfTheNetworkThatStreamsIsNoSpill) {
  Explanation e = smallExplanation();
  e.spills = {{"image", "", {"conv"}, Bytes(64), "no room"}};
  EXPECT_NE(explanationText(e, std::vector<RaisedKeys>())
                .find("spills        none\n"
                      "from DDR      'image', 64 B: no room\n"),
            std::string::npos);
  EXPECT_NE(explanationText(e, e.layers[0]).find("from DDR      'image', 64 B: no room\n"),
            std::string::npos);
}

TEST(ExplainText, OfSeveralInferencesSaysWhatOneTakes) {
  Explanation e = smallExplanation();
  EXPECT_EQ(explanationText(e, std::vector<RaisedKeys>()).find("inferences"), std::string::npos);
  e.frames = 2;
  e.batch = 4;
  EXPECT_NE(explanationText(e, std::vector<RaisedKeys>())
                .find("time          0.100 ms (100000 cycles) for 8 inferences, 0.013 ms each; "),
            std::string::npos)
      << explanationText(e, std::vector<RaisedKeys>());
}

TEST(ExplainText, OfALayerSaysWhatItLostAndWhatMoves) {
  Explanation e = smallExplanation();
  e.spills = {{"x", "other", {"conv"}, Bytes(64), "no room"},
              {"y", "other", {"another"}, Bytes(64), "no room"}};
  EXPECT_EQ(explanationText(e, e.layers[0]),
            "layer 'conv' (Conv) of net on paper 2x3\n"
            "time          80000 cycles, 80.0 % of the run; closed form 80800, 1.0 % more; its "
            "bound 60000, its best mapping alone\n                66000\n"
            "bound by      DDR read: ddr-in(1).0 works for 70001 cycles, the layer runs from 0 to "
            "80000\n"
            "cut           W in 2\n"
            "streams       inputs over 2 wires\n"
            "loops         1 pass\n"
            "terms         compute 400, DDR read: weights 70000\n"
            "bytes         weights over wires: 28 B moved, 2 B needed: 14 times: "
            "rows cut in 14 bands\n"
            "              output to memtiles: 8 B moved, 8 B needed\n"
            "instead       gains 404 cycles, 0.5 %, less than the closed form errs: H in 2; "
            "weights over 1 wire; 2 passes; bound by\n"
            "                output\n"
            "              loses 8080 cycles, 10.0 %: H in 4; weights over 1 wire; 3 passes; "
            "bound by compute\n"
            "              of 19 mappings that the closed form timed\n"
            "spill         'x', 64 B: no room\n");
}

}  // namespace
}  // namespace heddle
