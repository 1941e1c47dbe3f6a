// Convolutions under masks of their blocks, on odd meshes and with odd numbers of channels: exact,
// and, where the reduction is not cut over time, none is slower for having fewer blocks.
// prove_masks draws many more.
#include <gtest/gtest.h>

#include "heddle/planner/make_plan.h"
#include "masked_conv.h"
#include "prove.h"

namespace heddle::property {
namespace {

struct Case {
  const char* name;
  ConvShape shape;
  std::int64_t rows, columns;
  const char* coreMemory;  // small: the reduction is cut over time
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

Device deviceOf(const Case& c) {
  const Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                 {.mesh = {{c.rows, c.columns}}, .settings = {{"core.memory", c.coreMemory}}});
  return *device;
}

bool isCut(const Case& c) { return std::string(c.coreMemory) != "64 KiB"; }

class BlockMasks : public ::testing::TestWithParam<Case> {};

TEST_P(BlockMasks, AreExactAndNotSlower) {
  const Case& c = GetParam();
  const MaskedConv conv(c.shape, 1);
  for (const MaskChain& chain : maskChains(conv.outputBlocks(), conv.inputBlocks(), c.rows, 1)) {
    std::vector<Cycles> cycles;
    const auto fault = disprove(conv, chain, deviceOf(c), 1, cycles);
    ASSERT_FALSE(fault) << *fault;
    const Slowdown slowdown = worstSlowdown(chain, cycles);
    EXPECT_TRUE(isCut(c) || slowdown.permille <= kMostPermille) << slowdown.what;
  }
}

// The paper's dataflow has to cut where the menu need not.
constexpr PlanOptions kPapersDataflow{.effort = 0};

TEST_P(BlockMasks, AreExactWithTheReductionCut) {
  const Case& c = GetParam();
  if (!isCut(c)) return;
  const MaskedConv conv(c.shape, 1);
  for (const MaskChain& chain : maskChains(conv.outputBlocks(), conv.inputBlocks(), c.rows, 1)) {
    std::vector<Cycles> cycles;
    const auto fault = disprove(conv, chain, deviceOf(c), 1, cycles, kPapersDataflow);
    ASSERT_FALSE(fault) << *fault;
  }
}

TEST_P(BlockMasks, CutTheReductionWhereMemoryIsSmall) {
  const Case& c = GetParam();
  const MaskedConv conv(c.shape, 1);
  const Bits all(conv.outputBlocks() * conv.inputBlocks(), true);
  const Result<Plan> plan = makePlan(conv.under(all), deviceOf(c), kPapersDataflow);
  ASSERT_TRUE(plan) << plan.diagnostics();
  EXPECT_EQ(plan->layers.at(0).parts.size() > 1, isCut(c));
}

INSTANTIATE_TEST_SUITE_P(
    Property, BlockMasks,
    ::testing::Values(Case{"One1x1", {9, 13, 37, 53, 1}, 1, 1, "64 KiB"},
                      Case{"One3x2", {14, 11, 61, 75, 1, 1, true}, 3, 2, "64 KiB"},
                      Case{"One2x5", {7, 23, 100, 41, 1}, 2, 5, "64 KiB"},
                      Case{"Three1x1", {6, 7, 19, 30, 3}, 1, 1, "64 KiB"},
                      Case{"Three3x2", {15, 9, 35, 50, 3, 2}, 3, 2, "64 KiB"},
                      Case{"Three2x5", {8, 17, 43, 29, 3, 1, true}, 2, 5, "64 KiB"},
                      Case{"CutOne3x2", {5, 9, 301, 45, 1}, 3, 2, "8 KiB"},
                      Case{"CutThree2x5", {7, 11, 141, 37, 3, 1, true}, 2, 5, "8 KiB"}),
    [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace heddle::property
