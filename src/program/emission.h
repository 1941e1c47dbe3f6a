// Collects the instructions of every queue in one sequential order, with the memory that each
// touches, and turns them into a Program's sections: locks from the accesses (sync.h), loops and
// SPMD rectangles from repetition (roll.h).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

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
  // Wires that carry activations to the cores of one column, with that column: a memtile counts
  // these from its own column.
  void setColumnWires(std::map<std::int32_t, std::int32_t> columnOfWire) {
    columnOfWire_ = std::move(columnOfWire);
  }

  // Appends `instruction` (its locks empty) to the engine's queue as part of `step`.
  void push(const Engine& engine, StepId step, const FlatInstruction& instruction,
            const std::vector<Access>& accesses);

  // Numbers the locks, adds them to the instructions, rolls loops and merges engines.
  void finish(Program& program);

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

  std::int32_t queueOf(const Engine& engine);
  std::int32_t shapeOf(const FlatInstruction& instruction);
  void synchronize(std::int32_t queue, const std::vector<Access>& accesses);
  Role role(const Tile& tile, std::int32_t from, std::int32_t to) const;
  Engine asSeenFrom(const Tile& tile, const Engine& engine) const;
  void numberLocks(Program& program);
  void addToRoller(const Queue& queue, class LockedShapes& shapes, class Roller& roller) const;

  std::map<std::int32_t, std::int32_t> columnOfWire_;
  std::map<Engine, std::int32_t> queueNumbers_;
  std::vector<Queue> queues_;
  std::map<Tile, std::int32_t> tileNumbers_;
  std::vector<Tile> tileNames_;
  std::vector<TileAccesses> tiles_;
  std::map<std::vector<std::int64_t>, std::int32_t> shapeNumbers_;
  std::vector<FlatInstruction> shapes_;
  std::map<Role, std::int32_t>
      roles_;  // number within a tile; roles of cores and of memtiles are counted apart
  std::vector<Edge> edges_;
};

}  // namespace heddle
