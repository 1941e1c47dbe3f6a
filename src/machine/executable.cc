#include "executable.h"

#include <algorithm>
#include <string>
#include <variant>

#include "fault.h"
#include "heddle/program/names.h"
#include "leaf.h"

namespace heddle::machine {
namespace {

Op opOf(const Start&) { return Op::Start; }
Op opOf(const Wait<Affine>&) { return Op::Wait; }
Op opOf(const Call<Affine>&) { return Op::Call; }
Op opOf(const Transfer<Affine>& transfer) {
  const TransferForm& form = transfer.form();
  if (form.source && form.destination) return Op::Move;
  return form.source ? Op::Send : Op::Receive;
}

class Flattener {
 public:
  Flattener(Executable& x, const Section& section) : x_(x), section_(section) {
    out_.layer = x.program->layerOf(section.step);
    out_.lastFrame = section.lastFrame;
  }

  SectionCode run() {
    add(section_.items);
    return std::move(out_);
  }

 private:
  void add(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (const Loop* loop = std::get_if<Loop>(&item.as))
        addLoop(*loop);
      else
        addLeaf(std::get<Instruction>(item.as));
    }
  }

  void addLoop(const Loop& loop) {
    const std::size_t begin = out_.code.size();
    out_.code.push_back({Code::Kind::Begin, 0, depth_, loop.count});
    ++depth_;
    add(loop.body);
    --depth_;
    out_.code[begin].target = static_cast<std::int32_t>(out_.code.size());
    out_.code.push_back({Code::Kind::End, static_cast<std::int32_t>(begin), depth_, loop.count});
  }

  void addLeaf(const Instruction& instruction) {
    out_.code.push_back({Code::Kind::Leaf, static_cast<std::int32_t>(x_.leaves.size()), depth_, 1});
    Leaf& leaf = x_.leaves.emplace_back();
    leaf.instruction = &instruction;
    leaf.op = std::visit([](const auto& i) { return opOf(i); }, instruction.as);
    leaf.step = section_.step;
    leaf.layer = out_.layer;
    prepareLeaf(*x_.program, *x_.device, leaf);
  }

  Executable& x_;
  const Section& section_;
  SectionCode out_;
  std::int32_t depth_ = 0;
};

// More cells than that a call looks at one by one, and so many taps; no core holds, and none
// computes, a hundredth of them.
void checkWindow(const Kernel& kernel) {
  constexpr std::int64_t kMaxWindowCells = 1 << 22, kMaxCallTaps = std::int64_t{1} << 31;
  const Window& w = kernel.window;
  const Int128 span =
      Int128{kernel.outputColumns - 1} * w.strideX + Int128{w.kernelX - 1} * w.dilationX + 1;
  const Int128 taps = Int128{w.kernelY} * w.kernelX * kernel.outputColumns * kernel.outputBlocks *
                      (kernel.op == OpKind::Conv ? kernel.inputBlocks : 1);
  if (span * w.kernelY * std::max(kernel.inputBlocks, kernel.outputBlocks) > kMaxWindowCells ||
      taps > kMaxCallTaps)
    failTooLarge("MACH016", "kernel '" + kernel.name + "'",
                 "a call's window is larger than can be simulated",
                 "at most " + std::to_string(kMaxWindowCells) + " cells of 8 bytes and " +
                     std::to_string(kMaxCallTaps) + " taps",
                 "give the cores less memory (--set core.memory=...)");
}

void addSections(Executable& x) {
  const Program& program = *x.program;
  x.sectionsOf.resize(x.numbers.count());
  for (std::size_t i = 0; i < program.sections.size(); ++i) {
    const Section& section = program.sections[i];
    x.sections.push_back(Flattener(x, section).run());
    forEachEngine(section.engines, [&](const Engine& engine) {
      x.sectionsOf[x.numbers.of(engine)].push_back(static_cast<std::int32_t>(i));
    });
  }
}

}  // namespace

Executable::Executable(const VerifiedProgram& verified)
    : program(&*verified),
      device(&verified.device()),
      numbers(*device),
      lockTable(*program, *device) {
  for (const Kernel& kernel : program->kernels) checkWindow(kernel);
  for (const Lock& lock : program->locks) {
    lockProducer.push_back(indexOf(lock.producer));
    lockConsumer.push_back(indexOf(lock.consumer));
  }
  for (const ProgramTensor& t : program->tensors)
    pixels.emplace_back(t.sampling, t.shape, program->tensors[t.root.at()].shape, program->batch);
  addSections(*this);
}

std::string nameOfLeaf(const Executable& x, std::int32_t index) {
  const Leaf& leaf = x.leaves[static_cast<std::size_t>(index)];
  std::string text = "instruction " + std::to_string(index) + " (" +
                     std::string(mnemonic(*leaf.instruction, *x.program)) + ")";
  if (leaf.layer.valid() && leaf.layer.at() < x.program->layers.size())
    text += " of layer '" + x.program->layers[leaf.layer.at()].name + "'";
  return text;
}

}  // namespace heddle::machine
