#include "../../../src/planner/arrange_homes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "../graphs.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/program/visit.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// Two convolutions, 16x16 of 32 channels between them, on 2 x 4 cores: column c computes columns 4c
// to 4c + 3 of the image, row r half of the channels.
struct TwoConvolutions {
  CanonicalGraph graph;
  Device device;
  Plan plan;
  std::vector<StepTime> times;

  TwoConvolutions() {
    GraphBuilder b("two");
    const TensorId a = b.conv("a", b.input("x", {16, 16, 16}), 32, square(1, 1, 0));
    graph = b.finish(b.conv("b", a, 32, square(1, 1, 0)));
    device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 4}}});
    plan = *makePlan(graph, device, {.effort = 0});
    times.resize(plan.schedule.size());
    for (StepTime& time : times) take(time, Resource::Compute, 100000);
  }
  static void take(StepTime& time, Resource resource, std::int64_t cycles) {
    time.busy[static_cast<std::size_t>(resource)] = Cycles(cycles);
  }
  // The second one's columns of cores share the height out, not the width.
  void readRows() {
    Mapping& mapping = plan.layers[1];
    for (CoreShare& share : mapping.shares) share.boxes = {{{4 * share.core.column, 4}, {0, 16}}};
    mapping.rings[0].rowBytes *= 4;
    mapping.outputRowBytes *= 4;
    EXPECT_EQ(verify(plan, graph, device), Diagnostics{});
  }
  std::vector<bool> arrange(std::vector<bool> asked = {}) {
    asked.resize(graph.tensors.size(), asked.empty());
    return arrangeHomes(graph, device, times, asked, plan);
  }
  std::size_t instructions() const {
    EXPECT_EQ(verify(plan, graph, device), Diagnostics{});
    const Result<MemoryPlan> memory = allocateMemory(graph, plan, device);
    EXPECT_TRUE(memory) << memory.diagnostics();
    const Program program = generateProgram(graph, plan, *memory, device)->program;
    std::size_t all = 0;
    for (const Engine& engine : enginesOf(program))
      for (QueueCursor c(program, engine); !c.done(); c.next()) ++all;
    return all;
  }
};

TEST(ArrangeHomes, InRowsWhereTheReaderSharesTheHeightOut) {
  TwoConvolutions p;
  p.readRows();
  const std::size_t before = p.instructions();
  const std::vector<bool> arranged = p.arrange();
  for (std::int64_t m = 0; m < 4; ++m)
    EXPECT_EQ(p.plan.homes[1][static_cast<std::size_t>(m)],
              (HomeBox{m, {4 * m, 4}, {0, 16}, {0, 4}}));
  EXPECT_TRUE(arranged[1]);
  EXPECT_EQ(std::ranges::count(arranged, true), 1);
  // Of each of 16 rows: three transfers less, which two cores receive.
  EXPECT_EQ(p.instructions(), before - std::size_t{16 * 3 * 3});
}

TEST(ArrangeHomes, AsTheyLieWhereThatIsHowTheyAreRead) {
  TwoConvolutions p;
  const Plan before = p.plan;
  EXPECT_EQ(std::ranges::count(p.arrange(), true), 0);
  EXPECT_EQ(p.plan, before);
}

TEST(ArrangeHomes, InBlocksWhereAllPixelsAreReadBlockByBlock) {
  TwoConvolutions p;
  Mapping& mapping = p.plan.layers[1];
  for (CoreShare& share : mapping.shares) share.boxes = {{{0, 16}, {0, 16}}};
  mapping.resident = false;
  // Blocks of a row are 24 cycles later there, those of half of the rows 48.
  TwoConvolutions::take(p.times[1], Resource::Compute, 36 * 1000 / 20);
  mapping.parts.clear();
  for (std::int64_t b = 0; b < 4; ++b) mapping.parts.push_back({{b, 1}, {0, 1}});
  p.arrange();
  for (std::int64_t m = 0; m < 4; ++m)
    EXPECT_EQ(p.plan.homes[1][static_cast<std::size_t>(m)], (HomeBox{m, {0, 16}, {0, 16}, {m, 1}}));
}

TEST(ArrangeHomes, NoneThatIsNotAskedFor) {
  TwoConvolutions p;
  p.readRows();
  const Plan before = p.plan;
  EXPECT_EQ(std::ranges::count(p.arrange({true, false, true}), true), 0);
  EXPECT_EQ(p.plan, before);
}

TEST(ArrangeHomes, NoneThatLiesOtherwise) {
  TwoConvolutions p;
  p.readRows();
  std::ranges::reverse(p.plan.homes[1]);
  const Plan before = p.plan;
  EXPECT_EQ(std::ranges::count(p.arrange(), true), 0);
  EXPECT_EQ(p.plan, before);
}

// Each core writes 64 bytes of a row, which takes it 16 cycles, to a memtile of its own; in rows
// the four cores of a mesh row do so by turns.
TEST(ArrangeHomes, NotInRowsThatWouldBeThereTooLate) {
  TwoConvolutions p;
  p.readRows();
  const Plan before = p.plan;
  TwoConvolutions::take(p.times[1], Resource::Compute, 48 * 1000 / 20 - 1);
  EXPECT_EQ(std::ranges::count(p.arrange(), true), 0);
  EXPECT_EQ(p.plan, before);
  TwoConvolutions::take(p.times[1], Resource::Compute, 48 * 1000 / 20);
  EXPECT_TRUE(p.arrange()[1]);
}

// Who reads from the top has what the DDR channels of one part bring.
TEST(ArrangeHomes, AnInputInRowsOnlyWhereItsChannelsHaveTheTime) {
  for (const auto& [busy, rows] :
       {std::pair(20000, 4), std::pair(20001, 8), std::pair(40000, 8), std::pair(40001, 16)}) {
    TwoConvolutions p;
    p.readRows();
    p.plan.layers[0].shares = p.plan.layers[1].shares;  // reads its input so, too
    TwoConvolutions::take(p.times[0], Resource::DdrRead, busy);
    EXPECT_EQ(p.arrange({true, false, false})[0], rows < 16) << busy;
    EXPECT_EQ(p.plan.homes[0].front().y.count, rows) << busy;
  }
}

}  // namespace
}  // namespace heddle
