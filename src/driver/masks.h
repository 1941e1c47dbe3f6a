// Mask files of a user.
#pragma once
#include <string>
#include <vector>

#include "heddle/driver/compilation.h"
#include "heddle/sparsity/masks.h"

namespace heddle {

// Nothing where no file is named. Errors: FILE001, those of parseNpz and masksFrom, and, unless
// weights may be dropped, those of droppedWeights. Needs: the network is canonicalized.
Result<std::vector<WeightMask>> readMasks(const std::string& file, const Compilation& run,
                                          bool mayDropWeights);

}  // namespace heddle
