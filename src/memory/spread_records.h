// Where the weight records of each step wait, once all else has its place.
#pragma once
#include "heddle/device/device.h"
#include "heddle/memory/allocate.h"
#include "heddle/tiling/plan.h"

namespace heddle {

// Moves the places of each step's records to the highest bytes that those of the step before leave
// free. Homes of earlier steps seldom reach up there, so that records come further ahead.
//
//   step              0    1    2          0    1    2
//   end of memtile  [    |    | rows ]   [ r0 |    | rows ]
//                   [    |    | r2   ]   [    | r1 |      ]
//                   [ r0 | r1 | home ]   [    |    | r2   ]
//                   [ home    | home ]   [ home    | home ]
//
// Needs: `memory` is placeInMemory's. Ensures: each step's records stay between its homes and its
// rows.
void spreadRecords(const Plan& plan, const Device& device, MemoryPlan& memory);

}  // namespace heddle
