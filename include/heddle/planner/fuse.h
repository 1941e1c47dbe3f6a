// What a user says of depth-wise tiling, as a word: `auto`, `off`, or FIRST..LAST[:TILES] by
// commas.
#pragma once
#include <optional>
#include <string>

#include "heddle/planner/make_plan.h"

namespace heddle {

// Sets tiling and groups of `options`; empty is `auto`. Returns what is no group of layers, with
// `options` undefined, or nothing.
std::optional<std::string> readFuse(const std::string& text, PlanOptions& options);

// What readFuse reads back to the same tiling and groups.
std::string fuseText(const PlanOptions& options);

// For the message about such a word.
inline constexpr const char* kFuseWords = "auto, off, or FIRST..LAST[:TILES], several by commas";

}  // namespace heddle
