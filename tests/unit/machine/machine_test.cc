#include "heddle/machine/machine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "worked_convolution.h"

namespace heddle {
namespace {

using testing::WorkedConvolution;

TEST(Machine, TheWorkedConvolutionComputesTheFormula) {
  const WorkedConvolution w;
  const Result<SimulateResult> result = w.run();
  ASSERT_TRUE(result) << result.diagnostics();
  EXPECT_EQ(result->outputs[0], w.expected());
  EXPECT_EQ(result->tensors[w.out.at()], w.expected());
  EXPECT_TRUE(result->tensors[w.in.at()].empty());
  EXPECT_EQ(result->macs, 16 * 16 * 16 * 32 * 9);
}

TEST(Machine, TimeAloneGivesTheTimelineOfTheRunWithData) {
  const WorkedConvolution w;
  const Result<SimulateResult> data = w.run();
  const Result<SimulateResult> time = w.time();
  ASSERT_TRUE(data) << data.diagnostics();
  ASSERT_TRUE(time) << time.diagnostics();
  EXPECT_EQ(data->timeline, time->timeline);
  EXPECT_EQ(data->traffic, time->traffic);
  EXPECT_EQ(data->stepEnd, time->stepEnd);
}

TEST(Machine, TellsHowFarItIsFromTheFirstInstructionToTheLast) {
  const WorkedConvolution w;
  std::vector<double> told;
  const SimulateOptions options{.progress = [&](double fraction) { told.push_back(fraction); }};
  ASSERT_TRUE(w.time(options));
  EXPECT_GT(told.size(), 100U);
  EXPECT_LE(told.size(), 1001U);
  EXPECT_GT(told.front(), 0);
  EXPECT_EQ(told.back(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(told));
}

}  // namespace
}  // namespace heddle
