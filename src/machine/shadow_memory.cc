#include "shadow_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace heddle::machine {
namespace {

constexpr std::uint32_t kManyReaders = 0x80000000;
constexpr std::int64_t kMaxTotalBytes = std::int64_t{1} << 37;

constexpr std::size_t kFromTheSystem = std::size_t{1} << 20;  // so many bytes, or more

std::string addressText(std::int64_t cell) { return "address " + std::to_string(cell * kBlock); }

}  // namespace

ZeroedBytes::ZeroedBytes(std::size_t size) : size_(size) {
  if (size < kFromTheSystem) {
    data_ = std::calloc(size, 1);
    return;
  }
  void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages != MAP_FAILED) data_ = pages;
}

void ZeroedBytes::release() {
  void* const data = std::exchange(data_, nullptr);
  if (size_ < kFromTheSystem)
    std::free(data);
  else if (data)
    ::munmap(data, size_);
}

Memories::Memories(const Executable& x, std::optional<CellPlace> watched)
    : x_(x), watched_(watched) {
  const Device& d = *x.device;
  const std::int64_t core = d.core.operandMemory().raw();
  const Int128 total = Int128{x.program->ddrBytes} + Int128{d.columns} * d.memtile.memory.raw() +
                       Int128{d.cores()} * core;
  bool allocated = total <= kMaxTotalBytes && x.program->tensors.size() <= kMostTensors;
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
    failTooLarge("MACH016", "program '" + x.program->model + "'",
                 "the memories are too large to be simulated with data",
                 "DDR has " + std::to_string(x.program->ddrBytes) + " B", "simulate time only");
}

std::size_t Memories::core(std::int64_t row, std::int64_t column) const {
  return static_cast<std::size_t>(1 + x_.device->columns + row * x_.device->columns + column);
}

std::uint32_t Memories::begin(const OperationLog::Operation& operation, std::int64_t now,
                              const Knowledge& known) {
  now_ = now;
  known_ = &known;
  return log.add(operation);
}

std::span<const std::uint32_t> Memories::readersOf(const std::uint32_t& entry) const {
  if (entry >= kManyReaders) return manyReaders_[entry - kManyReaders];
  return {&entry, entry == 0 ? 0U : 1U};
}

// Who waits for `operation` has waited for all that are before it. One operation meets the same
// readers run after run.
std::uint32_t Memories::withReader(std::uint32_t entry, std::uint32_t operation) {
  if (entry == operation) return entry;
  if (entry == joined_.entry && operation == joined_.operation) return joined_.result;
  std::vector<std::uint32_t> open;
  for (const std::uint32_t reader : readersOf(entry))
    if (reader == operation || !isBefore(reader)) open.push_back(reader);
  const bool known = std::find(open.begin(), open.end(), operation) != open.end();
  std::uint32_t result = operation;
  if (known && open.size() == readersOf(entry).size()) {
    result = entry;
  } else if (!open.empty() && !(known && open.size() == 1)) {
    if (!known) open.push_back(operation);
    result = kManyReaders + static_cast<std::uint32_t>(manyReaders_.size());
    manyReaders_.push_back(std::move(open));
  }
  joined_ = {entry, operation, result};
  return result;
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
  std::uint32_t* readers = m.readers.get() + cells.cell;
  std::uint32_t seenWrite = 0, seen = 0, now = operation;  // who read `seen` is now `now`
  for (std::int64_t i = 0; i < cells.count; ++i) {
    if (lastWrite[i] != seenWrite) {
      seenWrite = lastWrite[i];
      if (!isBefore(seenWrite)) failUnordered(memory, cells.cell + i, operation, seenWrite, false);
    }
    if (!marks) continue;
    if (readers[i] != seen) {
      seen = readers[i];
      now = withReader(seen, operation);
    }
    readers[i] = now;
  }
}

void Memories::write(std::size_t memory, CellRun cells, Identity first, std::uint32_t operation) {
  Memory& m = memories_[memory];
  Identity* identity = m.identity.get() + cells.cell;
  std::uint32_t* lastWrite = m.lastWrite.get() + cells.cell;
  std::uint32_t* readers = m.readers.get() + cells.cell;
  std::uint32_t seenWrite = 0, seen = 0;
  for (std::int64_t i = 0; i < cells.count; ++i) {
    if (lastWrite[i] != seenWrite) {
      seenWrite = lastWrite[i];
      if (!isBefore(seenWrite)) failUnordered(memory, cells.cell + i, operation, seenWrite, true);
    }
    if (readers[i] != seen) {
      seen = readers[i];
      for (const std::uint32_t reader : readersOf(seen))
        if (!isBefore(reader)) failUnordered(memory, cells.cell + i, operation, reader, true);
    }
    identity[i] = first + static_cast<Identity>(i);
    lastWrite[i] = operation;
    if (seen != 0) readers[i] = 0;  // a page that nobody reads is never touched
  }
  if (watched_ && watched_->memory == memory && watched_->cell >= cells.cell &&
      watched_->cell < cells.cell + cells.count)
    history.push_back({identity[watched_->cell - cells.cell], operation, now_});
}

// Only who finishes a sum marks that it has read it.
void Memories::checkNoSum(std::size_t memory, CellRun cells, std::uint32_t operation) const {
  const Memory& m = memories_[memory];
  for (std::int64_t i = cells.cell; i < cells.cell + cells.count; ++i)
    if (heldBy(m.identity.get()[i]) == Held::Accumulator && m.readers.get()[i] == 0)
      fail("MACH010", where(operation), "a sum is begun anew that no call has finished",
           machine::nameOf(m.tile) + ", " + addressText(i) + ": " + nameOf(m.identity.get()[i]) +
               ", written by " + nameOfOperation(m.lastWrite.get()[i]),
           "add to it, or finish it before");
}

void Memories::forget() {
  for (Memory& memory : memories_) {
    memory.identity.release();
    memory.lastWrite.release();
    memory.readers.release();
  }
}

void Memories::checkWritten(std::size_t memory, CellRun cells, const std::string& output) const {
  const std::uint32_t* lastWrite = memories_[memory].lastWrite.get();
  for (std::int64_t i = cells.cell; i < cells.cell + cells.count; ++i)
    if (!isBefore(lastWrite[i]))
      fail("MACH019", "output '" + output + "'",
           "the sequencer may end before the output is written",
           machine::nameOf(memories_[memory].tile) + ", " + addressText(i) + ": " +
               nameOfOperation(lastWrite[i]) + " writes it",
           "let the sequencer WAIT for the last entry that writes it");
}

void Memories::place(std::size_t memory, CellRun cells, Identity first) {
  write(memory, cells, first, 0);
}

std::string Memories::nameOf(Identity id) const {
  switch (heldBy(id)) {
    case Held::Nothing:
      return "nothing";
    case Held::Weights:
      return "weights at offset " + std::to_string(indexOf(id) * kBlock) + " of the image";
    case Held::Activation:
    case Held::Accumulator:
      break;
  }
  const ProgramTensor& tensor = x_.program->tensors[tensorOf(id)];
  const std::int64_t blocks = blocksOf(tensor.shape);
  const bool sum = heldBy(id) == Held::Accumulator;
  const std::int64_t cell = sum ? indexOf(id) / 4 : indexOf(id);
  return std::string(sum ? "the accumulator of " : "") + "tensor '" + tensor.name + "' row " +
         std::to_string(cell / (blocks * tensor.shape.width)) + " block " +
         std::to_string(cell / tensor.shape.width % blocks) + " column " +
         std::to_string(cell % tensor.shape.width) +
         (x_.program->frames > 1 ? " of frame " + std::to_string(frameOf(id)) : "");
}

std::string Memories::nameOfOperation(std::uint32_t operation) const {
  if (operation == 0) return "the host";
  const OperationLog::Operation& o = log[operation];
  std::string text =
      nameOfLeaf(x_, o.leaf) + " on " + machine::nameOf(x_.engine(o.engine), *x_.device);
  if (o.end == kUnknownEnd) return text;
  return text + " (its end: cycle " + std::to_string(o.end) + ")";
}

std::string Memories::where(std::uint32_t operation) const {
  const OperationLog::Operation& o = log[operation];
  return "cycle " + std::to_string(now_) + ", " + machine::nameOf(x_.engine(o.engine), *x_.device) +
         ", " + nameOfLeaf(x_, o.leaf);
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

// Two operations touch the same bytes, one writes them, and nothing makes one wait for the other.
void Memories::failUnordered(std::size_t memory, std::int64_t cell, std::uint32_t operation,
                             std::uint32_t other, bool writes) const {
  const Memory& m = memories_[memory];
  const bool otherWrites = m.lastWrite.get()[cell] == other;
  const bool inFlight = other == operation || log[other].end > now_;
  const std::string whose = machine::nameOf(m.tile) + ", " + addressText(cell) + " (" +
                            nameOf(m.identity.get()[cell]) + "): ";
  const std::string does = writes ? "it writes" : "it reads";
  if (inFlight)
    fail("MACH011", where(operation), does + " bytes that are in flight",
         whose + (other == operation
                      ? "it touches them twice itself"
                      : nameOfOperation(other) +
                            (otherWrites ? " still writes them" : " still reads them")),
         "let it wait for a lock that the other releases");
  fail("MACH019", where(operation), does + " bytes that only by chance nobody touches any more",
       whose + nameOfOperation(other) + (otherWrites ? " wrote them" : " read them") +
           ", and no lock makes this wait for that",
       "let it wait for a lock that the other releases");
}

}  // namespace heddle::machine
