#include "leaf.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fault.h"
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
  Preparation(const Executable& x, const EngineRange& engines,
              const std::vector<std::int64_t>& counts, Leaf& leaf)
      : x_(x), device_(*x.device), engines_(engines), counts_(counts), leaf_(leaf) {}

  void run() {
    std::visit([&](const auto& instruction) { prepare(instruction); }, leaf_.instruction->as);
    leaf_.operandsProved = std::all_of(leaf_.operands.begin(), leaf_.operands.end(),
                                       [&](const Operand& operand) { return proved(operand); });
  }

 private:
  void prepare(const Start& i) {
    onlyOn({EngineKind::Sequencer});
    checkDdrChannel(i.channel);
  }
  void prepare(const Wait<Affine>& i) {
    onlyOn({EngineKind::Sequencer});
    checkDdrChannel(i.channel);
  }
  void prepare(const Transfer<Affine>& i) {
    const TransferForm& form = i.form();
    const bool isRecord = i.part.content == Content::Weights;
    onlyOn({form.engine});
    leaf_.cost = kTransferCosts[static_cast<std::size_t>(i.kind)];
    if (form.namesMemtile()) leaf_.memtiles.push_back(i.memtile);
    for (const MemtileEnd<Affine>& d : i.further) leaf_.memtiles.push_back(d.memtile);
    checkDestinations(i);
    if (isRecord && form.weights.empty()) malformed("it moves no weights");
    const bool toCores = i.kind == TransferKind::Send || i.kind == TransferKind::Receive;
    const Int128 bytes = isRecord ? 0 : bytesOf(i.part, toCores);
    if (isRecord) record(i.part.y);
    forEachEnd(i, [&](const PlacedEnd<Affine>& at) {
      if (isRecord && at.place == EndPlace::Ddr) {
        if (at.end != End<Affine>{}) malformed("the source of a weight record is not empty");
      } else if (isRecord) {
        recordEnd(at.end, kindOf(at, i.part));
      } else {
        end(at.end, kindOf(at, i.part));
        checkBytes(at.end.pattern, bytes);
      }
    });
    if (!isRecord && leaf_.cost.time)
      leaf_.work.cycles = leaf_.cost.time(Bytes(leaf_.work.bytes), device_).raw();
  }
  void checkDestinations(const Transfer<Affine>& i) const {
    if (i.further.size() >= kMaxUses || (i.kind == TransferKind::Send && i.to.empty()) ||
        i.to.size() > kMaxUses)
      malformed("the transfer has " + std::to_string(1 + i.further.size()) + " destinations, " +
                std::to_string(i.to.size()) + " groups of cores");
    for (const SendTo<Affine>& to : i.to)
      if (!inRange(to.rows, 1, device_.rows) || !inRange(to.columns, 1, device_.columns) ||
          !inRange(to.channel, 0, device_.core.channelsIn - 1))
        exceeded("the transfer goes to cores or channels that the device does not have",
                 std::to_string(to.rows) + " x " + std::to_string(to.columns) + " cores, channel " +
                     std::to_string(to.channel));
  }
  void prepare(const Call<Affine>& i) {
    onlyOn({EngineKind::Core});
    checkCall(x_, i);
    const Kernel& kernel = x_.program->kernels[i.kernel.at()];
    locks(i.acquire, i.release, -1);
    if (i.weights) record(i.record);
    addCallOperands(i, kernel);
    leaf_.kernel =
        kernelWork(kernel.op, kernel.outputBlocks, kernel.window.kernelY * kernel.window.kernelX,
                   kernel.outputColumns, kernel.addsInput && i.finish ? kernel.outputBlocks : 0);
    leaf_.kernel.rows = leaf_.kernel.rowsOfACall = i.part.rows;
    leaf_.mostBlocks = kernel.inputBlocks * kernel.outputBlocks;
    leaf_.work.cycles = kernelTime(leaf_.kernel, device_).raw();
    leaf_.work.macs = kernelMacs(leaf_.kernel);
  }

  // ---- transfers ----

  struct EndKind {
    std::int64_t memory;
    std::int32_t memtile;  // as in LockTerm
    const char* name;
  };
  EndKind kindOf(const PlacedEnd<Affine>& at, const Part<Affine>& part) const {
    switch (at.place) {
      case EndPlace::Ddr:
        return ddrEnd(at.end, part);
      case EndPlace::ChannelsMemtile:
        return memtileEnd(-1);
      case EndPlace::NamedMemtile:
        return memtileEnd(std::max(0, at.point - 1));
      case EndPlace::Core:
        return coreEnd();
    }
    return coreEnd();
  }
  EndKind memtileEnd(std::int32_t memtile) const {
    return {device_.memtile.memory.raw(), memtile, "the memtile's end"};
  }
  EndKind coreEnd() const { return {device_.core.operandMemory().raw(), -1, "the core's end"}; }

  EndKind ddrEnd(const End<Affine>& e, const Part<Affine>& part) const {
    if (!e.acquire.empty() || !e.release.empty()) malformed("an end in DDR has no locks");
    const std::int64_t last =
        (x_.program->frames - 1) * x_.program->tensors[part.tensor.at()].frameStride;
    return {x_.program->ddrBytes - last, -1, "the end in DDR"};
  }

  void end(const End<Affine>& e, const EndKind& kind) {
    if (!inRange(e.pattern.run, 1, kMaxBytes) || e.pattern.dimensions.size() > kMaxUses)
      malformed(std::string(kind.name) + " has a pattern that cannot be");
    Int128 low = 0, high = e.pattern.run, bytes = e.pattern.run;
    for (const Dimension& d : e.pattern.dimensions) {
      if (!inRange(d.count, 1, kMaxBytes) || !inRange(d.stride, -kMaxBytes, kMaxBytes))
        malformed(std::string(kind.name) + " has a pattern that cannot be");
      const Int128 reach = Int128{d.count - 1} * d.stride;
      (reach < 0 ? low : high) += reach;
      bytes = std::min<Int128>(bytes * d.count, kMaxBytes);
    }
    // More bytes than the memory holds would be some of them again and again: no transfer means
    // that.
    if (high - low > kind.memory || bytes > kind.memory)
      fail("MACH003", where(), std::string(kind.name) + " is larger than its memory",
           "it reaches over " +
               std::to_string(static_cast<std::int64_t>(std::min<Int128>(high - low, INT64_MAX))) +
               " B; the memory has " + std::to_string(kind.memory) + " B",
           "cut the transfer");
    leaf_.operands.push_back({e.address, static_cast<std::int64_t>(low),
                              static_cast<std::int64_t>(high), kind.memory, kind.name});
    checkAddress(e.address);
    locks(e.acquire, e.release, kind.memtile);
  }

  // Names the weight record; longest_: of all that it may be, or, where these are too many to look
  // at, as long as no memory is: then each execution looks at its own.
  void record(const Affine& number) {
    constexpr std::int64_t kMostLooks = 1 << 12;
    leaf_.record = number;
    const auto& records = x_.program->records;
    const auto [low, high] = rangeOf(number);
    longest_ = high - low < kMostLooks ? 0 : kMaxBytes;
    if (longest_ > 0) return;
    for (Int128 i = std::max<Int128>(low, 0); i <= high && i < std::ssize(records); ++i)
      longest_ = std::max(longest_, records[static_cast<std::size_t>(i)].bytes);
  }

  void recordEnd(const End<Affine>& e, const EndKind& kind) {
    if (e.pattern != Pattern{}) malformed("the end of a weight record has a pattern");
    leaf_.operands.push_back({e.address, 0, longest_, kind.memory, kind.name, true});
    checkAddress(e.address);
    locks(e.acquire, e.release, kind.memtile);
  }

  // The bytes of a part of activations; `toCores`: it may be some pixels of a root.
  Int128 bytesOf(const Part<Affine>& part, bool toCores) const {
    if (!inRange(part.rows, 1, kMaxBytes) || !inRange(part.blocks, 1, kMaxExtent) ||
        !inRange(part.columns, 1, kMaxExtent) || part.content != Content::Activation)
      malformed("the part that it moves cannot be");
    if (toCores)
      checkNamed(x_, part.tensor);
    else
      checkRoot(x_, part.tensor);
    return Int128{part.rows} * part.blocks * part.columns * kBlock;
  }
  void checkBytes(const Pattern& pattern, Int128 bytes) {
    leaf_.work.bytes = pattern.bytes();
    if (bytes != leaf_.work.bytes)
      fail("MACH007", where(), "an end moves another number of bytes than the part has",
           "the end " + std::to_string(leaf_.work.bytes) + " B, the part " +
               std::to_string(static_cast<std::int64_t>(std::min<Int128>(bytes, INT64_MAX))) + " B",
           "make the pattern cover the part");
  }

  // ---- calls ----

  void addCallOperands(const Call<Affine>& i, const Kernel& k) {
    const std::int64_t memory = device_.core.operandMemory().raw();
    const auto add = [&](const Address<Affine>& address, Int128 bytes, const char* name,
                         bool isRecord = false) {
      if (bytes > memory && !isRecord)
        fail("MACH003", where(), std::string(name) + " is larger than core memory",
             "the memory for operands has " + std::to_string(memory) + " B",
             "choose a smaller tile");
      leaf_.operands.push_back(
          {address, 0, static_cast<std::int64_t>(bytes), memory, name, isRecord});
      checkAddress(address);
    };
    for (const RowRing<Affine>& ring : i.inputs)
      if (!ring.absent)
        add({ring.base, {}, 0, 1},
            Int128{ring.length - 1} * ring.rowBytes + Int128{ring.blocks} * ring.columns * kBlock,
            "an input ring");
    if (i.weights) add(*i.weights, longest_, "the weight record", true);
    const Int128 pixels = Int128{k.outputBlocks} * k.outputColumns * kBlock;
    if (i.accumulator) add({*i.accumulator, {}, 0, 1}, pixels * 4 * i.part.rows, "the accumulator");
    if (!i.output) return;
    add(*i.output, pixels, "the output");
    if (i.part.rows == 1) return;
    // Rows behind the first may lie in any of the places.
    const Int128 last = Int128{i.output->slots - 1} * i.output->slotStride;
    if (last > memory || -last > memory)
      fail("MACH003", where(), "the places of the output are larger than core memory",
           "the memory for operands has " + std::to_string(memory) + " B", "choose a smaller tile");
    const auto reach = static_cast<std::int64_t>(last);
    leaf_.operands.push_back({{i.output->base, {}, 0, 1},
                              std::min<std::int64_t>(0, reach),
                              std::max<std::int64_t>(0, reach) + static_cast<std::int64_t>(pixels),
                              memory,
                              "the output"});
  }

  // ---- common ----

  void locks(const std::vector<LockUse<Affine>>& acquire,
             const std::vector<LockUse<Affine>>& release, std::int32_t memtile) {
    for (const auto& [uses, terms] :
         {std::pair{&acquire, &leaf_.acquire}, std::pair{&release, &leaf_.release}}) {
      for (const LockUse<Affine>& use : *uses) {
        if (!inRange(use.count, 1, kMaxLockValue))
          malformed("a lock is used " + std::to_string(use.count) + " times");
        terms->push_back({use.lock, use.count, memtile});
      }
      if (terms->size() > kMaxUses)
        malformed("the instruction uses " + std::to_string(terms->size()) + " locks");
    }
  }

  void checkAddress(const Address<Affine>& a) {
    if (!inRange(a.slots, 1, kMaxBytes) || !inRange(a.slotStride, -kMaxBytes, kMaxBytes))
      malformed("an address has slots that cannot be");
  }

  void checkDdrChannel(const Engine& channel) {
    if ((channel.kind != EngineKind::DdrIn && channel.kind != EngineKind::DdrOut) ||
        x_.indexOf(channel) < 0)
      malformed("it names a DDR channel that the device does not have");
  }

  void onlyOn(std::initializer_list<EngineKind> kinds) {
    if (std::find(kinds.begin(), kinds.end(), engines_.kind) == kinds.end())
      malformed("the instruction stands in the queue of an engine that cannot run it");
  }

  // Whether the operand is in range for all iterations and engines.
  bool proved(const Operand& operand) const {
    const auto [low, high] = rangeOf(operand.address.base);
    Int128 slotLow = 0, slotHigh = 0;
    if (operand.address.slots > 1) {
      const auto [first, last] = rangeOf(operand.address.slot);
      if (first < 0) return false;
      const bool wraps = last >= operand.address.slots;
      slotLow = (wraps ? 0 : first) * operand.address.slotStride;
      slotHigh = (wraps ? operand.address.slots - 1 : last) * operand.address.slotStride;
      if (slotLow > slotHigh) std::swap(slotLow, slotHigh);
    }
    return low + slotLow + operand.low >= 0 && high + slotHigh + operand.high <= operand.limit;
  }

  std::pair<Int128, Int128> rangeOf(const Affine& a) const {
    Int128 low = a.base, high = a.base;
    const auto widen = [&](std::int64_t factor, std::int64_t first, std::int64_t last) {
      const Int128 one = Int128{factor} * first, other = Int128{factor} * last;
      low += std::min(one, other);
      high += std::max(one, other);
    };
    widen(a.row, engines_.range.row, engines_.range.row + engines_.range.rows - 1);
    widen(a.column, engines_.range.column, engines_.range.column + engines_.range.columns - 1);
    for (std::size_t k = 0; k < counts_.size(); ++k) widen(a.loop[k], 0, counts_[k] - 1);
    return {low, high};
  }

  std::string where() const {
    return nameOfLeaf(x_, static_cast<std::int32_t>(x_.leaves.size()) - 1);
  }
  [[noreturn]] void malformed(std::string what) const { failMalformed(x_, std::move(what)); }
  [[noreturn]] void exceeded(std::string summary, std::string what) const {
    fail("MACH002", where(), std::move(summary), std::move(what),
         "compile the program for this device");
  }

  const Executable& x_;
  const Device& device_;
  const EngineRange& engines_;
  const std::vector<std::int64_t>& counts_;
  Leaf& leaf_;
  std::int64_t longest_ = 0;  // bytes of a weight record
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

void failMalformed(const Executable& x, std::string what) {
  fail("MACH001", nameOfLeaf(x, static_cast<std::int32_t>(x.leaves.size()) - 1),
       "the instruction is malformed", std::move(what), "compile the program again");
}

void checkNamed(const Executable& x, TensorId tensor) {
  const auto& tensors = x.program->tensors;
  const bool isSampled =
      tensor.valid() && tensor.at() < tensors.size() && tensors[tensor.at()].sampling;
  if (!isSampled) checkRoot(x, tensor);
}

void checkRoot(const Executable& x, TensorId tensor) {
  const auto& tensors = x.program->tensors;
  if (!tensor.valid() || tensor.at() >= tensors.size() || tensors[tensor.at()].root != tensor)
    failMalformed(
        x, "it names tensor " + std::to_string(tensor.index) + ", which is no root of the program");
}

void prepareLeaf(const Executable& executable, const EngineRange& engines,
                 const std::vector<std::int64_t>& counts, Leaf& leaf) {
  Preparation(executable, engines, counts, leaf).run();
}

}  // namespace heddle::machine
