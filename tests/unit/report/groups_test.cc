#include "heddle/report/groups.h"

#include <gtest/gtest.h>

namespace heddle {
namespace {

LayerGroups groupsOf(std::size_t layers, const std::vector<std::size_t>& steps) {
  Program program;
  program.layers.resize(layers);
  for (const std::size_t layer : steps) program.steps.emplace_back(layer);
  return findGroups(program);
}

std::vector<std::int64_t> tilesOf(const LayerGroups& found) {
  std::vector<std::int64_t> tiles;
  for (const StepInGroup& step : found.steps)
    tiles.push_back(step.group == kNoGroup ? -1 : step.tile);
  return tiles;
}

TEST(FindGroups, LayersThatComeOnceInOrderAreInNone) {
  EXPECT_TRUE(groupsOf(3, {}).groups.empty());
  EXPECT_EQ(groupsOf(3, {}).steps.size(), 3u);
  EXPECT_TRUE(groupsOf(3, {0, 2, 1}).groups.empty());
}

TEST(FindGroups, ATileEndsWhereTheLayersBeginAnew) {
  const LayerGroups found = groupsOf(5, {0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4});
  EXPECT_EQ(found.groups, (std::vector<LayerGroup>{{0, 2, 3}}));
  EXPECT_EQ(tilesOf(found), (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, -1, -1}));
}

TEST(FindGroups, NeighboursThatShareNoStepAreTwo) {
  const LayerGroups found = groupsOf(4, {0, 1, 0, 1, 2, 3, 2, 3, 3});
  EXPECT_EQ(found.groups, (std::vector<LayerGroup>{{0, 1, 2}, {2, 3, 3}}));
  EXPECT_EQ(found.steps[4].group, 1u);
  EXPECT_EQ(found.steps[8].tile, 2);
}

TEST(FindGroups, ALayerWithoutRowsInATileIsInTheGroupAllTheSame) {
  const LayerGroups found = groupsOf(3, {0, 1, 2, 0, 2});
  EXPECT_EQ(found.groups, (std::vector<LayerGroup>{{0, 2, 2}}));
  EXPECT_EQ(tilesOf(found), (std::vector<std::int64_t>{0, 0, 0, 1, 1}));
}

}  // namespace
}  // namespace heddle
