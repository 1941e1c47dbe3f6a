// Collects the instructions of every queue in one sequential order, with the memory that each
// touches, and turns them into a Program's sections: locks from the accesses (sync.h), loops and
// SPMD rectangles from repetition (roll.h).
#pragma once
#include <array>
#include <boost/container_hash/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "frame_tokens.h"
#include "heddle/device/device.h"
#include "heddle/program/program.h"
#include "numbers.h"
#include "sync.h"
#include "tokens.h"

namespace heddle {

// A stretch of one tile's memory that an end of an instruction reads or writes.
struct Access {
  Tile tile;
  std::int64_t first = 0, end = 0;
  bool writes = false;
  std::int32_t point = 0;  // which end (PlacedEnd::point), or the call
  std::int32_t row = 0;    // of those that the instruction writes
};

// Dense numbers of the tiles and queues of a device. What lies in one mesh column has neighbouring
// numbers: what operations know of each other (known.h) is mostly of one column.
class QueueNumbers {
 public:
  explicit QueueNumbers(const Device& device)
      : device_(device), ofCore_(1 + device.core.channelsIn + device.core.channelsOut) {}

  std::int64_t tiles() const { return device_.cores() + device_.memtiles(); }
  std::int64_t queues() const { return wire(std::ssize(device_.wires)); }
  std::int32_t tile(const Tile& tile) const {
    return static_cast<std::int32_t>(tile.kind == TileKind::Core ? core(tile.row, tile.column)
                                                                 : device_.cores() + tile.column);
  }
  std::int32_t queue(const Engine& engine) const;

 private:
  std::int64_t core(std::int64_t row, std::int64_t column) const {
    return column * device_.rows + row;
  }
  std::int64_t ofMemtile() const {
    return device_.memtile.ddrChannelsIn + device_.memtile.ddrChannelsOut;
  }
  std::int64_t memtile(std::int64_t column) const {
    return device_.cores() * ofCore_ + column * ofMemtile();
  }
  std::int64_t wire(std::int64_t index) const { return memtile(device_.memtiles()) + index; }

  const Device& device_;
  std::int64_t ofCore_;  // queues of each
};

class Emission {
 public:
  explicit Emission(const Device& device);

  // Wires whose activations go to cores of one mesh column only, with that column: a memtile sees
  // these from where it lies, so that neighbours look the same to it.
  void setPlacesOfWires(std::map<std::int32_t, std::int32_t> columnOfWire) {
    columnOfWire_ = std::move(columnOfWire);
  }

  // Appends `instruction` (its locks empty) to the engine's queue as part of `step`. A Send is
  // followed by the Receives of all that it names.
  void push(const Engine& engine, StepId step, const FlatInstruction& instruction,
            std::span<const Access> accesses);
  void push(const Engine& engine, StepId step, const FlatInstruction& instruction,
            std::initializer_list<Access> accesses) {
    push(engine, step, instruction, std::span(accesses.begin(), accesses.size()));
  }
  // The same for several engines of core tiles, one after another; `accesses`: to each one's own
  // tile.
  void push(std::span<const Engine> cores, StepId step, const FlatInstruction& instruction,
            std::span<Access> accesses);

  // After the last instruction of a frame: all that is told from here on is the next frame, the
  // same once more. Only its memory is looked at.
  void tellAgain(std::int32_t steps);

  // Numbers the locks, within `limits` where there is a way, adds them to the instructions, rolls
  // loops and merges engines. Nothing more can be told.
  void finish(Program& program, const Limits& limits);

 private:
  using ShapeNumbers = std::unordered_map<std::vector<std::int64_t>, std::int32_t,
                                          boost::hash<std::vector<std::int64_t>>>;
  struct StepBegin {
    std::int32_t step = 0;
    std::size_t firstOp = 0;
  };
  struct Queue {
    Engine engine;
    std::vector<std::int32_t> shapes;                // by instruction
    std::vector<StepBegin> steps;                    // in order
    Numbers values;                                  // of one instruction after the other
    std::int32_t told = 0;                           // instructions, of both tellings
    const ShapeNumbers::value_type* last = nullptr;  // shape of its last instruction
  };
  // Who gives a lock to whom, and where these two are as seen from its tile.
  struct Role {
    std::array<std::int64_t, 6> kind{};   // of tile, engines, channels, and purpose
    std::array<std::int64_t, 4> place{};  // columns of both engines, then rows
    friend auto operator<=>(const Role&, const Role&) = default;
  };

  void begin(std::int32_t queue, StepId step, const FlatInstruction& instruction);
  void take(const FlatInstruction& instruction, Queue& queue);
  void append(std::int32_t number, const Engine& engine, StepId step,
              std::span<const Access> accesses);
  std::int32_t shapeOf(Queue& queue, const FlatInstruction& instruction);
  void meet(std::int32_t queue, const FlatInstruction& instruction);
  void synchronize(std::int32_t queue, StepId step, std::span<const Access> accesses);
  Role role(const DerivedLock& lock) const;
  Engine asSeenFrom(const Tile& tile, const Engine& engine) const;
  void numberLocks(Program& program, const Limits& limits);
  std::array<std::int64_t, 3> numberByPlace(const std::vector<Role>& roles);
  void addToRoller(const Queue& queue, std::vector<TokenUse>& uses, class LockedShapes& shapes,
                   class Roller& roller) const;

  std::map<std::int32_t, std::int32_t> columnOfWire_;
  QueueNumbers numbers_;
  std::vector<Queue> queues_;
  std::vector<Tile> tileNames_;
  std::vector<TileAccesses> tiles_;
  ShapeNumbers shapeNumbers_;
  std::vector<FlatInstruction> shapes_;
  Tokens tokens_;
  std::optional<FrameTokens> nextFrame_;  // while it is told
  std::int32_t firstStep_ = 0;            // of what is told
  std::vector<std::int32_t> lockIndex_;   // within its tile, by number in tokens_.locks()
  std::vector<Edge> edges_;
  std::int32_t shape_ = 0;            // of the instruction that is being told
  std::vector<std::int64_t> values_;  // its numbers
  std::vector<Operation> together_;   // the transfer and its receivers that are being told
  std::size_t missing_ = 0;           // of them
};

}  // namespace heddle
