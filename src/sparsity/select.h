// From the importance of blocks to which of them stay.
#pragma once
#include <vector>

#include "heddle/sparsity/prune.h"

namespace heddle::sparsity {

struct LayerBlocks {
  std::int64_t rows = 0, columns = 0;  // in blocks
  std::vector<double> importance;      // in order block row, block column
};

// Γ of each layer.
std::vector<Bits> chooseBlocks(const std::vector<LayerBlocks>& layers, const PruneOptions& options);

}  // namespace heddle::sparsity
