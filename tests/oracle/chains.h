// Programs whose time is a formula: instructions that only wait, chained by locks. Time only, so
// what the bytes are does not matter: transfers carry weights, calls look up tables. Where a test
// says a byte a cell of 8 bytes moves, on a device with an eighth of the clock: memories are
// addressed in cells.
#pragma once
#include "../unit/machine/transfers.h"
#include "program_builder.h"

namespace heddle::testing {

class Chain : public ProgramBuilder {
 public:
  explicit Chain(Device d) : device(std::move(d)) {
    for (std::int64_t i = 0; i < kLongest; ++i) {
      program.records.push_back({program.weightsBytes, kBlock * (i + 1), 0});
      program.weightsBytes += kBlock * (i + 1);
    }
    program.ddrBytes = program.weightsBytes;
    // Writes carry rows of two cells for each byte: they go at twice the rate.
    for (BytesPerSecond* rate : {&device.rates.ddrWrite, &device.rates.coreWrite,
                                 &device.rates.memtileRead, &device.rates.memtileWrite})
      rate->raw *= 2;
    row_ = tensor("row", {1, 4096, 8}, {});
  }

  // Transfers of `bytes`, up to 4 KiB; 4 B a cycle.
  static Item load(std::int64_t bytes, Uses release = {}) {
    return item(makeLoad({}, recordEnd(0, {}, std::move(release)), recordPart(bytes - 1)));
  }
  static Item write(std::int64_t bytes, Uses acquire = {}) {
    return item(makeWrite(end(0, {{}, 2 * kBlock * bytes}, std::move(acquire)),
                          end(0, {{}, 2 * kBlock * bytes}), cells(2 * bytes)));
  }
  static Item send(std::int64_t bytes, std::vector<SendTo<Affine>> to, Uses acquire = {},
                   Uses release = {}) {
    return item(makeSend(0, recordEnd(0, std::move(acquire), std::move(release)), std::move(to),
                         recordPart(bytes - 1)));
  }
  static Item receive(std::int64_t wire, std::int64_t bytes, Uses acquire = {}, Uses release = {}) {
    return item(makeReceive(wire, recordEnd(0, std::move(acquire), std::move(release)),
                            recordPart(bytes - 1)));
  }
  static Item writeFm(std::int64_t bytes, Uses acquire = {}, Uses release = {},
                      Uses memtileRelease = {}) {
    return item(makeWriteFm(
        end(0, {{}, 2 * kBlock * bytes}, std::move(acquire), std::move(release)),
        {{0, end(0, {{}, 2 * kBlock * bytes}, {}, std::move(memtileRelease))}}, cells(2 * bytes)));
  }
  // A call of `cycles` cycles: a table over 8 pixels for each.
  Item call(std::int64_t cycles, Uses acquire = {}, Uses release = {}) {
    Kernel k;
    k.op = OpKind::Table;
    k.outputColumns = k.tensorWidth = 8 * cycles;
    Call<Affine> c;
    c.kernel = kernel(k);
    RowRing<Affine> ring;
    ring.tensor = row_;
    ring.columns = 8 * cycles;
    ring.rowBytes = 64 * cycles;
    c.inputs = {ring};
    c.weights = Address<Affine>{0, {}, 0, 1};
    c.record = 256 / kBlock - 1;
    c.output = Address<Affine>{0, {}, 0, 1};
    c.part = box(row_, 0, 0, 0, 1, 1, 8 * cycles);
    c.acquire = std::move(acquire);
    c.release = std::move(release);
    return item(c);
  }

  VerifiedProgram checked() const {
    Device slower = device;
    slower.clock.raw /= kBlock;
    const Result<VerifiedProgram> result = verified(program, slower);
    HEDDLE_CHECK(result) << toText(result.diagnostics());
    return *result;
  }
  Result<SimulateResult> run() const { return simulateTime(checked()); }
  std::int64_t cycles() const {
    const Result<SimulateResult> result = run();
    HEDDLE_CHECK(static_cast<bool>(result)) << toText(result.diagnostics());
    return result->timeline.makespan.raw();
  }

  Device device;

 private:
  static constexpr std::int64_t kLongest = 4096;

  static Part<Affine> cells(std::int64_t count) { return box(TensorId(0), 0, 0, 0, 1, 1, count); }

  TensorId row_;
};

inline const std::vector<SpanSlice>& slicesOf(const SimulateResult& result, const Engine& engine) {
  for (const Track& track : result.timeline.tracks)
    if (track.engine == engine) return track.slices;
  HEDDLE_CHECK(false) << "no such track";
  return result.timeline.tracks[0].slices;
}

// Weights come in for 100 cycles, are computed with for 30, the result leaves for 50.
inline Chain threeSteps() {
  Chain c(paperLike(1, 1));
  const Engine in = engine(EngineKind::CoreIn), call = engine(EngineKind::Core),
               out = engine(EngineKind::CoreOut);
  c.lock(core(0, 0), 0, 0, in, call);
  c.lock(core(0, 0), 1, 0, call, out);
  c.section(on(EngineKind::Wire), {Chain::send(400, {{0, 0, 1, 1, 0}})});
  c.section(on(EngineKind::CoreIn), {Chain::receive(0, 400, {}, {{0, 1}})});
  c.section(on(EngineKind::Core), {c.call(30, {{0, 1}}, {{1, 1}})});
  c.section(on(EngineKind::CoreOut), {Chain::writeFm(200, {{1, 1}})});
  return c;
}

// The same, with a kernel of more cells than a call may look at.
inline Chain withATooLargeWindow() {
  Chain c = threeSteps();
  Kernel k;
  k.op = OpKind::MaxPool;
  k.window.strideX = 1 << 19;
  k.outputColumns = 16;
  c.kernel(k);
  return c;
}

}  // namespace heddle::testing
