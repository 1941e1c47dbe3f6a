#include <algorithm>
#include <set>

#include "heddle/canon/fold_columns.h"
#include "heddle/program/names.h"
#include "heddle/tiling/pixel_map.h"
#include "heddle/tiling/plan.h"
#include "verify_checks.h"

namespace heddle {
namespace {

// Whether [address, address + bytes) lies in a memory of `size` bytes.
bool liesIn(std::int64_t address, std::int64_t bytes, std::int64_t size) {
  return address >= 0 && bytes >= 0 && bytes <= size && address <= size - bytes;
}

// Of all frames together: tensors, or steps.
constexpr std::int64_t kMaxOfFrames = std::int64_t{1} << 22;

// Memories are told apart in cells of 8 bytes.
bool isWholeCells(std::int64_t bytes) { return bytes % kBlock == 0; }

bool within(std::int64_t n, std::int64_t low, std::int64_t high) { return n >= low && n <= high; }

class Declarations {
 public:
  Declarations(const Program& program, const Device& device, Faults& faults)
      : program_(program), device_(device), faults_(faults) {}

  void check() {
    frames();
    ddr();
    shapes();
    records();
    if (faults_.broken()) return;
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) tensor(i);
    for (const Port& p : program_.inputs) port(p, true);
    inputsOnce();
    for (const Port& p : program_.outputs) port(p, false);
    for (std::size_t i = 0; i < program_.layers.size(); ++i) layer(i);
    for (std::size_t i = 0; i < program_.steps.size(); ++i) step(i);
    for (std::size_t i = 0; i < program_.kernels.size(); ++i) kernel(i);
    for (const Buffer& b : program_.buffers) buffer(b);
    locks();
  }

 private:
  bool known(TensorId t) const { return t.valid() && t.at() < program_.tensors.size(); }
  bool knownOrNone(StepId s) const { return !s.valid() || s.at() < program_.stepCount(); }

  void frames() {
    if (!within(program_.frames, 1, kMaxFrames))
      faults_.add("PROG004", "frames", "the number of frames is out of range",
                  std::to_string(program_.frames), "give 1 to " + std::to_string(kMaxFrames));
    else if (const auto kept =
                 static_cast<std::int64_t>(std::max(program_.tensors.size(), program_.stepCount()));
             kept > kMaxOfFrames / program_.frames)
      faults_.add("PROG004", "frames",
                  "more frames than so many tensors or steps are told apart in",
                  std::to_string(program_.frames) + " frames of " + std::to_string(kept) +
                      "; together at most " + std::to_string(kMaxOfFrames),
                  "compile it for fewer", Severity::DoesNotFit);
    if (!within(program_.batch, 1, kMaxBatch))
      faults_.add("PROG004", "batch", "the number of inferences of a frame is out of range",
                  std::to_string(program_.batch), "give 1 to " + std::to_string(kMaxBatch));
    for (std::size_t i = 0; i < program_.sections.size() && !faults_.full(); ++i) {
      const Section& section = program_.sections[i];
      if (section.lastFrame && !waitsOnly(section))
        faults_.add("PROG003", "section " + std::to_string(i),
                    "a section of the last frame does more than wait",
                    "each frame executes the same, but what the sequencer waits for at the end",
                    "let only WAITs of the sequencer stand there");
    }
  }

  static bool waitsOnly(const Section& section) {
    return section.engines.kind == EngineKind::Sequencer &&
           std::all_of(section.items.begin(), section.items.end(), [](const Item& item) {
             const auto* instruction = std::get_if<Instruction>(&item.as);
             return instruction && std::holds_alternative<Wait<Affine>>(instruction->as);
           });
  }

  void ddr() {
    const std::int64_t size = program_.ddrBytes;
    if (!within(size, 0, kMaxDdrBytes))
      faults_.add("PROG004", "ddr", "the size of DDR is out of range",
                  std::to_string(size) + " B; at most " + std::to_string(kMaxDdrBytes) + " B",
                  "choose a smaller network", Severity::DoesNotFit);
    else if (!isWholeCells(program_.weightsAddress) ||
             !liesIn(program_.weightsAddress, program_.weightsBytes, size))
      faults_.add("PROG005", "weights", "the weight image lies outside of DDR",
                  std::to_string(program_.weightsBytes) + " B at " +
                      std::to_string(program_.weightsAddress) + ", DDR has " +
                      std::to_string(size) + " B",
                  "place it inside, at a multiple of 8");
  }

  void records() {
    std::int64_t end = 0;  // of the sound record before
    for (std::size_t i = 0; i < program_.records.size() && !faults_.full(); ++i) {
      const WeightRecord& r = program_.records[i];
      const std::string name = "record " + std::to_string(i);
      if (r.offset % kBlock != 0 || r.bytes % kBlock != 0 || r.bytes < 1 ||
          !liesIn(r.offset, r.bytes, program_.weightsBytes))
        faults_.add("PROG005", name, "a weight record does not lie in the weight image",
                    std::to_string(r.bytes) + " B at " + std::to_string(r.offset) + " of " +
                        std::to_string(program_.weightsBytes) + " B; both are multiples of 8",
                    "place it inside");
      else if (!within(r.kept, 0, kMaxNumber))
        faults_.add("PROG004", name, "the number of kept blocks is out of range",
                    std::to_string(r.kept), "count the blocks that the record holds");
      else if (!within(r.padding, 0, r.bytes - 1))
        faults_.add("PROG004", name, "the padding is out of range",
                    std::to_string(r.padding) + " of " + std::to_string(r.bytes) + " B",
                    "count the bytes that nobody reads");
      else if (r.offset < end)
        faults_.add("PROG005", name, "weight records overlap, or are out of order",
                    "it begins at " + std::to_string(r.offset) + ", the one before ends at " +
                        std::to_string(end),
                    "place one behind the other");
      else
        end = r.offset + r.bytes;
    }
  }

  void shapes() {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < program_.tensors.size() && !faults_.full(); ++i) {
      const Shape& s = program_.tensors[i].shape;
      const bool axes = within(s.height, 1, kMaxExtent) && within(s.width, 1, kMaxExtent) &&
                        within(s.channels, 1, kMaxExtent);
      if (axes)
        total +=
            std::min(s.height * s.width * blocksOf(program_.tensors[i].shape), kMaxTensorBytes) *
            kBlock;
      if (axes && program_.batch > 0 && s.height % program_.batch != 0)
        faults_.add(
            "PROG004", tensorName(i), "the rows are not those of whole images",
            std::to_string(s.height) + " rows, a batch of " + std::to_string(program_.batch),
            "give each image of the batch as many rows");
      if (axes && total <= kMaxTensorBytes) continue;
      faults_.add("PROG004", tensorName(i), "the shape of the tensor is out of range",
                  "axes of 1 to " + std::to_string(kMaxExtent) + ", " +
                      std::to_string(kMaxTensorBytes) + " B for all tensors together",
                  "choose a smaller network", Severity::DoesNotFit);
    }
  }

  std::string tensorName(std::size_t i) const {
    return "tensor %" + std::to_string(i) + " '" + program_.tensors[i].name + "'";
  }

  static std::string viewText(const ProgramTensor& t, const ProgramTensor& root) {
    std::string text = "channel block " + std::to_string(t.rootBlock);
    if (t.sampling) text += ", " + toText(*t.sampling);
    const auto size = [](const Shape& shape) {
      return std::to_string(shape.height) + "x" + std::to_string(shape.width) + "x" +
             std::to_string(shape.channels);
    };
    return text + " of %" + std::to_string(t.root.index) + "; " + size(t.shape) + " of " +
           size(root.shape);
  }

  void tensor(std::size_t i) {
    const ProgramTensor& t = program_.tensors[i];
    const Shape& s = t.shape;
    const std::int64_t blocks = blocksOf(t.shape);
    if (!known(t.root) || program_.tensors[t.root.at()].root != t.root) {
      faults_.add("PROG001", tensorName(i), "the tensor's root is no root",
                  "root %" + std::to_string(t.root.index), "name a tensor that is its own root");
      return;
    }
    const ProgramTensor& root = program_.tensors[t.root.at()];
    if (t.root.at() == i && t.sampling)
      faults_.add("PROG006", tensorName(i), "the tensor has pixels of itself", viewText(t, root),
                  "leave out its 'rows' and 'columns', or name another root");
    else if (!within(t.rootBlock, 0, blocksOf(root.shape) - blocks) ||
             !pixelsFit(t.sampling, s, root.shape, std::max<std::int64_t>(program_.batch, 1)))
      faults_.add("PROG006", tensorName(i), "the view is not inside its root", viewText(t, root),
                  "a view has some of its root's channel blocks, and all rows and columns or those "
                  "that 'rows' and 'columns' name");
    const std::int64_t bytes = s.height * s.width * blocks * kBlock;
    if (!within(t.frameStride, 0, kMaxDdrBytes) || t.frameStride % kBlock != 0 ||
        (t.frameStride > 0 && (!t.ddr || t.frameStride < bytes || program_.frames == 1)))
      faults_.add("PROG004", tensorName(i), "the distance between frames is out of range",
                  std::to_string(t.frameStride) + " B; the tensor has " + std::to_string(bytes) +
                      " B, the program " + std::to_string(program_.frames) + " frames",
                  "place one frame of it behind the other");
    else if (t.ddr &&
             (!isWholeCells(*t.ddr) ||
              !liesIn(*t.ddr, (program_.frames - 1) * t.frameStride + bytes, program_.ddrBytes)))
      faults_.add("PROG005", tensorName(i), "the tensor lies outside of DDR",
                  "at " + std::to_string(*t.ddr), "place it inside, at a multiple of 8");
    else if (t.constant && t.root.at() == i && !isInWeights(t.ddr, bytes))
      faults_.add("PROG005", tensorName(i), "the constant does not lie in the weight image",
                  t.ddr ? "at " + std::to_string(*t.ddr) : "it has no address in DDR",
                  "place it inside");
    if (!t.blockOrder.empty()) blockOrder(i);
    for (const Slice& slice : t.slices) this->slice(i, slice);
  }

  bool isInWeights(std::optional<std::int64_t> address, std::int64_t bytes) const {
    return address && liesIn(*address - program_.weightsAddress, bytes, program_.weightsBytes);
  }

  void blockOrder(std::size_t i) {
    const ProgramTensor& t = program_.tensors[i];
    std::vector<std::int64_t> blocks = t.blockOrder;
    std::ranges::sort(blocks);
    bool each = std::ssize(blocks) == blocksOf(t.shape);
    for (std::int64_t b = 0; each && b < std::ssize(blocks); ++b)
      each = blocks[static_cast<std::size_t>(b)] == b;
    const bool isLastMoved = t.shape.channels % kBlock != 0 && each &&
                             t.blockOrder.back() != std::ssize(t.blockOrder) - 1;
    const auto isThis = [&](const Port& port) { return port.tensor == TensorId(i); };
    if (isLastMoved || std::ranges::any_of(program_.inputs, isThis) ||
        std::ranges::any_of(program_.outputs, isThis))
      faults_.add("PROG004", tensorName(i), "its channel blocks may not stand in another order",
                  isLastMoved ? "the last block is not full" : "the host sees them",
                  "leave the order out");
    if (!each)
      faults_.add("PROG004", tensorName(i), "the order of its channel blocks is none",
                  std::to_string(t.blockOrder.size()) + " numbers; the tensor has blocks 0 to " +
                      std::to_string(blocksOf(t.shape) - 1),
                  "name each block once");
  }

  void slice(std::size_t i, const Slice& slice) {
    const ProgramTensor& t = program_.tensors[i];
    if (!within(slice.memtile, 0, device_.memtiles() - 1)) {
      faults_.add("PROG001", tensorName(i), "a slice lies in a memtile that is not there",
                  "mem(" + std::to_string(slice.memtile) + "), the device has " +
                      std::to_string(device_.memtiles()),
                  "name a memtile of the device");
      return;
    }
    const bool box = within(slice.rows, 1, t.shape.height) &&
                     within(slice.y, 0, t.shape.height - slice.rows) &&
                     within(slice.columns, 1, t.shape.width) &&
                     within(slice.x, 0, t.shape.width - slice.columns) &&
                     within(slice.blocks, 1, blocksOf(t.shape)) &&
                     within(slice.block, 0, blocksOf(t.shape) - slice.blocks);
    if (!box)
      faults_.add("PROG004", tensorName(i), "a slice is not inside its tensor",
                  "rows " + std::to_string(slice.y) + " for " + std::to_string(slice.rows) +
                      ", columns " + std::to_string(slice.x) + " for " +
                      std::to_string(slice.columns) + ", blocks " + std::to_string(slice.block) +
                      " for " + std::to_string(slice.blocks),
                  "cut it from the tensor");
    else if (!liesIn(slice.address, slice.bytes(), device_.memtile.memory.raw()))
      faults_.add("PROG005", tensorName(i), "a slice lies outside of its memtile",
                  "at " + std::to_string(slice.address), "place it inside");
  }

  void port(const Port& p, bool isInput) {
    const std::string where = (isInput ? "input '" : "output '") + p.name + "'";
    if (!known(p.tensor)) {
      faults_.add("PROG001", where, "its tensor is not there", "%" + std::to_string(p.tensor.index),
                  "name a tensor");
      return;
    }
    const ProgramTensor& tensor = program_.tensors[p.tensor.at()];
    if (tensor.root != p.tensor) {
      faults_.add("PROG006", where, "its tensor is a part of another",
                  "%" + std::to_string(p.tensor.index), "name a tensor that is its own root");
      return;
    }
    if (!tensor.ddr)
      faults_.add("PROG005", where, "its tensor has no address in DDR",
                  "%" + std::to_string(p.tensor.index), "the host finds it there: give it one");
    if (isInput && tensor.constant)
      faults_.add("PROG006", where, "its tensor is a constant",
                  "%" + std::to_string(p.tensor.index), "name one that the host gives");
    if (program_.frames > 1 && tensor.frameStride == 0 && !tensor.constant)
      faults_.add(
          "PROG004", where, "all frames have one place",
          "%" + std::to_string(p.tensor.index) + ", " + std::to_string(program_.frames) + " frames",
          "place one frame of it behind the other ('per-frame')");
    Shape shape = tensor.shape;
    shape.height /= std::max<std::int64_t>(program_.batch, 1);  // that of one image
    if (!isPortOf(p, shape, isInput))
      faults_.add(
          "PROG013", where, "its axes are not those of its tensor",
          "axes '" + p.axes + "', tensor " + std::to_string(shape.height) + "x" +
              std::to_string(shape.width) + "x" + std::to_string(shape.channels),
          std::string("give the view one extent for each of its axes, equal to the tensor's") +
              (isInput ? "; several of its columns may be channels of one" : ""));
  }

  // The host gives each input once.
  void inputsOnce() {
    std::set<TensorId> tensors;
    for (const Port& p : program_.inputs)
      if (known(p.tensor) && !tensors.insert(p.tensor).second)
        faults_.add("PROG006", "input '" + p.name + "'", "its tensor is another input's, too",
                    "%" + std::to_string(p.tensor.index), "leave one of the two out");
  }

  void layer(std::size_t i) {
    if (!known(program_.layers[i].output))
      faults_.add("PROG001", "layer " + std::to_string(i) + " '" + program_.layers[i].name + "'",
                  "its output is not there", "%" + std::to_string(program_.layers[i].output.index),
                  "name a tensor");
  }

  void step(std::size_t i) {
    const LayerId layer = program_.steps[i];
    if (!layer.valid() || layer.at() >= program_.layers.size())
      faults_.add("PROG001", "step " + std::to_string(i), "its layer is not there",
                  "layer " + std::to_string(layer.index), "name a layer");
  }

  void kernel(std::size_t i) {
    const Kernel& k = program_.kernels[i];
    const Window& w = k.window;
    bool fits = true;
    for (const std::int64_t n :
         {w.kernelY, w.kernelX, w.strideY, w.strideX, w.dilationY, w.dilationX, k.tensorHeight,
          k.tensorWidth, k.inputBlocks, k.outputBlocks, k.outputColumns, k.kernelYWhole})
      fits = fits && within(n, 1, kMaxExtent);
    for (const std::int64_t pad : {w.padTop, w.padLeft, w.padBottom, w.padRight})
      fits = fits && within(pad, 0, kMaxExtent);
    const bool isOfOnePixel = k.op == OpKind::Conv && w == Window{};
    constexpr std::int64_t kAddMultiplier = std::int64_t{1} << 46;  // canon: Add
    fits = fits && within(k.multiplierA, -kAddMultiplier, kAddMultiplier) &&
           within(k.multiplierB, -kAddMultiplier, kAddMultiplier) && within(k.shift, 0, 1 << 12) &&
           k.rescale.multiplier >= 0 && within(k.rescale.shift, -(1 << 12), 1 << 12) &&
           k.clamp.low <= k.clamp.high && k.addedToClamp.low <= k.addedToClamp.high &&
           (!k.addsInput || k.op == OpKind::Conv) && k.productClamp.low <= k.productClamp.high &&
           (!k.multipliesInput || isOfOnePixel) &&

           (!k.looksUp || k.op == OpKind::Conv || k.op == OpKind::DepthwiseConv) &&
           k.lookedUpClamp.low <= k.lookedUpClamp.high &&
           (!k.broadcasts || k.addsInput || k.op == OpKind::Add || k.op == OpKind::Mul) &&
           (!k.tableLines || (k.op == OpKind::Table && k.tablePerChannel) ||
            (isOfOnePixel && !k.multipliesInput)) &&

           (!k.looksUp || (k.addsInput ? k.addedToClamp : k.clamp) == Clamp{}) &&
           within(k.recordAt, 0, k.op == OpKind::Conv ? kMaxDdrBytes : 0) &&
           k.recordAt % kBlock == 0 && (!k.sharesRecord || k.op == OpKind::DepthwiseConv);
    fits = fits && std::max(w.kernelY, k.kernelYWhole) * w.kernelX <= kMaxTaps &&
           (k.op != OpKind::AveragePool || k.kernelYWhole >= w.kernelY) &&
           std::ssize(k.moves) <= kMaxMovedParts;
    for (const Kernel::Move& move : k.moves)
      fits = fits && mapFits(move.columns, k.outputColumns) &&
             mapFits(move.channels, k.outputBlocks * kBlock) && within(move.table, -1, kMaxExtent);
    if (!fits)
      faults_.add("PROG004", "kernel k" + std::to_string(i) + " '" + k.name + "'",
                  "a number of the kernel is out of range",
                  "extents are 1 to " + std::to_string(kMaxExtent) +
                      ", pads 0 to as many, taps at most " + std::to_string(kMaxTaps) +
                      ", moves name each output once",
                  "docs/asm.md says what each number means");
  }

  // Also that no output is named more than once, as far as their number says so.
  static bool mapFits(const AxisMap& map, std::int64_t outputs) {
    std::int64_t named = 0;
    for (const AxisRun& run : map) named += std::clamp<std::int64_t>(run.count, 0, kMaxExtent);
    return named <= outputs && std::all_of(map.begin(), map.end(), [&](const AxisRun& r) {
             return within(r.count, 1, kMaxExtent) && within(r.toStep, 1, kMaxExtent) &&
                    within(r.to, 0, outputs - 1) && r.to + (r.count - 1) * r.toStep < outputs &&
                    within(r.fromStep, -kMaxExtent, kMaxExtent) && within(r.from, 0, kMaxExtent) &&
                    r.from + (r.count - 1) * r.fromStep >= 0;
           });
  }

  std::int64_t memoryOf(TileKind kind) const {
    switch (kind) {
      case TileKind::Ddr:
        return program_.ddrBytes;
      case TileKind::Memtile:
        return device_.memtile.memory.raw();
      case TileKind::Core:
        return device_.core.memory.raw();
    }
    return 0;
  }

  void buffer(const Buffer& b) {
    const std::string where = "buffer '" + b.name + "'";
    const std::int64_t rows = b.kind == TileKind::Core ? device_.rows : 1;
    const std::int64_t columns = b.kind == TileKind::Core      ? device_.columns
                                 : b.kind == TileKind::Memtile ? device_.memtiles()
                                                               : 1;
    if (!within(b.tiles.rows, 1, rows) || !within(b.tiles.row, 0, rows - b.tiles.rows) ||
        !within(b.tiles.columns, 1, columns) ||
        !within(b.tiles.column, 0, columns - b.tiles.columns))
      faults_.add("PROG001", where, "it lies in tiles that are not there",
                  std::string(word(b.kind)), "name tiles of the device");
    if (!liesIn(b.address, b.size, memoryOf(b.kind)))
      faults_.add("PROG005", where, "the buffer lies outside of its memory",
                  std::to_string(b.size) + " B at " + std::to_string(b.address) + ", there are " +
                      std::to_string(memoryOf(b.kind)) + " B",
                  "place it inside");
    if (!knownOrNone(b.first) || !knownOrNone(b.last) || (b.tensor.valid() && !known(b.tensor)))
      faults_.add("PROG001", where, "its steps or tensor are not there", "",
                  "name steps and tensors of the program");
  }

  void locks() {
    std::set<std::pair<Tile, std::int32_t>> declared;
    for (const Lock& l : program_.locks) {
      const std::string where = "lock L" + std::to_string(l.index) + " in " + toText(l.tile);
      const bool ddr = l.tile.kind == TileKind::Ddr;
      if (ddr || !exists(l.tile, device_) || !exists(l.producer, device_) ||
          !exists(l.consumer, device_))
        faults_.add("PROG001", where, "its tile, producer or consumer is not there",
                    toText(l.tile) + ", " + toText(l.producer) + ", " + toText(l.consumer),
                    "locks lie in memtiles and cores of the device");
      lockLimits(l, where);
      if (!declared.insert({l.tile, l.index}).second)
        faults_.add("PROG009", where, "the lock is declared twice", "",
                    "give each lock a number of its own");
    }
  }

  void lockLimits(const Lock& l, const std::string& where) {
    const Limits& limits = device_.limits;
    const auto limit = l.tile.kind == TileKind::Core ? limits.coreLocks : limits.memtileLocks;
    const std::string queues = ", from " + toText(l.producer) + " to " + toText(l.consumer);
    if (!within(l.index, 0, kMaxLockIndex - 1))
      faults_.add("PROG004", where, "the number of the lock is out of range",
                  "locks are numbered from 0 to " + std::to_string(kMaxLockIndex - 1),
                  "use fewer locks");
    else if (limit && l.index >= *limit)
      faults_.add({.key = keyOf(l.tile.kind) + ".locks",
                   .where = where + queues,
                   .summary = "the tile has too few locks",
                   .needed = std::int64_t{l.index} + 1,
                   .there = *limit,
                   .unit = {}});
    if (!within(l.initial, 0, kMaxExtent))
      faults_.add("PROG004", where, "the initial value of the lock is out of range",
                  std::to_string(l.initial) + " is not between 0 and " + std::to_string(kMaxExtent),
                  "begin with a value that the lock can hold");
    else if (limits.lockMaximum && l.initial > *limits.lockMaximum)
      faults_.add({.key = "limits.lockMaximum",
                   .where = where + queues,
                   .summary = "the lock begins with more than a lock can hold",
                   .needed = l.initial,
                   .there = *limits.lockMaximum,
                   .unit = {}});
  }

  const Program& program_;
  const Device& device_;
  Faults& faults_;
};

}  // namespace

void verifyDeclarations(const Program& program, const Device& device, Faults& faults) {
  Declarations(program, device, faults).check();
}

}  // namespace heddle
