// One convolution under masks of its 8x8 blocks of weights: densities, and masks that make the
// work of cores as unequal as can be, in chains of which each mask is a subset of the one before.
//
//   const MaskedConv conv({.inputs = 37, .outputs = 53, .kernel = 3}, 1);
//   for (const MaskChain& chain : maskChains(conv.outputBlocks(), conv.inputBlocks(), 3, 1))
//     if (auto fault = disprove(conv, chain, device, 1, cycles)) std::cout << *fault;
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/planner/make_plan.h"

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

// Executes a chain's programs with data: what is wrong in the first that is. `cycles`: of each.
std::optional<std::string> disprove(const MaskedConv& conv, const MaskChain& chain,
                                    const Device& device, std::uint64_t seed,
                                    std::vector<Cycles>& cycles, const PlanOptions& options = {});
// The same without data, quicker. Needs a device that suffices.
std::vector<Cycles> cyclesOf(const MaskedConv& conv, const MaskChain& chain, const Device& device);

constexpr std::int64_t kMostPermille = 1030;  // of the cycles of a mask with more blocks

// The program that takes longest, compared with one that keeps more blocks.
struct Slowdown {
  std::int64_t permille = 1000;  // of the other's cycles; 1000 or less: none
  std::string what;
};
Slowdown worstSlowdown(const MaskChain& chain, const std::vector<Cycles>& cycles);

}  // namespace heddle::property
