#include "../../../src/planner/records_at_home.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "../graphs.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/count_work.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/program/visit.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// Two convolutions of two tiles, each with two passes, whose records come with each tile.
struct TiledConvolutions {
  CanonicalGraph graph;
  Device device;
  Plan plan;

  explicit TiledConvolutions(const std::string& memtile = "512 KiB") {
    GraphBuilder b("tiled");
    const TensorId a = b.conv("a", b.input("x", {16, 16, 16}), 32, square(3, 1, 1));
    graph = b.finish(b.conv("b", a, 32, square(3, 1, 1)));
    device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                         {.mesh = {{2, 2}}, .settings = {{"memtile.memory", memtile}}});
    plan = *makePlan(graph, device, {.effort = 0});
    plan.homes[0].clear();
    plan.schedule = {
        {LayerId(0u), {0, 9}}, {LayerId(1u), {0, 8}}, {LayerId(0u), {9, 7}}, {LayerId(1u), {8, 8}}};
    plan.homes[1] = cutByLife(plan.homes[1], rowLives(graph, plan)[1]);
    for (Mapping& mapping : plan.layers) {
      mapping.blocksPerPass = 1;
      mapping.passes = 2;
    }
    EXPECT_EQ(verify(plan, graph, device), Diagnostics{});
  }
  std::vector<bool> letStay(const std::vector<bool>& asked = {true, true}) {
    return letRecordsStay(graph, device, asked, plan);
  }
  MemoryPlan memory() const {
    const Result<MemoryPlan> memory = allocateMemory(graph, plan, device);
    EXPECT_TRUE(memory) << memory.diagnostics();
    EXPECT_EQ(verify(*memory, graph, plan, device), Diagnostics{});
    return *memory;
  }
  // How often each record comes out of DDR, in the order in which they first do.
  std::map<std::int64_t, int> loads() const {
    const Program program = generateProgram(graph, plan, memory(), device)->program;
    std::map<std::int64_t, int> times;
    for (std::int32_t column = 0; column < 2; ++column)
      for (std::int32_t channel = 0; channel < 2; ++channel)
        for (QueueCursor c(program, {EngineKind::DdrIn, 0, column, channel}); !c.done(); c.next()) {
          const FlatInstruction instruction = c.evaluated();
          const auto* load = std::get_if<Transfer<std::int64_t>>(&instruction.as);
          if (load && load->part.content == Content::Weights) ++times[load->part.y];
        }
    return times;
  }
};

TEST(LetRecordsStay, OfATiledGroupTheyComeOnce) {
  TiledConvolutions p;
  for (const auto& [record, times] : p.loads()) EXPECT_EQ(times, 2) << record;
  EXPECT_EQ(p.letStay(), (std::vector<bool>{true, true}));
  EXPECT_EQ(p.plan.layers[0].recordsAtHome, 2);
  EXPECT_EQ(verify(p.plan, p.graph, p.device), Diagnostics{});
  const std::map<std::int64_t, int> loads = p.loads();
  EXPECT_EQ(loads.size(), 8u);  // two layers, two rows of cores, two passes
  for (const auto& [record, times] : loads) EXPECT_EQ(times, 1) << record;
}

TEST(LetRecordsStay, NoneOfALayerThatIsNotAskedFor) {
  TiledConvolutions p;
  EXPECT_EQ(p.letStay({false, true}), (std::vector<bool>{false, true}));
  EXPECT_EQ(p.plan.layers[0].recordsAtHome, 0);
  EXPECT_EQ(p.plan.layers[1].recordsAtHome, 2);
}

TEST(LetRecordsStay, NoneThatComeOnceInAnyCase) {
  TiledConvolutions p;
  p.plan.schedule = {{LayerId(0u), {0, 16}}, {LayerId(1u), {0, 16}}};
  p.plan.homes[1] = {};
  EXPECT_EQ(p.letStay(), (std::vector<bool>{false, false}));
}

// In bands, too, where each brings the records of all passes.
TEST(LetRecordsStay, ThoseThatComeAgainInOneStep) {
  TiledConvolutions p;
  p.plan.schedule = {{LayerId(0u), {0, 16}}, {LayerId(1u), {0, 16}}};
  p.plan.homes[1] = {};
  p.plan.layers[1].bands = 2;
  p.plan.layers[1].order = {NestLoop::Band, NestLoop::Chunk, NestLoop::Pass, NestLoop::Part};
  ASSERT_EQ(verify(p.plan, p.graph, p.device), Diagnostics{});
  EXPECT_EQ(p.letStay(), (std::vector<bool>{false, true}));
  for (const auto& [record, times] : p.loads()) EXPECT_EQ(times, 1) << record;
}

TEST(LetRecordsStay, SomeWhereThereIsRoomForSome) {
  TiledConvolutions p;
  const std::int64_t all = recordBytes(p.plan.layers[0], 2);
  bool some = false;
  for (std::int64_t memory = 4 * all; memory > 2 * all && !some; memory -= 64) {
    p.device.memtile.memory = Bytes(memory);
    p.plan.weightStaging = 64;
    if (!placeInMemory(p.graph, p.plan, p.device)) break;
    p.letStay();
    some = p.plan.layers[0].recordsAtHome == 1 || p.plan.layers[1].recordsAtHome == 1;
  }
  ASSERT_TRUE(some);
  const std::map<std::int64_t, int> loads = p.loads();
  const auto once = std::ranges::count_if(loads, [](const auto& l) { return l.second == 1; });
  EXPECT_GT(once, 0);
  EXPECT_LT(once, 8);
}

TEST(LetRecordsStay, ThoseOnTheirWayKeepTheirPlaces) {
  int compared = 0;
  for (std::int64_t memory = 8192; memory < 65536; memory += 1024) {
    TiledConvolutions p;
    p.device.memtile.memory = Bytes(memory);
    p.plan.weightStaging = 64;
    const Result<MemoryPlan> before = allocateMemory(p.graph, p.plan, p.device);
    if (!before) continue;
    p.letStay();
    const MemoryPlan after = p.memory();
    for (std::size_t s = 0; s < after.steps.size(); ++s) {
      EXPECT_EQ(after.steps[s].inputs[0].slots, before->steps[s].inputs[0].slots) << memory;
      const Mapping& mapping = p.plan.layers[p.plan.schedule[s].layer.at()];
      if (allRecordsAtHome(mapping)) continue;
      ++compared;
      EXPECT_GE(after.steps[s].weights[0].slots,
                std::min(before->steps[s].weights[0].slots, recordsOf(mapping)))
          << memory;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(LetRecordsStay, NoMoreThanALockCounts) {
  TiledConvolutions p;
  p.device.limits.lockMaximum = 10;
  p.letStay();
  EXPECT_EQ(p.plan.layers[0].recordsAtHome, 1);  // beside eight on their way
}

// In each memtile those of its own routes, over all of the layer's steps.
TEST(GenerateProgram, DeclaresWhereRecordsStay) {
  TiledConvolutions p;
  p.letStay();
  const MemoryPlan memory = p.memory();
  const Program program = generateProgram(p.graph, p.plan, memory, p.device)->program;
  std::vector<Buffer> declared;
  std::ranges::copy_if(program.buffers, std::back_inserter(declared), [](const Buffer& buffer) {
    return buffer.kind == TileKind::Memtile && buffer.name == "a weights";
  });
  ASSERT_EQ(declared.size(), 1u);  // the same bytes of both memtiles
  EXPECT_EQ(declared[0].tiles.columns, 2);
  EXPECT_EQ(declared[0].address, memory.steps[0].recordHomes[0].address);
  EXPECT_EQ(declared[0].size, recordBytes(p.plan.layers[0], 2));
  EXPECT_EQ(declared[0].first, StepId(0u));
  EXPECT_EQ(declared[0].last, StepId(2u));
}

// The first step of a layer brings them, the later ones nothing.
TEST(CountWork, RecordsThatStayComeOutOfDdrOnce) {
  TiledConvolutions p;
  const auto weights = [&](std::size_t step) {
    Bytes bytes;
    const std::vector<StepWork> steps = countWork(p.graph, p.plan, p.memory(), p.device);
    for (const ChannelWork& channel : steps[step].ddrRead) bytes += bytesOf(channel.weights);
    return bytes;
  };
  const Bytes all = weights(0);
  EXPECT_EQ(weights(2), all);
  p.letStay();
  EXPECT_EQ(weights(0), all);
  EXPECT_EQ(weights(2), Bytes(0));
  p.plan.layers[0].recordsAtHome = 1;
  EXPECT_EQ(weights(0), all);
  EXPECT_EQ(weights(2).raw() * 2, all.raw());
}

}  // namespace
}  // namespace heddle
