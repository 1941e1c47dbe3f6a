// Where the models and oracles from outside lie: HEDDLE_SHARED, else `shared` beside the source
// tree.
#pragma once
#include <cstdlib>
#include <filesystem>

namespace heddle::differential {

inline std::filesystem::path sharedModels() {
  const char* shared = std::getenv("HEDDLE_SHARED");
  return (shared != nullptr ? std::filesystem::path(shared)
                            : std::filesystem::path(HEDDLE_SOURCE_DIR) / ".." / "shared") /
         "models";
}

}  // namespace heddle::differential
