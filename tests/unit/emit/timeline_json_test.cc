#include "heddle/emit/timeline_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "../../../src/emit/rolled_sequence.h"
#include "../command.h"
#include "../report/small_run.h"
#include "heddle/emit/timeline_document.h"

namespace heddle {

namespace {

using Json = nlohmann::json;

std::vector<std::int64_t> unrolledNumbers(const Json& rolled, std::size_t first = 0) {
  std::vector<std::int64_t> out;
  for (std::size_t i = first; i < rolled.size(); ++i) {
    if (rolled[i].is_number()) {
      out.push_back(rolled[i]);
      continue;
    }
    const std::vector<std::int64_t> body = unrolledNumbers(rolled[i], 1);
    for (int k = 0; k < rolled[i][0]; ++k) out.insert(out.end(), body.begin(), body.end());
  }
  return out;
}

std::string rolledText(std::vector<std::int64_t> values) { return SequenceRoller().roll(values); }

TEST(RolledSequence, WritesWhatRepeatsOnceWithItsCount) {
  EXPECT_EQ(rolledText({}), "[]");
  EXPECT_EQ(rolledText({7, 7, 7, 7, 7}), "[[5,7]]");
  EXPECT_EQ(rolledText({3, 1, 2, 1, 2, 1, 2, 9}), "[3,[3,1,2],9]");
  EXPECT_EQ(rolledText({1, 2, 3, 4}), "[1,2,3,4]");
}

TEST(RolledSequence, FindsNestedLoops) {
  EXPECT_EQ(rolledText({0, 5, 5, 5, 5, 1, 5, 5, 5, 5, 1, 5, 5, 5, 5, 1, 8}), "[0,[3,[4,5],1],8]");
}

// The last equal number stands nearer than where it all began again.
TEST(RolledSequence, FindsWhatRepeatsWhereItsNumbersRepeatToo) {
  EXPECT_EQ(rolledText({1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 2}),
            "[[3,1,1,0,1,0,0,0],2]");
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::int64_t> body(8 + random() % 200), values;
    for (std::int64_t& value : body) value = static_cast<std::int64_t>(random() % 2);
    for (int k = 0; k < 40; ++k) values.insert(values.end(), body.begin(), body.end());
    const std::string text = rolledText(values);
    EXPECT_LT(text.size(), 4 * body.size() + 80) << "round " << round << ": " << text;
    EXPECT_EQ(unrolledNumbers(Json::parse(text)), values) << "round " << round;
  }
}

TEST(RolledSequence, UnrollingGivesEveryNumberBack) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> values;
    while (values.size() < 200) {  // loops of loops with a few exceptions
      const std::size_t length = 1 + random() % 6, count = 1 + random() % 12;
      std::vector<std::int64_t> body;
      for (std::size_t k = 0; k < length; ++k)
        body.push_back(static_cast<std::int64_t>(random() % 4) - 1);
      for (std::size_t k = 0; k < count; ++k) values.insert(values.end(), body.begin(), body.end());
      if (random() % 3 == 0) values.push_back(INT64_MIN + static_cast<std::int64_t>(random() % 3));
    }
    EXPECT_EQ(unrolledNumbers(Json::parse(rolledText(values))), values) << "round " << round;
  }
}

TEST(RolledSequence, LongRepeatsWithOneChangeTakeLinearTime) {
  std::vector<std::int64_t> values;
  for (int half = 0; half < 2; ++half) {
    for (int k = 0; k < 200'000; ++k) values.push_back(k * std::int64_t{7919} % 200'003);
    values.push_back(-1 - half);
  }
  EXPECT_EQ(unrolledNumbers(Json::parse(rolledText(values))),
            values);  // quadratic would take minutes
}

Program programWithLock() {
  Program program = testing::twoConvsProgram();
  program.locks.push_back({{TileKind::Memtile, 0, 1}, 3, 0, {}, {}});
  return program;
}

std::string jsonOf(const Timeline& timeline, const Program& program = programWithLock(),
                   const CanonicalGraph& graph = testing::twoConvs(),
                   const Device& device = testing::reportedPaper(1, 2)) {
  SimulateResult run = testing::twoConvsRun();
  const Report report = makeReport(graph, program, device, run);
  const std::vector<WhatIf> whatIf = {{Resource::DdrRead, Cycles(36)}};
  return timelineJson(timeline, {graph, program, device, report, listAsm(program), whatIf});
}

TEST(TimelineJson, DecodesToTheSameTimeline) {
  const Timeline timeline = testing::twoConvsRun().timeline;
  const Result<TimelineDocument> back = parseTimelineJson(jsonOf(timeline), "t");
  ASSERT_TRUE(back) << back.diagnostics();
  EXPECT_EQ(back->timeline.makespan, timeline.makespan);
  EXPECT_EQ(back->timeline.tracks, timeline.tracks);
}

// Instructions, layers, locks and causes that are there, and times in order; nothing else need make
// sense.
Timeline randomTimeline(std::mt19937& random) {
  const auto below = [&](int n) {
    return static_cast<std::int32_t>(random() % static_cast<unsigned>(n));
  };
  Timeline t;
  t.makespan = Cycles(below(100000));
  t.tracks.resize(static_cast<std::size_t>(1 + below(6)));
  for (Track& track : t.tracks) {
    track.engine = {static_cast<EngineKind>(below(7)), 0, below(2), below(2)};
    const int bodies = below(5);
    std::int64_t now = below(10);
    for (int b = 0; b < bodies; ++b) {
      std::vector<SpanSlice> body(static_cast<std::size_t>(1 + below(4)));
      for (SpanSlice& s : body) {
        s.start = below(20);  // gap, for now
        s.end = below(50);    // duration
        s.leaf = below(6);
        s.layer = LayerId(static_cast<std::size_t>(below(2)));
        s.wait = static_cast<WaitKind>(below(5));
        s.lock = below(2) - 1;
        if (below(2)) s.cause = {below(6), below(1000)};
      }
      const int count = 1 + below(30);
      for (int k = 0; k < count; ++k)
        for (SpanSlice s : body) {
          s.ready = now + (s.start > 0 && below(50) == 0);
          s.start += now;
          now = s.end += s.start;
          s.cause.index += s.cause.track >= 0 ? 2 * k : 0;
          track.slices.push_back(s);
        }
    }
    t.makespan = std::max(t.makespan, Cycles(now));
  }
  for (Track& track : t.tracks)
    for (SpanSlice& s : track.slices) {
      if (s.cause.track < 0) continue;
      const auto size =
          std::ssize(t.tracks[static_cast<std::size_t>(s.cause.track) % t.tracks.size()].slices);
      s.cause.track %= static_cast<std::int32_t>(t.tracks.size());
      s.cause.index = size == 0 ? -1 : s.cause.index % static_cast<std::int32_t>(size);
    }
  return t;
}

TEST(TimelineJson, DecodesToTheSameTimelineForRandomOnes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Timeline timeline = randomTimeline(random);
    // The writer looks instructions up for its counters only; the layer table is the small run's.
    const Result<TimelineDocument> back = parseTimelineJson(jsonOf(timeline), "t");
    ASSERT_TRUE(back) << back.diagnostics();
    ASSERT_EQ(back->timeline.tracks, timeline.tracks) << "round " << round;
  }
}

TEST(TimelineJson, IterationsAreKeptAsLoops) {
  Timeline timeline{Cycles(1'000'010), {Track{{EngineKind::Core, 0, 0, 0}, {}}}};
  for (std::int64_t k = 0; k < 100'000; ++k)
    timeline.tracks[0].slices.push_back({.start = 10 * k + 3,
                                         .end = 10 * k + 10,
                                         .ready = 10 * k,
                                         .leaf = 4,
                                         .layer = LayerId(0),
                                         .wait = WaitKind::Lock,
                                         .lock = 0,
                                         .cause = {0, static_cast<std::int32_t>(k / 2)}});
  const std::string json = jsonOf(timeline);
  EXPECT_LT(json.size(), jsonOf({}).size() + 4096);  // 100000 slices in at most 4 KiB
  EXPECT_EQ(parseTimelineJson(json, "t")->timeline.tracks, timeline.tracks);
}

TEST(TimelineJson, SaysWhatRateTheDdrChannelsShare) {
  Device device = testing::reportedPaper(1, 2);
  const auto deviceJson = [&] {
    return Json::parse(jsonOf({}, programWithLock(), testing::twoConvs(), device))["device"];
  };
  EXPECT_FALSE(deviceJson().contains("ddrReadTotalBytesPerSecond"));
  EXPECT_FALSE(deviceJson().contains("ddrWriteTotalBytesPerSecond"));
  device.rates.ddrReadTotal = BytesPerSecond{5'000'000'000};
  device.rates.ddrWriteTotal = BytesPerSecond{3'000'000'000};
  EXPECT_EQ(deviceJson()["ddrReadTotalBytesPerSecond"], 5'000'000'000);
  EXPECT_EQ(deviceJson()["ddrWriteTotalBytesPerSecond"], 3'000'000'000);
}

TEST(TimelineJson, HasWhatAPageNeedsToStandAlone) {
  const Json json = Json::parse(jsonOf(testing::twoConvsRun().timeline));
  EXPECT_EQ(json["graph"]["operators"][1]["inputs"], Json::array({1}));
  EXPECT_EQ(json["report"]["layers"][0]["cycles"], 48);
  EXPECT_FALSE(json["report"].contains("effort"));
  EXPECT_EQ(json["device"]["wires"][2]["name"], "row0");
  EXPECT_EQ(json["whatIf"][0]["resource"], "DDR read");
  EXPECT_EQ(json["whatIf"][0]["cycles"], 36);
  EXPECT_EQ(json["instructions"]["mnemonics"][unrolledNumbers(json["instructions"]["mnemonic"])[3]],
            "LOADWM");
  EXPECT_EQ(json["memory"][2]["name"], "x");
  EXPECT_EQ(json["memory"][2]["end"], 30);
  EXPECT_EQ(json["memory"][2]["readBy"], Json::array({0}));
  std::istringstream asmText(json["asm"].get<std::string>());
  std::string line;
  for (std::int64_t n = unrolledNumbers(json["instructions"]["line"])[4]; n >= 0; --n)
    std::getline(asmText, line);
  EXPECT_EQ(line.find("  CONV k0 %1["), 0u) << line;
}

TEST(TimelineJson, CountersAddUpToTheBusyCyclesOfTheEngines) {
  const Json json = Json::parse(jsonOf(testing::twoConvsRun().timeline));
  std::map<std::string, std::int64_t> sums;
  for (const Json& series : json["counters"]["series"])
    for (const std::int64_t value : unrolledNumbers(series["values"]))
      sums[series["name"]] += value;
  const std::map<std::string, std::int64_t> expected = {
      {"compute", 16 + 12}, {"weights wire", 4}, {"input wire", 10}, {"DDR read", 28}};
  EXPECT_EQ(sums, expected);
}

TEST(TimelineJson, SameArgumentsGiveTheSameBytes) {
  const Timeline timeline = testing::twoConvsRun().timeline;
  EXPECT_TRUE(jsonOf(timeline) == jsonOf(timeline));
}

std::string timelineCodeOf(const std::string& json) {
  const Result<TimelineDocument> result = parseTimelineJson(json, "t");
  return result ? "none" : result.diagnostics()[0].code;
}

TEST(ParseTimelineJson, SaysWhatIsWrong) {
  EXPECT_EQ(timelineCodeOf("{"), "TIME001");
  EXPECT_EQ(timelineCodeOf("[1]"), "TIME001");
  EXPECT_EQ(timelineCodeOf(R"({"format":"heddle.timeline/2"})"), "TIME002");
  EXPECT_EQ(timelineCodeOf(R"({"format":"heddle.timeline/1"})"), "TIME003");
  const auto edited = [](auto&& edit) {
    Json json = Json::parse(jsonOf(testing::twoConvsRun().timeline));
    edit(json);
    return timelineCodeOf(json.dump());
  };
  EXPECT_EQ(edited([](Json&) {}), "none");
  EXPECT_EQ(edited([](Json& j) { j["tracks"][0]["slices"] = -1; }), "TIME003");
  EXPECT_EQ(edited([](Json& j) { j["tracks"][0]["gap"] = 99999; }), "TIME003");
  EXPECT_EQ(edited([](Json& j) {
              j["columns"][0] = Json::array({Json::array({1'000'000'000'000, 0})});
            }),
            "TIME003");
  EXPECT_EQ(edited([](Json& j) {
              j["columns"][0] = Json::array({INT64_MAX, INT64_MAX});
            }),
            "TIME003");
  EXPECT_EQ(edited([](Json& j) { j["tracks"][0]["engine"] = "core!"; }), "TIME003");
  EXPECT_EQ(edited([](Json& j) { j["tracks"][1]["column"] = 4; }), "TIME003");  // of four wires
  EXPECT_EQ(edited([](Json& j) { j["makespan"] = 59; }), "TIME003");  // the last slice ends at 60
  EXPECT_EQ(edited([](Json& j) { j["instructions"]["mnemonic"][0] = 99; }), "TIME003");
  EXPECT_EQ(edited([](Json& j) { j["report"]["layers"].erase(1); }), "TIME003");
  EXPECT_EQ(edited([](Json& j) { j["locks"]["producer"] = {7}; }), "TIME003");
  EXPECT_EQ(edited([](Json& j) { j["device"]["clockHz"] = 0; }), "TIME003");
  EXPECT_EQ(edited([](Json& j) { j["device"]["clockHz"] = 1.5e9; }), "TIME003");
  EXPECT_EQ(edited([](Json& j) { j.erase("counters"); }), "TIME003");
  EXPECT_EQ(edited([](Json& j) { j["waitKinds"][1] = "luck"; }), "TIME003");
}

TEST(ParseTimelineJson, SaysThatAFileIsCut) {
  const std::string json = jsonOf(testing::twoConvsRun().timeline);
  const auto cut = parseTimelineJson(json.substr(0, 1000), "t");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.diagnostics()[0].what, "it ends in the middle, after 1000 B");
}

TEST(ParseTimelineJson, UnrollsNoMoreThanItIsAllowed) {
  const std::string json = jsonOf(testing::twoConvsRun().timeline);
  EXPECT_TRUE(parseTimelineJson(json, "t", 6));
  EXPECT_FALSE(parseTimelineJson(json, "t", 5));
}

// A file that lasts as long as the test.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(::testing::TempDir() + name) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs the validator of Debian's python3-jsonschema; skipped where that is not installed.
TEST(TimelineJson, FollowsItsSchema) {
  if (std::system("python3 -c 'import jsonschema' 2>/dev/null") != 0)
    GTEST_SKIP() << "no python3-jsonschema";
  const TemporaryFile file("heddle_timeline_schema.json", jsonOf(testing::twoConvsRun().timeline));
  const std::string script =
      "import json,sys,jsonschema;"
      "s=json.load(open(sys.argv[1]));jsonschema.Draft7Validator.check_schema(s);"
      "jsonschema.validate(json.load(open(sys.argv[2])),s)";
  const std::string command = "python3 -c '" + script +
                              "' '" HEDDLE_SOURCE_DIR "/docs/timeline.schema.json' '" +
                              file.path() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(TimelinePage, DecodesEverySliceAsItWas) {
  if (std::system("node --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no node";
  constexpr std::array kKinds = {"sequencer", "ddrIn", "ddrOut", "wire",
                                 "coreIn",    "core",  "coreOut"};
  constexpr std::array kWaits = {"none", "lock", "partner", "start", "ddrEntry"};
  std::mt19937 random(11);
  Timeline timeline = randomTimeline(random);
  for (int more = 0; more < 20; ++more)
    for (Track& track : randomTimeline(random).tracks) timeline.tracks.push_back(std::move(track));
  std::ostringstream expected;
  for (const Track& t : timeline.tracks) {
    expected << "track " << kKinds[static_cast<std::size_t>(t.engine.kind)] << ' ' << t.engine.row
             << ' ' << t.engine.column << ' ' << t.engine.channel << '\n';
    for (const SpanSlice& s : t.slices)
      expected << s.ready << ' ' << s.start << ' ' << s.end << ' ' << s.leaf << ' ' << s.layer.index
               << ' ' << kWaits[static_cast<std::size_t>(s.wait)] << ' ' << s.lock << ' '
               << s.cause.track << ' ' << s.cause.index << '\n';
  }
  const TemporaryFile file("heddle_timeline_decode.json", jsonOf(timeline));
  EXPECT_EQ(testing::outputOf("cd '" HEDDLE_SOURCE_DIR
                              "/viewer' && node node_modules/vite-node/vite-node.mjs "
                              "tests/unit/decode_check.ts '" +
                              std::filesystem::absolute(file.path()).string() + "'"),
            expected.str());
}

TEST(TimelinePage, CarriesItsDataSoThatNamesCannotBecomeMarkup) {
  const std::string hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
  const std::string empty = timelineHtml({"{}"});
  const std::string page = timelineHtml({"{\"model\":\"" + hostile + "\"}"});
  EXPECT_EQ(page.find("alert(1)"), std::string::npos);
  EXPECT_EQ(page.find("@TIMELINES@"), std::string::npos);
  const std::size_t from =
      page.find("class=\"timeline\">") + std::string("class=\"timeline\">").size();
  const std::string data = page.substr(from, page.find('<', from) - from);
  EXPECT_GT(data.size(), 40u);
  EXPECT_EQ(
      data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
      std::string::npos);
  EXPECT_EQ(data.size() % 4, 0u);
  // What surrounds the data is the same for every file.
  EXPECT_EQ(page.substr(0, from), empty.substr(0, from));
}

TEST(TimelinePage, CarriesWhatIsKnownOfKeysBesideItsTimeline) {
  const std::string page = timelineHtml({"{}", "[1]"}, {"", "[2]"});
  const std::size_t first = page.find("class=\"timeline\">"),
                    second = page.find("class=\"timeline\">", first + 1),
                    keys = page.find("class=\"keys\">");
  EXPECT_TRUE(first < second && second < keys && keys != std::string::npos);
  EXPECT_EQ(page.find("class=\"keys\">", keys + 1), std::string::npos);
  EXPECT_EQ(page, timelineHtml({"{}", "[1]"}, {"", "[2]"}));
  EXPECT_EQ(timelineHtml({"{}"}), timelineHtml({"{}"}, {""}));
}

TEST(TimelinePage, ShowsNamesAsTextAndAsksForNothing) {
  const std::string page = timelineHtml({"{}"});
  for (const char* parsing : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                              "eval(", "new Function", "srcdoc"})
    EXPECT_EQ(page.find(parsing), std::string::npos) << parsing;
  for (const char* network :
       {"https:", "fetch(", "XMLHttpRequest", "WebSocket", "<link", "@import", "url(h"})
    EXPECT_EQ(page.find(network), std::string::npos) << network;
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

}  // namespace
}  // namespace heddle
