#include "heddle/graph/graph.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <unordered_set>

#include "heddle/support/visible.h"

namespace heddle {

std::int64_t byteSize(DataType type) {
  switch (type) {
    case DataType::Int8:
    case DataType::Uint8:
    case DataType::Bool:
      return 1;
    case DataType::Float32:
    case DataType::Int32:
      return 4;
    case DataType::Float64:
    case DataType::Int64:
      return 8;
  }
  return 1;
}

const char* toText(DataType type) {
  switch (type) {
    case DataType::Float32:
      return "float32";
    case DataType::Float64:
      return "float64";
    case DataType::Int8:
      return "int8";
    case DataType::Uint8:
      return "uint8";
    case DataType::Int32:
      return "int32";
    case DataType::Int64:
      return "int64";
    case DataType::Bool:
      return "bool";
  }
  return "?";
}

const char* toText(NodeKind kind) {
  static constexpr const char* kNames[] = {"QuantizeLinear",
                                           "DequantizeLinear",
                                           "DynamicQuantizeLinear",
                                           "Conv",
                                           "ConvInteger",
                                           "QLinearConv",
                                           "Gemm",
                                           "QGemm",
                                           "MatMul",
                                           "MatMulInteger",
                                           "QLinearMatMul",

                                           "MaxPool",
                                           "AveragePool",
                                           "GlobalAveragePool",
                                           "GlobalMaxPool",
                                           "QLinearAveragePool",
                                           "QLinearGlobalAveragePool",
                                           "ReduceMean",
                                           "ReduceSum",
                                           "ReduceMax",
                                           "ReduceMin",
                                           "Add",
                                           "Sub",
                                           "Mul",
                                           "Div",
                                           "Pow",
                                           "Min",
                                           "Max",
                                           "QLinearAdd",
                                           "QLinearMul",
                                           "Relu",
                                           "Clip",
                                           "LeakyRelu",
                                           "PRelu",
                                           "Sigmoid",
                                           "HardSigmoid",
                                           "HardSwish",
                                           "Tanh",
                                           "Elu",
                                           "Selu",
                                           "Softplus",
                                           "Softsign",
                                           "Exp",
                                           "Log",
                                           "Sqrt",
                                           "Abs",
                                           "Neg",
                                           "Floor",
                                           "Ceil",
                                           "Round",
                                           "Erf",
                                           "Reciprocal",
                                           "Sign",
                                           "Mish",
                                           "Gelu",
                                           "QLinearLeakyRelu",
                                           "QLinearSigmoid",
                                           "BatchNormalization",
                                           "Concat",
                                           "QLinearConcat",
                                           "Split",
                                           "Slice",
                                           "Pad",
                                           "Resize",
                                           "Transpose",
                                           "DepthToSpace",
                                           "SpaceToDepth",
                                           "Expand",
                                           "Tile",
                                           "Gather",
                                           "Reshape",
                                           "Flatten",
                                           "Squeeze",
                                           "Unsqueeze",
                                           "Identity",
                                           "Dropout",
                                           "Cast",
                                           "Shape",
                                           "Range",
                                           "ConstantOfShape",
                                           "Constant",
                                           "Softmax",
                                           "LogSoftmax",
                                           "ArgMax",
                                           "ArgMin"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(NodeKind::ArgMin) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t elementCount(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t extent : dims) count *= extent;
  return count;
}

std::string toText(const Dims& dims) {
  if (dims.empty()) return "scalar";
  std::string text;
  for (const std::int64_t extent : dims) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::optional<Dims> broadcastShapes(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {  // from the last axis
    const std::int64_t p = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t q = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (p != q && p != 1 && q != 1) return std::nullopt;
    out[out.size() - 1 - i] = p == 1 ? q : p;
  }
  return out;
}

namespace {

void report(Diagnostics& found, const Graph& graph, const std::string& who,
            const std::string& what) {
  found.push_back({.code = "GRAPH001",
                   .where = graph.name,
                   .summary = "the graph breaks a promise at " + who,
                   .what = what,
                   .mend = "this is a fault of heddle: please report it",
                   .severity = Severity::Bug});
}

void verifyValues(const Graph& graph, Diagnostics& found) {
  std::unordered_set<std::string> names;
  for (const Value& value : graph.values) {
    if (!names.insert(value.name).second)
      report(found, graph, value.name, "the name appears twice");
    if (value.constant && static_cast<std::int64_t>(value.constant->size()) !=
                              elementCount(value.shape) * byteSize(value.type))
      report(found, graph, value.name, "the constant's bytes do not fit its shape");
  }
}

}  // namespace

Diagnostics verify(const Graph& graph) {
  Diagnostics found;
  verifyValues(graph, found);
  std::vector<bool> written(graph.values.size());
  const auto inRange = [&](ValueId id) { return id.valid() && id.at() < graph.values.size(); };
  for (std::size_t i = 0; i < written.size(); ++i)
    written[i] = graph.values[i].constant.has_value();
  for (const ValueId id : graph.inputs) {
    if (!inRange(id))
      report(found, graph, "an input", "its id is out of range");
    else
      written[id.at()] = true;
  }
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs)
      if (id.valid() && (!inRange(id) || !written[id.at()]))
        report(found, graph, node.name, "it reads a value before its producer");
    for (const ValueId id : node.outputs) {
      if (!id.valid()) continue;
      if (!inRange(id) || written[id.at()])
        report(found, graph, node.name, "it writes a value a second time");
      else
        written[id.at()] = true;
    }
  }
  for (const ValueId id : graph.outputs)
    if (!inRange(id) || !written[id.at()]) report(found, graph, "an output", "nothing writes it");
  return found;
}

std::string print(const Graph& graph, std::string_view title) {
  std::ostringstream out;
  const auto declare = [&](ValueId id) -> std::ostream& {
    const Value& value = graph[id];
    return out << '%' << id.index << " \"" << visible(value.name) << "\" " << toText(value.type)
               << '[' << toText(value.shape) << ']';
  };
  out << "graph \"" << visible(title) << "\"\n";
  for (const ValueId id : graph.inputs) declare(id) << " input\n";
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].constant) declare(ValueId(i)) << " constant\n";
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs)
      if (id.valid()) declare(id) << ' ';
    out << "= " << visible(node.opType) << '(';
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      out << (i ? ", " : "")
          << (node.inputs[i].valid() ? "%" + std::to_string(node.inputs[i].index) : "-");
    out << ") \"" << visible(node.name) << "\"\n";
  }
  for (const ValueId id : graph.outputs) out << "output %" << id.index << '\n';
  return out.str();
}

}  // namespace heddle
