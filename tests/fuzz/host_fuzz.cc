// Whatever small network of host operators: importOnnx refuses it with a reason, or runHost
// computes it without touching what is not its own.
//
// The bytes are choices: which operator, how many operands, of which types and shapes, which
// attributes, which values. Most choices follow src/onnx/signatures.h, so that most networks get
// past the import; about one in sixteen does not care.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "heddle/canon/canonicalize.h"
#include "heddle/interp/host.h"
#include "heddle/onnx/import.h"
#include "onnx/signatures.h"

namespace {

using namespace heddle;
using onnx_import::Operand;
using onnx_import::Signature;
using onnx_import::Size;

constexpr std::int64_t kMostElements = 20'000;  // of a tensor that is made or computed

// The choices that the bytes make; 0 for ever where they end.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  int below(int n) {
    if (at_ >= bytes_.size()) return 0;
    return bytes_[at_++] % n;
  }
  bool rarely() { return below(16) == 15; }
  template <class T>
  const T& oneOf(const std::vector<T>& of) {
    return of[static_cast<std::size_t>(below(static_cast<int>(of.size())))];
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

const std::vector<DataType> kTypes{DataType::Float32, DataType::Int8,  DataType::Uint8,
                                   DataType::Float64, DataType::Int32, DataType::Int64,
                                   DataType::Bool};

std::int32_t onnxType(DataType type) {
  switch (type) {
    case DataType::Float32:
      return onnx::TensorProto::FLOAT;
    case DataType::Float64:
      return onnx::TensorProto::DOUBLE;
    case DataType::Int8:
      return onnx::TensorProto::INT8;
    case DataType::Uint8:
      return onnx::TensorProto::UINT8;
    case DataType::Int32:
      return onnx::TensorProto::INT32;
    case DataType::Int64:
      return onnx::TensorProto::INT64;
    case DataType::Bool:
      break;
  }
  return onnx::TensorProto::BOOL;
}

double element(Choices& choose, DataType type) {
  const bool real = type == DataType::Float32 || type == DataType::Float64;
  const int kind = choose.below(12);
  if (kind < 9) return kind - 3;
  static const std::vector<double> kReals{0.5,
                                          1e30,
                                          -1e30,
                                          std::numeric_limits<double>::quiet_NaN(),
                                          std::numeric_limits<double>::infinity(),
                                          -std::numeric_limits<double>::infinity(),
                                          1e-40,
                                          300};
  static const std::vector<double> kIntegers{127,           -128,   255,     2147483647.0,
                                             -2147483648.0, 9.2e18, -9.2e18, 17};
  return choose.oneOf(real ? kReals : kIntegers);
}

struct Known {
  std::string name;
  DataType type = DataType::Float32;
  Dims shape;
};

// Writes one model, node by node; what a node makes is read back from the import.
class Writer {
 public:
  explicit Writer(Choices& choose) : choose_(choose) {
    model_.set_ir_version(8);
    static const std::vector<int> kOpsets{13, 10, 11, 12, 17, 18, 21};
    onnxVersion_ = choose_.oneOf(kOpsets);
    import("", onnxVersion_);
    import("com.microsoft", 1);
    model_.mutable_graph()->set_name("fuzz");
  }

  std::string bytes() const { return model_.SerializeAsString(); }
  const ImportOptions& options() const { return options_; }

  void addNode() {
    const auto kind = static_cast<NodeKind>(choose_.below(static_cast<int>(NodeKind::ArgMin) + 1));
    auto& node = *graph().add_node();
    const bool upsample = kind == NodeKind::Resize && choose_.below(4) == 3;
    node.set_op_type(upsample ? "Upsample" : toText(kind));
    const std::string name = toText(kind);
    if (name[0] == 'Q' && name != "QLinearConv" && name != "QLinearMatMul" &&
        name != "QuantizeLinear")
      node.set_domain("com.microsoft");
    addInputs(node, kind);
    addAttributes(node, kind);
    const int outputs = kind == NodeKind::Split                   ? 1 + choose_.below(3)
                        : kind == NodeKind::DynamicQuantizeLinear ? 3
                        : choose_.rarely()                        ? 2
                                                                  : 1;
    graph().clear_output();
    for (int i = 0; i < outputs; ++i) {
      node.add_output("y" + std::to_string(next_++));
      graph().add_output()->set_name(node.output(i));
    }
  }

  // What the last node makes.
  void learn(const Graph& made) {
    for (const ValueId id : made.outputs)
      known_.push_back({made[id].name, made[id].type, made[id].shape});
  }

 private:
  onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  void import(const char* domain, int version) {
    auto* opset = model_.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }

  Dims shape(int rank) {
    static const std::vector<std::int64_t> kExtents{2, 1, 3, 4, 2, 1, 5, 0};
    Dims made;
    for (int i = 0; i < rank; ++i) made.push_back(choose_.oneOf(kExtents));
    return made;
  }
  Dims dataShape() {
    static const std::vector<int> kRanks{4, 4, 3, 2, 1, 0, 5, 6};
    Dims made = shape(choose_.oneOf(kRanks));
    if (made.size() > 4) made[0] = 1;
    return made;
  }

  Known add(DataType type, const Dims& shape, bool constant) {
    constant = constant && elementCount(shape) <= kMostElements;
    Known made{(constant ? "c" : "x") + std::to_string(next_++), type, shape};
    if (constant) {
      auto* tensor = graph().add_initializer();
      tensor->set_name(made.name);
      tensor->set_data_type(onnxType(type));
      for (const std::int64_t extent : shape) tensor->add_dims(extent);
      HostTensor values{type, shape, {}};
      for (std::int64_t i = elementCount(shape); i > 0; --i)
        values.values.push_back(element(choose_, type));
      const NpyArray array = arrayFrom(values);
      tensor->set_raw_data(array.data.data(), array.data.size());
    } else {
      auto* info = graph().add_input();
      info->set_name(made.name);
      auto* proto = info->mutable_type()->mutable_tensor_type();
      proto->set_elem_type(onnxType(type));
      for (std::size_t i = 0; i < shape.size(); ++i)
        proto->mutable_shape()->add_dim()->set_dim_param("n");
      options_.shapes[made.name] = shape;
    }
    known_.push_back(made);
    return made;
  }

  Known integers(const Dims& values, DataType type) {
    Known made{"c" + std::to_string(next_++), type, {static_cast<std::int64_t>(values.size())}};
    auto* tensor = graph().add_initializer();
    tensor->set_name(made.name);
    tensor->set_data_type(onnxType(type));
    tensor->add_dims(made.shape[0]);
    for (const std::int64_t value : values)
      type == DataType::Int64 ? tensor->add_int64_data(value)
                              : tensor->add_int32_data(static_cast<std::int32_t>(value));
    return made;
  }

  std::int64_t smallInteger() {
    static const std::vector<std::int64_t> kRare{std::numeric_limits<std::int64_t>::min(),
                                                 std::numeric_limits<std::int64_t>::max(),
                                                 std::int64_t{1} << 31, 1000, -1000};
    return choose_.rarely() ? choose_.oneOf(kRare) : choose_.below(8) - 2;
  }

  // Starts, axes, pads, shapes: as many as the data's rank suggests.
  Known parameter(const Operand& operand, DataType type, const Known& data) {
    const std::string name = operand.name;
    auto count = static_cast<int>(data.shape.size());
    if (name == "pads") count *= 2;
    if (name == "axes" || name == "shape" || name == "split") count = choose_.below(count + 2);
    if (choose_.rarely()) count = choose_.below(7);
    Dims values;
    for (int i = 0; i < count; ++i)
      values.push_back(name == "axes"                             ? i
                       : name == "shape" && choose_.below(4) == 3 ? -1
                                                                  : smallInteger());
    if (name == "shape" && choose_.below(2) == 0) values = {-1};
    return integers(values, type);
  }

  DataType typeFor(const Operand& operand, const std::vector<Known>& taken, std::size_t shift) {
    if (operand.typeOf && *operand.typeOf + shift < taken.size())
      return taken[*operand.typeOf + shift].type;
    std::vector<DataType> fitting;
    for (const DataType type : kTypes)
      if (operand.types.contains(type)) fitting.push_back(type);
    return choose_.oneOf(fitting);
  }

  // A weight, bias or second operand that fits what is before it, most of the time.
  Dims partnerShape(NodeKind kind, const Known& data) {
    const Dims& x = data.shape;
    switch (kind) {
      case NodeKind::Conv:
      case NodeKind::ConvInteger:
      case NodeKind::QLinearConv: {
        Dims w{1 + choose_.below(4), x.size() > 1 ? x[1] : 1};
        for (std::size_t i = 2; i < x.size(); ++i) w.push_back(1 + choose_.below(3));
        return w;
      }
      case NodeKind::MatMul:
      case NodeKind::MatMulInteger:
      case NodeKind::QLinearMatMul:
      case NodeKind::Gemm:
      case NodeKind::QGemm:
        return {x.empty() ? 1 : x.back(), 1 + choose_.below(4)};
      default:
        break;
    }
    Dims same = x;
    for (std::int64_t& extent : same)
      if (choose_.below(4) == 3) extent = 1;
    if (choose_.below(4) == 3 && !same.empty()) same.erase(same.begin());
    return same;
  }

  Dims parameterShape(const Operand& operand, const std::vector<Known>& taken, std::size_t shift,
                      NodeKind kind) {
    Dims of = operand.of + shift < taken.size() ? taken[operand.of + shift].shape : Dims{};
    const auto extent = [&](std::size_t axis) { return axis < of.size() ? of[axis] : 1; };
    switch (operand.size) {
      case Size::PerOutput:
        return {extent(0)};
      case Size::PerChannel:
        return {extent(1)};
      case Size::AsMany:
        return of;
      case Size::OneOrPerOutput:
      case Size::OneOrPerRow:
        if (choose_.below(2) == 1) return {extent(0)};
        return {};
      case Size::OneOrPerColumn:
        if (choose_.below(2) == 1 && !of.empty()) return {of.back()};
        return {};
      case Size::OneOrPerAxis:
        if (choose_.below(2) == 1) return {extent(static_cast<std::size_t>(choose_.below(3)))};
        return {};
      case Size::Broadcasts:
      case Size::BroadcastsToOutput:
        return partnerShape(NodeKind::Add, taken.front());
      case Size::One:
        return {};
      case Size::Any:
        break;
    }
    const std::size_t data = kind == NodeKind::QLinearConcat ? 2 : 0;
    return taken.size() <= data ? dataShape() : partnerShape(kind, taken[data]);
  }

  bool isParameter(const Operand& operand, NodeKind kind) {
    if (operand.size != Size::Any) return false;
    static const std::vector<std::string> kNames{"axes",  "pads",    "starts", "ends", "steps",
                                                 "shape", "repeats", "split",  "sizes"};
    for (const std::string& name : kNames)
      if (name == operand.name) return true;
    return kind == NodeKind::ConstantOfShape;
  }

  Known operandFor(const Operand& operand, const std::vector<Known>& taken, std::size_t shift,
                   NodeKind kind) {
    if (choose_.rarely() && !known_.empty()) return choose_.oneOf(known_);
    const DataType type = typeFor(operand, taken, shift);
    if (isParameter(operand, kind))
      return parameter(operand, type, taken.empty() ? Known{} : taken.front());
    if (operand.size == Size::Any && (taken.empty() || choose_.below(4) == 3))
      for (auto known = known_.rbegin(); known != known_.rend(); ++known)
        if (known->type == type) return *known;
    const bool data = operand.size == Size::Any || operand.size == Size::Broadcasts;
    Dims made =
        choose_.rarely() ? shape(choose_.below(3)) : parameterShape(operand, taken, shift, kind);
    return add(type, made, data ? choose_.below(3) == 2 : choose_.below(4) != 3);
  }

  void addInputs(onnx::NodeProto& node, NodeKind kind) {
    const Signature& signature = onnx_import::signatureOf(kind);
    const auto least = static_cast<int>(signature.leastInputs());
    const auto own = static_cast<int>(signature.inputs.size());
    int count = least + choose_.below(own - least + 1);
    if (signature.repeated > 0)
      count = own + choose_.below(2) * static_cast<int>(signature.repeated);
    if (onnxVersion_ < 13 && choose_.below(2) == 0 && own > 0 &&
        isParameter(signature.inputs.back(), kind))
      count = 1;  // the attributes of older versions
    if (choose_.rarely()) count = choose_.below(own + 2);
    std::vector<Known> taken;
    for (int i = 0; i < count; ++i) {
      auto at = static_cast<std::size_t>(i);
      std::size_t shift = 0;
      while (at >= signature.inputs.size() && signature.repeated > 0) {
        at -= signature.repeated;
        shift += signature.repeated;
      }
      if (signature.repeated == 1) shift = 0;
      const Operand operand = at < signature.inputs.size() ? signature.inputs[at]
                              : signature.inputs.empty() ? Operand{.name = "extra", .types = {0x7F}}
                                                         : signature.inputs.back();
      if (operand.optional && choose_.below(4) == 3) {
        taken.push_back({});
        continue;
      }
      taken.push_back(operandFor(operand, taken, shift, kind));
    }
    for (const Known& known : taken) node.add_input(known.name);
  }

  void set(onnx::NodeProto& node, const char* name, std::int64_t value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  void set(onnx::NodeProto& node, const char* name, const std::string& value) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }
  void set(onnx::NodeProto& node, const char* name, const Dims& values) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute.add_ints(value);
  }
  Dims some(std::size_t count, int low, int values) {
    Dims made;
    for (std::size_t i = 0; i < count; ++i)
      made.push_back(choose_.rarely() ? smallInteger() : low + choose_.below(values));
    return made;
  }

  Dims shapeOfFirst(const onnx::NodeProto& node) const {
    if (node.input_size() > 0)
      for (const Known& known : known_)
        if (known.name == node.input(0)) return known.shape;
    return {};
  }

  void setWindow(onnx::NodeProto& node, std::size_t rank, bool isPool) {
    const std::size_t spatial = rank < 3 ? 1 : rank - 2;
    if (isPool) set(node, "kernel_shape", some(spatial, 1, 3));
    if (choose_.below(2) == 1) set(node, "strides", some(spatial, 1, 3));
    if (choose_.below(4) == 3) set(node, "dilations", some(spatial, 1, 2));
    if (choose_.below(2) == 1) set(node, "pads", some(2 * spatial, 0, 3));
    static const std::vector<std::string> kPads{"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
    if (choose_.below(4) == 3) set(node, "auto_pad", choose_.oneOf(kPads));
    if (isPool && choose_.below(4) == 3) set(node, "ceil_mode", 1);
    if (node.op_type() == "AveragePool" && choose_.below(4) == 3) set(node, "count_include_pad", 1);
  }

  void setResize(onnx::NodeProto& node) {
    static const std::vector<std::string> kModes{"nearest", "linear", "cubic"};
    static const std::vector<std::string> kCoordinates{
        "half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
        "align_corners", "asymmetric",           "tf_half_pixel_for_nn"};
    static const std::vector<std::string> kRounding{"round_prefer_floor", "round_prefer_ceil",
                                                    "floor", "ceil"};
    set(node, "mode", choose_.oneOf(kModes));
    if (choose_.below(2) == 1)
      set(node, "coordinate_transformation_mode", choose_.oneOf(kCoordinates));
    if (choose_.below(2) == 1) set(node, "nearest_mode", choose_.oneOf(kRounding));
    if (choose_.below(4) == 3) set(node, "exclude_outside", 1);
  }

  void addAttributes(onnx::NodeProto& node, NodeKind kind) {
    const Dims x = shapeOfFirst(node);
    static const std::vector<std::string> kPadModes{"constant", "reflect", "edge", "wrap"};
    switch (kind) {
      case NodeKind::Conv:
      case NodeKind::ConvInteger:
      case NodeKind::QLinearConv:
        if (choose_.rarely()) set(node, "group", choose_.below(3));
        return setWindow(node, x.size(), false);
      case NodeKind::MaxPool:
      case NodeKind::AveragePool:
      case NodeKind::QLinearAveragePool:
        return setWindow(node, x.size(), true);
      case NodeKind::Gemm:
      case NodeKind::QGemm:
        if (choose_.below(4) == 3) set(node, "transA", 1);
        if (choose_.below(4) == 3) set(node, "transB", 1);
        return;
      case NodeKind::QuantizeLinear:
      case NodeKind::DequantizeLinear:
      case NodeKind::Concat:
      case NodeKind::QLinearConcat:
      case NodeKind::Gather:
      case NodeKind::Softmax:
      case NodeKind::LogSoftmax:
      case NodeKind::ArgMax:
      case NodeKind::ArgMin:
      case NodeKind::Flatten:
      case NodeKind::Split:
        if (choose_.below(2) == 1 || kind == NodeKind::Concat)
          set(node, "axis", choose_.rarely() ? smallInteger() : choose_.below(3));
        if (kind == NodeKind::Split && choose_.below(4) == 3)
          set(node, "num_outputs", 1 + choose_.below(3));
        return;
      case NodeKind::ReduceMean:
      case NodeKind::ReduceSum:
      case NodeKind::ReduceMax:
      case NodeKind::ReduceMin:
        if (choose_.below(2) == 1) set(node, "keepdims", choose_.below(2));
        if (onnxVersion_ < 13 && choose_.below(2) == 1) set(node, "axes", some(1, 0, 3));
        return;
      case NodeKind::Squeeze:
      case NodeKind::Unsqueeze:
        if (node.input_size() < 2) set(node, "axes", some(1, 0, 3));
        return;
      case NodeKind::Pad:
        set(node, "mode", choose_.oneOf(kPadModes));
        if (node.input_size() < 2) set(node, "pads", some(2 * x.size(), -1, 4));
        return;
      case NodeKind::Resize:
        return setResize(node);
      case NodeKind::Transpose: {
        Dims permutation;
        for (std::size_t i = 0; i < x.size(); ++i)
          permutation.push_back(static_cast<std::int64_t>(i));
        for (std::size_t i = 1; i < x.size(); ++i)
          std::swap(permutation[i],
                    permutation[static_cast<std::size_t>(choose_.below(static_cast<int>(i) + 1))]);
        if (choose_.below(4) != 3) set(node, "perm", permutation);
        return;
      }
      case NodeKind::DepthToSpace:
      case NodeKind::SpaceToDepth:
        set(node, "blocksize", 1 + choose_.below(2));
        if (kind == NodeKind::DepthToSpace && choose_.below(2) == 1)
          set(node, "mode", std::string("CRD"));
        return;
      case NodeKind::Cast:
        set(node, "to", onnxType(choose_.oneOf(kTypes)));
        return;
      case NodeKind::Constant:
        set(node, "value_ints", some(2, -1, 5));
        return;
      default:
        return;
    }
  }

  Choices& choose_;
  onnx::ModelProto model_;
  ImportOptions options_;
  std::vector<Known> known_;
  int next_ = 0, onnxVersion_ = 13;
};

// How far the networks came; HEDDLE_FUZZ_COUNT=1 prints it at the end.
struct Counts {
  std::int64_t all = 0, imported = 0, run = 0;
  ~Counts() {
    if (std::getenv("HEDDLE_FUZZ_COUNT"))
      std::fprintf(stderr, "%lld networks, %lld imported, %lld run\n", static_cast<long long>(all),
                   static_cast<long long>(imported), static_cast<long long>(run));
  }
};
Counts counts;

bool isLarge(const Value& value) { return elementCount(value.shape) > kMostElements; }

void run(const Graph& graph, Choices& choose) {
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs) {
    HostTensor tensor{graph[id].type, graph[id].shape, {}};
    const std::int64_t elements = elementCount(tensor.shape);
    if (elements > 100'000) return;
    for (std::int64_t i = 0; i < elements; ++i)
      tensor.values.push_back(element(choose, tensor.type));
    inputs.push_back(*hostTensorFrom(arrayFrom(tensor)));
  }
  constexpr HostLimits kSmall{.elements = kMostElements, .operations = 200'000};
  const Result<std::vector<HostTensor>> outputs = runHost(graph, inputs, kSmall);
  if (!outputs) return;
  ++counts.run;
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    const HostTensor& made = (*outputs)[i];
    const Value& value = graph[graph.outputs[i]];
    HEDDLE_CHECK(made.type == value.type && made.shape == value.shape) << value.name;
    HEDDLE_CHECK(std::ssize(made.values) == elementCount(value.shape)) << value.name;
    const std::optional<HostTensor> again = hostTensorFrom(arrayFrom(made));
    for (std::size_t e = 0; e < made.values.size(); ++e) {
      const double a = made.values[e], b = again->values[e];
      HEDDLE_CHECK(a == b || (std::isnan(a) && std::isnan(b)))
          << value.name << ": " << a << " is no " << toText(value.type);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choose({data, size});
  Writer writer(choose);
  const int nodes = 1 + choose.below(3);
  ++counts.all;
  for (int i = 0; i < nodes; ++i) {
    writer.addNode();
    const Result<Graph> graph = importOnnx(writer.bytes(), "fuzz", writer.options());
    if (!graph) return 0;
    writer.learn(*graph);
    if (i + 1 < nodes) continue;
    ++counts.imported;
    run(*graph, choose);
    // Index maps of a million entries are legal, and take a second each under the sanitizers.
    if (std::ranges::any_of(graph->values, isLarge)) return 0;
    const Result<Canonicalized> canonical = canonicalize(*graph);
    HEDDLE_CHECK(canonical || !canonical.diagnostics().empty());
  }
  return 0;
}
