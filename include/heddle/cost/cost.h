// The time of one kernel call and of one transfer alone, in cycles of the array clock. The Machine
// uses them as they are and adds what locks cost and what channels share; the planner adds them up.
// Source: paper 004 section on the AIE core; docs/device.md.
#pragma once
#include <cstdint>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"

namespace heddle {

// What one kernel call does, as plain counts; where a CONV has a pool or a depth-wise convolution
// at its end, what its calls and that do for one output row.
struct KernelWork {
  OpKind op = OpKind::Conv;
  std::int64_t blocks = 1;   // CONV: kept 8x8 weight blocks; DWCONV: channel blocks
  std::int64_t taps = 1;     // KY * KX of the part
  std::int64_t columns = 1;  // output pixels of the row
  // For each row, that the vector unit reads: of convolutions what they multiply or look up first,
  // and add and look up at their end.
  std::int64_t operandBytes = 0;
  std::int64_t rows = 1;         // one after another,
  std::int64_t rowsOfACall = 1;  // by calls of so many, the last of what is left
  // Of a call after these, with what they have computed: bytes that a pool reads, or
  // multiply-accumulates of a depth-wise convolution and bytes that it looks up. None: no call.
  std::int64_t endBytes = 0, endMacs = 0;
  std::int64_t calls() const {
    return divideRoundUp(rows, rowsOfACall) + (endBytes > 0 || endMacs > 0 ? 1 : 0);
  }
  friend bool operator==(const KernelWork&, const KernelWork&) = default;
};

// The work of one row. `blocks`: CONV kept 8x8 weight blocks; others channel blocks of the output.
// Operands of the others: pools read every tap, Add and Mul two bytes for each output byte, Table
// and Assemble one; `operands`: channel blocks that a convolution multiplies, adds and looks up,
// one byte each.
KernelWork kernelWork(OpKind op, std::int64_t blocks, std::int64_t taps, std::int64_t columns,
                      std::int64_t operands = 0);

// Adds what is at the end of a CONV, of one output row.
void addEnd(const FusedWindow& end, std::int64_t blocks, std::int64_t columns, KernelWork& work);

//   CONV   3x3, 2 x 4 blocks, 14 columns: 8 * 9 * 14 * 64 / 256 pixels' worth = 252 cycles at 256
//   MAC a cycle and 4-pixel
//          blocks of 64 MAC: blocks * taps * roundUp(columns, pixelStep) * 64 / macsPerCycle,
//          rounded up once a row; what is at its end is done afterwards
Cycles kernelTime(const KernelWork& work, const Device& device);

// Multiply-accumulates that the call occupies the array with, padding of channels included.
std::int64_t kernelMacs(const KernelWork& work);

// Multiply-accumulates a cycle of a core's kernels of an operator; 0 where they need none.
std::int64_t macsPerCycle(OpKind op, const CoreSpec& core);

// The rate of a transfer with these ends is that of the slowest.
BytesPerSecond ddrReadRate(const Device& device);
BytesPerSecond ddrWriteRate(const Device& device);
BytesPerSecond wireRate(const Device& device);
BytesPerSecond coreWriteRate(const Device& device);

Cycles ddrReadTime(Bytes size, const Device& device);    // LOAD, LOADW: DDR channel into a memtile
Cycles ddrWriteTime(Bytes size, const Device& device);   // WRITE: memtile into a DDR channel
Cycles wireTime(Bytes size, const Device& device);       // LOADFM, LOADWM: memtile, wire, core
Cycles coreWriteTime(Bytes size, const Device& device);  // WRITEFM: core into a memtile

}  // namespace heddle
