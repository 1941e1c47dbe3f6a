#include "leaf.h"

#include <algorithm>
#include <iterator>

#include "heddle/cost/cost.h"
#include "heddle/program/visit.h"

namespace heddle::machine {
namespace {

// By TransferKind.
constexpr TransferCost kTransferCosts[] = {
    {&ddrReadTime, &Traffic::ddrRead},         {&ddrWriteTime, &Traffic::ddrWrite},
    {&wireTime, &Traffic::memtileToCore},      {},
    {&coreWriteTime, &Traffic::coreToMemtile},
};
static_assert(std::size(kTransferCosts) == kTransferForms.size());

class Preparation {
 public:
  Preparation(const Program& program, const Device& device, Leaf& leaf)
      : program_(program), device_(device), leaf_(leaf) {}

  void run() {
    std::visit([&](const auto& instruction) { prepare(instruction); }, leaf_.instruction->as);
  }

 private:
  void prepare(const Start&) {}
  void prepare(const Wait<Affine>&) {}
  void prepare(const Transfer<Affine>& i) {
    leaf_.cost = kTransferCosts[static_cast<std::size_t>(i.kind)];
    if (i.form().namesMemtile()) leaf_.memtiles.push_back(i.memtile);
    for (const MemtileEnd<Affine>& d : i.further) leaf_.memtiles.push_back(d.memtile);
    forEachEnd(i, [&](const PlacedEnd<Affine>& at) {
      locks(at.end.acquire, at.end.release,
            at.place == EndPlace::NamedMemtile ? std::max(0, at.point - 1) : -1);
    });
    if (i.part.content == Content::Weights) {
      leaf_.record = i.part.y;
      return;
    }
    leaf_.work.bytes = i.part.rows * i.part.blocks * i.part.columns * kBlock;
    if (leaf_.cost.time)
      leaf_.work.cycles = leaf_.cost.time(Bytes(leaf_.work.bytes), device_).raw();
  }
  void prepare(const Call<Affine>& i) {
    const Kernel& kernel = program_.kernels[i.kernel.at()];
    locks(i.acquire, i.release, -1);
    if (i.weights) leaf_.record = i.record;
    const bool isConv = kernel.op == OpKind::Conv;
    const std::int64_t atStart = kernel.multipliesInput ? 2 : isConv && kernel.tableLines ? 1 : 0;
    const std::int64_t atEnd = (kernel.addsInput ? 1 : 0) + (kernel.looksUp ? 1 : 0),
                       operands = atStart * kernel.inputBlocks +
                                  (i.finish ? atEnd * kernel.outputBlocks : 0);
    leaf_.kernel =
        kernelWork(kernel.op, kernel.outputBlocks, kernel.window.kernelY * kernel.window.kernelX,
                   kernel.outputColumns, operands);
    leaf_.kernel.rows = leaf_.kernel.rowsOfACall = i.part.rows;
    leaf_.work.cycles = kernelTime(leaf_.kernel, device_).raw();
    leaf_.work.macs = kernelMacs(leaf_.kernel);
  }

  void locks(const std::vector<LockUse<Affine>>& acquire,
             const std::vector<LockUse<Affine>>& release, std::int32_t memtile) {
    for (const LockUse<Affine>& use : acquire)
      leaf_.acquire.push_back({use.lock, use.count, memtile});
    for (const LockUse<Affine>& use : release)
      leaf_.release.push_back({use.lock, use.count, memtile});
  }

  const Program& program_;
  const Device& device_;
  Leaf& leaf_;
};

}  // namespace

Work workWith(const Executable& x, const Leaf& leaf, std::int64_t number) {
  const WeightRecord& record = x.program->records[static_cast<std::size_t>(number)];
  Work work = leaf.work;
  work.record = static_cast<std::int32_t>(number);
  if (leaf.op != Op::Call) {
    work.bytes = record.bytes;
    const Bytes bytes(record.bytes);
    work.cycles = leaf.cost.time ? leaf.cost.time(bytes, *x.device).raw() : 0;
  } else if (leaf.kernel.op == OpKind::Conv) {
    KernelWork kernel = leaf.kernel;
    kernel.blocks = record.kept;
    work.cycles = kernelTime(kernel, *x.device).raw();
    work.macs = kernelMacs(kernel);
  }
  return work;
}

void prepareLeaf(const Program& program, const Device& device, Leaf& leaf) {
  Preparation(program, device, leaf).run();
}

}  // namespace heddle::machine
