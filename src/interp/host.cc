#include "heddle/interp/host.h"

#include <algorithm>

#include "heddle/support/check.h"
#include "host_kernels.h"

namespace heddle {
namespace host {

Dims stridesOf(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Dims broadcastStrides(const Dims& from, const Dims& shape) {
  const Dims own = stridesOf(from);
  Dims strides(shape.size(), 0);
  const std::size_t missing = shape.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[missing + i] = own[i];
  return strides;
}

AxisView viewAlong(const Dims& shape, std::int64_t axis) {
  AxisView view;
  for (std::int64_t i = 0; i < std::ssize(shape); ++i)
    (i < axis    ? view.outer
     : i == axis ? view.extent
                 : view.inner) *= shape[static_cast<std::size_t>(i)];
  return view;
}

}  // namespace host

namespace {

using Family = void (*)(host::Call&);

// The family that runs a kind; none for those that have no definition on the host. Split stands
// apart: it has several outputs.
Family familyOf(NodeKind kind) {
  switch (kind) {
    case NodeKind::QuantizeLinear:
    case NodeKind::DequantizeLinear:
    case NodeKind::Cast:
      return host::quantization;
    case NodeKind::Conv:
    case NodeKind::Gemm:
    case NodeKind::MatMul:
      return host::product;
    case NodeKind::MaxPool:
    case NodeKind::AveragePool:
    case NodeKind::GlobalAveragePool:
    case NodeKind::GlobalMaxPool:
      return host::pool;
    case NodeKind::ReduceMean:
    case NodeKind::ReduceSum:
    case NodeKind::ReduceMax:
    case NodeKind::ReduceMin:
    case NodeKind::Softmax:
    case NodeKind::LogSoftmax:
    case NodeKind::ArgMax:
    case NodeKind::ArgMin:
      return host::reduction;
    case NodeKind::Add:
    case NodeKind::Sub:
    case NodeKind::Mul:
    case NodeKind::Div:
    case NodeKind::Pow:
    case NodeKind::Min:
    case NodeKind::Max:
    case NodeKind::Relu:
    case NodeKind::Clip:
    case NodeKind::LeakyRelu:
    case NodeKind::PRelu:
    case NodeKind::Sigmoid:
    case NodeKind::HardSigmoid:
    case NodeKind::HardSwish:
    case NodeKind::Tanh:
    case NodeKind::Elu:
    case NodeKind::Selu:
    case NodeKind::Softplus:
    case NodeKind::Softsign:
    case NodeKind::Exp:
    case NodeKind::Log:
    case NodeKind::Sqrt:
    case NodeKind::Abs:
    case NodeKind::Neg:
    case NodeKind::Floor:
    case NodeKind::Ceil:
    case NodeKind::Round:
    case NodeKind::Erf:
    case NodeKind::Reciprocal:
    case NodeKind::Sign:
    case NodeKind::Mish:
    case NodeKind::Gelu:
    case NodeKind::BatchNormalization:
      return host::elementwise;
    case NodeKind::Concat:
    case NodeKind::Slice:
    case NodeKind::Pad:
    case NodeKind::Transpose:
    case NodeKind::DepthToSpace:
    case NodeKind::SpaceToDepth:
    case NodeKind::Expand:
    case NodeKind::Tile:
    case NodeKind::Gather:
    case NodeKind::Reshape:
    case NodeKind::Flatten:
    case NodeKind::Squeeze:
    case NodeKind::Unsqueeze:
    case NodeKind::Identity:
    case NodeKind::Dropout:
      return host::movement;
    case NodeKind::Resize:
      return host::resize;
    case NodeKind::ConvInteger:
    case NodeKind::QLinearConv:
    case NodeKind::QGemm:
    case NodeKind::MatMulInteger:
    case NodeKind::QLinearMatMul:
    case NodeKind::QLinearAveragePool:
    case NodeKind::QLinearGlobalAveragePool:
    case NodeKind::QLinearAdd:
    case NodeKind::QLinearMul:
    case NodeKind::QLinearLeakyRelu:
    case NodeKind::QLinearSigmoid:
    case NodeKind::QLinearConcat:
      return host::quantizedOperator;
    case NodeKind::Split:
    case NodeKind::DynamicQuantizeLinear:
    case NodeKind::Shape:
    case NodeKind::Range:
    case NodeKind::ConstantOfShape:
    case NodeKind::Constant:
      return nullptr;
  }
  return nullptr;
}

double stored(DataType type, double value) {
  switch (type) {
    case DataType::Float32:
      return static_cast<float>(value);
    case DataType::Float64:
      return value;
    case DataType::Int8:
      return host::integerFrom<std::int8_t>(value);
    case DataType::Uint8:
      return host::integerFrom<std::uint8_t>(value);
    case DataType::Int32:
      return host::integerFrom<std::int32_t>(value);
    case DataType::Int64:
      return static_cast<double>(host::integerFrom<std::int64_t>(value));
    case DataType::Bool:
      return value != 0;
  }
  return value;
}

void round(HostTensor& tensor) {
  for (double& value : tensor.values) value = stored(tensor.type, value);
}

HostTensor blank(const Value& value) {
  return {value.type, value.shape,
          std::vector<double>(static_cast<std::size_t>(elementCount(value.shape)))};
}

void runNode(const Graph& graph, const Node& node, std::vector<HostTensor>& values) {
  for (const ValueId id : node.outputs)
    if (id.valid()) values[id.at()] = blank(graph[id]);
  const auto output = [&](std::size_t i) {
    return i < node.outputs.size() && node.outputs[i].valid() ? &values[node.outputs[i].at()]
                                                              : nullptr;
  };
  const HostTensor& first = values[node.inputs.at(0).at()];
  if (node.kind == NodeKind::DynamicQuantizeLinear) {
    host::dynamicQuantize(first, *output(0), output(1), output(2));
    for (const ValueId id : node.outputs)
      if (id.valid()) round(values[id.at()]);
    return;
  }
  if (node.kind == NodeKind::Split) {
    std::vector<HostTensor*> outputs;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) outputs.push_back(output(i));
    return host::split(node, first, outputs);
  }
  host::Call call{node, {}, values[node.outputs.at(0).at()]};
  for (const ValueId id : node.inputs)
    call.inputs.push_back(id.valid() ? &values[id.at()] : nullptr);
  if (call.output.values.empty()) return;  // whatever huge axes stand beside the empty one
  familyOf(node.kind)(call);
  round(call.output);
}

// The first fault of the limits; what a run takes follows from the shapes alone.
Diagnostics tooLarge(const Graph& graph, const HostLimits& limits) {
  std::int64_t elements = 0, operations = 0;
  for (const Value& value : graph.values) elements += elementCount(value.shape);
  for (const Node& node : graph.nodes)
    operations = host::saturatingSum(operations, host::operationsOf(graph, node));
  if (elements <= limits.elements && operations <= limits.operations) return {};
  const bool byElements = elements > limits.elements;
  return {{.code = "HOST003",
           .where = graph.name,
           .summary = "the host's part of the network is too large for it",
           .what = byElements ? std::to_string(elements) + " elements; at most " +
                                    std::to_string(limits.elements)
                              : std::to_string(operations) + " operations; at most " +
                                    std::to_string(limits.operations),
           .mend = "run that part of the model elsewhere, or choose a smaller input with --shape",
           .severity = Severity::DoesNotFit}};
}

bool hasTooManyAxes(const Node& node) {
  const auto* conv = std::get_if<ConvAttributes>(&node.attributes);
  const auto* pool = std::get_if<PoolAttributes>(&node.attributes);
  return (conv && conv->kernel.size() > 3) || (pool && pool->kernel.size() > 3);
}

}  // namespace

// Second outputs (the mask of Dropout, the indices of MaxPool), pools with channels last and
// windows of more than three axes have no definition here.
bool runsOnHost(const Node& node) {
  if (node.kind == NodeKind::Split || node.kind == NodeKind::DynamicQuantizeLinear) return true;
  const bool several = std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                                   [](ValueId id) { return id.valid(); });
  const auto* pool = std::get_if<PoolAttributes>(&node.attributes);
  const bool channelsLast = pool != nullptr && pool->channelsLast;
  return familyOf(node.kind) != nullptr && !several && !channelsLast && !hasTooManyAxes(node);
}

Result<std::vector<HostTensor>> runHost(const Graph& graph, std::span<const HostTensor> inputs,
                                        const HostLimits& limits) {
  std::string unknown;
  for (const Node& node : graph.nodes)
    if (!runsOnHost(node))
      unknown += (unknown.empty() ? "" : ", ") + node.name + " (" + node.opType + ")";
  if (!unknown.empty())
    return Diagnostic{"HOST001", graph.name, "operators have no definition on the host", unknown,
                      "quantize what surrounds them, or run that part of the model elsewhere"};

  if (Diagnostics faults = tooLarge(graph, limits); !faults.empty()) return faults;

  HEDDLE_CHECK(inputs.size() == graph.inputs.size()) << graph.name;
  std::vector<HostTensor> values(graph.values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (graph.values[i].constant) values[i] = hostConstant(graph.values[i]);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph[graph.inputs[i]];
    HEDDLE_CHECK(inputs[i].type == value.type && inputs[i].shape == value.shape) << value.name;
    values[graph.inputs[i].at()] = inputs[i];
  }
  for (const Node& node : graph.nodes) try {
      runNode(graph, node, values);
    } catch (const host::ValueFault& found) {
      return Diagnostic{"HOST002", graph.name + ", node '" + node.name + "' (" + node.opType + ")",
                        "a value computed at run time is none that the operator takes",
                        found.what(), "look at what computes it, or choose another input"};
    }
  std::vector<HostTensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(values[id.at()]);
  return outputs;
}

}  // namespace heddle
