#include "heddle/tiling/lives.h"

#include <gtest/gtest.h>

#include "../graphs.h"

namespace heddle {
namespace {

using testing::GraphBuilder;
using testing::twoConvsAndPool;

Plan planOf(const CanonicalGraph& graph, std::vector<ScheduleStep> schedule) {
  Plan plan;
  plan.layers.resize(graph.ops.size());
  for (Mapping& mapping : plan.layers) mapping.shares.emplace_back();  // not in place
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) plan.views.push_back({TensorId(t), 0});
  plan.homes.resize(graph.tensors.size());
  plan.schedule = std::move(schedule);
  return plan;
}

using Lives = std::vector<StepRange>;

TEST(RowLives, AreOneWhereLayersAreWhole) {
  const CanonicalGraph graph = twoConvsAndPool({8, 4, 8});
  const RowLives lives = rowLives(
      graph, planOf(graph, {{LayerId(0u), {0, 8}}, {LayerId(1u), {0, 8}}, {LayerId(2u), {0, 4}}}));
  EXPECT_EQ(lives[0], Lives(8, {0, 0}));
  EXPECT_EQ(lives[1], Lives(8, {0, 1}));
  EXPECT_EQ(lives[2], Lives(8, {1, 2}));
  EXPECT_EQ(lives[3], Lives(4, {2, 2}));
}

TEST(RowLives, EndWithTheLastTileThatReadsThem) {
  const CanonicalGraph graph = twoConvsAndPool({8, 4, 8});
  const RowLives lives = rowLives(graph, planOf(graph, {{LayerId(0u), {0, 5}},
                                                        {LayerId(1u), {0, 4}},
                                                        {LayerId(2u), {0, 2}},
                                                        {LayerId(0u), {5, 3}},
                                                        {LayerId(1u), {4, 4}},
                                                        {LayerId(2u), {2, 2}}}));
  // The input comes whole before step 0; rows 4 and 5 are the border of both tiles.
  EXPECT_EQ(lives[0], (Lives{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 3}, {0, 3}, {0, 3}, {0, 3}}));
  EXPECT_EQ(lives[1], (Lives{{0, 1}, {0, 1}, {0, 1}, {0, 4}, {0, 4}, {3, 4}, {3, 4}, {3, 4}}));
  EXPECT_EQ(lives[2], (Lives{{1, 2}, {1, 2}, {1, 2}, {1, 2}, {4, 5}, {4, 5}, {4, 5}, {4, 5}}));
  // The output leaves whole after step 5.
  EXPECT_EQ(lives[3], (Lives{{2, 5}, {2, 5}, {5, 5}, {5, 5}}));
}

TEST(CutByLife, MakesABoxOfEachStretchOfRowsThatLiveAlike) {
  const HomeBox left{0, {0, 4}, {0, 2}, {0, 1}}, right{1, {0, 4}, {2, 2}, {0, 1}};
  const auto rows = [](HomeBox box, std::int64_t first, std::int64_t count) {
    box.y = {first, count};
    return box;
  };
  EXPECT_EQ(cutByLife({left, right}, {{0, 1}, {0, 1}, {0, 4}, {3, 4}}),
            (Home{rows(left, 0, 2), rows(left, 2, 1), rows(left, 3, 1), rows(right, 0, 2),
                  rows(right, 2, 1), rows(right, 3, 1)}));
}

TEST(RowLives, AreOfTheRowsThatASliceTakes) {
  GraphBuilder b("net");
  const TensorId first = b.conv("first", b.input("x", {8, 4, 8}), 8, testing::square(1)),
                 few = b.slice("few", first, {1, 2, 4}, {0, 1, 4});
  const CanonicalGraph graph = b.finish(b.conv("second", few, 8, testing::square(1)));
  Plan plan = planOf(
      graph,
      {{LayerId(0u), {0, 4}}, {LayerId(2u), {0, 2}}, {LayerId(0u), {4, 4}}, {LayerId(2u), {2, 2}}});
  plan.layers[1].shares.clear();
  plan.views[few.at()] = {first, 0, Sampling{{1, 2}, {0, 1}}};
  const RowLives lives = rowLives(graph, plan);
  // The last step reads rows 5 and 7, and what lies between them.
  EXPECT_EQ(lives[first.at()],
            (Lives{{0, 0}, {0, 1}, {0, 1}, {0, 1}, {2, 2}, {2, 3}, {2, 3}, {2, 3}}));
  EXPECT_TRUE(lives[few.at()].empty());
}

}  // namespace
}  // namespace heddle
