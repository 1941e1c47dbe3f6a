#include "heddle/driver/quantized_tensors.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "heddle/driver/port_values.h"
#include "heddle/interp/host.h"
#include "heddle/support/check.h"

namespace heddle {
namespace {

bool isByte(DataType type) { return type == DataType::Int8 || type == DataType::Uint8; }

// Whether an operator reads data there; its other inputs are scales and zero points.
bool readsData(NodeKind kind, std::size_t input) {
  switch (kind) {
    case NodeKind::QuantizeLinear:
    case NodeKind::DequantizeLinear:
    case NodeKind::QLinearAveragePool:
    case NodeKind::QLinearGlobalAveragePool:
    case NodeKind::QLinearLeakyRelu:
    case NodeKind::QLinearSigmoid:
      return input == 0;
    case NodeKind::ConvInteger:
    case NodeKind::MatMulInteger:
      return input < 2;
    case NodeKind::QLinearMatMul:
    case NodeKind::QLinearAdd:
    case NodeKind::QLinearMul:
      return input == 0 || input == 3;
    case NodeKind::QLinearConv:
      return input == 0 || input == 3 || input == 8;
    case NodeKind::QGemm:
      return input == 0 || input == 3 || input == 6;
    case NodeKind::QLinearConcat:
      return input >= 2 && input % 3 == 2;
    default:
      return true;
  }
}

bool readsQuantizedBias(NodeKind kind, std::size_t input) {
  return (kind == NodeKind::DequantizeLinear && input == 0) ||
         (kind == NodeKind::QLinearConv && input == 8) || (kind == NodeKind::QGemm && input == 6);
}

class Collection {
 public:
  Collection(const Graph& model, const NamedArrays& modelInputs)
      : model_(model), known_(model.values.size()), computable_(model.values.size()) {
    for (std::size_t i = 0; i < model.values.size(); ++i) names_[model.values[i].name] = ValueId(i);
    for (const ValueId id : model.inputs)
      if (const auto array = modelInputs.find(model[id].name); array != modelInputs.end())
        known_[id.at()] = &array->second;
  }

  Result<QuantizedTensors> collect(const Canonicalized& canonical,
                                   std::span<const std::vector<std::int8_t>> values) {
    for (const Port& port : canonical.quantized) {
      const CanonicalTensor& tensor = canonical.graph.tensors[port.tensor.at()];
      NpyArray& array = result_.arrays[port.name];
      array = arrayFromStored(values[port.tensor.at()], port,
                              {tensor.shape, tensor.scale, tensor.zeroPoint});
      known_[names_.at(port.name).at()] = &array;
    }
    takeConstants();
    findComputable();
    Diagnostics faults = computeRest();
    if (!faults.empty()) return faults;
    return std::move(result_);
  }

 private:
  void takeConstants() {
    for (const Node& node : model_.nodes)
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.inputs[i].valid() || !model_[node.inputs[i]].constant) continue;
        const Value& value = model_[node.inputs[i]];
        const bool wanted = (isByte(value.type) && readsData(node.kind, i)) ||
                            (value.type == DataType::Int32 && readsQuantizedBias(node.kind, i));
        if (wanted) result_.arrays.try_emplace(value.name, arrayFrom(hostConstant(value)));
      }
  }

  void findComputable() {
    for (std::size_t i = 0; i < model_.values.size(); ++i)
      computable_[i] = known_[i] != nullptr || model_.values[i].constant;
    for (const Node& node : model_.nodes) {
      bool can = runsOnHost(node);
      for (const ValueId id : node.inputs) can = can && (!id.valid() || computable_[id.at()]);
      if (!can) continue;
      for (const ValueId id : node.outputs)
        if (id.valid()) computable_[id.at()] = true;
    }
  }

  // The tensors that are still missing, from the operators between them and what is known.
  Diagnostics computeRest() {
    std::vector<ValueId> wanted;
    for (const Node& node : model_.nodes)
      for (const ValueId id : node.outputs) {
        if (!id.valid() || !isByte(model_[id].type) || known_[id.at()] != nullptr) continue;
        if (node.kind == NodeKind::DynamicQuantizeLinear && id != node.outputs.front()) continue;
        if (computable_[id.at()])
          wanted.push_back(id);
        else
          result_.unknown.push_back(model_[id].name);
      }
    if (wanted.empty()) return {};

    const HostPart part = hostPart(wanted);
    std::vector<HostTensor> inputs;
    for (const ValueId id : part.inputs) {
      std::optional<HostTensor> input = hostTensorFrom(*known_[id.at()]);
      HEDDLE_CHECK(input.has_value()) << model_[id].name;
      inputs.push_back(std::move(*input));
    }
    const Result<std::vector<HostTensor>> computed = runHost(part.graph, inputs);
    if (!computed) return computed.diagnostics();
    for (std::size_t i = 0; i < wanted.size(); ++i)
      result_.arrays[model_[wanted[i]].name] = arrayFrom((*computed)[i]);
    return {};
  }

  struct HostPart {
    Graph graph;
    std::vector<ValueId> inputs;  // of graph.inputs, in the model
  };

  HostPart hostPart(const std::vector<ValueId>& wanted) const {
    std::vector<bool> needed(model_.values.size()), keep(model_.nodes.size());
    for (const ValueId id : wanted) needed[id.at()] = true;
    for (std::size_t n = model_.nodes.size(); n-- > 0;) {
      for (const ValueId id : model_.nodes[n].outputs)
        keep[n] = keep[n] || (id.valid() && needed[id.at()] && known_[id.at()] == nullptr);
      if (!keep[n]) continue;
      for (const ValueId id : model_.nodes[n].inputs)
        if (id.valid()) needed[id.at()] = true;
    }
    HostPart part;
    part.graph.name = model_.name;
    std::vector<ValueId> moved(model_.values.size());
    const auto use = [&](ValueId id) {
      if (!id.valid() || moved[id.at()].valid()) return id.valid() ? moved[id.at()] : id;
      moved[id.at()] = ValueId(part.graph.values.size());
      part.graph.values.push_back(model_[id]);
      return moved[id.at()];
    };
    for (std::size_t n = 0; n < model_.nodes.size(); ++n) {
      if (!keep[n]) continue;
      Node node = model_.nodes[n];
      for (ValueId& id : node.inputs) {
        const bool enters = id.valid() && !moved[id.at()].valid() && !model_[id].constant;
        const ValueId here = use(id);
        if (enters) {
          part.inputs.push_back(id);
          part.graph.inputs.push_back(here);
        }
        id = here;
      }
      for (ValueId& id : node.outputs) id = use(id);
      part.graph.nodes.push_back(std::move(node));
    }
    for (const ValueId id : wanted) part.graph.outputs.push_back(use(id));
    return part;
  }

  const Graph& model_;
  std::unordered_map<std::string, ValueId> names_;
  std::vector<const NpyArray*> known_;  // by value
  std::vector<bool> computable_;        // by value: known, or by the host from what is
  QuantizedTensors result_;
};

}  // namespace

Result<QuantizedTensors> quantizedTensors(const Graph& model, const Canonicalized& canonical,
                                          std::span<const std::vector<std::int8_t>> values,
                                          const NamedArrays& modelInputs) {
  return Collection(model, modelInputs).collect(canonical, values);
}
}  // namespace heddle
