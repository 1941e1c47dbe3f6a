// How much the network's result changes where one layer alone is pruned.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "heddle/driver/network.h"
#include "heddle/driver/progress.h"
#include "heddle/sparsity/prune.h"

namespace heddle {

inline constexpr std::array<std::int64_t, 4> kSensitivityMillionths{250'000, 500'000, 750'000,
                                                                    900'000};

struct LayerSensitivity {
  OpId op;
  // For each of the ratios: the L2 norm of the change of all outputs, in real numbers, over that of
  // the outputs themselves; absent where those are all zero.
  std::array<std::optional<double>, kSensitivityMillionths.size()> errors;
};

// The layers that `options` prunes, by its blocks, importance and balance, each as in layer scope.
// `inputs` are of the graph's ports, in order Y, X, C. Time: a few times that of an inference for
// each layer.
Result<std::vector<LayerSensitivity>> measureSensitivity(
    const Network& run, const PruneOptions& options,
    const std::vector<std::vector<std::int8_t>>& inputs, Progress& progress);

}  // namespace heddle
