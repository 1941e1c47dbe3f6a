// One transfer, one call, ping-pong, chains of locks: the Machine's time is the formula's.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "chains.h"

namespace heddle {
namespace {

using namespace heddle::testing;

TEST(MachineTime, ATransferTakesItsBytesAtTheRateOfItsSlowestEnd) {
  for (const std::int64_t bytes : {1, 3, 4, 5, 4096}) {
    Chain c(paperLike(1, 1));
    c.section(on(EngineKind::Sequencer), {item(Start{engine(EngineKind::DdrIn)})});
    c.section(on(EngineKind::DdrIn), {Chain::load(bytes)});
    EXPECT_EQ(c.cycles(), divideRoundUp(bytes, 4));
    c.device.rates.memtileWrite = {3'000'000'000};
    EXPECT_EQ(c.cycles(), divideRoundUp(bytes, 3));
    c.device.clock = {1'250'000'000};  // 2.4 B a cycle
    EXPECT_EQ(c.cycles(), divideRoundUp(bytes * 5, 12));
  }
}

TEST(MachineTime, AMulticastTakesTheTimeOfOneTransferAndStartsWithItsLastReceiver) {
  Chain c(paperLike(3, 1));
  c.section(on(EngineKind::Wire), {Chain::send(400, {{0, 0, 3, 1, 0}})});
  for (std::int32_t row = 0; row < 3; ++row) {
    c.section(on(EngineKind::CoreIn, {row, 0, 1, 1}), {Chain::receive(0, 400, {{0, 1}})});
    c.section(on(EngineKind::Core, {row, 0, 1, 1}), {c.call(10 * (row + 1), {}, {{0, 1}})});
    c.lock(core(row, 0), 0, 0, engine(EngineKind::Core, row, 0),
           engine(EngineKind::CoreIn, row, 0));
  }
  EXPECT_EQ(c.cycles(), 30 + 100);
  const Result<SimulateResult> result = c.run();
  const SpanSlice& wire = slicesOf(*result, engine(EngineKind::Wire))[0];
  EXPECT_EQ(wire.start, 30);
  EXPECT_EQ(wire.wait, WaitKind::Lock);
  EXPECT_EQ(result->traffic.memtileToCore, Bytes(8 * 400));
}

TEST(MachineTime, ConvTakesAnEighthOfACycleForAPixelOfABlockPair) {
  for (const std::int64_t step : {1, 4}) {
    Chain c(paperLike(1, 1));
    c.device.core.pixelStep = step;
    c.device.core.callOverhead = Cycles(5);
    Kernel k;
    k.op = OpKind::Conv;
    k.window = {3, 3, 1, 1, 1, 1, 0, 0, 0, 0};
    k.inputBlocks = 3;
    k.outputBlocks = 2;
    k.outputColumns = 7;
    k.tensorHeight = 3;
    k.tensorWidth = 9;
    Call<Affine> call;
    call.kernel = c.kernel(k);
    const TensorId in = c.tensor("in", {3, 9, 24}, {}), out = c.tensor("out", {1, 7, 16}, {});
    RowRing<Affine> ring;
    ring.tensor = in;
    ring.length = 3;
    ring.columns = 9;
    ring.blocks = 3;
    ring.rowBytes = 216;
    call.inputs = {ring};
    c.program.records = {{0, 8 + 5 * 9 * 64 + 16 * 9, 5}};  // one block of six is zero
    call.weights = Address<Affine>{4096, {}, 0, 1};
    call.output = Address<Affine>{1024, {}, 0, 1};
    call.part = box(out, 0, 0, 0, 1, 2, 7);
    c.section(on(EngineKind::Core), {item(call)});
    EXPECT_EQ(c.cycles(), divideRoundUp(5 * 9 * roundUpTo(7, step) * 64, 256) + 5);
    EXPECT_EQ(c.run()->macs, 5 * 9 * 7 * 64);
  }
}

// n rows through `slots` places between a channel (t cycles a row) and a core (k cycles a row).
std::int64_t pingPong(std::int64_t n, std::int64_t slots, std::int64_t t, std::int64_t k) {
  Chain c(paperLike(1, 1));
  c.section(on(EngineKind::Wire), {loop(n, {Chain::send(4 * t, {{0, 0, 1, 1, 0}})})});
  c.section(on(EngineKind::CoreIn), {loop(n, {Chain::receive(0, 4 * t, {{0, 1}}, {{1, 1}})})});
  c.section(on(EngineKind::Core), {loop(n, {c.call(k, {{1, 1}}, {{0, 1}})})});
  c.lock(core(0, 0), 0, slots, engine(EngineKind::Core), engine(EngineKind::CoreIn));
  c.lock(core(0, 0), 1, 0, engine(EngineKind::CoreIn), engine(EngineKind::Core));
  return c.cycles();
}

TEST(MachineTime, PingPongHidesTheShorterOfTransferAndCall) {
  for (const auto& [t, k] :
       {std::pair<std::int64_t, std::int64_t>{10, 7}, {7, 10}, {10, 10}, {1, 30}}) {
    EXPECT_EQ(pingPong(9, 2, t, k), t + 8 * std::max(t, k) + k);
    EXPECT_EQ(pingPong(9, 1, t, k), 9 * (t + k));
    EXPECT_EQ(pingPong(1, 1, t, k), t + k);
  }
}

TEST(MachineTime, AChainOfStagesIsItsSumAndThenItsSlowest) {
  constexpr std::int64_t n = 6;
  const std::int64_t stages[] = {11, 17, 5, 13,
                                 3};  // load, send, call, write to memtile, write to DDR
  Chain c(paperLike(1, 1));
  const Engine ddrIn = engine(EngineKind::DdrIn), wire = engine(EngineKind::Wire),
               in = engine(EngineKind::CoreIn);
  const Engine kernel = engine(EngineKind::Core), out = engine(EngineKind::CoreOut),
               ddrOut = engine(EngineKind::DdrOut);
  c.lock(memtile(0), 0, 0, ddrIn, wire);
  c.lock(core(0, 0), 0, 0, in, kernel);
  c.lock(core(0, 0), 1, 0, kernel, out);
  c.lock(memtile(0), 1, 0, out, ddrOut);
  c.section(on(EngineKind::Sequencer),
            {item(Start{ddrIn}), item(Start{ddrOut}), item(Wait<Affine>{ddrOut, 0})});
  c.section(on(EngineKind::DdrIn), {loop(n, {Chain::load(4 * stages[0], {{0, 1}})})});
  c.section(on(EngineKind::Wire),
            {loop(n, {Chain::send(4 * stages[1], {{0, 0, 1, 1, 0}}, {{0, 1}})})});
  c.section(on(EngineKind::CoreIn), {loop(n, {Chain::receive(0, 4 * stages[1], {}, {{0, 1}})})});
  c.section(on(EngineKind::Core), {loop(n, {c.call(stages[2], {{0, 1}}, {{1, 1}})})});
  c.section(on(EngineKind::CoreOut),
            {loop(n, {Chain::writeFm(4 * stages[3], {{1, 1}}, {}, {{1, 1}})})});
  c.section(on(EngineKind::DdrOut), {loop(n, {Chain::write(4 * stages[4], {{1, 1}})})});
  const std::int64_t sum = std::accumulate(std::begin(stages), std::end(stages), std::int64_t{0});
  EXPECT_EQ(c.cycles(), sum + (n - 1) * *std::max_element(std::begin(stages), std::end(stages)));

  const Result<SimulateResult> result = c.run();
  const SpanSlice& wait = slicesOf(*result, engine(EngineKind::Sequencer))[2];
  EXPECT_EQ(wait.start, result->timeline.makespan.raw());
  EXPECT_EQ(wait.wait, WaitKind::DdrEntry);
  EXPECT_EQ(wait.cause, (SliceRef{2, n - 1}));  // tracks: sequencer, DDR in, DDR out, ...
}

// A lock is released at cycle 20. Who comes at 19 waits one cycle; who comes at 20 or 21 does not
// wait.
TEST(MachineTime, ALockBlocksUntilTheCycleOfItsReleaseAndNoLonger) {
  for (const std::int64_t arrival : {19, 20, 21}) {
    Chain c(paperLike(1, 1));
    c.section(on(EngineKind::Core), {c.call(20, {}, {{0, 1}})});
    c.section(on(EngineKind::CoreOut), {Chain::writeFm(4 * arrival), Chain::writeFm(4, {{0, 1}})});
    c.lock(core(0, 0), 0, 0, engine(EngineKind::Core), engine(EngineKind::CoreOut));
    const Result<SimulateResult> result = c.run();
    ASSERT_TRUE(result) << result.diagnostics();
    const SpanSlice& slice = slicesOf(*result, engine(EngineKind::CoreOut))[1];
    EXPECT_EQ(slice.ready, arrival);
    EXPECT_EQ(slice.start, std::max<std::int64_t>(arrival, 20));
    EXPECT_EQ(slice.end, slice.start + 1);
    EXPECT_EQ(slice.wait, arrival == 19 ? WaitKind::Lock : WaitKind::None);
    EXPECT_EQ(slice.lock, arrival == 19 ? 0 : -1);
    EXPECT_EQ(slice.cause, arrival == 19 ? (SliceRef{0, 0}) : SliceRef{});
  }
}

TEST(MachineTime, APartnerThatComesLaterIsNamedAsTheCause) {
  Chain c(paperLike(1, 1));
  c.section(on(EngineKind::Wire),
            {Chain::send(40, {{0, 0, 1, 1, 0}}), Chain::send(80, {{0, 0, 1, 1, 1}})});
  c.section(on(EngineKind::CoreIn, {0, 0, 1, 1}, 0), {Chain::receive(0, 40)});
  c.section(on(EngineKind::CoreIn, {0, 0, 1, 1}, 1), {Chain::receive(0, 80)});
  const Result<SimulateResult> result = c.run();
  ASSERT_TRUE(result) << result.diagnostics();
  const SpanSlice& second = slicesOf(*result, engine(EngineKind::CoreIn, 0, 0, 1))[0];
  EXPECT_EQ(second.ready, 0);
  EXPECT_EQ(second.start, 10);
  EXPECT_EQ(second.wait, WaitKind::Partner);
  EXPECT_EQ(second.cause, (SliceRef{0, 0}));  // the wire's transfer to the other channel
}

TEST(MachineTime, LockLatencyIsAddedToWhoAcquires) {
  Chain c(paperLike(1, 1));
  c.device.lockAcquire = Cycles(4);
  c.section(on(EngineKind::Core), {c.call(20, {}, {{0, 1}})});
  c.section(on(EngineKind::CoreOut), {Chain::writeFm(40, {{0, 1}}), Chain::writeFm(40)});
  c.lock(core(0, 0), 0, 0, engine(EngineKind::Core), engine(EngineKind::CoreOut));
  EXPECT_EQ(c.cycles(), 20 + (4 + 10) + 10);
}

// START lets one entry run, a loop counting as one; WAIT n ends with entry n.
TEST(MachineTime, TheSequencerOrdersEntries) {
  Chain c(paperLike(1, 1));
  const Engine channel = engine(EngineKind::DdrIn), other = engine(EngineKind::DdrIn, 0, 0, 1);
  c.section(on(EngineKind::Sequencer),
            {item(Start{channel}), item(Wait<Affine>{channel, 0}), item(Start{other}),
             item(Wait<Affine>{other, 0}), item(Start{channel}), item(Wait<Affine>{channel, 1})});
  c.section(on(EngineKind::DdrIn), {loop(3, {Chain::load(40), Chain::load(4)}), Chain::load(80)});
  c.section(on(EngineKind::DdrIn, {0, 0, 1, 1}, 1), {Chain::load(120)});
  const Result<SimulateResult> result = c.run();
  ASSERT_TRUE(result) << result.diagnostics();
  EXPECT_EQ(result->timeline.makespan, Cycles(3 * 11 + 30 + 20));
  EXPECT_EQ(slicesOf(*result, other)[0].start, 33);
  const SpanSlice& last = slicesOf(*result, channel)[6];
  EXPECT_EQ(last.ready, 33);
  EXPECT_EQ(last.start, 63);
  EXPECT_EQ(last.wait, WaitKind::Start);
  EXPECT_EQ(last.cause, (SliceRef{0, 4}));
}

TEST(MachineTime, AnEmptyProgramTakesNoTime) { EXPECT_EQ(Chain(paperLike(2, 3)).cycles(), 0); }

}  // namespace
}  // namespace heddle
