// A Program made ready to run: sections as flat code, operands checked once for all their loops
// where that suffices, engines, tiles and locks numbered densely. Both modes of the Machine run
// this.
//
//   loop 14 { CONV }   ->   0: Begin x14    1: Leaf 0    2: End -> 0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/cost/cost.h"
#include "heddle/device/device.h"
#include "heddle/machine/machine.h"
#include "heddle/program/program.h"
#include "heddle/tiling/pixel_map.h"

namespace heddle::machine {

using EngineIndex = std::int32_t;

// Move: a transfer that no other queue takes part in.
enum class Op : std::uint8_t { Start, Wait, Move, Send, Receive, Call };

struct Code {
  enum class Kind : std::uint8_t { Leaf, Begin, End };
  Kind kind = Kind::Leaf;
  std::int32_t target = 0;  // Leaf: its index; Begin, End: where the other is
  std::int32_t depth = 0;   // loops around it
  std::int64_t count = 1;   // of a loop
};

struct LockTerm {
  Affine lock;
  std::int64_t count = 1;
  std::int32_t memtile =
      -1;  // entry of Leaf::memtiles in whose tile the lock is; -1: in the engine's own tile
};

// A stretch of memory that the instruction touches: [address + low, address + high) must lie in [0,
// limit).
struct Operand {
  Address<Affine> address;
  std::int64_t low = 0, high = 0, limit = 0;
  const char* name = "";
  bool isRecord = false;  // as long as the weight record; high: the longest that there may be
};

// What one execution of an instruction moves, takes and computes.
struct Work {
  std::int64_t bytes = 0;   // of a transfer
  std::int64_t cycles = 0;  // without lock latency and sharing of DDR
  std::int64_t macs = 0;
  std::int32_t record = -1;
};

// What a transfer takes for so many bytes, and who counts them. A Receive's are its Send's.
struct TransferCost {
  Cycles (*time)(Bytes, const Device&) = nullptr;
  Bytes Traffic::*traffic = nullptr;
};

struct Leaf {
  const Instruction* instruction = nullptr;
  Op op = Op::Start;
  StepId step;
  LayerId layer;
  std::vector<LockTerm> acquire, release;
  std::vector<Affine> memtiles;  // that its ends name, in their order
  std::vector<Operand> operands;
  bool operandsProved = false;  // in range for all iterations and engines
  TransferCost cost;
  Work work;                     // where the record, if there is one, does not matter
  std::optional<Affine> record;  // number of the weight record that it moves or reads
  KernelWork kernel;             // of a call
  std::int64_t mostBlocks = 0;   // that a record of a CONV may keep
};

struct SectionCode {
  LayerId layer;
  bool lastFrame = false;  // not executed in the frames before the last
  std::vector<Code> code;
};

struct Executable {
  const Program* program = nullptr;
  const Device* device = nullptr;
  std::vector<Engine> engines;                        // all that the device has, in order
  std::vector<std::vector<std::int32_t>> sectionsOf;  // by engine
  std::vector<SectionCode> sections;
  std::vector<Leaf> leaves;  // in Program order: the index is QueueCursor::leafIndex
  std::vector<std::vector<std::int32_t>>
      lockAt;  // by tile, index within it: entry of Program::locks, or -1
  std::vector<EngineIndex> lockProducer, lockConsumer;  // by entry of Program::locks
  std::vector<PixelMap> pixels;                         // by tensor: in its root

  EngineIndex sequencer() const { return 0; }
  // -1 where the device has no such engine.
  EngineIndex indexOf(const Engine& engine) const;
  std::size_t memtileTile(std::int64_t column) const {
    return static_cast<std::size_t>(device->cores() + column);
  }
  std::size_t coreTile(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * device->columns + column);
  }
  // Where the engine's own locks are; the sequencer and DDR ends have none (-1).
  std::int64_t ownTile(const Engine& engine) const;
};

// Throws Fault: malformed programs, limits of the device that do not depend on loop counters, sizes
// that cannot be.
Executable makeExecutable(const Program& program, const Device& device);

// Work of an instruction with weight record number `record`, which the program has.
Work workWith(const Executable& executable, const Leaf& leaf, std::int64_t record);

// Affine numbers of a program that may be hostile: wraps instead of overflowing.
std::int64_t valueOf(const Affine& affine, const std::int64_t* counters, std::int32_t depth,
                     const Engine& engine);

// "instruction 12 (CONV) of layer 'conv3'"
std::string nameOfLeaf(const Executable& executable, std::int32_t leaf);

}  // namespace heddle::machine
