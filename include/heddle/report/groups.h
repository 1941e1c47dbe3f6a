// Which layers a program computes tile by tile, by turns: read off the order of its steps.
//
//   steps     0 1 2 0 1 2 0 1 2 3 4      layers
//   tiles     0 0 0 1 1 1 2 2 2 . .      group 0: layers 0 to 2 in 3 tiles; 3 and 4 in none
//
// docs/plan.md, section on depth-wise tiling.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heddle/program/program.h"

namespace heddle {

struct LayerGroup {
  std::size_t first = 0, last = 0;  // layers, both included
  std::int64_t tiles = 0;
  friend bool operator==(const LayerGroup&, const LayerGroup&) = default;
};

inline constexpr std::size_t kNoGroup = SIZE_MAX;

struct StepInGroup {
  std::size_t group = kNoGroup;  // in LayerGroups::groups
  std::int64_t tile = 0;         // from 0
  friend bool operator==(const StepInGroup&, const StepInGroup&) = default;
};

struct LayerGroups {
  std::vector<LayerGroup> groups;  // in the order of the schedule
  std::vector<StepInGroup> steps;  // per step
};

// A group is a stretch of the schedule in which each layer's steps lie between some other's, or a
// layer that comes back by itself; a tile ends where a layer follows that is not behind the one
// before it in the network.
LayerGroups findGroups(const Program& program);

}  // namespace heddle
