// Which memtiles bring the weights of a layer, where their shares are not equal.
//
//   64 blocks of channels over 3 rows, two such layers one behind the other, by memtile:
//     22 21 21,  22 21 21    44 42 42   what memtile 0 brings decides
//     22 21 21,  21 22 21    43 43 42   the others' DDR channels go ahead while one is late
#pragma once
#include "heddle/device/device.h"
#include "heddle/planner/count_work.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Turns the memtiles of each layer's weight routes around by so much that it and the layers before
// it load their DDR channels as evenly as that can. Cores and wires stay. Layers that some memtile can't
// feed stay as they are.
void turnMemtiles(const Device& device, const WorkCounter& count, Plan& plan);

}  // namespace heddle
