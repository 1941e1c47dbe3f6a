// What the parts of the generator share: the plans that they read, and the Program that grows.
#pragma once
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "emission.h"
#include "heddle/memory/allocate.h"
#include "heddle/program/generate.h"
#include "heddle/tiling/nest.h"
#include "heddle/tiling/views.h"

namespace heddle {

struct Generation {
  const CanonicalGraph& graph;
  const Plan& plan;
  const MemoryPlan& memory;
  const Device& device;
  Emission emission;
  GeneratedProgram out;
  std::map<std::size_t, std::size_t> lastProducer;  // root tensor -> the last step that writes it
  // Layer, first block, blocks, part of the reduction -> number of the record.
  std::map<std::tuple<std::size_t, std::int64_t, std::int64_t, std::int64_t>, std::int64_t> records;
  std::map<std::size_t, std::vector<KernelId>> kernels;  // of each layer so far
  // Layer, weight route, LayerNest::recordKey: records that stay and have come.
  std::set<std::tuple<std::size_t, std::size_t, std::int64_t>> recordsAtHome;

  TensorId root(TensorId t) const { return plan.views[t.at()].root; }
  std::int64_t rootBlock(TensorId t) const { return plan.views[t.at()].block; }
  PixelMap pixels(TensorId t) const { return pixelMapOf(graph, plan, t); }
  // The tensor that parts and rings name: one that has some pixels of its root goes by its own.
  TensorId named(TensorId t) const { return plan.views[t.at()].sampling ? t : root(t); }
  std::int64_t blockInNamed(TensorId t) const {
    return plan.views[t.at()].sampling ? 0 : rootBlock(t);
  }
  const TensorMemory& home(TensorId t) const { return memory.tensors[root(t).at()]; }
  const Shape& shape(TensorId t) const { return graph.tensors[t.at()].shape; }
};

// Tells the transfers and calls of a step, in order (telling.cc).
void tellStep(Generation& generation, StepId step);

// The kernel of a call, one for all calls of a layer that are alike (kernels.cc).
KernelId kernelFor(Generation& generation, const LayerNest& nest, std::size_t layer,
                   const CoreShare& share, const Iteration& at, const Interval& x);
// That of the pool or the depth-wise convolution at its end.
KernelId endKernelFor(Generation& generation, const LayerNest& nest, std::size_t layer,
                      const CoreShare& share, const Iteration& at, const Interval& x);

// Bytes of constant tensors at the front of the image (constants.cc).
void placeConstants(Generation& generation);

// The sequencer's queue: which entries of the DDR channels may run when (sequencer.cc).
void tellSequencer(Generation& generation);

// ---- memory, in cells of a block of channels at one pixel ---------------------------------------

inline std::int32_t small(std::int64_t n) { return static_cast<std::int32_t>(n); }
inline Address<std::int64_t> at(std::int64_t address) { return {.base = address}; }
inline Pattern contiguous(std::int64_t bytes) { return {{}, bytes}; }

// `blocks` stretches of `columns` cells that lie `pitch` cells apart; one stretch where they touch.
inline Pattern blocksOfCells(std::int64_t blocks, std::int64_t columns, std::int64_t pitch) {
  if (columns == pitch || blocks == 1) return contiguous(blocks * columns * kBlock);
  return {{{blocks, pitch * kBlock}}, columns * kBlock};
}

// Of these stretches every `step`-th cell, `columns` of each.
inline Pattern cellsApart(std::int64_t blocks, std::int64_t columns, std::int64_t pitch,
                          std::int64_t step) {
  if (step == 1) return blocksOfCells(blocks, columns, pitch);
  Pattern pattern{{}, kBlock};
  if (columns * step == pitch) return {{{blocks * columns, step * kBlock}}, kBlock};
  if (blocks > 1) pattern.dimensions.push_back({blocks, pitch * kBlock});
  if (columns > 1) pattern.dimensions.push_back({columns, step * kBlock});
  return pattern;
}

// The same in each of `rows` rows, `pitch` bytes apart; in one dimension where they go on alike.
inline Pattern rowsOf(Pattern row, std::int64_t rows, std::int64_t pitch) {
  if (rows == 1) return row;
  if (row.dimensions.empty() && row.run == pitch) return contiguous(rows * pitch);
  if (!row.dimensions.empty() && row.dimensions[0].count * row.dimensions[0].stride == pitch)
    row.dimensions[0].count *= rows;
  else
    row.dimensions.insert(row.dimensions.begin(), {rows, pitch});
  return row;
}

// Rectangles that together are the cores, greedily from the top left.
std::vector<CoreRange> rectanglesOf(std::vector<CoreAt> cores);

}  // namespace heddle
