// The network as integer operators on NHWC int8 tensors: what interp/ defines, of one image, and
// what every target computes.
//
//   %0 input   : 16x16x16 int8 scale 0.0625 zero 0
//   %1 = Conv(%0) 3x3 pad 1 -> 16x16x32
//
// A uint8 tensor of the ONNX model is stored as x - 128, its zero point moved likewise. Every
// number below is of that stored form. Source of the rounding rules: docs/numbers.md.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "heddle/support/bits.h"
#include "heddle/support/ids.h"
#include "heddle/support/requantize.h"
#include "heddle/support/shared_array.h"
#include "heddle/support/units.h"

namespace heddle {

struct Shape {  // of all images of a batch, one below the other, in elements
  std::int64_t height = 1, width = 1, channels = 1;
  std::int64_t elements() const { return height * width * channels; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// Channel blocks, the last one padded.
constexpr std::int64_t blocksOf(const Shape& shape) {
  return divideRoundUp(shape.channels, kBlock);
}

// Per block of channels: which of the network's blocks, as the model orders them, stands there.
// Empty: each where it was.
using BlockOrder = std::vector<std::int64_t>;

struct CanonicalTensor {
  std::string name;  // of the ONNX tensor whose quantized value this is; unique
  Shape shape;
  double scale = 1;
  std::int8_t zeroPoint = 0;
  bool fromUint8 = false;  // the ONNX tensor is uint8: its value is the stored one + 128
  // A constant activation (an Add with a whole tensor, say): values in order Y, X, C. Nothing
  // produces it.
  std::vector<std::int8_t> constant;
  BlockOrder blockOrder;  // canon/block_orders.h
  friend bool operator==(const CanonicalTensor&, const CanonicalTensor&) = default;
};

// Sliding window. Input row of output row y, kernel row k, both counted in their image: y * strideY
// - padTop + k * dilationY; outside is border. padBottom and padRight matter only to AveragePool's
// count (the output's shape is the tensor's).
struct Window {
  std::int64_t kernelY = 1, kernelX = 1, strideY = 1, strideX = 1, dilationY = 1, dilationX = 1;
  std::int64_t padTop = 0, padLeft = 0, padBottom = 0, padRight = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

// Values allowed after requantization (a fused Relu or Clip narrows them).
struct Clamp {
  std::int8_t low = -128, high = 127;
  friend bool operator==(const Clamp&, const Clamp&) = default;
};

// y = clamp(zero(y) + roundHalfEvenShift((a - zero(a)) * multiplierA + (b - zero(b)) * multiplierB,
// shift)), 64-bit sum. Sub has a negative multiplierB. |multiplier| < 2^46. Operands as of Mul.
struct Add {
  std::int64_t multiplierA = 0, multiplierB = 0;
  std::int32_t shift = 0;
  Clamp clamp;
  friend bool operator==(const Add&, const Add&) = default;
};

// An Add that a convolution does at its end: of what it computes without (`zero` is the zero point
// of that), as operand a, and its last input as b.
struct FusedAdd {
  std::string name;  // of the ONNX node
  Add add;
  std::int8_t zero = 0;
  friend bool operator==(const FusedAdd&, const FusedAdd&) = default;
};

// y = clamp(zero(y) + applyMultiplier((a - zero(a)) * (b - zero(b)), requantize)); both operands of
// the output's shape, or b a single pixel of its channels, which meets all of a's (isBroadcast).
struct Mul {
  Multiplier requantize;
  Clamp clamp;
  friend bool operator==(const Mul&, const Mul&) = default;
};

// A Mul that a convolution does before all else: of what it reads and its second input, one pixel.
// `zero` is the zero point of the product, which takes the place of its input's.
struct FusedMul {
  std::string name;  // of the ONNX node
  Mul mul;
  std::int8_t zero = 0;
  friend bool operator==(const FusedMul&, const FusedMul&) = default;
};

using Table256 = std::array<std::int8_t, 256>;  // entry x + 128 is the value at x

// A table's values as clamp(roundHalfEvenShift(x * slope + offset, shift)); 0 <= shift < 32.
struct TableLine {
  std::int32_t slope = 0, offset = 0;
  int shift = 0;
  Clamp clamp;
  friend bool operator==(const TableLine&, const TableLine&) = default;
};
inline std::int8_t valueOnLine(const TableLine& line, std::int8_t x) {
  return saturate(roundHalfEvenShift(std::int64_t{x} * line.slope + line.offset, line.shift),
                  line.clamp.low, line.clamp.high);
}

// y = tables[c or 0][x + 128]: any unary function, one for all channels or one for each (PRelu,
// unfused BatchNorm, ...).
struct Table {
  std::vector<Table256> tables;  // 1 or C
  // Empty, or C: the same as lines, which findTableLines() finds (canon/table_lines.h).
  std::vector<TableLine> lines;
  friend bool operator==(const Table&, const Table&) = default;
};

// A Table of lines that a convolution does before all else: of what it reads. `zero` is the zero
// point of what it looks up, which takes the place of its input's.
struct FusedLines {
  std::string name;  // of the ONNX node
  Table table;       // one for each of its input's channels
  std::int8_t zero = 0;
  friend bool operator==(const FusedLines&, const FusedLines&) = default;
};

// Maximum of the taps inside the tensor; the border never wins. Input and output have one scale and
// zero point.
struct MaxPool {
  Window window;
  friend bool operator==(const MaxPool&, const MaxPool&) = default;
};

// A Table, one for all channels, in which a convolution looks up what it has clamped, of zero point
// `zero`.
struct FusedTable {
  std::string name;  // of the ONNX node
  Table256 table{};
  std::int8_t zero = 0;
  friend bool operator==(const FusedTable&, const FusedTable&) = default;
};

// A convolution (Conv, below) with one input channel per output channel: COUT = CIN, channel c
// reads channel c.
struct DepthwiseConv {
  Window window;
  SharedArray<std::int8_t> weights;            // C x KY x KX
  std::vector<std::int8_t> weightZero;         // C
  std::vector<std::int32_t> bias;              // C
  std::vector<Multiplier> requantize;          // C
  std::vector<Multiplier> requantizeNegative;  // as in Conv
  Clamp clamp;
  std::optional<FusedTable> fusedTable;  // as in Conv
  friend bool operator==(const DepthwiseConv&, const DepthwiseConv&) = default;
};

// What a convolution does at its end with rows that its core has computed: a MaxPool or a
// DepthwiseConv. `before` is what the convolution writes by itself: a tensor of the graph that no
// operator has as output, for it lives in the cores alone. No dilation. A MaxPool's scale and zero
// point are those of `before`.
struct FusedWindow {
  std::string name;  // of the ONNX node
  std::variant<MaxPool, DepthwiseConv> op;
  TensorId before;
  const Window& window() const {
    return std::visit([](const auto& own) -> const Window& { return own.window; }, op);
  }
  Window& window() {
    return std::visit([](auto& own) -> Window& { return own.window; }, op);
  }
  const DepthwiseConv* depthwise() const { return std::get_if<DepthwiseConv>(&op); }
  friend bool operator==(const FusedWindow&, const FusedWindow&) = default;
};

// What a convolution's window was before columns of the image became channels of one; what that put
// in has weights of their zero points (canon/fold_columns.h).
struct FoldedColumns {
  std::int64_t columns = 1;               // of the image in one
  std::int64_t width = 1;                 // of the image
  std::int64_t kernelX = 1, padLeft = 0;  // in columns of the image
  friend bool operator==(const FoldedColumns&, const FoldedColumns&) = default;
};

// y = clamp(zero(y) + applyMultiplier(bias + sum (x - zero(x)) * (w - weightZero), requantize)),
// int32 sum that wraps. The border counts as zero(x). Gemm and MatMul with constant weights are 1x1
// convolutions; a grouped convolution that is not depth-wise is widened to a dense one with zero
// weights by canonicalize.
struct Conv {
  Window window;
  SharedArray<std::int8_t> weights;     // COUT x KY x KX x CIN
  std::vector<std::int8_t> weightZero;  // COUT
  std::vector<std::int32_t> bias;       // COUT
  std::vector<Multiplier> requantize;   // COUT
  // Empty, or COUT: takes the place of `requantize` where the sum with its bias is negative (a
  // fused LeakyRelu, PRelu).
  std::vector<Multiplier> requantizeNegative;
  Clamp clamp;
  // Γ: of the blocks of 8 output x 8 input channels through all taps those that hold a weight other
  // than its zero point, in order output block, input block. Empty: all are taken to (applySparsity
  // fills it in).
  Bits kept;
  // What it does with what it reads, at most one; no border, and no stride. fuseOperators() puts it
  // there.
  std::optional<FusedMul> fusedMul;
  std::optional<FusedLines> fusedLines;
  // What it does with what it has clamped; fuseOperators() puts it there. First the table, then at
  // most one of the others.
  std::optional<FusedTable> fusedTable;
  std::optional<FusedAdd> fusedAdd;
  std::optional<FusedWindow> fusedWindow;
  std::optional<FoldedColumns> folded;  // fuseOperators() does that, too
  friend bool operator==(const Conv&, const Conv&) = default;
};

// Whether weights of such zero points have one that is not 0: then they go with the weights.
inline bool hasZeroPoints(const std::vector<std::int8_t>& weightZero) {
  return std::ranges::any_of(weightZero, [](std::int8_t zero) { return zero != 0; });
}

// y = clamp(zero(y) + roundHalfEvenDivide(sum (x - zero(x)) * multiplier, count * 2^shift)); count
// = taps in the tensor, or, with countIncludesPad, taps in the tensor and its padding (padTop + H +
// padBottom rows, likewise columns).
struct AveragePool {
  Window window;
  bool countIncludesPad = false;
  Multiplier rescale;  // scale(x) / scale(y); {1, 0} where they are equal, so that the average is
                       // an exact rational
  Clamp clamp;
  friend bool operator==(const AveragePool&, const AveragePool&) = default;
};

// Along one axis: outputs [to, to + count * toStep) step toStep read inputs from + i * fromStep, i
// = 0 .. count-1.
struct AxisRun {
  std::int64_t to = 0, toStep = 1, from = 0, fromStep = 1, count = 0;
  friend bool operator==(const AxisRun&, const AxisRun&) = default;
};
using AxisMap = std::vector<AxisRun>;

// One input of an Assemble: output (y, x, c) for y in mapY's outputs, x in mapX's, c in mapC's =
// table(input(...)).
struct AssemblePart {
  AxisMap mapY, mapX, mapC;
  std::optional<Table256> table;  // requantizes where scales differ
  friend bool operator==(const AssemblePart&, const AssemblePart&) = default;
};

// All data movement: Concat, Slice/Split, Pad, Resize nearest, broadcast, channel shuffle,
// DepthToSpace, SpaceToDepth. One part per operand (an operand may appear several times); parts do
// not overlap; what no part covers is `fill`. In a part's mapY the inputs rise with the outputs
// (rows are streamed).
struct Assemble {
  std::vector<AssemblePart> parts;
  std::int8_t fill = 0;
  // Takes what the stride of the next operator's window leaves: the network has none of it, and
  // reads the whole (canon/slice_strides.h).
  bool isOfStride = false;
  friend bool operator==(const Assemble&, const Assemble&) = default;
};

using OpAttributes =
    std::variant<Conv, DepthwiseConv, MaxPool, AveragePool, Add, Mul, Table, Assemble>;
enum class OpKind {
  Conv,
  DepthwiseConv,
  MaxPool,
  AveragePool,
  Add,
  Mul,
  Table,
  Assemble
};  // in the variant's order

struct CanonicalOp {
  std::string name;    // of the ONNX node (the main one where several were fused); unique
  std::string onnxOp;  // its operator type, for people
  std::vector<TensorId> inputs;
  TensorId output;
  OpAttributes attributes;
  OpKind kind() const { return static_cast<OpKind>(attributes.index()); }
  friend bool operator==(const CanonicalOp&, const CanonicalOp&) = default;
};

enum class ElementType { Float32, Int8, Uint8 };

// How a tensor of the ONNX graph is the canonical one: the array of `shape` is read in order as one
// of `view`; axis i of `view` is `axes[i]` of the canonical tensor ('N' axes have extent 1), or of
// the image that an input's tensor holds with its columns folded (canon/fold_columns.h).
// Float32 is quantized with the tensor's scale and zero point: saturate(roundHalfEven(x / scale) +
// zero).
struct Port {
  std::string name;
  TensorId tensor;
  ElementType type = ElementType::Float32;
  std::vector<std::int64_t> shape, view;
  std::string axes;  // of "NHWC", e.g. "NCHW" or "NC"
  friend bool operator==(const Port&, const Port&) = default;
};

// Operators in topological order; tensors are written once. Only canonicalize and parse make one,
// both through verify.
struct CanonicalGraph {
  std::string name;
  std::vector<CanonicalTensor> tensors;
  std::vector<CanonicalOp> ops;
  std::vector<Port> inputs, outputs;  // of one image
  // Every tensor holds so many images of equal height, one below the other, and windows end at an
  // image's border; canon/batch.h makes such a graph, and only what plans and generates reads it.
  std::int64_t batch = 1;
  friend bool operator==(const CanonicalGraph&, const CanonicalGraph&) = default;
};

// Whether an operand of an Add, which a convolution may do at its end, or of a Mul, which it may do
// before all else, is one pixel for each image, which meets all of the other's.
inline bool isBroadcast(const CanonicalGraph& graph, const CanonicalOp& op, std::size_t operand) {
  const Conv* conv = std::get_if<Conv>(&op.attributes);
  if (operand == 0) return false;
  if (conv && conv->fusedMul && operand == 1) return true;
  const bool isPair =
      op.kind() == OpKind::Add || op.kind() == OpKind::Mul || (conv && conv->fusedAdd);
  return isPair &&
         graph.tensors[op.inputs[operand].at()].shape != graph.tensors[op.output.at()].shape;
}

}  // namespace heddle
