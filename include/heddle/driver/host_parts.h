// The road from a model's inputs to the array and from the array to the model's outputs: the host
// operators before and after, and the ports between.
//
//   enterArray: image float32 -> (Transpose on the host) -> stored int8 of each graph input
//   leaveArray: stored int8 of each graph output -> (Softmax on the host) -> probabilities float32
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heddle/canon/canonicalize.h"
#include "heddle/npy/npy.h"
#include "heddle/support/result.h"

namespace heddle {

using NamedArrays = std::map<std::string, NpyArray>;

// The value of each of canonical.graph.inputs, in order Y, X, C. `modelInputs` are by the names of
// the ONNX graph. Errors: CLI005 an input of another type or shape than the model's; CLI006 an
// input is missing.
Result<std::vector<std::vector<std::int8_t>>> enterArray(const Canonicalized& canonical,
                                                         const NamedArrays& modelInputs);

// The outputs of the model, given the value of each of canonical.graph.outputs. `modelInputs`
// serves host operators that read an input of the model directly.
Result<NamedArrays> leaveArray(const Canonicalized& canonical,
                               std::span<const std::vector<std::int8_t>> outputs,
                               const NamedArrays& modelInputs);

}  // namespace heddle
