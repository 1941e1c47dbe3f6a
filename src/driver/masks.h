// Mask files of a user.
#pragma once
#include <string>
#include <vector>

#include "heddle/driver/network.h"
#include "heddle/sparsity/masks.h"

namespace heddle {

// Nothing where no file is named. Errors: FILE001, those of parseNpz and masksFrom, and, unless
// weights may be dropped, those of droppedWeights.
Result<std::vector<WeightMask>> readMasks(const std::string& file, const Graph& graph,
                                          const Canonicalized& canonical, bool mayDropWeights);

// `canonical`, made of the graph of `run`, with the weights that the masks drop at their zero
// point; the network's hash is then that of the model's and the masks' together. Errors: as above.
Diagnostics takeMasks(const std::string& file, Network& run, Canonicalized& canonical,
                      bool mayDropWeights);

}  // namespace heddle
