#include "heddle/report/memory_use.h"

#include <gtest/gtest.h>

#include "small_run.h"

namespace heddle {
namespace {

using testing::twoConvsProgram;
using testing::twoConvsRun;

using Layers = std::vector<LayerId>;

std::vector<MemoryUse> usesOf(const Program& program) {
  return memoryUse(program, twoConvsRun().timeline, memoryBlocks(program));
}

TEST(MemoryUse, LivesFromTheFirstInstructionThatTouchesItToTheLast) {
  const std::vector<MemoryUse> uses = usesOf(twoConvsProgram());
  // Weights: LOADW 20..28, LOADWM 28..32. x: LOAD 0..20, LOADFM 20..30.
  EXPECT_EQ(uses[0].whole, (Stretch{20, 32}));
  EXPECT_EQ(uses[2].whole, (Stretch{0, 30}));
  EXPECT_EQ(uses[2].writtenBy, (Layers{LayerId(0)}));
  EXPECT_EQ(uses[2].readBy, (Layers{LayerId(0)}));
}

TEST(MemoryUse, WhatNothingTouchesHasNoLife) {
  const std::vector<MemoryUse> uses = usesOf(twoConvsProgram());
  EXPECT_EQ(uses[3].whole, Stretch{});  // y: no instruction of this program writes it
}

TEST(MemoryUse, EachTileHasALifeOfItsOwn) {
  Program program = twoConvsProgram();
  for (std::size_t section : {3u, 4u}) {  // the calls read 64 B of the ring
    auto& call =
        std::get<Call<Affine>>(std::get<Instruction>(program.sections[section].items[0].as).as);
    call.inputs[0].rowBytes = 32;
    call.inputs[0].length = 2;
  }
  const std::vector<MemoryUse> uses = usesOf(program);
  EXPECT_EQ(uses[1].whole, (Stretch{32, 60}));
  EXPECT_EQ(uses[1].tiles, (std::vector<Stretch>{{32, 60}, {-1, -1}}));  // core 0,1 runs nothing
  EXPECT_EQ(uses[1].readBy, (Layers{LayerId(0), LayerId(1)}));
  EXPECT_EQ(uses[1].writtenBy, Layers{});
}

TEST(MemoryUse, PlacesUsedInTurnAreSlots) {
  Program program = twoConvsProgram();
  auto& load =
      std::get<Transfer<Affine>>(std::get<Instruction>(program.sections[0].items[1].as).as);
  load.destination.address.slots = 2;
  load.destination.address.slotStride = 32;
  EXPECT_EQ(usesOf(program)[0].slots, 2);
}

TEST(MemoryUse, WhatIsThereFromTheStartAndStaysLivesThroughTheWholeRun) {
  Program program = twoConvsProgram();
  program.tensors[0].ddr = 0;
  program.inputs = testing::twoConvs().inputs;
  program.weightsAddress = 128;
  program.weightsBytes = 64;
  const std::vector<MemoryUse> uses = usesOf(program);
  EXPECT_EQ(uses[4].whole, (Stretch{0, 20}));  // x in DDR, until it is loaded
  EXPECT_EQ(uses[5].whole, (Stretch{0, 62}));  // weight records
}

}  // namespace
}  // namespace heddle
