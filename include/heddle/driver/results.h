// The files of OUT, of a compilation that is done or was stopped early. docs/architecture.md.
#pragma once
#include "heddle/driver/compilation.h"
#include "heddle/driver/files.h"
#include "heddle/support/result.h"

namespace heddle {

// Writes what is there of stages up to `last`: plan.txt; program.asm, weights.bin and device.yaml;
// timeline, report and layers.csv. Needs: a program has its listing. Errors: FILE002; FILE001
// program.asm cannot be read back.
Diagnostics writeResults(const Compilation& run, Stage last, OutputFolder& folder);

}  // namespace heddle
