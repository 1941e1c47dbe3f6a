// Computes nodes whose inputs are all constants: shape arithmetic, and weights that the file
// quantizes at run time.
#pragma once
#include <string>
#include <vector>

#include "node_reader.h"

namespace heddle::onnx_import {

// Whether heddle computes this node where all its inputs are constants; a DequantizeLinear of
// weights stays one.
bool isFolded(const Graph& graph, const Converted& node);

// Bytes of each output of a node that isFolded; all its inputs are constants. Throws Fault (a
// division by zero, a scale that is not positive).
std::vector<std::string> fold(const Graph& graph, const Converted& node);

}  // namespace heddle::onnx_import
