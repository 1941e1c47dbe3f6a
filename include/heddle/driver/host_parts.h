// The road from a model's inputs to the array and from the array to the model's outputs: the host
// operators before and after, and the ports between.
//
//   enterArray: image float32 -> (Transpose on the host) -> stored int8 of each graph input
//   leaveArray: stored int8 of each graph output -> (Softmax on the host) -> probabilities float32
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "heddle/canon/canonicalize.h"
#include "heddle/npy/npy.h"
#include "heddle/support/result.h"

namespace heddle {

using NamedArrays = std::map<std::string, NpyArray>;

// `given`, and for the other inputs of the model values made from the seed: where the array reads
// the input, those that it would be given by itself (randomValues); float32 for the host from -1
// to 1, integers of 32 and 64 bits 0, which is an index into every axis.
NamedArrays completeInputs(const Graph& model, const Canonicalized& canonical, NamedArrays given,
                           std::uint64_t seed);

// The value of each of canonical.graph.inputs, in order Y, X, C. `modelInputs` are by the names of
// the ONNX graph. Errors: CLI005 an input of another type or shape than the model's; CLI006 an
// input is missing.
Result<std::vector<std::vector<std::int8_t>>> enterArray(const Canonicalized& canonical,
                                                         const NamedArrays& modelInputs);

// All that is known by a name in the end, given the value of each of canonical.graph.outputs:
// these, the inputs of the model and what the host makes of both; every output of the model that is
// computed is among them.
Result<NamedArrays> leaveArray(const Canonicalized& canonical,
                               std::span<const std::vector<std::int8_t>> outputs,
                               const NamedArrays& modelInputs);

}  // namespace heddle
