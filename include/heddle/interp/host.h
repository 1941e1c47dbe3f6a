 code    Runs the operators that stay on the host: what the network does in float before its first
 code    quantize and after its last dequantize (Softmax, ArgMax, Transpose, ...), straight from the ONNX
 code    graph.
//
 code      Softmax of {0, ln 3} -> {0.25, 0.75}
//
 code    Arithmetic is in double precision, each result rounded to the type of its value, so that results
 code    are at least as near to the standard as those of a float32 runtime.
//
 code    | code    | when                                                                       |
 code    |---------|----------------------------------------------------------------------------|
 code    | HOST001 | an operator has no definition on the host; all of them in one diagnostic   |
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
  std::vector<double> values;   code    row-major; every type's values but int64 beyond 2^53 are exact
  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

 code    Whether runHost knows the operator.
bool runsOnHost(NodeKind kind);

 code    The values of graph.outputs, given those of graph.inputs, in their order, types and shapes (else
 code    InternalError).
Result<std::vector<HostTensor>> runHost(const Graph& graph, std::span<const HostTensor> inputs);

 code    The elements of a constant.
HostTensor hostConstant(const Value& value);

 code    To and from the arrays of a user; nothing for element types that no Graph has (int16, uint64,
 code    ...).
std::optional<HostTensor> hostTensorFrom(const NpyArray& array);
NpyArray arrayFrom(const HostTensor& tensor);

}   code    namespace heddle
