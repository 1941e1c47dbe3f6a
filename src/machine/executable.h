// A Program made ready to run: sections as flat code, engines and locks numbered densely. Both
// modes of the Machine run this. That every number is in its range is what verify has found.
//
//   loop 14 { CONV }   ->   0: Begin x14    1: Leaf 0    2: End -> 0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "heddle/cost/cost.h"
#include "heddle/device/device.h"
#include "heddle/machine/machine.h"
#include "heddle/program/engines.h"
#include "heddle/program/verify.h"
#include "heddle/program/visit.h"
#include "heddle/tiling/pixel_map.h"

namespace heddle::machine {

using EngineIndex = std::int32_t;
inline constexpr EngineIndex kSequencer = EngineNumbers::sequencer();

inline bool isDdr(const Engine& e) {
  return e.kind == EngineKind::DdrIn || e.kind == EngineKind::DdrOut;
}

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
  TransferCost cost;
  Work work;                     // where the record, if there is one, does not matter
  std::optional<Affine> record;  // number of the weight record that it moves or reads
  KernelWork kernel;             // of a call
};

struct SectionCode {
  LayerId layer;
  bool lastFrame = false;  // not executed in the frames before the last
  std::vector<Code> code;
};

struct Executable {
  // Throws Fault: what is larger than can be simulated. Refers to the program and its device.
  explicit Executable(const VerifiedProgram& verified);

  const Program* program = nullptr;
  const Device* device = nullptr;
  EngineNumbers numbers;                              // all that the device has
  std::vector<std::vector<std::int32_t>> sectionsOf;  // by engine
  std::vector<SectionCode> sections;
  std::vector<Leaf> leaves;  // in Program order: the index is QueueCursor::leafIndex
  LockTable lockTable;
  std::vector<EngineIndex> lockProducer, lockConsumer;  // by entry of Program::locks
  std::vector<PixelMap> pixels;                         // by tensor: in its root

  const Engine& engine(EngineIndex e) const {
    return numbers.engines()[static_cast<std::size_t>(e)];
  }
  EngineIndex indexOf(const Engine& engine) const {
    return static_cast<EngineIndex>(numbers.of(engine));
  }
};

// Work of an instruction with weight record number `record`, which the program has.
Work workWith(const Executable& executable, const Leaf& leaf, std::int64_t record);

inline std::int64_t valueOf(const Affine& affine, const std::int64_t* counters, std::int32_t depth,
                            const Engine& engine) {
  return evaluate(affine, {counters, static_cast<std::size_t>(depth)}, engine.row, engine.column);
}

// "instruction 12 (CONV) of layer 'conv3'"
std::string nameOfLeaf(const Executable& executable, std::int32_t leaf);

}  // namespace heddle::machine
