// Why a run takes the time that it takes, from the artefacts of its compilation.
#pragma once
#include "heddle/driver/compilation.h"
#include "heddle/report/explanation.h"

namespace heddle {

// Needs: the report is done.
Explanation explanationOf(const Compilation& run);

}  // namespace heddle
