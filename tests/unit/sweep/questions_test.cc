#include "../../../src/sweep/questions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "../../../src/sweep/answer.h"

namespace heddle {
namespace {

Argument said(const std::string& text) { return {text, "--x"}; }

// A network on a device with `cores`, `ms` and a lower bound of half of that.
Point point(const std::string& network, double cores, double ms) {
  Point p{.id = network + std::to_string(cores), .version = "1", .model = network};
  p.deviceSha256 = std::to_string(cores);
  p.numbers = {{"rows", cores}, {"columns", 1}, {"links.wire", 4}};
  p.values = {{"model", network},   {"rows", cores},
              {"cols", 1.0},        {"cores", cores},
              {"clockGHz", 1.0},    {"ms", ms},
              {"ips", 1000.0 / ms}, {"floorMs", ms / 2},
              {"cycles", ms * 1e6}, {"status", std::string("ok")}};
  return p;
}

struct Pair {
  Point a, b;
  Design design{{&a, &b}};
  Pair(double cores, double first, double second)
      : a(point("net-a", cores, first)), b(point("netb", cores, second)) {}
};

Result<Questions> ask(const SweepOptions& options) {
  return Questions::read(options, {"net-a", "netb"});
}

TEST(Questions, NamesOfColumnsNetworksKeysAndTheUsersOwn) {
  SweepOptions options;
  options.definitions = {{"area", said("cores + 0.5*links.wire")}, {"cost", said("area*ms")}};
  options.maximized =
      said("geomean(ips)/area + net_a.ms - mean(cost) + largest(ms) - smallest(ms)");
  const auto questions = ask(options);
  ASSERT_TRUE(questions) << toText(questions.diagnostics());
  const Pair p(6, 2, 8);
  EXPECT_EQ(questions->number(p.a, "area"), 8);
  EXPECT_EQ(questions->number(p.b, "cost"), 64);
  EXPECT_NEAR(*questions->score(p.design),
              std::sqrt(500.0 * 125.0) / 8 + 2 - (16 + 64) / 2.0 + 8 - 2, 1e-9);
}

TEST(Questions, AMissingFigureGivesNoAnswer) {
  SweepOptions options;
  options.maximized = said("geomean(ips)");
  const auto questions = ask(options);
  ASSERT_TRUE(questions);
  Pair p(6, 2, 8);
  EXPECT_TRUE(questions->score(p.design));
  p.b.values["ips"] = Figure();
  EXPECT_FALSE(questions->score(p.design));
  p.design.points[1] = nullptr;
  EXPECT_FALSE(questions->score(p.design));
  p.b.values["ips"] = 0.0;
  p.design.points[1] = &p.b;
  EXPECT_FALSE(questions->score(p.design)) << "no geometric mean of 0";
}

TEST(Questions, DivisionByNothingIsNoNumber) {
  SweepOptions options;
  options.definitions = {{"x", said("ms/(cores - 6)")}};
  const auto questions = ask(options);
  ASSERT_TRUE(questions);
  EXPECT_FALSE(questions->number(Pair(6, 2, 8).a, "x"));
  EXPECT_EQ(questions->number(Pair(7, 2, 8).a, "x"), 2);
}

TEST(Questions, RequirementsCompareTwoSidesEitherWayRound) {
  for (const char* text : {"net_a.ms <= 2", "2 >= net_a.ms", "ms <= 8", "netb.ips > 124",
                           "largest(ms) < 8.1", "(cores > 5) * ms <= 8"}) {
    SweepOptions options;
    options.required = {said(text)};
    const auto questions = ask(options);
    ASSERT_TRUE(questions) << text;
    EXPECT_TRUE(questions->missed(Pair(6, 2, 8).design)->empty()) << text;
    EXPECT_EQ(questions->missed(Pair(6, 2.5, 8.2).design)->size(), 1U) << text;
  }
  SweepOptions strict;
  strict.required = {said("net_a.ms < 2")};
  EXPECT_EQ(ask(strict)->missed(Pair(6, 2, 8).design)->size(), 1U);
}

TEST(Questions, HowFarItIsMissedIsAShareOfTheRightSide) {
  SweepOptions options;
  options.required = {said("ms <= 2")};
  const auto missed = ask(options)->missed(Pair(6, 3, 5).design);
  ASSERT_EQ(missed->size(), 2U);
  EXPECT_EQ(missed->at(0).requirement, "ms <= 2 (net-a)");
  EXPECT_DOUBLE_EQ(missed->at(0).share, 0.5);
  EXPECT_DOUBLE_EQ(missed->at(1).share, 1.5);
}

// Only a time that stands alone against keys may skip a point: all else might still come right.
TEST(Questions, TheLowerBoundDecidesOnlyWhatItCan) {
  const auto broken = [](const char* text, std::size_t network) {
    SweepOptions options;
    options.required = {said(text)};
    Pair p(6, 4, 8);  // floors 2 and 4
    Point a = atFloor(p.a), b = atFloor(p.b);
    return ask(options)->brokenByFloor(Design{{&a, &b}}, network).has_value();
  };
  EXPECT_TRUE(broken("net_a.ms <= 1.9", 0));
  EXPECT_TRUE(broken("net_a.ms <= 1.9", 1)) << "the device is out for all";
  EXPECT_FALSE(broken("net_a.ms <= 2", 0));
  EXPECT_TRUE(broken("net_a.ms < 2", 0));
  EXPECT_FALSE(broken("ms <= 3", 0));
  EXPECT_TRUE(broken("ms <= 3", 1));
  EXPECT_TRUE(broken("net_a.cycles <= cores*100000", 0));
  EXPECT_TRUE(broken("ips >= 501", 0));
  EXPECT_FALSE(broken("ips >= 500", 0));
  EXPECT_FALSE(broken("net_a.ms >= 3", 0)) << "it may take longer";
  EXPECT_FALSE(broken("ms*2 <= 1", 0)) << "nobody looks into expressions";
  EXPECT_FALSE(broken("ms <= efficiency", 0));
  EXPECT_FALSE(broken("geomean(ms) <= 1", 0));
}

TEST(Questions, FaultsNameWhatWasMeant) {
  const auto fault = [](auto change) {
    SweepOptions options;
    change(options);
    const auto questions = ask(options);
    return questions ? std::string() : toText(questions.diagnostics());
  };
  EXPECT_EQ(fault([](auto& o) { o.maximized = said("netb.mss"); }),
            "error[SWEEP006] --x: there is no figure 'netb.mss'\n"
            "  what:  networks: net_a, netb\n"
            "  mend:  write 'netb.ms'\n");
  EXPECT_EQ(fault([](auto& o) { o.maximized = said("ips"); }),
            "error[SWEEP006] --x: 'ips' differs from network to network\n"
            "  mend:  write 'net_a.ips' or 'geomean(ips)'\n");
  EXPECT_EQ(fault([](auto& o) { o.where = said("ms < 2"); }),
            "error[SWEEP006] --x: 'ms' is a result\n"
            "  what:  --where says which points are compiled at all\n"
            "  mend:  use it in --require, or a key here\n");
  for (const char* text : {"ms <= 2 <= 3", "ms", "(ms < 2)", "ms < 2 || cores > 3"})
    EXPECT_NE(fault([&](auto& o) { o.required = {said(text)}; }), "") << text;
  for (const char* text : {"geomean(geomean(ms))", "geomean(ms", "ms +", "", "nosuch(ms)", "\"a\""})
    EXPECT_NE(fault([&](auto& o) { o.maximized = said(text); }), "") << text;
}

TEST(Questions, AnswersRankDesignsThatKeepWhatIsRequired) {
  SweepOptions options;
  options.required = {said("netb.ms <= 8")};
  options.minimized = said("largest(ms)*cores");
  const Questions questions = *ask(options);
  const Pair few(2, 2, 9), some(4, 2, 7), many(8, 1, 5);
  const auto found =
      answer(questions, {&few.a, &some.a, &many.a, &few.b, &some.b, &many.b}, {"net-a", "netb"});
  ASSERT_EQ(found.best.size(), 2U);
  EXPECT_EQ(found.designs, 3U);
  EXPECT_EQ(found.best[0].device, "4x1");
  EXPECT_EQ(questions.shown(found.best[0].score), 28);
  EXPECT_EQ(found.best[1].device, "8x1");
}

TEST(Questions, KeysThatVaryTogetherAreNamedOnce) {
  SweepOptions options;
  options.required = {said("ms < 100")};
  Pair slow(4, 2, 9), fast(8, 1, 5);
  for (const auto& [pair, rate] : {std::pair(&slow, 2.0), std::pair(&fast, 4.0)})
    for (Point* p : {&pair->a, &pair->b})
      p->numbers = {{"links.wire", rate}, {"links.core.write", rate}, {"core.memory", rate}};
  const auto found = answer(*ask(options), {&slow.a, &slow.b, &fast.a, &fast.b}, {"net-a", "netb"});
  EXPECT_EQ(found.best.at(1).device, "8x1, links.wire (+1) 4 GB/s, core.memory 4 KiB");
}

TEST(Questions, WhereNoneDoesTheNearestOfThoseThatWereCompiledIsNamed) {
  SweepOptions options;
  options.required = {said("netb.ms <= 2")};
  const Questions questions = *ask(options);
  Pair few(2, 2, 9), many(8, 1, 5);
  many.b.values.erase("ms");
  skip(many.b, "netb.ms <= 2");
  const auto found = answer(questions, {&few.a, &few.b, &many.a, &many.b}, {"net-a", "netb"});
  EXPECT_TRUE(found.best.empty());
  ASSERT_TRUE(found.nearest);
  EXPECT_EQ(found.nearest->device, "2x1") << "what 8x1 would take, nobody knows";
  EXPECT_FALSE(found.nearestByBound);
  EXPECT_DOUBLE_EQ(found.missed.at(0).share, 3.5);
}

TEST(Questions, WhereAllWereSkippedTheNearestBoundIsNamedAsOne) {
  SweepOptions options;
  options.required = {said("netb.ms <= 2")};
  const Questions questions = *ask(options);
  Pair few(2, 2, 9), many(8, 1, 5);
  for (Pair* pair : {&few, &many}) {
    pair->b.values.erase("ms");
    skip(pair->b, "netb.ms <= 2");
  }
  many.b.values["floorMs"] = 2.5;
  few.b.values["floorMs"] = 3.0;
  const auto found = answer(questions, {&few.a, &few.b, &many.a, &many.b}, {"net-a", "netb"});
  ASSERT_TRUE(found.nearest);
  EXPECT_TRUE(found.nearestByBound);
  EXPECT_EQ(found.nearest->device, "8x1");
  EXPECT_DOUBLE_EQ(found.missed.at(0).share, 0.25);
  const std::string text = answerText(found, questions);
  EXPECT_NE(text.find("by bound  8x1"), std::string::npos) << text;
  EXPECT_NE(text.find("2.5 is at least 25 % more than 2"), std::string::npos) << text;
  EXPECT_EQ(text.find("nearest"), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle
