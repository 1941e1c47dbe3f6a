// The kernels beside the convolutions: pools, element by element, tables, and Assemble's moves.
#include <algorithm>
#include <cstring>

#include "heddle/tiling/record_contents.h"
#include "kernels.h"

namespace heddle::machine {
namespace {

std::int64_t outputIndex(const Kernel& kernel, std::int64_t block, std::int64_t x) {
  return (block * kernel.outputColumns + x) * kBlock;
}

std::int64_t outputBytes(const Kernel& kernel) {
  return kernel.outputBlocks * kernel.outputColumns * kBlock;
}

std::int8_t finished(const Kernel& kernel, std::int64_t value) {
  return saturate(kernel.outputZero + value, kernel.clamp.low, kernel.clamp.high);
}

std::int32_t* beginRow(const Kernel& kernel, const Reduction& reduction, std::int32_t start,
                       KernelScratch& scratch) {
  const auto count = static_cast<std::size_t>(outputBytes(kernel));
  if (reduction.init)
    scratch.accumulators.assign(count, start);
  else
    scratch.accumulators.assign(reduction.accumulator, reduction.accumulator + count);
  return scratch.accumulators.data();
}

// Calls tap(pixel, sums) for every output pixel and every tap inside the tensor.
template <class F>
void forEachTap(const Kernel& kernel, const WindowRows& input, std::int32_t* sums, F&& tap) {
  const Window& w = kernel.window;
  for (std::int64_t ky = 0; ky < w.kernelY; ++ky) {
    if (input.rows[static_cast<std::size_t>(ky)] == nullptr) continue;
    for (std::int64_t b = 0; b < kernel.outputBlocks; ++b)
      for (std::int64_t x = 0; x < kernel.outputColumns; ++x)
        for (std::int64_t kx = 0; kx < w.kernelX; ++kx)
          if (const std::int8_t* pixel =
                  input.pixel(ky, b, input.column + x * w.strideX + kx * w.dilationX))
            tap(pixel, sums + outputIndex(kernel, b, x));
  }
}

// Taps first, first + dilation, ... (count of them) that lie in [low, high).
std::int64_t tapsInside(std::int64_t first, std::int64_t dilation, std::int64_t count,
                        std::int64_t low, std::int64_t high) {
  const std::int64_t from = first >= low ? 0 : divideRoundUp(low - first, dilation);
  const std::int64_t to = first >= high ? 0 : divideRoundUp(high - first, dilation);
  return std::max<std::int64_t>(0, std::min(count, to) - from);
}

// sum * rescale / count, rounded once.
std::int64_t average(std::int64_t sum, std::int64_t count, Multiplier rescale) {
  constexpr int kVanishes =
      90;  // |sum * multiplier| < 2^63, so that a larger shift leaves less than a half
  if (count == 0 || rescale.shift > kVanishes) return 0;
  const Int128 product = static_cast<Int128>(sum) * rescale.multiplier;
  if (rescale.shift >= 0)
    return roundHalfEvenDivide(product, static_cast<Int128>(count) << rescale.shift);
  if (product == 0) return 0;
  return product > 0 ? INT32_MAX : INT32_MIN;  // a scale above 2^31 saturates
}

template <class F>
void forEachPair(const Kernel& kernel, const WindowRows& a, const WindowRows& b,
                 std::int8_t* output, F&& value) {
  for (std::int64_t block = 0; block < kernel.outputBlocks; ++block)
    for (std::int64_t x = 0; x < kernel.outputColumns; ++x) {
      const std::int8_t* left = a.pixel(0, block, a.column + x);
      const std::int8_t* right = b.pixel(0, block, b.column + (kernel.broadcasts ? 0 : x));
      for (std::int64_t k = 0; k < kBlock; ++k)
        output[outputIndex(kernel, block, x) + k] =
            finished(kernel, value(left[k] - kernel.inputZero, right[k] - kernel.inputZeroB));
    }
}

}  // namespace

TableLine lineAt(const std::int8_t* record) {
  TableLine line{.shift = record[8], .clamp = {record[9], record[10]}};
  std::memcpy(&line.slope, record, sizeof line.slope);
  std::memcpy(&line.offset, record + 4, sizeof line.offset);
  return line;
}

void runMaxPool(const Kernel& kernel, const WindowRows& input, const Reduction& reduction,
                std::int8_t* output, KernelScratch& scratch) {
  std::int32_t* best = beginRow(kernel, reduction, INT8_MIN, scratch);
  forEachTap(kernel, input, best, [](const std::int8_t* pixel, std::int32_t* at) {
    for (std::int64_t k = 0; k < kBlock; ++k) at[k] = std::max<std::int32_t>(at[k], pixel[k]);
  });
  if (!reduction.finish) {
    std::copy_n(best, outputBytes(kernel), reduction.accumulator);
    return;
  }
  for (std::int64_t i = 0; i < outputBytes(kernel); ++i)
    output[i] = saturate(best[i], kernel.clamp.low, kernel.clamp.high);
}

void runAveragePool(const Kernel& kernel, const WindowRows& input, std::int64_t row,
                    std::int64_t tensorHeight, const Reduction& reduction, std::int8_t* output,
                    KernelScratch& scratch) {
  const Window& w = kernel.window;
  std::int32_t* sums = beginRow(kernel, reduction, 0, scratch);
  forEachTap(kernel, input, sums, [&](const std::int8_t* pixel, std::int32_t* at) {
    for (std::int64_t k = 0; k < kBlock; ++k)
      at[k] = static_cast<std::int32_t>(static_cast<std::uint32_t>(at[k]) +
                                        static_cast<std::uint32_t>(pixel[k] - kernel.inputZero));
  });
  if (!reduction.finish) {
    std::copy_n(sums, outputBytes(kernel), reduction.accumulator);
    return;
  }
  const std::int64_t padTop = kernel.countIncludesPad ? w.padTop : 0,
                     padLeft = kernel.countIncludesPad ? w.padLeft : 0;
  const std::int64_t padBottom = kernel.countIncludesPad ? w.padBottom : 0;
  const std::int64_t padRight = kernel.countIncludesPad ? w.padRight : 0;
  // The call that finishes holds the window's last rows.
  const std::int64_t firstRow = row - (kernel.kernelYWhole - w.kernelY) * w.dilationY;
  const std::int64_t rows =
      tapsInside(firstRow, w.dilationY, kernel.kernelYWhole, -padTop, tensorHeight + padBottom);
  for (std::int64_t b = 0; b < kernel.outputBlocks; ++b)
    for (std::int64_t x = 0; x < kernel.outputColumns; ++x) {
      const std::int64_t columns = tapsInside(input.column + x * w.strideX, w.dilationX, w.kernelX,
                                              -padLeft, input.tensorWidth + padRight);
      for (std::int64_t k = 0; k < kBlock; ++k) {
        const std::int64_t i = outputIndex(kernel, b, x) + k;
        output[i] = finished(kernel, average(sums[i], rows * columns, kernel.rescale));
      }
    }
}

void runAdd(const Kernel& kernel, const WindowRows& a, const WindowRows& b, std::int8_t* output) {
  forEachPair(kernel, a, b, output, [&](std::int64_t left, std::int64_t right) {
    return roundHalfEvenShift(left * kernel.multiplierA + right * kernel.multiplierB, kernel.shift);
  });
}

void addInput(const Kernel& kernel, const WindowRows& input, std::int8_t* output) {
  for (std::int64_t b = 0; b < kernel.outputBlocks; ++b)
    for (std::int64_t x = 0; x < kernel.outputColumns; ++x) {
      const std::int8_t* pixel = input.pixel(0, b, input.column + (kernel.broadcasts ? 0 : x));
      for (std::int64_t k = 0; k < kBlock; ++k) {
        std::int8_t& value = output[outputIndex(kernel, b, x) + k];
        const std::int64_t sum = (value - kernel.addedToZero) * kernel.multiplierA +
                                 (pixel[k] - kernel.inputZeroB) * kernel.multiplierB;
        value = finished(kernel, roundHalfEvenShift(sum, kernel.shift));
      }
    }
}

void runMul(const Kernel& kernel, const WindowRows& a, const WindowRows& b, std::int8_t* output) {
  forEachPair(kernel, a, b, output, [&](std::int64_t left, std::int64_t right) {
    return applyMultiplier(static_cast<std::int32_t>(left * right), kernel.rescale);
  });
}

void runTable(const Kernel& kernel, const WindowRows& input, const std::int8_t* record,
              std::int8_t* output) {
  for (std::int64_t b = 0; b < kernel.outputBlocks; ++b)
    for (std::int64_t x = 0; x < kernel.outputColumns; ++x) {
      const std::int8_t* pixel = input.pixel(0, b, input.column + x);
      for (std::int64_t k = 0; k < kBlock; ++k) {
        std::int8_t& value = output[outputIndex(kernel, b, x) + k];
        const std::int64_t channel = kernel.tablePerChannel ? b * kBlock + k : 0;
        value = kernel.tableLines ? valueOnLine(lineAt(record + kLineBytes * channel), pixel[k])
                                  : record[kTableBytes * channel + pixel[k] + 128];
      }
    }
}

void runAssemble(const Kernel& kernel, std::span<const AssembleInput> inputs,
                 const std::int8_t* record, std::int8_t* output) {
  std::memset(output, kernel.fill, static_cast<std::size_t>(outputBytes(kernel)));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const AssembleInput& input = inputs[i];
    const Kernel::Move& move = kernel.moves[i];
    if (input.row == nullptr) continue;
    const std::int8_t* table = move.table < 0 ? nullptr : record + move.table * kTableBytes;
    for (const AxisRun& channels : move.channels)
      for (const AxisRun& columns : move.columns)
        for (std::int64_t c = 0; c < channels.count; ++c)
          for (std::int64_t x = 0; x < columns.count; ++x) {
            const std::int64_t toChannel = channels.to + c * channels.toStep,
                               to = columns.to + x * columns.toStep;
            const std::int64_t fromChannel = channels.from + c * channels.fromStep;
            const std::int64_t from = columns.from + x * columns.fromStep;
            const std::int8_t value =
                input.row[(fromChannel / kBlock * input.ringColumns + from) * kBlock +
                          fromChannel % kBlock];
            output[outputIndex(kernel, toChannel / kBlock, to) + toChannel % kBlock] =
                table == nullptr ? value : table[value + 128];
          }
  }
}

}  // namespace heddle::machine
