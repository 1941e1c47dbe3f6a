// The ONNX network as read, independent of the operator set's version: operators of a closed set
// with their attributes (constant inputs such as axes, pads and sizes are already attributes),
// values with shape and type.
//
//   %0 x: float32[1,3,8,8]   %1 w: int8[4,3,3,3] constant
//   %2 = Conv(%0, %1) pads 1,1,1,1 -> float32[1,4,8,8]
//
// Every shape is known and every node stands after those it reads. onnx/ makes one, canon/ lowers
// it, interp/ runs the parts that stay on the host.
#pragma once
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "heddle/support/ids.h"
#include "heddle/support/result.h"

namespace heddle {

using ValueId = Id<struct ValueTag>;  // of a Graph
using NodeId = Id<struct NodeTag>;    // of a Graph

enum class DataType { Float32, Float64, Int8, Uint8, Int32, Int64, Bool };
std::int64_t byteSize(DataType type);
const char* toText(DataType type);

using Dims = std::vector<std::int64_t>;
std::int64_t elementCount(
    const Dims& dims);                 // product; importOnnx has proved that it does not overflow
std::string toText(const Dims& dims);  // "1x3x8x8", "scalar"

struct Value {
  std::string name;  // unique in its graph
  DataType type = DataType::Float32;
  Dims shape;
  std::optional<std::string>
      constant;  // little-endian elements in row-major order; moved from the file, not copied

  // Elements of a constant of exactly that type.
  template <class T>
  std::span<const T> elements() const {
    return {reinterpret_cast<const T*>(constant->data()), constant->size() / sizeof(T)};
  }
  friend bool operator==(const Value&, const Value&) = default;
};

// Names are ONNX's. com.microsoft operators with an equal in ONNX (FusedConv) do not appear under
// two names.
// clang-format off
enum class NodeKind {
  // quantization
  QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear,
  // products
  Conv, ConvInteger, QLinearConv, Gemm, QGemm, MatMul, MatMulInteger, QLinearMatMul,
  // windows and reductions
  MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool, QLinearAveragePool, QLinearGlobalAveragePool,
  ReduceMean, ReduceSum, ReduceMax, ReduceMin,
  // two operands, element by element
  Add, Sub, Mul, Div, Pow, Min, Max, QLinearAdd, QLinearMul,
  // one operand, element by element
  Relu, Clip, LeakyRelu, PRelu, Sigmoid, HardSigmoid, HardSwish, Tanh, Elu, Selu, Softplus, Softsign,
  Exp, Log, Sqrt, Abs, Neg, Floor, Ceil, Round, Erf, Reciprocal, Sign, Mish, Gelu, QLinearLeakyRelu,
  QLinearSigmoid, BatchNormalization,
  // movement
  Concat, QLinearConcat, Split, Slice, Pad, Resize, Transpose, DepthToSpace, SpaceToDepth, Expand, Tile,
  Gather,
  // views and nothing at all
  Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout, Cast,
  // shape arithmetic: folded by importOnnx, never left in a Graph
  Shape, Range, ConstantOfShape, Constant,
  // float only
  Softmax, LogSoftmax, ArgMax, ArgMin,
};
// clang-format on
const char* toText(NodeKind kind);

// Conv, ConvInteger, QLinearConv. Vectors have one entry per spatial axis, pads first all begins
// then all ends; auto_pad is already resolved.
struct ConvAttributes {
  Dims kernel, strides, dilations, pads;
  std::int64_t group = 1;
  friend bool operator==(const ConvAttributes&, const ConvAttributes&) = default;
};

// MaxPool, AveragePool, QLinearAveragePool, and the global pools with the whole image as their
// kernel.
struct PoolAttributes {
  Dims kernel, strides, dilations, pads;
  bool countIncludePad = false;
  bool ceilMode = false;
  bool channelsLast = false;  // com.microsoft pools: N, spatial..., C
  friend bool operator==(const PoolAttributes&, const PoolAttributes&) = default;
};

struct GemmAttributes {  // Gemm, QGemm: alpha * A' * B' + beta * C
  float alpha = 1, beta = 1;
  bool transA = false, transB = false;
  friend bool operator==(const GemmAttributes&, const GemmAttributes&) = default;
};

// Concat, QLinearConcat, QuantizeLinear, DequantizeLinear (of a vector of scales), Gather, Softmax,
// LogSoftmax, ArgMax, ArgMin: 0 <= axis < rank.
struct AxisAttributes {
  std::int64_t axis = 0;
  bool keepDims = true;     // ArgMax, ArgMin
  bool selectLast = false;  // ArgMax, ArgMin
  bool flattened = false;   // Softmax, LogSoftmax before opset 13: over all axes from `axis` on
  friend bool operator==(const AxisAttributes&, const AxisAttributes&) = default;
};

struct ReduceAttributes {
  Dims axes;  // ascending
  bool keepDims = true;
  friend bool operator==(const ReduceAttributes&, const ReduceAttributes&) = default;
};

struct SplitAttributes {
  std::int64_t axis = 0;
  Dims sizes;
  friend bool operator==(const SplitAttributes&, const SplitAttributes&) = default;
};

// Output index i of axis a reads input starts[a] + i * steps[a]; one entry per axis of the input.
struct SliceAttributes {
  Dims starts, steps;
  friend bool operator==(const SliceAttributes&, const SliceAttributes&) = default;
};

enum class PadMode { Constant, Reflect, Edge, Wrap };
struct PadAttributes {
  Dims begins, ends;  // one entry per axis; negative ones crop
  PadMode mode = PadMode::Constant;
  double value = 0;  // in the type of the data: for int8 and uint8 the stored integer
  friend bool operator==(const PadAttributes&, const PadAttributes&) = default;
};

enum class ResizeMode { Nearest, Linear, Cubic };
enum class ResizeCoordinates {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  HalfPixelForNn
};
enum class ResizeRounding { RoundPreferFloor, RoundPreferCeil, Floor, Ceil };
struct ResizeAttributes {
  ResizeMode mode = ResizeMode::Nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::HalfPixel;
  ResizeRounding rounding = ResizeRounding::RoundPreferFloor;
  std::vector<double> scales;  // output / input, one per axis
  double cubicCoefficient = -0.75;
  bool excludeOutside = false;
  friend bool operator==(const ResizeAttributes&, const ResizeAttributes&) = default;
};
// The input index that output index `out` of an axis reads in nearest mode, clamped to the input.
std::int64_t nearestSource(const ResizeAttributes& resize, std::size_t axis, std::int64_t out,
                           std::int64_t inputSize, std::int64_t outputSize);

struct TransposeAttributes {
  Dims permutation;  // output axis i is input axis permutation[i]
  friend bool operator==(const TransposeAttributes&, const TransposeAttributes&) = default;
};

struct BlockAttributes {  // DepthToSpace, SpaceToDepth
  std::int64_t blockSize = 1;
  bool columnRowDepth = false;  // DepthToSpace mode CRD
  friend bool operator==(const BlockAttributes&, const BlockAttributes&) = default;
};

// Parameters of functions of one element: LeakyRelu, HardSigmoid, Elu, Selu (alpha, beta = gamma),
// Clip (low, high), Gelu (tanhApproximation), QLinearLeakyRelu.
struct FunctionAttributes {
  float alpha = 0, beta = 0;
  double low = -std::numeric_limits<double>::infinity(),
         high = std::numeric_limits<double>::infinity();
  bool tanhApproximation = false;
  friend bool operator==(const FunctionAttributes&, const FunctionAttributes&) = default;
};

struct BatchNormalizationAttributes {  // inputs: x, gamma, beta, mean, variance
  float epsilon = 1e-5F;
  friend bool operator==(const BatchNormalizationAttributes&,
                         const BatchNormalizationAttributes&) = default;
};

// The value's own type says what a Cast casts to, its shape what a Reshape, Expand or Tile makes:
// no attributes.
using NodeAttributes =
    std::variant<std::monostate, ConvAttributes, PoolAttributes, GemmAttributes, AxisAttributes,
                 ReduceAttributes, SplitAttributes, SliceAttributes, PadAttributes,
                 ResizeAttributes, TransposeAttributes, BlockAttributes, FunctionAttributes,
                 BatchNormalizationAttributes>;

struct Node {
  std::string name;    // of the ONNX node, or of its first output where it has none; unique
  std::string opType;  // as the file spells it, for people: "com.microsoft.QLinearAdd"
  NodeKind kind = NodeKind::Identity;
  std::vector<ValueId> inputs;   // an absent optional input is an invalid id; trailing ones are cut
  std::vector<ValueId> outputs;  // an unused optional output is an invalid id
  NodeAttributes attributes;
  friend bool operator==(const Node&, const Node&) = default;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;  // each after the producers of its inputs
  std::vector<ValueId> inputs, outputs;

  const Value& operator[](ValueId id) const { return values[id.at()]; }
  Value& operator[](ValueId id) { return values[id.at()]; }
  friend bool operator==(const Graph&, const Graph&) = default;
};

// f(x) of a function of one element without operands of its own (Relu .. Gelu but for PRelu), in
// double precision.
std::optional<double> evaluateFunction(NodeKind kind, const FunctionAttributes& attributes,
                                       double x);
// f(a, b) of Add, Sub, Mul, Div, Pow, Min, Max.
std::optional<double> evaluateBinary(NodeKind kind, double a, double b);

// NumPy's multidirectional broadcasting; absent where the shapes do not fit.
std::optional<Dims> broadcastShapes(const Dims& a, const Dims& b);

// Re-checks ids, order, single assignment, constants' sizes: GRAPH001.
Diagnostics verify(const Graph& graph);

// One line per value and node, for people and for --dump, under a title: graph.name tells where a
// file lay.
std::string print(const Graph& graph, std::string_view title);

// Node indices so that each stands after the producers of its inputs, otherwise in the given order;
// absent on a cycle.
std::optional<std::vector<NodeId>> topologicalOrder(const Graph& graph);

}  // namespace heddle
