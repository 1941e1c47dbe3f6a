// Diagnostics as heddle.Error, with all that the command line would say.
#pragma once
#include <pybind11/pybind11.h>

#include "heddle/support/result.h"

namespace heddle {

// Throws heddle.Error, or heddle.DoesNotFit where that is what the first one says.
[[noreturn]] void raise(const Diagnostics& diagnostics);

inline void raiseIfAny(const Diagnostics& diagnostics) {
  if (!diagnostics.empty()) raise(diagnostics);
}

// A broken promise of heddle's and a path that the system refuses become heddle.Error too.
void translateExceptions();

}  // namespace heddle
