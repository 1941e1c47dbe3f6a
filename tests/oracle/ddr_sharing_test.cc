// DDR channels that share one rate in equal parts: exact ends, whatever starts and ends in between.
#include <gtest/gtest.h>

#include "chains.h"

namespace heddle {
namespace {

using namespace heddle::testing;

// of memtile 1.
// Both channels of memtile 0 load at once.
Chain twoLoads(std::int64_t first, std::int64_t second, std::int64_t total) {
  Chain c(paperLike(1, 1));
  c.device.rates.ddrReadTotal = BytesPerSecond{total};
  const Engine a = engine(EngineKind::DdrIn), b = engine(EngineKind::DdrIn, 0, 0, 1);
  c.section(on(EngineKind::Sequencer), {item(Start{a}), item(Start{b})});
  c.section(on(EngineKind::DdrIn), {Chain::load(first)});
  c.section(on(EngineKind::DdrIn, {0, 0, 1, 1}, 1), {Chain::load(second)});
  return c;
}

TEST(DdrSharing, TwoEqualLoadsTakeTwiceAsLong) {
  EXPECT_EQ(twoLoads(400, 400, 4'000'000'000).cycles(), 200);
}

TEST(DdrSharing, WhoIsLeftAloneGetsTheWholeRate) {
  const Result<SimulateResult> result = twoLoads(200, 400, 4'000'000'000).run();
  ASSERT_TRUE(result) << result.diagnostics();
  EXPECT_EQ(slicesOf(*result, engine(EngineKind::DdrIn))[0].end, 100);           // 2 B a cycle
  EXPECT_EQ(slicesOf(*result, engine(EngineKind::DdrIn, 0, 0, 1))[0].end, 150);  // then 4 B a cycle
}

TEST(DdrSharing, EqualPartsNeverExceedAChannelsOwnRate) {
  EXPECT_EQ(twoLoads(400, 400, 8'000'000'000).cycles(), 100);
  EXPECT_EQ(twoLoads(400, 400, 80'000'000'000).cycles(), 100);
}

// One starts at 50, when the other has moved 200 of its 400 bytes.
TEST(DdrSharing, AStartSlowsWhatRuns) {
  Chain c(paperLike(1, 2));
  c.device.rates.ddrReadTotal = BytesPerSecond{4'000'000'000};
  const Engine a = engine(EngineKind::DdrIn), b = engine(EngineKind::DdrIn, 0, 1),
               out = engine(EngineKind::DdrOut);
  c.section(on(EngineKind::Sequencer),
            {item(Start{out}), item(Start{a}), item(Wait<Affine>{out, 0}), item(Start{b})});
  c.section(on(EngineKind::DdrOut), {Chain::write(200)});  // writes share nothing with reads
  c.section(on(EngineKind::DdrIn, {0, 0, 1, 2}), {Chain::load(400)});
  const Result<SimulateResult> result = c.run();
  ASSERT_TRUE(result) << result.diagnostics();
  EXPECT_EQ(slicesOf(*result, b)[0].start, 50);
  EXPECT_EQ(slicesOf(*result, a)[0].end, 150);
  EXPECT_EQ(slicesOf(*result, b)[0].end, 200);
}

// Thirds of a byte a cycle: three loads of 100 B at 1 B a cycle in all end together after 300
// cycles, not a cycle later.
TEST(DdrSharing, PartsOfAByteAreExact) {
  Chain c(paperLike(1, 3));
  c.device.rates.ddrReadTotal = BytesPerSecond{1'000'000'000};
  std::vector<Item> host;
  for (std::int32_t column = 0; column < 3; ++column)
    host.push_back(item(Start{engine(EngineKind::DdrIn, 0, column)}));
  c.section(on(EngineKind::Sequencer), host);
  c.section(on(EngineKind::DdrIn, {0, 0, 1, 3}), {Chain::load(100)});
  EXPECT_EQ(c.cycles(), 300);
}

TEST(DdrSharing, LockLatencyComesOnTop) {
  Chain c(paperLike(1, 1));
  c.device.lockAcquire = Cycles(7);
  c.device.rates.ddrWriteTotal = BytesPerSecond{4'000'000'000};
  const Engine out = engine(EngineKind::DdrOut), writer = engine(EngineKind::CoreOut);
  c.lock(memtile(0), 0, 0, writer, out);
  c.section(on(EngineKind::Sequencer), {item(Start{out})});
  c.section(on(EngineKind::CoreOut), {Chain::writeFm(4, {}, {}, {{0, 1}})});
  c.section(on(EngineKind::DdrOut), {Chain::write(40, {{0, 1}})});
  EXPECT_EQ(c.cycles(), 1 + 20 + 7);
}

}  // namespace
}  // namespace heddle
