// A sweep as a file, with the keys of the command line: docs/sweep.md.
//
//   model: [../../build/models/resnet50.onnx]     relative to the file
//   mesh: 1..8x1..8
//   vary: {links.ddr.read: [2GB/s, 4GB/s]}
//   require: [resnet50.ms <= 2]
#pragma once
#include <string>

#include "heddle/support/result.h"
#include "heddle/sweep/options.h"

namespace heddle {

// Errors: FILE001; SWEEP020 it is not YAML, or uses what a sweep file has no use for; SWEEP021 a
// key is given twice; SWEEP022 an unknown key; SWEEP023 a value that is none of its key.
Result<SweepOptions> readSweepFile(const std::string& path);
Result<SweepOptions> parseSweepFile(const std::string& yaml, const std::string& path);

// What `line` says, and of the rest what `file` says.
SweepOptions together(SweepOptions line, SweepOptions file);

}  // namespace heddle
