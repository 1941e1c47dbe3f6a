// How many inferences a frame has, where nobody says it: `--batch auto`.
#pragma once
#include <cstdint>

#include "heddle/device/device.h"
#include "heddle/driver/network.h"
#include "heddle/driver/progress.h"
#include "heddle/planner/make_plan.h"
#include "heddle/support/result.h"

namespace heddle {

inline constexpr std::int64_t kMostChosenBatch = 16;

// The network in frames of 1, 2, 4, 8 or 16 inferences: twice as many as long as the closed form
// finds that an inference takes 3 % less then: the first waits for all of its frame. Errors: those
// of the plan for frames of one; where more do not fit, they are not taken.
Result<Network> inBestBatch(const Network& network, const Device& device,
                            const PlanOptions& options, Progress& progress);

}  // namespace heddle
