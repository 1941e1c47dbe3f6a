// What the compiler makes of a larger mesh, by the clock of the Machine.
#include <gtest/gtest.h>

#include "../unit/graphs.h"
#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

std::int64_t cyclesOn(const CanonicalGraph& graph, std::int64_t rows, std::int64_t columns) {
  const Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{rows, columns}}});
  const Result<Plan> plan = makePlan(graph, *device, {.effort = 0});
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, *device);
  const Result<GeneratedProgram> made = generateProgram(graph, *plan, *memory, *device);
  const Result<SimulateResult> run = simulateTime(*verified(made->program, *device));
  HEDDLE_CHECK(run) << toText(run.diagnostics());
  return run->timeline.makespan.raw();
}

// 56 x 56 x 256 outputs of 3 x 3 x 64 terms at 256 a cycle and core: compute is what bounds it.
TEST(Mesh, FourTimesTheCoresTakeAThirdOfTheTimeOrLess) {
  GraphBuilder b("net");
  const CanonicalGraph graph =
      b.finish(b.conv("conv", b.input("x", {56, 56, 64}), 256, square(3, 1, 1)));
  const std::int64_t macs = std::int64_t{56} * 56 * 256 * 3 * 3 * 64;
  const std::int64_t small = cyclesOn(graph, 2, 2), large = cyclesOn(graph, 4, 4);
  EXPECT_GE(small, macs / (256 * 4));
  EXPECT_GE(large, macs / (256 * 16));
  EXPECT_LE(3 * large, small);
}

// 2048 blocks at once: only a convolution has pairs of them.
TEST(Mesh, ACoreTakesAsManyChannelsOfASumAsItHolds) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {1, 1, 16384}), y = b.input("y", {1, 1, 16384});
  EXPECT_GT(cyclesOn(b.finish(b.add("sum", x, y)), 1, 1), 0);
}

}  // namespace
}  // namespace heddle
