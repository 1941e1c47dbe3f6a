// Which cores compute what of a layer: parts of the pixels times parts of the channels, each pair
// on one core.
//
//   columns    pixels over mesh columns, channels over rows: the paper's
//   rows       pixels over mesh rows, channels over columns
//   pixels     over all cores; every core computes all channels
//   channels   over all cores; every core computes all pixels
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

struct MeshCut {
  std::vector<PixelBox> boxes;   // none empty; the first is a largest one
  std::vector<Interval> blocks;  // of output channels, none empty; the first is a longest one
  std::vector<CoreAt> cores;     // of box b and part k: cores[b * blocks.size() + k]

  const CoreAt& coreOf(std::size_t box, std::size_t part) const {
    return cores[box * blocks.size() + part];
  }
  friend bool operator==(const MeshCut&, const MeshCut&) = default;
};

// All that differ, the paper's first.
std::vector<MeshCut> meshCuts(const Shape& output, const Device& device);

// The pixels that each mesh column computes by the paper's cut, and that its memtile keeps: W over
// columns where there are enough of them. Empty ones last.
std::vector<PixelBox> evenBoxes(const Shape& shape, const Device& device);

}  // namespace heddle
