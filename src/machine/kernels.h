// What a core computes: one output row of its tile, from blocked int8 rows in core memory to
// blocked int8 bytes. Pure functions on bytes; who may read what, and when, is the business of the
// callers. Meaning: canon/canonical_graph.h; layout of weight records: WeightImage in
// program/program.h.
//
//   row of a ring:  block 0: x0 c0..c7, x1 c0..c7, ...   block 1: x0 c8..c15, ...
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/program/program.h"

namespace heddle::machine {

// The window's rows of one input, as a kernel sees them.
struct WindowRows {
  std::vector<const std::int8_t*>
      rows;  // first byte of the ring row of each kernel row; null where it is border
  std::int64_t ringColumns = 0;  // pixels of a ring row
  std::int64_t origin = 0;       // column of the tensor of a ring row's first pixel
  std::int64_t column = 0;       // column of the tensor of the window's first tap
  std::int64_t tensorWidth = 0;

  // Null where the pixel is border.
  const std::int8_t* pixel(std::int64_t kernelRow, std::int64_t block, std::int64_t x) const {
    const std::int8_t* row = rows[static_cast<std::size_t>(kernelRow)];
    if (row == nullptr || x < 0 || x >= tensorWidth) return nullptr;
    return row + (block * ringColumns + (x - origin)) * kBlock;
  }
};

// How a call takes part in a reduction that is cut over time.
struct Reduction {
  bool init = true, finish = true;
  std::int32_t* accumulator =
      nullptr;  // blocks x columns x 8; null where the reduction is one call
};

// Number of 8x8 blocks that the gamma of a CONV record keeps; -1: it names some that the kernel
// does not have.
std::int64_t keptBlocksOf(const Kernel& kernel, const std::int8_t* record);

// A line of a record (program/program.h, WeightImage).
TableLine lineAt(const std::int8_t* record);

// Reused from call to call, so that a call allocates nothing.
struct KernelScratch {
  bool portable = false;  // do without the processor's vector instructions even where it has them
  std::vector<std::int16_t> pixels;
  std::vector<std::int32_t> accumulators;
};

// `gate`: where the kernel multiplies its input, the pixel that it does so by.
void runConv(const Kernel& kernel, const WindowRows& input, const WindowRows* gate,
             const std::int8_t* record, const Reduction& reduction, std::int8_t* output,
             KernelScratch& scratch);
void runDepthwiseConv(const Kernel& kernel, const WindowRows& input, const std::int8_t* record,
                      const Reduction& reduction, std::int8_t* output, KernelScratch& scratch);
void runMaxPool(const Kernel& kernel, const WindowRows& input, const Reduction& reduction,
                std::int8_t* output, KernelScratch& scratch);
// `row`: row of the tensor of the window's first tap.
void runAveragePool(const Kernel& kernel, const WindowRows& input, std::int64_t row,
                    std::int64_t tensorHeight, const Reduction& reduction, std::int8_t* output,
                    KernelScratch& scratch);
// What a CONV does to the output row of a call that finishes, where the kernel adds an input.
void addInput(const Kernel& kernel, const WindowRows& input, std::int8_t* output);
void runAdd(const Kernel& kernel, const WindowRows& a, const WindowRows& b, std::int8_t* output);
void runMul(const Kernel& kernel, const WindowRows& a, const WindowRows& b, std::int8_t* output);
void runTable(const Kernel& kernel, const WindowRows& input, const std::int8_t* record,
              std::int8_t* output);

// One ring of an Assemble; null row: this call reads nothing of it.
struct AssembleInput {
  const std::int8_t* row = nullptr;
  std::int64_t ringColumns = 0;
};
void runAssemble(const Kernel& kernel, std::span<const AssembleInput> inputs,
                 const std::int8_t* record, std::int8_t* output);

}  // namespace heddle::machine
