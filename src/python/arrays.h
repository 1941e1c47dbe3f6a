// Values of heddle as NumPy arrays and back.
#pragma once
#include <pybind11/numpy.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/machine/timeline.h"
#include "heddle/program/program.h"
#include "heddle/support/result.h"

namespace heddle {

// [(kind, row, column, channel, slices)]: `slices` looks at the timeline's own memory, read-only,
// and keeps it alive.
pybind11::list tracksOf(const std::shared_ptr<const Timeline>& timeline);

// {name: array in the port's type and shape}; `stored[i]` is of ports[i], in order Y, X, C.
pybind11::dict arraysOf(const Program& program, const std::vector<Port>& ports,
                        const std::vector<std::vector<std::int8_t>>& stored);

// The stored values of program.inputs: from `given` by name, the others made from the seed. Errors:
// CLI005 an array of another type or shape than the input's; CLI006 a name that is not there.
Result<std::vector<std::vector<std::int8_t>>> storedInputs(const Program& program,
                                                           const pybind11::dict& given,
                                                           std::uint64_t seed);

}  // namespace heddle
