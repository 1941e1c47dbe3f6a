// Which part of a tensor each memtile keeps: the columns of the image that its own column of cores
// would compute, or what those who write and read it move in fewer pieces.
//
//   14 rows of 14 columns over 4 memtiles         in columns                  in rows
//     core column 0 computes rows 0 to 3 of it    4 pieces of a row, to each  1, to one
//     and reads rows 0 to 4, as far as 3x3 sees   4 pieces, of each           1, of one or two
#pragma once
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/cost/work.h"
#include "heddle/device/device.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Each memtile keeps the pixels of its own column.
Home homeInColumns(const Shape& shape, const Device& device);

// Cuts homes that are in columns of `device` into rows, columns and blocks of channels, where that
// leaves markedly fewer instructions to move the tensor by, and no memtile more of it. `times`: of
// the plan's steps. None but those `asked` for, by tensor; which of these it cut otherwise. Needs:
// each memtile feeds every wire.
std::vector<bool> arrangeHomes(const CanonicalGraph& graph, const Device& device,
                               const std::vector<StepTime>& times, const std::vector<bool>& asked,
                               Plan& plan);

}  // namespace heddle
