// A failure for programs, as --json prints it: format heddle.failure/1, docs/failure.schema.json.
//
//   {"format":"heddle.failure/1","status":3,"faults":[{"code":"MEM001","where":...,"mend":...}]}
#pragma once
#include <string>

#include "heddle/support/result.h"

namespace heddle {

// One line. `status`: the exit status that goes with it.
std::string failureJson(const Diagnostics& faults, int status);

}  // namespace heddle
