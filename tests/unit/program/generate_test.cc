#include "heddle/program/generate.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "../graphs.h"
#include "heddle/canon/fuse_operators.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/verify.h"
#include "heddle/program/visit.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

struct Made {
  Device device;
  Program program;
};

Made made(const CanonicalGraph& graph, std::int64_t rows, std::int64_t columns,
          std::vector<std::pair<std::string, std::string>> settings = {}) {
  Result<Device> device = readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                                     {.mesh = {{rows, columns}}, .settings = std::move(settings)});
  EXPECT_TRUE(device) << device.diagnostics();
  const Result<Plan> plan = makePlan(graph, *device, {.effort = 0});
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

std::int64_t instructionsOf(const Program& program, const Engine& engine) {
  std::int64_t n = 0;
  for (QueueCursor c(program, engine); !c.done(); c.next()) ++n;
  return n;
}

// A plan may name any lead: what it asks for more than places or a sweep's calls changes nothing.
TEST(GenerateProgram, ALeadGoesNoFurtherThanThereIsRoomForIt) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {8, 8, 16});
  const CanonicalGraph graph =
      *fuseOperators(b.finish(b.add("sum", b.conv("conv", x, 16, square(3, 1, 1)), x)));
  const Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 2}}});
  const auto withLead = [&](std::int64_t lead) {
    Plan plan = *makePlan(graph, device);
    for (std::vector<Route>& routes : plan.layers[0].inputs)
      for (Route& route : routes) route.lead = lead;
    for (Route& route : plan.layers[0].weights) route.lead = lead;
    EXPECT_EQ(verify(plan, graph, device), Diagnostics{});
    const MemoryPlan memory = *allocateMemory(graph, plan, device);
    return generateProgram(graph, plan, memory, device)->program;
  };
  EXPECT_EQ(withLead(INT32_MAX), withLead(1000));
}

// Sixteen cores get rows of their own channels over wires that take turns: where each was told all
// of its rows at once, the last began when the others had theirs.
TEST(GenerateProgram, RowsAheadAreToldCallByCallOverAllCores) {
  GraphBuilder b("net");
  const CanonicalGraph graph =
      b.finish(b.maxPool("pool", b.input("x", {7, 7, 128}), square(3, 1, 1)));
  const Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{4, 4}}});
  Plan plan = *makePlan(graph, device);
  ASSERT_EQ(plan.layers[0].inputs[0].size(), 16u);
  for (Route& route : plan.layers[0].inputs[0]) route.lead = 6;
  plan.layers[0].rings[0].length = 7;
  ASSERT_EQ(verify(plan, graph, device), Diagnostics{});
  const MemoryPlan memory = *allocateMemory(graph, plan, device);
  const Program program = generateProgram(graph, plan, memory, device)->program;
  for (std::int32_t wire = 0; wire < 8; ++wire) {
    std::vector<std::int64_t> rows;
    for (QueueCursor c(program, {EngineKind::Wire, 0, wire, 0}); !c.done(); c.next())
      rows.push_back(std::get<Transfer<std::int64_t>>(c.evaluated().as).part.y);
    EXPECT_EQ(rows.size(), 4u * (wire < 4 ? 4 : 3)) << "wire " << wire;  // of 7 by turns
    EXPECT_TRUE(std::ranges::is_sorted(rows)) << "wire " << wire;
  }
}

// A core computes two rows for each pooled one, of 2x2, and pools them.
TEST(GenerateProgram, ACoreThatPoolsWritesPooledRowsAlone) {
  GraphBuilder b("net");
  const TensorId c = b.conv("conv", b.input("x", {16, 16, 16}), 32, square(3, 1, 1));
  const CanonicalGraph graph = *fuseOperators(b.finish(b.maxPool("pool", c, square(2, 2))));
  const Made m = made(graph, 2, 2);
  for (std::int32_t row : {0, 1})
    for (std::int32_t column : {0, 1}) {
      EXPECT_EQ(instructionsOf(m.program, {EngineKind::Core, row, column, 0}), 16 + 8);
      EXPECT_EQ(instructionsOf(m.program, {EngineKind::CoreOut, row, column, 0}), 8);
    }
  EXPECT_EQ(m.program.kernels.size(), 2u);
}

// Three passes over the worked convolution's input on one core, in rings of twelve rows. The 16
// rows come one by one in the first, then six, six and four at a time; a call of eight rows in the
// second pass needs a ninth of them. Its rows leave eight at a time, but two ends of the places.
TEST(GenerateProgram, BehindTheFirstPassRowsComeAndLeaveTogether) {
  GraphBuilder b("net");
  const CanonicalGraph graph =
      b.finish(b.conv("conv", b.input("x", {16, 16, 16}), 24, square(3, 1, 1)));
  const Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{1, 1}}});
  Plan plan = *makePlan(graph, device, {.effort = 0});
  Mapping& m = plan.layers[0];
  m.passes = 3;
  m.blocksPerPass = 1;
  m.resident = false;
  m.innerCallRows = 8;
  m.outputSlots = 20;
  m.rings[0].length = 12;
  m.rings[0].together = 6;
  const TensorId output = graph.ops[0].output;
  plan.homes[output.at()] = {{0, {0, 16}, {0, 16}, {0, 3}}};
  ASSERT_EQ(verify(plan, graph, device), Diagnostics{});
  const MemoryPlan memory = *allocateMemory(graph, plan, device);
  Program program = generateProgram(graph, plan, memory, device)->program;
  const auto rowsOf = [&](const Engine& engine) {
    std::vector<std::pair<std::int64_t, std::int64_t>> rows;
    for (QueueCursor c(program, engine); !c.done(); c.next()) {
      const FlatInstruction instruction = c.evaluated();
      std::visit(
          [&](const auto& i) {
            if constexpr (requires { i.part.rows; })
              if (i.part.content == Content::Activation) rows.push_back({i.part.y, i.part.rows});
          },
          instruction.as);
    }
    return rows;
  };
  using Rows = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Rows single;
  for (std::int64_t y = 0; y < 16; ++y) single.push_back({y, 1});
  const auto joined = [](const std::vector<Rows>& all) {
    Rows rows;
    for (const Rows& some : all) rows.insert(rows.end(), some.begin(), some.end());
    return rows;
  };
  const Rows together = {{0, 6}, {6, 6}, {12, 4}};
  EXPECT_EQ(rowsOf({EngineKind::CoreIn, 0, 0, 0}), joined({single, together, together}));
  EXPECT_EQ(rowsOf({EngineKind::Core, 0, 0, 0}), joined({single, {{0, 8}, {8, 8}}, single}));
  EXPECT_EQ(rowsOf({EngineKind::CoreOut, 0, 0, 0}),
            joined({single, {{0, 4}, {4, 4}, {8, 8}}, single}));
  plan.layers[0].rings[0].onlyBetween = true;
  ASSERT_EQ(verify(plan, graph, device), Diagnostics{});
  program = generateProgram(graph, plan, *allocateMemory(graph, plan, device), device)->program;
  EXPECT_EQ(rowsOf({EngineKind::CoreIn, 0, 0, 0}), joined({single, together, single}));
}

// A record is told as many rows ahead as its lead says, however long the calls are: not before rows
// that come first.
TEST(GenerateProgram, ALeadCountsTheRowsOfLongCalls) {
  GraphBuilder b("net");
  const CanonicalGraph graph = b.finish(b.conv("conv", b.input("x", {8, 8, 32}), 8, square(1)));
  const Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{1, 1}}});
  Plan plan = *makePlan(graph, device, {.effort = 0});
  Mapping& m = plan.layers[0];
  m.resident = false;
  m.parts.clear();
  for (std::int64_t block = 0; block < 4; ++block) m.parts.push_back({{block, 1}, {0, 1}});
  m.accumulatorBytes = 8 * 8 * 8 * 4;
  m.innerCallRows = 8;
  m.rings[0].length = 16;
  m.rings[0].together = 8;
  m.weightSlots = 4;
  m.weights[0].lead = 8;
  m.weights[0].lanes = m.inputs[0][0].lanes;
  ASSERT_EQ(verify(plan, graph, device), Diagnostics{});
  const MemoryPlan memory = *allocateMemory(graph, plan, device);
  const Program program = generateProgram(graph, plan, memory, device)->program;
  std::string told;  // r: a record; 1, 8: so many rows
  const Engine wire{EngineKind::Wire, 0, static_cast<std::int32_t>(m.inputs[0][0].lanes[0].wire),
                    0};
  for (QueueCursor c(program, wire); !c.done(); c.next()) {
    const auto part = std::get<Transfer<std::int64_t>>(c.evaluated().as).part;
    told += part.content == Content::Weights ? "r" : std::to_string(part.rows);
  }
  EXPECT_EQ(told, "r1r11111118r8r8");
}

TEST(GenerateProgram, SendsEachInputRowToACoreOnce) {
  const Made m = made(worked(), 2, 2);
  // 16 rows, each the column's own 8 pixels and 1 of the neighbour's.
  for (std::int32_t row : {0, 1})
    for (std::int32_t column : {0, 1}) {
      EXPECT_EQ(instructionsOf(m.program, {EngineKind::CoreIn, row, column, 0}), 32);
      EXPECT_EQ(instructionsOf(m.program, {EngineKind::CoreIn, row, column, 1}), 1);
      EXPECT_EQ(instructionsOf(m.program, {EngineKind::Core, row, column, 0}), 16);
      EXPECT_EQ(instructionsOf(m.program, {EngineKind::CoreOut, row, column, 0}), 16);
    }
}

// Two cores begin at the top and in the middle: the rows of both come out of DDR by turns.
TEST(GenerateProgram, RowsOfAnInputComeAsItsReadersAskForThem) {
  const CanonicalGraph graph = worked();
  const Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 2}}});
  Plan plan = *makePlan(graph, device, {.effort = 0});
  Mapping& m = plan.layers[0];
  for (CoreShare& share : m.shares) share.boxes = {{{8 * share.core.column, 8}, {0, 16}}};
  m.rings[0].rowBytes *= 2;
  m.outputRowBytes *= 2;
  ASSERT_EQ(verify(plan, graph, device), Diagnostics{});
  const MemoryPlan memory = *allocateMemory(graph, plan, device);
  const Program program = generateProgram(graph, plan, memory, device)->program;
  std::vector<std::int64_t> rows;
  for (QueueCursor c(program, {EngineKind::DdrIn, 0, 0, 0}); !c.done(); c.next())
    if (const FlatInstruction instruction = c.evaluated();
        const auto* load = transferOf(instruction, TransferKind::Load))
      if (load->part.content == Content::Activation) rows.push_back(load->part.y);
  EXPECT_EQ(rows,
            (std::vector<std::int64_t>{0, 7, 1, 8, 2, 9, 3, 10, 4, 11, 5, 12, 6, 13, 14, 15}));
}

// Which queues release and acquire each lock in the instructions themselves.
struct LockUsers {
  std::set<Engine> released, acquired;
};
using UsersOfLocks = std::map<std::pair<Tile, std::int64_t>, LockUsers>;

template <class Uses>
void note(UsersOfLocks& users, const Uses& uses, const Tile& tile, const Engine& queue) {
  for (const auto& use : uses.release) users[{tile, use.lock}].released.insert(queue);
  for (const auto& use : uses.acquire) users[{tile, use.lock}].acquired.insert(queue);
}

void noteAll(UsersOfLocks& users, const FlatInstruction& instruction, const Engine& queue) {
  const Tile core{TileKind::Core, queue.row, queue.column};
  const auto memtile = [](std::int64_t column) {
    return Tile{TileKind::Memtile, 0, static_cast<std::int32_t>(column)};
  };
  using N = std::int64_t;
  if (const auto* call = std::get_if<Call<N>>(&instruction.as)) note(users, *call, core, queue);
  const auto* transfer = std::get_if<Transfer<N>>(&instruction.as);
  if (!transfer) return;
  forEachEnd(*transfer, [&](const PlacedEnd<N>& at) {
    if (at.place == EndPlace::Ddr) return;
    note(users, at.end,
         at.place == EndPlace::Core ? core : memtile(at.memtile ? *at.memtile : queue.column),
         queue);
  });
}

TEST(GenerateProgram, NumbersLocksDenselyWhereATileHasFewerThanThereAreRoles) {
  const CanonicalGraph graph = worked();
  Made m = made(graph, 3, 5);
  const auto largest = [](const Program& program) {
    std::pair<std::int64_t, std::int64_t> most;  // number, locks of one memtile
    std::map<Tile, std::int64_t> count;
    for (const Lock& lock : program.locks)
      if (lock.tile.kind == TileKind::Memtile) {
        most.first = std::max<std::int64_t>(most.first, lock.index);
        most.second = std::max(most.second, ++count[lock.tile]);
      }
    return most;
  };
  const auto [number, locks] = largest(m.program);
  ASSERT_GE(number, locks);  // seen from the five memtiles there are more roles than one plays
  const Plan plan = *makePlan(graph, m.device, {.effort = 0});
  m.device.limits.memtileLocks = locks;
  const MemoryPlan memory = *allocateMemory(graph, plan, m.device);
  const Program dense = generateProgram(graph, plan, memory, m.device)->program;
  EXPECT_EQ(largest(dense), (std::pair{locks - 1, locks}));
  EXPECT_EQ(verify(dense, m.device), Diagnostics{});
}

// One section says what cores of a column do, as the numbers of their locks differ by as much from
// row to row, whatever the memtile and the wire.
TEST(GenerateProgram, NumbersLocksByThePlacesOfTheirEngines) {
  GraphBuilder b("net");
  const TensorId first = b.conv("first", b.input("x", {16, 16, 64}), 64, square(3, 1, 1));
  const Made m = made(b.finish(b.conv("second", first, 64, square(3, 1, 1))), 4, 4);
  // By memtile, column of the core and wire: the numbers from row to row.
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::vector<std::int32_t>> numbers;
  for (const Lock& lock : m.program.locks)
    if (lock.tile.kind == TileKind::Memtile && lock.producer.kind == EngineKind::CoreOut &&
        lock.consumer.kind == EngineKind::Wire)
      numbers[{lock.tile.column, lock.producer.column, lock.consumer.column}].push_back(lock.index);
  std::set<std::int32_t> steps;
  for (auto& [of, rows] : numbers) {
    ASSERT_EQ(rows.size(), 4u);
    std::ranges::sort(rows);
    for (std::size_t row = 1; row < rows.size(); ++row) steps.insert(rows[row] - rows[row - 1]);
  }
  EXPECT_GE(numbers.size(), 4u);
  EXPECT_EQ(steps.size(), 1u);
  for (const Section& section : m.program.sections)
    if (section.step == StepId(0U) && section.engines.kind == EngineKind::CoreOut)
      EXPECT_EQ(section.engines.ranges[0].rows, 4);
}

TEST(GenerateProgram, GivesEachLockOneProducerAndOneConsumer) {
  const Made m = made(worked(), 2, 2);
  UsersOfLocks users;
  for (const Engine& queue : enginesOf(m.program))
    for (QueueCursor c(m.program, queue); !c.done(); c.next()) noteAll(users, c.evaluated(), queue);
  // In each core: weights and inputs there, output there, output gone. In each memtile: rows for
  // two wires, weights, and for each core of the column the output's two ways.
  EXPECT_EQ(m.program.locks.size(), 4u * 4 + 2u * 7);
  EXPECT_EQ(users.size(), m.program.locks.size());
  for (const Lock& lock : m.program.locks) {
    const LockUsers& found = users[{lock.tile, lock.index}];
    EXPECT_EQ(found.released, std::set<Engine>{lock.producer});
    EXPECT_EQ(found.acquired, std::set<Engine>{lock.consumer});
    EXPECT_NE(lock.producer, lock.consumer);
    // Of space, of the two places of an output on its way: core <- core-out <- ddr-out.
    const bool space =
        lock.producer.kind == EngineKind::DdrOut ||
        (lock.producer.kind == EngineKind::CoreOut && lock.tile.kind == TileKind::Core);
    EXPECT_EQ(lock.initial, space ? 2 : 0);
  }
}

TEST(GenerateProgram, MulticastsWeightsAlongARow) {
  const Made m = made(worked(), 2, 2);
  for (const std::int32_t row : {0, 1}) {
    std::vector<SendTo<std::int64_t>> sent;
    for (QueueCursor c(m.program, {EngineKind::Wire, 0, 2 + row, 0}); !c.done();
         c.next()) {  // wires 0, 1 are the columns'
      const FlatInstruction instruction = c.evaluated();
      const auto& send = std::get<Transfer<std::int64_t>>(instruction.as);
      EXPECT_EQ(send.part.content, Content::Weights);
      sent.insert(sent.end(), send.to.begin(), send.to.end());
    }
    EXPECT_EQ(sent, (std::vector<SendTo<std::int64_t>>{{row, 0, 1, 2, 1}}));
  }
}

// Records of one row of cores are told among the rows of the sweep before, those of the other as
// they are due: the numbers of both go up by one for each row of cores and two for each pass all
// the same.
TEST(GenerateProgram, NumbersRecordsByPassAndRouteHoweverFarAheadTheyAreTold) {
  GraphBuilder b("net");
  const CanonicalGraph graph =
      b.finish(b.conv("conv", b.input("x", {8, 8, 16}), 64, square(3, 1, 1)));
  const Device device = *readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = {{2, 2}}});
  Plan plan = *makePlan(graph, device, {.effort = 0});
  Mapping& mapping = plan.layers[0];
  ASSERT_EQ(mapping.weights.size(), 2u);
  mapping.blocksPerPass = 1;
  mapping.passes = 4;
  mapping.weightSlots = 2;
  mapping.weights[1].lead = 3;
  ASSERT_EQ(verify(plan, graph, device), Diagnostics{});
  const MemoryPlan memory = *allocateMemory(graph, plan, device);
  const Program program = generateProgram(graph, plan, memory, device)->program;
  ASSERT_EQ(program.records.size(), 8u);
  for (std::int32_t row = 0; row < 2; ++row) {
    std::vector<std::int64_t> numbers;
    for (QueueCursor c(program, {EngineKind::Wire, 0, 2 + row, 0}); !c.done(); c.next())
      numbers.push_back(std::get<Transfer<std::int64_t>>(c.evaluated().as).part.y);
    EXPECT_EQ(numbers, (std::vector<std::int64_t>{row, 2 + row, 4 + row, 6 + row}));
  }
}

// One channel brings rows of 'x', which the first layer writes to DDR, and records of both layers.
TEST(GenerateProgram, WeightsComeBeforeWhatTheirLayerReadsHasBeenWritten) {
  GraphBuilder b("net");
  const TensorId x = b.conv("first", b.input("in", {32, 32, 16}), 16, square(1));
  const Made m = made(b.finish(b.conv("second", x, 16, square(1))), 1, 1,
                      {{"memtile.memory", "16 KiB"}, {"memtile.ddrChannelsIn", "1"}});
  const Engine channel{EngineKind::DdrIn, 0, 0, 0};
  std::optional<std::int64_t> firstRow, record;  // their entries
  for (QueueCursor c(m.program, channel); !c.done(); c.next()) {
    const auto& part = std::get<Transfer<Affine>>(c.instruction().as).part;
    if (part.content == Content::Activation && part.tensor == x && !firstRow) firstRow = c.entry();
    if (part.content == Content::Weights) record = c.entry();
  }
  ASSERT_TRUE(firstRow && record && *record < *firstRow);
  std::int64_t started = 0;
  for (QueueCursor c(m.program, {EngineKind::Sequencer, 0, 0, 0}); !c.done(); c.next()) {
    if (std::holds_alternative<Wait<Affine>>(c.instruction().as)) break;
    const auto* start = std::get_if<Start>(&c.instruction().as);
    started += start && start->channel == channel;
  }
  EXPECT_EQ(started, *firstRow);
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
