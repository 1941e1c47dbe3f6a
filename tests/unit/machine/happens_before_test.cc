// Programs that move cells about, each right on this device's times; only where something makes
// the second operation wait for the first is it right at any times.
#include <gtest/gtest.h>

#include <string>

#include "program_builder.h"

namespace heddle {
namespace {

using testing::end;
using testing::engine;
using testing::item;
using testing::makeLoad;
using testing::makeReceive;
using testing::makeSend;
using testing::makeWrite;
using testing::makeWriteFm;
using testing::on;
using testing::ProgramBuilder;
using testing::Uses;

constexpr std::int64_t kPart = 64, kLong = 4096;  // bytes; 16 and 1024 cycles
const Engine kIn0 = engine(EngineKind::DdrIn, 0, 0, 0), kIn1 = engine(EngineKind::DdrIn, 0, 0, 1);
const Engine kOut = engine(EngineKind::DdrOut, 0, 0, 0);
const Engine kColumn = engine(EngineKind::Wire, 0, 0), kRow = engine(EngineKind::Wire, 0, 1);

End<Affine> at(std::int64_t address, std::int64_t bytes, Uses acquire = {}, Uses release = {}) {
  return end(address, {{}, bytes}, std::move(acquire), std::move(release));
}
Part<Affine> cells(std::int64_t offset, std::int64_t bytes) {
  return testing::box(TensorId(0), 0, 0, offset / 8, 1, 1, bytes / 8);
}
Item load(std::int64_t offset, std::int64_t bytes, End<Affine> to, std::int64_t from) {
  return item(makeLoad(at(from, bytes), std::move(to), cells(offset, bytes)));
}

struct Moves {
  ProgramBuilder b;
  std::int64_t bytes;  // of the tensor whose cells move

  explicit Moves(std::int64_t all = kLong) : bytes(all) {
    b.input(b.tensor("cells", {1, bytes / 8, 8}, 0));
    b.program.weightsAddress = b.program.ddrBytes = kLong + kPart;
  }
  // The fault's code, or nothing.
  std::string run() const {
    const Result<VerifiedProgram> program = verified(b.program, testing::paperLike(1, 1));
    HEDDLE_CHECK(program) << toText(program.diagnostics());
    const Result<SimulateResult> result = simulateWithData(
        *program, {}, {std::vector<std::int8_t>(static_cast<std::size_t>(bytes), 1)});
    return result ? "" : result.diagnostics().front().code;
  }
};

// A part goes to the memtile, back to another place in DDR, and is loaded from there by a channel
// that is busy until long after it has arrived.
std::string spilledAndLoadedAgain(bool waits) {
  Moves m;
  m.b.lock(testing::memtile(0), 0, 0, kIn0, kOut);
  std::vector<Item> sequencer{item(Start{kIn0}), item(Start{kOut}), item(Start{kIn1})};
  if (waits) sequencer.push_back(item(Wait<Affine>{kOut, 0}));
  sequencer.push_back(item(Start{kIn1}));
  m.b.section(on(EngineKind::Sequencer), std::move(sequencer));
  m.b.section(on(EngineKind::DdrIn, {0, 0, 1, 1}, 0), {load(0, kPart, at(0, kPart, {}, {{0}}), 0)});
  m.b.section(on(EngineKind::DdrIn, {0, 0, 1, 1}, 1),
              {load(0, kLong, at(8192, kLong), 0), load(0, kPart, at(1024, kPart), kLong)});
  m.b.section(on(EngineKind::DdrOut, {0, 0, 1, 1}, 0),
              {item(makeWrite(at(0, kPart, {{0}}), at(kLong, kPart), cells(0, kPart)))});
  return m.run();
}

TEST(HappensBefore, AWaitOrdersWhatTheNextStartReads) {
  EXPECT_EQ(spilledAndLoadedAgain(true), "");
  EXPECT_EQ(spilledAndLoadedAgain(false), "MACH019");
}

// Two wires read one part; the channel that overwrites it is busy until both have long ended.
std::string overwrittenAfterTwoReaders(bool waitsForColumn, bool waitsForRow) {
  Moves m;
  m.b.lock(testing::memtile(0), 0, 0, kIn0, kColumn);
  m.b.lock(testing::memtile(0), 1, 0, kIn0, kRow);
  m.b.lock(testing::memtile(0), 2, 0, kColumn, kIn1);
  m.b.lock(testing::memtile(0), 3, 0, kRow, kIn1);
  m.b.section(on(EngineKind::Sequencer), {item(Start{kIn0}), item(Start{kIn1}), item(Start{kIn1})});
  m.b.section(on(EngineKind::DdrIn, {0, 0, 1, 1}, 0),
              {load(0, kPart, at(0, kPart, {}, {{0}, {1}}), 0)});
  Uses acquire;
  if (waitsForColumn) acquire.push_back({2});
  if (waitsForRow) acquire.push_back({3});
  m.b.section(on(EngineKind::DdrIn, {0, 0, 1, 1}, 1),
              {load(0, kLong, at(8192, kLong), 0), load(64, kPart, at(0, kPart, acquire), 64)});
  const auto wire = [&](std::int32_t number, bool releases) {
    const Uses release = releases ? Uses{{2 + number}} : Uses{};
    m.b.section(on(EngineKind::Wire, {0, number, 1, 1}),
                {item(makeSend(0, at(0, kPart, {{number}}, release), {{0, 0, 1, 1, number}},
                               cells(0, kPart)))});
    m.b.section(on(EngineKind::CoreIn, {0, 0, 1, 1}, number),
                {item(makeReceive(number, at(1024 * number, kPart), cells(0, kPart)))});
  };
  wire(0, waitsForColumn);
  wire(1, waitsForRow);
  return m.run();
}

TEST(HappensBefore, AWriterWaitsForEveryReader) {
  EXPECT_EQ(overwrittenAfterTwoReaders(true, true), "");
  EXPECT_EQ(overwrittenAfterTwoReaders(true, false), "MACH019");
  EXPECT_EQ(overwrittenAfterTwoReaders(false, true), "MACH019");
}

// One wire sends the part twice and releases its lock `releases` times, the first time after the
// first transfer. The writer acquires `acquires` tokens, of which `initial` were there from the
// start.
std::string overwrittenAfterTwoTransfers(bool releasesAfterFirst, std::int64_t acquires,
                                         std::int64_t initial) {
  Moves m;
  m.b.lock(testing::memtile(0), 0, 0, kIn0, kColumn);
  m.b.lock(testing::memtile(0), 1, initial, kColumn, kIn1);
  m.b.section(on(EngineKind::Sequencer), {item(Start{kIn0}), item(Start{kIn1}), item(Start{kIn1})});
  m.b.section(on(EngineKind::DdrIn, {0, 0, 1, 1}, 0), {load(0, kPart, at(0, kPart, {}, {{0}}), 0)});
  m.b.section(
      on(EngineKind::DdrIn, {0, 0, 1, 1}, 1),
      {load(0, kLong, at(8192, kLong), 0), load(64, kPart, at(0, kPart, {{1, acquires}}), 64)});
  const auto send = [&](Uses acquire, Uses release) {
    return item(makeSend(0, at(0, kPart, std::move(acquire), std::move(release)), {{0, 0, 1, 1, 0}},
                         cells(0, kPart)));
  };
  const Uses one{{1}};
  m.b.section(on(EngineKind::Wire),
              {send({{0}}, releasesAfterFirst ? one : Uses{}), send({}, one)});
  const Item receive = item(makeReceive(0, at(0, kPart), cells(0, kPart)));
  m.b.section(on(EngineKind::CoreIn), {receive, receive});
  return m.run();
}

TEST(HappensBefore, ALaterTransferOfAQueueStandsForTheEarlierOnes) {
  EXPECT_EQ(overwrittenAfterTwoTransfers(false, 1, 0), "");
}

// What the core sends back overwrites the part that it was sent, once its receiving channel has let
// it go.
TEST(HappensBefore, AReceiverKnowsThatItsSenderHasRead) {
  Moves m(kPart);
  const Engine receive = engine(EngineKind::CoreIn, 0, 0, 0), send = engine(EngineKind::CoreOut);
  m.b.lock(testing::memtile(0), 0, 0, kIn0, kColumn);
  m.b.lock(testing::core(0, 0), 0, 0, receive, send);
  m.b.section(on(EngineKind::Sequencer), {item(Start{kIn0})});
  m.b.section(on(EngineKind::DdrIn, {0, 0, 1, 1}, 0), {load(0, kPart, at(0, kPart, {}, {{0}}), 0)});
  m.b.section(on(EngineKind::Wire),
              {item(makeSend(0, at(0, kPart, {{0}}), {{0, 0, 1, 1, 0}}, cells(0, kPart)))});
  m.b.section(on(EngineKind::CoreIn),
              {item(makeReceive(0, at(0, kPart, {}, {{0}}), cells(0, kPart)))});
  m.b.section(on(EngineKind::CoreOut),
              {item(makeWriteFm(at(0, kPart, {{0}}), {{0, at(0, kPart)}}, cells(0, kPart)))});
  EXPECT_EQ(m.run(), "");
}

TEST(HappensBefore, TokensToSpareProveNothing) {
  EXPECT_EQ(overwrittenAfterTwoTransfers(true, 2, 0), "");
  EXPECT_EQ(overwrittenAfterTwoTransfers(true, 2, 1), "MACH019");
  EXPECT_EQ(overwrittenAfterTwoTransfers(true, 2, 2), "MACH019");
}

}  // namespace
}  // namespace heddle
