// Which memtiles bring the weights of a layer, where these don't divide evenly.
//
//   64 blocks of channels over 3 rows, two such layers one behind the other, by memtile:
//     22 21 21,  22 21 21    44 42 42   what memtile 0 brings decides
//     22 21 21,  21 22 21    43 43 42   the others' DDR channels go ahead while one is late
#pragma once
#include "heddle/device/device.h"
#include "heddle/planner/count_work.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Shares each layer's weight routes out over the memtiles so that it and the layers before it load
// their DDR channels as evenly as may be, no memtile with more routes than an even share. Cores and
// wires stay; so do layers that some memtile can't feed.
void shareMemtiles(const Device& device, const WorkCounter& count, Plan& plan);

}  // namespace heddle
