// The memories of the array with a shadow: which 8 bytes of which tensor (or of the weight image)
// every cell of 8 bytes holds, which operation wrote it last and which read it last. Checks go over
// runs of cells.
//
//   core (0,1)  cell 18: row 3, block 1, column 5 of tensor 'conv1', written by operation 4711 that
//   ended at cycle 3400
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "executable.h"
#include "fault.h"
#include "happens_before.h"
#include "heddle/canon/limits.h"
#include "heddle/tiling/plan.h"

namespace heddle::machine {

inline constexpr std::int64_t kUnknownEnd = INT64_MAX;

// What 8 bytes are. 0: nobody wrote them.
using Identity = std::uint64_t;
enum class Held : std::uint64_t { Nothing, Activation, Weights, Accumulator };
// Bits: what, 2; tensor, 23; frame, 10; cell (of a sum four for each of its output's), 29. Weights:
// cell of the image, 39, in every frame the same.
inline constexpr int kCellBits = 29, kTensorAt = 39;
static_assert(kMaxTensorBytes / kBlock * 4 <= std::int64_t{1} << kCellBits);
static_assert(kMaxFrames <= std::int64_t{1} << (kTensorAt - kCellBits));
inline constexpr std::size_t kMostTensors = std::size_t{1} << (62 - kTensorAt);
constexpr Identity identityOf(Held held, std::int64_t tensor, std::int64_t index,
                              std::int64_t frame = 0) {
  return static_cast<Identity>(held) << 62 | static_cast<Identity>(tensor) << kTensorAt |
         static_cast<Identity>(frame) << kCellBits | static_cast<Identity>(index);
}
constexpr Held heldBy(Identity id) { return static_cast<Held>(id >> 62); }
constexpr std::size_t tensorOf(Identity id) { return (id >> kTensorAt) & (kMostTensors - 1); }
constexpr std::int64_t frameOf(Identity id) {
  return heldBy(id) == Held::Weights
             ? 0
             : static_cast<std::int64_t>(id >> kCellBits & ((1 << (kTensorAt - kCellBits)) - 1));
}
constexpr std::int64_t indexOf(Identity id) {
  const int bits = heldBy(id) == Held::Weights ? kTensorAt : kCellBits;
  return static_cast<std::int64_t>(id & ((Identity{1} << bits) - 1));
}

struct CellRun {
  std::int64_t cell = 0, count = 0;
};
struct IdentityRun {  // first, first + 1, ...
  Identity first = 0;
  std::int64_t count = 0;
};

// Every executed instruction that touched bytes. Operation 0 is the host before the program starts.
class OperationLog {
 public:
  struct Operation {
    EngineIndex engine = -1;
    std::int32_t leaf = -1;
    std::int32_t actor = 0, number = 0;  // of HappensBefore
    std::int64_t end = 0;
  };
  std::uint32_t add(const Operation& operation) {
    operations_.push_back(operation);
    return static_cast<std::uint32_t>(operations_.size() - 1);
  }
  void setEnd(std::uint32_t operation, std::int64_t end) { operations_[operation].end = end; }
  const Operation& operator[](std::uint32_t operation) const { return operations_[operation]; }

 private:
  std::vector<Operation> operations_{1};
};

// Bytes that are 0; null: there are none. Many come from the operating system, which zeroes them
// page by page as they are touched: an allocator may touch them all.
class ZeroedBytes {
 public:
  explicit ZeroedBytes(std::size_t size);
  ~ZeroedBytes() { release(); }
  ZeroedBytes(ZeroedBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  ZeroedBytes& operator=(ZeroedBytes&&) = delete;
  void* get() const { return data_; }
  void release();

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
class ZeroedArray {
 public:
  explicit ZeroedArray(std::size_t size)
      : bytes_(size < SIZE_MAX / sizeof(T) ? (size + 1) * sizeof(T) : SIZE_MAX) {}
  T* get() const { return static_cast<T*>(bytes_.get()); }
  void release() { bytes_.release(); }

 private:
  ZeroedBytes bytes_;
};

struct Memory {
  Memory(const Tile& where, std::int64_t size)
      : tile(where),
        cells(divideRoundUp(size, kBlock)),
        bytes(static_cast<std::size_t>(cells) * kBlock),
        identity(static_cast<std::size_t>(cells)),
        lastWrite(static_cast<std::size_t>(cells)),
        readers(static_cast<std::size_t>(cells)) {}
  bool allocated() const {
    return bytes.get() && identity.get() && lastWrite.get() && readers.get();
  }

  Tile tile;
  std::int64_t cells = 0;
  ZeroedArray<std::int8_t> bytes;
  ZeroedArray<Identity> identity;
  ZeroedArray<std::uint32_t> lastWrite;  // operation
  ZeroedArray<std::uint32_t>
      readers;  // since then: an operation, or kManyReaders + entry of Memories::manyReaders_
};

struct HistoryEntry {
  Identity identity = 0;
  std::uint32_t operation = 0;
  std::int64_t time = 0;
};

// All memories, DDR first, then memtiles, then cores. Every method throws Fault where what it
// checks does not hold.
class Memories {
 public:
  Memories(const Executable& executable, std::optional<CellPlace> watched);

  static constexpr std::size_t ddr() { return 0; }
  std::size_t memtile(std::int64_t column) const { return static_cast<std::size_t>(1 + column); }
  std::size_t core(std::int64_t row, std::int64_t column) const;
  Memory& operator[](std::size_t memory) { return memories_[memory]; }
  const Memory& operator[](std::size_t memory) const { return memories_[memory]; }

  // What follows is done by this operation, until the next one begins; `known` has ended before it
  // for certain.
  std::uint32_t begin(const OperationLog::Operation& operation, std::int64_t now,
                      const Knowledge& known);
  // `operation` reads these cells, which must hold these identities. `marks`: nobody may write them
  // until it ends.
  void read(std::size_t memory, CellRun cells, Identity first, std::uint32_t operation,
            bool marks = true);
  // `operation` writes these cells; the bytes are moved by the caller.
  void write(std::size_t memory, CellRun cells, Identity first, std::uint32_t operation);
  // Of cells where a sum begins anew: none lies there that no call has finished.
  void checkNoSum(std::size_t memory, CellRun cells, std::uint32_t operation) const;
  // The program has ended for whoever knows this.
  void endWith(const Knowledge& known) { known_ = &known; }
  void checkWritten(std::size_t memory, CellRun cells, const std::string& output) const;
  // The host, before the program starts.
  void place(std::size_t memory, CellRun cells, Identity first);
  // Keeps the bytes alone: nothing is checked any more.
  void forget();

  std::string nameOf(Identity identity) const;
  std::string nameOfOperation(std::uint32_t operation) const;
  std::string where(std::uint32_t operation) const;

  OperationLog log;
  std::vector<HistoryEntry> history;

 private:
  [[noreturn]] void failRead(std::size_t memory, std::int64_t cell, Identity expected,
                             std::uint32_t operation) const;
  [[noreturn]] void failUnordered(std::size_t memory, std::int64_t cell, std::uint32_t operation,
                                  std::uint32_t other, bool writes) const;
  // Whether it has ended before the present operation for certain.
  bool isBefore(std::uint32_t earlier) const {
    const OperationLog::Operation& o = log[earlier];
    return earlier == 0 || (*known_)[o.actor] >= o.number;
  }
  std::span<const std::uint32_t> readersOf(const std::uint32_t& entry) const;
  std::uint32_t withReader(std::uint32_t entry, std::uint32_t operation);

  const Executable& x_;
  std::vector<Memory> memories_;
  std::optional<CellPlace> watched_;
  std::int64_t now_ = 0;
  const Knowledge* known_ = nullptr;
  std::vector<std::vector<std::uint32_t>> manyReaders_;
  struct {
    std::uint32_t entry = 0, operation = 0, result = 0;
  } joined_;  // what withReader found last
};

}  // namespace heddle::machine
