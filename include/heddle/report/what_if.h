// What the run would take if one resource cost nothing: found by executing the program again, time
// only, with every instruction of that resource done in one cycle.
//
//   62 cycles; DDR read free: 36, compute free: 35, ...
#pragma once
#include <vector>

#include "heddle/program/verify.h"
#include "heddle/report/leaves.h"
#include "heddle/support/result.h"

namespace heddle {

struct WhatIf {
  Resource resource = Resource::Compute;
  Cycles cycles;  // makespan
  friend bool operator==(const WhatIf&, const WhatIf&) = default;
};

// Executions of instructions above which whatIf takes too long (seconds) to be run unasked.
inline constexpr std::int64_t kMostWhatIfSlices = 10'000'000;

// One run for each resource that instructions of the program spend time on (the sequencer's take
// none), on as many threads as the machine has. Errors: those of simulateTime.
Result<std::vector<WhatIf>> whatIf(const VerifiedProgram& program);

}  // namespace heddle
