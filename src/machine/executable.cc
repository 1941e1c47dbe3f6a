#include "executable.h"

#include <algorithm>
#include <string>
#include <variant>

#include "fault.h"
#include "heddle/program/names.h"
#include "heddle/tiling/plan.h"
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

constexpr std::int64_t kMaxEngines = std::int64_t{1} << 20;
constexpr std::size_t kMaxTensors = std::size_t{1}
                                    << 24;  // identities of cells number them in 24 bits
constexpr std::int64_t kMaxLockIndex = 1 << 16;
constexpr std::int64_t kMaxMemory = std::int64_t{1} << 36;

std::int64_t channelsOf(EngineKind kind, const Device& d) {
  switch (kind) {
    case EngineKind::DdrIn:
      return d.memtile.ddrChannelsIn;
    case EngineKind::DdrOut:
      return d.memtile.ddrChannelsOut;
    case EngineKind::CoreIn:
      return d.core.channelsIn;
    case EngineKind::CoreOut:
      return d.core.channelsOut;
    case EngineKind::Sequencer:
    case EngineKind::Wire:
    case EngineKind::Core:
      return 1;
  }
  return 0;
}

// Rows and columns in which engines of a kind are numbered.
std::pair<std::int64_t, std::int64_t> gridOf(EngineKind kind, const Device& d) {
  switch (kind) {
    case EngineKind::Sequencer:
      return {1, 1};
    case EngineKind::DdrIn:
    case EngineKind::DdrOut:
      return {1, d.columns};
    case EngineKind::Wire:
      return {1, static_cast<std::int64_t>(d.wires.size())};
    case EngineKind::CoreIn:
    case EngineKind::Core:
    case EngineKind::CoreOut:
      return {d.rows, d.columns};
  }
  return {0, 0};
}

constexpr EngineKind kKinds[] = {EngineKind::Sequencer, EngineKind::DdrIn,  EngineKind::DdrOut,
                                 EngineKind::Wire,      EngineKind::CoreIn, EngineKind::Core,
                                 EngineKind::CoreOut};

std::int64_t countOf(EngineKind kind, const Device& d) {
  const auto [rows, columns] = gridOf(kind, d);
  return rows * columns * channelsOf(kind, d);
}

void numberEngines(Executable& x) {
  const Device& d = *x.device;
  const std::int64_t perTile =
      d.core.channelsIn + d.core.channelsOut + d.memtile.ddrChannelsIn + d.memtile.ddrChannelsOut;
  if (d.rows < 1 || d.columns < 1 || d.rows > kMaxEngines || d.columns > kMaxEngines ||
      perTile < 0 || perTile > kMaxEngines || d.rows * d.columns > kMaxEngines ||
      d.rows * d.columns * (perTile + 1) > kMaxEngines)
    failTooLarge("MACH016", "device '" + d.name + "'",
                 "the device has more engines than can be simulated", "", "choose a smaller mesh");
  for (const EngineKind kind : kKinds) {
    const auto [rows, columns] = gridOf(kind, d);
    for (std::int32_t row = 0; row < rows; ++row)
      for (std::int32_t column = 0; column < columns; ++column)
        for (std::int32_t channel = 0; channel < channelsOf(kind, d); ++channel)
          x.engines.push_back({kind, row, column, channel});
  }
  x.sectionsOf.resize(x.engines.size());
}

void checkEngines(const Section& section, std::size_t number, const Device& d) {
  const auto [rows, columns] = gridOf(section.engines.kind, d);
  const CoreRange& r = section.engines.range;
  const bool fits = r.row >= 0 && r.column >= 0 && r.rows >= 1 && r.columns >= 1 &&
                    r.rows <= rows && r.columns <= columns && r.row <= rows - r.rows &&
                    r.column <= columns - r.columns && section.engines.channel >= 0 &&
                    section.engines.channel < channelsOf(section.engines.kind, d);
  if (fits) return;
  fail("MACH002", "section " + std::to_string(number),
       "the section names engines that the device does not have",
       "rows " + std::to_string(r.row) + " + " + std::to_string(r.rows) + ", columns " +
           std::to_string(r.column) + " + " + std::to_string(r.columns) + ", channel " +
           std::to_string(section.engines.channel) + "; the device has " + std::to_string(rows) +
           " x " + std::to_string(columns) + " with " +
           std::to_string(channelsOf(section.engines.kind, d)) + " channels",
       "compile the program for this device");
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
    if (loop.count < 1 || loop.body.empty() || counts_.size() == kMaxLoopDepth)
      fail("MACH001", "section " + std::to_string(x_.sections.size()),
           "the section has a malformed loop",
           std::to_string(loop.count) + " iterations of " + std::to_string(loop.body.size()) +
               " items, " + std::to_string(counts_.size()) + " loops around it",
           "loops have at least one iteration and one item, and at most " +
               std::to_string(kMaxLoopDepth) + " nest");
    const std::size_t begin = out_.code.size();
    out_.code.push_back({Code::Kind::Begin, 0, depth(), loop.count});
    counts_.push_back(loop.count);
    add(loop.body);
    counts_.pop_back();
    out_.code[begin].target = static_cast<std::int32_t>(out_.code.size());
    out_.code.push_back({Code::Kind::End, static_cast<std::int32_t>(begin), depth(), loop.count});
  }

  void addLeaf(const Instruction& instruction) {
    out_.code.push_back(
        {Code::Kind::Leaf, static_cast<std::int32_t>(x_.leaves.size()), depth(), 1});
    x_.leaves.push_back({});  // so that a fault can name it
    x_.leaves.back().instruction = &instruction;
    x_.leaves.back().op = std::visit([](const auto& i) { return opOf(i); }, instruction.as);
    x_.leaves.back().step = section_.step;
    x_.leaves.back().layer = out_.layer;
    prepareLeaf(x_, section_.engines, counts_, x_.leaves.back());
  }

  std::int32_t depth() const { return static_cast<std::int32_t>(counts_.size()); }

  Executable& x_;
  const Section& section_;
  SectionCode out_;
  std::vector<std::int64_t> counts_;
};

void addSections(Executable& x) {
  const Program& program = *x.program;
  for (std::size_t i = 0; i < program.sections.size(); ++i) {
    const Section& section = program.sections[i];
    checkEngines(section, i, *x.device);
    if (const LayerId layer = program.layerOf(section.step);
        !layer.valid() || layer.at() >= program.layers.size())
      fail("MACH001", "section " + std::to_string(i),
           "the section names a step that the program does not have",
           "step " + std::to_string(section.step.index), "give a step of the program's schedule");
    x.sections.push_back(Flattener(x, section).run());
    const CoreRange& r = section.engines.range;
    for (std::int64_t row = r.row; row < r.row + r.rows; ++row)
      for (std::int64_t column = r.column; column < r.column + r.columns; ++column) {
        const EngineIndex e =
            x.indexOf({section.engines.kind, static_cast<std::int32_t>(row),
                       static_cast<std::int32_t>(column), section.engines.channel});
        x.sectionsOf[static_cast<std::size_t>(e)].push_back(static_cast<std::int32_t>(i));
      }
  }
}

void addLocks(Executable& x) {
  const Device& d = *x.device;
  x.lockAt.resize(static_cast<std::size_t>(d.cores() + d.columns));
  for (std::size_t i = 0; i < x.program->locks.size(); ++i) {
    const Lock& lock = x.program->locks[i];
    const std::string where = "lock " + std::to_string(lock.index) + " of " + nameOf(lock.tile);
    const bool core = lock.tile.kind == TileKind::Core;
    const bool exists = lock.tile.kind != TileKind::Ddr && lock.tile.column >= 0 &&
                        lock.tile.column < d.columns && lock.tile.row >= 0 &&
                        lock.tile.row < (core ? d.rows : 1);
    if (!exists || !inRange(lock.index, 0, kMaxLockIndex - 1))
      fail("MACH002", where, "the device has no such lock",
           "locks are numbered from 0 to " + std::to_string(kMaxLockIndex - 1),
           "compile the program for this device");
    if (!inRange(lock.initial, 0, kMaxLockValue))
      fail("MACH001", where, "the initial value of the lock cannot be",
           "it is " + std::to_string(lock.initial), "compile the program again");
    auto& tile = x.lockAt[core ? x.coreTile(lock.tile.row, lock.tile.column)
                               : x.memtileTile(lock.tile.column)];
    if (tile.size() <= static_cast<std::size_t>(lock.index))
      tile.resize(static_cast<std::size_t>(lock.index) + 1, -1);
    if (tile[static_cast<std::size_t>(lock.index)] >= 0)
      fail("MACH001", where, "the lock is declared twice", "", "declare each lock once");
    tile[static_cast<std::size_t>(lock.index)] = static_cast<std::int32_t>(i);
    x.lockProducer.push_back(x.indexOf(lock.producer));
    x.lockConsumer.push_back(x.indexOf(lock.consumer));
    if (x.lockProducer.back() < 0 || x.lockConsumer.back() < 0)
      fail("MACH002", where, "the device has no such producer or consumer of the lock",
           "from " + nameOf(lock.producer, d) + " to " + nameOf(lock.consumer, d),
           "compile the program for this device");
  }
}

void checkMemories(const Program& program, const Device& d) {
  if (inRange(program.ddrBytes, 0, kMaxMemory) && inRange(d.memtile.memory.raw(), 0, kMaxMemory) &&
      inRange(d.core.memory.raw(), 0, kMaxMemory))
    return;
  failTooLarge(
      "MACH016", "program '" + program.model + "'", "a memory is larger than can be simulated",
      "DDR " + std::to_string(program.ddrBytes) + " B, memtile " +
          std::to_string(d.memtile.memory.raw()) + " B, core " +
          std::to_string(d.core.memory.raw()) + " B; at most " + std::to_string(kMaxMemory) + " B",
      "compile the program again");
}

// Whether the pixels and blocks that a tensor has of its root are there. Needs: both shapes are
// sound.
bool samplingIsSound(const Program& program, std::size_t tensor) {
  const ProgramTensor& t = program.tensors[tensor];
  if (!t.sampling) return true;
  const ProgramTensor& root = program.tensors[t.root.at()];
  return t.root.at() != tensor && pixelsFit(t.sampling, t.shape, root.shape, program.batch) &&
         t.rootBlock <= blocksOf(root.shape) - blocksOf(t.shape);
}

void checkTensors(const Program& program) {
  if (!inRange(program.frames, 1, kMaxFrames))
    failTooLarge(
        "MACH016", "program '" + program.model + "'", "the program has too many frames, or none",
        std::to_string(program.frames) + "; at most " + std::to_string(kMaxFrames), "choose fewer");
  if (!inRange(program.batch, 1, kMaxBatch))
    fail("MACH001", "program '" + program.model + "'", "the batch cannot be",
         std::to_string(program.batch) + " inferences; at most " + std::to_string(kMaxBatch),
         "compile the program again");
  if (program.tensors.size() >= kMaxTensors)
    failTooLarge("MACH016", "program '" + program.model + "'", "the program has too many tensors",
                 std::to_string(program.tensors.size()), "simulate fewer layers");
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    const ProgramTensor& t = program.tensors[i];
    const bool rootKnown = t.root.valid() && t.root.at() < program.tensors.size() &&
                           program.tensors[t.root.at()].root == t.root;
    const Shape& s = t.shape;
    if (rootKnown && inRange(s.height, 1, kMaxExtent) && inRange(s.width, 1, kMaxExtent) &&
        inRange(s.channels, 1, kMaxExtent) && s.height % program.batch == 0 &&
        Int128{s.height} * s.width * roundUpTo(s.channels, kBlock) < kMaxTensorElements &&
        inRange(t.rootBlock, 0, kMaxExtent) &&
        inRange(t.frameStride, 0, program.ddrBytes / program.frames) && t.frameStride % kBlock == 0)
      continue;
    fail("MACH001", "tensor '" + t.name + "'", "the tensor's shape or root cannot be",
         std::to_string(s.height) + " x " + std::to_string(s.width) + " x " +
             std::to_string(s.channels) + ", root " + std::to_string(t.root.index),
         "a tensor is its own root or a part of one that is");
  }
  for (std::size_t i = 0; i < program.tensors.size(); ++i)
    if (!samplingIsSound(program, i))
      fail("MACH001", "tensor '" + program.tensors[i].name + "'",
           "the tensor has pixels that its root has not",
           "root " + std::to_string(program.tensors[i].root.index), "compile the program again");
}

}  // namespace

EngineIndex Executable::indexOf(const Engine& engine) const {
  std::int64_t base = 0;
  for (const EngineKind kind : kKinds) {
    if (kind != engine.kind) {
      base += countOf(kind, *device);
      continue;
    }
    const auto [rows, columns] = gridOf(kind, *device);
    const std::int64_t channels = channelsOf(kind, *device);
    if (engine.row < 0 || engine.row >= rows || engine.column < 0 || engine.column >= columns ||
        engine.channel < 0 || engine.channel >= channels)
      return -1;
    return static_cast<EngineIndex>(base + (engine.row * columns + engine.column) * channels +
                                    engine.channel);
  }
  return -1;
}

std::int64_t Executable::ownTile(const Engine& engine) const {
  switch (engine.kind) {
    case EngineKind::DdrIn:
    case EngineKind::DdrOut:
      return static_cast<std::int64_t>(memtileTile(engine.column));
    case EngineKind::CoreIn:
    case EngineKind::Core:
    case EngineKind::CoreOut:
      return static_cast<std::int64_t>(coreTile(engine.row, engine.column));
    case EngineKind::Sequencer:
    case EngineKind::Wire:
      return -1;
  }
  return -1;
}

Executable makeExecutable(const Program& program, const Device& device) {
  Executable x;
  x.program = &program;
  x.device = &device;
  numberEngines(x);
  checkMemories(program, device);
  checkTensors(program);
  for (const ProgramTensor& t : program.tensors)
    x.pixels.emplace_back(t.sampling, t.shape, program.tensors[t.root.at()].shape, program.batch);
  addLocks(x);
  addSections(x);
  return x;
}

std::int64_t valueOf(const Affine& affine, const std::int64_t* counters, std::int32_t depth,
                     const Engine& engine) {
  auto value = static_cast<std::uint64_t>(affine.base);
  value += static_cast<std::uint64_t>(affine.row) * static_cast<std::uint64_t>(engine.row);
  value += static_cast<std::uint64_t>(affine.column) * static_cast<std::uint64_t>(engine.column);
  for (std::int32_t k = 0; k < depth; ++k)
    value += static_cast<std::uint64_t>(affine.loop[static_cast<std::size_t>(k)]) *
             static_cast<std::uint64_t>(counters[k]);
  return static_cast<std::int64_t>(value);
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
