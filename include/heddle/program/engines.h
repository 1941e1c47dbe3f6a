// What a program's queues, tiles and locks are numbered by: the engines that a device has, and the
// locks that a program declares.
//
//   const EngineNumbers numbers(device);
//   numbers.of({EngineKind::Core, 0, 1})   // dense: an index into a vector of numbers.count()
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "heddle/device/device.h"
#include "heddle/program/program.h"

namespace heddle {

// Engines of one kind: (rows, columns) and channels; the index of a wire, or of the memtile of a
// DDR channel, is its column.
struct EngineCounts {
  std::int64_t rows = 1, columns = 1, channels = 1;
};
EngineCounts engineCounts(EngineKind kind, const Device& device);

// Whether the device has it.
bool exists(const Engine& engine, const Device& device);
bool exists(const Tile& tile, const Device& device);

// All engines of a device, numbered from 0: the sequencer, then kind by kind, each by row, column
// and channel.
class EngineNumbers {
 public:
  explicit EngineNumbers(const Device& device);

  const std::vector<Engine>& engines() const { return engines_; }
  std::size_t count() const { return engines_.size(); }
  // Needs: the device has it.
  std::size_t of(const Engine& e) const {
    const OfKind& kind = kinds_[static_cast<std::size_t>(e.kind)];
    return kind.first +
           static_cast<std::size_t>((e.row * kind.columns + e.column) * kind.channels + e.channel);
  }
  std::size_t wire(std::int64_t index) const {
    return kinds_[static_cast<std::size_t>(EngineKind::Wire)].first +
           static_cast<std::size_t>(index);
  }
  static constexpr std::size_t sequencer() { return 0; }

 private:
  struct OfKind {
    std::size_t first = 0;
    std::int64_t columns = 1, channels = 1;
  };
  std::array<OfKind, kEngineKinds> kinds_;
  std::vector<Engine> engines_;
};

// The locks of a program by tile and index. Needs: each lies in a memtile or core of the device.
class LockTable {
 public:
  LockTable(const Program& program, const Device& device);

  // Entry of Program::locks; -1: the tile has no such lock.
  std::int32_t find(const Tile& tile, std::int64_t index) const {
    const std::vector<std::int32_t>& locks = tiles_[number(tile)];
    return index >= 0 && index < static_cast<std::int64_t>(locks.size())
               ? locks[static_cast<std::size_t>(index)]
               : -1;
  }

 private:
  std::size_t number(const Tile& tile) const {
    return static_cast<std::size_t>(tile.kind == TileKind::Memtile
                                        ? tile.column
                                        : memtiles_ + tile.row * columns_ + tile.column);
  }
  std::int64_t memtiles_, columns_;
  std::vector<std::vector<std::int32_t>> tiles_;  // by index
};

}  // namespace heddle
