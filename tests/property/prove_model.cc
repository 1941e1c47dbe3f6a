#include "prove_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "choices.h"
#include "heddle/canon/canonicalize.h"
#include "heddle/canon/print.h"
#include "heddle/driver/host_parts.h"
#include "heddle/driver/port_values.h"
#include "heddle/interp/host.h"
#include "heddle/interp/interpret.h"
#include "heddle/memory/allocate.h"
#include "heddle/onnx/import.h"
#include "heddle/planner/make_plan.h"
#include "heddle/support/check.h"
#include "prove.h"
#include "random_model.h"

namespace heddle::property {
namespace {

struct Wrong {
  std::string what;
};

std::vector<HostTensor> randomInputsOf(const Graph& graph, std::uint64_t seed) {
  Choices choices(seed);
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs) {
    HostTensor tensor{graph[id].type, graph[id].shape, {}};
    for (std::int64_t n = elementCount(tensor.shape); n > 0; --n)
      tensor.values.push_back(tensor.type == DataType::Float32
                                  ? double{static_cast<float>(choices.real(-3, 3))}
                                  : static_cast<double>(choices.between(0, 255) -
                                                        (tensor.type == DataType::Int8 ? 128 : 0)));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

NamedArrays arraysOf(const Graph& graph, const std::vector<HostTensor>& inputs) {
  NamedArrays arrays;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    arrays[graph[graph.inputs[i]].name] = arrayFrom(inputs[i]);
  return arrays;
}

// The quantized tensors of `canonical`, computed by the host's operators from the whole model.
// Nothing where one has no definition there.
std::map<TensorId, TensorValue> hostTensors(const Graph& graph, const Canonicalized& canonical,
                                            const std::vector<HostTensor>& inputs) {
  Graph wide = graph;
  std::map<std::string, ValueId> ids;
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (!graph.values[i].constant) ids[graph.values[i].name] = ValueId(i);
  std::vector<const Port*> ports;
  wide.outputs.clear();
  for (const Port& port : canonical.quantized)
    if (const auto found = ids.find(port.name); found != ids.end()) {
      wide.outputs.push_back(found->second);
      ports.push_back(&port);
    }
  const Result<std::vector<HostTensor>> values = runHost(wide, inputs);
  std::map<TensorId, TensorValue> tensors;
  if (!values) return tensors;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const CanonicalTensor& tensor = canonical.graph.tensors[ports[i]->tensor.at()];
    const auto stored =
        storedFromArray(arrayFrom((*values)[i]), *ports[i],
                        {tensor.shape, tensor.scale, tensor.zeroPoint}, ports[i]->name);
    if (!stored) throw Wrong{toText(stored.diagnostics())};
    const auto [known, isNew] = tensors.emplace(ports[i]->tensor, *stored);
    if (!isNew && known->second != *stored)
      throw Wrong{"'" + ports[i]->name + "' is said to be '" + tensor.name +
                  "', whose values are others"};
  }
  return tensors;
}

// Rounded twice (to float32, then to int8) or once: next to a tie they may differ by 1.
void compareRounded(const std::string& name, OpKind kind, const TensorValue& ours,
                    const TensorValue& theirs) {
  std::size_t unequal = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == theirs[i]) continue;
    ++unequal;
    if (std::abs(ours[i] - theirs[i]) > 1)
      throw Wrong{"'" + name + "' at " + std::to_string(i) + ": the integer operator gives " +
                  std::to_string(ours[i]) + ", the operators of the model " +
                  std::to_string(theirs[i])};
  }
  const bool oftenTied = kind == OpKind::AveragePool || kind == OpKind::Add ||
                         kind == OpKind::Mul || kind == OpKind::Conv ||
                         kind == OpKind::DepthwiseConv;
  if (!oftenTied && unequal > 1 + ours.size() / 20)
    throw Wrong{"'" + name + "': " + std::to_string(unequal) + " of " +
                std::to_string(ours.size()) +
                " values differ from the operators of the model by 1"};
}

// Each integer operator, fed what the operators of the model give, gives what they give.
void checkMeaning(const Graph& graph, const Canonicalized& canonical,
                  const std::vector<HostTensor>& inputs, const std::vector<TensorValue>& entered) {
  const auto theirs = hostTensors(graph, canonical, inputs);
  std::map<TensorId, TensorValue> values = theirs;
  const CanonicalGraph& made = canonical.graph;
  for (std::size_t i = 0; i < made.inputs.size(); ++i) {
    const auto [known, isNew] = values.emplace(made.inputs[i].tensor, entered[i]);
    if (!isNew) compareRounded(made.inputs[i].name, OpKind::Table, entered[i], known->second);
  }
  for (std::size_t i = 0; i < made.tensors.size(); ++i)
    if (!made.tensors[i].constant.empty()) values[TensorId(i)] = made.tensors[i].constant;
  for (const CanonicalOp& op : made.ops) {
    std::vector<const TensorValue*> operands;
    for (const TensorId id : op.inputs) operands.push_back(&values.at(id));
    const TensorValue ours = interpretOp(made, op, operands);
    const auto [known, isNew] = values.emplace(op.output, ours);
    if (!isNew) compareRounded(made.tensors[op.output.at()].name, op.kind(), ours, known->second);
  }
}

struct Meaning {
  std::string refusal;
  std::string text;
  std::optional<Graph> graph;
  std::optional<Canonicalized> canonical;
};

Meaning meaningOf(const onnx::ModelProto& model) {
  Meaning meaning;
  const auto refused = [&](const Diagnostics& why) {
    for (const Diagnostic& diagnostic : why)
      if (diagnostic.severity == Severity::Bug) throw Wrong{toText(why)};
    meaning.refusal = why.front().code;
    meaning.text = toText(why);
    return meaning;
  };
  Result<Graph> graph = importOnnx(model.SerializeAsString(), "model.onnx");
  if (!graph) return refused(graph.diagnostics());
  print(*graph, "model");
  Result<Canonicalized> canonical = canonicalize(*graph);
  meaning.graph = std::move(*graph);
  if (!canonical) return refused(canonical.diagnostics());
  print(canonical->graph);
  meaning.canonical = std::move(*canonical);
  return meaning;
}

// The code with which the planner says that the device is too small; empty where it is not.
std::string refusalOnDevice(const CanonicalGraph& graph, const Device& device) {
  const auto refused = [](const Diagnostics& why) {
    for (const Diagnostic& diagnostic : why)
      if (diagnostic.severity != Severity::DoesNotFit) throw Wrong{toText(why)};
    return why.front().code;
  };
  const Result<Plan> plan = makePlan(graph, device);
  if (!plan) return refused(plan.diagnostics());
  const Result<MemoryPlan> memory = allocateMemory(graph, *plan, device);
  if (!memory) throw Wrong{toText(memory.diagnostics())};  // what is planned has its place
  return "";
}

struct Computed {
  std::vector<TensorValue> entered, all;
  NamedArrays outputs;
};

// Absent where an operator has no definition on the host.
std::optional<Computed> compute(const Canonicalized& canonical, const NamedArrays& arrays) {
  Computed made;
  const auto hosted = [](const Diagnostics& why) {
    if (why.front().code != "HOST001") throw Wrong{toText(why)};
    return std::nullopt;
  };
  const auto entered = enterArray(canonical, arrays);
  if (!entered) return hosted(entered.diagnostics());
  made.entered = *entered;
  made.all = interpret(canonical.graph, made.entered);
  std::vector<TensorValue> last;
  for (const Port& port : canonical.graph.outputs) last.push_back(made.all[port.tensor.at()]);
  const auto outputs = leaveArray(canonical, last, arrays);
  if (!outputs) return hosted(outputs.diagnostics());
  made.outputs = *outputs;
  return made;
}

// Every output of the model that something computes is there.
void checkOutputs(const Graph& graph, const NamedArrays& outputs) {
  for (const ValueId id : graph.outputs) {
    const bool given =
        graph[id].constant || std::ranges::find(graph.inputs, id) != graph.inputs.end();
    const auto found = outputs.find(graph[id].name);
    if (!given && found == outputs.end())
      throw Wrong{"the output '" + graph[id].name + "' is missing"};
    if (found != outputs.end() && found->second.shape != graph[id].shape)
      throw Wrong{"the output '" + graph[id].name + "' has another shape"};
  }
}

void checkOrder(const onnx::ModelProto& model, const Meaning& given, const Computed* computed,
                const NamedArrays& arrays, const Device& device, std::uint64_t seed) {
  const Meaning other = meaningOf(reordered(model, seed));
  if (other.refusal != given.refusal)
    throw Wrong{"in another order of its nodes the model is " +
                (other.refusal.empty() ? "accepted" : "refused: " + other.text) + ", in its own " +
                (given.refusal.empty() ? "accepted" : "refused: " + given.text)};
  if (!computed) return;
  const auto again = compute(*other.canonical, arrays);
  if (!again) throw Wrong{"in another order of its nodes the host cannot run the model"};
  if (again->outputs != computed->outputs)
    throw Wrong{"in another order of its nodes the model gives other outputs"};
  const std::string first = refusalOnDevice(given.canonical->graph, device),
                    second = refusalOnDevice(other.canonical->graph, device);
  if (first != second)
    throw Wrong{"in another order of its nodes the device says '" + second + "', else '" + first +
                "'"};
}

void prove(const onnx::ModelProto& model, const Device& device, std::uint64_t seed,
           Verdict& verdict) {
  const Meaning meaning = meaningOf(model);
  verdict.refusal = meaning.refusal;
  if (meaning.graph) verdict.graph = *meaning.graph;
  if (!meaning.canonical) return checkOrder(model, meaning, nullptr, {}, device, seed);
  const Canonicalized& canonical = *meaning.canonical;
  const std::vector<HostTensor> inputs = randomInputsOf(*meaning.graph, seed);
  const NamedArrays arrays = arraysOf(*meaning.graph, inputs);
  const auto computed = compute(canonical, arrays);
  if (!computed) {
    verdict.refusal = "HOST001";
    return checkOrder(model, meaning, nullptr, {}, device, seed);
  }
  checkOutputs(*meaning.graph, computed->outputs);
  checkMeaning(*meaning.graph, canonical, inputs, computed->entered);
  verdict.noRoom = refusalOnDevice(canonical.graph, device);
  checkOrder(model, meaning, &*computed, arrays, device, seed);
  if (!verdict.noRoom.empty()) return;
  if (auto fault = disprove(canonical.graph, device, computed->entered, computed->all))
    throw Wrong{*fault};
}

}  // namespace

Verdict proveModel(const onnx::ModelProto& model, const Device& device, std::uint64_t seed) {
  Verdict verdict;
  try {
    prove(model, device, seed, verdict);
  } catch (const Wrong& wrong) {
    verdict.fault = wrong.what;
  } catch (const std::exception& error) {
    verdict.fault = error.what();
  }
  return verdict;
}

std::string describe(const onnx::ModelProto& model) {
  const Result<Graph> graph = importOnnx(model.SerializeAsString(), "model.onnx");
  std::ostringstream out;
  for (const auto& opset : model.opset_import())
    if (opset.domain().empty()) out << "operator set " << opset.version() << "\n";
  out << (graph ? print(*graph, "model") : toText(graph.diagnostics()));
  return out.str();
}

}  // namespace heddle::property
