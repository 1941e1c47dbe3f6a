// Computes nodes whose inputs are all constants: shape arithmetic, and weights that the file
// quantizes at run time.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "node_reader.h"

namespace heddle::onnx_import {

// Bytes of each output, or absent where heddle does not fold that kind of node. All inputs are
// constants. Throws Fault (an index out of range, a scale that is not positive).
std::optional<std::vector<std::string>> fold(const Graph& graph, const Converted& node);

}  // namespace heddle::onnx_import
