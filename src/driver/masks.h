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

// The network with the weights that the masks drop at their zero point takes the place of the
// network; its hash is that of the model's and the masks' together. Errors: as above.
Diagnostics takeMasks(const std::string& file, Compilation& run, bool mayDropWeights);

}  // namespace heddle
