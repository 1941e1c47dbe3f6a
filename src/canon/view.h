// How the elements of an ONNX value lie in a canonical tensor: each axis of the value is a
// mixed-radix number whose digits count along the tensor's axes. Reshape and Transpose only regroup
// and permute digits, so they cost nothing.
//
//   value 1x58x2x28x28 of a 28x28x116 tensor (the channel shuffle, half way):
//     axis 1: {58 of C, stride 1}   axis 2: {2 of C, stride 58}   axis 3: {28 of Y, 1}   axis 4:
//     {28 of X, 1}
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/graph/graph.h"

namespace heddle::canon {

enum class Axis { Y, X, C, Flat };  // Flat: of an array whose canonical layout is not chosen yet

struct Digit {
  std::int64_t extent = 1;
  Axis axis = Axis::C;
  std::int64_t stride = 1;  // along the axis
  friend bool operator==(const Digit&, const Digit&) = default;
};
using Digits = std::vector<Digit>;  // most significant first; an extent of 1 has none

struct View {
  std::vector<Digits> dims;  // one per axis of the value
  Dims shape() const;
  friend bool operator==(const View&, const View&) = default;
};

// Axis `axes[i]` for dimension i; several dimensions of one axis are digits of it, the last one
// least significant.
View layOut(const Dims& shape, const std::vector<Axis>& axes);
View flatView(const Dims& shape);

// The axes that heddle gives to a value without other wishes: NCHW, NC, C, (Y)XC by rank. Throws
// Unsupported where a batch above 1 does not fold into rows.
std::vector<Axis> standardAxes(const Dims& shape);

Shape tensorShape(const View& view);  // extents of the axes that the digits span
View transposed(const View& view, const Dims& permutation);
// Absent where an axis of `shape` would cut a digit unevenly.
std::optional<View> reshaped(const View& view, const Dims& shape);
// Adjacent digits that count on along one axis joined.
View normalized(View view);
Digits joined(const Digits& digits);

// The digits of both sides cut so that they pair up: same extents. Absent where they do not nest.
struct DigitPair {
  std::int64_t extent = 1;
  Axis fromAxis = Axis::C, toAxis = Axis::C;
  std::int64_t fromStride = 1, toStride = 1;
};
std::optional<std::vector<DigitPair>> pairDigits(const Digits& from, const Digits& to);

// (outputs, inputs) along one axis, in order of the outputs, as few runs.
using IndexPairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
AxisMap compress(const IndexPairs& pairs);
IndexPairs expand(const AxisMap& map);  // in order of the outputs

// The value as a port of the network, where its digits name each axis at most once and cover the
// tensor.
std::optional<Port> portOf(const View& view, const Shape& tensor);

}  // namespace heddle::canon
