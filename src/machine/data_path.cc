#include "data_path.h"

#include <algorithm>
#include <cstring>

#include "fault.h"
#include "heddle/canon/fold_columns.h"
#include "heddle/program/visit.h"
#include "heddle/support/check.h"

namespace heddle::machine {
namespace {

std::int64_t cellsOf(const ProgramTensor& tensor) {
  return tensor.shape.height * tensor.shape.width * blocksOf(tensor.shape);
}

// Calls f(a, b, count) for stretches that lie in one run of both lists; `at` and `advance` say how
// a run is cut.
template <class A, class B, class F>
void zip(const std::vector<A>& as, const std::vector<B>& bs, F&& f) {
  std::size_t i = 0, j = 0;
  std::int64_t doneA = 0, doneB = 0;
  while (i < as.size() && j < bs.size()) {
    const std::int64_t count = std::min(as[i].count - doneA, bs[j].count - doneB);
    f(i, doneA, j, doneB, count);
    doneA += count;
    doneB += count;
    if (doneA == as[i].count) ++i, doneA = 0;
    if (doneB == bs[j].count) ++j, doneB = 0;
  }
}

void appendRun(std::vector<CellRun>& runs, std::int64_t cell, std::int64_t count) {
  if (!runs.empty() && runs.back().cell + runs.back().count == cell)
    runs.back().count += count;
  else
    runs.push_back({cell, count});
}

void appendRun(std::vector<IdentityRun>& runs, Identity first, std::int64_t count) {
  if (!runs.empty() && runs.back().first + static_cast<Identity>(runs.back().count) == first)
    runs.back().count += count;
  else
    runs.push_back({first, count});
}

}  // namespace

DataPath::DataPath(const Executable& executable, const WeightImage& weights,
                   const ProgramInputs& inputs, std::optional<CellPlace> watched)
    : x_(executable),
      memories_(executable, watched),
      values_(executable.leaves.size()),
      roots_(static_cast<std::size_t>(executable.program->frames) *
             executable.program->tensors.size()) {
  placeImage(weights);
  placeConstants();
  placeInputs(inputs);
}

// ---- before the program starts ----

void DataPath::placeImage(const WeightImage& weights) {
  const Program& p = *x_.program;
  const auto size = static_cast<std::int64_t>(weights.bytes.size());
  if (size != p.weightsBytes)
    fail("MACH017", "program '" + p.model + "'", "the weight image does not fit the program",
         "it has " + std::to_string(size) + " B, not " + std::to_string(p.weightsBytes),
         "give the weights.bin that was compiled with the program");
  if (size == 0) return;
  std::memcpy(memories_[Memories::ddr()].bytes.get() + p.weightsAddress, weights.bytes.data(),
              weights.bytes.size());
  memories_.place(Memories::ddr(), {p.weightsAddress / kBlock, divideRoundUp(size, kBlock)},
                  identityOf(Held::Weights, 0, 0));
}

void DataPath::placeConstants() {
  for (std::size_t i = 0; i < x_.program->tensors.size(); ++i) {
    const ProgramTensor& t = x_.program->tensors[i];
    if (!t.constant || t.root.at() != i) continue;
    memories_.place(Memories::ddr(), {*t.ddr / kBlock, cellsOf(t)},
                    identityOf(Held::Activation, static_cast<std::int64_t>(i), 0));
  }
}

void DataPath::placeInputs(const ProgramInputs& inputs) {
  const Program& p = *x_.program;
  if (inputs.size() != p.inputs.size())
    fail("MACH017", "program '" + p.model + "'", "the program has another number of inputs",
         std::to_string(p.inputs.size()) + ", not " + std::to_string(inputs.size()),
         "give every input");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorId id = p.inputs[i].tensor;
    const ProgramTensor& t = p.tensors[id.at()];
    const Shape image = portImage(p.inputs[i]);
    const std::int64_t frameSize = p.batch * image.elements();
    if (static_cast<std::int64_t>(inputs[i].size()) != p.frames * frameSize)
      fail(
          "MACH017", "input '" + p.inputs[i].name + "'",
          "the input has another size than its port says",
          std::to_string(inputs[i].size()) + " values, not " + std::to_string(p.frames * frameSize),
          p.frames == 1 ? "give an input of the port's shape"
                        : "give an input of the port's shape for each frame");
    for (std::int64_t frame = 0; frame < p.frames; ++frame)
      placeInput(id, frame,
                 asHeld({inputs[i].data() + frame * frameSize, static_cast<std::size_t>(frameSize)},
                        image, t.shape, t.zeroPoint));
  }
}

void DataPath::placeInput(TensorId id, std::int64_t frame, const std::vector<std::int8_t>& values) {
  const ProgramTensor& t = x_.program->tensors[id.at()];
  const std::int64_t address = *t.ddr + frame * t.frameStride;
  std::int8_t* to = memories_[Memories::ddr()].bytes.get() + address;
  std::memset(to, 0, static_cast<std::size_t>(cellsOf(t) * kBlock));  // channels of the padding
  const std::int8_t* value = values.data();
  for (std::int64_t y = 0; y < t.shape.height; ++y)
    for (std::int64_t x = 0; x < t.shape.width; ++x)
      for (std::int64_t c = 0; c < t.shape.channels; ++c)
        to[((y * blocksOf(t.shape) + c / kBlock) * t.shape.width + x) * kBlock + c % kBlock] =
            *value++;
  memories_.place(Memories::ddr(), {address / kBlock, cellsOf(t)},
                  identityOf(Held::Activation, id.index, 0, frame));
}

// ---- transfers ----

template <class I>
const I& DataPath::evaluated(const Execution& e) {
  LeafValues& values = values_[static_cast<std::size_t>(e.leaf)];
  const Instruction& instruction = *x_.leaves[static_cast<std::size_t>(e.leaf)].instruction;
  if (!values.flat) {
    forEachValue(instruction, [&](const Affine& a) { values.affine.push_back(a); });
    values.flat = evaluate(instruction, {}, {});
  }
  std::size_t k = 0;
  forEachValue(*values.flat, [&](std::int64_t& v) {
    v = valueOf(values.affine[k++], e.counters, e.depth, engineOf(e));
  });
  return std::get<I>(values.flat->as);
}

std::uint32_t DataPath::start(const Execution& e, const Moment& moment) {
  frame_ = e.frame;
  const std::uint32_t operation = memories_.begin(
      {e.engine, e.leaf, moment.actor, moment.number, moment.end}, moment.now, *moment.known);
  const Engine& engine = engineOf(e);
  switch (x_.leaves[static_cast<std::size_t>(e.leaf)].op) {
    case Op::Move:
      move(evaluated<Transfer<std::int64_t>>(e), engine, operation);
      break;
    case Op::Call:
      call(evaluated<Call<std::int64_t>>(e), core(engine), operation);
      break;
    case Op::Start:
    case Op::Wait:
    case Op::Send:
    case Op::Receive:
      break;
  }
  return operation;
}

void DataPath::move(const Transfer<std::int64_t>& i, const Engine& engine,
                    std::uint32_t operation) {
  const auto memoryOf = [&](const PlacedEnd<std::int64_t>& at) {
    switch (at.place) {
      case EndPlace::Ddr:
        return Memories::ddr();
      case EndPlace::ChannelsMemtile:
        return memories_.memtile(engine.column);
      case EndPlace::NamedMemtile:
        return memories_.memtile(*at.memtile);
      case EndPlace::Core:
        break;
    }
    return core(engine);
  };
  setPart(i.part);
  std::size_t from = 0;
  forEachEnd(i, [&](const PlacedEnd<std::int64_t>& at) {
    const std::size_t memory = memoryOf(at);
    const End<std::int64_t>& end =
        at.place == EndPlace::Ddr ? inDdr(at.end, i.part) : sized(at.end, i.part);
    if (at.point == 0)
      read(from = memory, end, operation);
    else
      write(from, memory, end, operation);
  });
  if (i.form().source == EndPlace::Core) capture(i.part, core(engine), operation);
}

std::uint32_t DataPath::startSend(const Execution& e, std::span<const Execution> receives,
                                  const Moment& moment) {
  frame_ = e.frame;
  const std::uint32_t operation = memories_.begin(
      {e.engine, e.leaf, moment.actor, moment.number, moment.end}, moment.now, *moment.known);
  const auto& send = evaluated<Transfer<std::int64_t>>(e);
  const std::size_t from = memories_.memtile(send.memtile);
  setPart(send.part);
  read(from, sized(send.source, send.part), operation);
  for (const Execution& r : receives) {
    const auto& receive = evaluated<Transfer<std::int64_t>>(r);
    write(from, core(engineOf(r)), sized(receive.destination, receive.part), operation);
  }
  return operation;
}

// Of an address that verify has found to lie in its memory.
std::int64_t DataPath::cellAt(std::int64_t address, std::int64_t bytes, std::size_t memory) const {
  HEDDLE_CHECK(address >= 0 && bytes / kBlock <= memories_[memory].cells - address / kBlock)
      << bytes << " B at " << address << " of " << nameOf(memories_[memory].tile);
  return address / kBlock;
}

void DataPath::appendCells(const End<std::int64_t>& end, std::size_t memory,
                           std::vector<CellRun>& runs) {
  runs.clear();
  const std::vector<Dimension>& dimensions = end.pattern.dimensions;
  counters_.assign(dimensions.size(), 0);
  std::int64_t address = byteAddress(end.address);
  for (;;) {
    appendRun(runs, cellAt(address, end.pattern.run, memory), end.pattern.run / kBlock);
    std::size_t d = dimensions.size();
    for (; d > 0; --d) {
      const Dimension& dimension = dimensions[d - 1];
      address += dimension.stride;
      if (++counters_[d - 1] < dimension.count) break;
      address -= dimension.stride * dimension.count;
      counters_[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

// The identities that the part means, in order.
void DataPath::setPart(const Part<std::int64_t>& part) {
  identities_.clear();
  if (part.content == Content::Weights) {
    const WeightRecord& record = recordAt(part.y);
    identities_.push_back(
        {identityOf(Held::Weights, 0, record.offset / kBlock), record.bytes / kBlock});
    return;
  }
  for (std::int64_t y = part.y; y < part.y + part.rows; ++y)
    for (std::int64_t b = part.block; b < part.block + part.blocks; ++b)
      forEachRun({part.tensor, y, b, part.x, part.columns},
                 [&](Identity first, std::int64_t count) { appendRun(identities_, first, count); });
}

const End<std::int64_t>& DataPath::sized(const End<std::int64_t>& end,
                                         const Part<std::int64_t>& part) {
  if (part.content != Content::Weights) return end;
  recordEnd_.address = end.address;
  recordEnd_.pattern.run = recordAt(part.y).bytes;
  return recordEnd_;
}

const End<std::int64_t>& DataPath::inDdr(const End<std::int64_t>& end,
                                         const Part<std::int64_t>& part) {
  if (part.content == Content::Weights) {
    recordEnd_.address = {.base = x_.program->weightsAddress + recordAt(part.y).offset};
    return sized(recordEnd_, part);
  }
  const std::int64_t stride = x_.program->tensors[part.tensor.at()].frameStride;
  if (frame_ == 0 || stride == 0) return end;
  frameEnd_ = end;
  frameEnd_.address.base += frame_ * stride;
  return frameEnd_;
}

void DataPath::read(std::size_t memory, const End<std::int64_t>& end, std::uint32_t operation) {
  appendCells(end, memory, source_);
  zip(source_, identities_,
      [&](std::size_t i, std::int64_t doneA, std::size_t j, std::int64_t doneB,
          std::int64_t count) {
        memories_.read(memory, {source_[i].cell + doneA, count},
                       identities_[j].first + static_cast<Identity>(doneB), operation);
      });
}

// The bytes just read arrive at `end`.
void DataPath::write(std::size_t from, std::size_t memory, const End<std::int64_t>& end,
                     std::uint32_t operation) {
  appendCells(end, memory, destination_);
  zip(destination_, identities_,
      [&](std::size_t i, std::int64_t doneA, std::size_t j, std::int64_t doneB,
          std::int64_t count) {
        memories_.write(memory, {destination_[i].cell + doneA, count},
                        identities_[j].first + static_cast<Identity>(doneB), operation);
      });
  const std::int8_t* source = memories_[from].bytes.get();
  std::int8_t* to = memories_[memory].bytes.get();
  zip(source_, destination_,
      [&](std::size_t i, std::int64_t doneA, std::size_t j, std::int64_t doneB,
          std::int64_t count) {
        std::memcpy(to + (destination_[j].cell + doneB) * kBlock,
                    source + (source_[i].cell + doneA) * kBlock,
                    static_cast<std::size_t>(count) * kBlock);
      });
}

// ---- what cores computed ----

void DataPath::capture(const Part<std::int64_t>& part, std::size_t memory,
                       std::uint32_t operation) {
  if (part.content != Content::Activation) return;
  RootCapture& root =
      roots_[static_cast<std::size_t>(frame_) * x_.program->tensors.size() + part.tensor.at()];
  const ProgramTensor& tensor = x_.program->tensors[part.tensor.at()];
  if (root.bytes.empty()) {
    constexpr std::int64_t kMaxCaptured = std::int64_t{1} << 32;
    root.missing = cellsOf(tensor);
    capturedBytes_ += root.missing * kBlock;
    if (capturedBytes_ > kMaxCaptured)
      failTooLarge("MACH016", memories_.where(operation),
                   "the tensors are too large to be kept for comparison", "", "simulate time only");
    root.bytes.resize(static_cast<std::size_t>(root.missing * kBlock));
    root.covered.resize(static_cast<std::size_t>(root.missing));
  }
  const std::int8_t* bytes = memories_[memory].bytes.get();
  zip(source_, identities_,
      [&](std::size_t i, std::int64_t doneA, std::size_t j, std::int64_t doneB,
          std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) {
          const Identity id = identities_[j].first + static_cast<Identity>(doneB + k);
          if (captureCell(root, indexOf(id), bytes + (source_[i].cell + doneA + k) * kBlock))
            continue;
          fail("MACH012", memories_.where(operation),
               "another core computed this part and disagrees", memories_.nameOf(id),
               "compile the program again");
        }
      });
}

bool DataPath::captureCell(RootCapture& root, std::int64_t cell, const std::int8_t* bytes) {
  std::int8_t* kept = root.bytes.data() + cell * kBlock;
  const auto i = static_cast<std::size_t>(cell);
  if (root.covered[i]) return std::memcmp(kept, bytes, 8) == 0;
  root.covered[i] = true;
  --root.missing;
  std::memcpy(kept, bytes, 8);
  return true;
}

void DataPath::complete(SimulateResult& result, const Knowledge& known) {
  memories_.endWith(known);
  const Program& p = *x_.program;
  for (std::size_t k = 0; k < roots_.size(); ++k) {
    RootCapture& root = roots_[k];
    const std::size_t i = k % p.tensors.size();
    if (root.missing > 0) {
      const auto hole =
          std::find(root.covered.begin(), root.covered.end(), false) - root.covered.begin();
      fail("MACH013", "tensor '" + p.tensors[i].name + "'", "the tensor is not wholly computed",
           std::to_string(root.missing) + " of " + std::to_string(root.covered.size()) +
               " cells are missing, the first: " +
               memories_.nameOf(identityOf(Held::Activation, static_cast<std::int64_t>(i), hole)),
           "let the cores' parts cover the tensor");
    }
    result.tensors.push_back(std::move(root.bytes));
  }
  for (std::int64_t frame = 0; frame < p.frames; ++frame)
    for (const Port& port : p.outputs) checkOutput(port, frame);
  memories_.forget();  // what is left is copied: both need not be there at once
  for (std::int64_t frame = 0; frame < p.frames; ++frame)
    for (const Port& port : p.outputs) result.outputs.push_back(outputOf(port, frame));
}

void DataPath::checkOutput(const Port& port, std::int64_t frame) const {
  const ProgramTensor& t = x_.program->tensors[port.tensor.at()];
  const std::int64_t first = (*t.ddr + frame * t.frameStride) / kBlock;
  memories_.checkWritten(Memories::ddr(), {first, cellsOf(t)}, port.name);
  const Identity* found = memories_[Memories::ddr()].identity.get() + first;
  for (std::int64_t i = 0; i < cellsOf(t); ++i)
    if (const Identity id =
            identityOf(Held::Activation, port.tensor.index, i, t.constant ? 0 : frame);
        found[i] != id)
      fail("MACH013", "output '" + port.name + "'",
           "the output does not lie in DDR when the program has ended",
           "expected " + memories_.nameOf(id) + ", found " + memories_.nameOf(found[i]),
           "write it there");
}

std::vector<std::int8_t> DataPath::outputOf(const Port& port, std::int64_t frame) const {
  const ProgramTensor& t = x_.program->tensors[port.tensor.at()];
  const std::int8_t* from = memories_[Memories::ddr()].bytes.get() + *t.ddr + frame * t.frameStride;
  return {from, from + cellsOf(t) * kBlock};
}

Diagnostic DataPath::explained(const Fault& fault) const {
  Diagnostic diagnostic = fault.diagnostic;
  const std::vector<HistoryEntry>& history = memories_.history;
  for (std::size_t i = history.size(); i-- > 1;) {
    if (history[i - 1].identity != fault.expected) continue;
    diagnostic.code = "MACH010";
    diagnostic.summary = "the bytes that it means to read were overwritten before";
    diagnostic.what +=
        "; the right bytes were written at cycle " + std::to_string(history[i - 1].time) + " by " +
        memories_.nameOfOperation(history[i - 1].operation) + " and overwritten at cycle " +
        std::to_string(history[i].time) + " by " + memories_.nameOfOperation(history[i].operation);
    diagnostic.mend = "let the writer wait for a lock that this reader releases";
    break;
  }
  return diagnostic;
}

}  // namespace heddle::machine
