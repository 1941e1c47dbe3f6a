#include "../../../src/sweep/point.h"

#include <gtest/gtest.h>

#include <set>

#include "heddle/device/description.h"
#include "heddle/device/keys.h"
#include "heddle/driver/sha256.h"
#include "heddle/planner/fuse.h"

namespace heddle {
namespace {

PointSettings settings() { return {.version = "0.1.0"}; }

// The first digits of the SHA-256 of what makes it, a line each. Were it another one, every sweep
// would be done anew.
TEST(Point, ItsNameIsTheOneOfYesterday) {
  EXPECT_EQ(
      pointOf({"net", "aa"}, "device", settings()).id,
      sha256("heddle.point/1\n0.1.0\nnet\naa\n" + sha256("device") + "\nverify seed=1 effort=1")
          .substr(0, 20));
}

TEST(Point, WhateverMakesItAnotherPointChangesItsName) {
  std::set<std::string> ids;
  const auto add = [&](const Point& point) { EXPECT_TRUE(ids.insert(point.id).second); };
  const auto with = [](auto change) {
    PointSettings s = settings();
    change(s);
    return s;
  };
  add(pointOf({"net", "aa"}, "device", settings()));
  add(pointOf({"other", "aa"}, "device", settings()));
  add(pointOf({"net", "bb"}, "device", settings()));
  add(pointOf({"net", "aa", "half"}, "device", settings()));
  add(pointOf({"net", "aa"}, "other", settings()));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.version = "0.1.1"; })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.verify = false; })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.estimate = true; })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.propagate = false; })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.plan.reorder = false; })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.plan.effort = 0; })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.plan.frames = 2; })));
  add(pointOf({"net", "aa", "none", 2}, "device", settings()));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { readFuse("off", s.plan); })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { readFuse("a..b", s.plan); })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { readFuse("a..b:2", s.plan); })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.seed = 2; })));
  add(pointOf({"net", "aa"}, "device", with([](auto& s) { s.maxCycles = Cycles(5); })));
}

TEST(Point, WhatItsResultDoesNotDependOnDoesNot) {
  PointSettings a = settings(), b = settings();
  a.verify = b.verify = false;
  b.seed = 7;  // of an input that nothing is executed with
  EXPECT_EQ(pointOf({"net", "aa"}, "d", a).id, pointOf({"net", "aa"}, "d", b).id);
  a.estimate = b.estimate = true;
  b.maxCycles = Cycles(5);  // of a simulation that there is not
  EXPECT_EQ(pointOf({"net", "aa"}, "d", a).id, pointOf({"net", "aa"}, "d", b).id);
}

TEST(Point, ItsFileReadsBack) {
  const Result<Device> device = readDevice("paper", {.mesh = std::pair{2, 3}});
  ASSERT_TRUE(device);
  Point point = pointOf({"a \"b\"\n", "aa"}, printDevice(*device), settings());
  addDevice(point, *device);
  point.values["ms"] = 0.1;
  refuse(point,
         {"MEM001", "layer 'x'", "it does not fit", "8 B", "take less", Severity::DoesNotFit});
  const std::string text = pointJson(point);
  const Result<Point> again = parsePoint(text, "p.json");
  ASSERT_TRUE(again) << toText(again.diagnostics());
  EXPECT_EQ(pointJson(*again), text);
  EXPECT_EQ(again->numbers, point.numbers);
  EXPECT_EQ(again->values, point.values);
  EXPECT_EQ(again->status(), "refused");
  EXPECT_EQ(again->reason->mend, "take less");
  EXPECT_EQ(numberIn(again->values, "cols"), 3);
  EXPECT_EQ(numberIn(again->values, "ddrTotalGBps"), 2 * 3 * 2 * 4);
}

TEST(Point, StatusFollowsFromTheFault) {
  const auto status = [](const char* code, Severity severity) {
    Point point;
    refuse(point, {code, "", "", "", "", severity});
    return point.status();
  };
  EXPECT_EQ(status("PLAN001", Severity::DoesNotFit), "refused");
  EXPECT_EQ(status("MACH014", Severity::DoesNotFit), "limit");
  EXPECT_EQ(status("DEV005", Severity::Usage), "failed");
  EXPECT_EQ(status("BUG001", Severity::Bug), "failed");
}

TEST(Point, AFileThatIsNoneSaysSo) {
  Point point = pointOf({"net", "aa"}, "device", settings());
  const std::string good = [&] {
    skip(point, "ms < 1");
    return pointJson(point);
  }();
  EXPECT_TRUE(parsePoint(good, "p"));
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), good.substr(0, good.size() / 2),
        std::string(R"({"format":"heddle.point/2"})"), std::string(R"({"format":1})"),
        std::string(good).replace(good.find(point.id), point.id.size(), "../x")}) {
    const Result<Point> read = parsePoint(text, "p");
    ASSERT_FALSE(read);
    EXPECT_EQ(read.diagnostics().front().code, "SWEEP010");
  }
  for (std::size_t i = 0; i < good.size(); i += 7)  // no byte of it brings the reader down
    (void)parsePoint(good.substr(0, i) + "\"" + good.substr(i + 1), "p");
}

TEST(Point, KeysHaveOneUnitEach) {
  const Result<Device> device =
      readDevice("paper", {.settings = {{"links.wire", "1500MB/s"}, {"core.memory", "96KiB"}}});
  ASSERT_TRUE(device);
  const auto number = [&](const std::string& key) {
    for (const DeviceNumber& one : numbersOf(*device))
      if (one.key == key) return one.number;
    return std::optional<double>(-1);
  };
  EXPECT_EQ(number("links.wire"), 1.5);
  EXPECT_EQ(number("core.memory"), 96);
  EXPECT_EQ(number("core.writeMulticast"), 0);
  EXPECT_EQ(number("limits.lockMaximum"), std::nullopt);
  EXPECT_EQ(unitOf("links.wire"), "GB/s");
  EXPECT_EQ(unitOf("memtile.memory"), "KiB");
  EXPECT_EQ(unitOf("clock"), "GHz");
  EXPECT_EQ(unitOf("locks.acquire"), "cycles");
  EXPECT_EQ(unitOf("rows"), "");
  EXPECT_EQ(unitOf("wire"), std::nullopt);
}

// A device again from its description and the numbers that a point holds.
TEST(Point, ItsNumbersSetTheSameDevice) {
  for (const char* name : {"paper", "switched"}) {
    const Result<Device> device =
        readDevice(name, {.mesh = std::pair{3, 2},
                          .settings = {{"links.wire", "1234567891B/s"},
                                       {"core.writeMulticast", "true"},
                                       {"core.memory", "65600B"},
                                       {"clock", "1234567kHz"},
                                       {"limits.lockMaximum", "unlimited"},
                                       {"links.ddr.readTotal", "7GB/s"},
                                       {"core.callOverhead", "0cycles"}}});
    ASSERT_TRUE(device) << toText(device.diagnostics());
    const Result<Device> again =
        readDevice(name, {.mesh = std::pair{3, 2}, .settings = settingsOf(numbersOf(*device))});
    ASSERT_TRUE(again) << toText(again.diagnostics());
    EXPECT_EQ(*again, *device);
  }
  EXPECT_TRUE(settingsOf({{"rows", 3},
                          {"no.such.key", 1},
                          {"core.banks", std::nullopt},
                          {"core.memory", 1e300},
                          {"clock", -1}})
                  .empty());
}

TEST(Point, RatesAndTimesSayOnlyTimes) {
  for (const char* key : {"links.wire", "links.ddr.readTotal", "clock", "core.macsPerCycle",
                          "core.vectorBytesPerCycle", "core.callOverhead", "locks.acquire"})
    EXPECT_TRUE(saysOnlyTimes(key)) << key;
  for (const char* key : {"rows", "core.memory", "core.banks", "core.pixelStep", "core.channelsIn",
                          "core.writeMulticast", "limits.lockMaximum", "wire"})
    EXPECT_FALSE(saysOnlyTimes(key)) << key;
}

TEST(Point, ADescriptionReadOnceMakesTheSameDevices) {
  const Result<DeviceDescription> description = DeviceDescription::read("switched");
  ASSERT_TRUE(description);
  for (const DeviceOverrides& overrides :
       {DeviceOverrides{}, DeviceOverrides{.mesh = std::pair{5, 2}},
        DeviceOverrides{.mesh = std::pair{1, 7}, .settings = {{"links.wire", "1GB/s"}}}})
    EXPECT_EQ(*description->device(overrides), *readDevice("switched", overrides));
  EXPECT_FALSE(description->device({.settings = {{"links.wires", "1GB/s"}}}));
  EXPECT_TRUE(description->device());  // a fault of one is none of the next
}

}  // namespace
}  // namespace heddle
