// What prune did, for people and for programs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "heddle/driver/network.h"
#include "heddle/driver/options.h"
#include "heddle/sparsity/prune.h"
#include "sensitivity.h"

namespace heddle {

struct PruneResult {
  std::string masksFile;  // empty where nothing was written
  std::optional<Pruning> pruning;
  std::size_t masked = 0;  // operators that a mask file gave a mask
  std::optional<std::vector<LayerSensitivity>> sensitivity;
};

std::string pruneText(const Network& run, const PruneCommandOptions& options,
                      const PruneResult& result);
std::string pruneJson(const Network& run, const PruneCommandOptions& options,
                      const PruneResult& result);

}  // namespace heddle
