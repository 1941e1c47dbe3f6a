// Programs with numbers that no compiler writes: whatever a file says, verify answers with faults,
// or the Machine, which asks for nothing again, with a result or a fault. Meant to run under the
// sanitizers; HEDDLE_MUTANTS sets how many programs are tried.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>

#include "heddle/program/visit.h"
#include "subjects.h"
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
    if (random_() % 4 == 0) changeOther(p);
    for (std::uint64_t n = random_() % 3; n > 0; --n)
      change(*numbers_[random_() % numbers_.size()]);
  }

 private:
  void change(std::int64_t& number) {
    if (random_() % 4 == 0)
      number = extreme();
    else
      number = wrappingAdd(number, near());
  }
  // What is no number of 64 bits.
  void changeOther(Program& p) {
    switch (random_() % 15) {
      case 0:
        pick(p.locks).index = small();
        break;
      case 1:
        pick(p.tensors).root.index = small();
        break;
      case 2:
        pick(p.sections).engines.channel = small();
        break;
      case 3:
        pick(p.kernels).op = static_cast<OpKind>(random_() % 8);
        break;
      case 4:
        flip(pick(p.kernels).weightZeros);
        break;
      case 5:
        flip(pick(p.kernels).sharesRecord);
        break;
      case 6:
        flip(pick(p.kernels).negativeScale);
        break;
      case 7:
        pick(p.kernels).moves.push_back({{}, {}, extreme()});
        break;
      case 8:
        pick(p.kernels).shift = small();
        break;
      case 9:
        p.inputs[0].axes.pop_back();
        break;
      case 10:
        pick(p.kernels).rescale = {small(), small()};
        break;
      case 11:
        flip(pick(p.tensors).constant);
        break;
      case 12:
        pick(p.tensors).ddr.reset();
        break;
      case 13:
        pick(p.layers).output.index = small();
        break;
      default:
        changeOneCall(p);
    }
  }
  void changeOneCall(Program& p) {
    std::vector<Call<Affine>*> calls;
    for (Section& s : p.sections) collectCalls(s.items, calls);
    Call<Affine>& call = *pick(calls);
    switch (random_() % 5) {
      case 0:
        flip(call.init);
        break;
      case 1:
        flip(call.finish);
        break;
      case 2:
        call.accumulator.reset();
        break;
      case 3:
        call.weights.reset();
        break;
      default:
        if (!call.inputs.empty()) flip(pick(call.inputs).absent);
    }
  }
  static void collectCalls(std::vector<Item>& items, std::vector<Call<Affine>*>& calls) {
    for (Item& item : items) {
      if (Loop* loop = std::get_if<Loop>(&item.as))
        collectCalls(loop->body, calls);
      else if (auto* call = std::get_if<Call<Affine>>(&std::get<Instruction>(item.as).as))
        calls.push_back(call);
    }
  }
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
  std::int64_t near() {
    constexpr std::int64_t kSteps[] = {-64, -8, -1, 1, 8, 64};
    return kSteps[random_() % std::size(kSteps)];
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
    add({&p.weightsAddress, &p.weightsBytes, &p.ddrBytes, &p.frames, &p.batch});
    for (Lock& lock : p.locks) add({&lock.initial});
    for (WeightRecord& r : p.records) add({&r.offset, &r.bytes, &r.kept, &r.padding});
    for (ProgramTensor& t : p.tensors) {
      add({&t.shape.height, &t.shape.width, &t.shape.channels, &t.rootBlock, &t.frameStride});
      if (t.ddr) add({&*t.ddr});
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
      for (Kernel::Move& move : k.moves) {
        add({&move.table});
        for (AxisMap* map : {&move.columns, &move.channels})
          for (AxisRun& run : *map)
            add({&run.to, &run.toStep, &run.from, &run.fromStep, &run.count});
      }
    }
    for (Port& port : p.inputs) {
      for (std::int64_t& extent : port.shape) add({&extent});
      for (std::int64_t& extent : port.view) add({&extent});
    }
    for (Section& s : p.sections) {
      for (CoreRange& range : s.engines.ranges)
        add({&range.row, &range.column, &range.rows, &range.columns});
      collect(s.items);
    }
  }
  // What goes to cores is of a tensor that has all pixels of the input.
  static void namePixels(Program& p) {
    if (p.tensors[0].sampling) return;
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
      if (i.output) add({&i.output->slots, &i.output->slotStride});
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

std::vector<mutation::Subject> subjects() {
  const WorkedConvolution w;
  std::vector<mutation::Subject> all{{w.b.program, w.device, w.image, {w.input}}};
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    all.push_back(mutation::generated(seed, 1 + static_cast<std::int64_t>(seed % 3), 2,
                                      1 + static_cast<std::int64_t>(seed % 2),
                                      1 + static_cast<std::int64_t>(seed % 3)));
  all.push_back(mutation::withAFusedSum(2, 2));
  all.push_back(mutation::withADepthwiseEnd(2, 2));
  all.push_back(mutation::withSlices(2, 2, 64_KiB));
  return all;
}

TEST(HostileProgram, EndsInAResultOrAFault) {
  const char* asked = std::getenv("HEDDLE_MUTANTS");
  const int count = asked == nullptr ? 3000 : std::atoi(asked);
  const SimulateOptions options{.recordTimeline = false, .maxCycles = Cycles(1'000'000)};
  const std::vector<mutation::Subject> all = subjects();
  for (const mutation::Subject& subject : all) ASSERT_TRUE(subject.run());
  int faults = 0, executed = 0;
  for (int seed = 0; seed < count; ++seed) {
    const mutation::Subject& subject = all[static_cast<std::size_t>(seed) % all.size()];
    Program program = subject.program;
    Poison(static_cast<std::uint64_t>(seed)).apply(program);
    const Result<VerifiedProgram> sound = verified(std::move(program), subject.device);
    if (!sound) {
      ++faults;
      continue;
    }
    ++executed;
    const bool runs(simulateTime(*sound, options));
    const bool computes(simulateWithData(*sound, subject.weights, subject.inputs, options));
    if (!computes) ++faults;
    // What time alone finds wrong is wrong with data, too.
    EXPECT_TRUE(runs || !computes) << "seed " << seed;
  }
  std::cout << faults << " of " << count << " faulty, " << executed << " executed\n";
  EXPECT_GT(faults, count / 2);
  EXPECT_GT(executed, count / 20);
}

}  // namespace
}  // namespace heddle
