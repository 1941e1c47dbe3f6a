// Collects the instructions of every queue in one sequential order, with the memory that each
// touches, and turns them into a Program's sections: locks from the accesses (sync.h), loops and
// SPMD rectangles from repetition (roll.h).
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "heddle/device/device.h"
#include "heddle/program/program.h"
#include "sync.h"

namespace heddle {

// A stretch of one tile's memory that an end of an instruction reads or writes.
struct Access {
  Tile tile;
  std::int64_t first = 0, end = 0;
  bool writes = false;
  std::int32_t point =
      0;  // which end: 0 source (or the call, or a Receive's destination), 1.. destinations
};

class Emission {
 public:
  // Wires whose activations go to cores of one mesh column only, with that column: a memtile sees
  // these from where it lies, so that neighbours look the same to it.
  void setPlacesOfWires(std::map<std::int32_t, std::int32_t> columnOfWire) {
    columnOfWire_ = std::move(columnOfWire);
  }

  // Appends `instruction` (its locks empty) to the engine's queue as part of `step`.
  void push(const Engine& engine, StepId step, const FlatInstruction& instruction,
            std::span<const Access> accesses);
  void push(const Engine& engine, StepId step, const FlatInstruction& instruction,
            std::initializer_list<Access> accesses) {
    push(engine, step, instruction, std::span(accesses.begin(), accesses.size()));
  }

  // Numbers the locks, within `limits` where there is a way, adds them to the instructions, rolls
  // loops and merges engines.
  void finish(Program& program, const Limits& limits);

 private:
  struct Op {
    std::int32_t shape = 0, step = 0;
    std::size_t firstValue = 0;
  };
  struct LockMark {  // the instruction takes or gives a token of the pair
    std::int32_t op = 0, end = 0, tile = 0, from = 0, to = 0;
    bool release = false;
  };
  struct Queue {
    Engine engine;
    std::vector<Op> ops;
    std::vector<std::int64_t> values;
    std::vector<LockMark> marks;
  };
  // A lock's role as seen from its tile, rows last: engines of a column that play one role get
  // consecutive numbers.
  using Role = std::vector<std::int64_t>;
  using LockName = std::array<std::int32_t, 3>;  // tile, queue that releases, queue that acquires
  struct LockNameHash {
    std::size_t operator()(const LockName& name) const {
      std::size_t hash = 0;
      for (const std::int32_t n : name)
        hash = hash * 0x9e3779b97f4a7c15 + static_cast<std::size_t>(n);
      return hash;
    }
  };

  std::int32_t queueOf(const Engine& engine);
  std::int32_t shapeOf(const FlatInstruction& instruction);
  void synchronize(std::int32_t queue, std::span<const Access> accesses);
  Role role(const Tile& tile, std::int32_t from, std::int32_t to) const;
  Engine asSeenFrom(const Tile& tile, const Engine& engine) const;
  void numberLocks(Program& program, const Limits& limits);
  void addToRoller(const Queue& queue, class LockedShapes& shapes, class Roller& roller) const;

  std::map<std::int32_t, std::int32_t> columnOfWire_;
  std::map<Engine, std::int32_t> queueNumbers_;
  std::vector<Queue> queues_;
  std::map<Tile, std::int32_t> tileNumbers_;
  std::vector<Tile> tileNames_;
  std::vector<TileAccesses> tiles_;
  std::map<std::vector<std::int64_t>, std::int32_t> shapeNumbers_;
  std::vector<FlatInstruction> shapes_;
  std::unordered_map<LockName, std::int32_t, LockNameHash> lockNumbers_;  // within its tile
  std::vector<Edge> edges_;
};

}  // namespace heddle
