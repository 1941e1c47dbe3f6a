// Stages that begin with a file instead of the stage before: --from plan|memory-plan|program FILE.
#pragma once
#include <string>

#include "heddle/driver/compilation.h"

namespace heddle {

// Each reads the artefact into the Compilation. Errors: what its reader and its verify find, as bad
// input; PLAN011 a file that was made from another model or device.
Diagnostics readPlanFile(Compilation& run, const std::string& path);
Diagnostics readMemoryPlanFile(Compilation& run, const std::string& path);
// With weights.bin beside it.
Diagnostics readProgramFile(Compilation& run, const std::string& path);

}  // namespace heddle
