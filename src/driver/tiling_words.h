// Whether and why layers of a run are tiled depth-wise.
#pragma once
#include <optional>

#include "heddle/driver/compilation.h"
#include "heddle/report/explanation.h"

namespace heddle {

// None where nothing spills and nothing is tiled. Needs: the report is done.
std::optional<ExplainedTiling> explainTiling(const Compilation& run);

}  // namespace heddle
