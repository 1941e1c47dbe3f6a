#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"

#include <gtest/gtest.h>

#include "../graphs.h"
#include "heddle/program/visit.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

struct Made {
  Device device;
  Program program;
};

Made made(const CanonicalGraph& graph, std::int64_t rows, std::int64_t columns) {
  Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{rows, columns}}});
  EXPECT_TRUE(device) << device.diagnostics();
  const Result<Plan> plan = makePlan(graph, *device);
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, *device);
  Result<GeneratedProgram> generated = generateProgram(graph, *plan, *memory, *device);
  EXPECT_TRUE(generated) << generated.diagnostics();
  return {*device, generated->program};
}

// The worked convolution: 3x3, pad 1, 16x16x16 -> 16x16x32.
CanonicalGraph worked() {
  GraphBuilder b("worked");
  return b.finish(b.conv("conv", b.input("x", {16, 16, 16}), 32, square(3, 1, 1)));
}

template <class Op>
std::int64_t countOf(const Program& program, const Engine& engine) {
  std::int64_t n = 0;
  for (QueueCursor c(program, engine); !c.done(); c.next())
    n += std::holds_alternative<Op>(c.instruction().as);
  return n;
}

TEST(GenerateProgram, SendsEachInputRowToACoreOnce) {
  const Made m = made(worked(), 2, 2);
  // 16 rows, each the column's own 8 pixels and 1 of the neighbour's.
  for (std::int32_t row : {0, 1})
    for (std::int32_t column : {0, 1}) {
      EXPECT_EQ(countOf<Receive<Affine>>(m.program, {EngineKind::CoreIn, row, column, 0}), 32);
      EXPECT_EQ(countOf<Receive<Affine>>(m.program, {EngineKind::CoreIn, row, column, 1}), 1);
      EXPECT_EQ(countOf<Call<Affine>>(m.program, {EngineKind::Core, row, column, 0}), 16);
      EXPECT_EQ(countOf<WriteFm<Affine>>(m.program, {EngineKind::CoreOut, row, column, 0}), 16);
    }
}

TEST(GenerateProgram, GivesEachLockOneProducerAndOneConsumer) {
  const Made m = made(worked(), 2, 2);
  for (std::size_t i = 1; i < m.program.locks.size(); ++i) {
    const Lock &a = m.program.locks[i - 1], &b = m.program.locks[i];
    EXPECT_TRUE(a.tile < b.tile || (a.tile == b.tile && a.index < b.index));
    EXPECT_NE(b.producer, b.consumer);
  }
}

TEST(GenerateProgram, MulticastsWeightsAlongARow) {
  const Made m = made(worked(), 2, 2);
  for (QueueCursor c(m.program, {EngineKind::Wire, 0, 2, 0}); !c.done();
       c.next()) {  // wires 0, 1 are the columns'
    const FlatInstruction instruction = c.evaluated();
    const auto& send = std::get<Send<std::int64_t>>(instruction.as);
    EXPECT_EQ(send.part.content, Content::Weights);
    EXPECT_EQ(send.to[0].columns, 2);
  }
}

TEST(GenerateProgram, StartsEveryEntryOfEveryDdrChannelOnce) {
  const Made m = made(worked(), 2, 3);
  std::map<Engine, std::int64_t> started, entries;
  for (QueueCursor c(m.program, {EngineKind::Sequencer, 0, 0, 0}); !c.done(); c.next())
    if (const Start* start = std::get_if<Start>(&c.instruction().as)) ++started[start->channel];
  for (const Engine& e : enginesOf(m.program))
    if (e.kind == EngineKind::DdrIn || e.kind == EngineKind::DdrOut)
      for (QueueCursor c(m.program, e); !c.done(); c.next()) entries[e] = c.entry() + 1;
  EXPECT_EQ(started, entries);
}

}  // namespace
}  // namespace heddle
