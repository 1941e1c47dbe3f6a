// Plans for devices with few locks and descriptors: what the planner would choose without their
// limits exceeds them, what it chooses keeps them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../../../src/planner/thrift.h"
#include "../devices.h"
#include "../graphs.h"
#include "heddle/machine/machine.h"
#include "heddle/memory/allocate.h"
#include "heddle/planner/make_plan.h"
#include "heddle/program/generate.h"
#include "heddle/program/verify.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::paper;
using testing::square;

// Three convolutions and a residual add, 24x24.
CanonicalGraph residual() {
  GraphBuilder b("residual");
  const TensorId x = b.conv("first", b.input("x", {24, 24, 16}), 32, square(3, 1, 1));
  const TensorId y = b.conv("third", b.conv("second", x, 32, square(3, 1, 1)), 32, square(1));
  return b.finish(b.add("sum", x, y));
}

Program programOf(const CanonicalGraph& graph, const Plan& plan, const Device& device) {
  const Result<MemoryPlan> memory = allocateMemory(graph, plan, device);
  EXPECT_TRUE(memory) << memory.diagnostics();
  return generateProgram(graph, plan, *memory, device)->program;
}

// Whether the program keeps the limits, that of lock values too.
Diagnostics faultsOf(const Program& program, const Device& device) {
  const Result<VerifiedProgram> runnable = verified(program, device);
  if (!runnable) return runnable.diagnostics();
  const Result<SimulateResult> run = simulateTime(*runnable);
  return run ? Diagnostics{} : run.diagnostics();
}

struct TightLimit {
  const char* name;
  const char* key;
  const char* value;
  friend void PrintTo(const TightLimit& l, std::ostream* out) { *out << l.name; }
};

class TightLimits : public ::testing::TestWithParam<TightLimit> {};

TEST_P(TightLimits, HaveAPlanThatKeepsThem) {
  const auto [name, key, value] = GetParam();
  const CanonicalGraph graph = residual();
  const Device wide = paper(2, 3), tight = paper(2, 3, {{key, value}});
  const Diagnostics before = faultsOf(programOf(graph, *makePlan(graph, wide), tight), tight);
  ASSERT_FALSE(before.empty());
  EXPECT_NE(before[0].what.find(key), std::string::npos) << before;
  const Result<Plan> plan = makePlan(graph, tight);
  ASSERT_TRUE(plan) << plan.diagnostics();
  EXPECT_EQ(verify(*plan, graph, tight), Diagnostics{});
  const Diagnostics after = faultsOf(programOf(graph, *plan, tight), tight);
  EXPECT_TRUE(after.empty()) << after;
}

const TightLimit kTightLimits[] = {
    {"CoreLocks", "limits.core.locks", "3"},
    {"CoreDescriptors", "limits.core.descriptors", "20"},
    {"MemtileLocks", "limits.memtile.locks", "8"},
    {"MemtileDescriptors", "limits.memtile.descriptors", "30"},
    {"ShimDescriptors", "limits.shim.descriptors", "5"},
    {"LockMaximum", "limits.lockMaximum", "4"},
    {"LocksPerDescriptor", "limits.locksPerDescriptor", "2"},
};
INSTANTIATE_TEST_SUITE_P(Planner, TightLimits, ::testing::ValuesIn(kTightLimits),
                         [](const auto& limit) { return limit.param.name; });

// Calls that are made long because they cost cycles take more tokens of a lock at once.
TEST(DeviceLimits, AreKeptWhereCallsCostCycles) {
  const CanonicalGraph graph = residual();
  for (const char* most : {"4", "7", "15", "31", "63"})
    for (const char* key : {"core.callOverhead", "locks.acquire"}) {
      const Device tight = paper(2, 3, {{"limits.lockMaximum", most}, {key, "100 cycles"}});
      const Result<Plan> plan = makePlan(graph, tight);
      ASSERT_TRUE(plan) << plan.diagnostics();
      EXPECT_EQ(verify(*plan, graph, tight), Diagnostics{});
      const Diagnostics faults = faultsOf(programOf(graph, *plan, tight), tight);
      EXPECT_TRUE(faults.empty()) << key << ", " << most << ": " << faults;
    }
}

TEST(DeviceLimits, ThatDoNotBindChangeNoPlan) {
  const CanonicalGraph graph = residual();
  EXPECT_EQ(*makePlan(graph, paper(2, 3)),
            *makePlan(graph, paper(2, 3,
                                   {{"limits.core.locks", "64"},
                                    {"limits.lockMaximum", "1000"},
                                    {"limits.shim.descriptors", "1000"}})));
}

// Each try plans the network and makes its program.
TEST(Thrift, TriesNothingTwiceAndNeitherWithHomesArrangedAndWithout) {
  for (const Device& device : {paper(4, 4), paper(4, 4, {{"limits.lockMaximum", "63"}})}) {
    const Thrift all = noThrift(device);
    std::vector<Thrift> tried;
    for (const std::vector<Thrift>& alike : thriftierThan(all))
      for (const Thrift& one : alike) {
        EXPECT_FALSE(one.arranges);
        EXPECT_EQ(std::ranges::count(tried, one), 0);
        tried.push_back(one);
      }
    Thrift first = all;
    first.arranges = false;
    EXPECT_EQ(tried.front(), first);
    EXPECT_EQ(tried.size(), device.limits.lockMaximum ? 10u : 8u);
    for (const std::vector<Thrift>& alike : thriftierThan(first))
      EXPECT_EQ(std::ranges::count(alike, first), 0);
  }
}

}  // namespace
}  // namespace heddle
