// What a run takes with keys of its device at twice their values, against sums.
#include "heddle/report/raised_keys.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "chains.h"

namespace heddle {
namespace {

using namespace heddle::testing;

// Where the memtile reads as fast as the wire carries.
Chain inAndOut() {
  Chain c = threeSteps();
  c.device.rates.memtileRead = c.device.rates.wire;
  return c;
}

// "links.wire 4 GB/s -> 8 GB/s: 180, held by links.memtile.read", one for each answer.
std::vector<std::string> answers(const Chain& c) {
  const Result<std::vector<RaisedKeys>> keys = raiseKeys(c.checked(), Cycles(c.cycles()));
  EXPECT_TRUE(keys) << keys.diagnostics();
  std::vector<std::string> all;
  for (const RaisedKeys& raised : *keys) {
    std::string text;
    for (const RaisedKey& key : raised.keys)
      text += (text.empty() ? "" : " and ") + key.key + " " + key.from + " -> " + key.to;
    text += ": " + std::to_string(raised.cycles.raw());
    for (const std::string& key : raised.heldBy) text += ", held by " + key;
    all.push_back(text);
  }
  return all;
}

TEST(RaiseKeys, OfTwoThatAreAsSmallOneAloneGainsNothing) {
  const Chain c = inAndOut();
  ASSERT_EQ(c.cycles(), 100 + 30 + 50);
  EXPECT_EQ(answers(c),
            (std::vector<std::string>{
                "links.wire 4 GB/s -> 8 GB/s and links.memtile.read 4 GB/s -> 8 GB/s: 130",
                "links.core.write 8 GB/s -> 16 GB/s and links.memtile.write 8 GB/s -> 16 GB/s: 155",
                "core.vectorBytesPerCycle 64 B/cycle -> 128 B/cycle: 165",
                "links.wire 4 GB/s -> 8 GB/s: 180, held by links.memtile.read",
                "links.memtile.read 4 GB/s -> 8 GB/s: 180, held by links.wire",
                "links.core.write 8 GB/s -> 16 GB/s: 180, held by links.memtile.write",
                "links.memtile.write 8 GB/s -> 16 GB/s: 180, held by links.core.write"}));
}

TEST(RaiseKeys, TheSmallerOfTwoGainsAlone) {
  Chain c = inAndOut();
  c.device.rates.wire = BytesPerSecond{2'000'000'000};
  c.device.rates.coreWrite = BytesPerSecond{6'000'000'000};
  ASSERT_EQ(c.cycles(), 200 + 30 + 67);
  EXPECT_EQ(answers(c),
            (std::vector<std::string>{
                "links.wire 2 GB/s -> 4 GB/s: 197",
                // Alone it would come to the other's 8 GB/s.
                "links.core.write 6 GB/s -> 12 GB/s and links.memtile.write 8 GB/s -> 16 GB/s: 264",
                "links.core.write 6 GB/s -> 12 GB/s: 280",
                "core.vectorBytesPerCycle 64 B/cycle -> 128 B/cycle: 282",
                "links.memtile.read 4 GB/s -> 8 GB/s: 297, held by links.wire",
                "links.memtile.write 8 GB/s -> 16 GB/s: 297, held by links.core.write"}));
}

TEST(RaiseKeys, TimesAreHalved) {
  Chain c = inAndOut();
  c.device.lockAcquire = Cycles(10);  // of the call and of the write
  c.device.core.callOverhead = Cycles(8);
  const std::int64_t cycles = c.cycles();
  std::vector<std::string> all = answers(c);
  EXPECT_NE(std::ranges::find(
                all, "locks.acquire 10 cycles -> 5 cycles: " + std::to_string(cycles - 2 * 5)),
            all.end());
  EXPECT_NE(std::ranges::find(
                all, "core.callOverhead 8 cycles -> 4 cycles: " + std::to_string(cycles - 4)),
            all.end());
}

TEST(RaiseKeys, AProgramThatIsTooLargeToBeSimulatedHasNoAnswer) {
  const Result<std::vector<RaisedKeys>> keys =
      raiseKeys(withATooLargeWindow().checked(), Cycles(180));
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.diagnostics()[0].code, "MACH016");
}

}  // namespace
}  // namespace heddle
