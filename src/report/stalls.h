// Who is to blame for a wait: the chain of causes, cut into stretches of time.
//
//   core          [ call 1 ][......... waits ........][ call 2 ]
//   its channel       [ .. waits .. ][ receives row ]             8 cycles of the wait: input wire
//   DDR channel   [  loads the row  ]                            the rest: DDR read
#pragma once
#include <vector>

#include "heddle/machine/timeline.h"
#include "heddle/report/leaves.h"
#include "heddle/support/units.h"

namespace heddle {

// Shares out the wait of `slice` (cycles ready .. start) over the resources that kept it waiting.
PerResource<Cycles> blame(const Timeline& timeline, const std::vector<LeafFacts>& leaves,
                          const SpanSlice& slice);

}  // namespace heddle
