// A compiled program as it lies in a folder.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heddle/program/verify.h"
#include "heddle/support/result.h"

namespace heddle {

struct Saved {
  VerifiedProgram program;
  WeightImage weights;
};

// Reads program.asm and device.yaml, verifies the program and reads weights.bin; the size of that
// and the hashes of both must be what the program names. Errors: those of the readers and of
// verify; SIM001 a file is not the one that the program was made for. `settings` replace rates and
// times of the device; SIM002 one that says more than how long things take.
Result<Saved> readSaved(const std::filesystem::path& folder,
                        const std::vector<std::pair<std::string, std::string>>& settings = {});

// A program from a file that asks for more than there is, is a faulty file: bad input, where one
// that heddle makes does not fit.
Diagnostics asBadInput(Diagnostics faults);

}  // namespace heddle
