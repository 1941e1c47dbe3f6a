#include "heddle/driver/host_parts.h"

#include <algorithm>

#include "heddle/driver/port_values.h"
#include "heddle/interp/host.h"
#include "heddle/support/check.h"
#include "road.h"

namespace heddle {
namespace {

// Runs `host` on what `known` holds under the names of its inputs and adds its outputs.
Diagnostics runPart(const Graph& host, NamedArrays& known) {
  if (host.nodes.empty()) return {};
  std::vector<HostTensor> inputs;
  for (const ValueId id : host.inputs) {
    const Value& value = host[id];
    const auto array = known.find(value.name);
    if (array == known.end())
      return {{"CLI006", host.name, "an input of the model is missing", "'" + value.name + "'",
               "name a file for it: --input " + value.name + "=FILE.npy"}};
    const std::optional<HostTensor> tensor = hostTensorFrom(array->second);
    if (!tensor || tensor->type != value.type || tensor->shape != value.shape)
      return {{"CLI005", value.name, "the array does not fit the input of the model",
               "the input is " + std::string(toText(value.type)) + " " + toText(value.shape) +
                   ", the array " + std::string(nameOf(array->second.type)) + " " +
                   toText(array->second.shape),
               "convert the array first"}};
    inputs.push_back(*tensor);
  }
  const Result<std::vector<HostTensor>> outputs = runHost(host, inputs);
  if (!outputs) return outputs.diagnostics();
  for (std::size_t i = 0; i < outputs->size(); ++i)
    known[host[host.outputs[i]].name] = arrayFrom((*outputs)[i]);
  return {};
}

// Of an input that a host operator reads; `stream` tells it from the others.
NpyArray madeFor(const Value& value, std::uint64_t seed, std::uint64_t stream) {
  HostTensor tensor{.type = value.type, .shape = value.shape, .values = {}};
  std::int64_t count = 1;
  for (const std::int64_t extent : value.shape) count *= extent;
  for (const std::int8_t random : randomValues({1, 1, count}, seed, stream)) {
    switch (value.type) {
      case DataType::Float32:
      case DataType::Float64:
        tensor.values.push_back(random / 128.0);
        break;
      case DataType::Int8:
        tensor.values.push_back(random);
        break;
      case DataType::Uint8:
        tensor.values.push_back(random + 128);
        break;
      case DataType::Bool:
        tensor.values.push_back(random < 0 ? 1 : 0);
        break;
      case DataType::Int32:
      case DataType::Int64:
        tensor.values.push_back(0);
        break;
    }
  }
  return arrayFrom(tensor);
}

}  // namespace

NamedArrays completeInputs(const Graph& model, const Canonicalized& canonical, NamedArrays given,
                           std::uint64_t seed) {
  const std::vector<Port>& ports = canonical.graph.inputs;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const bool isInput = std::any_of(model.inputs.begin(), model.inputs.end(),
                                     [&](ValueId id) { return model[id].name == ports[i].name; });
    if (!isInput || given.contains(ports[i].name)) continue;
    const TensorFormat format = formatOf(canonical.graph.tensors[ports[i].tensor.at()]);
    given[ports[i].name] = arrayFromStored(randomValues(format.shape, seed, i), ports[i], format);
  }
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const Value& value = model[model.inputs[i]];
    if (!given.contains(value.name)) given[value.name] = madeFor(value, seed, ports.size() + i);
  }
  return given;
}

Result<std::vector<std::vector<std::int8_t>>> enterArray(const Canonicalized& canonical,
                                                         const NamedArrays& modelInputs) {
  NamedArrays known = modelInputs;
  const Diagnostics faults = runPart(canonical.hostBefore, known);
  if (!faults.empty()) return faults;
  std::vector<std::vector<std::int8_t>> values;
  for (const Port& port : canonical.graph.inputs) {
    const auto array = known.find(port.name);
    if (array == known.end())
      return Diagnostic{"CLI006", canonical.graph.name, "an input of the model is missing",
                        "'" + port.name + "'",
                        "name a file for it: --input " + port.name + "=FILE.npy"};
    const TensorFormat format = formatOf(canonical.graph.tensors[port.tensor.at()]);
    HEDDLE_TRY(auto stored, storedFromArray(array->second, port, format, port.name));
    values.push_back(std::move(stored));
  }
  return values;
}

Result<NamedArrays> leaveArray(const Canonicalized& canonical,
                               std::span<const std::vector<std::int8_t>> outputs,
                               const NamedArrays& modelInputs) {
  const std::vector<Port>& ports = canonical.graph.outputs;
  HEDDLE_CHECK(outputs.size() == ports.size()) << canonical.graph.name;
  NamedArrays known = modelInputs;
  Diagnostics faults = runPart(canonical.hostBefore, known);
  if (!faults.empty()) return faults;
  for (std::size_t i = 0; i < ports.size(); ++i)
    known[ports[i].name] = arrayFromStored(outputs[i], ports[i],
                                           formatOf(canonical.graph.tensors[ports[i].tensor.at()]));
  faults = runPart(canonical.hostAfter, known);
  if (!faults.empty()) return faults;
  return known;
}

}  // namespace heddle
