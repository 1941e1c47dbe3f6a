// What the parser of the asm holds while it reads a line: the operands read so far, then the
// Program that they go into.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "heddle/program/program.h"
#include "heddle/support/fault_list.h"

namespace heddle::asm_text {

// `row 2`, `rows 0-3`
struct Span {
  std::int32_t first = 0, last = 0;
};

struct Draft {
  // Innermost values, each overwritten by the next of its kind.
  std::int64_t number = 0;
  double real = 0;
  std::int32_t index = -1;     // of an id
  std::int32_t declared = -1;  // of what the line declares
  std::string text;
  Affine affine;
  bool negative = false;     // the sign before the term being read
  std::uint64_t factor = 1;  // of the term being read, without its sign
  std::vector<std::int64_t> integers;

  // Operands.
  Address<Affine> address;
  Dimension dimension;
  Pattern pattern;
  LockUse<Affine> lockUse;
  std::vector<LockUse<Affine>> acquire, release;
  End<Affine> end;
  Part<Affine> part;
  Engine engine, producer, consumer;
  Tile tile;
  Span rows, columns;
  CoreRange range;
  std::vector<CoreRange> ranges;
  RowRing<Affine> ring;
  SendTo<Affine> sendTo;
  Affine memtile, waitEntry;
  AxisRun run;
  AxisMap axis;
  OpKind op = OpKind::Conv;
  bool anyCall = false;  // CALL: the kernel, which is not declared, names the operation

  // Whole lines.
  Call<Affine> call;
  Transfer<Affine> transfer;
  EngineKind engineKind = EngineKind::Sequencer;
  TileKind tileKind = TileKind::Core;
  std::int32_t channel = 0;
  StepId step;
  bool wholeSlice = true;  // all channel blocks of its tensor
  bool saysStep = false;   // rather than the layer that is one
  std::int64_t loopCount = 1, recordCount = 1, frames = 1, batch = 1, ddrBytes = 0;
  bool lastFrame = false;
  WeightRecord record;
  Port port;
  ProgramTensor tensor;
  Sampling sampling;
  Slice slice{.rows = 1, .columns = 1, .blocks = 1};
  Layer layer;
  Kernel kernel;
  Kernel::Move move;
  Buffer buffer;
  Lock lock;
};

// Lines that a file has once.
enum class Once { Model, Device, Weights, Ddr, Count };

inline constexpr std::size_t kMaxFaults = 20;
// A line declares many records at once: a short file must not fill the memory.
inline constexpr std::int64_t kMaxRecords = std::int64_t{1} << 20;

struct Reader {
  explicit Reader(const std::string& file) : name(file), faults(file, kMaxFaults) {}

  Draft draft;
  Program program;
  std::vector<Loop> openLoops;
  bool inSection = false;
  std::size_t instructions = 0;
  std::array<bool, static_cast<std::size_t>(Once::Count)> said{};
  std::string name;  // of the file
  FaultList faults;
};

}  // namespace heddle::asm_text
