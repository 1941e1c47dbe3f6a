// Runs the operators that stay on the host: what the network does in float before its first
// quantize and after its last dequantize (Softmax, ArgMax, Transpose, ...), straight from the ONNX
// graph.
//
//   Softmax of {0, ln 3} -> {0.25, 0.75}
//
// Arithmetic is in double precision, each result rounded to the type of its value, so that results
// are at least as near to the standard as those of a float32 runtime.
//
// | code    | when                                                                       |
// |---------|----------------------------------------------------------------------------|
// | HOST001 | an operator has no definition on the host; all of them in one diagnostic   |
#pragma once
#include <span>
#include <vector>

#include "heddle/graph/graph.h"
#include "heddle/npy/npy.h"
#include "heddle/support/result.h"

namespace heddle {

struct HostTensor {
  DataType type = DataType::Float32;
  Dims shape;
  std::vector<double> values;  // row-major; every type's values but int64 beyond 2^53 are exact
  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

// Whether runHost has a definition for the operator, as its attributes and outputs are.
bool runsOnHost(const Node& node);

// The values of graph.outputs, given those of graph.inputs, in their order, types and shapes (else
// InternalError).
Result<std::vector<HostTensor>> runHost(const Graph& graph, std::span<const HostTensor> inputs);

// The elements of a constant.
HostTensor hostConstant(const Value& value);

// To and from the arrays of a user; nothing for element types that no Graph has (int16, uint64,
// ...).
std::optional<HostTensor> hostTensorFrom(const NpyArray& array);
NpyArray arrayFrom(const HostTensor& tensor);

}  // namespace heddle
