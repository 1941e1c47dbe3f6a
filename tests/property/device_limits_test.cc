// Each limit of a device lowered on small networks: what still compiles is bit-exact, and what does
// not is refused as too large for the device, by the limit's name.
#include <gtest/gtest.h>

#include "heddle/machine/machine.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"
#include "prove.h"
#include "random_graph.h"

namespace heddle::property {
namespace {

struct Limit {
  const char* key;
  std::vector<const char*> values;
  friend void PrintTo(const Limit& l, std::ostream* out) { *out << l.key; }
};

// What the road says up to the first refusal; nothing where the program runs.
Diagnostics refusalOf(const CanonicalGraph& graph, const Device& device) {
  const Result<Plan> plan = makePlan(graph, device);
  if (!plan) return plan.diagnostics();
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, device);
  if (!memory) return memory.diagnostics();
  const Result<GeneratedProgram> made = generateProgram(graph, *plan, *memory, device);
  if (!made) return made.diagnostics();
  const Result<VerifiedProgram> program = verified(made->program, device);
  if (!program) return program.diagnostics();
  const Result<SimulateResult> run = simulateTime(*program);
  return run ? Diagnostics{} : run.diagnostics();
}

class DeviceLimits : public ::testing::TestWithParam<Limit> {};

TEST_P(DeviceLimits, AreKeptBitExactlyOrNamed) {
  int kept = 0, refused = 0;
  for (const std::uint64_t seed : {11, 12, 13, 14})
    for (const auto& [rows, columns] : {std::pair{1, 1}, std::pair{2, 3}}) {
      const CanonicalGraph graph = makeRandomGraph({.seed = seed,
                                                    .ops = 4,
                                                    .maxExtent = 20,
                                                    .maxChannels = 40,
                                                    .maxElements = 3'000,
                                                    .maxMacs = 100'000});
      for (const char* value : GetParam().values) {
        const Result<Device> device =
            readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml",
                       {.mesh = {{rows, columns}}, .settings = {{GetParam().key, value}}});
        ASSERT_TRUE(device) << device.diagnostics();
        const Diagnostics refusal = refusalOf(graph, *device);
        for (const Diagnostic& fault : refusal) {
          EXPECT_EQ(fault.severity, Severity::DoesNotFit) << refusal;
          EXPECT_NE((fault.what + fault.mend).find(GetParam().key), std::string::npos) << refusal;
        }
        ++(refusal.empty() ? kept : refused);
        const std::optional<std::string> fault = disprove(graph, *device, seed);
        EXPECT_FALSE(fault) << "seed " << seed << ", " << value << ": " << *fault;
      }
    }
  // Programs make do with one dimension, records can be padded, and nearly all programs make do
  // with one lock at a transfer's end.
  const std::string key = GetParam().key;
  if (key.find("dimensions") != std::string::npos || key == "limits.recordLengths") {
    EXPECT_EQ(refused, 0);
  } else if (key != "limits.locksPerDescriptor") {
    EXPECT_GT(refused, 0);
  }
  EXPECT_GT(kept, 0);
}

const Limit kLimits[] = {
    {"limits.granularity", {"2 B", "8 B", "16 B", "64 B"}},
    {"limits.core.descriptors", {"1", "2", "20", "40"}},
    {"limits.core.dimensions", {"1", "2"}},
    {"limits.core.locks", {"1", "2", "3", "4", "6"}},
    {"limits.memtile.descriptors", {"1", "2", "20", "60", "120"}},
    {"limits.memtile.dimensions", {"1", "2"}},
    {"limits.memtile.locks", {"1", "2", "6", "12", "20"}},
    {"limits.shim.descriptors", {"1", "2", "6", "12", "20"}},
    {"limits.shim.dimensions", {"1", "2"}},
    {"limits.lockMaximum", {"1", "2", "4", "8", "16"}},
    {"limits.recordLengths", {"1"}},
    {"limits.locksPerDescriptor", {"1", "2", "3", "4"}},
};
INSTANTIATE_TEST_SUITE_P(Sweep, DeviceLimits, ::testing::ValuesIn(kLimits), [](const auto& limit) {
  std::string name = limit.param.key;
  std::erase(name, '.');
  return name;
});

}  // namespace
}  // namespace heddle::property
