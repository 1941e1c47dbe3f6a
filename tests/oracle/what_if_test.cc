// What a run takes without one of its resources, against sums.
#include "heddle/report/what_if.h"

#include <gtest/gtest.h>

#include "chains.h"

namespace heddle {

void PrintTo(const WhatIf& w, std::ostream* out) {
  *out << name(w.resource) << ' ' << w.cycles.raw();
}

namespace {

using namespace heddle::testing;

TEST(WhatIf, EachStepOfAChainCostsItsOwnCycles) {
  const Chain c = threeSteps();
  EXPECT_EQ(c.cycles(), 100 + 30 + 50);
  const Result<std::vector<WhatIf>> free = whatIf(c.checked());
  ASSERT_TRUE(free) << free.diagnostics();
  const std::vector<WhatIf> expected = {{Resource::Compute, Cycles(100 + 1 + 50)},
                                        {Resource::WeightsWire, Cycles(1 + 30 + 50)},
                                        {Resource::Output, Cycles(100 + 30 + 1)}};
  EXPECT_EQ(*free, expected);
}

TEST(WhatIf, AFreeTransferTakesNoPartInASharedRate) {
  Chain c(paperLike(1, 1));
  c.device.rates.ddrReadTotal = BytesPerSecond{1'000'000'000};
  const Engine a = engine(EngineKind::DdrIn);
  c.section(on(EngineKind::Sequencer), {item(Start{a}), item(Start{a})});
  c.section(on(EngineKind::DdrIn), {Chain::load(400), Chain::load(400)});
  EXPECT_EQ(c.cycles(), 800);
  EXPECT_EQ(*whatIf(c.checked()), (std::vector<WhatIf>{{Resource::DdrRead, Cycles(2)}}));
}

TEST(WhatIf, ALockMayRiseHigherThanInTheRunItself) {
  Chain c(paperLike(1, 1));
  const Engine in = engine(EngineKind::CoreIn), call = engine(EngineKind::Core);
  c.lock(core(0, 0), 0, 0, in, call);
  const auto send = Chain::send(400, {{0, 0, 1, 1, 0}});
  const auto receive = Chain::receive(0, 400, {}, {{0, 1}});
  c.section(on(EngineKind::Wire), {send, send, send});
  c.section(on(EngineKind::CoreIn), {receive, receive, receive});
  c.section(on(EngineKind::Core),
            {c.call(30, {{0, 1}}), c.call(30, {{0, 1}}), c.call(30, {{0, 1}})});
  c.device.limits.lockMaximum = 1;  // enough for records that take 100 cycles each
  EXPECT_EQ(c.cycles(), 3 * 100 + 30);
  const Result<std::vector<WhatIf>> free = whatIf(c.checked());
  ASSERT_TRUE(free) << free.diagnostics();
  EXPECT_EQ(*free, (std::vector<WhatIf>{{Resource::Compute, Cycles(3 * 100 + 1)},
                                        {Resource::WeightsWire, Cycles(1 + 3 * 30)}}));
}

TEST(WhatIf, AProgramThatIsTooLargeToBeSimulatedHasNoAnswer) {
  const Result<std::vector<WhatIf>> free = whatIf(withATooLargeWindow().checked());
  ASSERT_FALSE(free);
  EXPECT_EQ(free.diagnostics()[0].code, "MACH016");
}

}  // namespace
}  // namespace heddle
