// The reference interpreter: what a canonical network computes, by definition. Plain integer
// arithmetic in the words of canon/canonical_graph.h; it shares with the Machine's kernels nothing
// but support/requantize.h.
//
//   std::vector<TensorValue> tensors = interpret(graph, {image});
//   tensors[graph.outputs[0].tensor.at()]      // int8 in order Y, X, C: element (y * width + x) *
//   channels + c
//
// Its own truth comes from outside: tests/differential holds it against ONNX Runtime, operator by
// operator.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "heddle/canon/canonical_graph.h"

namespace heddle {

using TensorValue = std::vector<std::int8_t>;  // of one tensor, in order Y, X, C

// The value of every tensor of `graph`, by TensorId. `inputs[i]` is the value of
// graph.inputs[i].tensor.
//
// Needs:   a graph that canonicalize or parse made; inputs of the sizes that it says (else
// InternalError). Time:    10 to 30 G multiply-accumulates a second on one core with AVX2
// (ResNet-50: 0.3 s).
std::vector<TensorValue> interpret(const CanonicalGraph& graph,
                                   std::span<const TensorValue> inputs);

// One operator of `graph`: the value of its output, given the values of its operands (in the order
// of op.inputs). For callers that show progress, free tensors early, or feed an operator what
// another program computed.
TensorValue interpretOp(const CanonicalGraph& graph, const CanonicalOp& op,
                        std::span<const TensorValue* const> operands);

}  // namespace heddle
