// The convolution that docs/asm.md works through: 3x3, pad 1, 16x16x16 -> 16x16x32 on 2x2 cores.
// Column c owns pixels x = 8c..8c+7, row r channels 16r..16r+15; rows stream through a ring of 4,
// halo pixels come from the neighbour's memtile, weights stay in the core. Every number below is a
// formula of the layer, none is taken from a generator.
#pragma once
#include <random>

#include "program_builder.h"

namespace heddle::testing {

struct WorkedConvolution {
  // Instructions in Program order, for tests that break one.
  enum Leaf {
    FirstStart = 0,
    FirstWait = 8,
    LoadRow = 12,
    LoadWeights,
    WriteRow0,
    WriteRow1,
    SendMain,
    SendHalo,
    SendWeights,
    ReceiveMain,
    ReceiveHalo,
    ReceiveWeights,
    Head,
    Body,
    Tail,
    WriteFmRow
  };

  static constexpr std::int64_t kRecord =
      16 + 8 + 2 * 2 * 9 * 64 + 16 * 9;                                // zeros, gamma, blocks, tail
  static constexpr std::int64_t kOutputAt = 8192, kWeightsAt = 16384;  // DDR; the input lies at 0

  Device device = paperLike(2, 2);
  ProgramBuilder b;
  WeightImage image;
  std::vector<std::int8_t> input;    // Y, X, C
  std::vector<std::int8_t> weights;  // COUT x KY x KX x CIN
  std::vector<std::int32_t> bias;
  std::vector<Multiplier> multiplier;
  TensorId in, out;

  explicit WorkedConvolution(std::uint32_t seed = 1) {
    makeNumbers(seed);
    makeImage();
    in = b.tensor("in", {16, 16, 16}, 0);
    out = b.tensor("out", {16, 16, 32}, kOutputAt);
    b.input(in);
    b.output(out);
    b.weights(kWeightsAt, image);
    b.program.records = {{0, kRecord, 4}, {kRecord, kRecord, 4}};
    makeLocks();
    makeDdr();
    makeWires();
    makeCores();
  }

  template <class I>
  I& leaf(Leaf which) {
    return std::get<I>(instructionAt(b.program, which).as);
  }
  Result<SimulateResult> run(const SimulateOptions& options = {}) const {
    const Result<VerifiedProgram> program = verified(b.program, device);
    if (!program) return program.diagnostics();
    return simulateWithData(*program, image, {input}, options);
  }
  Result<SimulateResult> time(const SimulateOptions& options = {}) const {
    const Result<VerifiedProgram> program = verified(b.program, device);
    if (!program) return program.diagnostics();
    return simulateTime(*program, options);
  }

  // Blocked output, Y, C/8, X, 8, by the plain formula.
  std::vector<std::int8_t> expected() const {
    std::vector<std::int8_t> bytes(16 * 16 * 32);
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x)
        for (int k = 0; k < 32; ++k) {
          std::int64_t sum = bias[k];
          for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx)
              for (int c = 0; c < 16; ++c) {
                const int iy = y + ky - 1, ix = x + kx - 1;
                const bool inside = iy >= 0 && iy < 16 && ix >= 0 && ix < 16;
                const int value = inside ? input[(iy * 16 + ix) * 16 + c] : 3;
                sum += value * (weights[((k * 3 + ky) * 3 + kx) * 16 + c] - weightZero(k));
              }
          const std::int64_t scaled =
              applyMultiplier(static_cast<std::int32_t>(sum), multiplier[k]);
          bytes[((y * 4 + k / 8) * 16 + x) * 8 + k % 8] = saturate(scaled - 5);
        }
    return bytes;
  }

 private:
  static int weightZero(int k) { return k % 5 - 2; }

  void makeNumbers(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto byte = [&] {
      return static_cast<std::int8_t>(static_cast<int>(random() % 256) - 128);
    };
    for (int i = 0; i < 16 * 16 * 16; ++i) input.push_back(byte());
    for (int i = 0; i < 32 * 9 * 16; ++i) weights.push_back(byte());
    for (int k = 0; k < 32; ++k) {
      bias.push_back(static_cast<std::int32_t>(random() % 20000) - 10000);
      multiplier.push_back({(1 << 30) + static_cast<std::int32_t>(random() % (1 << 30)), 42});
    }
  }

  void put32(std::int32_t v) {
    for (int i = 0; i < 4; ++i)
      image.bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint32_t>(v) >> (8 * i)));
  }

  void makeImage() {
    for (int r = 0; r < 2; ++r) {
      for (int k = 0; k < 16; ++k)
        image.bytes.push_back(static_cast<std::uint8_t>(weightZero(16 * r + k)));
      image.bytes.push_back(0x0f);  // 2 x 2 blocks, all kept
      for (int i = 1; i < 8; ++i) image.bytes.push_back(0);
      for (int ob = 0; ob < 2; ++ob)
        for (int ib = 0; ib < 2; ++ib)
          for (int tap = 0; tap < 9; ++tap)
            for (int c = 0; c < 8; ++c)
              for (int k = 0; k < 8; ++k)
                image.bytes.push_back(static_cast<std::uint8_t>(
                    weights[((16 * r + 8 * ob + k) * 9 + tap) * 16 + 8 * ib + c]));
      for (int k = 0; k < 16; ++k) put32(bias[16 * r + k]);
      for (int k = 0; k < 16; ++k) put32(multiplier[16 * r + k].multiplier);
      for (int k = 0; k < 16; ++k)
        image.bytes.push_back(static_cast<std::uint8_t>(multiplier[16 * r + k].shift));
    }
  }

  // Memtile c: 0 rows for its own wire, 1 rows for the neighbour's, 2 weights, 3 + r rows done by
  // core (r, c). Core: 0, 1 space and full of main rows, 2, 3 of halos, 4, 5 of weights, 6, 7 of
  // the output.
  void makeLocks() {
    for (int c = 0; c < 2; ++c) {
      b.lock(memtile(c), 0, 0, engine(EngineKind::DdrIn, 0, c, 0), engine(EngineKind::Wire, 0, c));
      b.lock(memtile(c), 1, 0, engine(EngineKind::DdrIn, 0, c, 0),
             engine(EngineKind::Wire, 0, 1 - c));
      b.lock(memtile(c), 2, 0, engine(EngineKind::DdrIn, 0, c, 1),
             engine(EngineKind::Wire, 0, 2 + c));
      for (int r = 0; r < 2; ++r)
        b.lock(memtile(c), 3 + r, 0, engine(EngineKind::CoreOut, r, c),
               engine(EngineKind::DdrOut, 0, c, r));
    }
    for (int r = 0; r < 2; ++r)
      for (int c = 0; c < 2; ++c) {
        const Engine kernel = engine(EngineKind::Core, r, c),
                     rows = engine(EngineKind::CoreIn, r, c, 0);
        const Engine record = engine(EngineKind::CoreIn, r, c, 1),
                     writer = engine(EngineKind::CoreOut, r, c);
        b.lock(core(r, c), 0, 4, kernel, rows);
        b.lock(core(r, c), 1, 0, rows, kernel);
        b.lock(core(r, c), 2, 4, kernel, rows);
        b.lock(core(r, c), 3, 0, rows, kernel);
        b.lock(core(r, c), 4, 1, kernel, record);
        b.lock(core(r, c), 5, 0, record, kernel);
        b.lock(core(r, c), 6, 2, writer, kernel);
        b.lock(core(r, c), 7, 0, kernel, writer);
      }
  }

  void makeDdr() {
    const CoreRange both{0, 0, 1, 2};
    std::vector<Item> host;
    for (int c = 0; c < 2; ++c)
      for (int channel = 0; channel < 2; ++channel)
        host.push_back(item(Start{engine(EngineKind::DdrIn, 0, c, channel)}));
    for (int c = 0; c < 2; ++c)
      for (int channel = 0; channel < 2; ++channel)
        host.push_back(item(Start{engine(EngineKind::DdrOut, 0, c, channel)}));
    for (int c = 0; c < 2; ++c)
      for (int channel = 0; channel < 2; ++channel)
        host.push_back(item(Wait<Affine>{engine(EngineKind::DdrOut, 0, c, channel), 0}));
    b.section(on(EngineKind::Sequencer), host);
    b.section(
        on(EngineKind::DdrIn, both, 0),
        {loop(16,
              {item(makeLoad(end(affine({.column = 64, .i0 = 256}), {{{2, 128}}, 64}),
                             end(affine({.i0 = 128}), {{}, 128}, {}, {{0, 1}, {1, 1}}),
                             box(in, affine({.i0 = 1}), 0, affine({.column = 8}), 1, 2, 8)))})});
    b.section(
        on(EngineKind::DdrIn, both, 1),
        {item(makeLoad({}, recordEnd(2048, {}, {{2, 1}}), recordPart(affine({.column = 1}))))});
    for (int r = 0; r < 2; ++r)
      b.section(
          on(EngineKind::DdrOut, both, r),
          {loop(16, {item(makeWrite(
                        end(affine({.base = 8192 + 128 * r, .i0 = 256}), {{}, 128}, {{3 + r, 1}}),
                        end(affine({.base = kOutputAt + 256 * r, .column = 64, .i0 = 512}),
                            {{{2, 128}}, 64}),
                        box(out, affine({.i0 = 1}), 2 * r, affine({.column = 8}), 1, 2, 8)))})});
  }

  void makeWires() {
    const Part<Affine> mine = box(in, affine({.i0 = 1}), 0, affine({.column = 8}), 1, 2, 8);
    const Part<Affine> halo =
        box(in, affine({.i0 = 1}), 0, affine({.base = 8, .column = -1}), 1, 2, 1);
    b.section(
        on(EngineKind::Wire, {0, 0, 1, 2}),
        {loop(16,
              {item(makeSend(affine({.column = 1}), end(affine({.i0 = 128}), {{}, 128}, {{0, 1}}),
                             {{0, affine({.column = 1}), 2, 1, 0}}, mine)),
               item(makeSend(affine({.base = 1, .column = -1}),
                             end(affine({.column = 56, .i0 = 128}), {{{2, 64}}, 8}, {{1, 1}}),
                             {{0, affine({.column = 1}), 2, 1, 0}}, halo))})});
    b.section(on(EngineKind::Wire, {0, 2, 1, 2}),
              {item(makeSend(affine({.base = -2, .column = 1}), recordEnd(2048, {{2, 1}}),
                             {{affine({.base = -2, .column = 1}), 0, 1, 2, 1}},
                             recordPart(affine({.base = -2, .column = 1}))))});
    const CoreRange all{0, 0, 2, 2};
    End<Affine> mainEnd = end({}, {{{2, 72}}, 64}, {{0, 1}}, {{1, 1}});
    mainEnd.address = slotted(affine({.column = 8}), affine({.i0 = 1}), 144, 4);
    End<Affine> haloEnd = end({}, {{{2, 72}}, 8}, {{2, 1}}, {{3, 1}});
    haloEnd.address = slotted(affine({.base = 64, .column = -64}), affine({.i0 = 1}), 144, 4);
    b.section(on(EngineKind::CoreIn, all, 0),
              {loop(16, {item(makeReceive(affine({.column = 1}), mainEnd, mine)),
                         item(makeReceive(affine({.column = 1}), haloEnd, halo))})});
    b.section(on(EngineKind::CoreIn, all, 1),
              {item(makeReceive(affine({.base = 2, .row = 1}), recordEnd(1024, {{4, 1}}, {{5, 1}}),
                                recordPart(affine({.row = 1}))))});
  }

  Call<Affine> call(KernelId kernel, const Affine& y, Uses acquire, Uses release) const {
    Call<Affine> c;
    c.kernel = kernel;
    RowRing<Affine> ring;
    ring.row = y;
    ring.row.base -= 1;
    ring.column = affine({.base = -1, .column = 8});
    ring.origin = affine({.column = 7});
    ring.tensor = in;
    ring.rowBytes = 144;
    ring.length = 4;
    ring.columns = 9;
    ring.blocks = 2;
    c.inputs = {ring};
    c.weights = Address<Affine>{1024, {}, 0, 1};
    c.record = affine({.row = 1});
    c.output = slotted(4096, y, 128, 2);
    c.part = box(out, y, affine({.row = 2}), affine({.column = 8}), 1, 2, 8);
    c.acquire = std::move(acquire);
    c.release = std::move(release);
    return c;
  }

  void makeCores() {
    Kernel k;
    k.weightZeros = true;
    k.op = OpKind::Conv;
    k.window = {3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
    k.tensorHeight = k.tensorWidth = 16;
    k.inputBlocks = k.outputBlocks = 2;
    k.outputColumns = 8;
    k.inputZero = 3;
    k.outputZero = -5;
    const KernelId kernel = b.kernel(k);
    const CoreRange all{0, 0, 2, 2};
    b.section(on(EngineKind::Core, all),
              {item(call(kernel, 0, {{5, 1}, {1, 2}, {3, 2}, {6, 1}}, {{7, 1}})),
               loop(14, {item(call(kernel, affine({.base = 1, .i0 = 1}), {{1, 1}, {3, 1}, {6, 1}},
                                   {{0, 1}, {2, 1}, {7, 1}}))}),
               item(call(kernel, 15, {{6, 1}}, {{7, 1}, {0, 2}, {2, 2}, {4, 1}}))});
    End<Affine> from = end({}, {{}, 128}, {{7, 1}}, {{6, 1}});
    from.address = slotted(4096, affine({.i0 = 1}), 128, 2);
    b.section(
        on(EngineKind::CoreOut, all),
        {loop(16, {item(makeWriteFm(from,
                                    {{affine({.column = 1}),
                                      end(affine({.base = 8192, .row = 128, .i0 = 256}), {{}, 128},
                                          {}, {{affine({.base = 3, .row = 1}), 1}})}},
                                    box(out, affine({.i0 = 1}), affine({.row = 2}),
                                        affine({.column = 8}), 1, 2, 8)))})});
  }
};

}  // namespace heddle::testing
