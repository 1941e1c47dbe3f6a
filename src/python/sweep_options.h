// The keyword arguments of heddle.sweep as the options of a sweep.
#pragma once
#include <pybind11/pybind11.h>

#include "heddle/sweep/options.h"

namespace heddle {

// `asked` has every field by the name of its keyword: texts, lists of texts, numbers, True, False
// or None; as heddle/__init__.py puts it together.
SweepOptions sweepOptions(const pybind11::dict& asked);

}  // namespace heddle
