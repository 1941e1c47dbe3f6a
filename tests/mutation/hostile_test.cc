// Programs with numbers that no compiler writes: whatever a file says, the Machine answers with a
// result or a fault. Meant to run under the sanitizers; HEDDLE_MUTANTS sets how many programs are
// tried.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <random>

#include "heddle/program/visit.h"
#include "worked_convolution.h"

namespace heddle {
namespace {

using testing::WorkedConvolution;

class Poison {
 public:
  explicit Poison(std::uint64_t seed) : random_(seed) {}

  void apply(Program& p) {
    if (random_() % 4 == 0) namePixels(p);
    numbers_.clear();
    collect(p);
    for (std::uint64_t n = 1 + random_() % 3; n > 0; --n)
      *numbers_[random_() % numbers_.size()] = extreme();
    // Some numbers are not 64 bits wide.
    if (random_() % 8 == 0) pick(p.locks).index = small();
    if (random_() % 8 == 0) pick(p.tensors).root.index = small();
    if (random_() % 8 == 0) pick(p.sections).engines.channel = small();
    if (random_() % 8 == 0) pick(p.kernels).op = static_cast<OpKind>(random_() % 8);
    if (random_() % 8 == 0) flip(pick(p.kernels).weightZeros);
    if (random_() % 8 == 0) flip(pick(p.kernels).sharesRecord);
    if (random_() % 8 == 0) flip(pick(p.kernels).negativeScale);
    if (random_() % 8 == 0) pick(p.kernels).moves.push_back({{}, {}, extreme()});
    if (random_() % 8 == 0) pick(p.kernels).shift = small();
    if (random_() % 8 == 0) p.inputs[0].axes.pop_back();
    if (random_() % 8 == 0) pick(p.kernels).rescale = {small(), small()};
  }

 private:
  static void flip(bool& flag) { flag = !flag; }
  std::int64_t extreme() {
    constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                           kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t values[] = {kLeast,
                                   kMost,
                                   -1,
                                   0,
                                   1,
                                   7,
                                   8,
                                   64,
                                   4096,
                                   1 << 20,
                                   std::int64_t{1} << 31,
                                   std::int64_t{1} << 40,
                                   -(std::int64_t{1} << 33)};
    return values[random_() % std::size(values)];
  }
  std::int32_t small() { return static_cast<std::int32_t>(extreme()); }
  template <class T>
  T& pick(std::vector<T>& from) {
    return from[random_() % from.size()];
  }

  void add(std::initializer_list<std::int64_t*> numbers) {
    numbers_.insert(numbers_.end(), numbers);
  }
  void collect(Program& p) {
    add({&p.weightsAddress, &p.weightsBytes, &p.ddrBytes});
    for (Lock& lock : p.locks) add({&lock.initial});
    for (WeightRecord& r : p.records) add({&r.offset, &r.bytes, &r.kept, &r.padding});
    for (ProgramTensor& t : p.tensors) {
      add({&t.shape.height, &t.shape.width, &t.shape.channels, &*t.ddr, &t.rootBlock});
      if (t.sampling)
        for (Steps* steps : {&t.sampling->rows, &t.sampling->columns})
          add({&steps->first, &steps->step});
    }
    for (Kernel& k : p.kernels) {
      Window& w = k.window;
      add({&w.kernelY, &w.kernelX, &w.strideY, &w.strideX, &w.dilationY, &w.dilationX, &w.padTop,
           &w.padLeft, &w.padBottom, &w.padRight, &k.tensorHeight, &k.tensorWidth, &k.inputBlocks,
           &k.outputBlocks, &k.outputColumns, &k.kernelYWhole, &k.multiplierA, &k.multiplierB,
           &k.recordAt});
    }
    for (Port& port : p.inputs) {
      for (std::int64_t& extent : port.shape) add({&extent});
      for (std::int64_t& extent : port.view) add({&extent});
    }
    for (Section& s : p.sections) {
      add({&s.engines.range.row, &s.engines.range.column, &s.engines.range.rows,
           &s.engines.range.columns});
      collect(s.items);
    }
  }
  // What goes to cores is of a tensor that has all pixels of the input.
  static void namePixels(Program& p) {
    const TensorId pixels(p.tensors.size());
    p.tensors.push_back(p.tensors[0]);
    p.tensors.back().sampling.emplace();
    for (Section& s : p.sections) namePixels(s.items, pixels);
  }
  static void namePixels(std::vector<Item>& items, TensorId pixels) {
    for (Item& item : items) {
      if (Loop* loop = std::get_if<Loop>(&item.as)) {
        namePixels(loop->body, pixels);
        continue;
      }
      auto& as = std::get<Instruction>(item.as).as;
      if (auto* transfer = std::get_if<Transfer<Affine>>(&as)) {
        const bool toCores =
            transfer->kind == TransferKind::Send || transfer->kind == TransferKind::Receive;
        if (toCores && transfer->part.content == Content::Activation)
          transfer->part.tensor = pixels;
      }
      if (auto* call = std::get_if<Call<Affine>>(&as))
        for (RowRing<Affine>& ring : call->inputs) ring.tensor = pixels;
    }
  }
  void collect(std::vector<Item>& items) {
    for (Item& item : items) {
      if (Loop* loop = std::get_if<Loop>(&item.as)) {
        add({&loop->count});
        collect(loop->body);
        continue;
      }
      Instruction& instruction = std::get<Instruction>(item.as);
      forEachValue(instruction, [&](Affine& a) {
        add({&a.base, &a.row, &a.column, &a.loop[0], &a.loop[1]});
      });
      std::visit([&](auto& i) { collectSizes(i); }, instruction.as);
    }
  }
  template <class I>
  void collectSizes(I& i) {
    if constexpr (requires { i.form(); }) {
      if (i.form().source) collect(i.source);
      if (i.form().destination) collect(i.destination);
      for (auto& d : i.further) collect(d.end);
    }
    if constexpr (requires { i.part; }) add({&i.part.rows, &i.part.blocks, &i.part.columns});
    if constexpr (requires { i.to; })
      for (auto& to : i.to) add({&to.rows, &to.columns, &to.channel});
    if constexpr (requires { i.record; }) {
      add({&i.output->slots, &i.output->slotStride});
      for (auto& ring : i.inputs) add({&ring.rowBytes, &ring.length, &ring.columns, &ring.blocks});
      for (auto& use : i.acquire) add({&use.count});
    }
  }
  void collect(End<Affine>& e) {
    add({&e.address.slots, &e.address.slotStride, &e.pattern.run});
    for (Dimension& d : e.pattern.dimensions) add({&d.count, &d.stride});
    for (auto& use : e.acquire) add({&use.count});
    for (auto& use : e.release) add({&use.count});
  }

  std::mt19937_64 random_;
  std::vector<std::int64_t*> numbers_;
};

TEST(HostileProgram, EndsInAResultOrAFault) {
  const char* asked = std::getenv("HEDDLE_MUTANTS");
  const int count = asked == nullptr ? 2000 : std::atoi(asked);
  const WorkedConvolution w;
  const SimulateOptions options{.recordTimeline = false, .maxCycles = Cycles(1'000'000)};
  ASSERT_TRUE(simulateWithData(w.b.program, w.device, w.image, {w.input}, options));
  int faults = 0;
  for (int seed = 0; seed < count; ++seed) {
    Program program = w.b.program;
    Poison(static_cast<std::uint64_t>(seed)).apply(program);
    const Result<SimulateResult> data =
        simulateWithData(program, w.device, w.image, {w.input}, options);
    const Result<SimulateResult> time = simulateTime(program, w.device, options);
    if (!data) ++faults;
    // What time alone finds wrong is wrong with data, too.
    if (!time) {
      EXPECT_FALSE(data) << "seed " << seed << ": " << time.diagnostics();
    }
  }
  EXPECT_GT(faults, count / 2);
}

}  // namespace
}  // namespace heddle
