#include "heddle/report/padding.h"

#include <gtest/gtest.h>

#include "small_run.h"

namespace heddle {
namespace {

using testing::twoConvs;
using testing::twoConvsProgram;

using Macs = std::vector<std::int64_t>;

Call<Affine>& firstCall(Program& program) {
  return std::get<Call<Affine>>(std::get<Instruction>(program.sections[3].items[0].as).as);
}

Macs paddedOf(const CanonicalGraph& graph, const Program& program, std::size_t slices) {
  const Track track{{EngineKind::Core, 0, 0, 0}, std::vector<SpanSlice>(slices)};
  return paddedMacs(graph, program, leafFacts(program), track);
}

// 4 columns, one tap, one block of 8 x 8: 256 MACs a call.
TEST(PaddedMacs, NoneWhereChannelsFillTheirBlocks) {
  EXPECT_EQ(paddedOf(twoConvs(), twoConvsProgram(), 2), (Macs{0, 0}));
}

TEST(PaddedMacs, AreThoseOfChannelsThatTheNetworkDoesNotHave) {
  Program program = twoConvsProgram();
  program.tensors[0].shape.channels = 3;
  program.tensors[1].shape.channels = 6;
  // First: 3 -> 6 channels; second: 6 -> 8.
  EXPECT_EQ(paddedOf(twoConvs(), program, 2), (Macs{256 - 4 * 3 * 6, 256 - 4 * 6 * 8}));
}

TEST(PaddedMacs, DifferWhereOnlyTheLastIterationMeetsThePaddedBlock) {
  Program program = twoConvsProgram();
  program.tensors[1].shape.channels = 12;  // blocks of 8 and 4
  Instruction call{firstCall(program)};
  std::get<Call<Affine>>(call.as).part.block.loop[0] = 1;
  program.sections[3].items = {{Loop{2, {{call}}}}};
  EXPECT_EQ(paddedOf(twoConvs(), program, 2), (Macs{0, 128}));
}

TEST(PaddedMacs, AreNoneOutsideTheCores) {
  const Program program = twoConvsProgram();
  const Track wire{{EngineKind::Wire, 0, 0, 0}, std::vector<SpanSlice>(1)};
  EXPECT_EQ(paddedMacs(twoConvs(), program, leafFacts(program), wire), Macs{0});
}

}  // namespace
}  // namespace heddle
