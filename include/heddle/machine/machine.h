// The Machine: executes a Program on a Device, event by event, deterministically; with data (real
// int8 bytes) or time only (same events, same times). design: docs/architecture.md; every fault
// that it finds: docs/diagnostics.md.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "heddle/machine/timeline.h"
#include "heddle/program/verify.h"
#include "heddle/support/result.h"

namespace heddle {

struct SimulateOptions {
  bool recordTimeline = true;
  // highestLock is that of any times without data, too.
  bool locksOfAnyTimes = false;
  std::optional<Cycles> maxCycles;  // a run that goes on for longer is a fault
  // By QueueCursor::leafIndex, or empty: instructions that take one cycle however much they do.
  std::vector<bool> oneCycle;
  // Told the part of the program's instructions that have ended, about a thousand times, rising to
  // 1. A faulty run stops telling.
  std::function<void(double)> progress;
};

// Bytes that the machine moved or held, as the program asked.
struct Traffic {
  Bytes ddrRead, ddrWrite, memtileToCore,
      coreToMemtile;  // memtileToCore: bytes on wires, a multicast counted once
  friend bool operator==(const Traffic&, const Traffic&) = default;
};

struct SimulateResult {
  Timeline timeline;
  Traffic traffic;
  std::vector<Cycles> stepEnd;  // per frame and step of the schedule: end of its last instruction
  // Of any lock; with data, or locksOfAnyTimes, whatever the times are, else in this run.
  std::int64_t highestLock = 0;
  std::int64_t instructions = 0;  // executed, on all engines
  std::int64_t macs = 0;          // 8x8x... multiply-accumulates that kernels did, padding included
  // With data: per frame, every root tensor as written by the cores, Y, C/8, X, 8 layout; empty
  // where nothing wrote it (constants, inputs and tensors that exist only inside a core).
  std::vector<std::vector<std::int8_t>> tensors;
  std::vector<std::vector<std::int8_t>>
      outputs;  // per frame and Program::outputs: the DDR bytes of the tensor, Y, C/8, X, 8
};

// How long one inference takes of several in one run.
struct FrameTimes {
  Cycles cold;  // until the first frame has ended, from an idle array
  // Cycles from one frame's end to the next's, over the latter half of the frames, shared out
  // evenly over the inferences of a frame.
  double steady = 0;
  friend bool operator==(const FrameTimes&, const FrameTimes&) = default;
};
FrameTimes frameTimes(const SimulateResult& result, const Program& program);

// One int8 array per Program::inputs: inferences, then Y, X, C of the port's image (unpadded,
// unfolded: portImage in canon/fold_columns.h).
using ProgramInputs = std::vector<std::vector<std::int8_t>>;

// On the device on which the program was verified. What verify proves is not asked again. Faults
// (of the program, as diagnostics MACHnnn): a lock above the device's maximum, a run longer or
// larger than allowed; with data: reading what nobody wrote, reading another tensor's bytes,
// overwriting what is still to be read, touching bytes in flight or in an order that nothing
// enforces, parts computed twice that disagree, tensors not covered, weights that are not what
// their records say.
Result<SimulateResult> simulateWithData(const VerifiedProgram& program, const WeightImage& weights,
                                        const ProgramInputs& inputs,
                                        const SimulateOptions& options = {});
Result<SimulateResult> simulateTime(const VerifiedProgram& program,
                                    const SimulateOptions& options = {});

}  // namespace heddle
