// Which cores compute what of a layer: each a part of the pixels in an interval of channels.
//
//   columns    pixels over mesh columns, channels over rows: the paper's
//   rows       pixels over mesh rows, channels over columns
//   pixels     over all cores; every core computes all channels
//   channels   over all cores; every core computes all pixels
//   quarters   the mesh in four; pixels over columns and channels over rows in two that lie across
//              from each other, in the other two pixels over rows and channels over columns, so
//              that records and rows go half over each kind of wire
//   bands      channels over bands of several mesh rows, or columns, so that cores have much alike
//              to do; pixels over all cores of a band; lines of bands alike take turns
//   anywhere   as many parts of the pixels as leave cores for so many of the channels, on any of
//              them: for wires that reach every core
//
//     UL UR    quarters of 4x4: 2 parts of the pixels for each, a quarter of the channels in 2
//     LL LR    groups; UL and LR: records along rows; UR and LL: records down columns
//
//   rows 0-2   two bands of 5x5, of 8 blocks of channels: 5 for 15 parts of the pixels,
//   rows 3-4   3 for 10; five groups would have 1 or 2 each
//
// Where neither W nor H divides well, pixels are also cut as they are numbered row by row: of 17x17
// over four columns 5 columns of pixels are 85, a fourth of all is 73.
//
//   part 1 of 4     1x12 at the end of row 4, 3x17, 1x9 at the beginning of row 8: 72
#pragma once
#include <algorithm>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// In thousandths, of the pixels of a core what such a cut has to save, and of the layer's time what
// it has to gain in closed form, which errs more where rows are of several lengths.
inline constexpr std::int64_t kWorthNumbering = 80;

struct MeshCut {
  struct Share {  // what a core computes
    CoreAt core;
    std::size_t pixels = 0, blocks = 0;  // numbers of a part and of an interval of channels
    bool turned = false;                 // those of the same pixels lie in a mesh row
    friend auto operator<=>(const Share&, const Share&) = default;
  };

  // Boxes of each part: several of pixels that were cut as numbered. None empty; the first part is
  // one of most pixels. In quarters and bands of two sizes two cuts of all pixels.
  std::vector<std::vector<PixelBox>> pixels;
  std::vector<Interval> blocks;  // of output channels, none empty; the first is a longest one
  std::vector<Share> shares;     // by pixels, those by blocks

  // Lines: the first four, which have intervals of channels for each line, each core, or one for
  // all.
  enum class Family { Lines, Quarters, Bands, Anywhere } family = Family::Lines;

  // Whether pixels are cut as they are numbered.
  bool isNumbered() const {
    return std::ranges::any_of(pixels, [](const auto& boxes) { return boxes.size() > 1; });
  }
  // Most output rows of a part, and most columns of a box.
  std::int64_t rows() const;
  std::int64_t columns() const;
  friend bool operator==(const MeshCut&, const MeshCut&) = default;
};

// All that differ, the paper's first. With `anywhere` wires that reach every core those, too, whose
// cores need lie in no line.
std::vector<MeshCut> meshCuts(const Shape& output, const Device& device, std::int64_t anywhere = 0);

// The pixels that each mesh column computes by the paper's cut, and that its memtile keeps: W over
// columns where there are enough of them. Empty ones last.
std::vector<PixelBox> evenBoxes(const Shape& shape, const Device& device);

}  // namespace heddle
