#include "../../../src/planner/share_memtiles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../graphs.h"
#include "heddle/planner/make_plan.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::square;

// Three convolutions with 16 blocks of channels each, which 3 rows of cores share 6, 5, 5.
CanonicalGraph unevenChain() {
  GraphBuilder b("chain");
  TensorId x = b.input("x", {6, 6, 128});
  for (const char* name : {"first", "second", "third"}) x = b.conv(name, x, 128, square(1));
  return b.finish(x);
}

Device paperMesh(std::pair<std::int64_t, std::int64_t> mesh) {
  const Result<Device> device =
      readDevice(HEDDLE_SOURCE_DIR "/hw_configs/paper.yaml", {.mesh = mesh, .settings = {}});
  EXPECT_TRUE(device) << device.diagnostics();
  return *device;
}

std::vector<std::int64_t> loadsOfMemtiles(const WorkCounter& count, const Plan& plan,
                                          std::size_t step, const Device& device) {
  std::vector<std::int64_t> loads(static_cast<std::size_t>(device.memtiles()));
  const std::vector<Bytes> bytes = count.recordBytes(plan, step);
  const std::vector<Route>& routes = plan.layers[plan.schedule[step].layer.at()].weights;
  for (std::size_t r = 0; r < routes.size(); ++r)
    loads[static_cast<std::size_t>(routes[r].memtile)] += bytes[r].raw();
  return loads;
}

TEST(ShareMemtiles, GivesAnotherTheMostFromLayerToLayer) {
  const CanonicalGraph graph = unevenChain();
  const Device device = paperMesh({3, 3});
  const Result<Plan> planned = makePlan(graph, device, {.effort = 0});
  ASSERT_TRUE(planned) << planned.diagnostics();
  Plan plan = *planned;
  const WorkCounter count(graph, device);
  std::vector<std::size_t> heaviest;
  shareMemtiles(device, count, plan);
  EXPECT_EQ(verify(plan, graph, device), Diagnostics{});
  std::vector<std::int64_t> sums(3);
  for (std::size_t step = 0; step < 3; ++step) {
    const std::vector<std::int64_t> loads = loadsOfMemtiles(count, plan, step, device);
    const auto most = std::ranges::max_element(loads);
    EXPECT_EQ(std::ranges::count(loads, *most), 1);
    heaviest.push_back(static_cast<std::size_t>(most - loads.begin()));
    for (std::size_t m = 0; m < loads.size(); ++m) sums[m] += loads[m];
  }
  std::ranges::sort(heaviest);
  EXPECT_EQ(heaviest, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(sums, std::vector<std::int64_t>(3, sums[0]));
}

TEST(ShareMemtiles, LeavesEvenLayersAsTheyAre) {
  const CanonicalGraph graph = unevenChain();
  const Device device = paperMesh({4, 4});
  const Result<Plan> planned = makePlan(graph, device, {.effort = 0});
  ASSERT_TRUE(planned) << planned.diagnostics();
  Plan plan = *planned;
  shareMemtiles(device, WorkCounter(graph, device), plan);
  EXPECT_EQ(plan, *planned);
}

TEST(ShareMemtiles, GivesNoneMoreRoutesThanAnEvenShare) {
  const CanonicalGraph graph = unevenChain();
  const Device device = paperMesh({5, 2});
  const Result<Plan> planned = makePlan(graph, device, {.effort = 0});
  ASSERT_TRUE(planned) << planned.diagnostics();
  Plan plan = *planned;
  shareMemtiles(device, WorkCounter(graph, device), plan);
  for (const Mapping& mapping : plan.layers) {
    EXPECT_EQ(mapping.weights.size(), 5U);
    EXPECT_EQ(mostRoutesOfAMemtile(mapping.weights), 3);
  }
}

}  // namespace
}  // namespace heddle
