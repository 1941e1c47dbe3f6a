#include "heddle/cost/cost.h"

#include <algorithm>

namespace heddle {
namespace {

constexpr std::int64_t kBlockMacs = kBlock * kBlock;  // one pixel by a block of each side

}  // namespace

KernelWork kernelWork(OpKind op, std::int64_t blocks, std::int64_t taps, std::int64_t columns,
                      std::int64_t operands) {
  KernelWork work{.op = op, .blocks = blocks, .taps = taps, .columns = columns, .operandBytes = 0};
  const std::int64_t outputBytes = blocks * columns * kBlock;
  switch (op) {
    case OpKind::Conv:
    case OpKind::DepthwiseConv:
      work.operandBytes = operands * columns * kBlock;
      break;
    case OpKind::MaxPool:
    case OpKind::AveragePool:
      work.operandBytes = taps * outputBytes;
      break;
    case OpKind::Add:
    case OpKind::Mul:
      work.operandBytes = 2 * outputBytes;
      break;
    case OpKind::Table:
    case OpKind::Assemble:
      work.operandBytes = outputBytes;
      break;
  }
  return work;
}

void addEnd(const FusedWindow& end, std::int64_t blocks, std::int64_t columns, KernelWork& work) {
  const std::int64_t taps = end.window().kernelY * end.window().kernelX;
  const DepthwiseConv* const depthwise = end.depthwise();
  (depthwise ? work.endMacs : work.endBytes) = taps * blocks * columns * kBlock;
  if (depthwise && depthwise->fusedTable) work.endBytes = blocks * columns * kBlock;
}

std::int64_t kernelMacs(const KernelWork& work) {
  switch (work.op) {
    case OpKind::Conv:
      return work.rows * work.blocks * work.taps * work.columns * kBlockMacs;
    case OpKind::DepthwiseConv:
      return work.rows * work.blocks * work.taps * work.columns * kBlock;
    case OpKind::MaxPool:
    case OpKind::AveragePool:
    case OpKind::Add:
    case OpKind::Mul:
    case OpKind::Table:
    case OpKind::Assemble:
      return 0;
  }
  return 0;
}

Cycles kernelTime(const KernelWork& work, const Device& device) {
  const CoreSpec& core = device.core;
  KernelWork row = work;
  row.rows = 1;
  if (work.op == OpKind::Conv) row.columns = roundUpTo(work.columns, core.pixelStep);
  const std::int64_t macs = kernelMacs(row);
  const std::int64_t cycles = (macs > 0 ? divideRoundUp(macs, macsPerCycle(work.op, core)) : 0) +
                              divideRoundUp(work.operandBytes, core.vectorBytesPerCycle);
  const std::int64_t end = divideRoundUp(work.endBytes, core.vectorBytesPerCycle) +
                           divideRoundUp(work.endMacs, core.depthwiseMacsPerCycle);
  return Cycles(work.rows * cycles + end + work.calls() * core.callOverhead.raw());
}

std::int64_t macsPerCycle(OpKind op, const CoreSpec& core) {
  return op == OpKind::Conv            ? core.macsPerCycle
         : op == OpKind::DepthwiseConv ? core.depthwiseMacsPerCycle
                                       : 0;
}

BytesPerSecond ddrReadRate(const Device& d) {
  return std::min(d.rates.ddrRead, d.rates.memtileWrite);
}
BytesPerSecond ddrWriteRate(const Device& d) {
  return std::min(d.rates.memtileRead, d.rates.ddrWrite);
}
BytesPerSecond wireRate(const Device& d) { return std::min(d.rates.memtileRead, d.rates.wire); }
BytesPerSecond coreWriteRate(const Device& d) {
  return std::min(d.rates.coreWrite, d.rates.memtileWrite);
}

Cycles ddrReadTime(Bytes size, const Device& d) {
  return transferTime(size, ddrReadRate(d), d.clock);
}
Cycles ddrWriteTime(Bytes size, const Device& d) {
  return transferTime(size, ddrWriteRate(d), d.clock);
}
Cycles wireTime(Bytes size, const Device& d) { return transferTime(size, wireRate(d), d.clock); }
Cycles coreWriteTime(Bytes size, const Device& d) {
  return transferTime(size, coreWriteRate(d), d.clock);
}

}  // namespace heddle
