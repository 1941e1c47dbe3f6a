// Where the weights of a canonical operator come from in the ONNX network, element by element: what
// a mask of the user, written in the order of the ONNX tensor, means for the operator, and which
// byte of the file to change so that a weight of the operator becomes zero.
//
//   Conv, ONNX weights 32x16x3x3:  weight (o, tap, c) is element (o * 16 + c) * 9 + tap
//   MatMul, ONNX weights 16x32:    weight (o, 0, c)   is element c * 32 + o
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "heddle/graph/graph.h"
#include "heddle/support/ids.h"

namespace heddle {

// The weights of a Conv or DepthwiseConv as COUT x KY*KX x CIN; a depth-wise one has one column.
struct WeightExtents {
  std::int64_t rows = 1, taps = 1, columns = 1;
  std::int64_t elements() const { return rows * taps * columns; }
  friend bool operator==(const WeightExtents&, const WeightExtents&) = default;
};

struct WeightOrigin {
  OpId op;        // of the CanonicalGraph
  ValueId value;  // of the Graph: a constant of int8 or uint8
  WeightExtents extents;
  std::vector<double> scales;     // COUT: real value of one step of a weight, never negative
  std::vector<std::int8_t> zero;  // COUT: the stored value (of uint8: value - 128) that means zero
  // Convolution: the constant is COUT x CIN/group x KY x KX.
  std::int64_t group = 1;
  // Matrix: the element of tap t, column c of row o is terms[t * columns + c] * termStep + o *
  // rowStep of the constant.
  bool matrix = false;
  std::int64_t termStep = 0, rowStep = 0;
  std::vector<std::int64_t> terms;
  friend bool operator==(const WeightOrigin&, const WeightOrigin&) = default;

  // Index in the constant, in row-major order; -1 for a zero that canonicalize put in where a
  // grouped convolution became a dense one.
  std::int64_t element(std::int64_t row, std::int64_t tap, std::int64_t column) const {
    if (matrix)
      return terms[static_cast<std::size_t>(tap * extents.columns + column)] * termStep +
             row * rowStep;
    if (group == extents.rows && extents.columns == 1) return row * extents.taps + tap;
    const std::int64_t inputs = extents.columns / group,
                       first = row / (extents.rows / group) * inputs;
    if (column < first || column >= first + inputs) return -1;
    return (row * inputs + column - first) * extents.taps + tap;
  }
};

}  // namespace heddle
