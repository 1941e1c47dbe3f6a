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

  explicit TwoConvolutions(const Shape& image = {16, 16, 16}) {
    GraphBuilder b("two");
    const TensorId a = b.conv("a", b.input("x", image), 32, square(1, 1, 0));
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
  // Each core of the second one all pixels, one block of channels after another.
  void readBlockByBlock() {
    Mapping& mapping = plan.layers[1];
    const Shape& shape = graph.tensors[1].shape;
    for (CoreShare& share : mapping.shares) share.boxes = {{{0, shape.height}, {0, shape.width}}};
    mapping.resident = false;
    mapping.parts.clear();
    for (std::int64_t b = 0; b < 4; ++b) mapping.parts.push_back({{b, 1}, {0, 1}});
  }
  std::vector<bool> arrange(std::vector<bool> asked = {}) {
    asked.resize(graph.tensors.size(), asked.empty());
    return arrangeHomes(graph, device, times, asked, plan);
  }
  Program program() const {
    EXPECT_EQ(verify(plan, graph, device), Diagnostics{});
    const Result<MemoryPlan> memory = allocateMemory(graph, plan, device);
    EXPECT_TRUE(memory) << memory.diagnostics();
    return generateProgram(graph, plan, *memory, device)->program;
  }
  static std::size_t instructions(const Program& program) {
    std::size_t all = 0;
    for (const Engine& engine : enginesOf(program))
      for (QueueCursor c(program, engine); !c.done(); c.next()) ++all;
    return all;
  }
};

TEST(ArrangeHomes, InRowsWhereTheReaderSharesTheHeightOut) {
  TwoConvolutions p;
  p.readRows();
  const std::size_t before = TwoConvolutions::instructions(p.program());
  const std::vector<bool> arranged = p.arrange({false, true, false});
  for (std::int64_t m = 0; m < 4; ++m)
    EXPECT_EQ(p.plan.homes[1][static_cast<std::size_t>(m)],
              (HomeBox{m, {4 * m, 4}, {0, 16}, {0, 4}}));
  EXPECT_TRUE(arranged[1]);
  EXPECT_EQ(std::ranges::count(arranged, true), 1);
  // Of each of 16 rows: three transfers less, which two cores receive.
  const Program after = p.program();
  EXPECT_EQ(TwoConvolutions::instructions(after), before - std::size_t{16 * 3 * 3});
  // Cores that write columns of one row and the same blocks don't wait for each other.
  for (const Lock& lock : after.locks)
    EXPECT_FALSE(lock.producer.kind == EngineKind::CoreOut &&
                 lock.consumer.kind == EngineKind::CoreOut);
}

TEST(ArrangeHomes, AsTheyLieWhereThatIsHowTheyAreRead) {
  TwoConvolutions p;
  const Plan before = p.plan;
  EXPECT_EQ(std::ranges::count(p.arrange({false, true, false}), true), 0);
  EXPECT_EQ(p.plan, before);
}

TEST(ArrangeHomes, InBlocksWhereAllPixelsAreReadBlockByBlock) {
  TwoConvolutions p;
  p.readBlockByBlock();
  p.arrange();
  // Two blocks are what a core writes of a row.
  for (std::int64_t m = 0; m < 4; ++m)
    EXPECT_EQ(p.plan.homes[1][static_cast<std::size_t>(m)],
              (HomeBox{m, {m / 2 * 8, 8}, {0, 16}, {m % 2 * 2, 2}}));
}

TEST(ArrangeHomes, NoneThatIsNotAskedFor) {
  TwoConvolutions p;
  p.readRows();
  const Plan before = p.plan;
  EXPECT_FALSE(p.arrange({true, false, true})[1]);
  EXPECT_EQ(p.plan.homes[1], before.homes[1]);
}

// Of a narrow tensor each memtile keeps some rows; blocks of channels would be of all seven.
TEST(ArrangeHomes, NoneOfMoreRowsThanALockCounts) {
  for (const std::int64_t most : {6, 7}) {
    TwoConvolutions p({7, 3, 16});
    p.readBlockByBlock();
    p.plan.layers[1].rings[0].together = 7;
    ASSERT_EQ(p.plan.homes[1].front(), (HomeBox{0, {0, 2}, {0, 3}, {0, 4}}));
    p.device.limits.lockMaximum = most;
    p.arrange({false, true, false});
    EXPECT_EQ(p.plan.homes[1].front().y.count, most == 7 ? 7 : 4);
  }
}

TEST(ArrangeHomes, NoneThatLiesOtherwise) {
  TwoConvolutions p;
  p.readRows();
  std::ranges::reverse(p.plan.homes[1]);
  const Plan before = p.plan;
  EXPECT_EQ(std::ranges::count(p.arrange({false, true, false}), true), 0);
  EXPECT_EQ(p.plan, before);
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
