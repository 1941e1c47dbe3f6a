// One convolution under masks of its 8x8 blocks of weights: densities, and masks that make the
// work of cores as unequal as can be, in chains of which each mask is a subset of the one before.
//
//   const MaskedConv conv({.inputs = 37, .outputs = 53, .kernel = 3}, 1);
//   for (const MaskChain& chain : maskChains(conv.outputBlocks(), conv.inputBlocks(), 3, 1))
//     for (const Bits& mask : chain.masks) disprove(conv.under(mask), device, 1);
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"

namespace heddle::property {

struct ConvShape {
  std::int64_t height = 9, width = 13, inputs = 8, outputs = 8, kernel = 1, stride = 1;
  bool weightZeros = false;  // a zero point of its own for each output channel
};

class MaskedConv {
 public:
  // Weights at random, none at its zero point; borders as SAME has them.
  MaskedConv(const ConvShape& shape, std::uint64_t seed);

  std::int64_t outputBlocks() const;
  std::int64_t inputBlocks() const;
  // The network whose weights are at their zero point where `mask` (output block by output block)
  // is 0, with what findKeptBlocks finds of it.
  CanonicalGraph under(const Bits& mask) const;

 private:
  ConvShape shape_;
  CanonicalGraph dense_;
};

struct MaskChain {
  std::string name;
  std::vector<Bits> masks;  // each a subset of the one before; the first keeps every block
};

// Chains over outputs x inputs blocks: at random by density (100, 99, 90, 75, 50, 25, 10, 5, 1,
// 0 %), and to one block row, one block column, the first of `cores` cores, a checkerboard; from
// all of these to a single block and to none.
std::vector<MaskChain> maskChains(std::int64_t outputs, std::int64_t inputs, std::int64_t cores,
                                  std::uint64_t seed);

// Cycles of the program that heddle makes of `graph`, executed without data. Needs a device that
// suffices.
Cycles cyclesOf(const CanonicalGraph& graph, const Device& device);

// Runs a chain with data (or, quicker, without): what is wrong in the first program that is, or
// which takes over 3 % and 50 cycles more than one that keeps more blocks.
std::optional<std::string> disproveChain(const MaskedConv& conv, const MaskChain& chain,
                                         const Device& device, std::uint64_t seed, bool withData);

}  // namespace heddle::property
