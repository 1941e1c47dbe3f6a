#include "heddle/memory/allocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "../graphs.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

struct PlannedMemory {
  CanonicalGraph graph;
  Device device;
  Plan plan;
  MemoryPlan memory;
};

PlannedMemory planned(CanonicalGraph graph, const std::string& memtile = "512 KiB") {
  Result<Device> device = readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                                     {.mesh = {{2, 2}}, .settings = {{"memtile.memory", memtile}}});
  EXPECT_TRUE(device) << device.diagnostics();
  Result<Plan> plan = makePlan(graph, *device, {.effort = 0});
  EXPECT_TRUE(plan) << plan.diagnostics();
  Result<MemoryPlan> memory = allocateMemory(graph, *plan, *device);
  EXPECT_TRUE(memory) << memory.diagnostics();
  EXPECT_EQ(verify(*memory, graph, *plan, *device), Diagnostics{});
  return {std::move(graph), *device, *plan, *memory};
}

// The same array with memtiles in which everything fits.
Device paperSized(Device device) {
  device.memtile.memory = 512_KiB;
  return device;
}

//   x -> a -> b -> c -> d: x and b never meet, nor do a and c
CanonicalGraph fourConvs() {
  GraphBuilder b("chain");
  TensorId t = b.input("x", {16, 16, 16});
  for (const char* name : {"a", "b", "c", "d"}) t = b.conv(name, t, 16, square(1));
  return b.finish(t);
}

TEST(AllocateMemory, TensorsThatNeverMeetShareTheFloor) {
  const PlannedMemory p = planned(fourConvs());
  EXPECT_EQ(p.memory.tensors[0].slices[0].address, p.memory.tensors[2].slices[0].address);
  EXPECT_NE(p.memory.tensors[0].slices[0].address, p.memory.tensors[1].slices[0].address);
}

TEST(AllocateMemory, EachMemtileKeepsThePixelsOfItsColumn) {
  const PlannedMemory p = planned(fourConvs());
  EXPECT_EQ(p.memory.tensors[1].slices[1], (Slice{.memtile = 1,
                                                  .address = p.memory.tensors[1].slices[0].address,
                                                  .y = 0,
                                                  .rows = 16,
                                                  .x = 8,
                                                  .columns = 8,
                                                  .block = 0,
                                                  .blocks = 2}));
}

TEST(AllocateMemory, AnOutputThatNobodyReadsStreamsToDdr) {
  const PlannedMemory p = planned(fourConvs());
  EXPECT_TRUE(p.memory.tensors[4].slices.empty());
  EXPECT_TRUE(p.memory.tensors[4].ddr.has_value());
  EXPECT_TRUE(p.memory.steps[3].output.has_value());
}

TEST(AllocateMemory, WhatDoesNotFitLivesInDdr) {
  const PlannedMemory p =
      planned(fourConvs(), "16 KiB");  // a tensor is 2 KiB a memtile, and a quarter is for weights
  const PlannedMemory q = planned(fourConvs(), "3 KiB");
  EXPECT_FALSE(p.memory.tensors[1].ddr.has_value());
  EXPECT_TRUE(q.memory.tensors[1].ddr.has_value());
  EXPECT_GT(q.memory.steps[1].inputs[0].slots, 1);
}

TEST(AllocateMemory, AConcatOfWholeBlocksIsInPlace) {
  GraphBuilder b("concat");
  const TensorId x = b.input("x", {8, 8, 8});
  const TensorId both =
      b.concat("concat", {b.conv("left", x, 16, square(1)), b.conv("right", x, 24, square(1))});
  const PlannedMemory p = planned(b.finish(b.conv("after", both, 8, square(1))));
  EXPECT_TRUE(p.plan.layers[2].inPlace());
  EXPECT_EQ(p.plan.views[2].root, both);
  EXPECT_EQ(p.plan.views[2].block, 2);
}

TEST(AllocateMemory, AConcatThatCutsABlockIsNot) {
  GraphBuilder b("concat");
  const TensorId x = b.input("x", {8, 8, 8});
  const TensorId both =
      b.concat("concat", {b.conv("left", x, 12, square(1)), b.conv("right", x, 24, square(1))});
  EXPECT_FALSE(planned(b.finish(b.conv("after", both, 8, square(1)))).plan.layers[2].inPlace());
}

TEST(AllocateMemory, RefusesRowsThatDoNotPassAMemtile) {
  GraphBuilder b("wide");
  const CanonicalGraph graph = b.finish(b.maxPool("pool", b.input("x", {4, 64, 8}), square(1)));
  const Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                 {.mesh = {{1, 1}}, .settings = {{"memtile.memory", "1 KiB"}}});
  const Result<Plan> plan = makePlan(graph, *device, {.effort = 0});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.diagnostics()[0].code, "MEM001");
  EXPECT_EQ(plan.diagnostics()[0].severity, Severity::DoesNotFit);
  EXPECT_EQ(plan.diagnostics()[0].where, "wide, node 'pool' (MaxPool)");
  // Two output rows of 64 pixels on their way, and a quarter of the memtile is for weights.
  EXPECT_EQ(plan.diagnostics()[0].what,
            "they need 1024 B of the 768 B that a memtile has beside its weights");
}

// Rows of 512 B: the least is one place for each operand and two for the output.
TEST(AllocateMemory, StreamsMakeDoWithOnePlaceEachWhereTheyMust) {
  GraphBuilder b("wide");
  const TensorId x = b.input("x", {4, 64, 8}), y = b.input("y", {4, 64, 8});
  const CanonicalGraph graph = b.finish(b.add("sum", x, y));
  const auto placed = [&](const std::string& memtile) {
    Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                                {.mesh = {{1, 1}}, .settings = {{"memtile.memory", memtile}}});
    Plan plan = *makePlan(graph, paperSized(device), {.effort = 0});
    plan.weightStaging = 0;
    for (Home& home : plan.homes) home.clear();
    return allocateMemory(graph, plan, device);
  };
  EXPECT_EQ(placed("5 KiB")->steps[0].inputs[0].slots, 3);
  EXPECT_EQ(placed("2 KiB")->steps[0].inputs[0].slots, 1);
  EXPECT_EQ(placed("2040 B").diagnostics()[0].what,
            "they need 2048 B of the 2040 B that a memtile has beside its weights");
}

//   first fit       packed           a and b have 2 KiB a memtile, c has 4 KiB; b meets both
//         [ c ]          [ b  ]
//      [ b  ]         [ a ][ c ]
//   [ a ]
TEST(AllocateMemory, HomesThatFirstFitLeavesWithoutAPlaceArePackedAnew) {
  GraphBuilder b("chain");
  TensorId t = b.input("x", {16, 16, 16});
  t = b.conv("a", t, 16, square(1));
  t = b.conv("b", t, 16, square(1));
  t = b.conv("c", t, 32, square(1));
  const CanonicalGraph graph = b.finish(b.conv("d", t, 16, square(1)));
  const auto device = [](const std::string& memtile) {
    return *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                       {.mesh = {{2, 2}}, .settings = {{"memtile.memory", memtile}}});
  };
  Plan plan = *makePlan(graph, device("512 KiB"), {.effort = 0});
  plan.weightStaging = 0;
  plan.homes[0].clear();
  for (Mapping& mapping : plan.layers) mapping.weights.clear();
  const Device enough = device("6 KiB");
  const Result<MemoryPlan> memory = allocateMemory(graph, plan, enough);
  ASSERT_TRUE(memory) << memory.diagnostics();
  EXPECT_EQ(memory->memtilePeak, (6_KiB).raw());
  EXPECT_EQ(verify(*memory, graph, plan, enough), Diagnostics{});
  const Result<MemoryPlan> tooSmall = allocateMemory(graph, plan, device("6136 B"));
  ASSERT_FALSE(tooSmall);
  EXPECT_EQ(tooSmall.diagnostics()[0].code, "MEM003");
}

// Convolutions of any channels, some added to what came some layers before.
CanonicalGraph randomChain(std::uint64_t seed) {
  std::mt19937_64 random(seed);  // its numbers are the standard's; its distributions' are not
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  GraphBuilder b("random");
  std::vector<TensorId> all{b.input("x", {16, 16, 16})};
  for (int k = 0; k < 24; ++k) {
    const std::string name = std::to_string(k);
    const TensorId before = all[all.size() - 1 - below(std::min<std::size_t>(all.size(), 8))];
    const std::int64_t channels = k % 2 == 0 ? 8 * (1 + below(8)) : b.shapeOf(before).channels;
    all.push_back(b.conv("conv" + name, all.back(), channels, square(1)));
    if (k % 2 == 1) all.push_back(b.add("add" + name, all.back(), before));
  }
  return b.finish(all.back());
}

std::int64_t homeBytes(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Home& home : plan.homes)
    for (const HomeBox& box : home) bytes += box.bytes();
  return bytes;
}

// The bytes that stay at home where those without a place are left out until all others have one;
// none: its streams do not fit.
std::optional<std::int64_t> bytesKept(const CanonicalGraph& graph, Plan plan,
                                      const Device& device) {
  for (;;) {
    const Result<Allocation> allocation = placeInMemory(graph, plan, device);
    if (!allocation) return std::nullopt;
    if (allocation->withoutPlace.empty()) return homeBytes(plan);
    for (const TensorId t : allocation->withoutPlace) plan.homes[t.at()].clear();
  }
}

// One plan in growing memtiles. What has a home for every tensor keeps it; where some spill, what
// finds its place first may leave others without, but seldom and not many bytes.
TEST(AllocateMemory, MoreMemoryKeepsAllAtHomeAndSeldomLess) {
  std::int64_t plans = 0, spilling = 0, less = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const CanonicalGraph graph = randomChain(seed);
    Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                                {.mesh = {{2, 2}}, .settings = {{"memtile.memory", "4 MiB"}}});
    Plan plan = *makePlan(graph, device, {.effort = 0});
    plan.weightStaging = 0;
    for (Mapping& mapping : plan.layers) mapping.weights.clear();
    const std::int64_t all = homeBytes(plan);
    std::int64_t most = 0;
    for (Bytes memory = 8_KiB; memory <= 112_KiB; memory = memory + 1_KiB) {
      device.memtile.memory = memory;
      const std::optional<std::int64_t> kept = bytesKept(graph, plan, device);
      if (!kept) continue;
      ++plans;
      spilling += *kept < all ? 1 : 0;
      less += *kept < most ? 1 : 0;
      EXPECT_TRUE(*kept == all || most < all) << seed << ", " << memory.raw() << " B";
      EXPECT_GE(*kept * 20, most * 17) << seed << ", " << memory.raw() << " B";
      most = std::max(most, *kept);
    }
    EXPECT_EQ(most, all);
  }
  EXPECT_GT(spilling, plans / 10);
  EXPECT_LT(less, spilling / 20);
}

// Two tiles of a's rows; those that only the first tile of b reads leave their memory.
PlannedMemory tiled() {
  GraphBuilder b("tiled");
  const TensorId a = b.conv("a", b.input("x", {16, 16, 8}), 8, square(3, 1, 1));
  const CanonicalGraph graph = b.finish(b.conv("b", a, 8, square(3, 1, 1)));
  const Device device =
      *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 2}}, .settings = {}});
  Plan plan = *makePlan(graph, device, {.effort = 0});
  plan.homes[0].clear();
  plan.schedule = {
      {LayerId(0u), {0, 9}}, {LayerId(1u), {0, 8}}, {LayerId(0u), {9, 7}}, {LayerId(1u), {8, 8}}};
  plan.homes[1] = cutByLife(plan.homes[1], rowLives(graph, plan)[1]);
  EXPECT_EQ(verify(plan, graph, device), Diagnostics{});
  Result<MemoryPlan> memory = allocateMemory(graph, plan, device);
  EXPECT_TRUE(memory) << memory.diagnostics();
  return {graph, device, plan, *memory};
}

TEST(AllocateMemory, RowsThatNobodyReadsAnyMoreLeaveTheirMemory) {
  const PlannedMemory p = tiled();
  EXPECT_EQ(verify(p.memory, p.graph, p.plan, p.device), Diagnostics{});
  const TensorMemory& a = p.memory.tensors[1];
  ASSERT_EQ(a.slices.size(), 6u);  // rows 0..7, 7..9, 9..16 in each of two memtiles
  EXPECT_EQ(a.lives[0], (StepRange{0, 1}));
  EXPECT_EQ(a.lives[1], (StepRange{0, 3}));
  EXPECT_EQ(a.lives[2], (StepRange{2, 3}));
  EXPECT_EQ(a.slices[0].address, a.slices[2].address);
  EXPECT_NE(a.slices[0].address, a.slices[1].address);
}

TEST(AllocateMemory, WeightRecordsHaveWhatIsFreeInTheirStepAndTheOneBefore) {
  PlannedMemory p = planned(fourConvs());
  for (Mapping& mapping : p.plan.layers) mapping.weightBytes = 4096;
  const auto placed = [&] { return *placeInMemory(p.graph, p.plan, p.device); };
  const auto slots = [&] { return placed().memory.steps[1].weights[0].slots; };
  // x and a, then a and b, lie in 4 KiB of each memtile; two routes begin at memtile 0.
  p.plan.weightStaging = 16384;
  EXPECT_EQ(placed().recordRooms[1], (ByteRange{4096, p.device.memtile.memory.raw()}));
  EXPECT_EQ(slots(), 8);
  p.device.memtile.memory = Bytes(4096 + 3 * 4096);
  p.plan.weightStaging = 4096;
  EXPECT_EQ(slots() * mostRoutesOfAMemtile(p.plan.layers[1].weights), 3);
  p.plan.homes[0].clear();
  p.plan.homes[1].clear();
  p.plan.homes[2].clear();
  EXPECT_LT(placed().recordRooms[1].first, 4096);
}

// Beside 4 KiB of homes.
TEST(AllocateMemory, WeightRecordsMayBeLargerThanWhatIsSetAsideForThem) {
  PlannedMemory p = planned(fourConvs());
  for (Mapping& mapping : p.plan.layers) mapping.weightBytes = 4096;
  p.plan.weightStaging = 64;
  const std::int64_t one = recordBytes(p.plan.layers[1], 1);
  p.device.memtile.memory = Bytes(4096 + one);
  const Result<MemoryPlan> memory = allocateMemory(p.graph, p.plan, p.device);
  ASSERT_TRUE(memory) << memory.diagnostics();
  EXPECT_EQ(memory->steps[1].weights[0].slots, 1);
  EXPECT_EQ(verify(p.plan, p.graph, p.device), Diagnostics{});
  EXPECT_EQ(verify(*memory, p.graph, p.plan, p.device), Diagnostics{});
  p.device.memtile.memory = Bytes(4096 + one - 8);
  const Result<MemoryPlan> tooSmall = allocateMemory(p.graph, p.plan, p.device);
  ASSERT_FALSE(tooSmall);
  const Diagnostic& fault = tooSmall.diagnostics()[0];
  EXPECT_EQ(fault.code, "MEM007");
  EXPECT_EQ(fault.severity, Severity::DoesNotFit);
  EXPECT_EQ(fault.where, "chain, node 'a' (Conv)");
  EXPECT_EQ(fault.what, "one of each route needs " + std::to_string(one) + " B of the " +
                            std::to_string(one - 8) +
                            " B that homes and rows leave in its step and the one before it");
  // What suffices for routes that begin at memtiles of their own is too little for two at one.
  p.device.memtile.memory = Bytes(4096 + one);
  std::vector<Route>& routes = p.plan.layers[1].weights;
  ASSERT_EQ(routes.size(), 2u);
  ASSERT_NE(routes[0].memtile, routes[1].memtile);
  routes[1].memtile = routes[0].memtile;
  const Result<MemoryPlan> shared = allocateMemory(p.graph, p.plan, p.device);
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.diagnostics()[0].code, "MEM007");
  EXPECT_EQ(shared.diagnostics()[0].where, "chain, node 'b' (Conv)");
}

// From the step before their layer's first to its last, below the places of those on their way.
TEST(AllocateMemory, RecordsThatStayHaveAPlaceBesideHomes) {
  PlannedMemory p = tiled();
  Mapping& m = p.plan.layers[1];
  m.recordsAtHome = 1;
  const std::int64_t bytes = recordBytes(m, 1);
  EXPECT_TRUE(RecordHomes(p.graph, p.plan, p.device).allFit());
  EXPECT_GE(RecordHomes(p.graph, p.plan, p.device).longestFor(LayerId(1u)), bytes);
  const Result<MemoryPlan> memory = allocateMemory(p.graph, p.plan, p.device);
  ASSERT_TRUE(memory) << memory.diagnostics();
  EXPECT_EQ(verify(*memory, p.graph, p.plan, p.device), Diagnostics{});
  ASSERT_EQ(memory->steps[1].recordHomes.size(), m.weights.size());
  EXPECT_EQ(memory->steps[1].recordHomes, memory->steps[3].recordHomes);
  EXPECT_TRUE(memory->steps[0].recordHomes.empty());
  EXPECT_EQ(memory->steps[1].weights[0].slots, 0);  // all are at home: none on its way
  EXPECT_GT(memory->steps[0].weights[0].slots, 0);
  // From step 0 on, so that they come ahead: beside the rows that layer 'a' writes then, and below
  // its records on their way.
  const StreamPlan& home = memory->steps[1].recordHomes[0];
  const Slice& rows = memory->tensors[1].slices[0];
  EXPECT_TRUE(home.address + bytes <= rows.address || home.address >= rows.address + rows.bytes());
  EXPECT_LE(home.address + bytes, memory->steps[0].weights[0].address);
}

TEST(AllocateMemory, RefusesRecordsThatHaveNoPlaceToStay) {
  PlannedMemory p = tiled();
  Mapping& m = p.plan.layers[1];
  const std::int64_t room = RecordHomes(p.graph, p.plan, p.device).longestFor(LayerId(1u));
  m.passes = m.recordsAtHome = room / recordBytes(m, 1) + 1;
  m.blocksPerPass = 1;
  const Result<MemoryPlan> memory = allocateMemory(p.graph, p.plan, p.device);
  ASSERT_FALSE(memory);
  ASSERT_EQ(memory.diagnostics().size(), 1u);
  const Diagnostic& fault = memory.diagnostics()[0];
  EXPECT_EQ(fault.code, "MEM008");
  EXPECT_EQ(fault.severity, Severity::DoesNotFit);
  EXPECT_EQ(fault.where, "tiled, node 'b' (Conv)");
  EXPECT_EQ(fault.what, std::to_string(m.recordsAtHome) + " of each route need " +
                            std::to_string(recordBytes(m, m.recordsAtHome)) +
                            " B of one memtile from the layer's first step to its last");
  const Allocation placed = *placeInMemory(p.graph, p.plan, p.device);
  EXPECT_EQ(placed.recordsWithoutPlace, std::vector<LayerId>{LayerId(1u)});
  EXPECT_FALSE(placed.fitsAll());
  EXPECT_FALSE(RecordHomes(p.graph, p.plan, p.device).allFit());
}

// Rows 0..10, then 8..16 of the input, each by one route of a memtile.
TEST(AllocateMemory, RowsOutOfDdrComeAheadAtTheMemtilesEnd) {
  PlannedMemory p = tiled();
  const auto rows = [&] {
    const Result<MemoryPlan> memory = allocateMemory(p.graph, p.plan, p.device);
    EXPECT_EQ(verify(*memory, p.graph, p.plan, p.device), Diagnostics{});
    return std::pair(memory->steps[0].inputs[0], memory->steps[2].inputs[0]);
  };
  const std::int64_t end = p.device.memtile.memory.raw();
  const auto [first, second] = rows();
  EXPECT_EQ(first.slots, 10);
  EXPECT_EQ(second.slots, 8);
  EXPECT_EQ(first.address + first.slots * first.slotBytes, end);
  EXPECT_EQ(second.address + second.slots * second.slotBytes, end);
  p.device.limits.lockMaximum = 5;  // which counts them
  EXPECT_EQ(rows().first.slots, 4);
}

TEST(AllocateMemory, WeightRecordsLeaveThoseOfTheStepBeforeAlone) {
  const PlannedMemory p = planned(fourConvs());
  const auto records = [&](std::size_t step) {
    std::pair<std::int64_t, std::int64_t> bytes{INT64_MAX, 0};
    for (const StreamPlan& route : p.memory.steps[step].weights)
      bytes = {std::min(bytes.first, route.address),
               std::max(bytes.second, route.address + route.slots * route.slotBytes)};
    return bytes;
  };
  EXPECT_EQ(records(0).second, p.device.memtile.memory.raw());  // as high as they can
  EXPECT_EQ(records(1).second, records(0).first);
  EXPECT_EQ(records(2).second, p.device.memtile.memory.raw());
  // Where there is no room for both, they begin where homes end.
  PlannedMemory full = planned(fourConvs());
  for (Mapping& mapping : full.plan.layers) mapping.weightBytes = 4096;
  full.plan.weightStaging = 3 * 4096;
  full.device.memtile.memory = Bytes(4 * 4096);
  const MemoryPlan memory = *allocateMemory(full.graph, full.plan, full.device);
  EXPECT_EQ(memory.steps[1].weights[0].address, 4096);
}

TEST(VerifyMemoryPlan, NoticesRowsThatDieBeforeTheirLastReader) {
  PlannedMemory p = tiled();
  p.memory.tensors[1].lives[1].last = 2;
  const Diagnostics faults = verify(p.memory, p.graph, p.plan, p.device);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].code, "MEM004");
  EXPECT_EQ(faults[0].summary, "row 7 is used in steps in which it does not live");
}

TEST(VerifyMemoryPlan, NoticesTensorsThatMeet) {
  PlannedMemory p = planned(fourConvs());
  for (Slice& s : p.memory.tensors[1].slices) s.address = p.memory.tensors[0].slices[0].address;
  const Diagnostics faults = verify(p.memory, p.graph, p.plan, p.device);
  ASSERT_EQ(faults.size(), 4u);  // a with x and with b, in each of two memtiles
  EXPECT_EQ(faults[0].code, "MEM002");
}

}  // namespace
}  // namespace heddle
