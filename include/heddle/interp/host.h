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
// | HOST002 | a value computed at run time is none that the operator takes: an index     |
// | HOST003 | the host's part of a network is too large for it                           |
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

// What runHost takes on. It is plain and slow; a small file may ask for more than a machine has.
struct HostLimits {
  std::int64_t elements = std::int64_t{1} << 27;    // of all values together, 8 B each
  std::int64_t operations = std::int64_t{1} << 35;  // multiply-accumulates and moves: half a minute
};

// Whether runHost has a definition for the operator, as its attributes and outputs are.
bool runsOnHost(const Node& node);

// The values of graph.outputs, given those of graph.inputs, in their order, types and shapes (else
// InternalError).
//
// Needs: nodes with the operands that importOnnx checks (src/onnx/signatures.h).
Result<std::vector<HostTensor>> runHost(const Graph& graph, std::span<const HostTensor> inputs,
                                        const HostLimits& limits = {});

// The elements of a constant.
HostTensor hostConstant(const Value& value);

// To and from the arrays of a user; nothing for element types that no Graph has (int16, uint64,
// ...).
std::optional<HostTensor> hostTensorFrom(const NpyArray& array);
NpyArray arrayFrom(const HostTensor& tensor);

}  // namespace heddle
