// The only shape and type rules: what a node's outputs are, from its attributes and its inputs.
//
//   Conv 3x3 stride 2 pads 1 of float32[1,3,32,32] with float32[8,3,3,3] -> float32[1,8,16,16]
#pragma once
#include <stdexcept>
#include <vector>

#include "heddle/graph/graph.h"

namespace heddle {

struct ValueType {
  DataType type = DataType::Float32;
  Dims shape;
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

// Why a node does not fit its inputs.
class InferenceFault : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Types of the node's outputs. Throws InferenceFault; extents of attributes and inputs must be
// below 2^32. Reshape, Expand, Tile, Cast, Range, ConstantOfShape and Constant are not its
// business: their constant inputs say it.
std::vector<ValueType> inferOutputs(const Graph& graph, const Node& node);

// Output extent of a sliding window.
std::int64_t windowExtent(std::int64_t input, std::int64_t padBegin, std::int64_t padEnd,
                          std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                          bool ceil);

}  // namespace heddle
