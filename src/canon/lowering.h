// The state of one canonicalization. Each ONNX value is one of: a constant, an integer tensor (seen
// through a View), a real number that no tensor holds (seen through a View), or something that
// stays on the host. A real is kept as a description until a QuantizeLinear says with which scale
// and zero point it becomes an integer tensor; only then is an operator emitted. So each rounding
// of the ONNX network happens once, exactly where its QuantizeLinear stands.
//
//   DequantizeLinear -> Conv -> Relu -> QuantizeLinear:   Mapped -> Accumulator -> Accumulator, low
//   0 -> canonical Conv
#pragma once
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "heddle/canon/canonical_graph.h"
#include "heddle/canon/weights.h"
#include "heddle/graph/graph.h"
#include "heddle/support/unique_names.h"
#include "unsupported.h"
#include "view.h"

namespace heddle::canon {

// Scale and zero point of the stored (int8) form.
struct Quantization {
  float scale = 1;
  std::int32_t zero = 0;
  bool fromUint8 = false;
  friend auto operator<=>(const Quantization&, const Quantization&) = default;
};

// As ONNX Runtime's QuantizeLinear: float32 division, half to even, saturation; of the stored form.
std::int8_t quantizeValue(float value, const Quantization& quantization);
float dequantizeValue(std::int8_t stored, const Quantization& quantization);

using RealId = Id<struct RealTag>;
using FloatTable =
    std::array<float, 256>;  // entry x + 128 is the real number that the stored byte x stands for

// f(byte) of an int8 tensor. `linear`: f is dequantization, and `tables` is empty; else 1 table or
// one a channel.
struct Mapped {
  TensorId tensor;
  std::optional<Quantization> linear;
  std::vector<FloatTable> tables;
};

// Where the weights of a product are, and how they are to be laid out.
struct ProductWeights {
  const std::string* bytes = nullptr;
  bool fromUint8 = false;
  std::vector<std::int8_t> zero;  // stored form, one per output channel
  std::int64_t outputs = 0;       // COUT
  std::int64_t group = 1;
  std::int64_t inputsPerGroup = 0;
  // Convolution: the source is COUT, CIN / group, KY, KX. Matrix: element (k, n) is at k * stepK +
  // n * stepN, and k goes to place[k] of the row KY, KX, CIN.
  bool matrix = false;
  std::int64_t stepK = 0, stepN = 0;
  std::vector<std::int64_t> place;
};

// Integer products summed, times scale, plus offset: a Conv, Gemm or MatMul that is not rounded
// yet.
struct Accumulator {
  TensorId input;
  Window window;
  ProductWeights weights;
  std::vector<double>
      scale;  // COUT: value of one unit of the sum; negative after a negative factor
  std::vector<double> offset;         // COUT, in real units
  std::vector<std::int32_t> bias;     // COUT, in units of the sum
  std::vector<double> negativeSlope;  // COUT or empty: factor of negative values (LeakyRelu, PRelu)
};

struct Sum {  // a + signB * b
  TensorId a, b;
  Quantization quantizationA, quantizationB;
  int signB = 1;
};
struct Product {
  TensorId a, b;
  Quantization quantizationA, quantizationB;
};
struct Average {
  TensorId input;
  Quantization quantization;
  Window window;
  bool countIncludesPad = false;
  double factor = 1;  // ReduceSum is an average times its count
};
struct Maximum {
  RealId source;
  Window window;
};
struct MovedPart {
  RealId source;
  AxisMap mapY, mapX, mapC;  // output <- source
};
struct Moved {  // what no part covers is `fill`
  std::vector<MovedPart> parts;
  double fill = 0;
};
struct Input {  // a float32 value of the host, in flat order
  ValueId value;
};

using RealKind = std::variant<Mapped, Accumulator, Sum, Product, Average, Maximum, Moved, Input>;
struct Real {
  RealKind kind;
  Shape shape;
  double low = -std::numeric_limits<double>::infinity();  // a Relu or Clip after it; never of
                                                          // Mapped, Maximum, Moved
  double high = std::numeric_limits<double>::infinity();
  std::string name, node,
      onnxOp;     // the value's, for the tensor it becomes; the node's, for the operator
  int depth = 0;  // reals below it: bounds recursion
};

struct RealRef {
  RealId id;
  View view;
};
struct IntegerRef {  // int8 or uint8 tensor
  TensorId tensor;
  View view;
};
struct ConstantReal {  // dequantized constants: weights, biases, slopes
  const std::string* bytes = nullptr;
  DataType type = DataType::Int8;
  Dims shape;
  std::vector<float> scales;        // 1, or one per index of `axis`
  std::vector<std::int32_t> zeros;  // as many, in the ONNX type's own terms
  std::size_t axis = 0;
};
struct Hosted {
  bool before = false;  // needs nothing that the array computes
};
using State = std::variant<std::monostate, RealRef, IntegerRef, ConstantReal, Hosted>;

bool bordersWithinKernel(const Window& window);

struct ProductInput {
  TensorId tensor;
  Quantization quantization;
  View view;
};

// Which inputs of a node are what: x, its scale and zero point; weights, theirs; the result's; the
// bias.
struct ProductOperands;

class Lowering {
 public:
  explicit Lowering(const Graph& source);

  // Gives every output of the node a state. Throws Unsupported.
  void lower(const Node& node);

  const Graph& source() const { return source_; }
  State& state(ValueId id) { return states_[id.at()]; }
  CanonicalGraph& graph() { return graph_; }
  const CanonicalGraph& graph() const { return graph_; }
  bool isConstant(ValueId id) const;
  bool isRawInput(ValueId id) const;  // a float value of the host that nothing has rounded yet
  void makeHostInput(ValueId id);     // a float value that host operators compute
  // The value as a port, emitting what data movement that needs; absent where it is not one integer
  // tensor.
  std::optional<Port> port(ValueId id);
  // Why an integer input of the model found no layout.
  const std::map<ValueId, Unsupported>& inputFaults() const { return inputFaults_; }
  // By the operator's name; `op` is still open.
  std::map<std::string, WeightOrigin>& weightOrigins() { return weightOrigins_; }

 private:
  // --- values.cc
  Quantization quantizationOf(const Node& node, std::size_t scale, std::size_t zero,
                              DataType type) const;
  std::optional<Quantization> findQuantization(ValueId integer) const;
  ConstantReal constantReal(ValueId id) const;
  ConstantReal quantizedConstant(ValueId value, ValueId scale, ValueId zero,
                                 std::size_t axis) const;
  std::vector<double> elementsOf(const ConstantReal& constant) const;
  TensorId constantTensor(const ConstantReal& constant, const Dims& shape, const View& view,
                          const std::string& name);
  RealRef realOf(const Node& node, std::size_t input);
  IntegerRef integerOf(const Node& node, std::size_t input);
  IntegerRef addInput(ValueId port, const View& flat, ValueId integer,
                      const Quantization& quantization);
  void lowerQuantize(const Node& node);
  void lowerDequantize(const Node& node);

  // --- reals.cc
  RealId addReal(Real real);
  Real& real(RealId id) { return reals_[id.at()]; }
  Real fresh(const Node& node, RealKind kind, const Shape& shape) const;
  Real fusedInto(const Real& from, const Node& node, RealKind kind) const;
  Real derived(const Real& from, RealKind kind) const;
  RealRef dequantized(const IntegerRef& integer, const Quantization& quantization,
                      const Node& node);
  TensorId quantize(RealId id, const Quantization& quantization, const std::string& name);
  RealRef mapped(const RealRef& ref);  // as a function of an int8 tensor; throws Unsupported
  std::pair<TensorId, Quantization> linear(
      const RealRef& ref);  // as a dequantized tensor; throws Unsupported
  std::vector<FloatTable> tablesOf(const Mapped& mapped) const;
  // As a function of what the Table reads that writes its tensor; the same where none does.
  Mapped throughTable(const Mapped& function);
  RealRef withTables(const RealRef& ref, std::vector<FloatTable> tables, const Node& node);
  RealRef clipped(const RealRef& ref, double low, double high, const Node& node);

  // --- emit.cc
  TensorId addTensor(const std::string& name, const Shape& shape, const Quantization& quantization);
  void addOp(const Real& real, std::vector<TensorId> inputs, TensorId output,
             OpAttributes attributes);
  Clamp clampOf(const Real& real, const Quantization& quantization) const;
  void noteWeights(const Accumulator& sum, const WeightExtents& extents);  // of the last operator
  TensorId emit(const Real& real, const Mapped&, const Quantization&, const std::string& name);
  TensorId emit(const Real& real, const Accumulator&, const Quantization&, const std::string& name);
  TensorId emit(const Real& real, const Sum&, const Quantization&, const std::string& name);
  TensorId emit(const Real& real, const Product&, const Quantization&, const std::string& name);
  TensorId emit(const Real& real, const Average&, const Quantization&, const std::string& name);
  TensorId emit(const Real& real, const Maximum&, const Quantization&, const std::string& name);
  TensorId emit(const Real& real, const Moved&, const Quantization&, const std::string& name);
  TensorId emit(const Real& real, const Input&, const Quantization&, const std::string& name);

  // --- movement.cc
  RealRef relaid(const RealRef& ref, const View& target, const Node& node);
  RealRef standard(const RealRef& ref, const Node& node);
  Real composed(const Real& moved);  // a Moved of Moveds as one
  void lowerView(const Node& node);
  void lowerConcat(const Node& node);
  void lowerIndexed(const Node& node);  // Slice, Split, Pad, Resize, Expand, Tile, Gather
  void lowerBlocks(const Node& node);   // DepthToSpace, SpaceToDepth
  RealRef indexed(const RealRef& ref, const std::vector<IndexPairs>& maps, const Dims& shape,
                  double fill, const Node& node, const std::string& name,
                  std::optional<std::vector<Axis>> axes = {});
  std::optional<View> concatLayout(const std::vector<RealRef>& operands, std::size_t axis,
                                   const Dims& shape) const;

  // --- products.cc
  void lowerConv(const Node& node);
  void lowerMatrix(const Node& node);
  RealRef productOperand(const Node& node, const ProductOperands& at);
  RealRef matrixOperand(const Node& node, const ProductOperands& at, bool transposedA);
  ConstantReal productWeights(const Node& node, const ProductOperands& at, std::size_t axis) const;
  std::optional<ConstantReal> productBias(const Node& node, const ProductOperands& at,
                                          const Accumulator& sum) const;
  void setProduct(const Node& node, const ProductOperands& at, const RealRef& result);
  ProductInput windowInput(const RealRef& ref, Window& window, const std::vector<Axis>& axes,
                           const Node& node);
  ProductInput foldedPadding(const RealRef& ref, Window& window);
  ProductInput linearInput(const RealRef& ref);
  RealRef padded(const RealRef& ref, const Window& window, const std::vector<Axis>& axes,
                 const Node& node);
  void addBias(Accumulator& sum, const ConstantReal& bias, double factor) const;

  // --- windows.cc
  void lowerPool(const Node& node);
  void lowerReduce(const Node& node);

  // --- elementwise.cc
  void lowerFunction(const Node& node);
  void lowerBatchNormalization(const Node& node);
  void lowerPRelu(const Node& node);
  void lowerBinary(const Node& node);
  RealRef withConstant(NodeKind kind, const RealRef& ref, const ConstantReal& constant,
                       bool constantFirst, const Node& node);
  RealRef affine(const RealRef& ref, const std::vector<double>& factor,
                 const std::vector<double>& addend, const Node& node);
  bool isOnePixelOf(const RealRef& ref, const View& whole);
  RealRef combined(NodeKind kind, const RealRef& a, const RealRef& b, const Node& node);
  std::optional<std::vector<double>> perChannel(const RealRef& ref, const ConstantReal& constant);

  // Counts bytes made (weights, tables, index maps) against what one network may ask for.
  void spend(std::int64_t bytes);

  // --- results
  void setReal(const Node& node, std::size_t output, RealRef ref);
  void setInteger(const Node& node, std::size_t output, RealRef ref,
                  const Quantization& quantization);

  const Graph& source_;
  std::vector<State> states_;
  std::vector<std::vector<std::size_t>> consumers_;  // node indices by value
  std::deque<Real> reals_;
  std::map<std::pair<RealId, Quantization>, TensorId> quantized_;
  std::map<RealId, RealId> mapped_;
  struct TableOf {
    TensorId input;
    std::vector<Table256> tables;
  };
  std::map<TensorId, TableOf> tables_;  // by what Table operators write
  std::map<ValueId, Unsupported> inputFaults_;
  std::deque<std::string> permuted_;  // bytes of constants that a Transpose has moved
  CanonicalGraph graph_;
  std::deque<Quantization> quantizations_;  // of graph_.tensors; references to them stay valid
  std::vector<bool> provisional_;  // the tensor has a name that a QuantizeLinear may replace
  UniqueNames tensorNames_, opNames_;
  std::map<std::string, WeightOrigin> weightOrigins_;
  std::map<const std::string*, ValueId> constants_;  // by the address of their bytes
  std::int64_t spent_ = 0;
};

}  // namespace heddle::canon
