#include "shadow_memory.h"

#include <algorithm>

namespace heddle::machine {
namespace {

constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 37;

std::string addressText(std::int64_t cell) { return "address " + std::to_string(cell * 8); }

}  // namespace

Memories::Memories(const Executable& x, std::optional<CellPlace> watched)
    : x_(x), watched_(watched) {
  const Device& d = *x.device;
  const std::int64_t core = d.core.operandMemory().raw();
  const Int128 total = Int128{x.program->ddrBytes} + Int128{d.columns} * d.memtile.memory.raw() +
                       Int128{d.cores()} * core;
  bool allocated = total <= kMaxTotalBytes;
  if (allocated) {
    memories_.reserve(static_cast<std::size_t>(1 + d.columns + d.cores()));
    memories_.emplace_back(Tile{TileKind::Ddr, 0, 0}, x.program->ddrBytes);
    for (std::int32_t c = 0; c < d.columns; ++c)
      memories_.emplace_back(Tile{TileKind::Memtile, 0, c}, d.memtile.memory.raw());
    for (std::int32_t r = 0; r < d.rows; ++r)
      for (std::int32_t c = 0; c < d.columns; ++c)
        memories_.emplace_back(Tile{TileKind::Core, r, c}, core);
    allocated = std::all_of(memories_.begin(), memories_.end(),
                            [](const Memory& m) { return m.allocated(); });
  }
  if (!allocated)
    fail("MACH016", "program '" + x.program->model + "'",
         "the memories are too large to be simulated with data",
         "DDR has " + std::to_string(x.program->ddrBytes) + " B", "simulate time only");
}

std::size_t Memories::core(std::int64_t row, std::int64_t column) const {
  return static_cast<std::size_t>(1 + x_.device->columns + row * x_.device->columns + column);
}

void Memories::read(std::size_t memory, CellRun cells, Identity first, std::uint32_t operation,
                    bool marks) {
  Memory& m = memories_[memory];
  const Identity* identity = m.identity.get() + cells.cell;
  Identity wrong = 0;
  for (std::int64_t i = 0; i < cells.count; ++i)
    wrong |= identity[i] ^ (first + static_cast<Identity>(i));
  if (wrong != 0)
    for (std::int64_t i = 0; i < cells.count; ++i)
      if (identity[i] != first + static_cast<Identity>(i))
        failRead(memory, cells.cell + i, first + static_cast<Identity>(i), operation);
  const std::uint32_t* lastWrite = m.lastWrite.get() + cells.cell;
  std::uint32_t* lastRead = m.lastRead.get() + cells.cell;
  const std::int64_t end = log[operation].end;
  std::uint32_t seenWrite = 0, seenRead = 0;
  bool keep = false;  // the earlier reader, which ends later
  for (std::int64_t i = 0; i < cells.count; ++i) {
    if (lastWrite[i] != seenWrite) {
      seenWrite = lastWrite[i];
      if (log[seenWrite].end > now_)
        failInFlight(memory, cells.cell + i, operation, seenWrite, false);
    }
    if (lastRead[i] != seenRead) {
      seenRead = lastRead[i];
      keep = log[seenRead].end > end;
    }
    if (marks && !keep) lastRead[i] = operation;
  }
}

void Memories::write(std::size_t memory, CellRun cells, Identity first, std::uint32_t operation) {
  Memory& m = memories_[memory];
  Identity* identity = m.identity.get() + cells.cell;
  std::uint32_t* lastWrite = m.lastWrite.get() + cells.cell;
  const std::uint32_t* lastRead = m.lastRead.get() + cells.cell;
  std::uint32_t seenWrite = 0, seenRead = 0;
  for (std::int64_t i = 0; i < cells.count; ++i) {
    if (lastWrite[i] != seenWrite) {
      seenWrite = lastWrite[i];
      if (log[seenWrite].end > now_)
        failInFlight(memory, cells.cell + i, operation, seenWrite, true);
    }
    if (lastRead[i] != seenRead) {
      seenRead = lastRead[i];
      if (log[seenRead].end > now_) failInFlight(memory, cells.cell + i, operation, seenRead, true);
    }
    identity[i] = first + static_cast<Identity>(i);
    lastWrite[i] = operation;
  }
  if (watched_ && watched_->memory == memory && watched_->cell >= cells.cell &&
      watched_->cell < cells.cell + cells.count)
    history.push_back({identity[watched_->cell - cells.cell], operation, now_});
}

void Memories::place(std::size_t memory, CellRun cells, Identity first) {
  write(memory, cells, first, 0);
}

std::string Memories::nameOf(Identity id) const {
  switch (heldBy(id)) {
    case Held::Nothing:
      return "nothing";
    case Held::Weights:
      return "weights at offset " + std::to_string(indexOf(id) * 8) + " of the image";
    case Held::Activation:
    case Held::Accumulator:
      break;
  }
  const ProgramTensor& tensor = x_.program->tensors[tensorOf(id)];
  const std::int64_t blocks = divideRoundUp(tensor.shape.channels, 8);
  const bool sum = heldBy(id) == Held::Accumulator;
  const std::int64_t cell = sum ? indexOf(id) / 4 : indexOf(id);
  return std::string(sum ? "the accumulator of " : "") + "tensor '" + tensor.name + "' row " +
         std::to_string(cell / (blocks * tensor.shape.width)) + " block " +
         std::to_string(cell / tensor.shape.width % blocks) + " column " +
         std::to_string(cell % tensor.shape.width);
}

std::string Memories::nameOfOperation(std::uint32_t operation) const {
  if (operation == 0) return "the host";
  const OperationLog::Operation& o = log[operation];
  std::string text = nameOfLeaf(x_, o.leaf) + " on " +
                     machine::nameOf(x_.engines[static_cast<std::size_t>(o.engine)], *x_.device);
  if (o.end == kUnknownEnd) return text;
  return text + " (its end: cycle " + std::to_string(o.end) + ")";
}

std::string Memories::where(std::uint32_t operation) const {
  const OperationLog::Operation& o = log[operation];
  return "cycle " + std::to_string(now_) + ", " +
         machine::nameOf(x_.engines[static_cast<std::size_t>(o.engine)], *x_.device) + ", " +
         nameOfLeaf(x_, o.leaf);
}

void Memories::failRead(std::size_t memory, std::int64_t cell, Identity expected,
                        std::uint32_t operation) const {
  const Memory& m = memories_[memory];
  const Identity found = m.identity.get()[cell];
  const std::string place = machine::nameOf(m.tile) + ", " + addressText(cell);
  Fault fault;
  fault.place = CellPlace{memory, cell};
  fault.expected = expected;
  fault.diagnostic = {
      found == 0 ? "MACH008" : "MACH009", where(operation),
      found == 0 ? "it reads bytes that nobody has written"
                 : "it reads other bytes than it means to read",
      place + ": expected " + nameOf(expected) + ", found " + nameOf(found) +
          (found == 0 ? "" : ", written by " + nameOfOperation(m.lastWrite.get()[cell])),
      "correct the address, or the lock that lets it start this early"};
  throw fault;
}

void Memories::failInFlight(std::size_t memory, std::int64_t cell, std::uint32_t operation,
                            std::uint32_t other, bool writes) const {
  const Memory& m = memories_[memory];
  const bool otherWrites = m.lastWrite.get()[cell] == other;
  fail("MACH011", where(operation),
       writes ? "it writes bytes that are in flight" : "it reads bytes that are in flight",
       machine::nameOf(m.tile) + ", " + addressText(cell) + " (" + nameOf(m.identity.get()[cell]) +
           "): " +
           (other == operation ? "it touches them twice itself"
                               : nameOfOperation(other) +
                                     (otherWrites ? " still writes them" : " still reads them")),
       "let it wait for a lock that the other releases");
}

}  // namespace heddle::machine
