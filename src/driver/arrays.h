// Arrays of a user into and out of a network, by the ports of its graph.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/driver/host_parts.h"
#include "heddle/driver/port_values.h"
#include "heddle/support/result.h"

namespace heddle {

// Stored values for every port, in order frame, Y, X, C: from the files that `arguments`
// ("[NAME=]FILE.npy") name, or made from the seed. `formats[i]` is of ports[i].
Result<std::vector<std::vector<std::int8_t>>> readInputs(const std::vector<std::string>& arguments,
                                                         const std::vector<Port>& ports,
                                                         const std::vector<TensorFormat>& formats,
                                                         std::uint64_t seed,
                                                         std::int64_t frames = 1);

// Writes the ports that `arguments` name; `values[i]` is of ports[i], in order Y, X, C.
Diagnostics writeOutputs(const std::vector<std::string>& arguments, const std::vector<Port>& ports,
                         const std::vector<TensorFormat>& formats,
                         std::span<const std::vector<std::int8_t>> values);

// The arrays as they are, by name: those that `arguments` give files for.
Result<NamedArrays> readArrays(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& names);
Diagnostics writeArrays(const std::vector<std::string>& arguments,
                        const std::vector<std::string>& names, const NamedArrays& arrays);

}  // namespace heddle
